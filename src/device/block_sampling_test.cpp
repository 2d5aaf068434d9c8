#include "device/block_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace optiml {
namespace {

using ::testing::HasSubstr;

// A kernel k(.u64 p) whose registers are declared; `body` is its instructions.
BlockDependence DependenceOf(const std::string& body) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(\n.param .u64 k_param_0\n)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [k_param_0];\n" +
      body + "$DONE:\nret;\n}\n";
  const auto module = ptx::ParsePtx(text, "test");
  EXPECT_TRUE(module.has_value()) << module.error().message();
  return AnalyseDependence(*module, "k");
}

TEST(AnalyseDependence, AllowsAPlainMapAndReduction) {
  const auto facts = DependenceOf(
      "mov.u32 %r1, %tid.x;\nsetp.gt.s32 %p1, %r1, 100;\n@%p1 bra $DONE;\n"
      "ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%rd1], %f2;\n"
      "red.global.add.f32 [%rd1], %f2;\n");
  EXPECT_FALSE(facts.blocks_depend);
  EXPECT_FALSE(facts.data_steers);
  EXPECT_EQ(facts.instructions, 9u);
}

TEST(AnalyseDependence, SeesDataThatSteersABranchOrAnAddress) {
  EXPECT_TRUE(DependenceOf("ld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\n"
                           "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra $DONE;\n")
                  .data_steers);
  EXPECT_TRUE(DependenceOf("ld.global.u64 %rd2, [%rd1];\nadd.u64 %rd3, %rd1, %rd2;\n"
                           "st.global.u32 [%rd3], %r1;\n")
                  .data_steers);
}

// Loads %r1, and branches over `skipped` by it.
std::string SteeredBranch(const std::string& skipped, const std::string& after = "") {
  return "ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $AFTER;\n" + skipped +
         "$AFTER:\n" + after;
}

TEST(AnalyseDependence, TellsSteeredStoresFromOtherSteering) {
  for (const char* skipped :
       {"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\n",
        "ld.shared.u32 %r2, [%r3];\nadd.u32 %r2, %r2, 1;\nst.shared.u32 [%r3], %r2;\n",
        // A branch inside, by data again.
        "setp.eq.u32 %p2, %r1, 7;\n@%p2 bra $INNER;\nst.global.u32 [%rd1], %r1;\n$INNER:\n"}) {
    const auto facts = DependenceOf(SteeredBranch(skipped));
    EXPECT_TRUE(facts.data_steers) << skipped;
    EXPECT_FALSE(facts.steers_more_than_stores) << skipped;
  }
  for (const char* skipped :
       {"ld.global.u32 %r2, [%rd1+4];\n", "red.global.add.u32 [%rd1], %r2;\n",
        "atom.global.add.u32 %r2, [%rd1], 1;\n", "bar.sync 0;\n",
        "add.u64 %rd2, %rd1, 4;\nld.f32 %f1, [%rd2];\n",
        // A loop that the branch leaves out.
        "mov.u32 %r2, 0;\n$L:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra $L;\n"}) {
    const auto facts = DependenceOf(SteeredBranch(skipped));
    EXPECT_TRUE(facts.steers_more_than_stores) << skipped;
  }
}

TEST(AnalyseDependence, SeesDataThatSteerALoopAcrossABranch) {
  // The branch only chooses how often a later loop runs; the loop's bound is no loaded value.
  const auto facts = DependenceOf(
      "mov.u32 %r2, 10;\n" +
      SteeredBranch("mov.u32 %r2, 1000;\n",
                    "mov.u32 %r3, 0;\n$L:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, %r2;\n"
                    "@%p2 bra $L;\n"));
  EXPECT_TRUE(facts.steers_more_than_stores);
}

TEST(AnalyseDependence, SeesDataThatSteerTheLoopTheyAreReadIn) {
  const auto facts =
      DependenceOf("$L:\nld.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L;\n");
  EXPECT_TRUE(facts.steers_more_than_stores);
}

