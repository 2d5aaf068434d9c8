// The worker's own kernels, on the emulator with every check.
#include "device/cuda/support_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/rng.h"
#include "device/emulator_device.h"
#include "device/emulator_test_support.h"

namespace optiml {
namespace {

class SupportKernelsTest : public testing::Test {
 protected:
  SupportKernelsTest() {
    device_ = *MakeEmulatorDevice({});
    artifact_.architecture = "sm_90";
    artifact_.ptx = std::string(SupportKernels().front().text);
    artifact_.ptx_hash = ContentHash::Of(artifact_.ptx);
    for (const char* name :
         {"optiml_wait", "optiml_read", "optiml_differ", "optiml_count_other", "optiml_digest"}) {
      KernelResources kernel;
      kernel.name_expression = name;
      kernel.lowered_name = name;
      artifact_.kernels.push_back(kernel);
    }
  }

  // The last buffer after the kernel ran on `blocks` blocks of 64.
  std::vector<uint32_t> Run(const std::string& kernel, std::vector<BufferContents> buffers,
                            std::vector<KernelArgument> arguments, uint32_t blocks) {
    LaunchPlan plan;
    RunRequest request;
    for (size_t i = 0; i < buffers.size(); ++i) {
      plan.buffers.push_back(
          {"b" + std::to_string(i), static_cast<int>(i), buffers[i].bytes.size(), 0});
    }
    KernelLaunch launch;
    launch.kernel = kernel;
    launch.grid.x = blocks;
    launch.block.x = 64;
    launch.arguments = std::move(arguments);
    plan.steps = {launch};
    request.artifact = &artifact_;
    request.plan = &plan;
    request.buffers = std::move(buffers);
    request.checks = CheckLevel::kFull;
    const Result<RunOutcome> outcome = device_->Run(request);
    EXPECT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(outcome->status, RunStatus::kCompleted) << outcome->reason;
    EXPECT_TRUE(outcome->findings.empty()) << outcome->reason;
    return ValuesOf<uint32_t>(outcome->buffers.back());
  }

  Artifact artifact_;
  std::unique_ptr<Device> device_;
};

std::vector<uint8_t> Bytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<uint8_t>(i * 7 + 1);
  }
  return bytes;
}

TEST_F(SupportKernelsTest, DifferCountsWordsAndTheBytesThatAreLeft) {
  for (const size_t count :
       {size_t{1}, size_t{3}, size_t{4}, size_t{257}, size_t{1024}, size_t{4099}}) {
    const std::vector<uint8_t> a = Bytes(count);
    std::vector<uint8_t> b = a;
    const auto run = [&] {
      return Run("optiml_differ", {BufferOf(a, true), BufferOf(b, true), BufferOf<uint32_t>({0})},
                 {DevicePointer{0, 0}, DevicePointer{1, 0}, BytesOfValue<uint64_t>(count),
                  DevicePointer{2, 0}},
                 3)[0];
    };
    EXPECT_EQ(run(), 0U) << count;
    b.back() ^= 1;
    EXPECT_EQ(run(), 1U) << count;
    b.front() ^= 1;
    // Of one word, or the same byte back again.
    EXPECT_EQ(run(), count == 1 ? 0U : count <= 4 && count != 3 ? 1U : 2U) << count;
  }
}

TEST_F(SupportKernelsTest, CountOtherCountsBytes) {
  std::vector<uint8_t> guard(5001, 0xC7);
  guard[0] = 1;
  guard[5000] = 2;
  guard[777] = 3;
  EXPECT_EQ(Run("optiml_count_other", {BufferOf(guard, true), BufferOf<uint32_t>({10})},
                {DevicePointer{0, 0}, BytesOfValue<uint64_t>(guard.size()),
                 BytesOfValue<uint32_t>(0xC7), DevicePointer{1, 0}},
                2)[0],
            13U);
}

uint64_t Mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// As support.ptx says.
uint64_t DigestOf(const std::vector<uint8_t>& bytes, uint64_t key) {
  uint64_t sum = 0;
  const size_t words = bytes.size() / 4;
  for (size_t i = 0; i < words + bytes.size() % 4; ++i) {
    uint64_t value = 0;
    if (i < words) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + 4 * i, 4);
      value = word;
    } else {
      value = bytes[4 * words + i - words] | uint64_t{1} << 32;
    }
    sum += Mixed(RandomAt(key, i) ^ value);
  }
  return sum;
}

TEST_F(SupportKernelsTest, ADigestIsOfEveryByteAndItsPlace) {
  constexpr uint64_t kLow = 0x1234;
  constexpr uint64_t kHigh = 0xfedcba9876543210;
  for (const size_t count : {size_t{1}, size_t{4}, size_t{1003}}) {
    std::vector<uint8_t> bytes = Bytes(count);
    const auto digest = [&] {
      // 5 and 7 were there before.
      const std::vector<uint32_t> words =
          Run("optiml_digest", {BufferOf(bytes, true), BufferOf<uint64_t>({5, 7})},
              {DevicePointer{0, 0}, BytesOfValue<uint64_t>(count), BytesOfValue(kLow),
               BytesOfValue(kHigh), DevicePointer{1, 0}},
              3);
      std::array<uint64_t, 2> sums{};
      std::memcpy(sums.data(), words.data(), sizeof(sums));
      EXPECT_EQ(sums[0] - 5, DigestOf(bytes, kLow)) << count;
      EXPECT_EQ(sums[1] - 7, DigestOf(bytes, kHigh)) << count;
      return sums;
    };
    const auto first = digest();
    bytes.back() ^= 1;
    EXPECT_NE(digest(), first);
    bytes.back() ^= 1;
    if (count > 4) {
      std::swap(bytes[0], bytes[4]);  // the same bytes in other places
      EXPECT_NE(digest(), first);
    }
  }
}

TEST_F(SupportKernelsTest, ReadReadsEverythingAndStoresNothing) {
  const std::vector<uint8_t> data = Bytes(16 * 1000);
  EXPECT_EQ(Run("optiml_read", {BufferOf(data, true), BufferOf<uint32_t>({42})},
                {DevicePointer{0, 0}, BytesOfValue<uint64_t>(1000), DevicePointer{1, 0}}, 2)[0],
            42U);
}

TEST_F(SupportKernelsTest, WaitEndsWhenTheFlagIsSet) {
  EXPECT_EQ(Run("optiml_wait", {BufferOf<uint32_t>({1})},
                {DevicePointer{0, 0}, BytesOfValue<uint64_t>(uint64_t{1} << 60)}, 1)[0],
            1U);
}

}  // namespace
}  // namespace optiml
