#include "optimize/time_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/interruptible_device.h"
#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using testing::HasSubstr;

class TimeShapes : public testing::Test {
 protected:
  TimeShapes() : verifier_(run_.script, run_.task, run_.device) {
    run_.device.info.capabilities.measures_time = true;
    run_.device.info.dram_bytes_per_s = 1e9;
    run_.device.info.l2_bytes = 0;
  }

  PreparedCandidate Prepared(const std::string& text) {
    Evaluation ignored;
    return std::get<PreparedCandidate>(
        *verifier_.Prepare(KernelSource(text, "launch", "kernel.cu"), ignored));
  }

  Evaluation Time(const std::string& text) {
    Evaluation evaluation;
    EXPECT_TRUE(ShapeTimer(run_.task, run_.device, verifier_, 1).Time(Prepared(text), evaluation));
    return evaluation;
  }

  ScriptedRun run_{Script{}};
  ScriptedVerifier verifier_;
};

TEST_F(TimeShapes, EveryShapeIsTimedOnTwoSetsAndChecked) {
  const Evaluation evaluation = Time("root");
  ASSERT_TRUE(evaluation.accepted());
  EXPECT_EQ(evaluation.timings.size(), 2U);
  EXPECT_EQ(verifier_.timed_checks, 2);
  for (const FakeDevice::Call& call : run_.device.calls) {
    EXPECT_EQ(call.passes, 2U);
  }
}

TEST_F(TimeShapes, WrongContentsOfTheTimedBuffersReject) {
  verifier_.timed_rejection = Rejection{Stage::kL2, "in the timed buffers"};
  const Evaluation evaluation = Time("root");
  ASSERT_FALSE(evaluation.accepted());
  EXPECT_EQ(evaluation.rejection()->stage, Stage::kL2);
}

TEST_F(TimeShapes, ATimeBelowThePhysicalFloorIsMeasuredTwiceThenRejected) {
  run_.task.cost.bytes = SizeExpr(int64_t{100'000'000});  // 0.1 s at the pin rate
  const Evaluation evaluation = Time("root");
  ASSERT_FALSE(evaluation.accepted());
  EXPECT_EQ(evaluation.rejection()->stage, Stage::kFloor);
  EXPECT_THAT(evaluation.rejection()->reason, HasSubstr("pin rate"));
  EXPECT_EQ(run_.device.calls.size(), 2U);
}

TEST_F(TimeShapes, WhatIsWrittenMayStayInTheCache) {
  run_.task.cost.bytes = SizeExpr(int64_t{32});  // 4 floats read, 4 written
  run_.device.info.dram_bytes_per_s = 1;
  const SizeBindings sizes = run_.task.checked.front().sizes;
  EXPECT_NEAR(PhysicalFloor(run_.task, sizes, run_.device.info), 32, 1e-9);
  run_.device.info.l2_bytes = 1000;
  EXPECT_NEAR(PhysicalFloor(run_.task, sizes, run_.device.info), 16, 1e-9);
  run_.task.cost.bytes.reset();
  EXPECT_EQ(PhysicalFloor(run_.task, sizes, run_.device.info), 0);
}

TEST_F(TimeShapes, CountersAreOfANewBestAndOfOneInThreeThatAreNear) {
  // A device that counts apart from timing.
  class Counting : public InterruptibleDevice {
   public:
    using InterruptibleDevice::InterruptibleDevice;
    Result<Profile> Counters(const RunRequest& request) override {
      counted.push_back(request.artifact->ptx);
      Profile profile;
      profile.metrics["work"] = {1, "inst"};
      return profile;
    }
    std::vector<std::string> counted;
  };
  run_.script.time = [](const std::string& text) {
    return text == "slow" ? 2e-3 : text == "best" ? 0.9e-3 : 1e-3;
  };
  const auto time = run_.device.on_time;
  run_.device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    OPTIML_ASSIGN(TimeOutcome timed, time(request));
    timed.profile = Profile();
    return timed;
  };
  Counting device(run_.device, nullptr);
  ShapeTimer timer(run_.task, device, verifier_, 1);
  for (const char* text : {"root", "slow", "near 0", "near 1", "near 2", "near 3", "best"}) {
    Evaluation evaluation;
    ASSERT_TRUE(timer.Time(Prepared(text), evaluation));
    const bool is_counted = !device.counted.empty() && device.counted.back() == text;
    EXPECT_EQ(evaluation.profile.has_value(), is_counted) << text;
  }
  EXPECT_THAT(device.counted, testing::ElementsAre("root", "near 0", "near 3", "best"));
}

