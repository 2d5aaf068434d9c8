// The kernels of peaks.cu do as much as their cases say (counted by the emulator), and what was
// measured comes back from its file.
#include "profile/peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.h"
#include "device/emulator_device.h"
#include "device/fake_device.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PeakSizes Small() {
  PeakSizes sizes;
  sizes.seconds = 1e-7;
  sizes.memory_bytes = uint64_t{1} << 18;
  sizes.launches = 4;
  return sizes;
}

DeviceInfo TwoMultiprocessors() {
  DeviceInfo info;
  info.architecture = "sm_90";
  info.multiprocessors = 2;
  info.l2_bytes = 1 << 20;
  info.dram_bytes_per_s = 4.8e12;
  info.fp32_flops_per_s = 66e12 / 66;
  return info;
}

// All that the emulator needs of a build.
class PeakKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::unique_ptr<Builder> builder = MakeNvrtcBuilder({});
    if (const auto toolchain = builder->Toolchain(); !toolchain) {
      GTEST_SKIP() << toolchain.error().message();
    }
    BuildRequest request;
    request.device_text = std::string(PeakKernels().front().text);
    request.file_name = "peaks.cu";
    request.name_expressions = {"peak_read",   "peak_copy",   "peak_fma",
                                "peak_tensor", "peak_shared", "peak_nothing"};
    const auto built = builder->Build(request);
    ASSERT_TRUE(built) << built.error().message();
    const auto* failure = std::get_if<BuildFailure>(&*built);
    ASSERT_EQ(failure, nullptr) << failure->log;
    artifact_ = std::get<Artifact>(*built);
    device_ = *MakeEmulatorDevice({});
  }

  RunRequest RequestFor(const LaunchPlan& plan) const {
    RunRequest request;
    request.artifact = &artifact_;
    request.plan = &plan;
    request.buffers.resize(1);
    return request;
  }
  Profile Counted(const LaunchPlan& plan) {
    const Result<Profile> profile = device_->Counters(RequestFor(plan));
    EXPECT_TRUE(profile) << profile.error().message();
    return *profile;
  }

  Artifact artifact_;
  std::unique_ptr<Device> device_;
};

TEST_F(PeakKernelsTest, StayWithinTheirMemory) {
  for (const PeakCase& peak : PeakCases(TwoMultiprocessors(), Small())) {
    RunRequest request = RequestFor(peak.plan);
    request.checks = CheckLevel::kBounds;
    const Result<RunOutcome> outcome = device_->Run(request);
    ASSERT_TRUE(outcome) << peak.name << ": " << outcome.error().message();
    EXPECT_EQ(outcome->status, RunStatus::kCompleted) << peak.name << ": " << outcome->reason;
    EXPECT_THAT(outcome->findings, IsEmpty()) << peak.name << ": " << outcome->reason;
  }
}

TEST_F(PeakKernelsTest, DoTheWorkThatTheyAreCreditedWith) {
  std::vector<std::string> seen;
  for (const PeakCase& peak : PeakCases(TwoMultiprocessors(), Small())) {
    const Profile profile = Counted(peak.plan);
    seen.push_back(peak.name);
    if (peak.into == &MeasuredPeaks::fp32_flops_per_s) {
      EXPECT_EQ(2 * *profile.Get(metric::kFfmaInstructions), peak.work);
    } else if (peak.into == &MeasuredPeaks::dram_read_bytes_per_s ||
               peak.into == &MeasuredPeaks::l2_bytes_per_s) {
      EXPECT_EQ(32 * *profile.Get(metric::kGlobalLoadSectors), peak.work) << peak.name;
    } else if (peak.into == &MeasuredPeaks::dram_copy_bytes_per_s) {
      // What is credited leaves out what L2 may hold.
      const double moved = 32 * (*profile.Get(metric::kGlobalLoadSectors) +
                                 *profile.Get(metric::kGlobalStoreSectors));
      EXPECT_LE(peak.work, moved);
      EXPECT_GE(peak.work, moved - static_cast<double>(TwoMultiprocessors().l2_bytes));
    } else if (peak.into == &MeasuredPeaks::shared_bytes_per_s) {
      // 128 bytes a wavefront: no conflicts, and none left out.
      EXPECT_EQ(128 * *profile.Get(metric::kSharedLoadWavefronts), peak.work);
    }
  }
  EXPECT_THAT(seen, testing::Contains("f16 tensor"));
}

TEST_F(PeakKernelsTest, TensorProductsAreNotLeftOut) {
  const LaunchPlan* plan = nullptr;
  const std::vector<PeakCase> cases = PeakCases(TwoMultiprocessors(), Small());
  for (const PeakCase& peak : cases) {
    plan = peak.into == &MeasuredPeaks::tensor_flops_per_s ? &peak.plan : plan;
  }
  ASSERT_NE(plan, nullptr);
  size_t products = 0;
  const std::string& ptx = artifact_.ptx;
  for (size_t at = ptx.find("mma.sync"); at != std::string::npos;
       at = ptx.find("mma.sync", at + 1)) {
    ++products;
  }
  EXPECT_EQ(products % 16, 0U);
  EXPECT_GE(products, 16U);
}

TEST(PeakCases, OlderGpusHaveNoTensorCase) {
  DeviceInfo old = TwoMultiprocessors();
  old.architecture = "sm_75";
  for (const PeakCase& peak : PeakCases(old, Small())) {
    EXPECT_NE(peak.name, "f16 tensor");
  }
}

// Builds whatever it is asked for.
class AnyBuilder : public Builder {
 public:
  Result<BuildOutcome> Build(const BuildRequest&) override { return BuildOutcome(Artifact{}); }
  Result<ToolchainInfo> Toolchain() override { return ToolchainInfo{}; }
};

