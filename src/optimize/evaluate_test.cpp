#include "optimize/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "device/emulator_device.h"
#include "optimize/engines.h"
#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EvaluatorTest : public ::testing::Test {
 protected:
  void Start(Script script) {
    run_ = std::make_unique<ScriptedRun>(std::move(script));
    verifier_ = std::make_unique<ScriptedVerifier>(run_->script, run_->task, run_->device);
    catalogue_ = std::make_unique<ScriptedCatalogue>(run_->script, std::vector<std::string>());
    CandidateEvaluator::Parts parts;
    parts.task = &run_->task;
    parts.verifier = verifier_.get();
    parts.device = &run_->device;
    parts.clock = &run_->clock;
    parts.stop = &run_->stop;
    evaluator_ = std::make_unique<CandidateEvaluator>(parts);
  }
  CandidateOutcome Of(const std::vector<std::string>& edits, int64_t variant) {
    std::vector<Edit> chain;
    for (const std::string& edit : edits) {
      chain.push_back(ScriptedEdit(edit));
    }
    Result<CandidateOutcome> outcome = evaluator_->Evaluate(*catalogue_, chain, VariantId(variant));
    EXPECT_TRUE(outcome) << outcome.error().message();
    return *std::move(outcome);
  }

  std::unique_ptr<ScriptedRun> run_;
  std::unique_ptr<ScriptedVerifier> verifier_;
  std::unique_ptr<ScriptedCatalogue> catalogue_;
  std::unique_ptr<CandidateEvaluator> evaluator_;
};

TEST_F(EvaluatorTest, FillsInWhatEachStageFoundOut) {
  Start(Script{});
  const CandidateOutcome outcome = Of({"a"}, 7);
  const Evaluation& evaluation = outcome.evaluation;
  EXPECT_TRUE(evaluation.accepted());
  EXPECT_EQ(outcome.source, "a");
  EXPECT_EQ(evaluation.variant, VariantId(7));
  EXPECT_EQ(evaluation.source_hash, KernelSource("a", "launch", "elsewhere.cu").hash());
  EXPECT_TRUE(evaluation.ptx_hash);
  EXPECT_TRUE(evaluation.plan_hash);
  EXPECT_EQ(evaluation.launcher, "interpreted");
  ASSERT_EQ(evaluation.timings.size(), 2U);
  EXPECT_EQ(evaluation.timings[0].shape, "n=8");
  EXPECT_EQ(evaluation.timings[1].shape, "n=16");
  EXPECT_EQ(evaluation.profile->Get("work"), 1e3);
  EXPECT_FALSE(outcome.duplicate_of);
  EXPECT_FALSE(evaluation.from_store);
}

TEST_F(EvaluatorTest, WhatCannotBeTracedIsNotVerified) {
  Start(Script{});
  verifier_->trace_rejection = Rejection{Stage::kPlan, "the launcher never ends"};
  const CandidateOutcome outcome = Of({"a"}, 1);
  ASSERT_NE(outcome.evaluation.rejection(), nullptr);
  EXPECT_EQ(outcome.evaluation.rejection()->reason, "the launcher never ends");
  EXPECT_EQ(verifier_->traced, std::vector<std::string>{"a"});
  EXPECT_TRUE(verifier_->verified.empty());
  EXPECT_TRUE(run_->device.calls.empty());
}

TEST_F(EvaluatorTest, TimesWithTheTasksInputsAndPoisonedOutputs) {
  Start(Script{});
  Of({"a"}, 1);
  std::vector<const FakeDevice::Call*> times;
  for (const FakeDevice::Call& call : run_->device.calls) {
    if (call.is_time) {
      times.push_back(&call);
    }
  }
  ASSERT_EQ(times.size(), 2U);
  ASSERT_EQ(times[0]->buffers.size(), 2U);
  EXPECT_EQ(times[0]->buffers[0].bytes.size(), 16U);
  EXPECT_TRUE(times[0]->buffers[0].read_only);
  EXPECT_TRUE(times[0]->buffers[1].bytes.empty());
  EXPECT_FALSE(times[0]->buffers[1].read_only);
  const TaskInputs inputs = *MakeInputs(run_->task, run_->task.timed[0].sizes, 1);
  EXPECT_EQ(times[0]->buffers[0].bytes, inputs.buffers[0].bytes);
}

