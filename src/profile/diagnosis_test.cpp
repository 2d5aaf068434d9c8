#include "profile/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/hardware_metrics.h"

namespace optiml {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DiagnoseTest : public ::testing::Test {
 protected:
  DiagnoseTest() {
    device_.dram_bytes_per_s = 4e12;
    device_.fp32_flops_per_s = 60e12;
    timing_.median_s = 1e-3;
    timing_.kind = TimingKind::kMeasured;
  }
  void Put(const char* id, double value) { profile_.metrics[id] = {value, "ratio"}; }
  Diagnosis Result() const { return Diagnose(profile_, timing_, device_, resources_); }

  Profile profile_;
  Timing timing_;
  DeviceInfo device_;
  std::vector<KernelResources> resources_;
};

TEST_F(DiagnoseTest, KnowsNothingWithoutCounters) {
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kUnknown);
  EXPECT_THAT(diagnosis.evidence, IsEmpty());
  EXPECT_EQ(diagnosis.confidence_ratio, 0);
}

TEST_F(DiagnoseTest, ComputesTheMemoryFractionFromBytesWhenThereIsNoUtilisation) {
  Put(metric::kDramReadBytes, 2.4e9);
  Put(metric::kDramWriteBytes, 1.0e9);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kMemory);
  EXPECT_NEAR(diagnosis.speed_of_light.at("dram"), 0.85, 1e-9);
  EXPECT_THAT(diagnosis.cause, HasSubstr("device memory"));
  EXPECT_GT(diagnosis.confidence_ratio, 0.9);
}

TEST_F(DiagnoseTest, DeviceMemoryIsNearWhatStreamingKernelsReach) {
  Put(metric::kDramUtilisation, 0.55);  // 0.63 of 0.87
  Put(metric::kL2Utilisation, 0.55);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kMemory);
  EXPECT_THAT(diagnosis.evidence,
              Contains(HasSubstr("device memory is at 0.63 of what streaming kernels reach")));
  EXPECT_DOUBLE_EQ(diagnosis.speed_of_light.at("dram"), 0.55);
  Put(metric::kDramUtilisation, 0.5);
  EXPECT_EQ(Result().bound, Bound::kLatency);
}

TEST_F(DiagnoseTest, FractionsAreOfMeasuredPeaksWhereTheyAreThere) {
  device_.peaks.emplace().dram_read_bytes_per_s = 3.2e12;
  device_.peaks->fp32_flops_per_s = 50e12;
  Put(metric::kDramReadBytes, 2.4e9);
  Put(metric::kFfmaInstructions, 5e9);
  Diagnosis diagnosis = Result();
  EXPECT_NEAR(diagnosis.speed_of_light.at("dram"), 0.75, 1e-9);
  EXPECT_NEAR(diagnosis.speed_of_light.at("fp32"), 0.2, 1e-9);
  EXPECT_THAT(diagnosis.evidence,
              Contains(HasSubstr("device memory is at 0.75 of its measured peak")));
  // A counter's share is of the pin rate.
  Put(metric::kDramUtilisation, 0.6);
  profile_.source = ProfileSource::kNcu;
  EXPECT_NEAR(Result().speed_of_light.at("dram"), 0.75, 1e-9);
}

// The emulator's share of the time that it predicts says nothing of a time that was measured.
TEST_F(DiagnoseTest, BytesOverAMeasuredTimeCountMoreThanThePredictedShare) {
  Put(metric::kDramReadBytes, 3.2e9);
  Put(metric::kDramUtilisation, 0.3);
  EXPECT_NEAR(Result().speed_of_light.at("dram"), 0.8, 1e-9);
  profile_.source = ProfileSource::kCupti;
  EXPECT_NEAR(Result().speed_of_light.at("dram"), 0.3, 1e-9);
  profile_.source = ProfileSource::kEmulator;
  timing_.kind = TimingKind::kPredicted;
  EXPECT_NEAR(Result().speed_of_light.at("dram"), 0.3, 1e-9);
}

TEST_F(DiagnoseTest, NamesUncoalescedAccesses) {
  Put(metric::kL2Utilisation, 0.9);
  Put(metric::kDramUtilisation, 0.2);
  Put(metric::kGlobalStoreSectorsPerRequest, 32);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kMemory);
  EXPECT_THAT(diagnosis.cause, HasSubstr("store to addresses far apart"));
  EXPECT_THAT(diagnosis.evidence,
              Contains(HasSubstr(std::string(metric::kGlobalStoreSectorsPerRequest) + " is 32")));
}

TEST_F(DiagnoseTest, NamesBankConflicts) {
  Put(metric::kL1Utilisation, 0.95);
  Put(metric::kSharedLoadWavefronts, 1000);
  Put(metric::kSharedLoadConflicts, 900);
  EXPECT_THAT(Result().cause, HasSubstr("banks"));
}

