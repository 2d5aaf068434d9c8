#include "score/scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "score/seconds_text.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

Evaluation Timed(double seconds, std::map<MetricId, double> metrics = {}) {
  Evaluation evaluation;
  Timing timing;
  timing.median_s = seconds;
  evaluation.timings = {timing};
  if (!metrics.empty()) {
    evaluation.profile.emplace();
    for (const auto& [id, value] : metrics) {
      evaluation.profile->metrics[id] = {value, ""};
    }
  }
  return evaluation;
}

Evaluation Rejected(Stage stage) {
  Evaluation evaluation;
  evaluation.outcome = Rejection{stage, "because"};
  return evaluation;
}

const RewardPart* Find(const Reward& reward, const std::string& name) {
  for (const RewardPart& part : reward.parts) {
    if (part.name == name) {
      return &part;
    }
  }
  return nullptr;
}

TEST(Scorer, TimeIsTheLogarithmOfTheSpeedUpAgainstTheRoot) {
  const Evaluation root = Timed(2e-3);
  const Scorer scorer({}, root);
  // The parent does not matter for the time.
  const Reward reward = scorer.Score(Timed(1e-3), Edit(), Timed(1e-6));
  EXPECT_NEAR(reward.total, std::log(2), 1e-12);
  ASSERT_EQ(reward.parts.size(), 1U);
  EXPECT_EQ(reward.parts[0].reason, "predicted 1 ms against the root's 2 ms: 2 times as fast");
  EXPECT_NEAR(scorer.Score(Timed(4e-3), Edit(), root).total, -std::log(2), 1e-12);
  EXPECT_EQ(scorer.ScoreRoot().total, 0);
}

TEST(Scorer, SeveralShapesCountByTheirGeometricMean) {
  Evaluation root = Timed(1);
  root.timings.push_back(root.timings[0]);
  Evaluation candidate = root;
  candidate.timings[0].median_s = 0.25;  // four times as fast at one shape, as fast at the other
  EXPECT_NEAR(Scorer({}, root).Score(candidate, Edit(), root).total, std::log(2), 1e-12);
}

TEST(Scorer, TimeIsClipped) {
  const Scorer scorer({}, Timed(1));
  EXPECT_DOUBLE_EQ(scorer.Score(Timed(1e-9), Edit(), Timed(1)).total, 4);
  EXPECT_DOUBLE_EQ(scorer.Score(Timed(1e9), Edit(), Timed(1)).total, -4);
}

TEST(Scorer, ARejectionIsBelowTheWorstSuccess) {
  const Evaluation root = Timed(1, {{metric::kThreadInstructions, 1},
                                    {metric::kDramReadBytes, 1},
                                    {metric::kWarpInstructions, 1},
                                    {metric::kGlobalLoadSectors, 1}});
  Evaluation worst = Timed(1e9, {{metric::kThreadInstructions, 1e9},
                                 {metric::kDramReadBytes, 1e9},
                                 {metric::kWarpInstructions, 1e9},
                                 {metric::kGlobalLoadSectors, 1e9}});
  worst.resources.emplace_back();
  worst.resources[0].spill_load_bytes = 1000;
  Edit edit;
  edit.claim = {{metric::kThreadInstructions, Direction::kDown}};
  const Scorer scorer({}, root);
  const Reward reward = scorer.Score(worst, edit, root);
  ASSERT_EQ(reward.parts.size(), 4U);
  EXPECT_EQ(Find(reward, "guardrail")->value, -3);
  EXPECT_GT(reward.total, scorer.FailureTotal());
  for (const Stage stage : {Stage::kApply, Stage::kBuild, Stage::kL1, Stage::kMeasure}) {
    EXPECT_EQ(scorer.Score(Rejected(stage), edit, root).total, scorer.FailureTotal());
  }
  EXPECT_THAT(scorer.Score(Rejected(Stage::kL1), edit, root).parts[0].reason,
              HasSubstr("rejected at L1"));
}

TEST(Scorer, ProxiesFollowTheRootsBound) {
  Evaluation root = Timed(1, {{metric::kDramReadBytes, 100}});
  root.diagnosis.emplace();
  root.diagnosis->bound = Bound::kMemory;
  const Evaluation candidate = Timed(1, {{metric::kDramReadBytes, 50}});
  EXPECT_NEAR(Scorer({}, root).Score(candidate, Edit(), root).total, 0.2 * 0.5, 1e-12);
  ScoreOptions without;
  without.proxies = false;
  EXPECT_EQ(Scorer(without, root).Score(candidate, Edit(), root).total, 0);
  root.diagnosis->bound = Bound::kCompute;
  EXPECT_EQ(Scorer({}, root).Score(candidate, Edit(), root).total, 0);
}

