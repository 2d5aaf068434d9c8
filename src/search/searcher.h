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
// in the order asked. Exhausted while questions are open means that nothing can be asked before one
// of them is told. A NeedEdits is answered before the next Ask. Breaking these rules is a bug of
// the caller (OPTIML_CHECK).

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
  NodeId duplicate_of;    // valid: same PTX as that earlier node; counted, but never expanded twice
};

struct SearchOptions {
  std::string strategy = "mcts";  // mcts, greedy, random
  uint64_t seed = 1;
  double exploration = 0.7;  // c of UCT, on values normalised to [0, 1] (Kocsis, Szepesvari 2006)
  // Value of a node = share * max + (1 - share) * mean of its subtree's rewards.
  double backup_max_share = 0.7;
  // Children allowed = factor * visits^exponent (Coulom 2007). A factor of 1 beat 2 and 3 on every
  // landscape of bench/search_bench at 40 to 120 candidates: with few candidates depth pays more.
  double widening_factor = 1.0;
  double widening_exponent = 0.5;
  double virtual_loss = 1.0;  // visits of value 0 that each open question below a node counts as
  // Edits of a node are tried in the order of log(prior) + prior_noise * Gumbel(seed, node, edit):
  // 0 is strictly by prior; at 0.25 an edit of half the prior comes first in 1 of 17 nodes.
  double prior_noise = 0.25;
  int max_depth = 12;  // edits from the root
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
