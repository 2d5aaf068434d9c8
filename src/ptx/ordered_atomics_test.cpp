#include "ptx/ordered_atomics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/launch_context.h"
#include "ptx/program.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

constexpr uint32_t kBlocks = 96;
constexpr uint32_t kThreads = 64;

struct SumRun {
  LaunchOutcome outcome;
  std::vector<uint32_t> sums;
  std::vector<uint32_t> out;
};

// %rd1: sums (256 words), %rd2: out (a word a thread), %rd3: this thread's word of out, %r1: its
// number, %r2: its block, %r4: its number in the block, %f1: 1 / (%r1 + 1).
Module ModuleOf(const std::string& body) {
  return MustParse(KernelText(
      "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, "
      "%ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r1, %r2, %r3, %r4; mul.wide.u32 %rd3, %r1, 4; "
      "add.s64 %rd3, %rd2, %rd3; add.u32 %r5, %r1, 1; cvt.rn.f32.u32 %f1, %r5; rcp.rn.f32 %f1, "
      "%f1;\n" +
          body,
      2, ".shared .align 4 .b8 s[256];\n"));
}

SumRun RunBody(const std::string& body, int threads, uint64_t step_limit = uint64_t{1} << 30) {
  const Module module = ModuleOf(body);
  DeviceMemory memory;
  const uint64_t sums = Upload(memory, "sums", std::vector<uint32_t>(256, 0));
  const uint64_t out = Upload(memory, "out", std::vector<uint32_t>(kBlocks * kThreads, 7));
  LaunchRequest request =
      Request(module, "k", {kBlocks}, {kThreads}, {Argument(sums), Argument(out)});
  request.threads = threads;
  request.counters = true;
  request.step_limit = step_limit;
  SumRun run;
  run.outcome = Launch(request, memory);
  run.sums = Download<uint32_t>(memory, sums);
  run.out = Download<uint32_t>(memory, out);
  return run;
}

bool Defers(const std::string& body) {
  const Module module = ModuleOf(body);
  const auto program = ProgramOf(module, *module.FindKernel("k"));
  EXPECT_TRUE(program->unsupported.empty()) << program->unsupported.front();
  return program->defers_atomics;
}

// Runs it on one thread, and several times on two and on four: all the same. More thread
// instructions before an odd block's atomics, so that blocks end out of order.
void ExpectRepeats(const std::string& body) {
  const std::string slow =
      "and.b32 %r6, %r2, 3; setp.ne.u32 %p9, %r6, 0; mov.u32 %r7, 0;\n@%p9 bra quick;\nspin: "
      "add.u32 %r7, %r7, 1; setp.lt.u32 %p8, %r7, 300; @%p8 bra spin;\nquick:\n";
  ASSERT_TRUE(Defers(slow + body)) << body;
  const SumRun one = RunBody(slow + body, 1);
  ASSERT_EQ(one.outcome.status, LaunchStatus::kCompleted) << one.outcome.message << body;
  for (int repeat = 0; repeat < 6; ++repeat) {
    const SumRun more = RunBody(slow + body, repeat % 2 == 0 ? 2 : 4);
    ASSERT_EQ(more.outcome.status, LaunchStatus::kCompleted) << more.outcome.message;
    EXPECT_EQ(more.sums, one.sums) << body;
    EXPECT_EQ(more.out, one.out) << body;
    EXPECT_EQ(more.outcome.counters.global_atomic.lanes, one.outcome.counters.global_atomic.lanes);
    EXPECT_EQ(more.outcome.counters.global_atomic.sectors,
              one.outcome.counters.global_atomic.sectors);
  }
}

