// Searchers compared at equal budget on problems whose best is known.
#include "search/landscape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace optiml {
namespace {

constexpr int kBudget = 100;
constexpr int kProblems = 40;

std::unique_ptr<Searcher> Make(const std::string& strategy, uint64_t seed) {
  SearchOptions options;
  options.strategy = strategy;
  options.seed = seed;
  return *MakeSearcher(options);
}

struct Score {
  double mean_best = 0;
  int solved = 0;  // within a tenth of the best there is
};

Score Compare(const std::string& strategy, Landscape (*make)(uint64_t)) {
  Score score;
  for (uint64_t problem = 0; problem < kProblems; ++problem) {
    const Landscape landscape = make(problem);
    const std::unique_ptr<Searcher> searcher = Make(strategy, problem + 1);
    const double best = WalkLandscape(*searcher, landscape, kBudget).best;
    score.mean_best += best / kProblems;
    score.solved += best >= 0.9 * landscape.best ? 1 : 0;
  }
  return score;
}

TEST(Landscape, MctsFindsAGainBehindARegressionAndGreedyDoesNot) {
  const Score mcts = Compare("mcts", GainBehindRegression);
  const Score greedy = Compare("greedy", GainBehindRegression);
  std::printf("gain behind a regression: mcts %d, greedy %d of %d solved\n", mcts.solved,
              greedy.solved, kProblems);
  EXPECT_GE(mcts.solved, kProblems * 3 / 4);
  EXPECT_EQ(greedy.solved, 0);
}

TEST(Landscape, MctsClimbsAndStepsDownWhereTheOthersCannot) {
  const Score mcts = Compare("mcts", SummitBehindADip);
  const Score greedy = Compare("greedy", SummitBehindADip);
  const Score random = Compare("random", SummitBehindADip);
  std::printf("summit behind a dip: mcts %d, greedy %d, random %d of %d solved\n", mcts.solved,
              greedy.solved, random.solved, kProblems);
  EXPECT_GT(mcts.mean_best, greedy.mean_best);
  EXPECT_GT(mcts.mean_best, random.mean_best);
  EXPECT_GE(mcts.solved, 3 * std::max(random.solved, 1));
  EXPECT_EQ(greedy.solved, 0);
}

TEST(Landscape, MctsAndGreedyClimbIndependentGainsBetterThanRandom) {
  const Score mcts = Compare("mcts", IndependentGains);
  const Score greedy = Compare("greedy", IndependentGains);
  const Score random = Compare("random", IndependentGains);
  std::printf("independent gains: mcts %.3f, greedy %.3f, random %.3f\n", mcts.mean_best,
              greedy.mean_best, random.mean_best);
  EXPECT_GT(greedy.mean_best, random.mean_best);
  EXPECT_GT(mcts.mean_best, random.mean_best);
}

TEST(Landscape, MctsIsNotLostAmongRejections) {
  const Score mcts = Compare("mcts", RandomWalkWithRejections);
  const Score random = Compare("random", RandomWalkWithRejections);
  std::printf("random walk: mcts %.3f, random %.3f\n", mcts.mean_best, random.mean_best);
  EXPECT_GT(mcts.mean_best, random.mean_best);
}

}  // namespace
}  // namespace optiml
