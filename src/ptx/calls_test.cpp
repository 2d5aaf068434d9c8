// Calls through pointers, recursion, memory of the stack and of the device's heap; small
// instructions that only need to be there.

#include <gmock/gmock.h>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::HasSubstr;

constexpr Checks kAll{true, true, true, true};

// Stores %r9 at words[%r1].
constexpr char kStore[] =
    "mul.wide.u32 %rd9, %r1, 4;\nadd.s64 %rd9, %rd1, %rd9;\nst.global.u32 [%rd9], %r9;\n";

constexpr char kFunctions[] = R"(
.func (.param .b32 out) twice(.param .b32 x) { .reg .b32 %r1; ld.param.u32 %r1, [x]; shl.b32 %r1, %r1, 1; st.param.b32 [out+0], %r1; ret; }
.func (.param .b32 out) next(.param .b32 x) { .reg .b32 %r1; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 1; st.param.b32 [out+0], %r1; ret; }
.func (.param .b32 out) square(.param .b32 x) { .reg .b32 %r1; ld.param.u32 %r1, [x]; mul.lo.u32 %r1, %r1, %r1; st.param.b32 [out+0], %r1; ret; }
.func (.param .b64 out) wide(.param .b32 x) { .reg .b32 %r1; .reg .b64 %rd1; ld.param.u32 %r1, [x]; cvt.u64.u32 %rd1, %r1; st.param.b64 [out+0], %rd1; ret; }
.global .align 8 .u64 table[4] = {twice, next, square, wide};
)";

// Calls what %rd5 points at with %r1; %r9 = result.
constexpr char kCallPointer[] =
    "{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r1; P: .callprototype (.param .b32 _) _ "
    "(.param "
    ".b32 _); call (r), %rd5, (a), P; ld.param.b32 %r9, [r+0]; }";

std::string Text(const WordRun& run) {
  return run.outcome.message +
         (run.outcome.findings.empty() ? "" : " " + run.outcome.findings[0].detail);
}

WordRun Execute(const std::string& body, const std::string& module_level = kFunctions,
                Dim3 block = {64}) {
  return RunWords(body, {1}, block, 64, kAll, true, module_level);
}

TEST(Pointers, TablesOfFunctionsAreCalled) {
  // Lanes of a warp call three different functions and meet again.
  const WordRun run = Execute(
      std::string("rem.u32 %r10, %r1, 3; mul.wide.u32 %rd4, %r10, 8; mov.u64 %rd6, table; add.s64 "
                  "%rd6, %rd6, "
                  "%rd4; ld.global.u64 %rd5, [%rd6];") +
      kCallPointer + "activemask.b32 %r11; popc.b32 %r11, %r11; mad.lo.u32 %r9, %r11, 10000, %r9;" +
      kStore);
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(run.words[i], 320000 + (i % 3 == 0 ? 2 * i : i % 3 == 1 ? i + 1 : i * i)) << i;
  }
}

TEST(Pointers, AddressesMayBeTakenInCode) {
  const WordRun run = Execute(std::string("mov.u64 %rd5, square;") + kCallPointer + kStore);
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  EXPECT_EQ(run.words[9], 81u);
}

TEST(Pointers, InDivergentCodeOnlyTheActiveLanesCall) {
  const WordRun run =
      Execute(std::string("mov.u32 %r9, 1000; and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; "
                          "@%p1 bra SKIP; mov.u64 %rd5, next; setp.gt.u32 %p2, %r1, 20; @%p2 "
                          "mov.u64 %rd5, twice;") +
              kCallPointer + "SKIP:" + kStore);
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(run.words[i], i % 2 == 0 ? 1000 : i > 20 ? 2 * i : i + 1) << i;
  }
}

TEST(Pointers, OthersAreFaults) {
  const WordRun null = Execute(std::string("mov.u64 %rd5, 0;") + kCallPointer + kStore);
  EXPECT_EQ(null.outcome.status, LaunchStatus::kFault);
  EXPECT_THAT(Text(null), HasSubstr("the pointer 0x0, which is no function's address"));
  const WordRun wrong = Execute(std::string("mov.u64 %rd5, wide;") + kCallPointer + kStore);
  EXPECT_THAT(Text(wrong),
              HasSubstr("a pointer to wide, whose parameters or results are not those"));
  const WordRun inside =
      Execute(std::string("mov.u64 %rd5, twice; add.s64 %rd5, %rd5, 4;") + kCallPointer);
  EXPECT_EQ(inside.outcome.findings[0].kind, "invalid call");
}

