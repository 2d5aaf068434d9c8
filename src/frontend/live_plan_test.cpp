// Live runs: launchers that read device data back, as confined as recorded ones, against a device
// that a test plays.

#include "frontend/live_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "base/file_system.h"
#include "base/process.h"
#include "frontend/launcher_planner.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

constexpr char kCudaHeaders[] = "/usr/local/cuda/include";

// What the launcher does is chosen by its last argument, so that it is compiled once.
constexpr char kText[] = R"(
#include <cuda_runtime.h>
#include <vector>
__device__ int flag;
__global__ void k(const float* x, float* y, int n) {}
extern "C" void run(const float* x, float* y, int n) {
  int more = 1;
  int* p = nullptr;
  cudaMallocHost((void**)&p, 64);
  *p = 5;
  switch (n) {
    case 0:  // until it is told to stop
      while (more) {
        k<<<1, 32>>>(x, y, more);
        cudaMemcpy(&more, y, sizeof(int), cudaMemcpyDeviceToHost);
      }
      break;
    case 1:  // not there before the host has waited
      cudaMemcpyAsync(p, y, sizeof(int), cudaMemcpyDeviceToHost, 0);
      k<<<1, 32>>>(x, y, *p);
      cudaDeviceSynchronize();
      k<<<1, 32>>>(x, y, *p);
      break;
    case 2:  // of a module variable
      cudaMemcpyFromSymbol(&more, flag, sizeof(int));
      k<<<1, 32>>>(x, y, more);
      break;
    case 3:
      cudaMemcpy(&more, y + 100, sizeof(int), cudaMemcpyDeviceToHost);
      break;
    case 4: {
      std::vector<int> much(1000);
      k<<<1, 32>>>(x, y, more);
      cudaMemcpy(much.data(), y, 400, cudaMemcpyDeviceToHost);
      cudaMemcpy(much.data(), y, 400, cudaMemcpyDeviceToHost);
      break;
    }
    case 5:
      cudaMemcpy(&more, y, sizeof(int), cudaMemcpyDeviceToHost);
      more = *(volatile int*)y;
      break;
    case 6:
      cudaMemcpy(&more, y, sizeof(int), cudaMemcpyDeviceToHost);
      for (volatile int i = 0; i < 1;) {
      }
      break;
    case 7: {
      static int calls = 0;
      cudaMemcpy(&more, y, sizeof(int), cudaMemcpyDeviceToHost);
      k<<<1, 32>>>(x, y, ++calls);
      break;
    }
    case 8:
      cudaMemcpy(&more, y, sizeof(int), cudaMemcpyHostToDevice);
      break;
  }
  cudaFreeHost(p);
}
)";

// Answers with the numbers that it was given, and remembers how far the launcher was.
class PlayedDevice : public LiveDevice {
 public:
  explicit PlayedDevice(std::vector<int> answers) : answers_(std::move(answers)) {}

  Result<bool> Begin(size_t) override { return true; }
  Result<std::optional<std::vector<std::byte>>> Read(const LaunchPlan& plan, const DevicePointer&,
                                                     uint64_t size_bytes) override {
    launches_before.push_back(static_cast<int>(plan.steps.size()));
    if (answers_.empty()) {
      return std::optional<std::vector<std::byte>>();
    }
    std::vector<std::byte> bytes(size_bytes);
    std::memcpy(bytes.data(), &answers_.front(), sizeof(int));
    answers_.erase(answers_.begin());
    return std::optional(std::move(bytes));
  }
  Result<bool> End(const LaunchPlan&) override { return true; }

  std::vector<int> launches_before;

 private:
  std::vector<int> answers_;
};

class LivePlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(kCudaHeaders) + "/cuda_runtime.h")) {
      GTEST_SKIP() << "CUDA's headers are missing";
    }
    if (const Result<void> sandbox = SandboxAvailable(); !sandbox) {
      GTEST_SKIP() << sandbox.error().message();
    }
  }

  static LauncherPlanner& Planner(PlanLimits limits) {
    static const TemporaryDirectory folder = *TemporaryDirectory::Create("optiml-live-test-");
    static const ast::SourceUnit unit = [] {
      ParseOptions parsing;
      parsing.cuda_include_directory = kCudaHeaders;
      auto parsed = ParseSource(KernelSource(kText, "run", "kernel.cu"), parsing);
      return std::get<ast::SourceUnit>(*std::move(parsed));
    }();
    static std::unique_ptr<LauncherPlanner> planner;
    RecorderOptions options;
    options.cache_directory = folder.path();
    options.cuda_include_directory = kCudaHeaders;
    options.time_limit_s = 1;
    planner = std::make_unique<LauncherPlanner>(unit, "run", options, limits);
    return *planner;
  }

  static std::vector<LauncherArgument> Arguments(int what) {
    std::vector<LauncherArgument> arguments(3);
    arguments[0] = {"x", true, 400};
    arguments[1] = {"y", true, 400};
    arguments[2] = {"n", false, 0, int64_t{what}};
    return arguments;
  }

  // One call; the last of two where it is asked whether memory changed.
  static std::variant<LivePlan, Refusal> Run(int what, PlayedDevice& device, bool twice = false,
                                             PlanLimits limits = {}, bool elsewhere = false) {
    const auto arguments = Arguments(what);
    std::vector<LiveCall> calls(twice ? 2 : 1, LiveCall{&arguments, false});
    calls.back().compares_memory = twice;
    auto ran = Planner(limits).RunLive(calls, elsewhere, device);
    EXPECT_TRUE(ran) << ran.error().message();
    if (const auto* refusal = std::get_if<Refusal>(&*ran)) {
      return *refusal;
    }
    return std::get<std::vector<LivePlan>>(*ran).back();
  }

  static std::string Refused(int what, std::vector<int> answers, PlanLimits limits = {}) {
    PlayedDevice device(std::move(answers));
    const auto outcome = Run(what, device, false, limits);
    const auto* refusal = std::get_if<Refusal>(&outcome);
    return refusal == nullptr ? "" : refusal->reason;
  }

  // The int that a launch was given last.
  static int Given(const LivePlan& made, size_t launch) {
    int value = 0;
    const auto& bytes = std::get<std::vector<std::byte>>(
        std::get<KernelLaunch>(made.plan.steps.at(launch)).arguments.at(2));
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
};

