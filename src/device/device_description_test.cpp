#include "device/device_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

std::string H200Text() {
  for (const EmbeddedText& file : EmbeddedDeviceDescriptions()) {
    if (file.name == "h200.toml") {
      return std::string(file.text);
    }
  }
  return {};
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(DeviceDescription, EveryBuiltInModelLoads) {
  EXPECT_THAT(DeviceDescriptionNames(), ::testing::ElementsAre("h200", "a100", "rtx4090"));
  for (const std::string& name : DeviceDescriptionNames()) {
    const auto device = LoadDeviceDescription(name);
    ASSERT_TRUE(device.has_value()) << device.error().message();
    EXPECT_GT(device->dram_bytes_per_s, device->dram_achievable_bytes_per_s);
    EXPECT_GT(device->prediction_error_factor, 1);
    EXPECT_GT(device->shared_bytes_per_multiprocessor, device->shared_bytes_per_block_limit);
  }
}

TEST(DeviceDescription, H200ReachesThePeaksOfItsDataSheet) {
  const auto device = LoadDeviceDescription("H200");
  ASSERT_TRUE(device.has_value());
  EXPECT_NEAR(device->Fp32FlopsPerSecond(), 66.9e12, 0.1e12);
  EXPECT_DOUBLE_EQ(device->dram_bytes_per_s, 4.8e12);
  EXPECT_EQ(device->architecture, "sm_90");
}

TEST(DeviceDescription, NamesAreFoundInAnySpelling) {
  EXPECT_TRUE(LoadDeviceDescription("RTX 4090").has_value());
  const auto unknown = LoadDeviceDescription("h300");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message(), HasSubstr("h200 a100 rtx4090"));
}

TEST(DeviceDescription, IsReadFromAPath) {
  auto folder = TemporaryDirectory::Create("description");
  ASSERT_TRUE(folder.has_value());
  const fs::path path = folder->path() / "mine.toml";
  ASSERT_TRUE(WriteFileAtomically(path, Replaced(H200Text(), "\"H200\"", "\"Mine\"")).has_value());
  const auto device = LoadDeviceDescription(path.string());
  ASSERT_TRUE(device.has_value()) << device.error().message();
  EXPECT_EQ(device->name, "Mine");
  EXPECT_FALSE(LoadDeviceDescription((folder->path() / "absent.toml").string()).has_value());
}

TEST(DeviceDescription, RefusesUnknownMissingAndImpossibleKeysByLine) {
  const auto unknown =
      ParseDeviceDescription(Replaced(H200Text(), "warps = 64", "wraps = 64"), "d.toml");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), ErrorCode::kParse);
  EXPECT_THAT(unknown.error().message(), HasSubstr("multiprocessor.warps"));
  const auto negative =
      ParseDeviceDescription(Replaced(H200Text(), "count = 132", "count = -1"), "d.toml");
  ASSERT_FALSE(negative.has_value());
  EXPECT_THAT(negative.error().message(), HasSubstr("d.toml:"));
  EXPECT_THAT(negative.error().message(), HasSubstr("count must be a positive number"));
  const auto more =
      ParseDeviceDescription(Replaced(H200Text(), "[memory]", "[memory]\ncolour = 3"), "d.toml");
  ASSERT_FALSE(more.has_value());
  EXPECT_THAT(more.error().message(), HasSubstr("unknown key memory.colour"));
  const auto no_table =
      ParseDeviceDescription(Replaced(H200Text(), "[memory]", "[memoir]"), "d.toml");
  ASSERT_FALSE(no_table.has_value());
  const auto broken = ParseDeviceDescription("name = \n", "d.toml");
  ASSERT_FALSE(broken.has_value());
  EXPECT_THAT(broken.error().message(), HasSubstr("d.toml:1"));
}

}  // namespace
}  // namespace optiml
