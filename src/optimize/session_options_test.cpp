#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/session.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(SessionOptions, SurviveTheWayThroughText) {
  SessionOptions options;
  options.search.strategy = "greedy";
  options.search.seed = 18446744073709551615u;
  options.search.exploration = 0.1;
  options.search.max_depth = 3;
  options.budget.candidates = 7;
  options.budget.wall_time = std::chrono::seconds(90);
  options.verifier.seeds = 5;
  options.judge = false;
  options.in_flight = 7;
  options.model_share = 0.125;
  const auto back = ParseSessionOptions(FormatSessionOptions(options));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(FormatSessionOptions(*back), FormatSessionOptions(options));
  EXPECT_EQ(back->search.seed, options.search.seed);
  EXPECT_EQ(back->search.exploration, 0.1);
  EXPECT_EQ(back->budget.wall_time, std::chrono::seconds(90));
  EXPECT_FALSE(back->judge);
  EXPECT_EQ(back->in_flight, 7);
  EXPECT_EQ(back->model_share, 0.125);
}

TEST(SessionOptions, AbsentKeysKeepTheirDefaultsAndForeignKeysAreIgnored) {
  const auto options = ParseSessionOptions({{"device", "emulator"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(FormatSessionOptions(*options), FormatSessionOptions(SessionOptions()));
  EXPECT_FALSE(options->budget.wall_time);
}

TEST(SessionOptions, RefuseValuesThatAreNone) {
  for (const auto& [key, value] : std::map<std::string, std::string>{{"candidates", "many"},
                                                                     {"seed", "-1"},
                                                                     {"judge", "maybe"},
                                                                     {"exploration", "0.7x"},
                                                                     {"time", "0"},
                                                                     {"in-flight", "65"},
                                                                     {"model-share", "-1"},
                                                                     {"max-depth", "0"}}) {
    const auto options = ParseSessionOptions({{key, value}});
    ASSERT_FALSE(options) << key;
    EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(options.error().message(), HasSubstr(key));
    EXPECT_THAT(options.error().message(), HasSubstr(value));
  }
}

}  // namespace
}  // namespace optiml
