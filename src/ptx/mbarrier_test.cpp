// mbarrier: phases, waits, what they order, and misuse.

#include <gmock/gmock.h>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Checks kAll{true, true, false, true};
constexpr char kShared[] =
    ".shared .align 8 .b8 b[32];\n.shared .align 256 .b8 s[1024];\n.extern .shared .align 16 .b8 "
    "dyn[];\n";

// %r20 = &s[4 * %r4]; p1: first thread; p5: first lane; %r5: warp. %rd2 = &words[%r1]. The barriers
// b and b+8 are initialised for `arrivals`.
std::string Start(const std::string& arrivals) {
  return "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; mov.u32 %r20, s; shl.b32 %r21, %r4, "
         "2; add.u32 %r20, %r20, %r21; setp.eq.u32 %p1, %r4, 0; shr.u32 %r5, %r4, 5; and.b32 %r6, "
         "%r4, 31; setp.eq.u32 %p5, %r6, 0; @%p1 mbarrier.init.shared::cta.b64 [b], " +
         arrivals + "; @%p1 mbarrier.init.shared::cta.b64 [b+8], " + arrivals +
         "; bar.sync 0;\n.loc 1 5 1\n";
}

WordRun Execute(const std::string& body, Dim3 block = {64}, Checks checks = kAll) {
  return RunWords(body, {1}, block, static_cast<size_t>(block.Count()), checks, true, kShared);
}

std::string Findings(const LaunchOutcome& outcome) {
  std::string text = outcome.message;
  for (const Finding& finding : outcome.findings) {
    text += "\n" + finding.kind + ": " + finding.detail;
  }
  return text;
}

Finding First(const WordRun& run) {
  EXPECT_FALSE(run.outcome.findings.empty()) << LaunchStatusName(run.outcome.status);
  return run.outcome.findings.empty() ? Finding() : run.outcome.findings.front();
}

std::string Wait(const std::string& label, const std::string& barrier, const std::string& parity) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [" + barrier + "], " + parity +
         "; @!%p2 bra " + label + ";\n";
}

TEST(Mbarrier, OrdersWarpsLikeABarrier) {
  const std::string exchange =
      "xor.b32 %r22, %r20, 128; ld.shared.u32 %r9, [%r22]; st.global.u32 "
      "[%rd2], %r9;";
  const WordRun run = Execute(
      Start("64") + "st.shared.u32 [%r20], %r4; mbarrier.arrive.shared::cta.b64 %rd9, [b];" +
      Wait("W", "b", "0") + exchange);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(run.words[i], i ^ 32);
  }
  // By state instead of parity.
  const WordRun state =
      Execute(Start("64") +
              "st.shared.u32 [%r20], %r4; mbarrier.arrive.shared::cta.b64 %rd9, [b]; W: "
              "mbarrier.try_wait.shared::cta.b64 %p2, [b], %rd9; @!%p2 bra W;" +
              exchange);
  EXPECT_TRUE(state.outcome.clean()) << Findings(state.outcome);
  EXPECT_EQ(state.words, run.words);
  // The store after the arrival is not released by it.
  const WordRun late = Execute(
      Start("64") + "mbarrier.arrive.shared::cta.b64 %rd9, [b]; st.shared.u32 [%r20], %r4;" +
      Wait("W", "b", "0") + exchange);
  EXPECT_EQ(First(late).kind, "race");
}

TEST(Mbarrier, ATestInVainIsFalseAtLeastOnce) {
  // Code that does not repeat its test goes on too early, in every run.
  const WordRun run =
      Execute(Start("64") +
              "st.shared.u32 [%r20], %r4; mbarrier.arrive.shared::cta.b64 %rd9, [b]; "
              "mbarrier.try_wait.parity.shared::cta.b64 %p2, [b], 0; xor.b32 %r22, %r20, 128; "
              "ld.shared.u32 %r9, [%r22]; selp.u32 %r10, 1, 0, %p2; st.global.u32 [%rd2], %r10;");
  EXPECT_EQ(run.words[0], 0u);
  EXPECT_THAT(Findings(run.outcome), HasSubstr("race: "));
}

