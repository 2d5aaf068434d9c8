#include "ptx/counters.h"

#include <gmock/gmock.h>

#include <set>

#include "ptx/cache_model.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

constexpr char kShared[] = ".shared .align 16 .b8 s[8192];\n";

Counters Count(const std::string& body, Dim3 block = {32}, size_t words = 8192) {
  const auto run = RunWords(body, {1}, block, words, {}, true, kShared);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kCompleted) << run.outcome.message;
  return run.outcome.counters;
}

std::string GlobalAt(const std::string& access, int stride_bytes, int offset = 0) {
  return fmt::format(
      "mul.wide.u32 %rd2, %r4, {}; add.s64 %rd2, %rd1, %rd2; add.s64 %rd2, %rd2, {};\n{}",
      stride_bytes, offset, access);
}

TEST(Counting, SectorsFollowTheAddresses) {
  struct Case {
    int stride;
    int offset;
    const char* access;
    uint64_t sectors;
  };
  const Case cases[] = {{4, 0, "ld.global.u32 %r9, [%rd2];", 4},
                        {4, 4, "ld.global.u32 %r9, [%rd2];", 5},
                        {0, 0, "ld.global.u32 %r9, [%rd2];", 1},
                        {8, 0, "ld.global.u32 %r9, [%rd2];", 8},
                        {128, 0, "ld.global.u32 %r9, [%rd2];", 32},
                        {16, 0, "ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd2];", 16},
                        {2, 0, "ld.global.u16 %h1, [%rd2];", 2},
                        {32, 28, "ld.global.u32 %r9, [%rd2];", 32}};
  for (const Case& c : cases) {
    const Counters counters = Count(GlobalAt(c.access, c.stride, c.offset));
    EXPECT_EQ(counters.global_load.requests, 1u);
    EXPECT_EQ(counters.global_load.sectors, c.sectors) << c.stride << " " << c.access;
  }
  // A loop over an array with the same distances between lanes at other addresses.
  const Counters loop =
      Count(GlobalAt("mov.u32 %r10, 0; L: ld.global.u32 %r9, [%rd2]; add.s64 %rd2, %rd2, 4; "
                     "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 8; @%p1 bra L;",
                     40));
  uint64_t expected = 0;
  for (uint64_t k = 0; k < 8; ++k) {
    std::set<uint64_t> sectors;
    for (uint64_t lane = 0; lane < 32; ++lane) {
      sectors.insert((lane * 40 + k * 4) / 32);
    }
    expected += sectors.size();
  }
  EXPECT_EQ(loop.global_load.sectors, expected);
  const Counters store = Count(GlobalAt("st.global.u32 [%rd2], %r4;", 4, 0), {64});
  EXPECT_EQ(store.global_store.requests, 2u);
  EXPECT_EQ(store.global_store.sectors, 8u);
  EXPECT_EQ(store.global_store.lane_bytes, 256u);
}

TEST(Counting, WavefrontsFollowTheBanks) {
  struct Case {
    uint32_t stride;
    const char* access;
    uint64_t wavefronts;
    uint64_t conflicts;
  };
  const Case cases[] = {{4, "ld.shared.u32 %r9, [%r20];", 1, 0},
                        {0, "ld.shared.u32 %r9, [%r20];", 1, 0},
                        {8, "ld.shared.u32 %r9, [%r20];", 2, 1},
                        {128, "ld.shared.u32 %r9, [%r20];", 32, 31},
                        {132, "ld.shared.u32 %r9, [%r20];", 1, 0},
                        {8, "ld.shared.v2.u32 {%r8, %r9}, [%r20];", 2, 0},
                        {16, "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r20];", 4, 0},
                        {0, "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r20];", 2, 0},
                        {2, "ld.shared.u16 %h1, [%r20];", 1, 0},
                        {64, "ld.shared.v2.u32 {%r8, %r9}, [%r20];", 16, 14}};
  for (const Case& c : cases) {
    const Counters counters = Count(
        fmt::format("mov.u32 %r20, s; mad.lo.u32 %r20, %r4, {}, %r20;\n{}", c.stride, c.access));
    EXPECT_EQ(counters.shared_load.requests, 1u);
    EXPECT_EQ(counters.shared_load.wavefronts, c.wavefronts) << c.stride << " " << c.access;
    EXPECT_EQ(counters.shared_load.conflicts, c.conflicts) << c.stride << " " << c.access;
  }
}