TimeOutcome Took(double seconds) {
  TimeOutcome outcome;
  outcome.timing.median_s = seconds;
  return outcome;
}

double LaunchesIn(const RunRequest& request) {
  return static_cast<double>(request.plan->steps.size());
}

TEST(MeasurePeaks, TakesTheBestOfEachResource) {
  AnyBuilder builder;
  FakeDevice device;
  device.info = TwoMultiprocessors();
  int reads = 0;
  device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    const std::string kernel = request.plan->Kernels().front();
    if (kernel == "peak_nothing") {
      return Took(2e-6 + 1e-6 * LaunchesIn(request));
    }
    return Took(kernel == "peak_read" && ++reads == 1 ? 2e-6 : 1e-6);
  };
  PeakSizes sizes = Small();
  sizes.memory_bytes = uint64_t{1} << 20;
  const auto measured = MeasurePeaks(builder, device, sizes);
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_THAT(measured->notes, IsEmpty());
  const MeasuredPeaks& peaks = measured->peaks;
  EXPECT_NEAR(peaks.launch_s, 1e-6, 1e-12);
  // 2^20 bytes in a microsecond, not in two.
  EXPECT_NEAR(peaks.dram_read_bytes_per_s, (1 << 20) / 1e-6, 1);
  for (const double rate :
       {peaks.dram_copy_bytes_per_s, peaks.l2_bytes_per_s, peaks.shared_bytes_per_s,
        peaks.fp32_flops_per_s, peaks.tensor_flops_per_s}) {
    EXPECT_GT(rate, 0);
  }
}

TEST(MeasurePeaks, WhatCannotBeMeasuredIsANoteAndZero) {
  AnyBuilder builder;
  FakeDevice device;
  device.info = TwoMultiprocessors();
  device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    TimeOutcome outcome = Took(1e-6);
    if (request.plan->Kernels().front() == "peak_tensor") {
      outcome.status = RunStatus::kFault;
      outcome.reason = "illegal instruction";
    }
    ClockReading reading;
    reading.throttling = {{"power cap"}};
    outcome.conditions = Conditions{reading, reading};
    return outcome;
  };
  const auto measured = MeasurePeaks(builder, device, Small());
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(measured->peaks.tensor_flops_per_s, 0);
  ASSERT_THAT(measured->notes, SizeIs(2));  // throttling once
  EXPECT_THAT(measured->notes[0], HasSubstr("power cap"));
  EXPECT_THAT(measured->notes[1], HasSubstr("f16 tensor: fault: illegal instruction"));
}

TEST(MeasurePeaks, LessMemoryIsUsedWhereThereIsNotAsMuch) {
  AnyBuilder builder;
  FakeDevice device;
  device.info = TwoMultiprocessors();
  uint64_t most = 0;
  device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    uint64_t bytes = 0;
    for (const PlanBuffer& buffer : request.plan->buffers) {
      bytes += buffer.size_bytes;
    }
    if (bytes > uint64_t{600} << 20) {
      return Error(ErrorCode::kUnavailable, "MB of the GPU's memory are needed");
    }
    most = std::max(most, bytes);
    return Took(1e-6);
  };
  const auto measured = MeasurePeaks(builder, device);
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_GT(most, uint64_t{200} << 20);
  device.on_time = [](const RunRequest&) -> Result<TimeOutcome> {
    return Error(ErrorCode::kUnavailable, "the GPU is gone");
  };
  EXPECT_FALSE(MeasurePeaks(builder, device));
}

class PeakFiles : public testing::Test {
 protected:
  PeakFiles() : folder_(*TemporaryDirectory::Create("optiml-peaks")) {
    peaks_.date = "2026-11-30";
    peaks_.driver = "580.65.06";
    peaks_.dram_read_bytes_per_s = 4.31e12;
    peaks_.launch_s = 1.2e-6;
  }
  TemporaryDirectory folder_;
  MeasuredPeaks peaks_;
  PeakKey key_{"NVIDIA H200", "0123", 13000};
};

TEST_F(PeakFiles, ComeBackForTheSameGpuAndDriverAlone) {
  ASSERT_TRUE(SavePeaks(folder_.path() / "new", key_, peaks_));
  const auto loaded = LoadPeaks(folder_.path() / "new", key_);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->date, "2026-11-30");
  EXPECT_EQ(loaded->driver, "580.65.06");
  EXPECT_EQ(loaded->dram_read_bytes_per_s, 4.31e12);
  EXPECT_EQ(loaded->launch_s, 1.2e-6);
  for (const PeakKey& other :
       {PeakKey{"NVIDIA H100", "0123", 13000}, PeakKey{"NVIDIA H200", "4567", 13000},
        PeakKey{"NVIDIA H200", "0123", 13010}}) {
    EXPECT_FALSE(LoadPeaks(folder_.path() / "new", other));
  }
  EXPECT_FALSE(LoadPeaks("", key_));
}

TEST_F(PeakFiles, ADamagedOneIsNone) {
  ASSERT_TRUE(SavePeaks(folder_.path(), key_, peaks_));
  const fs::path file = fs::directory_iterator(folder_.path())->path();
  const std::string whole = *ReadFile(file);
  for (const std::string& text :
       {std::string("{"), std::string("[]"), whole.substr(0, whole.size() / 2),
        std::string(whole).replace(whole.find("4310000000000"), 13, "-1          ")}) {
    ASSERT_TRUE(WriteFileAtomically(file, text));
    EXPECT_FALSE(LoadPeaks(folder_.path(), key_)) << text;
  }
}

}  // namespace
}  // namespace optiml
