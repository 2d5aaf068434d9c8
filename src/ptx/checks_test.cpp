// Each check fires on a kernel with one fault and stays silent on its clean twin.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Checks kAll{true, true, false, true};
constexpr char kShared[] = ".shared .align 4 .b8 s[512];\n.shared .align 4 .b8 t[64];\n";

// %rd2 = &words[%r1], %r20 = &s[4 * %r4]
constexpr char kPlaces[] =
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; mov.u32 %r20, s; shl.b32 %r21, %r4, 2; "
    "add.u32 %r20, %r20, %r21;\n.loc 1 5 1\n";

LaunchOutcome Execute(const std::string& body, Dim3 block = {64}, size_t words = 64,
                      Checks checks = kAll) {
  return RunWords(kPlaces + body, {1}, block, words, checks, true, kShared).outcome;
}

void ExpectClean(const std::string& body, Dim3 block = {64}, Checks checks = kAll) {
  const LaunchOutcome outcome = Execute(body, block, 64, checks);
  EXPECT_TRUE(outcome.clean()) << body << "\n"
                               << outcome.message
                               << (outcome.findings.empty() ? ""
                                                            : outcome.findings[0].kind + ": " +
                                                                  outcome.findings[0].detail);
}

bool HasFinding(const LaunchOutcome& outcome, const std::string& kind, int line,
                const std::string& text) {
  for (const Finding& finding : outcome.findings) {
    if (finding.kind == kind && finding.line == line &&
        finding.detail.find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

Finding First(const LaunchOutcome& outcome) {
  EXPECT_FALSE(outcome.findings.empty()) << LaunchStatusName(outcome.status);
  return outcome.findings.empty() ? Finding() : outcome.findings.front();
}

TEST(Bounds, NameAllocationElementAndThread) {
  ExpectClean("st.global.u32 [%rd2], %r1;");
  const LaunchOutcome outcome = Execute("st.global.u32 [%rd2+4], %r1;");
  EXPECT_EQ(outcome.status, LaunchStatus::kFault);
  const Finding finding = First(outcome);
  EXPECT_EQ(finding.kind, "out of bounds");
  EXPECT_EQ(finding.line, 5);
  EXPECT_EQ(finding.kernel, "k");
  EXPECT_THAT(finding.detail,
              AllOf(HasSubstr("block (0,0,0) thread (63,0,0)"),
                    HasSubstr("store to words[64], 0 bytes past its end (256 bytes)")));
}

TEST(Bounds, CoverVectorsAtomicsAndBothEnds) {
  EXPECT_EQ(First(Execute("ld.global.u32 %r9, [%rd2+-4];")).kind, "out of bounds");
  EXPECT_EQ(First(Execute("ld.global.v2.u32 {%r9, %r10}, [%rd1+252];")).kind, "misaligned");
  EXPECT_EQ(First(Execute("ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd1+256];")).kind,
            "out of bounds");
  EXPECT_EQ(First(Execute("atom.global.add.u32 %r9, [%rd2+128], 1;")).kind, "out of bounds");
  EXPECT_THAT(First(Execute("ld.global.u32 %r9, [%r4];")).detail, HasSubstr("null pointer"));
  EXPECT_EQ(First(Execute("mul.wide.u32 %rd3, %r1, 0x7fffffff; ld.global.u32 %r9, [%rd3];")).kind,
            "out of bounds");  // lane 0 comes first: null
}

TEST(Bounds, CoverSharedAndLocalMemory) {
  ExpectClean("st.shared.u32 [%r20], %r1;", {128});
  EXPECT_THAT(First(Execute("st.shared.u32 [%r20+4], %r1;", {128}, 128)).detail,
              HasSubstr("store to shared memory 0 bytes past the end of s (512 bytes)"));
  ExpectClean(".local .align 4 .b8 d[16]; st.local.u32 [d+12], %r1;");
  EXPECT_THAT(First(Execute(".local .align 4 .b8 d[16]; st.local.u32 [d+16], %r1;")).kind,
              "out of bounds");
  EXPECT_EQ(
      First(Execute("cvt.u64.u32 %rd3, %r20; cvta.shared.u64 %rd3, %rd3; ld.u32 %r9, [%rd3+600];"))
          .kind,
      "out of bounds");
}

TEST(Bounds, MisalignmentAndReadOnlyAreFaults) {
  EXPECT_THAT(First(Execute("ld.global.u32 %r9, [%rd1+2];")),
              testing::Field(&Finding::kind, "misaligned"));
  const Module module =
      MustParse(KernelText("ld.param.u64 %rd1, [p0]; st.global.u32 [%rd1], 1;", 1));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "input", std::vector<uint32_t>{0});
  memory.SetReadOnly(at, true);
  const LaunchOutcome outcome = Launch(Request(module, "k", {1}, {1}, {Argument(at)}), memory);
  EXPECT_EQ(outcome.status, LaunchStatus::kFault);
  EXPECT_THAT(First(outcome).detail, HasSubstr("input[0]"));
  EXPECT_EQ(First(outcome).kind, "read-only");
}

TEST(Bounds, FreedMemoryIsNamed) {
  const Module module =
      MustParse(KernelText("ld.param.u64 %rd1, [p0]; ld.global.u32 %r1, [%rd1];", 1));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "old", std::vector<uint32_t>{0});
  ASSERT_TRUE(memory.Free(at).has_value());
  EXPECT_THAT(First(Launch(Request(module, "k", {1}, {1}, {Argument(at)}), memory)).detail,
              HasSubstr("freed old[0]"));
  EXPECT_FALSE(memory.Free(at).has_value());
}

TEST(Bounds, LanesMayPointIntoDifferentAllocations) {
  const Module module = MustParse(
      KernelText("ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; mov.u32 %r1, %tid.x; and.b32 "
                 "%r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; selp.b64 %rd3, %rd1, %rd2, %p1; "
                 "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd3, %rd4; ld.global.u32 %r3, [%rd3]; "
                 "add.u32 %r3, %r3, 1; st.global.u32 [%rd3], %r3;",
                 2));
  DeviceMemory memory;
  const uint64_t a = Upload(memory, "a", std::vector<uint32_t>(32, 10));
  const uint64_t b = Upload(memory, "b", std::vector<uint32_t>(32, 20));
  LaunchRequest request = Request(module, "k", {1}, {32}, {Argument(a), Argument(b)});
  request.checks = kAll;
  request.counters = true;
  const LaunchOutcome outcome = Launch(request, memory);
  ASSERT_TRUE(outcome.clean()) << outcome.message;
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(Download<uint32_t>(memory, a)[i], i % 2 == 0 ? 11u : 10u);
    EXPECT_EQ(Download<uint32_t>(memory, b)[i], i % 2 == 0 ? 20u : 21u);
  }
}