// As bench/counters measures them on an H200.
TEST(Counting, WideAccessesOfPairsShareAWavefront) {
  struct Case {
    const char* word;  // of %r4, the lane
    uint32_t bytes;
    uint64_t wavefronts;
  };
  const Case cases[] = {{"shr.u32 %r5, %r4, 1;", 8, 1},  {"shr.u32 %r5, %r4, 2;", 8, 1},
                        {"shr.u32 %r5, %r4, 4;", 8, 1},  {"and.b32 %r5, %r4, 1;", 8, 1},
                        {"and.b32 %r5, %r4, 7;", 8, 2},  {"and.b32 %r5, %r4, 15;", 8, 2},
                        {"shr.u32 %r5, %r4, 1;", 16, 2}, {"shr.u32 %r5, %r4, 2;", 16, 2},
                        {"shr.u32 %r5, %r4, 3;", 16, 2}, {"shr.u32 %r5, %r4, 4;", 16, 2},
                        {"and.b32 %r5, %r4, 1;", 16, 2}, {"and.b32 %r5, %r4, 3;", 16, 4},
                        {"and.b32 %r5, %r4, 7;", 16, 4}, {"and.b32 %r5, %r4, 15;", 16, 4}};
  for (const Case& c : cases) {
    const Counters counters = Count(
        fmt::format("mov.u32 %r20, s; {} mad.lo.u32 %r20, %r5, {}, %r20;\n{}", c.word, c.bytes,
                    c.bytes == 8 ? "ld.shared.v2.u32 {%r8, %r9}, [%r20];"
                                 : "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r20];"));
    EXPECT_EQ(counters.shared_load.wavefronts, c.wavefronts) << c.word << " " << c.bytes;
    EXPECT_EQ(counters.shared_load.conflicts, 0u) << c.word << " " << c.bytes;
  }
}

TEST(Counting, AtomicsSerialiseOnOneAddress) {
  const Counters one = Count(
      "red.global.add.u32 [%rd1], 1; mov.u32 %r20, s; st.shared.u32 [%r20], 0; atom.shared.add.u32 "
      "%r9, [%r20], 1;");
  EXPECT_EQ(one.global_atomic.requests, 1u);
  EXPECT_EQ(one.global_atomic.lanes, 32u);
  EXPECT_EQ(one.global_atomic.serialised, 32u);
  EXPECT_EQ(one.global_atomic.sectors, 1u);
  EXPECT_EQ(one.global_atomic.returning, 0u);
  EXPECT_EQ(one.shared_atomic.serialised, 32u);
  EXPECT_EQ(one.shared_atomic.returning, 1u);
  const Counters spread =
      Count(GlobalAt("shr.u32 %r9, %r4, 1; mul.wide.u32 %rd3, %r9, 4; add.s64 %rd3, %rd1, %rd3; "
                     "red.global.add.u32 [%rd3], 1;",
                     4));
  EXPECT_EQ(spread.global_atomic.serialised, 2u);
  EXPECT_EQ(spread.global_atomic.sectors, 2u);
}

TEST(Counting, RoundsOfAtomicsBySectorAndPiece) {
  // 32 lanes on one word: one sector takes them one by one.
  const Counters one = Count("red.global.add.u32 [%rd1], 1;");
  EXPECT_EQ(one.global_atomic.rounds, 32u);
  EXPECT_EQ(one.global_atomic.busiest_float_sector_rounds, 0u);
  EXPECT_EQ(one.global_atomic.busiest_piece_rounds, 32u);
  EXPECT_EQ(one.global_atomic.pieces, 1u);
  // Floating-point sums are told apart.
  EXPECT_EQ(Count("red.global.add.f32 [%rd1], %f1;").global_atomic.busiest_float_sector_rounds,
            32u);
  // Pairs of lanes on neighbouring words: two sectors, two rounds each.
  const Counters pairs =
      Count(GlobalAt("shr.u32 %r9, %r4, 1; mul.wide.u32 %rd3, %r9, 4; add.s64 %rd3, %rd1, %rd3; "
                     "red.global.add.u32 [%rd3], 1;",
                     4));
  EXPECT_EQ(pairs.global_atomic.rounds, 4u);
  EXPECT_EQ(pairs.global_atomic.busiest_piece_rounds, 4u);
  // Words 128 bytes apart: every lane a sector of its own, four of them in a piece of 512 bytes.
  const Counters apart =
      Count(GlobalAt("mul.wide.u32 %rd3, %r4, 128; add.s64 %rd3, %rd1, %rd3; "
                     "red.global.add.u32 [%rd3], 1;",
                     128));
  EXPECT_EQ(apart.global_atomic.rounds, 32u);
  EXPECT_EQ(apart.global_atomic.busiest_piece_rounds, 4u);
  EXPECT_EQ(apart.global_atomic.pieces, 8u);
}

