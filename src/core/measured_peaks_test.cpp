#include "core/measured_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using testing::HasSubstr;

MeasuredPeaks Peaks() {
  MeasuredPeaks peaks;
  peaks.date = "2026-11-30";
  peaks.dram_read_bytes_per_s = 4e12;
  peaks.dram_copy_bytes_per_s = 3.5e12;
  peaks.fp32_flops_per_s = 60e12;
  peaks.tensor_flops_per_s = 600e12;
  return peaks;
}

TEST(TargetFloor, IsTheGreaterOfBytesAndOperations) {
  const auto bytes = TargetFloorOf({8e9, 1e9, false}, 4.8e12, 66e12, Peaks());
  ASSERT_TRUE(bytes);
  EXPECT_NEAR(bytes->seconds, 2e-3, 1e-12);
  EXPECT_THAT(bytes->basis, HasSubstr("measured peak 4 TB/s on 2026-11-30"));
  const auto operations = TargetFloorOf({8e6, 120e9, false}, 4.8e12, 66e12, Peaks());
  ASSERT_TRUE(operations);
  EXPECT_NEAR(operations->seconds, 2e-3, 1e-12);
  EXPECT_THAT(operations->basis, HasSubstr("measured fp32 peak"));
}

TEST(TargetFloor, WithoutMeasuredPeaksStatedRatesCountAndAreCalledThat) {
  const auto bytes = TargetFloorOf({4.8e9, std::nullopt, false}, 4.8e12, 66e12, std::nullopt);
  ASSERT_TRUE(bytes);
  EXPECT_NEAR(bytes->seconds, 1e-3, 1e-12);
  EXPECT_THAT(bytes->basis, HasSubstr("pin rate 4.8 TB/s"));
  const auto operations = TargetFloorOf({std::nullopt, 66e9, false}, 4.8e12, 66e12, std::nullopt);
  ASSERT_TRUE(operations);
  EXPECT_THAT(operations->basis, HasSubstr("stated fp32 rate"));
  EXPECT_FALSE(TargetFloorOf({}, 4.8e12, 66e12, Peaks()));
}

// The fp32 pipe is no limit of what tensor cores do.
TEST(TargetFloor, HalfPrecisionIsMeasuredByTheTensorRateAlone) {
  const auto measured = TargetFloorOf({8e6, 600e9, true}, 4.8e12, 66e12, Peaks());
  ASSERT_TRUE(measured);
  EXPECT_NEAR(measured->seconds, 1e-3, 1e-12);
  EXPECT_THAT(measured->basis, HasSubstr("f16 tensor"));
  const auto stated = TargetFloorOf({8e6, 600e9, true}, 4.8e12, 66e12, std::nullopt);
  ASSERT_TRUE(stated);
  EXPECT_THAT(stated->basis, HasSubstr("8 MB"));
}

}  // namespace
}  // namespace optiml