TEST(AtomicsInOrder, RepeatBitForBitForEveryKind) {
  const std::string of_place =
      "and.b32 %r8, %r1, 7; mul.wide.u32 %rd4, %r8, 8; add.s64 %rd4, %rd1, %rd4;\n";
  const std::string bodies[] = {
      "red.global.add.f32 [%rd1], %f1;", "atom.global.add.f32 %f2, [%rd1], %f1;",
      "atom.add.f32 %f2, [%rd1], %f1;", of_place + "red.global.add.f32 [%rd4], %f1;",
      of_place + "cvt.f64.f32 %fd1, %f1; red.global.add.f64 [%rd4], %fd1;",
      "cvt.rn.f16.f32 %h1, %f1; red.global.add.noftz.f16 [%rd1], %h1;",
      "cvt.rn.bf16.f32 %h1, %f1; red.global.add.noftz.bf16 [%rd1], %h1;",
      "cvt.rn.f16.f32 %h1, %f1; mov.b32 %r9, {%h1, %h1}; red.global.add.noftz.f16x2 [%rd1], %r9;",
      "cvt.rn.bf16.f32 %h1, %f1; mov.b32 %r9, {%h1, %h1}; red.global.add.noftz.bf16x2 [%rd1], "
      "%r9;",
      of_place + "red.global.add.u32 [%rd4], %r1; red.global.add.u64 [%rd1+128], %rd3;",
      "red.global.min.s32 [%rd1], %r1; red.global.max.u32 [%rd1+4], %r1; red.global.and.b32 "
      "[%rd1+8], %r1; red.global.or.b32 [%rd1+12], %r1; red.global.xor.b32 [%rd1+16], %r1; "
      "red.global.inc.u32 [%rd1+20], 1000; red.global.dec.u32 [%rd1+24], 999;",
      // Two kinds on one word.
      "red.global.add.f32 [%rd1], %f1; mov.b32 %r9, %f1; red.global.max.u32 [%rd1], %r9;",
      // By some lanes, after a barrier, from a shared sum.
      "st.shared.f32 [s], %f1; bar.sync 0; setp.eq.u32 %p1, %r4, 0; ld.shared.f32 %f3, [s]; @%p1 "
      "red.global.add.f32 [%rd1], %f3;"};
  for (const std::string& body : bodies) {
    ExpectRepeats(body);
  }
}

TEST(AtomicsInOrder, OrderOfFloatSumsMatters) {
  // The test above could not fail if the sums were the same in every order.
  const SumRun forward = RunBody("red.global.add.f32 [%rd1], %f1;", 1);
  const SumRun backward = RunBody(
      "mov.u32 %r6, 6144; sub.u32 %r6, %r6, %r1; cvt.rn.f32.u32 %f1, %r6; rcp.rn.f32 %f1, %f1; "
      "red.global.add.f32 [%rd1], %f1;",
      1);
  EXPECT_NE(forward.sums[0], backward.sums[0]);
}

TEST(AtomicsInOrder, AreSeenByTheirOwnBlock) {
  // Each block adds to a word of its own and reads it behind a barrier, by each way of loading.
  const std::string own =
      "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd1, %rd4; red.global.add.f32 [%rd4], %f1; "
      "bar.sync 0;\n";
  ExpectRepeats(own + "ld.global.f32 %f5, [%rd4]; st.global.f32 [%rd3], %f5;");
  ExpectRepeats(own + "ld.f32 %f5, [%rd4]; st.global.f32 [%rd3], %f5;");
  // The word is stored to first, and again afterwards.
  ExpectRepeats(
      "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd1, %rd4; setp.eq.u32 %p1, %r4, 0; mov.f32 %f6, "
      "0f40400000; @%p1 st.global.f32 [%rd4], %f6; bar.sync 0; red.global.add.f32 [%rd4], %f1; "
      "bar.sync 0; ld.global.f32 %f5, [%rd4]; st.global.f32 [%rd3], %f5; bar.sync 0; add.f32 %f5, "
      "%f5, %f5; @%p1 st.global.f32 [%rd4], %f5;");
}

TEST(AtomicsInOrder, AreSeenInTheOrderOfBlocksByOthers) {
  // A race, whose outcome is that of one thread all the same: each thread reads the running sum.
  ExpectRepeats(
      "red.global.add.f32 [%rd1], %f1; ld.global.f32 %f5, [%rd1]; st.global.f32 [%rd3], "
      "%f5;");
  ExpectRepeats(
      "ld.global.f32 %f5, [%rd1]; st.global.f32 [%rd3], %f5; add.f32 %f5, %f5, %f1; "
      "red.global.add.f32 [%rd1], %f5;");
}

TEST(AtomicsInOrder, TakeMoreThanALogHolds) {
  // 64 threads add 20,000 times each in some blocks: 1.3 million entries.
  const std::string body =
      "setp.gt.u32 %p1, %r2, 1; mov.u32 %r9, 0;\n@%p1 bra done;\nagain: red.global.add.f32 [%rd1], "
      "%f1; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 20000; @%p2 bra again;\ndone: "
      "red.global.add.f32 [%rd1], %f1;";
  ASSERT_TRUE(Defers(body));
  EXPECT_EQ(RunBody(body, 2).sums, RunBody(body, 1).sums);
}

