#include "optimize/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Evaluation Timed(std::vector<double> medians, double half_width, TimingKind kind) {
  Evaluation evaluation;
  for (const double median : medians) {
    Timing timing;
    timing.kind = kind;
    timing.median_s = median;
    timing.low_s = median * (1 - half_width);
    timing.high_s = median * (1 + half_width);
    evaluation.timings.push_back(timing);
  }
  return evaluation;
}

std::vector<std::string> Marks(const ChainOutcome& outcome) {
  std::vector<std::string> marks;
  for (const ChainStep& step : outcome.steps) {
    marks.push_back(step.edit.rewrite + ":" + EditMarkName(step.mark));
  }
  return marks;
}

// Reduces the chain of single letters; `time` is of the text as TextOf makes it, 0 rejects.
ChainOutcome Reduce(const std::string& letters, const std::function<double(std::string)>& time,
                    int* evaluations = nullptr) {
  std::vector<Edit> chain;
  for (const char letter : letters) {
    chain.push_back(ScriptedEdit(std::string(1, letter)));
  }
  CandidateOutcome root;
  root.evaluation = Timed({time("root")}, 0, TimingKind::kPredicted);
  root.source = "root";
  const auto evaluate = [&](std::span<const Edit> edits) -> Result<CandidateOutcome> {
    if (evaluations != nullptr) {
      ++*evaluations;
    }
    CandidateOutcome outcome;
    outcome.source = TextOf(edits);
    const double seconds = time(outcome.source);
    if (seconds == 0) {
      outcome.evaluation.outcome = Rejection{Stage::kBuild, "no"};
    } else {
      outcome.evaluation = Timed({seconds}, 0, TimingKind::kPredicted);
    }
    return outcome;
  };
  Result<ChainOutcome> outcome = ReduceChain(chain, root, evaluate);
  EXPECT_TRUE(outcome) << outcome.error().message();
  return *std::move(outcome);
}