TEST(Counting, InstructionsByClassAndLine) {
  const Module module = MustParse(KernelText(
      ".loc 1 3 1\nmov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8;\n.loc 1 4 1\n@%p1 bra A;\n.loc 1 "
      "5 1\nadd.f32 %f1, %f1, %f2; fma.rn.f32 %f1, %f1, %f2, %f3;\nA:\n.loc 1 6 1\n@%p1 mul.f32 "
      "%f1, %f1, %f1; ex2.approx.f32 %f2, %f1; add.s64 %rd1, %rd1, 1;",
      0));
  DeviceMemory memory;
  LaunchRequest request = Request(module, "k", {2}, {32}, {});
  request.counters = true;
  request.line_counters = true;
  const Counters c = Launch(request, memory).counters;
  EXPECT_EQ(c.blocks_run, 2u);
  EXPECT_EQ(c.warp_instructions, 2u * 9);
  EXPECT_EQ(c.thread_instructions, 2u * (32 * 7 + 24 * 2));
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Add), 2u * 24);
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Fma), 2u * 24);
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Mul), 2u * 8);
  EXPECT_EQ(c.ByClass(InstructionClass::kSpecialFunction), 2u * 32);
  EXPECT_EQ(c.ByClass(InstructionClass::kInteger64), 2u * 32);
  EXPECT_EQ(c.branches, 2u);
  EXPECT_EQ(c.divergent_branches, 2u);
  ASSERT_EQ(c.lines.size(), 4u);
  EXPECT_EQ(c.lines[2].line, 5);
  EXPECT_EQ(c.lines[2].thread_instructions, 2u * 24 * 2);
}

TEST(Counting, LongestWarpsOfBlocks) {
  // Warp w of block b runs b * w turns of a loop of three instructions.
  const Module module = MustParse(KernelText(
      "mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; mov.u32 %r2, %ctaid.x; mul.lo.u32 %r3, %r1, %r2;\n"
      "A:\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra B;\nsub.u32 %r3, %r3, 1;\nbra A;\nB:\n",
      0));
  DeviceMemory memory;
  const auto count = [&](uint32_t blocks, uint32_t threads) {
    LaunchRequest request = Request(module, "k", {blocks}, {threads}, {});
    request.counters = true;
    return Launch(request, memory).counters;
  };
  const uint64_t none = count(1, 32).longest_block_work;  // no turn
  EXPECT_EQ(none, count(1, 32).warp_instructions);
  const uint64_t turn = 4;
  const Counters c = count(4, 96);
  EXPECT_EQ(c.longest_block_work, none + 3 * 2 * turn);
  EXPECT_EQ(c.longest_warp_work, 4 * none + (0 + 1 + 2 + 3) * 2 * turn);
  EXPECT_EQ(c.warp_instructions, 12 * none + (0 + 1 + 2 + 3) * (1 + 2) * turn);
}

TEST(Counting, LoadsInFlightFollowTheDependences) {
  EXPECT_DOUBLE_EQ(Count("ld.global.u32 %r9, [%rd1]; ld.global.u32 %r10, [%rd1+4]; add.u32 %r9, "
                         "%r9, %r10; ld.global.u32 %r11, [%rd1+8]; ld.global.u32 %r12, [%rd1+12];")
                       .LoadsInFlight(),
                   4.0);
  EXPECT_DOUBLE_EQ(Count("ld.global.u32 %r9, [%rd1]; mul.wide.u32 %rd3, %r9, 4; add.s64 %rd3, "
                         "%rd1, %rd3; ld.global.u32 %r10, [%rd3];")
                       .LoadsInFlight(),
                   1.0);
  EXPECT_DOUBLE_EQ(
      Count("ld.global.u32 %r9, [%rd1]; st.global.u32 [%rd1], %r9; ld.global.u32 %r10, [%rd1+4];")
          .LoadsInFlight(),
      1.0);
}