TEST_F(DiagnoseTest, SeesAComputeBound) {
  Put(metric::kFfmaInstructions, 24e9);  // 48 of 60 GFLOP in 1 ms
  Put(metric::kDramUtilisation, 0.1);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kCompute);
  EXPECT_NEAR(diagnosis.speed_of_light.at("fp32"), 0.8, 1e-9);
  EXPECT_THAT(diagnosis.cause, HasSubstr("fp32"));
}

TEST_F(DiagnoseTest, TheNearestOfSeveralLimitsWinsWithLessConfidence) {
  Put(metric::kDramUtilisation, 0.9);
  const double alone = Result().confidence_ratio;
  Put(metric::kIssueUtilisation, 0.85);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kMemory);
  EXPECT_LT(diagnosis.confidence_ratio, alone);
}

TEST_F(DiagnoseTest, SeesSerialisedAtomics) {
  Put(metric::kDramUtilisation, 0.1);
  Put(metric::kAtomicShare, 0.98);
  Put(metric::kGlobalAtomicLanes, 1e6);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kLatency);
  EXPECT_THAT(diagnosis.cause, HasSubstr("atomics"));
  EXPECT_THAT(diagnosis.evidence, Contains(HasSubstr("1e+06")));
}

TEST_F(DiagnoseTest, SeesLaunchOverhead) {
  Put(metric::kDramUtilisation, 0.7);
  Put(metric::kLaunchShare, 0.8);
  EXPECT_THAT(Result().cause, HasSubstr("starting kernels"));
}

TEST_F(DiagnoseTest, SeesAGridThatDoesNotFillTheDevice) {
  Put(metric::kDramUtilisation, 0.1);
  Put(metric::kWaves, 0.03);
  Put(metric::kTheoreticalOccupancy, 1);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kOccupancy);
  EXPECT_THAT(diagnosis.cause, HasSubstr("too few blocks"));
}

TEST_F(DiagnoseTest, SeesEmptyWarpSlots) {
  Put(metric::kDramUtilisation, 0.3);
  Put(metric::kWaves, 20);
  Put(metric::kTheoreticalOccupancy, 0.25);
  Put(metric::kRegisters, 200);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kOccupancy);
  EXPECT_THAT(diagnosis.evidence, Contains(HasSubstr("registers_per_thread is 200")));
}

TEST_F(DiagnoseTest, CallsTheRestLatency) {
  Put(metric::kDramUtilisation, 0.3);
  Put(metric::kWaves, 20);
  Put(metric::kTheoreticalOccupancy, 1);
  Put(metric::kLoadsInFlight, 1);
  const Diagnosis diagnosis = Result();
  EXPECT_EQ(diagnosis.bound, Bound::kLatency);
  EXPECT_THAT(diagnosis.evidence, Contains(HasSubstr("loads_in_flight")));
  Put(metric::kThreadsPerInstruction, 9);
  EXPECT_THAT(Result().cause, HasSubstr("diverge"));
}

// As CUPTI's counters are: parts of what would take many passes, and what warps wait for.
TEST_F(DiagnoseTest, PartsStandForWhatWasNotCounted) {
  Put(metric::kLsuRequestUtilisation, 0.3);
  Put(metric::kLsuDataUtilisation, 0.9);
  Put(metric::kTensorUtilisation, 0.2);
  const Diagnosis parts = Result();
  EXPECT_EQ(parts.bound, Bound::kMemory);
  EXPECT_EQ(parts.speed_of_light.at("load_store"), 0.9);
  EXPECT_EQ(parts.speed_of_light.at("sm"), 0.2);
  Put(metric::kL1Utilisation, 0.4);
  EXPECT_EQ(Result().speed_of_light.at("load_store"), 0.4) << "the whole speaks for itself";
}

TEST_F(DiagnoseTest, NamesWhatMostWarpsWaitFor) {
  Put(metric::kDramUtilisation, 0.2);
  Put(metric::kStallBarrier, 2);
  Put(metric::kStallLongScoreboard, 9);
  const Diagnosis waits = Result();
  EXPECT_EQ(waits.bound, Bound::kLatency);
  EXPECT_THAT(waits.cause, HasSubstr("wait for global or local memory"));
  EXPECT_THAT(waits.evidence, Contains(HasSubstr("stalled_long_scoreboard")));
  Put(metric::kStallBarrier, 10);
  EXPECT_THAT(Result().cause, HasSubstr("at barriers"));
}

TEST_F(DiagnoseTest, ReportsSpills) {
  Put(metric::kIssueUtilisation, 0.9);
  KernelResources kernel;
  kernel.name_expression = "k";
  kernel.spill_store_bytes = 48;
  resources_ = {kernel};
  EXPECT_THAT(Result().evidence, Contains(HasSubstr("k spills registers: 48 bytes")));
}

TEST_F(DiagnoseTest, TrustsPredictionsLess) {
  Put(metric::kDramUtilisation, 0.9);
  const double measured = Result().confidence_ratio;
  timing_.kind = TimingKind::kPredicted;
  EXPECT_LT(Result().confidence_ratio, measured);
  EXPECT_THAT(Result().evidence, Not(IsEmpty()));
}

}  // namespace
}  // namespace optiml