TEST(Mbarrier, ProducersAndConsumersAlternate) {
  // Warp 0 fills 20 times, warps 1 to 3 read; b: full (1 arrival), b+8: empty (3 arrivals).
  const std::string body =
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; shr.u32 %r5, %r4, 5; and.b32 %r6, %r4, "
      "31; mov.u32 %r20, s; shl.b32 %r21, %r6, 2; add.u32 %r20, %r20, %r21; setp.eq.u32 %p1, %r4, "
      "0; setp.eq.u32 %p5, %r6, 0; @%p1 mbarrier.init.shared.b64 [b], 1; @%p1 "
      "mbarrier.init.shared.b64 [b+8], 3; bar.sync 0; mov.u32 %r30, 0; mov.u32 %r9, 0; setp.eq.u32 "
      "%p3, %r5, 0; @!%p3 bra CONSUME;\n"
      "PRODUCE: and.b32 %r31, %r30, 1; xor.b32 %r31, %r31, 1;\n" +
      Wait("WE", "b+8", "%r31") +
      "add.u32 %r32, %r30, %r6; st.shared.u32 [%r20], %r32; bar.warp.sync -1; @%p5 "
      "mbarrier.arrive.release.cta.shared::cta.b64 _, [b]; add.u32 %r30, %r30, 1; setp.lt.u32 %p4, "
      "%r30, 20; @%p4 bra PRODUCE; bra END;\n"
      "CONSUME: and.b32 %r31, %r30, 1;\n" +
      Wait("WF", "b", "%r31") +
      "ld.shared.u32 %r33, [%r20]; add.u32 %r9, %r9, %r33; bar.warp.sync -1; @%p5 "
      "mbarrier.arrive.shared::cta.b64 _, [b+8]; add.u32 %r30, %r30, 1; setp.lt.u32 %p4, %r30, 20; "
      "@%p4 bra CONSUME;\nEND: st.global.u32 [%rd2], %r9;";
  const WordRun run = Execute(body, {128});
  EXPECT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  for (uint32_t i = 32; i < 128; ++i) {
    EXPECT_EQ(run.words[i], 190 + 20 * (i % 32));
  }
  // Consumers that arrive before they read: the producer may overwrite it.
  std::string racy = body;
  const std::string read = "ld.shared.u32 %r33, [%r20]; add.u32 %r9, %r9, %r33;";
  const std::string arrive = "@%p5 mbarrier.arrive.shared::cta.b64 _, [b+8];";
  racy.replace(racy.find(read), read.size(), "");
  racy.insert(racy.find(arrive) + arrive.size(), read);
  EXPECT_THAT(Findings(Execute(racy, {128}).outcome), HasSubstr("race: "));
  // A producer that does not wait for them runs away.
  std::string ahead = body;
  const size_t at = ahead.find("WE:");
  ahead.replace(at, ahead.find('\n', at) - at, "");
  EXPECT_EQ(Execute(ahead, {128}).outcome.status, LaunchStatus::kDeadlock);
}

TEST(Mbarrier, OneLaneWaitsForTheOthersOfItsWarp) {
  // Lane 0 waits for an arrival that lane 1 makes in the other branch; then all meet.
  const WordRun run =
      Execute(Start("1") +
                  "mov.u32 %r9, 0; setp.eq.u32 %p6, %r6, 1; @%p5 bra FIRST; @%p6 "
                  "mbarrier.arrive.shared::cta.b64 _, [b]; bra MEET; FIRST:" +
                  Wait("W", "b", "0") +
                  "mov.u32 %r9, 5; MEET: bar.warp.sync -1; shfl.sync.idx.b32 %r9, %r9, 0, 31, -1; "
                  "st.global.u32 [%rd2], %r9;",
              {32});
  EXPECT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words, std::vector<uint32_t>(32, 5));
}