TEST(ReduceChain, KeepsWhatEachCarriesAGain) {
  const ChainOutcome outcome = Reduce("abc", [](const std::string& text) {
    double seconds = 1;
    for (const char letter : text) {
      seconds *= letter == 'a' || letter == 'b' || letter == 'c' ? 0.5 : 1;
    }
    return seconds;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:KEEP", "b:KEEP", "c:KEEP"));
  EXPECT_EQ(outcome.best.source, "a+b+c");
  EXPECT_EQ(outcome.steps[1].source, "a+b");
  EXPECT_EQ(*outcome.steps[1].time_s, 0.25);
  EXPECT_EQ(*outcome.steps[1].time_without_s, 0.25);  // a+c
  EXPECT_THAT(outcome.steps[0].note, HasSubstr("takes 2 times as long"));
}

TEST(ReduceChain, DropsUntilNothingIsIdle) {
  // b is needed as long as a is there; a itself is idle.
  const ChainOutcome outcome = Reduce("abc", [](const std::string& text) -> double {
    if (text == "a+c") {
      return 0;  // not legal
    }
    return text.find('c') != std::string::npos ? 0.5 : 1;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:DROPPED", "b:DROPPED", "c:KEEP"));
  EXPECT_EQ(outcome.best.source, "c");
}

TEST(ReduceChain, CutsATailThatBringsNothingTogether) {
  // b costs 20 % and c wins it back: neither can go alone, both can.
  const ChainOutcome outcome = Reduce("abc", [](const std::string& text) {
    return text == "a" || text == "a+b+c" ? 0.5 : text == "a+b" ? 0.6 : text == "a+c" ? 0.0 : 1.0;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:KEEP", "b:DROPPED", "c:DROPPED"));
  EXPECT_EQ(outcome.best.source, "a");
}

TEST(ReduceChain, DropsNeighboursThatBringNothingTogether) {
  const ChainOutcome outcome = Reduce("abc", [](const std::string& text) {
    return text == "c" || text == "a+b+c" ? 0.5 : text == "b+c" ? 0.7 : 1.0;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:DROPPED", "b:DROPPED", "c:KEEP"));
}

TEST(ReduceChain, MovesAnEditBehindTheOneThatItNeeds) {
  // a is idle; b needs something before it, and the chain c+b is the same as b+c behind a.
  const ChainOutcome outcome = Reduce("abc", [](const std::string& text) {
    return text == "b"                                         ? 0.0
           : text == "a+b+c" || text == "b+c" || text == "c+b" ? 0.3
           : text == "c"                                       ? 0.5
                                                               : 1.0;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:DROPPED", "c:KEEP", "b:KEEP"));
  EXPECT_EQ(*outcome.steps[1].time_s, 0.5);
  EXPECT_EQ(outcome.best.source, "c+b");
}

TEST(ReduceChain, AnEditThatALaterOneNeedsIsABridge) {
  const ChainOutcome outcome = Reduce("ab", [](const std::string& text) {
    return text == "a+b" ? 0.3 : text == "a" ? 1.4 : text == "b" ? 0.0 : 1.0;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:BRIDGE", "b:KEEP"));
  EXPECT_FALSE(outcome.steps[0].time_without_s);
  EXPECT_EQ(outcome.steps[0].note,
            "the chain needs it: without it build: no; alone it is a step back that a later edit "
            "needs");
}

TEST(ReduceChain, APrefixThatIsRejectedAfterADropIsABridge) {
  // a is idle; what is left begins with b, which alone does not build.
  const ChainOutcome outcome = Reduce("abc", [](const std::string& text) {
    return text == "b" ? 0.0 : text == "a+b+c" || text == "b+c" ? 0.3 : 1.0;
  });
  EXPECT_THAT(Marks(outcome), ElementsAre("a:DROPPED", "b:BRIDGE", "c:KEEP"));
  EXPECT_FALSE(outcome.steps[1].time_s);
  EXPECT_EQ(outcome.steps[1].source, "b");
  EXPECT_THAT(outcome.steps[1].note, HasSubstr("before the later edits build: no"));
}

TEST(ReduceChain, PassesAnErrorOn) {
  const std::vector<Edit> chain = {ScriptedEdit("a")};
  CandidateOutcome root;
  root.evaluation = Timed({1}, 0, TimingKind::kPredicted);
  const auto outcome = ReduceChain(chain, root, [](std::span<const Edit>) {
    return Result<CandidateOutcome>(Error(ErrorCode::kInterrupted, "interrupted"));
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInterrupted);
}

TEST(IsSlower, PredictedTimesByMoreThanOnePercent) {
  const Evaluation base = Timed({1}, 0.3, TimingKind::kPredicted);
  EXPECT_FALSE(IsSlower(Timed({1.009}, 0.3, TimingKind::kPredicted), base));
  EXPECT_TRUE(IsSlower(Timed({1.011}, 0.3, TimingKind::kPredicted), base));
  EXPECT_FALSE(IsSlower(base, base));
}

TEST(IsSlower, MeasuredTimesOnlyBeyondTheirIntervals) {
  const Evaluation base = Timed({1}, 0.05, TimingKind::kMeasured);
  EXPECT_FALSE(IsSlower(Timed({1.08}, 0.05, TimingKind::kMeasured), base));
  EXPECT_TRUE(IsSlower(Timed({1.2}, 0.05, TimingKind::kMeasured), base));
}

TEST(JudgePrediction, GainMustExceedTheStatedError) {
  DeviceInfo info;
  info.prediction_error_factor = 1.3;
  const Evaluation root = Timed({1, 1}, 0, TimingKind::kPredicted);
  const GainVerdict below =
      JudgePrediction(root, Timed({0.8, 0.8}, 0, TimingKind::kPredicted), info);
  EXPECT_FALSE(below.kept);
  EXPECT_NEAR(below.gain, 1.25, 1e-9);
  const GainVerdict above =
      JudgePrediction(root, Timed({1, 0.25}, 0, TimingKind::kPredicted), info);
  EXPECT_TRUE(above.kept);
  EXPECT_NEAR(above.gain, 2, 1e-9);  // the geometric mean over the shapes
  EXPECT_THAT(above.reason, HasSubstr("predicted 2.00 times"));
}

TEST(JudgeMeasurement, BothIntervalsMustExcludeThatThereIsNoGain) {
  EXPECT_TRUE(JudgeMeasurement({{{1.1, 1.05, 1.15}}, {{1.1, 1.01, 1.2}}}).kept);
  EXPECT_FALSE(JudgeMeasurement({{{1.1, 0.99, 1.15}}, {{1.1, 1.05, 1.2}}}).kept);
  EXPECT_FALSE(JudgeMeasurement({{{1.005, 1.004, 1.006}}, {{1.005, 1.004, 1.006}}}).kept);
  const GainVerdict unconfirmed = JudgeMeasurement({{{1.1, 1.05, 1.15}}, {{1.0, 0.99, 1.01}}});
  EXPECT_FALSE(unconfirmed.kept);
  EXPECT_THAT(unconfirmed.reason, HasSubstr("no significant difference"));
}

TEST(JudgeMeasurement, KeepsTheConditionsOfTheMeasurement) {
  GainMeasurement measured{{{1.1, 1.05, 1.15}}, {{1.1, 1.01, 1.2}}};
  EXPECT_FALSE(JudgeMeasurement(measured).conditions);
  measured.conditions.emplace().before.sm_hz = 1980e6;
  ASSERT_TRUE(JudgeMeasurement(measured).conditions);
  EXPECT_EQ(JudgeMeasurement(measured).conditions->before.sm_hz, 1980e6);
}

TEST(JudgeMeasurement, TakesTheGeometricMeanOverTheShapes) {
  const std::vector<Gain> shapes = {{4, 3.9, 4.1}, {1, 0.99, 1.01}};
  const GainVerdict verdict = JudgeMeasurement({shapes, shapes});
  EXPECT_TRUE(verdict.kept);  // faster as a whole, though not at every shape
  EXPECT_NEAR(verdict.gain, 2, 1e-9);
}

}  // namespace
}  // namespace optiml