TEST(Initialisation, UnwrittenGlobalBytesAreFound) {
  const auto run = [](const std::string& body) {
    const Module module =
        MustParse(KernelText("ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, "
                             "%r1, 4; add.s64 %rd2, %rd1, %rd2;\n.loc 1 5 1\n" +
                                 body,
                             1));
    DeviceMemory memory;
    const uint64_t at = memory.Allocate("scratch", 512, 4);
    memory.MarkUninitialised(at);
    LaunchRequest request = Request(module, "k", {1}, {64}, {Argument(at)});
    request.checks = kAll;
    LaunchOutcome outcome = Launch(request, memory);
    return std::pair(std::move(outcome), memory.UninitialisedBytes(at));
  };
  const auto [clean, unwritten] = run("st.global.u32 [%rd2], %r1; ld.global.u32 %r9, [%rd2];");
  EXPECT_TRUE(clean.clean());
  EXPECT_EQ(unwritten, 256u);
  const auto [first, ignored] = run("st.global.u32 [%rd2], %r1; ld.global.u32 %r9, [%rd2+4];");
  EXPECT_EQ(first.status, LaunchStatus::kCompleted);
  EXPECT_EQ(First(first).kind, "uninitialised");
  EXPECT_THAT(First(first).detail, AllOf(HasSubstr("thread (31,0,0)"), HasSubstr("scratch[32]")));
  // Scattered and partly written vectors.
  EXPECT_FALSE(run("mul.wide.u32 %rd3, %r1, 8; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], "
                   "%r1; ld.global.v2.u32 {%r8, %r9}, [%rd3];")
                   .first.clean());
  EXPECT_TRUE(run("mul.wide.u32 %rd3, %r1, 8; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r1; "
                  "ld.global.u32 %r9, [%rd3];")
                  .first.clean());
  EXPECT_EQ(First(run("red.global.add.u32 [%rd1], 1;").first).kind, "uninitialised");
}

