#include "device/checked_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/fake_device.h"

namespace optiml {
namespace {

using testing::HasSubstr;

class CheckedDeviceTest : public testing::Test {
 protected:
  CheckedDeviceTest() {
    auto gpu = std::make_unique<FakeDevice>();
    auto emulator = std::make_unique<FakeDevice>();
    gpu->info.name = "gpu";
    gpu->info.capabilities = {};
    gpu->info.capabilities.measures_time = true;
    gpu->on_time = [](const RunRequest&) -> Result<TimeOutcome> {
      TimeOutcome outcome;
      outcome.timing.kind = TimingKind::kMeasured;
      outcome.timing.median_s = 3e-6;
      return outcome;
    };
    emulator->info.name = "emulator";
    emulator->on_time = [](const RunRequest&) -> Result<TimeOutcome> {
      TimeOutcome outcome;
      outcome.timing.median_s = 9e-6;
      outcome.profile.metrics["count"] = {5, "inst"};
      return outcome;
    };
    gpu_ = gpu.get();
    emulator_ = emulator.get();
    device_ = std::make_unique<CheckedDevice>(std::move(gpu), std::move(emulator));
    request_.artifact = &artifact_;
    request_.plan = &plan_;
  }

  Artifact artifact_;
  LaunchPlan plan_;
  RunRequest request_;
  FakeDevice* gpu_ = nullptr;
  FakeDevice* emulator_ = nullptr;
  std::unique_ptr<CheckedDevice> device_;
};

TEST_F(CheckedDeviceTest, IsTheGpuThatTheEmulatorChecks) {
  EXPECT_EQ(device_->Info().name, "gpu");
  EXPECT_TRUE(device_->Info().capabilities.measures_time);
  EXPECT_TRUE(device_->Info().capabilities.checks_memory);
}

TEST_F(CheckedDeviceTest, ChecksRunOnTheEmulatorTheRestOnTheGpu) {
  request_.checks = CheckLevel::kFull;
  ASSERT_TRUE(device_->Run(request_));
  EXPECT_EQ(emulator_->calls.size(), 1U);
  EXPECT_TRUE(gpu_->calls.empty());
  request_.checks = CheckLevel::kBounds;
  ASSERT_TRUE(device_->Run(request_));
  EXPECT_EQ(emulator_->calls.size(), 1U);
  EXPECT_EQ(gpu_->calls.size(), 1U);
}

TEST_F(CheckedDeviceTest, WhatMustRepeatRunsOnTheEmulator) {
  request_.repeatable = true;
  ASSERT_TRUE(device_->Run(request_));
  EXPECT_EQ(emulator_->calls.size(), 1U);
  EXPECT_TRUE(gpu_->calls.empty());
}

TEST_F(CheckedDeviceTest, ValuesInDoubleAreTheEmulators) {
  request_.buffers.resize(1);
  request_.buffers[0].shadow = DType::kF32;
  ASSERT_TRUE(device_->Run(request_));
  EXPECT_EQ(emulator_->calls.size(), 1U);
}

TEST_F(CheckedDeviceTest, WhatTheEmulatorDoesNotKnowRunsUncheckedWithANote) {
  RunOutcome unknown;
  unknown.status = RunStatus::kUnsupported;
  unknown.reason = "unknown instruction";
  emulator_->run_outcomes.push_back(unknown);
  request_.checks = CheckLevel::kFull;
  const Result<RunOutcome> outcome = device_->Run(request_);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, RunStatus::kCompleted);
  ASSERT_EQ(outcome->notes.size(), 1U);
  EXPECT_THAT(outcome->notes[0], HasSubstr("not checked by emulator: unknown instruction"));
}

TEST_F(CheckedDeviceTest, TimesAreTheGpusCountersTheEmulators) {
  const Result<TimeOutcome> outcome = device_->Time(request_);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->timing.kind, TimingKind::kMeasured);
  EXPECT_EQ(outcome->timing.median_s, 3e-6);
  EXPECT_TRUE(outcome->profile.metrics.empty());
  const Result<Profile> profile = device_->Counters(request_);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Get("count"), 5);
}

class CountingGpu : public FakeDevice {
 public:
  std::deque<Result<Profile>> profiles;
  int asked = 0;
  Result<Profile> Counters(const RunRequest&) override {
    ++asked;
    Result<Profile> next = profiles.front();
    profiles.pop_front();
    return next;
  }
};

class CountingDeviceTest : public CheckedDeviceTest {
 protected:
  CountingDeviceTest() {
    auto gpu = std::make_unique<CountingGpu>();
    gpu->info.capabilities = {};
    gpu->info.capabilities.counts = true;
    auto emulator = std::make_unique<FakeDevice>();
    emulator->on_time = [](const RunRequest&) -> Result<TimeOutcome> {
      TimeOutcome outcome;
      outcome.profile.metrics["count"] = {5, "inst"};
      return outcome;
    };
    counting_ = gpu.get();
    device_ = std::make_unique<CheckedDevice>(std::move(gpu), std::move(emulator));
    device_->OnNoCounters([this](const std::string& why) { told_.push_back(why); });
  }

  CountingGpu* counting_ = nullptr;
  std::vector<std::string> told_;
};

TEST_F(CountingDeviceTest, CountersAreTheGpusWhereItCounts) {
  Profile of_gpu;
  of_gpu.source = ProfileSource::kCupti;
  of_gpu.metrics["count"] = {7, "inst"};
  counting_->profiles = {of_gpu, Profile()};
  const Result<Profile> profile = device_->Counters(request_);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->source, ProfileSource::kCupti);
  EXPECT_EQ(profile->Get("count"), 7);
  // One that cannot be counted has no counters: the emulator's would be of another kind.
  EXPECT_TRUE(device_->Counters(request_)->metrics.empty());
  EXPECT_EQ(device_->WhyNoCounters(), "");
  EXPECT_TRUE(told_.empty());
}

TEST_F(CountingDeviceTest, WithoutPermissionTheEmulatorCountsAndTheReasonIsToldOnce) {
  counting_->profiles = {Error(ErrorCode::kUnavailable, "not permitted")};
  for (int i = 0; i < 2; ++i) {
    const Result<Profile> profile = device_->Counters(request_);
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->source, ProfileSource::kEmulator);
    EXPECT_EQ(profile->Get("count"), 5);
  }
  EXPECT_EQ(device_->WhyNoCounters(), "not permitted");
  EXPECT_THAT(told_, testing::ElementsAre("not permitted"));
  EXPECT_EQ(counting_->asked, 1);
}

TEST_F(CountingDeviceTest, OtherErrorsAreErrors) {
  counting_->profiles = {Error(ErrorCode::kInterrupted, "interrupted")};
  const Result<Profile> profile = device_->Counters(request_);
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code(), ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace optiml
