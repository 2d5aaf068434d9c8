#include "cli/counter_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CounterCheck, SaysHowManyMetricsAndPassesThereAre) {
  cuda::CounterFacts facts;
  facts.library = "/usr/lib/libcupti.so.13";
  facts.passes = 7;
  facts.metrics = {"a", "b"};
  facts.unknown = {"c"};
  const CounterCheck check = JudgeCounters(facts);
  EXPECT_TRUE(check.can_count);
  EXPECT_EQ(check.what, "2 metrics in 7 passes, by /usr/lib/libcupti.so.13; this GPU lacks 1 more");
  EXPECT_EQ(check.follows, "");
}

TEST(CounterCheck, WithoutPermissionItSaysWhatToDo) {
  const CounterCheck check = JudgeCounters(
      Error(ErrorCode::kUnavailable, "not permitted (ERR_NVGPUCTRPERM / CUPTI_ERROR_X)"));
  EXPECT_FALSE(check.can_count);
  EXPECT_THAT(check.what, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(check.follows, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(check.follows, HasSubstr("emulator's counters"));
}

TEST(CounterCheck, OtherReasonsHaveNothingToDoWithPermission) {
  const CounterCheck check =
      JudgeCounters(Error(ErrorCode::kUnavailable, "CUPTI (libcupti.so) was not found"));
  EXPECT_FALSE(check.can_count);
  EXPECT_THAT(check.follows, HasSubstr("emulator's counters"));
  EXPECT_THAT(check.follows, Not(HasSubstr("NVreg")));
}

TEST(CounterCheck, IsALineOfDoctorWhereThereIsAGpu) {
  CommandLine line;
  line.tools.facts.toolchain = *line.tools.toolchain;
  line.tools.facts.compiler = {"c++", "/usr/bin/c++", "g++ 12"};
  line.tools.counters = {false, "not permitted", "the emulator's"};
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  EXPECT_THAT(line.out.str(), Not(HasSubstr("counters")));
  line.tools.facts.gpus = {{"NVIDIA H200", "sm_90"}};
  EXPECT_EQ(line.Run({"doctor"}), kExitDone) << "the main job needs none";
  EXPECT_THAT(line.out.str(), HasSubstr("missing  counters      not permitted"));
  EXPECT_EQ(line.tools.counted_on, "cuda");
  EXPECT_EQ(line.Run({"doctor", "--device", "cuda:1"}), kExitDone);
  EXPECT_EQ(line.tools.counted_on, "cuda:1");
}

}  // namespace
}  // namespace optiml