TEST(Initialisation, UnwrittenSharedAndLocalBytesAreFound) {
  ExpectClean("st.shared.u32 [%r20], %r1; ld.shared.u32 %r9, [%r20];");
  EXPECT_THAT(First(Execute("ld.shared.u32 %r9, [%r20];")).detail,
              HasSubstr("byte 0 of s in shared memory"));
  ExpectClean(".local .align 4 .b8 d[16]; st.local.u32 [d], %r1; ld.local.u32 %r9, [d];");
  EXPECT_EQ(
      First(Execute(".local .align 4 .b8 d[16]; st.local.u32 [d], %r1; ld.local.u32 %r9, [d+4];"))
          .kind,
      "uninitialised");
  // Off unless asked for.
  ExpectClean("ld.shared.u32 %r9, [%r20];", {64}, {});
}

// Members of a struct and the gaps behind them are copied together.
TEST(Initialisation, APartOfAnElementIsEnough) {
  ExpectClean("st.shared.u16 [%r20], %h1; ld.shared.u32 %r9, [%r20];");
  ExpectClean(
      ".local .align 8 .b8 d[16]; st.local.u8 [d+9], %h1; st.local.u64 [d], %rd1; "
      "ld.local.v2.u64 {%rd4, %rd5}, [d];");
  EXPECT_EQ(First(Execute("st.shared.u16 [%r20], %h1; ld.shared.u16 %h2, [%r20+2];")).kind,
            "uninitialised");
  EXPECT_EQ(First(Execute(".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; "
                          "ld.local.v2.u64 {%rd4, %rd5}, [d];"))
                .kind,
            "uninitialised");
}

TEST(Initialisation, ResultsOfCallsAreWritten) {
  const std::string function =
      ".func (.param .b32 out) f(.param .b32 n) { .reg .b32 %r1; ld.param.u32 %r1, [n]; "
      "st.param.b32 "
      "[out+0], %r1; ret; }\n";
  const auto run = RunWords(
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r1; call.uni (r), f, (a); ld.param.b32 "
      "%r9, [r+0]; }",
      {1}, {32}, 32, kAll, false, function);
  EXPECT_TRUE(run.outcome.clean()) << run.outcome.message;
}

TEST(Races, ReadsOfAnotherWarpsStoreNeedABarrier) {
  const std::string exchange = "xor.b32 %r21, %r20, 128; ld.shared.u32 %r9, [%r21];";
  ExpectClean("st.shared.u32 [%r20], %r1; bar.sync 0;" + exchange);
  const LaunchOutcome outcome = Execute("st.shared.u32 [%r20], %r1;\n.loc 1 6 1\n" + exchange, {64},
                                        64, {false, true, false, true});
  EXPECT_TRUE(
      HasFinding(outcome, "race", 6,
                 "load of byte 0 of s in shared memory is not ordered with a store by thread "
                 "(0,0,0) at line 5"));
  EXPECT_TRUE(
      HasFinding(outcome, "race", 5, "is not ordered with a load by thread (0,0,0) at line 6"));
}

TEST(Races, StoresAfterReadsNeedABarrierToo) {
  const std::string start =
      "st.shared.u32 [%r20], %r1; bar.sync 0; xor.b32 %r21, %r20, 128; ld.shared.u32 %r9, [%r21];";
  ExpectClean(start + "bar.sync 0; st.shared.u32 [%r20], %r9;");
  EXPECT_TRUE(HasFinding(Execute(start + "st.shared.u32 [%r20], %r9;"), "race", 5,
                         "is not ordered with a load by thread"));
}

