#include "build/build_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file_system.h"

namespace optiml {
namespace {

Artifact SomeArtifact() {
  Artifact artifact;
  artifact.key = ContentHash::Of("key");
  artifact.ptx_hash = ContentHash::Of("ptx");
  artifact.architecture = "sm_90";
  artifact.ptx = ".version 9.0\nret;\n";
  artifact.cubin = {std::byte{0}, std::byte{0xff}, std::byte{'\n'}, std::byte{7}};
  artifact.log = "warning \xff\n";
  artifact.options = {"-std=c++17", "-lineinfo"};
  artifact.toolchain = "NVRTC 13.0";
  artifact.build_time = std::chrono::milliseconds(3);
  KernelResources kernel;
  kernel.name_expression = "k<float>";
  kernel.lowered_name = "_Z1kIfE";
  kernel.registers = 40;
  kernel.static_shared_bytes = 1;
  kernel.stack_bytes = 2;
  kernel.spill_store_bytes = 3;
  kernel.spill_load_bytes = 4;
  kernel.barriers = 6;
  artifact.kernels = {kernel};
  return artifact;
}

TEST(BuildOutcomeFormat, RoundTripsAnArtifact) {
  const Artifact made = SomeArtifact();
  const auto parsed = ParseBuildOutcome(FormatBuildOutcome(made));
  ASSERT_TRUE(parsed.has_value());
  const auto& got = std::get<Artifact>(*parsed);
  EXPECT_EQ(got.key, made.key);
  EXPECT_EQ(got.ptx_hash, made.ptx_hash);
  EXPECT_EQ(got.architecture, made.architecture);
  EXPECT_EQ(got.ptx, made.ptx);
  EXPECT_EQ(got.cubin, made.cubin);
  EXPECT_EQ(got.log, made.log);
  EXPECT_EQ(got.options, made.options);
  EXPECT_EQ(got.toolchain, made.toolchain);
  ASSERT_EQ(got.kernels.size(), 1u);
  EXPECT_EQ(got.kernels[0].name_expression, "k<float>");
  EXPECT_EQ(got.kernels[0].lowered_name, "_Z1kIfE");
  EXPECT_EQ(got.kernels[0].registers, 40);
  EXPECT_EQ(got.kernels[0].static_shared_bytes, 1u);
  EXPECT_EQ(got.kernels[0].stack_bytes, 2u);
  EXPECT_EQ(got.kernels[0].spill_store_bytes, 3u);
  EXPECT_EQ(got.kernels[0].spill_load_bytes, 4u);
  EXPECT_EQ(got.kernels[0].barriers, 6);
}

TEST(BuildOutcomeFormat, RoundTripsAFailure) {
  BuildFailure made;
  made.stage = "compile";
  made.log = "k.cu(1): error: no\n";
  made.first_error = "k.cu:1: no";
  const auto parsed = ParseBuildOutcome(FormatBuildOutcome(made));
  ASSERT_TRUE(parsed.has_value());
  const auto& got = std::get<BuildFailure>(*parsed);
  EXPECT_EQ(got.stage, made.stage);
  EXPECT_EQ(got.log, made.log);
  EXPECT_EQ(got.first_error, made.first_error);
}

TEST(BuildOutcomeFormat, RefusesEveryTruncationAndEveryChangedByte) {
  const std::string good = FormatBuildOutcome(SomeArtifact());
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(ParseBuildOutcome(good.substr(0, length)).has_value()) << length;
  }
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    EXPECT_FALSE(ParseBuildOutcome(bad).has_value()) << i;
  }
}

TEST(BuildCache, AnswersFromDiskAfterARestart) {
  auto folder = TemporaryDirectory::Create("build_cache");
  ASSERT_TRUE(folder.has_value());
  const ContentHash key = ContentHash::Of("key");
  BuildCache(folder->path() / "made" / "later").Insert(key, SomeArtifact());
  BuildCache second(folder->path() / "made" / "later");
  const auto found = second.Find(key);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(std::get<Artifact>(*found).from_cache);
  EXPECT_EQ(std::get<Artifact>(*found).build_time.count(), 0);
  EXPECT_FALSE(second.Find(ContentHash::Of("other")).has_value());
}

TEST(BuildCache, TakesADamagedEntryForAbsentAndReplacesIt) {
  auto folder = TemporaryDirectory::Create("build_cache");
  ASSERT_TRUE(folder.has_value());
  const ContentHash key = ContentHash::Of("key");
  BuildCache first(folder->path());
  first.Insert(key, SomeArtifact());
  std::ofstream(first.PathOf(key), std::ios::trunc) << "rubbish";
  BuildCache second(folder->path());
  EXPECT_FALSE(second.Find(key).has_value());
  second.Insert(key, SomeArtifact());
  EXPECT_TRUE(BuildCache(folder->path()).Find(key).has_value());
}

TEST(BuildCache, GoesOnInMemoryWhenTheFolderCannotBeMade) {
  auto folder = TemporaryDirectory::Create("build_cache");
  ASSERT_TRUE(folder.has_value());
  std::ofstream(folder->path() / "file") << "x";
  BuildCache cache(folder->path() / "file" / "sub");
  const ContentHash key = ContentHash::Of("key");
  cache.Insert(key, SomeArtifact());
  EXPECT_TRUE(cache.Find(key).has_value());
}

}  // namespace
}  // namespace optiml
