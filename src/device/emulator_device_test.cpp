#include "device/emulator_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <thread>

#include "device/emulator_test_support.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kScale[] =
    "extern \"C\" __global__ void scale(const float* x, float* y, float a, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = a * x[i];\n"
    "}\n";

class EmulatorDevice : public PlanFixture {
 protected:
  void LimitFullRuns(uint64_t instructions) {
    EmulatorOptions options;
    options.full_run_limit = instructions;
    auto device = MakeEmulatorDevice(options);
    ASSERT_TRUE(device.has_value()) << device.error().message();
    device_ = *std::move(device);
  }
  void MakeScale(int n, int allocated, bool x_read_only = true) {
    Build(kScale, {"scale"});
    std::vector<float> x(static_cast<size_t>(allocated));
    std::iota(x.begin(), x.end(), 0.0F);
    const int in = AddBuffer("x", BufferOf(x, x_read_only));
    const int out = AddOutput("y", static_cast<uint64_t>(allocated) * 4);
    AddLaunch("scale", {static_cast<uint32_t>(n + 127) / 128, 1, 1}, {128, 1, 1},
              {DevicePointer{in, 0}, DevicePointer{out, 0}, BytesOfValue(2.0F), BytesOfValue(n)});
  }
};

TEST_F(EmulatorDevice, RunsAPlanAndReturnsTheBuffersInOrder) {
  MakeScale(1000, 1000);
  const RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kCompleted) << run.reason;
  EXPECT_THAT(run.findings, IsEmpty());
  ASSERT_EQ(run.buffers.size(), 2u);
  const auto y = ValuesOf<float>(run.buffers[1]);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(y[static_cast<size_t>(i)], 2.0F * static_cast<float>(i));
  }
}

TEST_F(EmulatorDevice, PutsTheAddressesIntoStructs) {
  Build(
      "struct View { int n; const float* from; float* to[2]; };\n"
      "extern \"C\" __global__ void copy(View v) {\n"
      "  if (threadIdx.x < v.n) v.to[1][threadIdx.x] = v.from[threadIdx.x];\n"
      "}\n",
      {"copy"});
  const int in = AddBuffer("x", BufferOf(std::vector<float>{1, 2, 3, 4}, true));
  const int out = AddOutput("y", 16);
  StructArgument view;
  view.bytes.resize(32);
  view.bytes[0] = std::byte{3};
  view.pointers = {{8, {in, 4}}, {24, {out, 0}}};
  AddLaunch("copy", {1, 1, 1}, {32, 1, 1}, {view});
  const RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kCompleted) << run.reason;
  const auto y = ValuesOf<float>(run.buffers[1]);
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 3), (std::vector<float>{2, 3, 4}));
}

TEST_F(EmulatorDevice, CopiesToModuleVariablesInEveryPass) {
  Build(
      "__constant__ float w[2];\n"
      "__device__ int calls;\n"
      "extern \"C\" __global__ void scale(const float* x, float* y) {\n"
      "  y[threadIdx.x] = w[1] * x[threadIdx.x] + calls++;\n"
      "}\n",
      {"scale"});
  const int in = AddBuffer("x", BufferOf(std::vector<float>{5, 7}, true));
  const int out = AddOutput("y", 8);
  const auto add_variable = [&](const char* name, uint64_t bytes) {
    plan_.buffers.push_back({name, -1, bytes, 0, name});
    return static_cast<int>(plan_.buffers.size()) - 1;
  };
  const int w = add_variable("w", 8);
  const int calls = add_variable("calls", 4);
  const int unused = add_variable("unused", 4);  // not in the module: nothing can see it
  plan_.steps.emplace_back(CopyStep{{w, 4}, {in, 4}, 4, 1});
  plan_.steps.emplace_back(MemsetStep{{calls, 0}, 0, 4, 2});
  plan_.steps.emplace_back(MemsetStep{{unused, 0}, 0, 4, 3});
  AddLaunch("scale", {1, 1, 1}, {1, 1, 1}, {DevicePointer{in, 0}, DevicePointer{out, 0}});
  RunRequest request = Request();
  request.more_passes.push_back({buffers_});
  const auto run = device_->Run(request);
  ASSERT_TRUE(run.has_value()) << run.error().message();
  EXPECT_EQ(run->status, RunStatus::kCompleted) << run->reason;
  EXPECT_THAT(run->findings, IsEmpty());
  EXPECT_EQ(ValuesOf<float>(run->buffers[1])[0], 35);
}

