#include "optimize/lift_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

Result<CheckedCatalogue> Check(ScriptedRun& run) {
  ScriptedVerifier verifier(run.script, run.task, run.device);
  Evaluation ignored;
  const auto root = *verifier.Prepare(run.task.source, ignored);
  return MakeCheckedCatalogue(
      run.task, std::get<PreparedCandidate>(root), verifier, run.device,
      [&](const std::vector<std::string>& out) -> Result<std::unique_ptr<rewrite::Catalogue>> {
        return std::unique_ptr<rewrite::Catalogue>(
            std::make_unique<ScriptedCatalogue>(run.script, out));
      });
}

TEST(LiftCheck, PassesWhatComputesTheSame) {
  ScriptedRun run(Script{});
  const Result<CheckedCatalogue> checked = Check(run);
  ASSERT_TRUE(checked) << checked.error().message();
  ASSERT_EQ(checked->rows.size(), 1U);
  EXPECT_TRUE(checked->rows[0].lifted);
  EXPECT_EQ(checked->rows[0].detail, "a map");
}

TEST(LiftCheck, ExcludesAKernelThatComputesAnotherBit) {
  Script script;
  script.mismatch_lifts = {"k"};
  ScriptedRun run(script);
  const Result<CheckedCatalogue> checked = Check(run);
  ASSERT_TRUE(checked);
  ASSERT_EQ(checked->rows.size(), 1U);
  EXPECT_FALSE(checked->rows[0].lifted);
  EXPECT_THAT(checked->rows[0].detail, HasSubstr("lift check failed"));
  EXPECT_THAT(checked->rows[0].detail, HasSubstr("y differs at element 0"));
  EXPECT_TRUE(std::holds_alternative<rewrite::ApplyRefusal>(checked->catalogue->Identity()));
}

TEST(LiftCheck, FindsTheWrongOneOfSeveralKernels) {
  Script script;
  script.kernels = {"first", "second", "third"};
  script.mismatch_lifts = {"second"};
  ScriptedRun run(script);
  const Result<CheckedCatalogue> checked = Check(run);
  ASSERT_TRUE(checked);
  ASSERT_EQ(checked->rows.size(), 3U);
  EXPECT_TRUE(checked->rows[0].lifted);
  EXPECT_FALSE(checked->rows[1].lifted);
  EXPECT_TRUE(checked->rows[2].lifted);
  EXPECT_THAT(checked->rows[1].detail, HasSubstr("lift check failed"));
}

TEST(LiftCheck, AFaultOfThePrintedKernelExcludesIt) {
  ScriptedRun run(Script{});
  const auto working = run.device.on_run;
  run.device.on_run = [&](const RunRequest& request) {
    Result<RunOutcome> outcome = working(request);
    if (request.artifact->ptx.starts_with("identity")) {
      outcome->status = RunStatus::kFault;
      outcome->reason = "out of bounds";
    }
    return outcome;
  };
  const Result<CheckedCatalogue> checked = Check(run);
  ASSERT_TRUE(checked);
  EXPECT_THAT(checked->rows[0].detail, HasSubstr("out of bounds"));
}

TEST(LiftCheck, OfRegroupedFloatsAsksForL1InsteadOfBits) {
  Script script;
  script.regroups_floats = true;
  script.mismatch_lifts = {"k"};
  ScriptedRun within_tolerance(script);
  Result<CheckedCatalogue> checked = Check(within_tolerance);
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_TRUE(checked->rows[0].lifted) << checked->rows[0].detail;

  script.rejected = {"identity of k"};
  ScriptedRun wrong(script);
  checked = Check(wrong);
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_FALSE(checked->rows[0].lifted);
  EXPECT_THAT(checked->rows[0].detail, HasSubstr("lift check failed: L1: y[0] is 1, expected 2"));
}

TEST(LiftCheck, RunsNothingWhenNothingWasLifted) {
  Script script;
  script.kernels = {};
  ScriptedRun run(script);
  const Result<CheckedCatalogue> checked = Check(run);
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->rows.empty());
  EXPECT_TRUE(run.device.calls.empty());
}

}  // namespace
}  // namespace optiml