TEST(Races, TwoReadersAndTwoWritersAreTold) {
  // All warps read s[0], then one writes it.
  const std::string read =
      "mov.u32 %r22, s; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%r22], 7; bar.sync 0; "
      "ld.shared.u32 %r9, [%r22];";
  ExpectClean(read + "bar.sync 0; @%p1 st.shared.u32 [%r22], 8;", {128});
  EXPECT_FALSE(Execute(read + "@%p1 st.shared.u32 [%r22], 8;", {128}, 128).clean());
  EXPECT_FALSE(Execute("mov.u32 %r22, s; and.b32 %r23, %r4, 31; setp.eq.u32 %p1, %r23, 0; @%p1 "
                       "st.shared.u32 [%r22], %r4;")
                   .clean());
}

TEST(Races, LanesOfOneStoreWithDifferentValues) {
  ExpectClean("mov.u32 %r22, s; st.shared.u32 [%r22], 7;", {32});
  EXPECT_THAT(First(Execute("mov.u32 %r22, s; st.shared.u32 [%r22], %r4;", {32})).detail,
              HasSubstr("several lanes at once"));
}

TEST(Races, AtomicsAndPollingAreNoRaces) {
  ExpectClean(
      "mov.u32 %r22, s; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%r22], 0; bar.sync 0; "
      "atom.shared.add.u32 %r9, [%r22], 1; bar.sync 0; ld.shared.u32 %r9, [%r22];",
      {128});
  EXPECT_FALSE(Execute("mov.u32 %r22, s; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%r22], 0; "
                       "atom.shared.add.u32 %r9, [%r22], 1;",
                       {128}, 128)
                   .clean());
}

TEST(Races, NamedBarriersOrderTheirWarps) {
  // Warps 0, 1 exchange over barrier 1; warps 2, 3 over barrier 2.
  const std::string body =
      "st.shared.u32 [%r20], %r1; shr.u32 %r10, %r4, 6; add.u32 %r10, %r10, 1; bar.sync %r10, 64; "
      "xor.b32 %r21, %r20, ";
  ExpectClean(body + "128; ld.shared.u32 %r9, [%r21];", {128});
  EXPECT_FALSE(Execute(body + "256; ld.shared.u32 %r9, [%r21];", {128}, 128).clean());
}

TEST(Races, LanesOfOneWarpNeedAWarpBarrierWhenAsked) {
  constexpr Checks kWarp{false, true, true, true};
  const std::string store = "st.shared.u32 [%r20], %r1;";
  const std::string load = "xor.b32 %r21, %r20, 4; ld.shared.u32 %r9, [%r21];";
  ExpectClean(store + "bar.warp.sync -1;" + load, {32}, kWarp);
  ExpectClean(store + "ld.shared.u32 %r9, [%r20];", {32}, kWarp);
  ExpectClean(store + load, {32}, {false, true, false, true});
  EXPECT_EQ(First(Execute(store + load, {32}, 64, kWarp)).kind, "race");
  EXPECT_FALSE(Execute(store + "bar.warp.sync -1;" + load + store, {32}, 64, kWarp).clean());
}

TEST(Races, AWordOfOneLaneThatAllReadNeedsAWarpBarrierWhicheverLaneWrote) {
  constexpr Checks kWarp{false, true, true, true};
  for (const int writer : {0, 13, 31}) {
    const std::string store = fmt::format(
        "mov.u32 %r21, s; setp.eq.u32 %p1, %r1, {}; @%p1 st.shared.u32 [%r21], %r1;", writer);
    const std::string load = "ld.shared.u32 %r9, [%r21];";
    ExpectClean(store + "bar.warp.sync -1;" + load, {32}, kWarp);
    EXPECT_EQ(First(Execute(store + load, {32}, 64, kWarp)).kind, "race") << writer;
  }
}

TEST(Races, BarriersOfSomeWarpsOrderTheirLanesToo) {
  constexpr Checks kWarp{false, true, true, true};
  const std::string which = "shr.u32 %r24, %r4, 6; add.u32 %r24, %r24, 1;";
  const std::string store = "st.shared.u32 [%r20], %r1;";
  const std::string load = "xor.b32 %r21, %r20, 4; ld.shared.u32 %r9, [%r21];";
  ExpectClean(which + store + "bar.sync %r24, 64;" + load, {128}, kWarp);
  EXPECT_EQ(First(Execute(which + "bar.sync %r24, 64;" + store + load, {128}, 128, kWarp)).kind,
            "race");
}