TEST(Pointers, RecursionGoesThroughThem) {
  // f(n, p) = n == 0 ? 0 : n + p(n - 1, p)
  const std::string function = R"(
.func (.param .b32 out) f(.param .b32 n, .param .b64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd1; .reg .pred %p;
  ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; mov.u32 %r3, 0; setp.eq.u32 %p, %r1, 0; @%p bra DONE;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b64 b; .param .b32 r; st.param.b32 [a+0], %r2; st.param.b64 [b+0], %rd1;
    P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call (r), %rd1, (a, b), P; ld.param.b32 %r3, [r+0]; }
  add.u32 %r3, %r3, %r1;
  DONE: st.param.b32 [out+0], %r3; ret;
}
)";
  const WordRun run =
      Execute(std::string("mov.u64 %rd5, f; { .param .b32 a; .param .b64 b; .param .b32 r; "
                          "st.param.b32 [a+0], %r1; st.param.b64 [b+0], %rd5; Q: "
                          ".callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); "
                          "call (r), %rd5, (a, b), Q; ld.param.b32 %r9, [r+0]; }") +
                  kStore,
              function);
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(run.words[i], i * (i + 1) / 2);
  }
}

TEST(Stack, AllocaGivesEachFrameItsOwn) {
  // Two arrays of n words (n differs by lane) and a call in between that allocates as well.
  const std::string function = R"(
.func (.param .b32 out) g(.param .b32 n) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u32 %r1, [n]; mul.wide.u32 %rd1, %r1, 4; alloca.u64 %rd2, %rd1, 16; st.local.u32 [%rd2], 77; ld.local.u32 %r2, [%rd2];
  st.param.b32 [out+0], %r2; ret;
}
)";
  const WordRun run = Execute(
      std::string(
          "add.u32 %r10, %r1, 4; mul.wide.u32 %rd3, %r10, 4; alloca.u64 %rd4, %rd3, 16; "
          "stacksave.u64 %rd8; "
          "alloca.u64 %rd5, %rd3, 16; st.local.u32 [%rd4+12], %r1; st.local.u32 [%rd5+12], 5; { "
          ".param "
          ".b32 a; .param .b32 r; st.param.b32 [a+0], 3; call.uni (r), g, (a); ld.param.b32 %r11, "
          "[r+0]; } stackrestore.u64 %rd8; alloca.u64 %rd6, %rd3, 16; setp.eq.s64 %p1, %rd5, %rd6; "
          "ld.local.u32 %r9, "
          "[%rd4+12]; ld.local.u32 %r12, [%rd5+12]; add.u32 %r9, %r9, %r11; mad.lo.u32 %r9, %r12, "
          "1000, %r9; selp.u32 %r13, 100000, 0, %p1; add.u32 %r9, %r9, %r13;") +
          kStore,
      function, {32});
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.words[i], 105000 + 77 + i) << i;
  }
  EXPECT_THAT(Text(Execute("mov.u64 %rd3, 0x40000000; alloca.u64 %rd4, %rd3, 16;", "", {32})),
              HasSubstr("alloca of 1073741824 bytes"));
}

constexpr char kHeap[] =
    ".extern .func (.param .b64 out) malloc (.param .b64 n);\n.extern .func free (.param .b64 "
    "p);\n";
constexpr char kMalloc[] =
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n+0], %rd3; call.uni (r), malloc, (n); "
    "ld.param.b64 "
    "%rd4, [r+0]; }";
constexpr char kFree[] = "{ .param .b64 p; st.param.b64 [p+0], %rd4; call.uni free, (p); }";

TEST(Heap, MallocAndFreeWork) {
  const WordRun run = Execute(std::string("mov.u64 %rd3, 64;") + kMalloc +
                                  "st.u32 [%rd4+60], %r1; ld.u32 %r9, [%rd4+60];" + kFree + kStore,
                              kHeap);
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  EXPECT_EQ(run.words[63], 63u);
}

TEST(Heap, MisuseIsFound) {
  const auto text = [](const std::string& body) {
    return Text(Execute("mov.u64 %rd3, 64;" + body, kHeap, {1}));
  };
  EXPECT_THAT(text(std::string(kMalloc) + "st.u32 [%rd4+64], %r1;"),
              HasSubstr("store to device heap[64]"));
  EXPECT_THAT(text(std::string(kMalloc) + kFree + "ld.u32 %r9, [%rd4];"),
              HasSubstr("freed device heap[0]"));
  EXPECT_THAT(text(std::string(kMalloc) + kFree + kFree), HasSubstr("which malloc did not give"));
  EXPECT_THAT(text("mov.u64 %rd4, %rd1;" + std::string(kFree)),
              HasSubstr("which malloc did not give"));
  EXPECT_THAT(text(std::string(kMalloc) + "ld.u32 %r9, [%rd4];"),
              HasSubstr("device heap[0], which was never written"));
  // free(0) is allowed; more than the heap holds is null.
  EXPECT_EQ(text("mov.u64 %rd4, 0;" + std::string(kFree)), "");
  const WordRun run = Execute(std::string("mov.u64 %rd3, 0x800001;") + kMalloc +
                                  "setp.eq.s64 %p1, %rd4, 0; selp.u32 %r9, 1, 0, %p1;" + kStore,
                              kHeap, {1});
  EXPECT_EQ(run.words[0], 1u);
}

