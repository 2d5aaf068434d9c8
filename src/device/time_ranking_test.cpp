// The time model on real kernels: pairs whose order, and roughly whose ratio, is known on GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/device_description.h"
#include "device/emulator_test_support.h"

namespace optiml {
namespace {

class TimeRanking : public PlanFixture {
 protected:
  double Seconds() {
    const TimeOutcome time = Time();
    EXPECT_EQ(time.status, RunStatus::kCompleted) << time.reason;
    ClearPlan();
    return time.timing.median_s;
  }

  // One kernel f(x, y, sizes ...) over float buffers of the given lengths.
  double TimeOf(const std::string& kernel, Dim3 grid, Dim3 block, size_t x_count, size_t y_count,
                std::vector<int> sizes) {
    const int x = AddBuffer("x", BufferOf(std::vector<float>(x_count, 0.5F), true));
    const int y = AddOutput("y", y_count * 4);
    std::vector<KernelArgument> arguments = {DevicePointer{x, 0}, DevicePointer{y, 0}};
    for (const int size : sizes) {
      arguments.emplace_back(BytesOfValue(size));
    }
    AddLaunch(kernel, grid, block, std::move(arguments));
    return Seconds();
  }

  // Of a plan of one launch, without what a launch costs.
  static double InKernel(double seconds) {
    return seconds - LoadDeviceDescription("h200")->launch_overhead_s;
  }
};

TEST_F(TimeRanking, ALaunchWaitsForItsLongestBlockThoughTheSampleLeavesItOut) {
  const auto time_of = [&](int turns) {
    Build(
        "extern \"C\" __global__ void k(const float* x, float* y, int n, int turns) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  float v = x[i];\n"
        "  if (blockIdx.x == 0) for (int t = 0; t < turns; ++t) v = v * 1.0001f + 0.5f;\n"
        "  if (i < n) y[i] = v;\n}\n",
        {"k"});
    constexpr int kCount = 1 << 23;
    return TimeOf("k", {kCount / 256, 1, 1}, {256, 1, 1}, kCount, kCount, {kCount, turns});
  };
  // A turn is a multiplication and addition that waits for the one before: at least four clocks.
  constexpr int kTurns = 50000;
  const double more = time_of(kTurns) - time_of(0);
  EXPECT_GT(more, kTurns * 4 / 1.98e9);
  EXPECT_LT(more, kTurns * 24 / 1.98e9);
}

TEST_F(TimeRanking, WiderLoadsHelpAStreamingMapAsMeasured) {
  Build(
      "extern \"C\" __global__ void one(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = fmaxf(x[i], 0.0f);\n}\n"
      "extern \"C\" __global__ void four(const float4* x, float4* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { float4 v = x[i]; v.x = fmaxf(v.x, 0.0f); v.y = fmaxf(v.y, 0.0f);\n"
      "    v.z = fmaxf(v.z, 0.0f); v.w = fmaxf(v.w, 0.0f); y[i] = v; }\n}\n",
      {"one", "four"});
  constexpr int kCount = 1 << 22;
  const double one = TimeOf("one", {kCount / 256, 1, 1}, {256, 1, 1}, kCount, kCount, {kCount});
  const double four =
      TimeOf("four", {kCount / 1024, 1, 1}, {256, 1, 1}, kCount, kCount, {kCount / 4});
  // 1.60 measured at 2^26 on an H200 (bench/logs/2026-11-29-h200-variants.txt); the model states an
  // error of 1.5 and must not exceed it, nor turn the order around.
  constexpr double kMeasured = 1.60;
  constexpr double kStatedError = 1.5;
  EXPECT_GT(one / four, std::max(1.0, kMeasured / kStatedError));
  EXPECT_LT(one / four, kMeasured * kStatedError);
}

TEST_F(TimeRanking, ARowForABlockBeatsARowForAThread) {
  Build(
      "extern \"C\" __global__ void thread_row(const float* x, float* y, int rows, int cols) {\n"
      "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (r >= rows) return;\n"
      "  float sum = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c) sum += expf(x[r * cols + c]);\n"
      "  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c]) / sum;\n}\n"
      "extern \"C\" __global__ void block_row(const float* x, float* y, int rows, int cols) {\n"
      "  __shared__ float part[256];\n"
      "  const float* row = x + blockIdx.x * cols;\n"
      "  float sum = 0.0f;\n"
      "  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(row[c]);\n"
      "  part[threadIdx.x] = sum;\n"
      "  __syncthreads();\n"
      "  for (int s = 128; s > 0; s >>= 1) {\n"
      "    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];\n"
      "    __syncthreads();\n"
      "  }\n"
      "  for (int c = threadIdx.x; c < cols; c += 256)\n"
      "    y[blockIdx.x * cols + c] = expf(row[c]) / part[0];\n}\n",
      {"thread_row", "block_row"});
  constexpr int kRows = 1024;
  constexpr int kCols = 1024;
  const double by_thread = TimeOf("thread_row", {kRows / 128, 1, 1}, {128, 1, 1}, kRows * kCols,
                                  kRows * kCols, {kRows, kCols});
  const double by_block =
      TimeOf("block_row", {kRows, 1, 1}, {256, 1, 1}, kRows * kCols, kRows * kCols, {kRows, kCols});
  EXPECT_GT(by_thread / by_block, 5);
  EXPECT_LT(InKernel(by_block), 7.5e-6);
}

constexpr char kMatmul[] = R"(
extern "C" __global__ void naive(const float* a, float* c, int n) {
  const float* b = a + n * n;
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int p = 0; p < n; ++p) sum += a[i * n + p] * b[p * n + j];
  c[i * n + j] = sum;
}
extern "C" __global__ void tiled(const float* a, float* c, int n) {
  __shared__ float s[32][32], t[32][32];
  const float* b = a + n * n;
  int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 32 + x, i = blockIdx.y * 32 + y;
  float sum = 0.0f;
  for (int p = 0; p < n; p += 32) {
    s[y][x] = a[i * n + p + x];
    t[y][x] = b[(p + y) * n + j];
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 32; ++q) sum += s[y][q] * t[q][x];
    __syncthreads();
  }
  c[i * n + j] = sum;
}
extern "C" __global__ void __launch_bounds__(256) registers(const float* a, float* c, int n) {
  __shared__ float s[8][128], t[8][128];
  const float* b = a + n * n;
  int id = threadIdx.x, x = id % 16, y = id / 16;
  a += blockIdx.y * 128 * n;
  b += blockIdx.x * 128;
  float sum[8][8] = {};
  for (int p = 0; p < n; p += 8) {
    for (int q = 0; q < 4; ++q) {
      s[(id % 8)][id / 8 + 32 * q] = a[(id / 8 + 32 * q) * n + p + id % 8];
      t[id / 128 + 2 * q][id % 128] = b[(p + id / 128 + 2 * q) * n + id % 128];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      float u[8], v[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) { u[k] = s[q][y * 8 + k]; v[k] = t[q][x + 16 * k]; }
#pragma unroll
      for (int k = 0; k < 8; ++k)
#pragma unroll
        for (int l = 0; l < 8; ++l) sum[k][l] += u[k] * v[l];
    }
    __syncthreads();
  }
  for (int k = 0; k < 8; ++k)
    for (int l = 0; l < 8; ++l)
      c[(blockIdx.y * 128 + y * 8 + k) * n + blockIdx.x * 128 + x + 16 * l] = sum[k][l];
}
)";