TEST_F(EmulatorDevice, LeavesPoisonWhereNothingWasWritten) {
  MakeScale(500, 1000);
  buffers_[1].poison = 0x5C;
  const RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kCompleted) << run.reason;
  EXPECT_EQ(run.buffers[1][499 * 4 + 3], std::byte{0x44});  // 998.0f
  EXPECT_EQ(run.buffers[1][500 * 4], std::byte{0x5C});
}

TEST_F(EmulatorDevice, ReportsAnAccessBehindABufferWithBufferAndElement) {
  MakeScale(1001, 1000);
  const RunOutcome run = Run(CheckLevel::kBounds);
  EXPECT_EQ(run.status, RunStatus::kFault);
  ASSERT_THAT(run.findings, Not(IsEmpty()));
  EXPECT_EQ(run.findings[0].kind, "out of bounds");
  EXPECT_EQ(run.findings[0].kernel, "scale");
  EXPECT_EQ(run.findings[0].line, 3);
  EXPECT_THAT(run.findings[0].detail, HasSubstr("x"));
  EXPECT_THAT(run.reason, HasSubstr("out of bounds in scale at line 3"));
}

TEST_F(EmulatorDevice, ReportsAWriteToAnInput) {
  Build("extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1; }", {"k"});
  const int x = AddBuffer("x", BufferOf(std::vector<float>(32, 0.0F), true));
  AddLaunch("k", {}, {32, 1, 1}, {DevicePointer{x, 0}});
  const RunOutcome run = Run(CheckLevel::kBounds);
  EXPECT_EQ(run.status, RunStatus::kFault);
  EXPECT_THAT(run.reason, HasSubstr("read-only"));
}

TEST_F(EmulatorDevice, ReportsReadsOfMemoryThatNobodyWroteOnlyWhenAsked) {
  Build("extern \"C\" __global__ void k(float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }",
        {"k"});
  const int x = AddScratch("x", 128);
  const int y = AddOutput("y", 128);
  AddLaunch("k", {}, {32, 1, 1}, {DevicePointer{x, 0}, DevicePointer{y, 0}});
  EXPECT_THAT(Run(CheckLevel::kBounds).findings, IsEmpty());
  const RunOutcome run = Run(CheckLevel::kFull);
  ASSERT_THAT(run.findings, Not(IsEmpty()));
  EXPECT_EQ(run.findings[0].kind, "uninitialised");
  EXPECT_THAT(run.reason, HasSubstr("uninitialised"));
}

TEST_F(EmulatorDevice, ExecutesMemsetsCopiesAndUploadsInOrder) {
  Build(
      "extern \"C\" __global__ void add(const int* a, int* b) { b[threadIdx.x] += a[threadIdx.x]; "
      "}",
      {"add"});
  const int a = AddScratch("a", 64 * 4);
  const int b = AddOutput("b", 64 * 4);
  std::vector<int> host(64);
  std::iota(host.begin(), host.end(), 5);
  plan_.steps.emplace_back(UploadStep{{a, 0}, BufferOf(host).bytes, 1});
  plan_.steps.emplace_back(MemsetStep{{b, 0}, 1, 64 * 4, 2});
  AddLaunch("add", {}, {64, 1, 1}, {DevicePointer{a, 0}, DevicePointer{b, 0}});
  plan_.steps.emplace_back(CopyStep{{b, 0}, {a, 8}, 4, 4});
  const RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kCompleted) << run.reason;
  const auto values = ValuesOf<int>(run.buffers[0]);
  EXPECT_EQ(values[0], 7);  // copied over
  EXPECT_EQ(values[63], 0x01010101 + 68);
}

TEST_F(EmulatorDevice, FaultsOnTransfersThatLeaveTheirBuffers) {
  Build(kScale, {"scale"});
  const int b = AddOutput("b", 64);
  plan_.steps = {MemsetStep{{b, 32}, 0, 64, 7}};
  RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kFault);
  EXPECT_THAT(run.reason, HasSubstr("out of bounds at line 7"));
  plan_.steps = {CopyStep{{b, 0}, {b, 0}, uint64_t{1} << 60, 8}};
  run = Run();
  EXPECT_EQ(run.status, RunStatus::kFault);
  EXPECT_THAT(run.reason, HasSubstr("line 8"));
  plan_.steps = {UploadStep{{-1, 0}, std::vector<std::byte>(4), 9}};
  EXPECT_EQ(Run().status, RunStatus::kFault);
}