TEST(Counting, LoadsMoveAcrossShortBranchesAndNotAcrossDivisionsOrLoops) {
  const std::string guarded =
      "setp.lt.u32 %p1, %r4, 100; @%p1 bra A; ld.global.u32 %r9, [%rd1];\nA: setp.lt.u32 %p1, %r4, "
      "101; @%p1 bra B; ld.global.u32 %r10, [%rd1+4];\nB: ";
  // Lanes 0 to 31 skip both; the blocks that ran have no loads. Without the skip both are one
  // round.
  const std::string both =
      "setp.gt.u32 %p1, %r4, 100; @%p1 bra A; ld.global.u32 %r9, [%rd1];\nA: setp.gt.u32 %p1, %r4, "
      "101; @%p1 bra B; ld.global.u32 %r10, [%rd1+4];\nB: ";
  EXPECT_EQ(Count(guarded + "mov.u32 %r9, 0;").global_load_rounds, 0u);
  EXPECT_EQ(Count(both + "mov.u32 %r9, 0;").global_load_rounds, 1u);
  // A store to shared memory between them does not part them.
  EXPECT_EQ(Count("mov.u32 %r20, s; ld.global.u32 %r9, [%rd1]; st.shared.u32 [%r20], %r9; "
                  "ld.global.u32 %r10, [%rd1+4];")
                .global_load_rounds,
            1u);
  // A long body is a branch on the GPU too.
  std::string body;
  for (int i = 0; i < 20; ++i) {
    body += "add.u32 %r11, %r11, 1; ";
  }
  EXPECT_EQ(Count("setp.gt.u32 %p1, %r4, 100; ld.global.u32 %r9, [%rd1]; @%p1 bra A; " + body +
                  "\nA: ld.global.u32 %r10, [%rd1+4];")
                .global_load_rounds,
            2u);
  for (const char* divide :
       {"div.rn.f32 %f2, %f1, %f1;", "rcp.rn.f32 %f2, %f1;", "sqrt.rn.f32 %f2, %f1;"}) {
    EXPECT_EQ(Count(fmt::format("mov.f32 %f1, 0f40000000; ld.global.u32 %r9, [%rd1]; {} "
                                "ld.global.u32 %r10, [%rd1+4];",
                                divide))
                  .global_load_rounds,
              2u)
        << divide;
  }
  // Each turn of a loop is a round of its own.
  EXPECT_EQ(
      Count("mov.u32 %r9, 0;\nA: ld.global.u32 %r10, [%rd1]; add.u32 %r9, %r9, 1; setp.lt.u32 "
            "%p1, %r9, 3; @%p1 bra A;")
          .global_load_rounds,
      3u);
}

TEST(Counting, GlobalWavefrontsFollowTheBanksOfL1) {
  struct Case {
    const char* load;
    int stride;
    int offset;
    uint64_t wavefronts;
  };
  const Case cases[] = {
      {"ld.global.u32 %r9, [%rd2];", 4, 0, 1},     // one line
      {"ld.global.u32 %r9, [%rd2];", 4, 12, 1},    // across two lines: each bank once all the same
      {"ld.global.u32 %r9, [%rd2];", 0, 0, 1},     // one word for all
      {"ld.global.u32 %r9, [%rd2];", 16, 0, 4},    // eight banks
      {"ld.global.u32 %r9, [%rd2];", 12, 0, 1},    // three lines, every bank once
      {"ld.global.u32 %r9, [%rd2];", 48, 0, 4},    // twelve lines
      {"ld.global.u32 %r9, [%rd2];", 128, 0, 32},  // one bank
      {"ld.global.u32 %r9, [%rd2];", 132, 0, 8},   // every bank once, but the tags of 32 lines
      {"ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd2];", 16, 0, 4},
      {"ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd2];", 32, 0, 8}};
  for (const Case& c : cases) {
    const Counters counters = Count(GlobalAt(c.load, c.stride, c.offset));
    EXPECT_EQ(counters.global_load.wavefronts, c.wavefronts) << c.load << " " << c.stride;
  }
}

TEST(Counting, LinesOfARequest) {
  const auto load = [](int stride) {
    return GlobalAt("ld.global.u32 %r9, [%rd2]; ld.global.u32 %r10, [%rd2];", stride);
  };
  EXPECT_EQ(Count(load(4)).global_load.lines, 2u);  // two requests of one line
  EXPECT_EQ(Count(load(16)).global_load.lines, 8u);
  EXPECT_EQ(Count(load(128)).global_load.lines, 64u);
}

