#include "ptx/machine.h"

#include <gmock/gmock.h>

#include <numeric>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Stores %r9 at words[%r1].
constexpr char kStore[] =
    "mul.wide.u32 %rd9, %r1, 4;\nadd.s64 %rd9, %rd1, %rd9;\nst.global.u32 [%rd9], %r9;\n";

std::vector<uint32_t> Expected(uint32_t count, uint32_t (*f)(uint32_t)) {
  std::vector<uint32_t> values(count);
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = f(i);
  }
  return values;
}

TEST(ControlFlow, NestedIfsReconverge) {
  const auto run = RunWords(std::string(R"(
    mov.u32 %r9, 0;
    and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; @%p1 bra EVEN;
    add.u32 %r9, %r9, 100;
    and.b32 %r10, %r1, 2; setp.eq.u32 %p2, %r10, 0; @%p2 bra INNER;
    add.u32 %r9, %r9, 10;
    INNER: add.u32 %r9, %r9, 1;
    bra JOIN;
    EVEN: add.u32 %r9, %r9, 1000;
    JOIN: activemask.b32 %r11; popc.b32 %r11, %r11; mul.lo.u32 %r11, %r11, 10000; add.u32 %r9, %r9, %r11;)") +
                                kStore,
                            {1}, {64}, 64);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.words, Expected(64, [](uint32_t i) {
              return 320000 + (i % 2 == 0 ? 1000u : 100u + (i % 4 == 3 ? 10u : 0u) + 1);
            }));
}

TEST(ControlFlow, LoopsWithBreakAndContinueCountRight) {
  // for (k = 0; ; ++k) { if (k == i) break; if (k % 3 == 0) continue; r9 += k; }
  const auto run = RunWords(std::string(R"(
    mov.u32 %r9, 0; mov.u32 %r10, 0;
    LOOP: setp.eq.u32 %p1, %r10, %r1; @%p1 bra OUT;
    rem.u32 %r11, %r10, 3; setp.eq.u32 %p2, %r11, 0; @%p2 bra NEXT;
    add.u32 %r9, %r9, %r10;
    NEXT: add.u32 %r10, %r10, 1; bra.uni LOOP;
    OUT: activemask.b32 %r11; popc.b32 %r11, %r11; mul.lo.u32 %r11, %r11, 100000; add.u32 %r9, %r9, %r11;)") +
                                kStore,
                            {1}, {32}, 32);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.words, Expected(32, [](uint32_t i) {
              uint32_t sum = 3200000;
              for (uint32_t k = 0; k < i; ++k) {
                sum += k % 3 == 0 ? 0 : k;
              }
              return sum;
            }));
}

TEST(ControlFlow, EarlyReturnsLeaveTheRest) {
  const auto run =
      RunWords(std::string("setp.ge.u32 %p1, %r1, 40; @%p1 ret;\nand.b32 %r10, %r1, 3; setp.eq.u32 "
                           "%p2, %r10, 0; @%p2 bra GONE;\nmov.u32 %r9, 7;\n") +
                   kStore + "bra END; GONE: exit; END:",
               {1}, {64}, 64);
  EXPECT_EQ(run.words, Expected(64, [](uint32_t i) { return i < 40 && i % 4 != 0 ? 7u : 0u; }));
}

TEST(ControlFlow, SwitchesThroughTables) {
  const auto run = RunWords(std::string(R"(
    and.b32 %r10, %r1, 3;
    T: .branchtargets A, B, C, B;
    brx.idx %r10, T;
    A: mov.u32 %r9, 10; bra J;
    B: mov.u32 %r9, 20; bra J;
    C: mov.u32 %r9, 30;
    J: activemask.b32 %r11; popc.b32 %r11, %r11; add.u32 %r9, %r9, %r11;)") +
                                kStore,
                            {1}, {32}, 32);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.words, Expected(32, [](uint32_t i) {
              return 32 + (i % 4 == 0 ? 10u : i % 4 == 2 ? 30u : 20u);
            }));
}

