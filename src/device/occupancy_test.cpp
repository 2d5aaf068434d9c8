#include "device/occupancy.h"

#include <gtest/gtest.h>

#include "device/launch_check.h"

namespace optiml {
namespace {

class OccupancyTest : public ::testing::Test {
 protected:
  OccupancyTest() : device_(*LoadDeviceDescription("h200")) {}
  Occupancy Of(uint32_t threads, int registers, uint64_t shared) const {
    return OccupancyOf({threads, registers, shared}, device_);
  }
  DeviceDescription device_;
};

// Values of CUDA's occupancy calculator for compute capability 9.0.
TEST_F(OccupancyTest, IsLimitedByWarpsBlocksRegistersAndSharedMemory) {
  EXPECT_EQ(Of(256, 32, 0).blocks, 8);
  EXPECT_EQ(Of(256, 32, 0).limiter, "warps");
  EXPECT_DOUBLE_EQ(Of(256, 32, 0).ratio, 1.0);
  EXPECT_EQ(Of(32, 16, 0).blocks, 32);
  EXPECT_EQ(Of(32, 16, 0).limiter, "blocks");
  EXPECT_DOUBLE_EQ(Of(32, 16, 0).ratio, 0.5);
  EXPECT_EQ(Of(256, 64, 0).blocks, 4);
  EXPECT_EQ(Of(256, 64, 0).limiter, "registers");
  EXPECT_EQ(Of(256, 65, 0).blocks, 3);  // 72 registers of a thread, in units of 256 a warp
  EXPECT_EQ(Of(1024, 64, 0).blocks, 1);
  EXPECT_EQ(Of(128, 32, 49152).blocks, 4);
  EXPECT_EQ(Of(128, 32, 49152).limiter, "shared memory");
  EXPECT_EQ(Of(128, 32, 232448).blocks, 1);
}

TEST_F(OccupancyTest, IsZeroForABlockThatDoesNotFit) {
  EXPECT_EQ(Of(1024, 128, 0).blocks, 0);
  EXPECT_EQ(Of(128, 32, 240000).blocks, 0);
}

class LaunchRefusalTest : public OccupancyTest {
 protected:
  LaunchRefusalTest() {
    launch_.kernel = "k";
    launch_.grid = {10, 1, 1};
    launch_.block = {256, 1, 1};
    resources_.registers = 32;
  }
  std::optional<std::string> Refusal(uint64_t static_shared = 0) const {
    return LaunchRefusal(launch_, resources_, function_, static_shared, limits_, device_);
  }
  KernelLaunch launch_;
  KernelResources resources_;
  ptx::Function function_;
  DynamicSharedLimits limits_;
};

TEST_F(LaunchRefusalTest, AcceptsAnOrdinaryLaunch) {
  EXPECT_EQ(Refusal(), std::nullopt);
}

TEST_F(LaunchRefusalTest, RefusesSizesBeyondTheArchitecture) {
  launch_.block = {1025, 1, 1};
  EXPECT_TRUE(Refusal().has_value());
  launch_.block = {1, 1, 65};
  EXPECT_TRUE(Refusal().has_value());
  launch_.block = {0, 1, 1};
  EXPECT_TRUE(Refusal().has_value());
  launch_.block = {32, 1, 1};
  launch_.grid = {1, 65536, 1};
  EXPECT_TRUE(Refusal().has_value());
  launch_.grid = {0x7fffffff, 1, 1};
  EXPECT_EQ(Refusal(), std::nullopt);
}

TEST_F(LaunchRefusalTest, RefusesDynamicSharedMemoryWithoutOptIn) {
  launch_.dynamic_shared_bytes = 49152;
  EXPECT_EQ(Refusal(), std::nullopt);
  EXPECT_TRUE(Refusal(16).has_value());
  launch_.dynamic_shared_bytes = 65536;
  EXPECT_TRUE(Refusal().has_value());
  AttributeStep step{"k", "MaxDynamicSharedMemorySize", 65536, 3};
  EXPECT_EQ(ApplyAttribute(step, 0, device_, limits_), std::nullopt);
  EXPECT_EQ(Refusal(), std::nullopt);
  launch_.dynamic_shared_bytes = 65540;
  EXPECT_TRUE(Refusal().has_value());
}

TEST_F(LaunchRefusalTest, RefusesAnAttributeBeyondTheOptInLimit) {
  AttributeStep step{"k", "MaxDynamicSharedMemorySize", 232448, 3};
  EXPECT_EQ(ApplyAttribute(step, 0, device_, limits_), std::nullopt);
  EXPECT_TRUE(ApplyAttribute(step, 4, device_, limits_).has_value());
  step.value = -1;
  EXPECT_TRUE(ApplyAttribute(step, 0, device_, limits_).has_value());
  step.attribute = "PreferredSharedMemoryCarveout";
  EXPECT_EQ(ApplyAttribute(step, 0, device_, limits_), std::nullopt);
}

TEST_F(LaunchRefusalTest, RefusesMoreRegistersThanThereAre) {
  launch_.block = {1024, 1, 1};
  resources_.registers = 80;
  EXPECT_TRUE(Refusal().has_value());
}

TEST_F(LaunchRefusalTest, KeepsLaunchBounds) {
  function_.maximum_threads[0] = 128;
  EXPECT_TRUE(Refusal().has_value());
  launch_.block = {16, 8, 1};
  EXPECT_EQ(Refusal(), std::nullopt);
}

TEST_F(LaunchRefusalTest, RefusesACooperativeGridThatIsNotResident) {
  launch_.cooperative = true;
  launch_.grid = {132 * 8, 1, 1};
  EXPECT_EQ(Refusal(), std::nullopt);
  launch_.grid = {132 * 8 + 1, 1, 1};
  EXPECT_TRUE(Refusal().has_value());
}

}  // namespace
}  // namespace optiml
