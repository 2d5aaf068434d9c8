#include "cli/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file_system.h"
#include "profile/peaks.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

// Its libraries open; whether they compile is up to the test.
class ScriptedBuilder : public Builder {
 public:
  explicit ScriptedBuilder(Result<BuildOutcome> outcome) : outcome_(std::move(outcome)) {}
  Result<BuildOutcome> Build(const BuildRequest&) override { return outcome_; }
  Result<ToolchainInfo> Toolchain() override {
    ToolchainInfo info;
    info.nvrtc_version = "13.0";
    return info;
  }

 private:
  Result<BuildOutcome> outcome_;
};

MachinePlaces NoGpu() {
  MachinePlaces places;
  places.driver_library = "/no/such/libcuda.so.1";
  return places;
}

// A driver and NVML of our own (src/device/cuda/testing).
MachinePlaces FakeGpus() {
  MachinePlaces places;
  places.driver_library = OPTIML_FAKE_DRIVER;
  places.nvml_library = OPTIML_FAKE_NVML;
  return places;
}

MachineFacts Inspected(const MachinePlaces& places) {
  ScriptedBuilder builder(BuildOutcome(Artifact{}));
  return InspectThisMachine(builder, places);
}

TEST(MachineFacts, GpusAreTheDriversAndNvmlFindsThem) {
  const MachineFacts facts = Inspected(FakeGpus());
  EXPECT_TRUE(facts.has_driver);
  EXPECT_EQ(facts.driver_version, 13000);
  EXPECT_EQ(facts.driver_problem, "");
  ASSERT_EQ(facts.gpus.size(), 2U);
  EXPECT_EQ(facts.gpus[0].name, "Fake 9000");
  EXPECT_EQ(facts.gpus[0].architecture, "sm_90");
  EXPECT_EQ(facts.gpus[0].multiprocessors, 4);
  ASSERT_TRUE(facts.gpus[0].nvml) << facts.gpus[0].nvml_problem;
  EXPECT_EQ(facts.gpus[0].nvml->driver_version.value, "580.65.06");
  // NVML does not know the second one's UUID.
  ASSERT_TRUE(facts.gpus[1].nvml) << facts.gpus[1].nvml_problem;
  EXPECT_EQ(facts.gpus[1].nvml->name.value, "Fake 8000");
}

TEST(MachineFacts, WhyNothingIsKnownOfAGpuIsTold) {
  EXPECT_FALSE(Inspected(NoGpu()).has_driver);
  MachinePlaces places = FakeGpus();
  places.nvml_library = "/no/such/libnvidia-ml.so.1";
  MachineFacts facts = Inspected(places);
  ASSERT_EQ(facts.gpus.size(), 2U);
  EXPECT_FALSE(facts.gpus[0].nvml);
  EXPECT_THAT(facts.gpus[0].nvml_problem, HasSubstr("no NVML"));
  for (const auto& [fake, problem] :
       {std::pair("hidden", "CUDA_ERROR_NO_DEVICE"),
        std::pair("mismatch", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), std::pair("no-device", "")}) {
    setenv("FAKE_DRIVER", fake, 1);
    facts = Inspected(FakeGpus());
    EXPECT_TRUE(facts.gpus.empty());
    EXPECT_THAT(facts.driver_problem, HasSubstr(problem));
  }
  unsetenv("FAKE_DRIVER");
}

TEST(MachineFacts, MeasuredPeaksAreThoseOfTheGpu) {
  const auto folder = TemporaryDirectory::Create("optiml-peaks");
  ASSERT_TRUE(folder);
  MachinePlaces places = FakeGpus();
  places.peaks = folder->path();
  EXPECT_FALSE(Inspected(places).gpus[0].peaks);
  MeasuredPeaks peaks;
  peaks.date = "2026-11-30";
  ASSERT_TRUE(SavePeaks(folder->path(),
                        {"Fake 9000", "00010203-0405-0607-0809-0a0b0c0d0e0f", 13000}, peaks));
  const MachineFacts facts = Inspected(places);
  ASSERT_TRUE(facts.gpus[0].peaks);
  EXPECT_EQ(facts.gpus[0].peaks->date, "2026-11-30");
  EXPECT_FALSE(facts.gpus[1].peaks);
}

TEST(MachineFacts, AToolchainThatCompilesIsReported) {
  ScriptedBuilder builder(BuildOutcome(Artifact{}));
  const MachineFacts facts = InspectThisMachine(builder, NoGpu());
  ASSERT_TRUE(facts.toolchain) << facts.toolchain.error().message();
  EXPECT_EQ(facts.toolchain->nvrtc_version, "13.0");
}

TEST(MachineFacts, LibrariesThatOpenButDoNotCompileAreNoToolchain) {
  ScriptedBuilder broken(Result<BuildOutcome>(
      Error(ErrorCode::kInternal, "failed to open libnvrtc-builtins.so.13.0")));
  MachineFacts facts = InspectThisMachine(broken, NoGpu());
  ASSERT_FALSE(facts.toolchain);
  EXPECT_THAT(facts.toolchain.error().message(), HasSubstr("libnvrtc-builtins"));

  BuildFailure failure;
  failure.stage = "assemble";
  failure.first_error = "unknown architecture";
  ScriptedBuilder refusing{BuildOutcome(failure)};
  facts = InspectThisMachine(refusing, NoGpu());
  ASSERT_FALSE(facts.toolchain);
  EXPECT_THAT(facts.toolchain.error().message(),
              HasSubstr("a trial kernel does not assemble: unknown architecture"));
}

}  // namespace
}  // namespace optiml
