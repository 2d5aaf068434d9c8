// Whole kernels as NVRTC compiled them (bench/ptx/bench.ptx), with every check, against plain host
// code.

#include <cmath>

#include "base/rng.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

std::vector<float> Random(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  Rng rng(seed);
  for (float& value : values) {
    value = static_cast<float>(rng.NextUnit() * 4 - 2);
  }
  return values;
}

const Module& Kernels() {
  static const Module module = ParseFile("bench/ptx/bench.ptx");
  return module;
}

LaunchOutcome Execute(const std::string& kernel, Dim3 grid, Dim3 block,
                      const std::vector<std::vector<std::byte>>& arguments, DeviceMemory& memory) {
  LaunchRequest request = Request(Kernels(), kernel, grid, block, arguments);
  request.checks = {true, true, false, true};
  request.counters = true;
  request.cache.enabled = true;
  LaunchOutcome outcome = Launch(request, memory);
  EXPECT_TRUE(outcome.clean()) << kernel << ": " << outcome.message
                               << (outcome.findings.empty() ? "" : outcome.findings[0].detail);
  return outcome;
}

uint64_t Output(DeviceMemory& memory, std::string_view name, size_t elements) {
  const uint64_t address = memory.Allocate(name, elements * 4, 4);
  memory.MarkUninitialised(address);
  return address;
}

TEST(Kernels, Relu) {
  DeviceMemory memory;
  const auto x = Random(1003, 1);
  const uint64_t in = Upload(memory, "x", x);
  const uint64_t out = Output(memory, "y", x.size());
  Execute("relu", {4}, {256}, {Argument(in), Argument(out), Argument(1003)}, memory);
  const auto y = Download<float>(memory, out);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], std::max(x[i], 0.0f));
  }
  EXPECT_EQ(memory.UninitialisedBytes(out), 0u);
}

TEST(Kernels, Softmax) {
  DeviceMemory memory;
  constexpr int kRows = 37;
  constexpr int kCols = 101;
  const auto x = Random(kRows * kCols, 2);
  const uint64_t in = Upload(memory, "x", x);
  const uint64_t out = Output(memory, "y", x.size());
  Execute("softmax", {2}, {32}, {Argument(in), Argument(out), Argument(kRows), Argument(kCols)},
          memory);
  const auto y = Download<float>(memory, out);
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int c = 0; c < kCols; ++c) {
      sum += std::exp(static_cast<double>(x[static_cast<size_t>(r * kCols + c)]));
    }
    for (int c = 0; c < kCols; ++c) {
      const auto i = static_cast<size_t>(r * kCols + c);
      ASSERT_NEAR(y[i], std::exp(static_cast<double>(x[i])) / sum, 1e-7);
    }
  }
}

TEST(Kernels, MatrixProductsTiledAndNaive) {
  DeviceMemory memory;
  constexpr int kN = 45;
  const auto a = Random(kN * kN, 3);
  const auto b = Random(kN * kN, 4);
  const uint64_t da = Upload(memory, "a", a);
  const uint64_t db = Upload(memory, "b", b);
  for (const char* kernel : {"mm_naive", "mm_tiled"}) {
    const uint64_t dc = Output(memory, "c", kN * kN);
    Execute(kernel, {3, 3}, {16, 16}, {Argument(da), Argument(db), Argument(dc), Argument(kN)},
            memory);
    const auto c = Download<float>(memory, dc);
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        double sum = 0;
        for (int k = 0; k < kN; ++k) {
          sum += static_cast<double>(a[static_cast<size_t>(i * kN + k)]) *
                 static_cast<double>(b[static_cast<size_t>(k * kN + j)]);
        }
        ASSERT_NEAR(c[static_cast<size_t>(i * kN + j)], sum, 1e-4) << kernel;
      }
    }
  }
}

TEST(Kernels, HistogramsAndReductions) {
  DeviceMemory memory;
  std::vector<int> x(5000);
  Rng rng(5);
  std::vector<int> expected(256, 0);
  for (int& value : x) {
    value = static_cast<int>(rng.NextBelow(256));
    ++expected[static_cast<size_t>(value)];
  }
  const uint64_t in = Upload(memory, "x", x);
  for (const char* kernel : {"hist_global", "hist_shared"}) {
    const uint64_t out = Upload(memory, "h", std::vector<int>(256, 0));
    Execute(kernel, {4}, {256}, {Argument(in), Argument(out), Argument(5000)}, memory);
    EXPECT_EQ(Download<int>(memory, out), expected) << kernel;
  }
  const auto values = Random(1000, 6);
  const uint64_t reduced = Output(memory, "sums", 4);
  Execute("reduce", {4}, {256},
          {Argument(Upload(memory, "v", values)), Argument(reduced), Argument(1000)}, memory);
  const auto sums = Download<float>(memory, reduced);
  for (size_t b = 0; b < 4; ++b) {
    double sum = 0;
    for (size_t i = b * 256; i < std::min<size_t>((b + 1) * 256, 1000); ++i) {
      sum += static_cast<double>(values[i]);
    }
    EXPECT_NEAR(sums[b], sum, 1e-4);
  }
}

TEST(Kernels, StencilAndTranspose) {
  DeviceMemory memory;
  constexpr int kN = 64;
  const auto x = Random(kN * kN, 7);
  const uint64_t in = Upload(memory, "x", x);
  const uint64_t out = Output(memory, "y", x.size());
  Execute("stencil", {2, 8}, {32, 8}, {Argument(in), Argument(out), Argument(kN)}, memory);
  EXPECT_EQ(memory.UninitialisedBytes(out), 4u * (kN * kN - (kN - 2) * (kN - 2)));
  const uint64_t turned = Output(memory, "t", x.size());
  const LaunchOutcome outcome =
      Execute("transpose", {2, 2}, {32, 8}, {Argument(in), Argument(turned), Argument(kN)}, memory);
  EXPECT_EQ(outcome.counters.shared_load.conflicts, 0u);
  const auto t = Download<float>(memory, turned);
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kN; ++j) {
      ASSERT_EQ(t[static_cast<size_t>(j * kN + i)], x[static_cast<size_t>(i * kN + j)]);
    }
  }
}

TEST(Kernels, AnOffByOneIsCaught) {
  DeviceMemory memory;
  const uint64_t in = Upload(memory, "x", Random(1000, 8));
  const uint64_t out = Output(memory, "y", 1000);
  LaunchRequest request =
      Request(Kernels(), "relu", {4}, {256}, {Argument(in), Argument(out), Argument(1001)});
  const LaunchOutcome outcome = Launch(request, memory);
  EXPECT_EQ(outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(outcome.findings[0].line, 6);  // bench.cu: if (i < n) y[i] = ...
}

}  // namespace
}  // namespace optiml::ptx