TEST_F(EvaluatorTest, ARefusedEditIsARejectionAtApply) {
  Script script;
  script.illegal = {"a"};
  Start(script);
  const CandidateOutcome outcome = Of({"a"}, 1);
  ASSERT_FALSE(outcome.evaluation.accepted());
  EXPECT_EQ(outcome.evaluation.rejection()->stage, Stage::kApply);
  EXPECT_EQ(outcome.evaluation.rejection()->reason, "not legal here");
  EXPECT_TRUE(verifier_->prepared.empty());
  // There is no source that could answer for another refusal.
  evaluator_->Remember(outcome.evaluation, 1);
  EXPECT_FALSE(Of({"a"}, 2).duplicate_of);
}

TEST_F(EvaluatorTest, ARejectedCandidateIsNotTimed) {
  Script script;
  script.rejected = {"a"};
  Start(script);
  const CandidateOutcome outcome = Of({"a"}, 1);
  EXPECT_EQ(outcome.evaluation.rejection()->stage, Stage::kL1);
  EXPECT_TRUE(outcome.evaluation.timings.empty());
}

TEST_F(EvaluatorTest, AnswersEqualSourcesWithoutPreparingThem) {
  Start(Script{});
  evaluator_->Remember(Of({"a"}, 1).evaluation, 1);
  const CandidateOutcome again = Of({"a"}, 5);
  EXPECT_EQ(again.duplicate_of, 1);
  EXPECT_TRUE(again.evaluation.from_store);
  EXPECT_EQ(again.evaluation.variant, VariantId(1));
  EXPECT_EQ(again.evaluation.timings.size(), 2U);
  EXPECT_THAT(verifier_->prepared, ElementsAre("a"));
}

TEST_F(EvaluatorTest, AnswersEqualPtxUnderEqualPlansWithoutVerifying) {
  Script script;
  script.same_ptx = {{"b", "a"}, {"c", "a"}};
  script.grid = {{"c", 9}};
  Start(script);
  evaluator_->Remember(Of({"a"}, 1).evaluation, 1);
  const CandidateOutcome twin = Of({"b"}, 2);
  EXPECT_EQ(twin.duplicate_of, 1);
  EXPECT_EQ(twin.source, "b");
  EXPECT_EQ(twin.evaluation.source_hash, KernelSource("b", "launch", "").hash());
  EXPECT_FALSE(Of({"c"}, 3).duplicate_of);  // the same PTX, launched otherwise
  EXPECT_THAT(verifier_->verified, ElementsAre("a", "c"));
}

TEST_F(EvaluatorTest, AnswersFromOutsideTheTreeAreNoDuplicates) {
  Start(Script{});
  evaluator_->Remember(Of({"a"}, -1).evaluation, std::nullopt);
  const CandidateOutcome again = Of({"a"}, 5);
  EXPECT_TRUE(again.evaluation.from_store);
  EXPECT_FALSE(again.duplicate_of);
}

TEST_F(EvaluatorTest, StopsWithinACandidate) {
  Start(Script{});
  run_->stop = true;
  const std::vector<Edit> chain = {ScriptedEdit("a")};
  const auto outcome = evaluator_->Evaluate(*catalogue_, chain, VariantId(1));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInterrupted);
}

TEST_F(EvaluatorTest, ADeviceWithoutATimeIsBroken) {
  Script script;
  script.time = [](const std::string&) { return 0.0; };
  Start(script);
  const std::vector<Edit> chain = {ScriptedEdit("a")};
  const auto outcome = evaluator_->Evaluate(*catalogue_, chain, VariantId(1));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message(), HasSubstr("gave the time 0 s for n=8"));
}

TEST(Stations, EachIsHeldByOne) {
  std::vector<Station> two(2);
  Stations stations(std::move(two));
  std::atomic<int> held{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        const Stations::Hold hold = stations.Acquire();
        EXPECT_FALSE(hold->is_free);
        EXPECT_LE(++held, 2);
        --held;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(Limits, OfTheRewritesAreTheDevices) {
  const auto device = MakeEmulatorDevice({.model = "rtx4090"});
  ASSERT_TRUE(device);
  const DeviceDescription description = *LoadDeviceDescription("rtx4090");
  const rewrite::TargetLimits limits = LimitsOf((*device)->Info());
  EXPECT_EQ(limits.multiprocessors, description.multiprocessors);
  EXPECT_EQ(limits.threads_per_multiprocessor, 32 * description.warps_per_multiprocessor);
  EXPECT_EQ(limits.registers_per_multiprocessor, description.registers_per_multiprocessor);
  EXPECT_EQ(limits.shared_bytes_per_multiprocessor, description.shared_bytes_per_multiprocessor);
  EXPECT_NE(limits.threads_per_multiprocessor, rewrite::TargetLimits().threads_per_multiprocessor);
  EXPECT_EQ(LimitsOf(DeviceInfo()).multiprocessors, rewrite::TargetLimits().multiprocessors);
}

}  // namespace
}  // namespace optiml