TEST(Mbarrier, BytesCountToo) {
  const std::string wait = Wait("W", "b", "0") + "mov.u32 %r9, 3; st.global.u32 [%rd2], %r9;";
  const auto body = [&](const std::string& how) {
    return Start("1") + "@!%p1 bra W; " + how + wait;
  };
  for (const char* how :
       {"mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 64; "
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 48; mbarrier.complete_tx.shared.b64 "
        "[b], 16;",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 8; mbarrier.complete_tx.shared.b64 "
        "[b], 8; mbarrier.arrive.shared::cta.b64 _, [b];",
        // Bytes may come before they are expected.
        "mbarrier.complete_tx.shared.b64 [b], 8; mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], "
        "8;"}) {
    const WordRun run = Execute(body(how));
    EXPECT_TRUE(run.outcome.clean()) << how << Findings(run.outcome);
    EXPECT_EQ(run.words, std::vector<uint32_t>(64, 3)) << how;
  }
  const WordRun run = Execute(
      body("mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 64; mbarrier.complete_tx.shared.b64 "
           "[b], 48;"));
  EXPECT_EQ(run.outcome.status, LaunchStatus::kDeadlock);
  EXPECT_THAT(run.outcome.message,
              AllOf(HasSubstr("line 5 (2 warps)"),
                    HasSubstr("the mbarrier at byte 0 of b in shared memory of block (0,0,0)"),
                    HasSubstr("in phase 0, lacks 0 of 1 arrivals and 16 bytes")));
}

TEST(Mbarrier, DroppedArrivalsAreNotExpectedAgain) {
  // Warp 1 leaves; warp 0 goes through two more phases alone.
  const WordRun run =
      Execute(Start("64") +
              "setp.eq.u32 %p3, %r5, 1; @%p3 mbarrier.arrive_drop.shared::cta.b64 _, [b]; @%p3 "
              "bra END; mbarrier.arrive.shared::cta.b64 _, [b];" +
              Wait("W0", "b", "0") + "mbarrier.arrive.shared::cta.b64 _, [b];" +
              Wait("W1", "b", "1") + "mov.u32 %r9, 1; st.global.u32 [%rd2], %r9; END:");
  EXPECT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words[0], 1u);
  EXPECT_EQ(run.words[32], 0u);
}

TEST(Mbarrier, StatesTellPendingArrivals) {
  const WordRun run =
      Execute(Start("64") +
                  "mov.u32 %r7, 3; mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd9, "
                  "[b], 1; mbarrier.pending_count.b64 %r9, %rd9; st.global.u32 [%rd2], %r9;",
              {32});
  EXPECT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words[0], 64u);
  EXPECT_EQ(run.words[31], 33u);
}

TEST(Mbarrier, MisuseIsFound) {
  const auto misuse = [](const std::string& body, Dim3 block = {32}) {
    const WordRun run = Execute(body, block);
    EXPECT_EQ(run.outcome.status, LaunchStatus::kFault) << body << Findings(run.outcome);
    EXPECT_EQ(First(run).kind, "mbarrier") << body;
    EXPECT_EQ(First(run).line, 5) << body;
    return First(run).detail;
  };
  EXPECT_THAT(
      misuse(".loc 1 5 1\nmbarrier.arrive.shared::cta.b64 _, [b];"),
      HasSubstr("byte 0 of b in shared memory of block (0,0,0) is no initialised mbarrier"));
  EXPECT_THAT(misuse(".loc 1 5 1\nmbarrier.try_wait.parity.shared.b64 %p2, [b+8], 0;"),
              HasSubstr("is no initialised mbarrier"));
  EXPECT_THAT(misuse(".loc 1 5 1\nmbarrier.init.shared.b64 [b], 0;"),
              HasSubstr("0 arrivals, outside 1 .. 1048575"));
  EXPECT_THAT(misuse(".loc 1 5 1\nmbarrier.init.shared.b64 [b], 0x100000;"),
              HasSubstr("outside 1 .. 1048575"));
  EXPECT_THAT(
      misuse(Start("16") + "mbarrier.expect_tx.shared.b64 [b], 1; "
                           "mbarrier.arrive.shared::cta.b64 _, [b];"),
      HasSubstr("1 arrivals at the mbarrier at byte 0 of b in shared memory of block (0,0,0), "
                "whose phase 0 lacks 0 of 16"));
  EXPECT_THAT(misuse(Start("4") + "@%p1 mbarrier.arrive.shared::cta.b64 _, [b], 5;"),
              HasSubstr("5 arrivals"));
  EXPECT_THAT(misuse(Start("1") + "@%p1 mbarrier.expect_tx.shared.b64 [b], 0xfffff; @%p1 "
                                  "mbarrier.expect_tx.shared.b64 [b], 1;"),
              HasSubstr("expects 1048576 bytes"));
  EXPECT_THAT(
      misuse(Start("1") + "@%p1 mbarrier.arrive.noComplete.release.cta.shared.b64 %rd9, [b], 1;"),
      HasSubstr("completes phase 0"));
  EXPECT_THAT(misuse(Start("32") +
                     "mbarrier.inval.shared.b64 [b]; mbarrier.arrive.shared::cta.b64 _, [b];"),
              HasSubstr("is no initialised mbarrier"));
  // States of long ago.
  EXPECT_THAT(
      misuse(Start("32") + "mbarrier.arrive.shared.b64 %rd9, [b]; mbarrier.arrive.shared.b64 "
                           "_, [b]; mbarrier.test_wait.shared.b64 %p2, [b], %rd9;"),
      HasSubstr("wait for phase 0"));
  EXPECT_EQ(First(Execute(".loc 1 5 1\nmbarrier.init.shared.b64 [b+4], 1;", {32})).kind,
            "misaligned");
}

