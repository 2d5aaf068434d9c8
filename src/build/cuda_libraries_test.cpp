#include "build/cuda_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/file_system.h"

namespace optiml {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

LibrarySearch SearchWith(std::map<std::string, std::string> environment) {
  LibrarySearch search;
  search.use_defaults = false;
  search.environment =
      [environment = std::move(environment)](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  return search;
}

TEST(PlacesOf, OurOwnVariableExcludesAllOthers) {
  const auto places =
      PlacesOf(SearchWith({{"OPTIML_CUDA_HOME", "/a"}, {"CUDA_HOME", "/b"}}), false);
  EXPECT_THAT(places.libraries, ElementsAre("/a/lib64", "/a/lib", "/a"));
  EXPECT_THAT(places.includes, ElementsAre("/a/include"));
}

TEST(PlacesOf, FindsWheelsBesideTheExecutableAndInTheNamedSite) {
  auto folder = TemporaryDirectory::Create("places");
  ASSERT_TRUE(folder.has_value());
  const fs::path root = folder->path();
  const fs::path venv = root / ".venv/lib/python3.11/site-packages/nvidia/cu13/lib";
  const fs::path site = root / "site/nvidia/cuda_nvrtc/lib";
  ASSERT_TRUE(CreateDirectories(venv).has_value());
  ASSERT_TRUE(CreateDirectories(site).has_value());
  LibrarySearch search = SearchWith({{"OPTIML_PYTHON_SITE", (root / "site").string()}});
  search.executable = root / "bin/optiml";
  const auto places = PlacesOf(search, false);
  EXPECT_THAT(places.libraries, Contains(venv));
  EXPECT_THAT(places.libraries, Contains(site));
  search.executable = root / "build/release/bin/optiml";
  EXPECT_THAT(PlacesOf(search, false).libraries, Contains(venv)) << "of a build tree";
  search.executable = root / "a/b/c/d/e/f/optiml";
  EXPECT_THAT(PlacesOf(search, false).libraries, Not(Contains(venv)));
}

TEST(LibraryFiles, AreThoseThatAreThereInTheToolkitAndItsExtras) {
  auto folder = TemporaryDirectory::Create("files");
  ASSERT_TRUE(folder.has_value());
  const fs::path root = folder->path();
  for (const char* file : {"extras/CUPTI/lib64/libcupti.so.12", "lib64/libcupti.so.13"}) {
    ASSERT_TRUE(CreateDirectories((root / file).parent_path()).has_value());
    ASSERT_TRUE(WriteFileAtomically(root / file, "").has_value());
  }
  const LibrarySearch search = SearchWith({{"OPTIML_CUDA_HOME", root.string()}});
  EXPECT_THAT(LibraryFiles(search, "libcupti"),
              ElementsAre((root / "lib64/libcupti.so.13").string(),
                          (root / "extras/CUPTI/lib64/libcupti.so.12").string()));
  EXPECT_THAT(LibraryFiles(search, "libother"), ElementsAre());
}

TEST(OpenCudaLibraries, NamesTheRemedyWhenThereIsNoLibrary) {
  auto folder = TemporaryDirectory::Create("no_cuda");
  ASSERT_TRUE(folder.has_value());
  const auto opened =
      OpenCudaLibraries(SearchWith({{"OPTIML_CUDA_HOME", folder->path().string()}}));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(opened.error().message(), HasSubstr("libnvrtc.so was not found under"));
  EXPECT_THAT(opened.error().message(), HasSubstr("pip install nvidia-cuda-nvrtc"));
}

TEST(OpenCudaLibraries, NamesAFileThatIsNoLibrary) {
  auto folder = TemporaryDirectory::Create("bad_cuda");
  ASSERT_TRUE(folder.has_value());
  ASSERT_TRUE(CreateDirectories(folder->path() / "lib64").has_value());
  std::ofstream(folder->path() / "lib64/libnvrtc.so.13") << "not a library";
  const auto opened =
      OpenCudaLibraries(SearchWith({{"OPTIML_CUDA_HOME", folder->path().string()}}));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(opened.error().message(), HasSubstr("libnvrtc.so.13"));
}

TEST(OpenCudaLibraries, LoadsTheBuiltinsThatNvrtcAsksForByName) {
  const auto opened = OpenCudaLibraries(LibrarySearch::OfThisProcess());
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  const std::string name = fmt::format("libnvrtc-builtins.so.{}", opened->info.nvrtc_version);
  void* loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(loaded, nullptr) << name << " beside " << opened->info.nvrtc;
  if (loaded != nullptr) {
    dlclose(loaded);
  }
}

}  // namespace
}  // namespace optiml