TEST_F(EmulatorDevice, AnswersAnInvalidLaunchWithAFaultThatNamesTheLine) {
  MakeScale(1000, 1000);
  std::get<KernelLaunch>(plan_.steps[0]).block = {2048, 1, 1};
  const RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kFault);
  EXPECT_THAT(run.reason, HasSubstr("launch of scale at line 100 is invalid"));
  EXPECT_THAT(run.reason, HasSubstr("2048 threads"));
  EXPECT_EQ(Time().status, RunStatus::kFault);
}

TEST_F(EmulatorDevice, NeedsTheAttributeForMuchDynamicSharedMemory) {
  Build(
      "extern \"C\" __global__ void k(float* y) {\n"
      "  extern __shared__ float tile[];\n"
      "  tile[threadIdx.x * 500] = threadIdx.x;\n"
      "  __syncthreads();\n"
      "  y[threadIdx.x] = tile[(31 - threadIdx.x) * 500];\n}\n",
      {"k"});
  const int y = AddOutput("y", 128);
  AddLaunch("k", {}, {32, 1, 1}, {DevicePointer{y, 0}}).dynamic_shared_bytes = 64000;
  EXPECT_THAT(Run().reason, HasSubstr("dynamic shared memory"));
  plan_.steps.insert(plan_.steps.begin(),
                     AttributeStep{"k", "MaxDynamicSharedMemorySize", 64000, 1});
  const RunOutcome run = Run();
  EXPECT_EQ(run.status, RunStatus::kCompleted) << run.reason;
  EXPECT_EQ(ValuesOf<float>(run.buffers[0])[0], 31.0F);
  plan_.steps[0] = AttributeStep{"k", "MaxDynamicSharedMemorySize", 300000, 1};
  EXPECT_THAT(Run().reason, HasSubstr("cudaFuncSetAttribute"));
}

TEST_F(EmulatorDevice, FollowsValuesThroughLaunchesAndCopies) {
  Build(
      "extern \"C\" __global__ void third(const float* x, float* y) {\n"
      "  y[threadIdx.x] = x[threadIdx.x] / 3;\n"
      "}\n",
      {"third"});
  const int in = AddBuffer("x", BufferOf(std::vector<float>{1, 2, 5, 7}, true));
  const int out = AddOutput("y", 16);
  const int scratch = AddScratch("between", 16);
  AddLaunch("third", {1, 1, 1}, {4, 1, 1}, {DevicePointer{in, 0}, DevicePointer{out, 0}});
  plan_.steps.emplace_back(CopyStep{{scratch, 0}, {out, 0}, 16, 1});
  AddLaunch("third", {1, 1, 1}, {4, 1, 1}, {DevicePointer{scratch, 0}, DevicePointer{out, 0}});
  EXPECT_TRUE(Run().shadows.empty());
  buffers_[1].shadow = DType::kF32;
  const RunOutcome run = Run();
  ASSERT_EQ(run.shadows.size(), 2u);
  EXPECT_TRUE(run.shadows[0].empty());
  EXPECT_EQ(run.shadows[1],
            (std::vector<double>{1.0 / 3 / 3, 2.0 / 3 / 3, 5.0 / 3 / 3, 7.0 / 3 / 3}));
}

