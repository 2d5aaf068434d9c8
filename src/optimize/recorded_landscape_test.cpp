#include "optimize/recorded_landscape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

// A run of the session on a world where "b" after "a" pays, "c" is wrong and "d" does nothing.
RunRecord RunWith(const std::string& strategy, int candidates, uint64_t seed) {
  Script script;
  script.edits = {"a", "b", "c", "d"};
  script.time = [](const std::string& text) {
    const bool both = text.find("a+b") != std::string::npos;
    return both ? 2e-4 : 1e-3 + 1e-5 * static_cast<double>(text.size());
  };
  script.rejected = {"c"};
  script.same_ptx = {{"d", "root"}};
  ScriptedRun run(script);
  run.options.search.strategy = strategy;
  run.options.search.seed = seed;
  run.options.budget.candidates = candidates;
  MemoryStore store(run.Header());
  EXPECT_TRUE(run.Go(store));
  return store.record;
}

TEST(RecordedLandscape, ComesBackFromItsText) {
  const auto landscape = LandscapeOf(RunWith("random", 30, 1));
  ASSERT_TRUE(landscape) << landscape.error().message();
  const std::string text = FormatLandscape(*landscape);
  const auto again = ParseLandscape(text, "x.landscape");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(FormatLandscape(*again), text);
  EXPECT_EQ(again->points.size(), landscape->points.size());
  EXPECT_NEAR(again->BestSeconds(), 2e-4, 1e-9);
}

TEST(RecordedLandscape, TheSameSearchFindsTheSame) {
  for (const char* strategy : {"mcts", "greedy", "random"}) {
    const auto landscape = *LandscapeOf(RunWith(strategy, 20, 3));
    SearchOptions options;
    options.strategy = strategy;
    options.seed = 3;
    const auto found = SearchOn(landscape, options, 20);
    ASSERT_TRUE(found) << found.error().message();
    // Rewards are those of the time alone; the strategies ask by their order.
    EXPECT_NEAR(found->best_s, landscape.BestSeconds(), 1e-9) << strategy;
  }
}

TEST(RecordedLandscape, WhatNoRunTriedIsUnknown) {
  auto landscape = *LandscapeOf(RunWith("mcts", 6, 1));
  SearchOptions options;
  options.strategy = "random";
  const auto found = SearchOn(landscape, options, 30);
  ASSERT_TRUE(found);
  EXPECT_GT(found->unknown, 0);
  EXPECT_LE(found->unknown, found->candidates);
  landscape.points[0].edits.reset();
  EXPECT_EQ(SearchOn(landscape, options, 30)->candidates, 0);
  options.strategy = "psychic";
  EXPECT_FALSE(SearchOn(landscape, options, 30));
}

TEST(RecordedLandscape, RunsAddUp) {
  auto landscape = *LandscapeOf(RunWith("mcts", 6, 1));
  const auto more = *LandscapeOf(RunWith("random", 40, 2));
  const size_t before = landscape.points.size();
  ASSERT_TRUE(AddTo(landscape, more));
  EXPECT_GT(landscape.points.size(), before);
  const size_t after = landscape.points.size();
  ASSERT_TRUE(AddTo(landscape, more));  // nothing new
  EXPECT_EQ(landscape.points.size(), after);
  EXPECT_TRUE(ParseLandscape(FormatLandscape(landscape), "x"));
  SearchOptions options;
  options.strategy = "random";
  EXPECT_LT(SearchOn(landscape, options, 10)->unknown,
            SearchOn(landscape, options, 10)->candidates);

  RecordedLandscape other = more;
  other.device = "another";
  const auto refused = AddTo(landscape, other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("do not go together: the device is"));
}

TEST(RecordedLandscape, ARunWithoutARootHasNone) {
  EXPECT_FALSE(LandscapeOf(RunRecord()));
  RunRecord rejected = RunWith("random", 3, 1);
  rejected.nodes[0].evaluation.outcome = Rejection{Stage::kL1, "wrong"};
  EXPECT_FALSE(LandscapeOf(rejected));
}

TEST(RecordedLandscape, BadTextsAreNamedByLine) {
  const std::string good = FormatLandscape(*LandscapeOf(RunWith("random", 5, 1)));
  const auto error = [](const std::string& text) {
    const auto parsed = ParseLandscape(text, "x.landscape");
    return parsed ? "none" : parsed.error().message();
  };
  EXPECT_EQ(error(good), "none");
  EXPECT_THAT(error(""), HasSubstr("no root or no shapes"));
  EXPECT_THAT(error("{}"), HasSubstr("x.landscape:1: no line of a landscape"));
  EXPECT_THAT(error("{\"landscape\": 2}"), HasSubstr("x.landscape:1: format 2 (known: 1)"));
  const std::string header = good.substr(0, good.find('\n') + 1);
  EXPECT_THAT(error(header + "{\"parent\": 3, \"label\": \"a\", \"rejected_at\": \"L1\"}"),
              HasSubstr("x.landscape:2: its parent is 3"));
  EXPECT_THAT(error(header + "{\"parent\": -1, \"label\": \"\", \"rejected_at\": \"L1\"}"),
              HasSubstr("x.landscape:2: the root is rejected"));
  EXPECT_THAT(error(header + "{\"parent\": -1, \"label\": \"\", \"median_s\": [0, 1], "
                             "\"low_s\": [1, 1], \"high_s\": [1, 1]}"),
              HasSubstr("x.landscape:2: a time is not above 0"));
  EXPECT_THAT(error(good.substr(0, good.size() - 9)), HasSubstr("no line of a landscape"));
  for (size_t size = 0; size < good.size(); size += 7) {
    ParseLandscape(good.substr(0, size), "x").has_value();  // says what it says; no crash
  }
}

}  // namespace
}  // namespace optiml