TEST(Hints, AreDecodedAndChangeNothing) {
  const WordRun run = Execute(
      "setmaxnreg.dec.sync.aligned.u32 40; griddepcontrol.wait; griddepcontrol.launch_dependents; "
      "nanosleep.u32 10; prefetch.global.L2 [%rd1]; prefetch.global.L1 [%rd1]; prefetchu.L1 "
      "[%rd1]; "
      "prefetch.global.L2::evict_last [%rd1]; applypriority.global.L2::evict_normal [%rd1], 128; "
      "createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0; ld.global.L2::cache_hint.u32 %r10, "
      "[%rd1], "
      "%rd5; fence.proxy.async; fence.proxy.async.global; fence.mbarrier_init.release.cluster; "
      "fence.proxy.tensormap::generic.release.gpu; cp.async.bulk.prefetch.L2.global [%rd1], 64; "
      "mov.u32 "
      "%r9, 4;" +
          std::string(kStore),
      "", {64});
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  EXPECT_EQ(run.words[5], 4u);
  EXPECT_THAT(Execute("setmaxnreg.inc.sync.aligned.u32 100;", "").outcome.message,
              HasSubstr("100 registers; 24 to 256 in steps of 8"));
  EXPECT_EQ(Execute("and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; @%p1 bra A; "
                    "setmaxnreg.inc.sync.aligned.u32 96; "
                    "A:",
                    "")
                .outcome.findings.at(0)
                .kind,
            "divergent barrier");
}

TEST(Elect, ChoosesOneLane) {
  const WordRun run = Execute(
      "mov.u32 %r9, 0; elect.sync %r10|%p1, 0xfffffff0; selp.u32 %r9, 100, 0, %p1; add.u32 %r9, "
      "%r9, %r10;" +
          std::string(kStore),
      "", {32});
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  uint32_t leaders = 0;
  for (uint32_t i = 4; i < 32; ++i) {
    leaders += run.words[i] >= 100 ? 1 : 0;
    EXPECT_EQ(run.words[i] % 100, run.words[4] % 100);
  }
  EXPECT_EQ(leaders, 1u);
}

TEST(Convergence, WarpBarriersWaitForLanesThatSpin) {
  // Lane 0 spins for a flag that another warp sets; the others of its warp wait at bar.warp.sync.
  const WordRun run = Execute(
      "setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, 0; @!%p1 bra MEET; SPIN: ld.volatile.global.u32 %r9, "
      "[%rd1+252]; "
      "setp.eq.u32 %p2, %r9, 0; @%p2 bra SPIN; MEET: bar.warp.sync -1; setp.eq.u32 %p3, %r1, 63; "
      "@%p3 "
      "st.volatile.global.u32 [%rd1+252], 8; shfl.sync.idx.b32 %r9, %r9, 0, 31, -1; setp.lt.u32 "
      "%p4, %r1, "
      "32; @!%p4 bra END;" +
          std::string(kStore) + "END:",
      "", {64});
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  EXPECT_EQ(std::vector<uint32_t>(run.words.begin(), run.words.begin() + 32),
            std::vector<uint32_t>(32, 8));
}

TEST(Convergence, BlockBarriersTakeUpLanesThatWentAhead) {
  // Lane 0 of block 0 spins for a flag that the next block sets, so long that the others of its
  // warp reach the block's barrier first.
  const WordRun run = RunWords(
      "and.b32 %r11, %r1, 31; setp.ne.u32 %p1, %r11, 0; mov.u32 %r9, 0; @%p1 bra MEET; mov.u32 "
      "%r10, %ctaid.x; "
      "setp.ne.u32 %p2, %r10, 0; @%p2 bra SET; SPIN: atom.global.add.u32 %r9, [%rd1+252], 0; "
      "setp.eq.u32 %p3, %r9, 0; @%p3 bra SPIN; bra.uni MEET; SET: atom.global.exch.b32 %r9, "
      "[%rd1+252], 8; MEET: bar.sync 0; mov.u32 %r10, %ctaid.x; setp.ne.u32 %p4, %r10, 0; @%p4 bra "
      "END; mov.u32 %r9, 5;" +
          std::string(kStore) + "END:",
      {2}, {32}, 64, kAll, true, "");
  ASSERT_TRUE(run.outcome.clean()) << Text(run);
  EXPECT_EQ(std::vector<uint32_t>(run.words.begin(), run.words.begin() + 32),
            std::vector<uint32_t>(32, 5));
}

}  // namespace
}  // namespace optiml::ptx