TEST(ControlFlow, PredicatedInstructionsTouchOnlyTheirLanes) {
  const auto run =
      RunWords(std::string("mov.u32 %r9, 1; and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 1;\n@%p1 "
                           "mov.u32 %r9, 2;\n@!%p1 add.u32 %r9, %r9, 4;\n") +
                   kStore,
               {1}, {32}, 32);
  EXPECT_EQ(run.words, Expected(32, [](uint32_t i) { return i % 2 == 1 ? 2u : 5u; }));
}

TEST(Calls, RecursionAndResultsWork) {
  // fib(n) by plain recursion, n differs by lane.
  const std::string function = R"(
.func (.param .b32 out) fib(.param .b32 n)
{
  .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u32 %r1, [n];
  setp.lt.u32 %p, %r1, 2; @%p bra BASE;
  add.u32 %r2, %r1, -1;
  { .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r2; call.uni (r), fib, (a); ld.param.b32 %r3, [r+0]; }
  add.u32 %r2, %r1, -2;
  { .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r2; call.uni (r), fib, (a); ld.param.b32 %r4, [r+0]; }
  add.u32 %r1, %r3, %r4;
  BASE: st.param.b32 [out+0], %r1;
  ret;
}
)";
  const auto run =
      RunWords(std::string("and.b32 %r10, %r1, 7;\n{ .param .b32 a; .param .b32 r; st.param.b32 "
                           "[a+0], %r10; call.uni (r), fib, (a); ld.param.b32 %r9, [r+0]; }\n") +
                   kStore,
               {1}, {32}, 32, {}, false, function);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.words, Expected(32, [](uint32_t i) {
              const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13};
              return fib[i % 8];
            }));
}

TEST(Calls, EndlessRecursionIsAFault) {
  const auto run = RunWords("call.uni f, ();", {1}, {32}, 1, {}, false,
                            ".func f() { .reg .b64 %big<64>; call.uni f, (); ret; }\n");
  EXPECT_EQ(run.outcome.status, LaunchStatus::kFault);
  EXPECT_THAT(run.outcome.message, HasSubstr("recursion of f"));
}

TEST(Calls, PrintfIsCaptured) {
  const std::string module =
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.global .align 1 .b8 "
      "fmt[14] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10, 0, 0, 0};\n.global .align 1 .b8 "
      "word[3] = {104, 105, 0};\n";
  const auto run = RunWords(R"(
    .local .align 8 .b8 depot[24]; .reg .b64 %q<8>;
    mov.u64 %q1, depot; cvta.local.u64 %q2, %q1;
    st.local.u32 [%q1], -5; mov.f64 %fd1, 0d3FF8000000000000; st.local.f64 [%q1+8], %fd1;
    mov.u64 %q3, word; cvta.global.u64 %q3, %q3; st.local.u64 [%q1+16], %q3;
    mov.u64 %q4, fmt; cvta.global.u64 %q4, %q4;
    { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a+0], %q4; st.param.b64 [b+0], %q2; call.uni (r), vprintf, (a, b); ld.param.b32 %r9, [r+0]; }
    st.global.u32 [%rd1], %r9;)",
                            {1}, {1}, 1, {}, false, module);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.outcome.printf_output, "-5 1.50 hi\n");
  EXPECT_EQ(run.words[0], 3u);
}

TEST(Lanes, ShufflesFollowTheSegments) {
  const auto run = RunWords(
      std::string("shfl.sync.bfly.b32 %r10, %r1, 5, 31, -1;\nshfl.sync.down.b32 %r11|%p1, %r1, 4, "
                  "0x1807, -1;\nselp.u32 %r12, 1000, 0, %p1;\nshfl.sync.idx.b32 %r13, %r1, 3, "
                  "0x181f, -1;\nmul.lo.u32 %r13, %r13, 10000;\nmad.lo.u32 %r9, %r10, 100, %r11; "
                  "add.u32 %r9, %r9, %r13; mad.lo.u32 %r9, %r12, 1000, %r9;\n") +
          kStore,
      {1}, {32}, 32);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.words, Expected(32, [](uint32_t i) {
              const bool in = (i & 7) + 4 <= 7;
              return (i ^ 5) * 100 + (in ? i + 4 : i) + ((i & 24) + 3) * 10000 +
                     (in ? 1000000u : 0u);
            }));
}