TEST(Counting, CorrectlyRoundedOperationsAreClassesOfTheirOwn) {
  const Counters c = Count(
      "mov.f32 %f1, 0f40000000; div.rn.f32 %f2, %f1, %f1; rcp.rn.f32 %f2, %f1; sqrt.rn.f32 %f2, "
      "%f1; rcp.approx.f32 %f2, %f1; min.f32 %f2, %f1, %f1; sub.f32 %f2, %f1, %f1; div.s32 %r9, "
      "%r4, 3;");
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Division), 32u);
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Reciprocal), 32u);
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Root), 32u);
  EXPECT_EQ(c.ByClass(InstructionClass::kSpecialFunction), 32u);
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Other), 32u);
  EXPECT_EQ(c.ByClass(InstructionClass::kFp32Add), 32u);
  EXPECT_EQ(c.ByClass(InstructionClass::kDivision), 32u);
}

TEST(Cache, FetchesAligned64Bytes) {
  Counters counters;
  L2Cache l2(1 << 20, 16);
  l2.Read(0, 0x1, counters);  // sector 0, and 1 with it
  EXPECT_EQ(counters.dram_read_bytes, 64u);
  l2.Read(0, 0x2, counters);
  EXPECT_EQ(counters.dram_read_bytes, 64u);
  EXPECT_EQ(counters.l2_hits, 1u);
  l2.Read(0, 0xf, counters);  // 2 and 3 are missing
  EXPECT_EQ(counters.dram_read_bytes, 128u);
  l2.Write(1, 0x1, counters);
  l2.Read(1, 0x2, counters);  // the written neighbour is not fetched again
  EXPECT_EQ(counters.dram_read_bytes, 160u);
}

TEST(Cache, CountsHitsMissesAndTraffic) {
  const Module module = MustParse(
      KernelText("ld.param.u64 %rd1, [p0]; mov.u32 %r4, %tid.x; " +
                     GlobalAt("ld.global.u32 %r9, [%rd2]; ld.global.u32 %r10, [%rd2]; "
                              "st.global.u32 [%rd2], %r10; ld.global.u32 %r11, [%rd2+4096];",
                              4),
                 1));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "x", std::vector<uint32_t>(4096, 0));
  LaunchRequest request = Request(module, "k", {2}, {32}, {Argument(at)});
  request.counters = true;
  request.cache.enabled = true;
  const Counters c = Launch(request, memory).counters;
  ASSERT_TRUE(c.cache_modelled);
  // Each block, on its own SM: 4 sectors cold, 4 hits, 4 written, 4 cold.
  EXPECT_EQ(c.l1_load_sectors, 24u);
  EXPECT_EQ(c.l1_load_hits, 8u);
  EXPECT_EQ(c.l2_read_sectors, 16u);
  EXPECT_EQ(c.l2_write_sectors, 8u);
  EXPECT_EQ(c.dram_read_bytes, 8u * 32);  // the second block hits in L2
  EXPECT_EQ(c.l2_dirty_bytes_at_end, 4u * 32);
  // Of three loads of a block one hits in L1; the others come from where the first block found
  // nothing, or from where it left them.
  EXPECT_EQ(c.load_requests_from_dram, 2u);
  EXPECT_EQ(c.load_requests_from_l2, 2u);
}

TEST(Cache, EvictsTheLeastRecentlyUsed) {
  SectorCache cache(4 * kLineBytes, 4);  // one set
  CacheHint hint = 0;
  for (uint64_t line = 0; line < 4; ++line) {
    EXPECT_EQ(cache.Access(line, 0xf, true, line == 0, hint).hit, 0);
  }
  EXPECT_EQ(cache.Access(1, 0x3, true, false, hint).hit, 0x3);
  EXPECT_EQ(cache.DirtySectors(), 4u);
  EXPECT_EQ(cache.Access(9, 0x1, true, false, hint).evicted_dirty, 4);  // line 0 was the oldest
  EXPECT_EQ(cache.Access(9, 0xf, true, false, hint).hit, 0x1);  // the other sectors come now
  EXPECT_EQ(cache.Access(1, 0x1, true, false, hint).hit, 0x1);
  cache.Invalidate(1, 0x1);
  EXPECT_EQ(cache.Access(1, 0x3, true, false, hint).hit, 0x2);
}

}  // namespace
}  // namespace optiml::ptx