TEST(Races, BytesOfOneWordMayBelongToDifferentThreads) {
  ExpectClean(
      "mov.u32 %r22, s; add.u32 %r22, %r22, %r4; cvt.u16.u32 %h1, %r4; st.shared.u8 [%r22], %h1;");
}

TEST(Barriers, PartOfAWarpIsAFinding) {
  ExpectClean("setp.lt.u32 %p1, %r4, 32; @%p1 bra A; A: bar.sync 0;");
  const LaunchOutcome outcome = Execute(
      "setp.lt.u32 %p1, %r4, 16; @!%p1 bra A; bar.sync 0; A: st.shared.u32 [%r20], %r1;", {32});
  EXPECT_EQ(First(outcome).kind, "divergent barrier");
  EXPECT_THAT(First(outcome).detail, HasSubstr("16 of 32 threads"));
  // Barriers wait for threads that have not exited.
  for (const char* leave :
       {"@!%p1 bra A; bar.sync 0; bar.sync 0; A:", "@!%p1 ret; bar.sync 0;",
        "@!%p1 exit; bar.sync 0;", "@!%p1 bra A; barrier.sync 0; bar.sync 0; A: exit;"}) {
    ExpectClean(std::string("setp.lt.u32 %p1, %r4, 16;") + leave, {32});
    ExpectClean(std::string("setp.lt.u32 %p1, %r4, 48;") + leave, {64});
  }
}

TEST(Barriers, LanesThatWentAheadOfOneThatPollsWaitForIt) {
  // Thread 0 of each block counts itself and polls until both have; the others wait at the barrier.
  const auto run = RunWords(
      "setp.ne.u32 %p1, %r4, 0; @%p1 bra TOGETHER; red.global.add.u32 [%rd1], 1; WAIT: "
      "ld.volatile.global.u32 %r9, [%rd1]; setp.ne.u32 %p2, %r9, 2; @%p2 bra WAIT; TOGETHER: "
      "bar.sync 0;",
      {2}, {32}, 1, {false, false, false, true});
  EXPECT_TRUE(run.outcome.clean())
      << (run.outcome.findings.empty() ? run.outcome.message : run.outcome.findings[0].detail);
}

TEST(WarpInstructions, NameTheirOwnLane) {
  ExpectClean("shfl.sync.bfly.b32 %r9, %r4, 1, 31, -1; bar.warp.sync -1;", {32});
  const LaunchOutcome shuffle = Execute("shfl.sync.bfly.b32 %r9, %r4, 1, 31, 0xffff;", {32});
  EXPECT_EQ(First(shuffle).kind, "divergent warp instruction");
  EXPECT_THAT(First(shuffle).detail,
              HasSubstr("thread (16,0,0): the mask 0xffff of the exchange does not name the lane"));
  EXPECT_EQ(First(Execute("bar.warp.sync 0xffff;", {32})).kind, "divergent warp instruction");
}

TEST(Traps, AndAssertionsEndTheKernel) {
  EXPECT_EQ(First(Execute("trap;")).kind, "trap");
  const std::string module =
      ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
      ".param .b64 e);\n.global .b8 text[6] = {105, 32, 60, 32, 110, 0};\n";
  const auto run = RunWords(
      ".loc 1 8 2\nmov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3;\n{ .param .b64 a; .param .b64 "
      "b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a+0], %rd3; st.param.b64 "
      "[b+0], %rd3; st.param.b32 [c+0], 8; st.param.b64 [d+0], %rd3; st.param.b64 [e+0], 1; "
      "call.uni __assertfail, (a, b, c, d, e); }",
      {1}, {32}, 1, {}, false, module);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(First(run.outcome).kind, "assert");
  EXPECT_THAT(First(run.outcome).detail, HasSubstr("assertion 'i < n' failed"));
}

}  // namespace
}  // namespace optiml::ptx