TEST(Scorer, TheJudgeComparesWithTheParent) {
  const Evaluation root = Timed(1, {{"x", 100}});
  const Evaluation parent = Timed(1, {{"x", 10}});
  Edit edit;
  edit.claim = {{"x", Direction::kDown}};
  const Evaluation candidate = Timed(1, {{"x", 20}});
  const Reward reward = Scorer({}, root).Score(candidate, edit, parent);
  ASSERT_NE(Find(reward, "judge"), nullptr);
  EXPECT_EQ(Find(reward, "judge")->value, -1);
  EXPECT_NEAR(reward.total, -0.05, 1e-12);
  ScoreOptions without;
  without.judge = false;
  EXPECT_EQ(Find(Scorer(without, root).Score(candidate, edit, parent), "judge"), nullptr);
}

TEST(Scorer, AModelsVerdictSpeaksWhereTheCountersDoNot) {
  Edit edit;
  edit.claim = {{"loads", Direction::kDown}};
  const Evaluation root = Timed(1e-3, {{"loads", 100}});
  const Scorer scorer({}, root);
  const Judgement praise{1, "it did", Verdict::kSupported, "m"};
  const auto judged = [&](double loads) {
    const Reward reward = scorer.Score(Timed(1e-3, {{"loads", loads}}), edit, root, praise);
    return Find(reward, "judge")->value;
  };
  EXPECT_EQ(judged(100), 1);   // the counters say nothing
  EXPECT_EQ(judged(200), -1);  // and cannot be overruled
  EXPECT_EQ(Find(scorer.Score(Timed(1e-3), edit, root, praise), "judge")->reason, "it did");
  ScoreOptions without;
  without.judge = false;
  EXPECT_EQ(
      Find(Scorer(without, root).Score(Timed(1e-3, {{"loads", 100}}), edit, root, praise), "judge"),
      nullptr);
}

TEST(Scorer, MoreWorkIsForgivenWhenItBuysTime) {
  ScoreOptions options;
  options.proxies = false;
  const Evaluation root = Timed(1, {{metric::kThreadInstructions, 100}});
  const Scorer scorer(options, root);
  const Evaluation more_slow = Timed(1, {{metric::kThreadInstructions, 130}});
  const Evaluation more_fast = Timed(0.9, {{metric::kThreadInstructions, 130}});
  const Evaluation little_more = Timed(1, {{metric::kThreadInstructions, 119}});
  const Reward punished = scorer.Score(more_slow, Edit(), root);
  EXPECT_NEAR(punished.total, -0.2, 1e-12);
  EXPECT_EQ(Find(punished, "guardrail")->reason,
            "instructions went from 100 to 130, without a gain in time");
  EXPECT_EQ(Find(scorer.Score(more_fast, Edit(), root), "guardrail"), nullptr);
  EXPECT_EQ(Find(scorer.Score(little_more, Edit(), root), "guardrail"), nullptr);
}

TEST(Scorer, TotalIsTheSumOfItsParts) {
  Evaluation root = Timed(1, {{metric::kDramReadBytes, 100}, {"x", 1}});
  Edit edit;
  edit.claim = {{"x", Direction::kUp}};
  const Reward reward =
      Scorer({}, root).Score(Timed(0.5, {{metric::kDramReadBytes, 90}, {"x", 2}}), edit, root);
  double sum = 0;
  for (const RewardPart& part : reward.parts) {
    EXPECT_FALSE(part.reason.empty());
    sum += part.weight * part.value;
  }
  EXPECT_EQ(reward.parts.size(), 3U);
  EXPECT_DOUBLE_EQ(reward.total, sum);
}

TEST(SecondsText, ChoosesTheUnit) {
  EXPECT_EQ(SecondsText(19.0212e-6), "19.02 us");
  EXPECT_EQ(SecondsText(9.873e-3), "9.873 ms");
  EXPECT_EQ(SecondsText(1.5), "1.5 s");
  EXPECT_EQ(SecondsText(1e-3), "1 ms");
  EXPECT_EQ(SecondsText(3e-8), "30 ns");
}

TEST(ScorerDeathTest, NeedsATimedRoot) {
  EXPECT_DEATH(Scorer({}, Evaluation()), "root was accepted and timed");
  EXPECT_DEATH(Scorer({}, Timed(1)).Score(Evaluation(), Edit(), Timed(1)), "was timed");
}

}  // namespace
}  // namespace optiml