TEST(Mbarrier, ASecondInitialisationIsFound) {
  const WordRun run = Execute(Start("64") + "bar.sync 0; @%p1 mbarrier.init.shared.b64 [b], 64;");
  EXPECT_EQ(run.outcome.status, LaunchStatus::kCompleted);
  EXPECT_THAT(First(run).detail, HasSubstr("which is initialised already"));
  EXPECT_TRUE(Execute(Start("64") + "bar.sync 0; @%p1 mbarrier.inval.shared.b64 [b]; @%p1 "
                                    "mbarrier.init.shared.b64 [b], 64;")
                  .outcome.clean());
}

TEST(Mbarrier, UseBeforeTheInitialisationIsOrderedIsARace) {
  const WordRun run = Execute(
      "setp.eq.u32 %p1, %r4, 0; @%p1 mbarrier.init.shared.b64 [b], 64;\n.loc 1 5 1\n"
      "mbarrier.arrive.shared::cta.b64 _, [b];");
  EXPECT_EQ(First(run).kind, "race");
  // Ordinary accesses to a barrier's bytes.
  EXPECT_THAT(First(Execute(Start("64") + "ld.shared.u32 %r9, [b];")).detail,
              HasSubstr("these bytes are an mbarrier"));
}

TEST(Mbarrier, WaitingForEachOtherForEverIsTold) {
  const WordRun run = Execute(
      Start("1") + "setp.eq.u32 %p3, %r5, 0; @%p3 bra A;\n.loc 1 8 1\n" + Wait("W1", "b", "0") +
      "@%p5 mbarrier.arrive.shared.b64 _, [b+8]; bra END;\n.loc 1 9 1\nA:\n" +
      Wait("W2", "b+8", "0") + "@%p5 mbarrier.arrive.shared.b64 _, [b]; END:");
  EXPECT_EQ(run.outcome.status, LaunchStatus::kDeadlock);
  EXPECT_THAT(run.outcome.message,
              AllOf(HasSubstr("line 8 (1 warp), line 9 (1 warp)"), HasSubstr("byte 0 of b"),
                    HasSubstr("byte 8 of b"), HasSubstr("lacks 1 of 1 arrivals and 0 bytes")));
}

TEST(Mbarrier, WorksOnGenericAndDynamicAddresses) {
  const Module module = MustParse(KernelText(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r4, %tid.x; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, "
      "%rd1, "
      "%rd2; mov.u64 %rd5, dyn; cvta.shared.u64 %rd5, %rd5; setp.eq.u32 %p1, %r4, 0; @%p1 "
      "mbarrier.init.b64 [%rd5+16], 64; bar.sync 0; mbarrier.arrive.b64 %rd6, [%rd5+16]; W: "
      "mbarrier.test_wait.b64 %p2, [%rd5+16], %rd6; @!%p2 bra W; st.global.u32 [%rd2], 9;",
      1, kShared));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "words", std::vector<uint32_t>(64, 0));
  LaunchRequest request = Request(module, "k", {1}, {64}, {Argument(at)});
  request.dynamic_shared_bytes = 64;
  request.checks = kAll;
  const LaunchOutcome outcome = Launch(request, memory);
  EXPECT_TRUE(outcome.clean()) << Findings(outcome);
  EXPECT_EQ(Download<uint32_t>(memory, at), std::vector<uint32_t>(64, 9));
}

}  // namespace
}  // namespace optiml::ptx
