#include "verify/limits.h"

#include <gmock/gmock.h>

namespace optiml {
namespace {

using testing::HasSubstr;

struct Fixture {
  Artifact artifact;
  LaunchPlan plan;
  DeviceInfo device;

  Fixture() {
    KernelResources resources;
    resources.name_expression = "k";
    resources.registers = 64;
    resources.static_shared_bytes = 1000;
    artifact.kernels = {resources};
    device.shared_bytes_per_block_limit = 100'000;
    KernelLaunch launch;
    launch.kernel = "k";
    launch.line = 12;
    launch.grid = {10, 1, 1};
    launch.block = {256, 1, 1};
    plan.steps.emplace_back(launch);
  }
  KernelLaunch& launch() { return std::get<KernelLaunch>(plan.steps[0]); }
  std::optional<std::string> Problem() const {
    return LaunchBeyondLimits(artifact, {plan}, device);
  }
};

TEST(Limits, AnOrdinaryLaunchFitsAndSpillsAreNoReason) {
  Fixture f;
  f.artifact.kernels[0].spill_store_bytes = 4096;
  EXPECT_FALSE(f.Problem());
}

TEST(Limits, SharedMemoryCountsStaticAndDynamic) {
  Fixture f;
  f.launch().dynamic_shared_bytes = 99'000;
  EXPECT_FALSE(f.Problem());
  f.launch().dynamic_shared_bytes = 99'001;
  EXPECT_EQ(*f.Problem(),
            "the launch of k at line 12 cannot run: 100001 bytes of shared memory a block, at most "
            "100000");
}

TEST(Limits, RegistersOfABlockHaveALimit) {
  Fixture f;
  f.launch().block = {1024, 1, 1};
  EXPECT_FALSE(f.Problem());
  f.artifact.kernels[0].registers = 65;
  EXPECT_THAT(*f.Problem(), HasSubstr("65 registers a thread for 1024 threads"));
}

TEST(Limits, ShapesOfGridAndBlockHaveLimits) {
  Fixture f;
  f.launch().block = {1025, 1, 1};
  EXPECT_THAT(*f.Problem(), HasSubstr("1025 threads"));
  f.launch().block = {1, 1, 65};
  EXPECT_THAT(*f.Problem(), HasSubstr("z at most 64"));
  f.launch().block = {32, 1, 1};
  f.launch().grid = {1, 65'536, 1};
  EXPECT_THAT(*f.Problem(), HasSubstr("grid 1x65536x1 is beyond"));
  f.launch().grid = {0, 1, 1};
  EXPECT_THAT(*f.Problem(), HasSubstr("is empty"));
}

TEST(Limits, AKernelOfTheTimedShapesAloneIsNamed) {
  Fixture f;
  LaunchPlan timed = f.plan;
  EXPECT_FALSE(UncheckedKernel({f.plan}, {timed}));
  std::get<KernelLaunch>(timed.steps[0]).kernel =
      "k<256>";  // another instance of the same template may compute anything
  EXPECT_EQ(*UncheckedKernel({f.plan}, {timed}), "k<256>");
  std::get<KernelLaunch>(timed.steps[0]).kernel = "fast";
  EXPECT_EQ(*UncheckedKernel({f.plan}, {timed}), "fast");
}

}  // namespace
}  // namespace optiml
