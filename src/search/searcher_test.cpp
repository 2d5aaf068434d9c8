#include "search/searcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "search/landscape.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Searcher> Make(const std::string& strategy = "mcts", uint64_t seed = 1,
                               const std::function<void(SearchOptions&)>& change = {}) {
  SearchOptions options;
  options.strategy = strategy;
  options.seed = seed;
  if (change) {
    change(options);
  }
  auto searcher = MakeSearcher(options);
  EXPECT_TRUE(searcher) << searcher.error().message();
  return *std::move(searcher);
}

std::string Text(const std::vector<Question>& questions) {
  std::string text;
  for (const Question& question : questions) {
    const auto& evaluate = std::get<Evaluate>(question);
    text += std::to_string(evaluate.child.value) + "<-" + std::to_string(evaluate.parent.value) +
            ":" + std::to_string(evaluate.edit) + " ";
  }
  return text;
}

class EverySearcher : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, EverySearcher, ::testing::Values("mcts", "greedy", "random"),
                         [](const auto& param_info) { return std::string(param_info.param); });

TEST_P(EverySearcher, SameSeedAndAnswersGiveTheSameQuestions) {
  const Landscape landscape = RandomWalkWithRejections(3);
  const std::string first = Text(WalkLandscape(*Make(GetParam(), 5), landscape, 200).asked);
  EXPECT_EQ(first, Text(WalkLandscape(*Make(GetParam(), 5), landscape, 200).asked));
  EXPECT_NE(first, Text(WalkLandscape(*Make(GetParam(), 6), landscape, 200).asked));
}

TEST_P(EverySearcher, SameInterleavingGivesTheSameQuestions) {
  const Landscape landscape = RandomWalkWithRejections(3);
  for (const int parallel : {2, 3, 8}) {
    const Walk walk = WalkLandscape(*Make(GetParam()), landscape, 150, parallel);
    EXPECT_EQ(Text(walk.asked),
              Text(WalkLandscape(*Make(GetParam()), landscape, 150, parallel).asked));
    EXPECT_EQ(walk.asked.size(), 150U);
  }
}

TEST_P(EverySearcher, NeverAsksForTheSameEditTwiceNorBelowARejectedNode) {
  const Landscape landscape = RandomWalkWithRejections(11);
  const Walk walk = WalkLandscape(*Make(GetParam()), landscape, 300, 4);
  std::set<Path> seen;
  for (const Path& path : walk.paths) {
    EXPECT_TRUE(seen.insert(path).second);
    if (path.size() > 1) {
      EXPECT_TRUE(landscape.answer(Path(path.begin(), path.end() - 1)).accepted);
    }
  }
}

// 3 edits down to depth 3, everything accepted: 3 + 9 + 27 candidates and not one more.
TEST_P(EverySearcher, AsksForEverythingThenIsExhausted) {
  Landscape landscape = IndependentGains(1);
  landscape.edits = 3;
  for (const int parallel : {1, 4}) {
    auto searcher = Make(GetParam(), 1, [](SearchOptions& options) { options.max_depth = 3; });
    const Walk walk = WalkLandscape(*searcher, landscape, 1000, parallel);
    EXPECT_TRUE(walk.exhausted);
    EXPECT_EQ(walk.asked.size(), 39U);
    EXPECT_TRUE(std::holds_alternative<Exhausted>(searcher->Ask()));
  }
}

TEST_P(EverySearcher, ARejectedRootIsExhausted) {
  auto searcher = Make(GetParam());
  searcher->TellRoot({-1, false, NodeId()});
  EXPECT_TRUE(std::holds_alternative<Exhausted>(searcher->Ask()));
}

TEST_P(EverySearcher, DuplicatesAreNotExpanded) {
  auto searcher = Make(GetParam());
  searcher->TellRoot({0, true, NodeId()});
  EXPECT_EQ(std::get<NeedEdits>(searcher->Ask()).node, NodeId(0));
  searcher->SetEdits(NodeId(0), {1, 1});
  for (int i = 0; i < 2; ++i) {
    const auto question = std::get<Evaluate>(searcher->Ask());
    searcher->Tell(question.child, {0, true, NodeId(0)});
  }
  EXPECT_TRUE(std::holds_alternative<Exhausted>(searcher->Ask()));
}

TEST_P(EverySearcher, ExhaustedWhileOpenBecomesAQuestionAfterTheTell) {
  auto searcher = Make(GetParam());
  searcher->TellRoot({0, true, NodeId()});
  searcher->Ask();
  searcher->SetEdits(NodeId(0), {1});
  const auto question = std::get<Evaluate>(searcher->Ask());
  EXPECT_TRUE(std::holds_alternative<Exhausted>(searcher->Ask()));
  searcher->Tell(question.child, {1, true, NodeId()});
  EXPECT_EQ(std::get<NeedEdits>(searcher->Ask()).node, question.child);
}

