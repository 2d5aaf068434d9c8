// NVML as a library of our own (testing/fake_nvml.cpp): which GPU it is, what is told, and what is
// not.
#include "device/cuda/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/cuda/clock_watch.h"

namespace optiml::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kUuid[] = "00010203-0405-0607-0809-0a0b0c0d0e0f";

class NvmlTest : public testing::Test {
 protected:
  ~NvmlTest() override { unsetenv("FAKE_NVML"); }
  static void Fake(const char* what) { setenv("FAKE_NVML", what, 1); }
  static NvmlGpu First() {
    const Result<Nvml> nvml = Nvml::Open(OPTIML_FAKE_NVML);
    EXPECT_TRUE(nvml) << nvml.error().message();
    Result<NvmlGpu> gpu = nvml->Find({kUuid, "0000:3B:00.0"});
    EXPECT_TRUE(gpu) << gpu.error().message();
    return *gpu;
  }
};

TEST_F(NvmlTest, TellsEverythingOfAGpu) {
  const NvmlFacts facts = First().Facts();
  EXPECT_EQ(facts.name.value, "Fake 9000");
  EXPECT_EQ(facts.driver_version.value, "580.65.06");
  EXPECT_EQ(facts.cuda_version.value, 13000);
  EXPECT_EQ(facts.uuid.value, std::string("GPU-") + kUuid);
  EXPECT_EQ(facts.sm_hz.value, 1980e6);
  EXPECT_EQ(facts.most_sm_hz.value, 1980e6);
  EXPECT_EQ(facts.memory_hz.value, 3201e6);
  EXPECT_EQ(facts.most_memory_hz.value, 3201e6);
  EXPECT_EQ(facts.temperature_celsius.value, 41);
  EXPECT_EQ(facts.power_watts.value, 75.5);
  EXPECT_EQ(facts.power_limit_watts.value, 700);
  EXPECT_THAT(facts.throttling.value, testing::Optional(IsEmpty()));
  EXPECT_EQ(facts.mig_mode.value, false);  // not what will be after a restart
  EXPECT_FALSE(facts.is_mig_slice);
  EXPECT_EQ(facts.ecc.value, true);
  EXPECT_EQ(facts.persistence.value, false);
  EXPECT_EQ(facts.free_bytes.value, 129'000'000'000U);
  EXPECT_EQ(facts.total_bytes.value, 141'000'000'000U);
  ASSERT_TRUE(facts.processes.value);
  ASSERT_EQ(facts.processes.value->size(), 2U);
  EXPECT_EQ((*facts.processes.value)[0].pid, 4000U);
  EXPECT_EQ((*facts.processes.value)[0].bytes, 12'000'000'000U);
  EXPECT_FALSE((*facts.processes.value)[1].bytes);  // it does not tell
}

TEST_F(NvmlTest, ThrottlingIsNamedAndAnIdleGpuIsNone) {
  Fake("throttled");
  EXPECT_THAT(*First().Read().throttling, ElementsAre("power cap", "thermal slowdown by hardware"));
  EXPECT_THAT(ThrottleNames(0x1 | 0x2 | 0x10 | 0x100), IsEmpty());
  EXPECT_THAT(ThrottleNames(0x8 | 0x20 | 0x80),
              ElementsAre("hardware slowdown", "thermal slowdown", "power brake"));
}

TEST_F(NvmlTest, OneThatIsNotKnownByUuidIsFoundByItsBus) {
  const Result<Nvml> nvml = Nvml::Open(OPTIML_FAKE_NVML);
  ASSERT_TRUE(nvml);
  const Result<NvmlGpu> second =
      nvml->Find({"10111213-1415-1617-1819-1a1b1c1d1e1f", "0000:3C:00.0"});
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(second->Facts().name.value, "Fake 8000");
  const Result<NvmlGpu> none = nvml->Find({"77", "0000:99:00.0"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("NVML does not know the GPU: NVML: Not Found"));
  EXPECT_THAT(nvml->Find({}).error().message(), HasSubstr("does not say which GPU"));
}

// Clocks are those of the GPU that it is a slice of.
TEST_F(NvmlTest, ASliceIsCalledThat) {
  Fake("slice");
  const NvmlGpu slice = First();
  const NvmlFacts facts = slice.Facts();
  EXPECT_TRUE(facts.is_mig_slice);
  EXPECT_EQ(facts.mig_mode.value, true);
  EXPECT_EQ(facts.uuid.value, std::string("MIG-") + kUuid);
  EXPECT_EQ(slice.Read().sm_hz, 1980e6);
}

TEST_F(NvmlTest, WhatIsNotToldIsAbsentWithTheReason) {
  Fake("silent");
  const NvmlFacts facts = First().Facts();
  for (const NvmlValue<double>* value :
       {&facts.sm_hz, &facts.most_memory_hz, &facts.temperature_celsius, &facts.power_watts}) {
    EXPECT_FALSE(value->value);
    EXPECT_EQ(value->why_not, "NVML: Not Supported");
  }
  EXPECT_FALSE(facts.throttling.value);
  EXPECT_FALSE(facts.ecc.value);
  EXPECT_FALSE(facts.processes.value);
  EXPECT_EQ(facts.free_bytes.why_not, "NVML: Not Supported");
  EXPECT_FALSE(First().Read().throttling);  // not known, not none
}

TEST_F(NvmlTest, ManyProcessesAreAllTold) {
  Fake("many");
  EXPECT_EQ(First().Facts().processes.value->size(), 100U);
}

TEST_F(NvmlTest, WithoutItTheReasonIsOneLine) {
  EXPECT_THAT(Nvml::Open("/no/such/libnvidia-ml.so.1").error().message(), HasSubstr("no NVML"));
  Fake("refuses");
  const Result<Nvml> refused = Nvml::Open(OPTIML_FAKE_NVML);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "NVML: Insufficient Permissions");
}

TEST_F(NvmlTest, UuidsAreWrittenAsNvmlWritesThem) {
  const unsigned char bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(FormatUuid(bytes), kUuid);
}

TEST_F(NvmlTest, TheWatchReadsTheChosenGpu) {
  ClockWatch watch(OPTIML_FAKE_NVML);
  watch.Choose({kUuid, ""});
  const auto reading = watch.Read(false);
  ASSERT_TRUE(reading) << watch.why_not();
  EXPECT_EQ(reading->sm_hz, 1980e6);
  EXPECT_EQ(watch.DriverVersion(), "580.65.06");
}

TEST_F(NvmlTest, TheWatchSaysWhyThereIsNothing) {
  ClockWatch watch("/no/such/libnvidia-ml.so.1");
  EXPECT_FALSE(watch.Read(true));
  EXPECT_THAT(watch.why_not(), HasSubstr("no NVML"));
  EXPECT_EQ(watch.DriverVersion(), "");
}

// A candidate's measurement must not pay for a slow library, a gain's does.
TEST_F(NvmlTest, SlowReadingsAreLeftOutWhereTheyAreNotNeeded) {
  Fake("slow");
  ClockWatch watch(OPTIML_FAKE_NVML);
  watch.Choose({kUuid, ""});
  EXPECT_TRUE(watch.Read(false));  // until then nobody knows
  EXPECT_GT(watch.last_cost().count(), 1e-3);
  EXPECT_FALSE(watch.Read(false));
  EXPECT_TRUE(watch.Read(true));
}

}  // namespace
}  // namespace optiml::cuda