TEST_F(TimeRanking, MatmulGainsFromTilesAndMoreFromRegisters) {
  Build(kMatmul, {"naive", "tiled", "registers"});
  constexpr int kN = 1024;
  const size_t in = 2 * kN * kN;
  const size_t out = kN * kN;
  const double naive = TimeOf("naive", {kN / 16, kN / 16, 1}, {16, 16, 1}, in, out, {kN});
  const double tiled = TimeOf("tiled", {kN / 32, kN / 32, 1}, {32, 32, 1}, in, out, {kN});
  const double registers = TimeOf("registers", {kN / 128, kN / 128, 1}, {256, 1, 1}, in, out, {kN});
  // Measured on an H200 on 2026-11-30: 0.4250, 0.2474 and 0.2264 ms (64 blocks leave half of the
  // multiprocessors idle, so that register tiles gain little at this size).
  constexpr double kStatedError = 1.5;
  EXPECT_GT(naive / tiled, 1.72 / kStatedError);
  EXPECT_LT(naive / tiled, 1.72 * kStatedError);
  EXPECT_GT(tiled / registers, 1.0);
  EXPECT_LT(tiled / registers, 1.09 * kStatedError);
  // The fp32 peak is 32 us; naive kernels reach about a tenth of it.
  EXPECT_GT(registers, 40e-6);
  EXPECT_GT(naive, 200e-6);
  EXPECT_LT(naive, 600e-6);
}