TEST(Lanes, VotesMatchesAndReductionsSeeTheActiveLanes) {
  const auto run = RunWords(std::string(R"(
    mov.u32 %r9, 0; setp.lt.u32 %p1, %r1, 24; @!%p1 bra END;
    and.b32 %r10, %r1, 1; setp.eq.u32 %p2, %r10, 0;
    vote.sync.ballot.b32 %r11, %p2, 0xffffff; popc.b32 %r11, %r11;
    vote.sync.any.pred %p3, %p2, 0xffffff; vote.sync.all.pred %p4, %p2, 0xffffff; selp.u32 %r12, 1, 0, %p3; selp.u32 %r13, 1, 0, %p4;
    rem.u32 %r14, %r1, 3; match.any.sync.b32 %r15, %r14, 0xffffff; popc.b32 %r15, %r15;
    redux.sync.add.s32 %r16, %r1, 0xffffff;
    mad.lo.u32 %r9, %r11, 100, %r12; mad.lo.u32 %r9, %r13, 10, %r9; mad.lo.u32 %r9, %r15, 10000, %r9; mad.lo.u32 %r9, %r16, 1000000, %r9;
    END:)") + kStore,
                            {1}, {32}, 32);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_EQ(run.words,
            Expected(32, [](uint32_t i) { return i < 24 ? 1200u + 1 + 80000u + 276000000u : 0u; }));
}

TEST(Barriers, OrderSharedMemoryBetweenWarps) {
  const std::string module = ".shared .align 4 .b8 s[1024];\n";
  const auto run = RunWords(
      std::string("mov.u32 %r10, s; shl.b32 %r11, %r4, 2; add.u32 %r11, %r10, %r11; st.shared.u32 "
                  "[%r11], %r4;\nbar.sync 0;\nsub.u32 %r12, 255, %r4; shl.b32 %r12, %r12, 2; "
                  "add.u32 %r12, %r10, %r12; ld.shared.u32 %r9, [%r12];\n") +
          kStore,
      {2}, {256}, 512, {true, true, false, true}, false, module);
  ASSERT_TRUE(run.outcome.clean())
      << run.outcome.message
      << (run.outcome.findings.empty() ? "" : run.outcome.findings[0].detail);
  EXPECT_EQ(run.words, Expected(512, [](uint32_t i) { return 255 - i % 256; }));
}

TEST(Barriers, ExitedThreadsAreNotWaitedFor) {
  const auto run = RunWords(
      std::string("setp.ge.u32 %p1, %r4, 70; @%p1 ret;\nbar.sync 0;\nmov.u32 %r9, 1;\n") + kStore,
      {1}, {256}, 256);
  ASSERT_TRUE(run.outcome.clean()) << run.outcome.message;
  EXPECT_EQ(std::accumulate(run.words.begin(), run.words.end(), 0u), 70u);
}

TEST(Barriers, AWayThatTrapsDoesNotKeepTheOthersApart) {
  // A switch whose default traps: its ways meet before the barrier.
  const auto run = RunWords(
      "and.b32 %r9, %r4, 3; setp.eq.u32 %p1, %r9, 0; @%p1 bra A; setp.eq.u32 %p2, %r9, 1; @%p2 bra "
      "B; setp.gt.u32 %p3, %r9, 3; @%p3 bra T; mov.u32 %r9, 30; bra.uni J; A: mov.u32 %r9, 10; "
      "bra.uni J; B: mov.u32 %r9, 20; bra.uni J; T: trap; J: bar.sync 0;\n" +
          std::string(kStore),
      {1}, {64}, 64);
  ASSERT_TRUE(run.outcome.clean())
      << (run.outcome.findings.empty() ? run.outcome.message : run.outcome.findings[0].detail);
  EXPECT_THAT(std::vector<uint32_t>(run.words.begin(), run.words.begin() + 4),
              ElementsAre(10u, 20u, 30u, 30u));
}

