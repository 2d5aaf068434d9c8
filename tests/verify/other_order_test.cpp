// Host mode beside a device that orders its threads in its own way, as a GPU does: a launcher that
// iterates until nothing changes decides otherwise there. Launches that were chosen on the emulator
// must be executed on the emulator; the tasks' own kernels are accepted.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file_system.h"
#include "build/builder.h"
#include "device/checked_device.h"
#include "device/emulator_device.h"
#include "task/reference.h"
#include "task/task.h"
#include "verify/verifier.h"

namespace optiml {
namespace {

uint64_t LargestBuffer(const LaunchPlan& plan) {
  uint64_t bytes = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    bytes = std::max(bytes, buffer.size_bytes);
  }
  return bytes;
}

// The emulator in a GPU's place: last blocks first, and what it was asked to execute is noted.
class OtherOrder : public Device {
 public:
  OtherOrder(std::unique_ptr<Device> device, std::vector<uint64_t>& asked)
      : device_(std::move(device)), asked_(asked) {}
  const DeviceInfo& Info() const override { return device_->Info(); }
  Result<RunOutcome> Run(const RunRequest& request) override {
    EXPECT_FALSE(request.repeatable);
    asked_.push_back(LargestBuffer(*request.plan));
    RunRequest reversed = request;
    reversed.order = BlockOrder::kLastToFirst;
    return device_->Run(reversed);
  }
  Result<TimeOutcome> Time(const RunRequest& request) override { return device_->Time(request); }

 private:
  std::unique_ptr<Device> device_;
  std::vector<uint64_t>& asked_;
};

class OtherOrderTest : public ::testing::TestWithParam<const char*> {};

TEST_P(OtherOrderTest, HostModeIsNotMisled) {
  const std::unique_ptr<Builder> builder = MakeNvrtcBuilder({});
  if (const auto toolchain = builder->Toolchain(); !toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  const auto cache = TemporaryDirectory::Create("optiml-other-order-");
  const Result<KernelTask> task =
      LoadTask(std::filesystem::path(OPTIML_SOURCE_DIR) / "tests/verify/tasks" / GetParam());
  ASSERT_TRUE(task) << task.error().message();
  ReferenceOptions options;
  options.cache_directory = cache->path();
  const auto reference = MakeHostReference(*task, options);
  ASSERT_TRUE(reference) << reference.error().message();
  std::vector<uint64_t> asked;
  CheckedDevice device(std::make_unique<OtherOrder>(*MakeEmulatorDevice({}), asked),
                       *MakeEmulatorDevice({}));
  VerifierOptions checks;
  checks.seeds = 1;
  checks.extra_fills.clear();
  const auto verifier = MakeVerifier(*task, *builder, device, reference->get(), checks);
  ASSERT_TRUE(verifier) << verifier.error().message();
  Evaluation evaluation;
  auto prepared = (*verifier)->Prepare(task->source, evaluation);
  ASSERT_TRUE(prepared) << prepared.error().message();
  ASSERT_TRUE(std::holds_alternative<PreparedCandidate>(*prepared))
      << std::get<Rejection>(*prepared).reason;
  auto& candidate = std::get<PreparedCandidate>(*prepared);
  ASSERT_NE(candidate.live, nullptr) << "a task of host mode";
  const auto untraced = (*verifier)->Trace(candidate, evaluation);
  ASSERT_TRUE(untraced) << untraced.error().message();
  ASSERT_FALSE(*untraced) << (*untraced)->reason;
  const auto judged = (*verifier)->Verify(candidate, evaluation);
  ASSERT_TRUE(judged) << judged.error().message();
  EXPECT_TRUE(evaluation.accepted()) << evaluation.rejection()->reason;
  // The timed shape's launches are chosen where they are timed; all others are not.
  ASSERT_FALSE(candidate.timed_plans.empty());
  EXPECT_FALSE(asked.empty());
  EXPECT_THAT(asked, ::testing::Each(LargestBuffer(candidate.timed_plans.front())));
}

INSTANTIATE_TEST_SUITE_P(Tasks, OtherOrderTest,
                         ::testing::Values("bfs", "compact", "components", "jacobi", "kmeans"));

}  // namespace
}  // namespace optiml
