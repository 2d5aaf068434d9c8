// What the recorder keeps: programs, and why there is none. Neither is taken from another compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file_system.h"
#include "base/process.h"
#include "frontend/launcher_planner.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

constexpr char kCudaHeaders[] = "/usr/local/cuda/include";

class RecorderCache : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(kCudaHeaders) + "/cuda_runtime.h")) {
      GTEST_SKIP() << "CUDA's headers are missing";
    }
    if (const Result<void> sandbox = SandboxAvailable(); !sandbox) {
      GTEST_SKIP() << sandbox.error().message();
    }
  }

  // The plan of a launcher that is recorded, or why it is refused.
  std::string Outcome(const std::string& body) const {
    const auto parsed = ParseSource(KernelSource(
        "#include <vector>\n__global__ void k(float* y) {}\nextern \"C\" void run(float* y) {\n"
        "  std::vector<int> grid(1, 3);\n  " +
            body + "\n}\n",
        "run", "kernel.cu"));
    RecorderOptions options;
    options.cache_directory = cache_.path();
    options.cuda_include_directory = kCudaHeaders;
    LauncherPlanner planner(std::get<ast::SourceUnit>(*parsed), "run", options);
    LauncherArgument y;
    y.name = "y";
    y.is_buffer = true;
    y.size_bytes = 4;
    const auto plan = planner.Plan({y});
    if (!plan) {
      return "error: " + plan.error().message();
    }
    const auto* refusal = std::get_if<Refusal>(&*plan);
    return refusal != nullptr ? refusal->reason : std::get<LaunchPlan>(*plan).Format();
  }

  std::vector<std::filesystem::path> Kept(const std::string& extension) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(cache_.path())) {
      if (entry.path().extension() == extension) {
        found.push_back(entry.path());
      }
    }
    return found;
  }

  TemporaryDirectory cache_ = *TemporaryDirectory::Create("optiml-recorder-cache-test-");
};

TEST_F(RecorderCache, WhatDoesNotCompileIsKnownTheNextTime) {
  const std::string body = "k<<<__builtin_elementwise_max(grid[0], 3), 1>>>(y);";
  const std::string first = Outcome(body);
  EXPECT_THAT(first, HasSubstr("kernel.cu:5: it does not compile for this machine"));
  ASSERT_EQ(Kept(".refused").size(), 1u);
  EXPECT_EQ(Outcome(body), first);
  ASSERT_TRUE(WriteFileAtomically(Kept(".refused")[0], "4\nit was kept"));
  EXPECT_THAT(Outcome(body), HasSubstr("kernel.cu:4: it was kept"));
}

TEST_F(RecorderCache, WhatNoLauncherMayUseIsKnownTheNextTime) {
  EXPECT_THAT(Outcome("k<<<grid[0] + rand() % 2, 1>>>(y);"), HasSubstr("which no launcher may"));
  EXPECT_EQ(Kept(".refused").size(), 1u);
}

TEST_F(RecorderCache, AnotherCompilerMakesItsOwnProgram) {
  const TemporaryDirectory tools = *TemporaryDirectory::Create("optiml-recorder-cache-tools-");
  const std::filesystem::path bin = tools.path() / "bin";
  ASSERT_TRUE(CreateDirectories(bin));
  ASSERT_TRUE(WriteFileAtomically(bin / "c++",
                                  "#!/bin/sh\nif [ \"$1\" = --version ]; then cat \"$(dirname "
                                  "\"$0\")/version\"; else exec /usr/bin/c++ \"$@\"; fi\n"));
  std::filesystem::permissions(bin / "c++", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  const std::string body = "k<<<grid[0], 1>>>(y);";
  for (const char* version : {"c++ 1\n", "c++ 1\n", "c++ 2\n"}) {
    ASSERT_TRUE(WriteFileAtomically(bin / "version", version));
    EXPECT_THAT(Outcome(body), HasSubstr("launch k grid 3x1x1"));
  }
  setenv("PATH", path.c_str(), 1);
  // Two programs; their runtimes end in .o.
  EXPECT_EQ(Kept("").size(), 2u);
  EXPECT_EQ(Kept(".o").size(), 2u);
}

}  // namespace
}  // namespace optiml