TEST_F(EmulatorDevice, SoftmaxAndLayerNormAreNearDoubleArithmetic) {
  Build(
      "extern \"C\" __global__ void softmax(const float* x, float* y, int n) {\n"
      "  float m = x[0];\n"
      "  for (int i = 1; i < n; ++i) m = fmaxf(m, x[i]);\n"
      "  float s = 0;\n"
      "  for (int i = 0; i < n; ++i) s += expf(x[i] - m);\n"
      "  for (int i = threadIdx.x; i < n; i += 32) y[i] = expf(x[i] - m) / s;\n"
      "}\n"
      "extern \"C\" __global__ void layer_norm(const float* x, float* y, int n) {\n"
      "  float mean = 0, var = 0;\n"
      "  for (int i = 0; i < n; ++i) mean += x[i];\n"
      "  mean /= n;\n"
      "  for (int i = 0; i < n; ++i) var += (x[i] - mean) * (x[i] - mean);\n"
      "  for (int i = threadIdx.x; i < n; i += 32) y[i] = (x[i] - mean) * rsqrtf(var / n + "
      "1e-5f);\n"
      "}\n",
      {"softmax", "layer_norm"});
  constexpr int kCount = 300;
  std::vector<float> x;
  double largest = -HUGE_VAL;
  double sum = 0;
  for (int i = 0; i < kCount; ++i) {
    x.push_back(std::sin(static_cast<float>(i)) * 5);
    largest = std::max(largest, static_cast<double>(x.back()));
    sum += static_cast<double>(x.back());
  }
  double exps = 0;
  double squares = 0;
  for (const float value : x) {
    exps += std::exp(static_cast<double>(value) - largest);
    squares += std::pow(static_cast<double>(value) - sum / kCount, 2);
  }
  const int in = AddBuffer("x", BufferOf(x, true));
  const int soft = AddOutput("soft", kCount * 4);
  const int norm = AddOutput("norm", kCount * 4);
  AddLaunch("softmax", {1, 1, 1}, {32, 1, 1},
            {DevicePointer{in, 0}, DevicePointer{soft, 0}, BytesOfValue(kCount)});
  AddLaunch("layer_norm", {1, 1, 1}, {32, 1, 1},
            {DevicePointer{in, 0}, DevicePointer{norm, 0}, BytesOfValue(kCount)});
  buffers_[1].shadow = DType::kF32;
  buffers_[2].shadow = DType::kF32;
  const RunOutcome run = Run(CheckLevel::kBounds);
  ASSERT_EQ(run.shadows.size(), 3u);
  for (size_t i = 0; i < kCount; ++i) {
    const auto own = static_cast<double>(x[i]);
    const double softmax = std::exp(own - largest) / exps;
    const double normal =
        (own - sum / kCount) / std::sqrt(squares / kCount + static_cast<double>(1e-5F));
    // What the doubles miss are the constants of expf alone.
    ASSERT_NEAR(run.shadows[1][i] / softmax, 1, 1e-6) << i;
    ASSERT_NEAR(run.shadows[2][i], normal, 1e-12) << i;
    ASSERT_NEAR(ValuesOf<float>(run.buffers[1])[i] / softmax, 1, 3e-6) << i;
    ASSERT_NEAR(ValuesOf<float>(run.buffers[2])[i], normal, 1e-5) << i;
  }
}

TEST_F(EmulatorDevice, StopsAtTheStepLimit) {
  Build("extern \"C\" __global__ void k(int* x) { while (x[0] == 0) x[1] += 1; }", {"k"});
  const int x = AddBuffer("x", BufferOf(std::vector<int>(2, 0)));
  AddLaunch("k", {}, {32, 1, 1}, {DevicePointer{x, 0}});
  RunRequest request = Request();
  request.step_limit = 100'000;
  const auto run = device_->Run(request);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->status, RunStatus::kTimedOut);
  EXPECT_THAT(run->reason, HasSubstr("launched at line 100"));
}

TEST_F(EmulatorDevice, EndsInTheMiddleOfALaunchWhenItIsAskedTo) {
  std::atomic<bool> stop{false};
  EmulatorOptions options;
  options.stop = &stop;
  options.threads = 2;
  auto made = optiml::EmulatorDevice::Make(options);
  ASSERT_TRUE(made.has_value()) << made.error().message();
  Build("extern \"C\" __global__ void k(int* x) { while (x[0] == 0) x[1] += 1; }", {"k"});
  const int x = AddBuffer("x", BufferOf(std::vector<int>(2, 0)));
  AddLaunch("k", {}, {32, 1, 1}, {DevicePointer{x, 0}});
  RunRequest request = Request();
  request.step_limit = uint64_t{1} << 33;  // a minute's work
  const auto code_of = [&](const auto& call) {
    stop = false;
    std::thread user([&] { stop = true; });
    const auto outcome = call();
    user.join();
    return outcome.has_value() ? ErrorCode::kInternal : outcome.error().code();
  };
  EXPECT_EQ(code_of([&] { return (*made)->Run(request); }), ErrorCode::kInterrupted);
  EXPECT_EQ(code_of([&] { return (*made)->Trace(request); }), ErrorCode::kInterrupted);
  EXPECT_EQ(code_of([&] { return (*made)->Time(request); }), ErrorCode::kInterrupted);
}