TEST(AnalyseDependence, SeesDataThatSteerAPlaceOrALoadByPredicate) {
  EXPECT_TRUE(DependenceOf("ld.global.u64 %rd2, [%rd1];\nadd.u64 %rd3, %rd1, %rd2;\n"
                           "st.global.u32 [%rd3], %r1;\n")
                  .steers_more_than_stores);
  const std::string test = "ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n";
  EXPECT_TRUE(DependenceOf(test + "@%p1 ld.global.u32 %r2, [%rd1+4];\n").steers_more_than_stores);
  EXPECT_FALSE(DependenceOf(test + "@%p1 st.global.u32 [%rd1+4], %r2;\n").steers_more_than_stores);
}

TEST(AnalyseDependence, SeesDataThatEndAThreadBeforeItReadsMore) {
  const std::string test = "ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 ret;\n";
  EXPECT_TRUE(DependenceOf(test + "ld.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd1+8], %r2;\n")
                  .steers_more_than_stores);
  EXPECT_FALSE(DependenceOf(test + "st.global.u32 [%rd1+8], %r2;\n").steers_more_than_stores);
}

TEST(AnalyseDependence, RefusesPollingLoads) {
  for (const char* load : {"ld.volatile.global.u32", "ld.acquire.gpu.global.u32", "ld.volatile.u32",
                           "ld.relaxed.gpu.global.u32"}) {
    const auto facts = DependenceOf(std::string(load) + " %r1, [%rd1];\n");
    EXPECT_TRUE(facts.blocks_depend) << load;
    EXPECT_THAT(facts.reason, HasSubstr(load));
  }
  EXPECT_FALSE(DependenceOf("ld.volatile.shared.u32 %r1, [%r2];\n").blocks_depend);
}

TEST(AnalyseDependence, RefusesATicketThatSteersABranch) {
  EXPECT_TRUE(DependenceOf("atom.global.add.u32 %r1, [%rd1], 1;\nsetp.eq.u32 %p1, %r1, 7;\n"
                           "@%p1 bra $DONE;\n")
                  .blocks_depend);
  // Through an if-converted store.
  EXPECT_TRUE(DependenceOf("atom.global.add.u32 %r1, [%rd1], 1;\nsetp.eq.u32 %p1, %r1, 7;\n"
                           "@%p1 st.global.u32 [%rd1], %r2;\n")
                  .blocks_depend);
}