TEST_F(TimeRanking, TransposeGainsFromATileAndLosesToBankConflicts) {
  Build(R"(
extern "C" __global__ void naive(const float* x, float* y, int n) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  y[c * n + r] = x[r * n + c];
}
template <int PAD> __global__ void tile(const float* x, float* y, int n) {
  __shared__ float t[32][32 + PAD];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) t[threadIdx.y + i][threadIdx.x] = x[(r + i) * n + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) y[(r + i) * n + c] = t[threadIdx.x][threadIdx.y + i];
}
)",
        {"naive", "tile<0>", "tile<1>"});
  constexpr int kN = 2048;
  const size_t count = size_t{kN} * kN;
  const double naive = TimeOf("naive", {kN / 32, kN / 8, 1}, {32, 8, 1}, count, count, {kN});
  const double conflicts = TimeOf("tile<0>", {kN / 32, kN / 32, 1}, {32, 8, 1}, count, count, {kN});
  const double padded = TimeOf("tile<1>", {kN / 32, kN / 32, 1}, {32, 8, 1}, count, count, {kN});
  EXPECT_GT(naive / padded, 1.8);
  EXPECT_LT(naive / padded, 6);
  EXPECT_GT(conflicts / padded, 1.03);
  EXPECT_NEAR(InKernel(padded), 9.5e-6, 3e-6);
}

TEST_F(TimeRanking, AtomicsForEachElementLoseToATreeInSharedMemory) {
  Build(R"(
extern "C" __global__ void each(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);
}
extern "C" __global__ void tree(const float* x, float* y, int n) {
  __shared__ float part[256];
  float sum = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(y, part[0]);
}
)",
        {"each", "tree"});
  constexpr int kCount = 1 << 20;
  const double each = TimeOf("each", {kCount / 256, 1, 1}, {256, 1, 1}, kCount, 1, {kCount});
  const double tree = TimeOf("tree", {264, 1, 1}, {256, 1, 1}, kCount, 1, {kCount});
  EXPECT_GT(each / tree, 20);
  EXPECT_LT(InKernel(tree), 8.5e-6);
}

TEST_F(TimeRanking, AHistogramGainsFromPrivateCopies) {
  Build(R"(
extern "C" __global__ void global(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&y[x[i]], 1);
}
extern "C" __global__ void shared(const int* x, int* y, int n) {
  __shared__ int part[256];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x)
    atomicAdd(&part[x[i]], 1);
  __syncthreads();
  atomicAdd(&y[threadIdx.x], part[threadIdx.x]);
}
)",
        {"global", "shared"});
  constexpr int kCount = 1 << 20;
  std::vector<int> data(kCount);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<int>((i * 2654435761U >> 13) & 255);
  }
  const auto time = [&](const char* kernel, uint32_t blocks) {
    const int x = AddBuffer("x", BufferOf(data, true));
    const int y = AddBuffer("y", BufferOf(std::vector<int>(256, 0)));
    AddLaunch(kernel, {blocks, 1, 1}, {256, 1, 1},
              {DevicePointer{x, 0}, DevicePointer{y, 0}, BytesOfValue(kCount)});
    return Seconds();
  };
  EXPECT_GT(time("global", kCount / 256) / time("shared", 264), 1.5);
}

TEST_F(TimeRanking, ManySmallLaunchesCostTheirOverhead) {
  Build(
      "extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = x[n]; }",
      {"k"});
  const double one = TimeOf("k", {}, {32, 1, 1}, 64, 64, {1});
  const int x = AddBuffer("x", BufferOf(std::vector<float>(64, 0.5F), true));
  const int y = AddOutput("y", 256);
  for (int i = 0; i < 10; ++i) {
    AddLaunch("k", {}, {32, 1, 1}, {DevicePointer{x, 0}, DevicePointer{y, 0}, BytesOfValue(1)});
  }
  // Each of the ten has its kernel, and nine an overhead besides.
  const double ten = Seconds();
  EXPECT_GT(ten / one, 5);
  EXPECT_GT(InKernel(ten), 10 * InKernel(one));
}

}  // namespace
}  // namespace optiml
