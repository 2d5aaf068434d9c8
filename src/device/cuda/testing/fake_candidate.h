#ifndef OPTIML_DEVICE_CUDA_TESTING_FAKE_CANDIDATE_H_
#define OPTIML_DEVICE_CUDA_TESTING_FAKE_CANDIDATE_H_

// A device of the fake driver (fake_driver.cpp), and candidates for it. Included by tests only.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/cuda_device.h"

namespace optiml {

inline constexpr size_t kCount = 1000;

inline std::vector<std::byte> Ints(int first) {
  std::vector<int> values(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    values[i] = first + static_cast<int>(i);
  }
  std::vector<std::byte> bytes(kCount * sizeof(int));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline int IntAt(const std::vector<std::byte>& bytes, size_t i) {
  int value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof(int), sizeof(int));
  return value;
}

// y = kernel(x, y, n) and what it reads and writes.
struct Candidate {
  explicit Candidate(const std::string& kernel) {
    artifact.architecture = "sm_90";
    artifact.cubin.resize(kernel.size() + 1);
    std::memcpy(artifact.cubin.data(), kernel.c_str(), kernel.size() + 1);
    KernelResources resources;
    resources.name_expression = kernel;
    resources.lowered_name = kernel;
    artifact.kernels.push_back(resources);
    plan.buffers = {{"x", 0, kCount * sizeof(int), 1}, {"y", 1, kCount * sizeof(int), 1}};
    KernelLaunch launch;
    launch.kernel = kernel;
    launch.line = 7;
    const int n = kCount;
    std::vector<std::byte> count(sizeof(n));
    std::memcpy(count.data(), &n, sizeof(n));
    launch.arguments = {DevicePointer{0, 0}, DevicePointer{1, 0}, count};
    plan.steps = {launch};
    request.artifact = &artifact;
    request.plan = &plan;
    request.buffers = Contents(100);
  }

  static std::vector<BufferContents> Contents(int first) {
    std::vector<BufferContents> buffers(2);
    buffers[0].bytes = Ints(first);
    buffers[0].read_only = true;
    return buffers;
  }

  Artifact artifact;
  LaunchPlan plan;
  RunRequest request;
};

inline CudaOptions Options(const std::string& fake = "", int ordinal = 0) {
  CudaOptions options;
  options.worker.program = OPTIML_TEST_WORKER;
  options.worker.arguments = {};
  options.worker.driver_library = OPTIML_FAKE_DRIVER;
  options.worker.ordinal = ordinal;
  if (!fake.empty()) {
    options.worker.environment["FAKE_DRIVER"] = fake;
  }
  options.nvml_library = "/no/such/libnvidia-ml.so.1";
  options.timing.total_s = 0.02;
  options.timing.most_copies = 4;
  options.time_limit = std::chrono::milliseconds(3000);
  return options;
}

inline std::unique_ptr<CudaDevice> Opened(CudaOptions options = Options()) {
  Result<std::unique_ptr<CudaDevice>> made = CudaDevice::Make(std::move(options));
  EXPECT_TRUE(made) << made.error().message();
  return *std::move(made);
}

}  // namespace optiml

#endif  // OPTIML_DEVICE_CUDA_TESTING_FAKE_CANDIDATE_H_
