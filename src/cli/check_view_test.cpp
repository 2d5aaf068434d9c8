#include "cli/check_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>

#include "report/sample_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CheckView, SaysStageReasonElementWorstErrorAndWhere) {
  const std::string text = CheckText("bad.cu", sample::RejectWithMismatch());
  EXPECT_THAT(text, HasSubstr("bad.cu: rejected at L1: y differs from the reference\n"));
  EXPECT_THAT(text, HasSubstr("case                 cols=1000 rows=33, fill normal, seed 2\n"));
  EXPECT_THAT(text, HasSubstr("first wrong element  y[0, 999] (index 999): expected 0.25, got "
                              "nothing (never written)\n"));
  EXPECT_THAT(text, HasSubstr("elements that differ 33\n"));
  EXPECT_THAT(text, HasSubstr("worst error          0.5 absolute, 2 relative, 1.5e+06 times what "
                              "is allowed\n"));
  EXPECT_THAT(text, HasSubstr("y, 33 x 1000 elements, in 16 x 32 cells"));
  EXPECT_THAT(text, HasSubstr("|...................111111111UUUU|\n"));
  EXPECT_THAT(text, HasSubstr("    U  never written\n"));
  EXPECT_THAT(text, HasSubstr("    N  NaN or infinity"));
}

TEST(CheckView, AMismatchThatWasWrittenShowsItsValue) {
  Evaluation evaluation = sample::RejectWithMismatch();
  evaluation.verify->first_mismatch->unwritten = false;
  evaluation.verify->max_budget_ratio = std::numeric_limits<double>::infinity();
  const std::string text = CheckText("bad.cu", evaluation);
  EXPECT_THAT(text, HasSubstr("expected 0.25, got 0\n"));
  EXPECT_THAT(text, HasSubstr("worst error          0.5 absolute, 2 relative\n"));
}

TEST(CheckView, AFindingIsSaidWithItsLine) {
  const std::string text = CheckText("bad.cu", sample::RejectWithFinding());
  EXPECT_THAT(text, HasSubstr("rejected at L0: race on part[3]\n"));
  EXPECT_THAT(text, HasSubstr("finding              race in row_kernel line 9"));
  EXPECT_THAT(text, Not(HasSubstr("first wrong element")));
}

TEST(CheckView, JsonHoldsTheSame) {
  const auto json = CheckJson(sample::RejectWithMismatch());
  EXPECT_EQ(json["stage"], "L1");
  EXPECT_EQ(json["first_mismatch"]["index"], 999);
  EXPECT_EQ(json["first_mismatch"]["expected"], 0.25);
  EXPECT_TRUE(json["first_mismatch"]["got"].is_null());
  EXPECT_EQ(json["error_map"]["cells"].size(), 16u);
  EXPECT_EQ(json["error_map"]["cells"][0], "...................111111111UUUU");
  EXPECT_EQ(json["error_map"]["meanings"]["U"], "never written");
  EXPECT_TRUE(CheckJson(sample::RejectWithFinding())["error_map"].is_null());
}

}  // namespace
}  // namespace optiml
