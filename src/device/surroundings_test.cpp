// What surrounds a kernel on the emulator: where its memory lies, what its clocks show, and which
// module variables a plan means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/emulator_test_support.h"

namespace optiml {
namespace {

class SurroundingsTest : public PlanFixture {
 protected:
  // Address of the output, date, and cycles of the second launch.
  std::vector<uint64_t> Look(std::optional<uint64_t> machine) {
    RunRequest request = Request();
    request.surroundings.of_machine = machine;
    const auto run = device_->Run(request);
    EXPECT_TRUE(run.has_value() && run->status == RunStatus::kCompleted);
    return ValuesOf<uint64_t>(run->buffers[0]);
  }
};

TEST_F(SurroundingsTest, AreThoseOfTheMachineThatIsAskedFor) {
  Build(
      "extern \"C\" __global__ void look(unsigned long long* out, int at) {\n"
      "  out[at] = (unsigned long long)out;\n"
      "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(out[at + 1]));\n"
      "  out[at + 2] = clock64();\n"
      "}\n",
      {"look"});
  const int out = AddOutput("out", 6 * sizeof(uint64_t), 8);
  AddLaunch("look", {1, 1, 1}, {1, 1, 1}, {DevicePointer{out, 0}, BytesOfValue(0)});
  AddLaunch("look", {1, 1, 1}, {1, 1, 1}, {DevicePointer{out, 0}, BytesOfValue(3)});
  const std::vector<uint64_t> usual = Look(std::nullopt);
  const std::vector<uint64_t> first = Look(1);
  const std::vector<uint64_t> second = Look(2);
  EXPECT_EQ(usual, Look(std::nullopt));
  EXPECT_EQ(first, Look(1));
  EXPECT_NE(first, second);
  for (const std::vector<uint64_t>& seen : {first, second}) {
    EXPECT_GT(seen[0], uint64_t{0x7e00'0000'0000});  // as a driver gives them
    EXPECT_LT(seen[0], uint64_t{1} << 47);
    EXPECT_GT(seen[1], uint64_t{1'600'000'000'000'000'000});  // nanoseconds: after 2020
    EXPECT_GT(seen[2], uint64_t{1} << 40);
    // Time goes on from launch to launch.
    EXPECT_GT(seen[4], seen[1]);
    EXPECT_GT(seen[5], seen[2]);
  }
  EXPECT_LT(usual[0], uint64_t{1} << 40);
  EXPECT_LT(usual[1], uint64_t{1} << 40);
}

TEST_F(SurroundingsTest, TheWorkOfEachLaunchIsSaid) {
  Build(
      "extern \"C\" __global__ void some(int* out) { out[threadIdx.x] = 1; }\n"
      "extern \"C\" __global__ void none() {}\n",
      {"some", "none"});
  const int out = AddOutput("out", 64 * sizeof(int));
  AddLaunch("some", {1, 1, 1}, {64, 1, 1}, {DevicePointer{out, 0}});
  AddLaunch("none", {1, 1, 1}, {1, 1, 1}, {});
  RunRequest request = Request();
  request.more_passes.push_back({buffers_});
  const auto run = device_->Run(request);
  ASSERT_TRUE(run.has_value()) << run.error().message();
  ASSERT_EQ(run->launch_work.size(), 2u);
  ASSERT_EQ(run->launch_work[1].size(), 2u);
  EXPECT_GE(run->launch_work[1][0], 64u);
  EXPECT_LE(run->launch_work[1][1], 4u);
  EXPECT_EQ(run->launch_work[1][0] + run->launch_work[1][1], run->pass_work[1]);
}

TEST_F(SurroundingsTest, VariablesWithoutLinkageAreFoundByTheFrontEndsNames) {
  Build(
      "static __constant__ int mine;\n"
      "namespace { __device__ int nameless; }\n"
      "namespace a { static __device__ int inner; }\n"
      "extern \"C\" __global__ void sum(int* out) { out[0] = mine + nameless + a::inner; }\n",
      {"sum"});
  const int out = AddOutput("out", sizeof(int));
  int value = 1;
  for (const char* symbol : {"_ZL4mine", "_ZN12_GLOBAL__N_18namelessE", "_ZN1aL5innerE"}) {
    const int variable = AddScratch(symbol, sizeof(int));
    plan_.buffers.back().symbol = symbol;
    plan_.steps.emplace_back(UploadStep{{variable, 0}, BytesOfValue(value), 1});
    value *= 10;
  }
  AddLaunch("sum", {1, 1, 1}, {1, 1, 1}, {DevicePointer{out, 0}});
  const RunOutcome run = Run();
  ASSERT_EQ(run.status, RunStatus::kCompleted) << run.reason;
  EXPECT_EQ(ValuesOf<int>(run.buffers[0])[0], 111);
}

}  // namespace
}  // namespace optiml