TEST(AnalyseDependence, AllowsAtomicsWhoseResultIsUnusedOrOnlyAPlace) {
  EXPECT_FALSE(DependenceOf("atom.global.add.u32 %r1, [%rd1], 1;\n").blocks_depend);
  const auto compaction = DependenceOf(
      "atom.global.add.u32 %r1, [%rd1], 1;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "st.global.u32 [%rd3], %r2;\n");
  EXPECT_FALSE(compaction.blocks_depend);
  EXPECT_TRUE(compaction.data_steers);
  EXPECT_FALSE(DependenceOf("$L:\natom.global.cas.b32 %r1, [%rd1], %r2, %r3;\n"
                            "setp.ne.s32 %p1, %r1, %r2;\n@%p1 bra $L;\n")
                   .blocks_depend);
}

TEST(ChooseBlocks, TakesEvenlySpreadGroupsOfNeighbours) {
  const auto blocks = ChooseBlocks({1000, 1, 1}, 100).all;
  EXPECT_EQ(blocks.size(), 100u);
  EXPECT_EQ(std::set<uint64_t>(blocks.begin(), blocks.end()).size(), 100u);
  EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
  int neighbours = 0;
  for (size_t i = 1; i < blocks.size(); ++i) {
    neighbours += blocks[i] == blocks[i - 1] + 1 ? 1 : 0;
  }
  EXPECT_EQ(neighbours, 96);
  EXPECT_GT(blocks.front(), 50u);
  EXPECT_LT(blocks.back(), 950u);
}

TEST(ChooseBlocks, TakesBoxesOfGridsWithPlanes) {
  const Dim3 grid{16, 64, 512};
  const BlockSample sample = ChooseBlocks(grid, 1400);
  EXPECT_GT(sample.all.size(), 900u);
  EXPECT_LE(sample.all.size(), 1400u);
  const std::set<uint64_t> chosen(sample.all.begin(), sample.all.end());
  uint64_t with_neighbour_plane = 0;
  for (const uint64_t id : chosen) {
    with_neighbour_plane += chosen.count(id + 16 * 64);
  }
  EXPECT_GT(with_neighbour_plane, chosen.size() * 3 / 4);
}

TEST(ChooseBlocks, TakesPartsOfSeveralRowsOfWideGrids) {
  const BlockSample sample = ChooseBlocks({1024, 1024, 1}, 320);
  const std::set<uint64_t> chosen(sample.all.begin(), sample.all.end());
  uint64_t with_row_below = 0;
  for (const uint64_t id : chosen) {
    with_row_below += chosen.count(id + 1024);
  }
  EXPECT_EQ(with_row_below, chosen.size() * 3 / 4);
}

TEST(ChooseBlocks, StaysInsideEveryGridAndBelowTheCount) {
  for (const Dim3& shape : {Dim3{1, 1, 1}, Dim3{7, 1, 1}, Dim3{5, 3, 1}, Dim3{2, 9, 4},
                            Dim3{1, 1, 50}, Dim3{3, 70, 1}, Dim3{90, 2, 2}}) {
    for (uint64_t count = 1; count < 400; ++count) {
      const BlockSample sample = ChooseBlocks(shape, count);
      ASSERT_FALSE(sample.all.empty());
      EXPECT_LE(sample.all.size(), std::min(shape.Count(), count));
      EXPECT_LE(sample.first_half.size(), sample.all.size() / 2);
      const std::set<uint64_t> chosen(sample.all.begin(), sample.all.end());
      EXPECT_EQ(chosen.size(), sample.all.size());
      EXPECT_LT(*chosen.rbegin(), shape.Count());
      if (count >= shape.Count()) {
        EXPECT_EQ(sample.all.size(), shape.Count());
      }
    }
  }
}

TEST(WithHalvesBeside, TakesNeighboursThatAreNotInTheSample) {
  for (const Dim3& shape : {Dim3{1000, 1, 1}, Dim3{64, 64, 1}, Dim3{16, 16, 16}}) {
    const BlockSample sample = ChooseBlocks(shape, 100);
    const BlockSample beside = WithHalvesBeside(sample, shape);
    EXPECT_EQ(beside.all, sample.all);
    EXPECT_EQ(beside.first_half.size(), sample.first_half.size());
    for (const uint64_t id : beside.first_half) {
      EXPECT_LT(id, shape.Count());
      EXPECT_EQ(std::count(sample.all.begin(), sample.all.end(), id), 0);
    }
  }
}

TEST(WithHalvesBeside, LeavesASampleAloneThatFillsTheGrid) {
  const BlockSample sample = ChooseBlocks({100, 1, 1}, 90);
  EXPECT_EQ(WithHalvesBeside(sample, {100, 1, 1}).first_half, sample.first_half);
}

TEST(Extrapolated, ScalesCountsAndFetchesSharedDataOnce) {
  ptx::Counters half;
  half.blocks_in_grid = 100;
  half.blocks_run = 5;
  half.thread_instructions = 500;
  half.dram_read_bytes = 1000 + 5 * 10;  // 1000 that all blocks share, 10 for each
  ptx::Counters all = half;
  all.blocks_run = 10;
  all.thread_instructions = 1000;
  all.global_load.sectors = 30;
  all.dram_read_bytes = 1000 + 10 * 10;
  const ptx::Counters whole = Extrapolated(half, all);
  EXPECT_EQ(whole.thread_instructions, 10000u);
  EXPECT_EQ(whole.global_load.sectors, 300u);
  EXPECT_EQ(whole.dram_read_bytes, 2000u);
  EXPECT_EQ(whole.blocks_run, 100u);
}

TEST(Extrapolated, LeavesAFullRunAlone) {
  ptx::Counters all;
  all.blocks_in_grid = 10;
  all.blocks_run = 10;
  all.thread_instructions = 7;
  EXPECT_EQ(Extrapolated(ptx::Counters(), all).thread_instructions, 7u);
}

}  // namespace
}  // namespace optiml
