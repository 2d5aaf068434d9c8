#ifndef OPTIML_DEVICE_EMULATOR_TEST_SUPPORT_H_
#define OPTIML_DEVICE_EMULATOR_TEST_SUPPORT_H_

// For the tests of devices: kernels from source, plans by hand.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "build/builder.h"
#include "device/emulator_device.h"

namespace optiml {

template <typename T>
std::vector<std::byte> BytesOfValue(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
BufferContents BufferOf(const std::vector<T>& values, bool read_only = false) {
  BufferContents buffer;
  buffer.bytes.resize(values.size() * sizeof(T));
  std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
  buffer.read_only = read_only;
  buffer.element_bytes = sizeof(T);
  return buffer;
}

template <typename T>
std::vector<T> ValuesOf(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// An artifact, a plan and its buffers, that grow together.
class PlanFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    builder_ = MakeNvrtcBuilder({});
    if (const auto toolchain = builder_->Toolchain(); !toolchain.has_value()) {
      GTEST_SKIP() << toolchain.error().message();
    }
    auto device = MakeEmulatorDevice({});
    ASSERT_TRUE(device.has_value()) << device.error().message();
    device_ = *std::move(device);
  }

  void Build(const std::string& text, std::vector<std::string> kernels) {
    BuildRequest request;
    request.device_text = text;
    request.file_name = "kernel.cu";
    request.name_expressions = std::move(kernels);
    auto outcome = builder_->Build(request);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message();
    if (const auto* failure = std::get_if<BuildFailure>(&*outcome)) {
      FAIL() << failure->log;
    }
    artifact_ = std::get<Artifact>(*std::move(outcome));
  }

  // Returns the buffer's index in the plan.
  int AddBuffer(const std::string& name, BufferContents contents) {
    plan_.buffers.push_back({name, static_cast<int>(buffers_.size()), contents.bytes.size(), 0});
    buffers_.push_back(std::move(contents));
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  int AddOutput(const std::string& name, uint64_t bytes, uint32_t element_bytes = 4) {
    plan_.buffers.push_back({name, static_cast<int>(buffers_.size()), bytes, 0});
    BufferContents contents;
    contents.element_bytes = element_bytes;
    buffers_.push_back(contents);
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  int AddScratch(const std::string& name, uint64_t bytes) {
    plan_.buffers.push_back({name, -1, bytes, 0});
    return static_cast<int>(plan_.buffers.size()) - 1;
  }

  KernelLaunch& AddLaunch(const std::string& kernel, Dim3 grid, Dim3 block,
                          std::vector<KernelArgument> arguments) {
    KernelLaunch launch;
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = block;
    launch.arguments = std::move(arguments);
    launch.line = 100 + static_cast<int>(plan_.steps.size());
    plan_.steps.emplace_back(std::move(launch));
    return std::get<KernelLaunch>(plan_.steps.back());
  }

  void ClearPlan() {
    plan_ = {};
    buffers_.clear();
  }

  RunRequest Request(CheckLevel checks = CheckLevel::kBounds) const {
    RunRequest request;
    request.artifact = &artifact_;
    request.plan = &plan_;
    request.buffers = buffers_;
    request.checks = checks;
    return request;
  }

  RunOutcome Run(CheckLevel checks = CheckLevel::kFull) {
    auto outcome = device_->Run(Request(checks));
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message();
    return outcome.has_value() ? *std::move(outcome) : RunOutcome();
  }

  TimeOutcome Time() {
    auto outcome = device_->Time(Request());
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message();
    return outcome.has_value() ? *std::move(outcome) : TimeOutcome();
  }

  std::unique_ptr<Builder> builder_;
  std::unique_ptr<Device> device_;
  Artifact artifact_;
  LaunchPlan plan_;
  std::vector<BufferContents> buffers_;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_EMULATOR_TEST_SUPPORT_H_
