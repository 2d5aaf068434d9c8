// Benchmark of the search: tree operations per second, and the searchers against each other at
// equal budget on landscapes whose best is known. No arguments; prints two tables.
#include <fmt/format.h>

#include <chrono>

#include "search/landscape.h"

namespace optiml {
namespace {

constexpr const char* kStrategies[] = {"mcts", "greedy", "random"};

std::unique_ptr<Searcher> Make(const std::string& strategy, uint64_t seed) {
  SearchOptions options;
  options.strategy = strategy;
  options.seed = seed;
  return *MakeSearcher(options);
}

void PrintSpeed() {
  fmt::print("{:<10} {:>10} {:>18}\n", "searcher", "candidates", "asks and tells/s");
  for (const char* strategy : kStrategies) {
    for (const int budget : {1000, 10'000}) {
      const Landscape landscape = RandomWalkWithRejections(1);
      const std::unique_ptr<Searcher> searcher = Make(strategy, 1);
      const auto begin = std::chrono::steady_clock::now();
      const Walk walk = WalkLandscape(*searcher, landscape, budget);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      fmt::print("{:<10} {:>10} {:>18.0f}\n", strategy, walk.asked.size(),
                 static_cast<double>(walk.asked.size()) / elapsed.count());
    }
  }
}

void PrintComparison() {
  constexpr int kProblems = 200;
  fmt::print(
      "\nmean of the best reward over {} problems (share that came within a tenth of the best "
      "there is)\n{:<32} {:>7} {:>16} {:>16} {:>16}\n",
      kProblems, "landscape", "budget", kStrategies[0], kStrategies[1], kStrategies[2]);
  for (const auto make : {IndependentGains, GainBehindRegression, SummitBehindADip}) {
    for (const int budget : {40, 100, 300}) {
      std::string line = fmt::format("{:<32} {:>7}", make(0).name, budget);
      for (const char* strategy : kStrategies) {
        double mean = 0;
        int solved = 0;
        for (uint64_t problem = 0; problem < kProblems; ++problem) {
          const Landscape landscape = make(problem);
          const std::unique_ptr<Searcher> searcher = Make(strategy, problem + 1);
          const double best = WalkLandscape(*searcher, landscape, budget).best;
          mean += best / kProblems;
          solved += best >= 0.9 * landscape.best ? 1 : 0;
        }
        line += fmt::format("    {:5.2f} ({:>3} %)", mean, 100 * solved / kProblems);
      }
      fmt::print("{}\n", line);
    }
  }
}

}  // namespace
}  // namespace optiml

int main() {
  optiml::PrintSpeed();
  optiml::PrintComparison();
}
