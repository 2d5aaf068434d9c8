#ifndef OPTIML_SEARCH_SEARCHER_H_
#define OPTIML_SEARCH_SEARCHER_H_

// Searcher: decides which node of the tree to expand next. Ask/tell; knows node ids, priors,
// rewards and a seed, and nothing of CUDA, clocks or files. The same seed and the same answers give
// the same questions, whatever the machine: that is what makes a run replayable.
//
//        Ask() -> NeedEdits{n}      the caller lists the legal edits of n:      SetEdits(n, priors)
//              -> Evaluate{c, n, i} the caller evaluates child c = n + edit i:  Tell(c, outcome)
//              -> Exhausted{}       nothing is left to try
//
// Several Evaluate questions may be open at once (virtual loss keeps them apart); they must be told
// in the order asked.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/strong_id.h"

namespace optiml {

using NodeId = StrongId<struct NodeIdTag>;  // 0 is the root; ids count up in the order asked

struct NeedEdits {
  NodeId node;
};
struct Evaluate {
  NodeId child;
  NodeId parent;
  int edit = 0;  // index into the list that SetEdits was given for the parent
};
struct Exhausted {};
using Question = std::variant<NeedEdits, Evaluate, Exhausted>;

struct TellOutcome {
  double reward = 0;
  bool accepted = false;  // a rejected node is never expanded
  NodeId duplicate_of;    // valid: same PTX as that node; counted, but never expanded twice
};

struct SearchOptions {
  std::string strategy = "mcts";  // mcts, greedy, random
  uint64_t seed = 1;
  double exploration = 0.7;  // c of UCT, on values normalised to [0, 1] (Kocsis, Szepesvari 2006)
  double backup_max_share =
      0.7;  // value = share * max + (1 - share) * mean of the subtree's rewards
  double widening_factor = 2.0;  // children allowed = factor * visits^exponent (Coulom 2007)
  double widening_exponent = 0.5;
  double virtual_loss = 1.0;
  int max_depth = 12;
};

class Searcher {
 public:
  virtual ~Searcher() = default;
  virtual Question Ask() = 0;
  virtual void SetEdits(NodeId node, const std::vector<double>& priors) = 0;
  // REQUIRES: the oldest open question asked for this child.
  virtual void Tell(NodeId child, const TellOutcome& outcome) = 0;
  // The root's own outcome; before the first Ask.
  virtual void TellRoot(const TellOutcome& outcome) = 0;
};

// Fails on an unknown strategy (the message lists them) and on options out of range.
Result<std::unique_ptr<Searcher>> MakeSearcher(const SearchOptions& options);

}  // namespace optiml

#endif  // OPTIML_SEARCH_SEARCHER_H_