TEST(Barriers, NamedOnesCountTheirThreads) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; then a reduction over all.
  const auto run = RunWords(
      std::string(
          "shr.u32 %r10, %r4, 6; add.u32 %r10, %r10, 1;\nbar.sync %r10, 64;\nsetp.lt.u32 %p1, %r4, "
          "100;\nbar.red.popc.u32 %r9, 0, %p1;\nbar.red.or.pred %p2, 0, !%p1; bar.red.and.pred "
          "%p3, 0, %p1;\n@%p2 add.u32 %r9, %r9, 1000; @%p3 add.u32 %r9, %r9, 2000;\n") +
          kStore,
      {1}, {128}, 128);
  ASSERT_TRUE(run.outcome.clean()) << run.outcome.message;
  EXPECT_THAT(run.words, Each(1100u));
}

TEST(Progress, SpinLocksBetweenBlocksAndLanesFinish) {
  // Every thread takes a lock, adds one, releases: needs lanes of a warp to pass each other.
  const auto run = RunWords(R"(
    AGAIN: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra AGAIN;
    ld.volatile.global.u32 %r11, [%rd1+4]; add.u32 %r11, %r11, 1; st.volatile.global.u32 [%rd1+4], %r11;
    membar.gl; atom.global.exch.b32 %r12, [%rd1], 0;)",
                            {6}, {64}, 2);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_THAT(run.words, ElementsAre(0u, 384u));
}

TEST(Progress, BlocksThatWaitForLaterOnesFinish) {
  // Block b waits for block b + 1: the last one starts the chain.
  for (const int threads : {1, 2}) {
    const auto run = RunWords(R"(
      setp.ne.u32 %p1, %r4, 0; @%p1 ret;
      setp.eq.u32 %p2, %r2, 39; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2; @%p2 bra GO;
      WAIT: ld.acquire.gpu.global.u32 %r10, [%rd2+4]; setp.eq.u32 %p3, %r10, 0; @%p3 bra WAIT;
      GO: mov.u32 %r11, 1; st.release.gpu.global.u32 [%rd2], %r11;)",
                              {40}, {32}, 41, {}, false, {}, threads);
    ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
    EXPECT_EQ(std::accumulate(run.words.begin(), run.words.end(), 0u), 40u);
  }
}

TEST(Progress, ADeadlockNamesItsLines) {
  const auto run = RunWords(
      ".loc 1 42 1\nWAIT: ld.volatile.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; @%p3 bra "
      "WAIT;",
      {2}, {64}, 1);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kDeadlock);
  EXPECT_THAT(run.outcome.message, HasSubstr("line 42 (4 warps)"));
  EXPECT_EQ(run.outcome.findings.back().line, 42);
}

TEST(Progress, DifferentBarriersAreADeadlock) {
  const auto run = RunWords(
      "setp.lt.u32 %p1, %r4, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B:", {1}, {64}, 1);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kDeadlock);
}

TEST(Progress, EndlessLoopsMeetTheStepLimit) {
  const auto run = RunWords(".loc 1 7 1\nL: add.u32 %r9, %r9, 1; bra L;", {1}, {32}, 1);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kStepLimit);
  EXPECT_THAT(run.outcome.message, HasSubstr("line 7"));
}

TEST(Launches, AreRefusedBeyondTheLimits) {
  const Module module = MustParse(KernelText("", 1, ".shared .align 4 .b8 s[4096];\n"));
  DeviceMemory memory;
  const auto refuse = [&](Dim3 grid, Dim3 block, uint64_t shared) {
    LaunchRequest request = Request(module, "k", grid, block, {Argument(uint64_t{0})});
    request.dynamic_shared_bytes = shared;
    const LaunchOutcome outcome = Launch(request, memory);
    EXPECT_EQ(outcome.status, LaunchStatus::kRefused);
    return outcome.message;
  };
  EXPECT_THAT(refuse({0x80000000u}, {32}, 0), HasSubstr("grid (2147483648,1,1)"));
  EXPECT_THAT(refuse({1, 65536}, {32}, 0), HasSubstr("grid"));
  EXPECT_THAT(refuse({1}, {1025}, 0), HasSubstr("1024 threads"));
  EXPECT_THAT(refuse({1}, {32, 33}, 0), HasSubstr("1024 threads"));
  EXPECT_THAT(refuse({1}, {0}, 0), HasSubstr("block"));
  EXPECT_THAT(refuse({1}, {32}, 300000), HasSubstr("shared memory"));
  LaunchRequest request = Request(module, "k", {1}, {32}, {Argument(uint64_t{0})});
  request.parameters.clear();
  EXPECT_THAT(Launch(request, memory).message, HasSubstr("0 bytes of parameters"));
  request.kernel = "other";
  EXPECT_THAT(Launch(request, memory).message,
              HasSubstr("no kernel 'other' in test.ptx (known: k)"));
}