TEST(Mcts, WidensWithTheSquareRootOfVisits) {
  auto searcher = Make("mcts", 1, [](SearchOptions& options) {
    options.max_depth = 2;
    options.widening_factor = 2;
  });
  searcher->TellRoot({0, true, NodeId()});
  searcher->Ask();
  searcher->SetEdits(NodeId(0), std::vector<double>(50, 1.0));
  std::vector<int64_t> parents;
  for (int i = 0; i < 24; ++i) {
    Question question = searcher->Ask();
    while (const auto* needs = std::get_if<NeedEdits>(&question)) {
      searcher->SetEdits(needs->node, std::vector<double>(50, 1.0));
      question = searcher->Ask();
    }
    const auto& evaluate = std::get<Evaluate>(question);
    parents.push_back(evaluate.parent.value);
    searcher->Tell(evaluate.child, {0, true, NodeId()});
  }
  // With v told nodes the root may have floor(2 sqrt(v)) children: 2 at 1, 3 at 3, 4 at 4, 5 at 7
  // ...
  const auto root_children = std::count(parents.begin(), parents.end(), 0);
  EXPECT_EQ(root_children, static_cast<long>(std::floor(2 * std::sqrt(24.0))));
  EXPECT_EQ(std::count(parents.begin(), parents.begin() + 4, 0), 4);
  EXPECT_NE(parents[4], 0);
}

TEST(Mcts, VirtualLossSpreadsOpenQuestions) {
  auto run = [](double virtual_loss) {
    auto searcher = Make("mcts", 1, [&](SearchOptions& options) {
      options.virtual_loss = virtual_loss;
      options.widening_factor = 3;
      options.widening_exponent = 0;
    });
    searcher->TellRoot({0, true, NodeId()});
    searcher->Ask();
    searcher->SetEdits(NodeId(0), {1, 1, 1});
    for (int i = 0; i < 3; ++i) {
      const NodeId child = std::get<Evaluate>(searcher->Ask()).child;
      searcher->Tell(child, {1.0 + 0.01 * i, true, NodeId()});
    }
    std::set<int64_t> parents;
    for (int i = 0; i < 3; ++i) {
      Question question = searcher->Ask();
      while (const auto* needs = std::get_if<NeedEdits>(&question)) {
        searcher->SetEdits(needs->node, std::vector<double>(8, 1.0));
        question = searcher->Ask();
      }
      parents.insert(std::get<Evaluate>(question).parent.value);
    }
    return parents.size();
  };
  EXPECT_EQ(run(0), 1U);
  EXPECT_EQ(run(1), 3U);
}

TEST(Greedy, GoesOnFromTheBestAcceptedNode) {
  auto searcher = Make("greedy", 1, [](SearchOptions& options) { options.prior_noise = 0; });
  searcher->TellRoot({0, true, NodeId()});
  searcher->Ask();
  searcher->SetEdits(NodeId(0), {3, 2, 1});
  std::vector<int64_t> parents;
  // Worse, rejected, better; then everything comes from the better one.
  const TellOutcome answers[] = {{-1, true, NodeId()},
                                 {9, false, NodeId()},
                                 {1, true, NodeId()},
                                 {0.5, true, NodeId()},
                                 {0.5, true, NodeId()}};
  for (const TellOutcome& answer : answers) {
    Question question = searcher->Ask();
    while (const auto* needs = std::get_if<NeedEdits>(&question)) {
      searcher->SetEdits(needs->node, {1, 1});
      question = searcher->Ask();
    }
    parents.push_back(std::get<Evaluate>(question).parent.value);
    searcher->Tell(std::get<Evaluate>(question).child, answer);
  }
  EXPECT_THAT(parents, ElementsAre(0, 0, 0, 3, 3));
}

TEST(MakeSearcher, RefusesUnknownStrategiesAndNumbersOutOfRange) {
  SearchOptions options;
  options.strategy = "beam";
  auto unknown = MakeSearcher(options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(),
            "unknown search strategy \"beam\" (known: mcts greedy random)");
  options = SearchOptions();
  options.backup_max_share = 1.5;
  auto out_of_range = MakeSearcher(options);
  ASSERT_FALSE(out_of_range);
  EXPECT_THAT(out_of_range.error().message(), HasSubstr("backup_max_share is 1.5"));
  options = SearchOptions();
  options.exploration = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(MakeSearcher(options));
  options = SearchOptions();
  options.max_depth = 0;
  EXPECT_FALSE(MakeSearcher(options));
}

TEST(SearcherDeathTest, BrokenProtocolStopsTheProgram) {
  const auto searcher = Make();
  EXPECT_DEATH(searcher->Ask(), "root is told before");
  searcher->TellRoot({0, true, NodeId()});
  EXPECT_DEATH(searcher->TellRoot({0, true, NodeId()}), "root is told once");
  EXPECT_DEATH(searcher->Tell(NodeId(1), {0, true, NodeId()}), "oldest open question");
  EXPECT_DEATH(searcher->SetEdits(NodeId(0), {1}), "node that was asked about");
  searcher->Ask();
  EXPECT_DEATH(searcher->Ask(), "edits are set before the next question");
  EXPECT_DEATH(searcher->SetEdits(NodeId(0), {0}), "prior is a positive number");
  searcher->SetEdits(NodeId(0), {1, 1});
  const NodeId first = std::get<Evaluate>(searcher->Ask()).child;
  const NodeId second = std::get<Evaluate>(searcher->Ask()).child;
  EXPECT_DEATH(searcher->Tell(second, {0, true, NodeId()}), "oldest open question");
  EXPECT_DEATH(searcher->Tell(first, {std::nan(""), true, NodeId()}), "finite");
  EXPECT_DEATH(searcher->Tell(first, {0, true, second}), "earlier, told node");
}

}  // namespace
}  // namespace optiml