TEST_F(LivePlanTest, DecidesByWhatTheDeviceHolds) {
  PlayedDevice device({7, 8, 0});
  const auto outcome = Run(0, device);
  const auto& made = std::get<LivePlan>(outcome);
  ASSERT_EQ(made.plan.steps.size(), 3u);
  EXPECT_EQ(Given(made, 0), 1);
  EXPECT_EQ(Given(made, 1), 7);
  EXPECT_EQ(Given(made, 2), 8);
  EXPECT_THAT(device.launches_before, ::testing::ElementsAre(1, 2, 3));
  ASSERT_EQ(made.reads.size(), 3u);
  EXPECT_EQ(made.reads[1].step, 2u);
  EXPECT_EQ(made.reads[1].source, (DevicePointer{1, 0}));
  EXPECT_EQ(made.reads[1].size_bytes, 4u);
}

TEST_F(LivePlanTest, AnAsynchronousCopyIsThereOnceTheHostHasWaited) {
  PlayedDevice device({42});
  const auto usual = Run(1, device);
  PlayedDevice other({42});
  const auto elsewhere = Run(1, other, false, {}, true);
  EXPECT_EQ(Given(std::get<LivePlan>(usual), 1), 42);
  EXPECT_NE(Given(std::get<LivePlan>(usual), 0), 42);
  EXPECT_NE(Given(std::get<LivePlan>(usual), 0), Given(std::get<LivePlan>(elsewhere), 0))
      << "what is read too early is rubbish, and another one elsewhere";
}

TEST_F(LivePlanTest, ReadsModuleVariables) {
  PlayedDevice device({3});
  const auto outcome = Run(2, device);
  const auto& made = std::get<LivePlan>(outcome);
  EXPECT_EQ(Given(made, 0), 3);
  EXPECT_EQ(made.plan.buffers.at(static_cast<size_t>(made.reads.at(0).source.buffer)).symbol,
            "flag");
}

TEST_F(LivePlanTest, StopsWithTheDevice) {
  EXPECT_THAT(Refused(0, {7}), HasSubstr("the device does not go on"));
}

TEST_F(LivePlanTest, RefusesReadsBeyondABuffer) {
  EXPECT_THAT(Refused(3, {1}), HasSubstr("copy to the host"));
}

TEST_F(LivePlanTest, LimitsWhatIsReadBetweenTwoLaunches) {
  PlanLimits limits;
  limits.read_bytes = 800;
  EXPECT_EQ(Refused(4, {1, 1}, limits), "");
  limits.read_bytes = 799;
  EXPECT_THAT(Refused(4, {1, 1}, limits), HasSubstr("more than 799 bytes of device data"));
}

TEST_F(LivePlanTest, LimitsHowOftenIsRead) {
  PlanLimits limits;
  limits.reads = 3;
  EXPECT_EQ(Refused(0, {1, 1, 0}, limits), "");
  EXPECT_THAT(Refused(0, {1, 1, 1, 0}, limits), HasSubstr("more than 3 times"));
}

TEST_F(LivePlanTest, LimitsLaunches) {
  PlanLimits limits;
  limits.launches = 3;
  EXPECT_EQ(Refused(0, {1, 1, 0}, limits), "");
  EXPECT_THAT(Refused(0, {1, 1, 1, 0}, limits), HasSubstr("more than 3 launches"));
}

TEST_F(LivePlanTest, LimitsTheHostsTime) {
  EXPECT_THAT(Refused(6, {1}), HasSubstr("launcher did not end within 1 s"));
}

TEST_F(LivePlanTest, DevicePointersStillLeadNowhere) {
  EXPECT_THAT(Refused(5, {1}), HasSubstr("reads or writes device memory on the host"));
}

TEST_F(LivePlanTest, NoticesStateOnTheHost) {
  PlayedDevice device({1, 1});
  const auto counts = Run(7, device, true);
  EXPECT_TRUE(std::get<LivePlan>(counts).changed_memory);
  PlayedDevice again({0, 0});
  const auto plain = Run(0, again, true);
  EXPECT_FALSE(std::get<LivePlan>(plain).changed_memory);
}

TEST_F(LivePlanTest, RefusesACopyOfAnotherKind) {
  EXPECT_THAT(Refused(8, {1}), HasSubstr("a copy's kind does not fit its pointers"));
}

TEST_F(LivePlanTest, WithoutALiveRunItSaysThatItReadsBack) {
  const auto outcome = Planner({}).Plan(Arguments(0));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::get<Refusal>(*outcome).reads_back);
  const auto symbol = Planner({}).Plan(Arguments(2));
  EXPECT_TRUE(std::get<Refusal>(*symbol).reads_back);
}

}  // namespace
}  // namespace optiml