TEST_F(EmulatorDevice, KeepsWhatTheKernelPrints) {
  Build("extern \"C\" __global__ void k(int n) { if (threadIdx.x == 3) printf(\"n=%d\\n\", n); }",
        {"k"});
  AddLaunch("k", {}, {32, 1, 1}, {BytesOfValue(7)});
  EXPECT_EQ(Run().printed, "n=7\n");
}

TEST_F(EmulatorDevice, RefusesRequestsThatDoNotFitTheirPlan) {
  MakeScale(100, 100);
  RunRequest request = Request();
  request.buffers.pop_back();
  auto run = device_->Run(request);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code(), ErrorCode::kInvalidArgument);
  request = Request();
  request.buffers[0].bytes.pop_back();
  run = device_->Run(request);
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message(), HasSubstr("buffer x has 399 bytes"));
  std::get<KernelLaunch>(plan_.steps[0]).kernel = "other";
  run = device_->Run(Request());
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code(), ErrorCode::kInternal);
}

TEST_F(EmulatorDevice, RunsConcurrentCalls) {
  MakeScale(1000, 1000);
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (size_t i = 0; i < good.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto run = device_->Run(Request(CheckLevel::kFull));
      good[i] = run.has_value() && run->status == RunStatus::kCompleted &&
                ValuesOf<float>(run->buffers[1])[999] == 1998.0F;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(good, ::testing::Each(1));
}

TEST_F(EmulatorDevice, PredictsATimeWithItsErrorAndCountsOnTheWay) {
  MakeScale(1 << 16, 1 << 16);
  const TimeOutcome time = Time();
  EXPECT_EQ(time.status, RunStatus::kCompleted) << time.reason;
  EXPECT_EQ(time.timing.kind, TimingKind::kPredicted);
  EXPECT_EQ(time.timing.clock, "H200 time model");
  EXPECT_GT(time.timing.median_s, 1e-6);
  EXPECT_LT(time.timing.median_s, 20e-6);
  EXPECT_NEAR(time.timing.high_s / time.timing.median_s, device_->Info().prediction_error_factor,
              1e-9);
  EXPECT_LT(time.timing.low_s, time.timing.median_s);
  const Profile& profile = time.profile;
  EXPECT_EQ(profile.source, ProfileSource::kEmulator);
  EXPECT_EQ(profile.sampled_ratio, 1);
  EXPECT_EQ(profile.Get(metric::kGlobalLoadRequests), 2048);
  EXPECT_EQ(profile.Get(metric::kGlobalLoadSectors), 8192);
  EXPECT_EQ(profile.Get(metric::kGlobalLoadSectorsPerRequest), 4);
  EXPECT_EQ(profile.Get(metric::kDramReadBytes), 4 << 16);
  EXPECT_EQ(profile.Get(metric::kDramWriteBytes), 0);  // all of it still in L2
  EXPECT_EQ(profile.Get(metric::kDramDirtyBytes), 4 << 16);
  EXPECT_EQ(profile.Get(metric::kBlocks), 512);
  EXPECT_GT(*profile.Get(metric::kTheoreticalOccupancy), 0.9);
}

TEST_F(EmulatorDevice, AModuleItCannotHoldIsTheCandidatesEnd) {
  for (const char* size : {"1ull << 40", "1ull << 44"}) {
    ClearPlan();
    Build("__device__ char fill[" + std::string(size) +
              "];\nextern \"C\" __global__ void k(char* y) { y[0] = fill[threadIdx.x]; }\n",
          {"k"});
    AddLaunch("k", {1, 1, 1}, {32, 1, 1}, {DevicePointer{AddOutput("y", 64, 1), 0}});
    const auto run = device_->Run(Request());
    ASSERT_TRUE(run.has_value()) << run.error().message();
    EXPECT_EQ(run->status, RunStatus::kUnsupported);
    EXPECT_THAT(run->reason, HasSubstr("too large"));
  }
}

TEST_F(EmulatorDevice, BuffersMayBeEmpty) {
  Build(
      "extern \"C\" __global__ void k(const float* x, float* y, int n) {\n"
      "  y[threadIdx.x] = n > 0 ? x[0] : 1.0f;\n}\n",
      {"k"});
  for (const int n : {0, 1}) {
    ClearPlan();
    const int x = AddBuffer("x", BufferOf(std::vector<float>{}, true));
    const int y = AddOutput("y", 32 * 4);
    AddLaunch("k", {1, 1, 1}, {32, 1, 1},
              {DevicePointer{x, 0}, DevicePointer{y, 0}, BytesOfValue(n)});
    const auto run = device_->Run(Request());
    ASSERT_TRUE(run.has_value()) << run.error().message();
    EXPECT_EQ(run->status, n == 0 ? RunStatus::kCompleted : RunStatus::kFault);
  }
}

TEST_F(EmulatorDevice, SamplesABigGridToTheSameCounts) {
  MakeScale(1 << 23, 1 << 23);
  const TimeOutcome sampled = Time();
  ASSERT_EQ(sampled.status, RunStatus::kCompleted) << sampled.reason;
  EXPECT_LT(sampled.profile.sampled_ratio, 0.5);
  const double requests = (1 << 23) / 32.0;
  EXPECT_NEAR(*sampled.profile.Get(metric::kGlobalLoadRequests), requests, requests * 1e-3);
  const double bytes = 4.0 * (1 << 23);
  EXPECT_NEAR(*sampled.profile.Get(metric::kDramReadBytes), bytes, bytes * 1e-2);
  EXPECT_NEAR(*sampled.profile.Get(metric::kDramDirtyBytes), bytes, bytes * 1e-2);
}

TEST_F(EmulatorDevice, DoesNotSampleBlocksThatWaitForEachOther) {
  // Decoupled look-back in small: each block adds what the one before it published.
  Build(
      "extern \"C\" __global__ void k(volatile int* flag, int* y, int rounds) {\n"
      "  if (threadIdx.x == 0) {\n"
      "    int before = 0;\n"
      "    if (blockIdx.x > 0) while ((before = flag[blockIdx.x - 1]) == 0) {}\n"
      "    flag[blockIdx.x] = before + 1;\n"
      "    y[blockIdx.x] = before;\n"
      "  }\n"
      "}\n",
      {"k"});
  const int flag = AddBuffer("flag", BufferOf(std::vector<int>(4096, 0)));
  const int y = AddOutput("y", 4096 * 4);
  AddLaunch("k", {4096, 1, 1}, {128, 1, 1},
            {DevicePointer{flag, 0}, DevicePointer{y, 0}, BytesOfValue(1)});
  const TimeOutcome time = Time();
  EXPECT_EQ(time.status, RunStatus::kCompleted) << time.reason;
  EXPECT_EQ(time.profile.sampled_ratio, 1);
}

TEST_F(EmulatorDevice, RunsInFullWhatSteersALaterLaunch) {
  // The second kernel loops as often as the first one's data says: poison would mean for ever.
  Build(
      "extern \"C\" __global__ void fill(int* n) { n[blockIdx.x * blockDim.x + threadIdx.x] = 3; "
      "}\n"
      "extern \"C\" __global__ void spin(const int* n, int* y) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;\n"
      "  for (int j = 0; j != n[i]; ++j) sum += n[(i + j) & 1023];\n"
      "  y[i] = sum;\n"
      "}\n",
      {"fill", "spin"});
  constexpr uint64_t kCount = uint64_t{1} << 22;
  const int n = AddScratch("n", kCount * 4);
  const int y = AddOutput("y", kCount * 4);
  AddLaunch("fill", {kCount / 256, 1, 1}, {256, 1, 1}, {DevicePointer{n, 0}});
  AddLaunch("spin", {kCount / 256, 1, 1}, {256, 1, 1}, {DevicePointer{n, 0}, DevicePointer{y, 0}});
  TimeOutcome time = Time();
  EXPECT_EQ(time.status, RunStatus::kCompleted) << time.reason;
  // However long that takes.
  LimitFullRuns(20'000'000);
  time = Time();
  EXPECT_EQ(time.status, RunStatus::kTimedOut);
  EXPECT_THAT(time.reason, HasSubstr("fill, launched at line 100: 20000000 thread instructions"));
}

// `passes` launches that exchange neighbours in the wrong order.
constexpr char kExchange[] =
    "extern \"C\" __global__ void exchange(float* x, int first, int n) {\n"
    "  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + first;\n"
    "  if (i + 1 < n && x[i] > x[i + 1]) {\n"
    "    float larger = x[i];\n"
    "    x[i] = x[i + 1];\n"
    "    x[i + 1] = larger;\n"
    "  }\n"
    "}\n";

class ExchangePlan : public EmulatorDevice {
 protected:
  void MakePasses(int passes, int n) {
    Build(kExchange, {"exchange"});
    std::vector<float> values(static_cast<size_t>(n));
    uint32_t random = 1;
    for (float& value : values) {
      random = random * 1664525 + 1013904223;
      value = static_cast<float>(random >> 8);
    }
    const int x = AddBuffer("x", BufferOf(values));
    for (int pass = 0; pass < passes; ++pass) {
      AddLaunch("exchange", {static_cast<uint32_t>(n + 511) / 512, 1, 1}, {256, 1, 1},
                {DevicePointer{x, 0}, BytesOfValue(pass % 2), BytesOfValue(n)});
    }
  }
};

TEST_F(ExchangePlan, RunsInFullWhileThePlanIsSmall) {
  MakePasses(4, 1 << 20);
  EXPECT_EQ(Time().profile.sampled_ratio, 1);
}

TEST_F(ExchangePlan, SamplesBeyondTheLimitSinceOnlyStoresAreSteered) {
  constexpr int kPasses = 4;
  constexpr int kCount = 1 << 23;
  MakePasses(kPasses, kCount);
  const TimeOutcome full = Time();
  ASSERT_EQ(full.status, RunStatus::kCompleted) << full.reason;
  LimitFullRuns(20'000'000);
  const TimeOutcome sampled = Time();
  ASSERT_EQ(sampled.status, RunStatus::kCompleted) << sampled.reason;
  EXPECT_LT(sampled.profile.sampled_ratio, 0.5);
  // What is read does not depend on the data: but for the last thread of odd passes it is exact.
  const double reads = kPasses * 2.0 * kCount / 2 / 32;
  EXPECT_NEAR(*full.profile.Get(metric::kGlobalLoadRequests), reads, reads * 1e-3);
  EXPECT_NEAR(*sampled.profile.Get(metric::kGlobalLoadRequests), reads, reads * 1e-3);
  // Random neighbours are exchanged with a probability of 1/2 in the first pass, and a little less
  // in the later ones.
  const double stores = *full.profile.Get(metric::kGlobalStoreRequests);
  EXPECT_NEAR(*sampled.profile.Get(metric::kGlobalStoreRequests), stores, stores * 0.1);
  EXPECT_NEAR(sampled.timing.median_s / full.timing.median_s, 1, 0.1);
}

TEST_F(ExchangePlan, SharesTheBudgetAmongManyLaunches) {
  // Each launch alone would be sampled with a whole budget.
  MakePasses(160, 1 << 22);
  LimitFullRuns(20'000'000);
  const TimeOutcome time = Time();
  ASSERT_EQ(time.status, RunStatus::kCompleted) << time.reason;
  EXPECT_LT(time.profile.sampled_ratio, 0.05);
  const double reads = 160 * 2.0 * (1 << 22) / 2 / 32;
  EXPECT_NEAR(*time.profile.Get(metric::kGlobalLoadRequests), reads, reads * 1e-3);
}

TEST(MakeEmulatorDevice, RefusesAnUnknownModelAndNoThreads) {
  EmulatorOptions options;
  options.model = "abacus";
  auto device = MakeEmulatorDevice(options);
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().code(), ErrorCode::kNotFound);
  options = {};
  options.threads = 0;
  EXPECT_FALSE(MakeEmulatorDevice(options).has_value());
}

TEST(MakeEmulatorDevice, KnowsItsModel) {
  EmulatorOptions options;
  options.model = "a100";
  auto device = MakeEmulatorDevice(options);
  ASSERT_TRUE(device.has_value());
  EXPECT_EQ((*device)->Info().name, "A100 (emulated)");
  EXPECT_EQ((*device)->Info().architecture, "sm_80");
  EXPECT_FALSE((*device)->Info().capabilities.measures_time);
  EXPECT_TRUE((*device)->Info().capabilities.checks_memory);
}

}  // namespace
}  // namespace optiml