TEST(AtomicsInOrder, OnlyWhereNothingElseShowsTheOrder) {
  EXPECT_TRUE(Defers("red.global.add.f32 [%rd1], %f1;"));
  EXPECT_TRUE(Defers("atom.global.add.f32 %f2, [%rd1], %f1; ld.global.f32 %f3, [%rd1+4];"));
  EXPECT_TRUE(Defers("red.global.add.f32 [%rd1], %f1; ld.volatile.shared.u32 %r9, [s];"));
  const char* const others[] = {
      "st.global.f32 [%rd3], %f1;",  // no atomics
      "atom.global.add.f32 %f2, [%rd1], %f1; st.global.f32 [%rd3], %f2;",
      "atom.global.add.u32 %r9, [%rd1], 1; st.global.u32 [%rd3], %r9;",
      "red.global.add.f32 [%rd1], %f1; atom.global.exch.b32 %r9, [%rd1+4], %r1;",
      "red.global.add.f32 [%rd1], %f1; atom.global.cas.b32 %r9, [%rd1+4], 0, %r1;",
      "red.global.add.f32 [%rd1], %f1; ld.volatile.global.u32 %r9, [%rd1];",
      "red.global.add.f32 [%rd1], %f1; st.release.gpu.global.u32 [%rd3], %r1;",
      "red.global.add.f32 [%rd1], %f1; ld.relaxed.gpu.u32 %r9, [%rd1];",
      "red.global.add.f32 [%rd1], %f1; cp.async.ca.shared.global [s], [%rd1], 4;",
      "red.global.add.f32 [%rd1], %f1;\nl: ld.volatile.shared.u32 %r9, [s]; setp.eq.u32 %p1, "
      "%r9, 1; @%p1 bra l;"};
  for (const char* const body : others) {
    EXPECT_FALSE(Defers(body)) << body;
  }
  const Module module = ModuleOf("red.global.add.f32 [%rd1], %f1;");
  const auto program = ProgramOf(module, *module.FindKernel("k"));
  EXPECT_FALSE(program->NeedsOneThread(true));
  EXPECT_TRUE(program->NeedsOneThread(false));  // cooperative, or with clusters
}

TEST(AtomicsInOrder, EndWithLaunchesThatDoNotComplete) {
  // Block 5 faults, waits for a barrier that never completes, or runs for ever; later blocks wait
  // for it, since they read a sum.
  const std::string sum = "red.global.add.f32 [%rd1], %f1; setp.eq.u32 %p1, %r2, 5;\n";
  const std::string read = "ld.global.f32 %f5, [%rd1]; st.global.f32 [%rd3], %f5;\n";
  const struct {
    std::string body;
    LaunchStatus status;
  } cases[] = {
      {sum + "mov.u64 %rd5, 64; @%p1 st.global.u32 [%rd5], %r1;" + read, LaunchStatus::kFault},
      {sum + "@%p1 bar.sync 1, 96;" + read, LaunchStatus::kDeadlock},
      {sum + "l: @%p1 bra l;\n" + read, LaunchStatus::kStepLimit}};
  for (const auto& c : cases) {
    ASSERT_TRUE(Defers(c.body)) << c.body;
    for (const int threads : {1, 2, 4}) {
      const SumRun run = RunBody(c.body, threads, uint64_t{1} << 25);
      EXPECT_EQ(run.outcome.status, c.status) << run.outcome.message << c.body;
      EXPECT_NE(run.sums[0], 0u);  // of the blocks before
    }
  }
}

void AddFloats(const DeferredAtomic* begin, const DeferredAtomic* end, bool) {
  for (; begin != end; ++begin) {
    *reinterpret_cast<float*>(begin->at) +=
        std::bit_cast<float>(static_cast<uint32_t>(begin->value));
  }
}

TEST(AtomicsInOrder, TakeEffectByBlockNotByWhoIsDone) {
  LaunchContext launch;
  OrderedAtomics atomics(launch, true);
  Allocation allocation;
  std::vector<MemorySite> sites(1);
  AtomicLog a;
  AtomicLog b;
  float sum = 0;
  const auto add = [&](AtomicLog& log, float value) {
    atomics.Announce(log, &allocation, sites);
    log.Add(&AddFloats, {reinterpret_cast<uint8_t*>(&sum), std::bit_cast<uint32_t>(value)});
  };
  atomics.Begin(a, 0);
  add(a, 1.0f);
  EXPECT_EQ(sum, 0.0f);
  atomics.End(a);
  EXPECT_EQ(sum, 1.0f);
  atomics.Begin(a, 1);
  atomics.Begin(b, 2);
  add(b, -3e8f);
  atomics.End(b);
  EXPECT_EQ(sum, 1.0f);  // block 1 is not done
  add(a, 3e8f);
  EXPECT_TRUE(atomics.Settle(a, &allocation));
  EXPECT_EQ(sum, 3e8f);  // its turn: 1 is lost
  const Allocation other;
  EXPECT_FALSE(atomics.Settle(a, &other));
  atomics.End(a);
  EXPECT_EQ(sum, 0.0f);
}

}  // namespace
}  // namespace optiml::ptx
