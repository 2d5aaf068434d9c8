// A machine that cannot confine: nothing is recorded, and the refusal says what helps. A program of
// its own, since whether there is a sandbox is found out once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "frontend/launcher_planner.h"

namespace optiml {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RecorderWithoutSandbox, NamesTheFlagThatDoesWithout) {
  setenv("PATH", "/nowhere", 1);
  const auto parsed = ParseSource(KernelSource(
      "struct Guard { ~Guard() {} };\n__global__ void k(float* y) {}\nextern \"C\" void run(float* "
      "y) { Guard g; k<<<1, 1>>>(y); }\n",
      "run", "kernel.cu"));
  ASSERT_TRUE(parsed);
  LauncherPlanner planner(std::get<ast::SourceUnit>(*parsed), "run", {});
  LauncherArgument y;
  y.name = "y";
  y.is_buffer = true;
  y.size_bytes = 4;
  const auto plan = planner.Plan({y});
  ASSERT_TRUE(plan);
  const auto* refusal = std::get_if<Refusal>(&*plan);
  ASSERT_NE(refusal, nullptr);
  EXPECT_THAT(refusal->reason,
              AllOf(HasSubstr("launcher uses an object of Guard"),
                    HasSubstr("bubblewrap (bwrap) is missing"), HasSubstr("--unconfined")));
}

}  // namespace
}  // namespace optiml