TEST(Launches, SampleBlocksOfAHugeGrid) {
  const Module module = MustParse(KernelText(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %ctaid.x; atom.global.add.u32 %r2, [%rd1], %r1;", 1));
  DeviceMemory memory;
  const uint64_t sum = Upload(memory, "sum", std::vector<uint32_t>{0});
  LaunchRequest request = Request(module, "k", {0x7fffffff}, {1}, {Argument(sum)});
  request.block_sample = {5, 1000000, 2147483646};
  request.counters = true;
  const LaunchOutcome outcome = Launch(request, memory);
  ASSERT_EQ(outcome.status, LaunchStatus::kCompleted) << outcome.message;
  EXPECT_EQ(Download<uint32_t>(memory, sum)[0], 5u + 1000000u + 2147483646u);
  EXPECT_EQ(outcome.counters.blocks_run, 3u);
  EXPECT_EQ(outcome.counters.blocks_in_grid, 2147483647u);
}

TEST(Launches, NameWhatTheyCannotExecute) {
  const Module module = MustParse(KernelText(
      ".loc 1 12 1\nmma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%f2}, {%f3}, {%f4};",
      0));
  DeviceMemory memory;
  const LaunchOutcome outcome = Launch(Request(module, "k", {1}, {32}, {}), memory);
  EXPECT_EQ(outcome.status, LaunchStatus::kUnsupported);
  EXPECT_THAT(
      outcome.message,
      HasSubstr("unsupported: mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 at PTX line"));
  EXPECT_THAT(outcome.message, HasSubstr("source line 12"));
  EXPECT_EQ(UnsupportedInstructions(module, "k").size(), 1u);
}

TEST(Launches, KeepModuleVariablesBetweenThem) {
  const Module module =
      MustParse(KernelText("ld.global.u32 %r1, [counter]; add.u32 %r1, %r1, 1; st.global.u32 "
                           "[counter], %r1; ld.param.u64 %rd1, [p0]; ld.const.u32 %r2, [base+4]; "
                           "add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1;",
                           1, ".global .u32 counter;\n.const .align 4 .u32 base[2] = {1, 100};\n"));
  DeviceMemory memory;
  const uint64_t out = Upload(memory, "out", std::vector<uint32_t>{0});
  const LaunchRequest request = Request(module, "k", {1}, {1}, {Argument(out)});
  Launch(request, memory);
  const LaunchOutcome outcome = Launch(request, memory);
  ASSERT_EQ(outcome.status, LaunchStatus::kCompleted) << outcome.message;
  EXPECT_EQ(Download<uint32_t>(memory, out)[0], 102u);
}

TEST(Launches, GiveTheSameWithManyThreads) {
  const std::string body =
      std::string("mul.lo.u32 %r9, %r1, %r1; atom.global.add.u32 %r10, [%rd1+4096], 1;\n") + kStore;
  const auto one = RunWords(body, {16}, {64}, 1025, {}, true, {}, 1);
  const auto four = RunWords(body, {16}, {64}, 1025, {}, true, {}, 4);
  ASSERT_EQ(four.outcome.status, LaunchStatus::kCompleted);
  EXPECT_EQ(one.words, four.words);
  EXPECT_EQ(one.outcome.counters.thread_instructions, four.outcome.counters.thread_instructions);
}

TEST(Launches, RepeatBitForBitWhereTheOrderOfBlocksShows) {
  // 1 + 2^-24 + 2^-24 ... in another order gives other bits; tickets go to blocks as they come.
  const std::string kernels[] = {
      "cvt.rn.f32.u32 %f1, %r1; rcp.rn.f32 %f1, %f1; @!%p1 atom.global.add.f32 %f2, [%rd1+8192], "
      "%f1;\n",
      "cvt.rn.f32.u32 %f1, %r1; sqrt.rn.f32 %f1, %f1; red.global.add.f32 [%rd1+8192], %f1;\n",
      "atom.global.add.u32 %r10, [%rd1+8192], 1; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, "
      "%rd2; st.global.u32 [%rd2], %r10;\n",
      "atom.global.exch.b32 %r10, [%rd1+8192], %r1;\n"};
  for (const std::string& kernel : kernels) {
    const auto first = RunWords("setp.eq.u32 %p1, %r1, 0;\n" + kernel, {64}, {32}, 2049);
    ASSERT_EQ(first.outcome.status, LaunchStatus::kCompleted) << first.outcome.message;
    for (int repeat = 0; repeat < 8; ++repeat) {
      EXPECT_EQ(
          RunWords("setp.eq.u32 %p1, %r1, 0;\n" + kernel, {64}, {32}, 2049, {}, false, {}, 4).words,
          first.words)
          << kernel;
    }
  }
}

TEST(Atomics, CoverEveryOperation) {
  struct Case {
    const char* instruction;
    uint32_t start;
    uint32_t expected;
  };
  // 32 lanes, %r9 = lane + 1.
  const Case cases[] = {
      {"atom.global.add.u32 %r10, [%rd1], %r9;", 10, 538},
      {"red.global.min.s32 [%rd1], %r9;", 0xfffffffb, 0xfffffffb},
      {"red.global.max.u32 [%rd1], %r9;", 0xfffffffb, 0xfffffffb},
      {"red.global.max.s32 [%rd1], %r9;", 0xfffffffb, 32},
      {"atom.global.and.b32 %r10, [%rd1], %r9;", 0xff, 0},
      {"atom.global.or.b32 %r10, [%rd1], %r9;", 0, 63},
      {"atom.global.xor.b32 %r10, [%rd1], %r9;", 0, 32},
      {"atom.global.exch.b32 %r10, [%rd1], %r9;", 0, 32},
      {"atom.global.inc.u32 %r10, [%rd1], 9;", 0, 2},
      {"atom.global.dec.u32 %r10, [%rd1], 9;", 0, 8},
      {"atom.global.cas.b32 %r10, [%rd1], 5, %r9;", 5, 1},
      {"atom.add.relaxed.gpu.s32 %r10, [%rd1], %r9;", 0, 528},
      {"cvt.rn.f32.u32 %f1, %r9; atom.global.add.f32 %f2, [%rd1], %f1;", 0, 0x44040000},
      {"mov.b32 %r11, 0x3c003800; red.global.add.noftz.f16x2 [%rd1], %r11;", 0, 0x50004c00}};
  for (const Case& c : cases) {
    const Module module = MustParse(KernelText(
        std::string("ld.param.u64 %rd1, [p0]; mov.u32 %r9, %laneid; add.u32 %r9, %r9, 1;\n") +
            c.instruction,
        1));
    DeviceMemory memory;
    const uint64_t at = Upload(memory, "x", std::vector<uint32_t>{c.start});
    const LaunchOutcome outcome = Launch(Request(module, "k", {1}, {32}, {Argument(at)}), memory);
    ASSERT_EQ(outcome.status, LaunchStatus::kCompleted) << c.instruction << outcome.message;
    EXPECT_EQ(Download<uint32_t>(memory, at)[0], c.expected) << c.instruction;
  }
}

TEST(Constants, TheWarpsSizeIsOneOfPtxsOwn) {
  const Module module = MustParse(KernelText(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %laneid; mov.u32 %r2, WARP_SZ; sub.s32 %r3, WARP_SZ, "
      "%r1; setp.eq.u32 %p1, %r3, 1; mad.lo.s32 %r4, %r2, WARP_SZ, %r3; cvt.u64.u32 %rd2, WARP_SZ; "
      "cvt.u32.u64 %r5, %rd2; add.s32 %r4, %r4, %r5; @%p1 st.global.u32 [%rd1], %r4;",
      1));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "x", std::vector<uint32_t>{0});
  const LaunchOutcome outcome = Launch(Request(module, "k", {1}, {32}, {Argument(at)}), memory);
  ASSERT_EQ(outcome.status, LaunchStatus::kCompleted) << outcome.message;
  EXPECT_EQ(Download<uint32_t>(memory, at)[0], 32u * 32 + 1 + 32);
}

TEST(Addresses, GenericOnesReachEverySpace) {
  // Even lanes point to shared memory, odd ones to global, the load after it to local.
  const auto run = RunWords(std::string(R"(
    .local .align 4 .b8 depot[8]; .reg .b64 %q<8>;
    mov.u64 %q1, s; cvta.shared.u64 %q1, %q1; mul.wide.u32 %q2, %r1, 4; add.s64 %q1, %q1, %q2; add.s64 %q3, %rd1, %q2; add.s64 %q3, %q3, 128;
    and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; selp.b64 %q4, %q1, %q3, %p1;
    st.u32 [%q4], %r1; ld.u32 %r11, [%q4];
    mov.u64 %q5, depot; cvta.local.u64 %q5, %q5; st.u32 [%q5+4], %r11; ld.local.u32 %r9, [depot+4];
    isspacep.shared %p2, %q4; @%p2 add.u32 %r9, %r9, 1000;)") +
                                kStore,
                            {1}, {32}, 64, {}, false, ".shared .align 4 .b8 s[128];\n");
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.words[i], i + (i % 2 == 0 ? 1000 : 0));
    EXPECT_EQ(run.words[32 + i], i % 2 == 0 ? 0 : i);
  }
}

