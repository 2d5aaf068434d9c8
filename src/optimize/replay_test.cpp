#include "optimize/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

RunRecord FinishedRun(int candidates = 20) {
  Script script;
  script.edits = {"a", "b", "c", "d"};
  script.rejected = {"c"};
  script.same_ptx = {{"d", "root"}};
  script.time = [](const std::string& text) {
    return text.find('b') != std::string::npos ? 0.4e-3
                                               : 1e-3 + 1e-6 * static_cast<double>(text.size());
  };
  ScriptedRun run(script);
  run.options.budget.candidates = candidates;
  Result<RunRecord> record = run.Go();
  EXPECT_TRUE(record) << record.error().message();
  return *std::move(record);
}

std::string ReplayError(const RunRecord& record) {
  const Result<int64_t> best = ReplaySearch(record);
  EXPECT_FALSE(best);
  return best ? "" : best.error().message();
}

TEST(Replay, ReachesTheSameTreeAndBest) {
  const RunRecord record = FinishedRun();
  ASSERT_GE(record.nodes.size(), 21U);
  const Result<int64_t> best = ReplaySearch(record);
  ASSERT_TRUE(best) << best.error().message();
  EXPECT_NE(record.nodes[static_cast<size_t>(*best)].source.find('b'), std::string::npos);
}

TEST(Replay, ReachesWhereAnUnfinishedRunEnded) {
  RunRecord record = FinishedRun(9);
  EXPECT_EQ(TreeText(record), TreeText(FinishedRun()).substr(0, TreeText(record).size()));
  record.result.reset();
  Result<ReplayedSearch> replayed = ReplayNodes(record, *ParseSessionOptions(record.options));
  ASSERT_TRUE(replayed) << replayed.error().message();
  // Goes on as the longer run did.
  const RunRecord longer = FinishedRun();
  Question next = replayed->searcher->Ask();
  while (const auto* needs = std::get_if<NeedEdits>(&next)) {
    const auto expansion =
        std::find_if(longer.expansions.begin(), longer.expansions.end(),
                     [&](const ExpansionRecord& row) { return row.node == needs->node.value; });
    ASSERT_NE(expansion, longer.expansions.end());
    replayed->searcher->SetEdits(needs->node, std::vector<double>(expansion->edits.size(), 1.0));
    next = replayed->searcher->Ask();
  }
  const size_t told = record.nodes.size();
  EXPECT_EQ(std::get<Evaluate>(next).child, NodeId(static_cast<int64_t>(told)));
  EXPECT_EQ(std::get<Evaluate>(next).parent.value, longer.nodes[told].parent);
}

TEST(Replay, AnswersExpansionsThatNoNodeFollowed) {
  RunRecord record = FinishedRun();
  record.nodes.resize(1);
  record.expansions.resize(1);
  record.result.reset();
  const auto replayed = ReplayNodes(record, *ParseSessionOptions(record.options));
  ASSERT_TRUE(replayed) << replayed.error().message();
  EXPECT_TRUE(std::holds_alternative<Evaluate>(replayed->searcher->Ask()));
  record.expansions.push_back({0, {}});
  EXPECT_FALSE(ReplayNodes(record, *ParseSessionOptions(record.options)));
}

TEST(Replay, NoticesAnotherEdit) {
  RunRecord record = FinishedRun();
  record.nodes[3].edit.rewrite = "z";
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node 3: the searcher asks for"));
}

TEST(Replay, NoticesAnotherParent) {
  RunRecord record = FinishedRun();
  record.nodes[5].parent = record.nodes[5].parent == 0 ? 1 : 0;
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node 5"));
}

TEST(Replay, NoticesAnotherReward) {
  RunRecord record = FinishedRun();
  record.nodes[2].reward.total += 0.001;
  EXPECT_THAT(ReplayError(record),
              HasSubstr("replay differs at node 2: its findings give the reward"));
}

TEST(Replay, NoticesAnotherTime) {
  RunRecord record = FinishedRun();
  record.nodes[1].evaluation.timings[0].median_s *= 0.5;
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node 1"));
}

TEST(Replay, NoticesAnotherSeed) {
  RunRecord record = FinishedRun();
  record.options["seed"] = "2";
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node"));
}

TEST(Replay, NoticesMissingNodesAndExpansions) {
  RunRecord record = FinishedRun();
  record.nodes.erase(record.nodes.begin() + 4);
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node 4"));
  record = FinishedRun();
  record.expansions.erase(record.expansions.begin() + 1);
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node"));
  record = FinishedRun();
  record.nodes.clear();
  EXPECT_THAT(ReplayError(record), HasSubstr("there is no accepted root"));
}

TEST(Replay, NoticesAnotherChain) {
  RunRecord record = FinishedRun();
  ASSERT_FALSE(record.result->chain.empty());
  record.result->chain[0].edit.rewrite = "z";
  EXPECT_THAT(ReplayError(record), HasSubstr("the result's chain leads elsewhere"));
}

TEST(Replay, NonsenseInTheRecordIsAnErrorToo) {
  RunRecord record = FinishedRun();
  record.nodes[4].duplicate_of = 9;
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node 4"));
  record = FinishedRun();
  record.nodes[4].parent = 12;
  EXPECT_THAT(ReplayError(record), HasSubstr("replay differs at node 4"));
  record = FinishedRun();
  record.nodes[0].evaluation.timings.clear();
  EXPECT_THAT(ReplayError(record), HasSubstr("it is accepted but has no time"));
  record = FinishedRun();
  record.expansions[0].edits[0].prior = 0;
  EXPECT_THAT(ReplayError(record), HasSubstr("has the prior 0"));
  record = FinishedRun();
  record.options["seed"] = "x";
  EXPECT_THAT(ReplayError(record), HasSubstr("seed"));
}

TEST(BestNode, IsTheFastestAcceptedThenTheShortestChainThenTheOldest) {
  std::vector<NodeRecord> nodes(6);
  const double seconds[] = {1, 2, 0.5, 0.5, 0.5, 0.1};
  const int64_t parents[] = {-1, 0, 1, 0, 0, 0};
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].id = static_cast<int64_t>(i);
    nodes[i].parent = parents[i];
    nodes[i].evaluation.timings.resize(1);
    nodes[i].evaluation.timings[0].median_s = seconds[i];
  }
  nodes[5].evaluation.outcome = Rejection{Stage::kL1, ""};
  EXPECT_EQ(BestNode(nodes), 3);
}

}  // namespace
}  // namespace optiml
