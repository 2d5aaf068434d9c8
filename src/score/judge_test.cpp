#include "score/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;

Profile With(double loads, double utilisation) {
  Profile profile;
  profile.metrics["loads"] = {loads, "inst"};
  profile.metrics["utilisation"] = {utilisation, "ratio"};
  return profile;
}

Edit Claiming(std::vector<MetricClaim> claim) {
  Edit edit;
  edit.claim = std::move(claim);
  return edit;
}

const MetricClaim kFewerLoads{"loads", Direction::kDown};
const MetricClaim kMoreUtilisation{"utilisation", Direction::kUp};

TEST(JudgeClaim, ComparesDirections) {
  EXPECT_EQ(JudgeClaim(kFewerLoads, With(100, 0), With(50, 0)), Verdict::kSupported);
  EXPECT_EQ(JudgeClaim(kFewerLoads, With(100, 0), With(150, 0)), Verdict::kRefuted);
  EXPECT_EQ(JudgeClaim(kMoreUtilisation, With(0, 0.2), With(0, 0.4)), Verdict::kSupported);
  EXPECT_EQ(JudgeClaim(kMoreUtilisation, With(0, 0.4), With(0, 0.2)), Verdict::kRefuted);
}

TEST(JudgeClaim, SmallChangesAndAbsentMetricsAreUnclear) {
  EXPECT_EQ(JudgeClaim(kFewerLoads, With(100, 0), With(99, 0)), Verdict::kUnclear);
  EXPECT_EQ(JudgeClaim(kFewerLoads, With(100, 0), With(101, 0)), Verdict::kUnclear);
  EXPECT_EQ(JudgeClaim(kFewerLoads, With(0, 0), With(0, 0)), Verdict::kUnclear);
  EXPECT_EQ(JudgeClaim({"absent", Direction::kUp}, With(1, 0), With(9, 0)), Verdict::kUnclear);
}

TEST(JudgeEdit, IsTheBalanceOfSupportedAndRefuted) {
  const Edit edit = Claiming({kFewerLoads, kMoreUtilisation, {"absent", Direction::kUp}});
  const auto both = JudgeEdit(edit, With(100, 0.2), With(50, 0.4));
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(both->value, 2.0 / 3);
  EXPECT_EQ(both->reason, "2 of 3 claims supported, 0 refuted");
  const auto mixed = JudgeEdit(edit, With(100, 0.2), With(150, 0.4));
  EXPECT_DOUBLE_EQ(mixed->value, 0);
  EXPECT_THAT(mixed->reason, HasSubstr("1 refuted (loads rose from 100 to 150)"));
}

TEST(JudgeEdit, SaysNothingWithoutClaimOrProfile) {
  EXPECT_FALSE(JudgeEdit(Claiming({}), With(1, 1), With(1, 1)));
  EXPECT_FALSE(JudgeEdit(Claiming({kFewerLoads}), std::nullopt, With(1, 1)));
  EXPECT_FALSE(JudgeEdit(Claiming({kFewerLoads}), With(1, 1), std::nullopt));
}

TEST(JudgeEdit, SaysItsVerdictInOneWord) {
  const auto verdict = [](double loads, double utilisation) {
    return JudgeEdit(Claiming({kFewerLoads, kMoreUtilisation}), With(100, 0.5),
                     With(loads, utilisation))
        ->verdict;
  };
  EXPECT_EQ(verdict(50, 0.5), Verdict::kSupported);
  EXPECT_EQ(verdict(200, 0.5), Verdict::kRefuted);
  EXPECT_EQ(verdict(50, 0.1), Verdict::kUnclear);
  EXPECT_EQ(verdict(100, 0.5), Verdict::kUnclear);
}

TEST(MechanicalOpinion, ComparesAimAndBound) {
  Edit edit;
  edit.aims_at = Bound::kMemory;
  Diagnosis diagnosis;
  diagnosis.bound = Bound::kMemory;
  EXPECT_EQ(MechanicalOpinion(edit, diagnosis).plausibility_ratio, 0.75);
  diagnosis.bound = Bound::kCompute;
  EXPECT_EQ(MechanicalOpinion(edit, diagnosis).plausibility_ratio, 0.25);
  EXPECT_THAT(MechanicalOpinion(edit, diagnosis).reason, HasSubstr("bound by compute"));
  diagnosis.bound = Bound::kUnknown;
  EXPECT_EQ(MechanicalOpinion(edit, diagnosis).plausibility_ratio, 0.5);
  EXPECT_EQ(MechanicalOpinion(edit, std::nullopt).plausibility_ratio, 0.5);
}

TEST(PriorFactor, IsBoundedAndOneWithoutAnOpinion) {
  EXPECT_DOUBLE_EQ(PriorFactor({0, "", ""}), 0.25);
  EXPECT_DOUBLE_EQ(PriorFactor({0.5, "", ""}), 1);
  EXPECT_DOUBLE_EQ(PriorFactor({1, "", ""}), 4);
}

}  // namespace
}  // namespace optiml