TEST(Addresses, NarrowTypesExtendIntoWideRegisters) {
  const auto run = RunWords(R"(
    mov.u32 %r9, 0x8081fffe; st.global.u32 [%rd1], %r9;
    ld.global.s8 %r10, [%rd1]; st.global.u32 [%rd1+4], %r10; ld.global.u8 %h1, [%rd1+1]; cvt.u32.u16 %r11, %h1; st.global.u32 [%rd1+8], %r11;
    ld.global.s16 %rd3, [%rd1+2]; shr.s64 %rd3, %rd3, 8; st.global.u32 [%rd1+12], %rd3; ld.global.v4.u8 {%r12, %r13, %r14, %r15}, [%rd1];
    add.u32 %r12, %r12, %r15; st.global.u32 [%rd1+16], %r12; st.global.v2.u16 [%rd1+20], {%r9, %r10};)",
                            {1}, {1}, 6);
  ASSERT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  EXPECT_THAT(run.words,
              ElementsAre(0x8081fffe, 0xfffffffe, 0xff, 0xffffff80, 0xfe + 0x80, 0xfffefffe));
}

TEST(Specials, DescribeTheThread) {
  const Module module = MustParse(KernelText(R"(
    ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %nctaid.x; mov.u32 %r6, %ntid.y; mov.u32 %r7, %warpid; mov.u32 %r8, %laneid; mov.u32 %r9, %lanemask_lt;
    mov.u32 %r20, %ctaid.x; mad.lo.u32 %r21, %r4, %r5, %r20; mad.lo.u32 %r22, %r3, %r6, %r2; mov.u32 %r23, %ntid.x; mad.lo.u32 %r22, %r22, %r23, %r1; mad.lo.u32 %r21, %r21, 48, %r22; mul.wide.u32 %rd2, %r21, 8; add.s64 %rd1, %rd1, %rd2;
    shl.b32 %r7, %r7, 8; add.u32 %r7, %r7, %r8; st.global.v2.u32 [%rd1], {%r7, %r9};)",
                                             1));
  DeviceMemory memory;
  const uint64_t out = Upload(memory, "out", std::vector<uint32_t>(2 * 48 * 6, 0));
  const LaunchOutcome outcome =
      Launch(Request(module, "k", {2, 3}, {4, 6, 2}, {Argument(out)}), memory);
  ASSERT_EQ(outcome.status, LaunchStatus::kCompleted) << outcome.message;
  const auto words = Download<uint32_t>(memory, out);
  for (uint32_t i = 0; i < 48 * 6; ++i) {
    const uint32_t thread = i % 48;
    EXPECT_EQ(words[2 * i], (thread / 32 << 8) + thread % 32);
    EXPECT_EQ(words[2 * i + 1], (1u << thread % 32) - 1);
  }
}

}  // namespace
}  // namespace optiml::ptx