TEST_F(TimeShapes, GainsAreMeasuredInBothPlaces) {
  run_.script.time = [](const std::string& text) { return text == "fast" ? 0.5 : 1.0; };
  const PreparedCandidate fast = Prepared("fast");
  const PreparedCandidate slow = Prepared("slow");
  std::string why_not;
  const auto measured =
      ShapeTimer(run_.task, run_.device, verifier_, 1).MeasureGain(fast, slow, why_not);
  ASSERT_TRUE(measured && *measured) << why_not;
  ASSERT_EQ((*measured)->first.size(), 2U);
  for (const std::vector<Gain>* gains : {&(*measured)->first, &(*measured)->second}) {
    for (const Gain& gain : *gains) {
      EXPECT_NEAR(gain.ratio, 2, 1e-9);
      EXPECT_LT(gain.low, gain.ratio);
      EXPECT_GT(gain.high, gain.ratio);
    }
  }
}

TEST_F(TimeShapes, ConditionsOfAGainAreThoseOfAllItsMeasurements) {
  const auto time = run_.device.on_time;
  int calls = 0;
  run_.device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    OPTIML_ASSIGN(TimeOutcome timed, time(request));
    if (request.incumbent == nullptr) {
      return timed;
    }
    timed.conditions.emplace().before.temperature_celsius = 40 + calls;
    timed.conditions->after.temperature_celsius = 41 + calls;
    timed.conditions->before.throttling = std::vector<std::string>();
    timed.conditions->after.throttling = std::vector<std::string>();
    if (++calls == 2) {
      timed.conditions->before.throttling = {{"power cap"}};
    }
    return timed;
  };
  std::string why_not;
  const auto measured = ShapeTimer(run_.task, run_.device, verifier_, 1)
                            .MeasureGain(Prepared("a"), Prepared("b"), why_not);
  ASSERT_TRUE(measured && *measured) << why_not;
  const std::optional<Conditions>& conditions = (*measured)->conditions;
  ASSERT_TRUE(conditions);
  EXPECT_EQ(conditions->before.temperature_celsius, 40);
  EXPECT_EQ(conditions->after.temperature_celsius, 40 + calls);
  EXPECT_THAT(ThrottlingOf(*conditions), testing::ElementsAre("power cap"));
}

TEST_F(TimeShapes, TheWorkOfATaskIsItsCost) {
  run_.task.cost.bytes = SizeExpr(int64_t{32});
  const SizeBindings sizes = run_.task.checked.front().sizes;
  EXPECT_EQ(WorkOf(run_.task, sizes).bytes, 32);
  EXPECT_FALSE(WorkOf(run_.task, sizes).is_half);
  for (ArgSpec& arg : run_.task.args) {
    arg.dtype = arg.is_buffer ? DType::kBf16 : arg.dtype;
  }
  EXPECT_TRUE(WorkOf(run_.task, sizes).is_half);
  run_.task.cost.bytes.reset();
  EXPECT_FALSE(WorkOf(run_.task, sizes).bytes);
}

TEST_F(TimeShapes, AGainThatCannotBeMeasuredSaysWhy) {
  run_.device.on_time = [](const RunRequest&) -> Result<TimeOutcome> {
    TimeOutcome outcome;
    outcome.status = RunStatus::kTimedOut;
    outcome.reason = "it did not end within 10 s";
    return outcome;
  };
  std::string why_not;
  const auto measured = ShapeTimer(run_.task, run_.device, verifier_, 1)
                            .MeasureGain(Prepared("a"), Prepared("b"), why_not);
  ASSERT_TRUE(measured);
  EXPECT_FALSE(*measured);
  EXPECT_THAT(why_not, HasSubstr("10 s"));
}

}  // namespace
}  // namespace optiml
