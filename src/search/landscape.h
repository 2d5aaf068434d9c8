#ifndef OPTIML_SEARCH_LANDSCAPE_H_
#define OPTIML_SEARCH_LANDSCAPE_H_

// Landscapes: made-up search problems with a known best, for tests and benchmarks of searchers. A
// node is the list of edits from the root; its reward is a function of that list alone.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "search/searcher.h"

namespace optiml {

using Path = std::vector<int>;

struct Landscape {
  std::string name;
  int edits = 8;                                   // at every node
  std::function<TellOutcome(const Path&)> answer;  // duplicate_of is left alone
  double best = 0;                                 // the highest reward there is
};

inline uint64_t PathSeed(uint64_t seed, const Path& path) {
  for (const int edit : path) {
    seed = RandomAt(seed, static_cast<uint64_t>(edit));
  }
  return seed;
}

inline Path Prefix(const Path& path, size_t size) {
  return Path(path.begin(), path.begin() + static_cast<long>(size));
}

// Every edit brings a gain or a loss of its own, once, whatever came before.
inline Landscape IndependentGains(uint64_t seed) {
  Landscape landscape{"independent gains", 10, nullptr, 0};
  std::vector<double> gains;
  for (uint64_t i = 0; i < 10; ++i) {
    gains.push_back(0.5 * ToUnit(RandomAt(seed, i)) - 0.25);
    landscape.best += std::max(0.0, gains.back());
  }
  landscape.answer = [gains](const Path& path) {
    TellOutcome outcome{0, true, NodeId()};
    for (size_t i = 0; i < gains.size(); ++i) {
      const auto count = std::count(path.begin(), path.end(), static_cast<int>(i));
      outcome.reward += count > 0 ? gains[i] - 0.01 * static_cast<double>(count - 1) : 0;
    }
    return outcome;
  };
  return landscape;
}

// Two edits that must come together: each alone loses 0.15, both gain 1.5. Beside them every other
// step gains a little, less and less: a slope that leads nowhere. Like tiling and staging of a
// matrix product, which pay only together.
inline Landscape GainBehindRegression(uint64_t seed) {
  Landscape landscape{"gain behind a regression", 8, nullptr, 1.5};
  const int first = static_cast<int>(RandomAt(seed, 1) % 8);
  const int second =
      static_cast<int>((static_cast<uint64_t>(first) + 1 + RandomAt(seed, 2) % 7) % 8);
  landscape.answer = [seed, first, second](const Path& path) {
    const bool has_first = std::find(path.begin(), path.end(), first) != path.end();
    const bool has_second = std::find(path.begin(), path.end(), second) != path.end();
    if (has_first && has_second) {
      // What is added beside the pair is small.
      return TellOutcome{1.5 - 0.02 * static_cast<double>(path.size() - 2), true, NodeId()};
    }
    double reward = has_first || has_second ? -0.15 : 0;
    double step = 0.1;
    for (size_t i = 0; i < path.size(); ++i, step *= 0.5) {
      if (path[i] != first && path[i] != second) {
        reward += step * ToUnit(PathSeed(seed, Prefix(path, i + 1)));
      }
    }
    return TellOutcome{reward, true, NodeId()};
  };
  return landscape;
}

// A climb, then a step down, then the summit: edits a, b, c, d of ten. a and then b gain 0.4 each;
// after both, c loses 0.1 and c followed by d gains 1.5. Anything else loses 0.05. Random walks do
// not climb, greedy ones do not step down.
inline Landscape SummitBehindADip(uint64_t seed) {
  Landscape landscape{"summit behind a dip", 10, nullptr, 2.3};
  std::vector<int> way(10);
  for (size_t i = 0; i < way.size(); ++i) {  // a drawn permutation; its first four are the way
    const size_t at = RandomAt(seed, i) % (i + 1);
    way[i] = way[at];
    way[at] = static_cast<int>(i);
  }
  landscape.answer = [way](const Path& path) {
    constexpr double kGains[] = {0.4, 0.4, -0.1, 1.6};
    size_t reached = 0;
    double reward = 0;
    for (const int edit : path) {
      if (reached < 4 && edit == way[reached]) {
        reward += kGains[reached++];
      } else {
        reward -= 0.05;
      }
    }
    return TellOutcome{reward, true, NodeId()};
  };
  return landscape;
}

// A third of all candidates is rejected; the rest walks at random from its parent.
inline Landscape RandomWalkWithRejections(uint64_t seed) {
  Landscape landscape{"random walk, a third rejected", 8, nullptr, 0};
  landscape.answer = [seed](const Path& path) {
    TellOutcome outcome{0, true, NodeId()};
    for (size_t i = 1; i <= path.size(); ++i) {
      const uint64_t at = PathSeed(seed, Prefix(path, i));
      outcome.reward += ToUnit(at) - 0.6;
      outcome.accepted = RandomAt(at, 1) % 3 != 0;
    }
    if (!outcome.accepted) {
      outcome.reward = -3;
    }
    return outcome;
  };
  return landscape;
}

struct Walk {
  double best = 0;              // highest accepted reward; the root's is 0
  std::vector<Question> asked;  // every Evaluate, in order
  std::vector<Path> paths;      // by node id
  bool exhausted = false;
};

// Asks and tells until `budget` candidates were told, with up to `parallel` questions open.
inline Walk WalkLandscape(Searcher& searcher, const Landscape& landscape, int budget,
                          int parallel = 1) {
  Walk walk;
  walk.paths.push_back({});
  searcher.TellRoot(landscape.answer({}));
  std::vector<NodeId> open;
  int told = 0;
  int asked = 0;
  const std::vector<double> priors(static_cast<size_t>(landscape.edits), 1.0);
  while (told < budget) {
    bool blocked = asked >= budget || open.size() >= static_cast<size_t>(parallel);
    if (!blocked) {
      const Question question = searcher.Ask();
      if (const auto* needs = std::get_if<NeedEdits>(&question)) {
        searcher.SetEdits(needs->node, priors);
        continue;
      }
      if (const auto* evaluate = std::get_if<Evaluate>(&question)) {
        OPTIML_CHECK(evaluate->child.value == static_cast<int64_t>(walk.paths.size()),
                     "ids count up in the order asked");
        Path path = walk.paths[static_cast<size_t>(evaluate->parent.value)];
        path.push_back(evaluate->edit);
        walk.paths.push_back(std::move(path));
        walk.asked.push_back(question);
        open.push_back(evaluate->child);
        ++asked;
        continue;
      }
      walk.exhausted = open.empty();
      if (walk.exhausted) {
        break;
      }
    }
    const NodeId oldest = open.front();
    open.erase(open.begin());
    const TellOutcome outcome = landscape.answer(walk.paths[static_cast<size_t>(oldest.value)]);
    searcher.Tell(oldest, outcome);
    walk.best = outcome.accepted ? std::max(walk.best, outcome.reward) : walk.best;
    ++told;
  }
  return walk;
}

}  // namespace optiml

#endif  // OPTIML_SEARCH_LANDSCAPE_H_
