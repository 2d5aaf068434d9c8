#ifndef OPTIML_SEARCH_POLICY_H_
#define OPTIML_SEARCH_POLICY_H_

// Policy: the part in which searchers differ: which node of the tree asks next, and in which order
// a node's edits are tried. Pure functions of the tree, the seed and the number of earlier calls.

#include <memory>
#include <optional>
#include <vector>

#include "search/searcher.h"
#include "search/tree.h"

namespace optiml {

class Policy {
 public:
  virtual ~Policy() = default;
  // A node that is_ready(); nothing when there is none.
  virtual std::optional<NodeId> Choose(const Tree& tree) = 0;
  // A permutation of the edits' indices, first to be tried first.
  virtual std::vector<int> Order(NodeId node, const std::vector<double>& priors) = 0;
};

// UCT on normalised values with progressive widening (mcts_policy.cpp says the formulas).
std::unique_ptr<Policy> MakeMctsPolicy(const SearchOptions& options);

// Best first: the next edit by prior of the accepted node with the highest reward (the oldest of
// equals). It never goes on from a worse node while the best one has edits left.
std::unique_ptr<Policy> MakeGreedyPolicy(const SearchOptions& options);

// A ready node drawn uniformly, its edits in a uniformly drawn order; priors are ignored.
std::unique_ptr<Policy> MakeRandomPolicy(const SearchOptions& options);

// Edits by falling log(prior) + noise * Gumbel(seed, node, edit); equal keys in the order given.
std::vector<int> OrderByPrior(NodeId node, const std::vector<double>& priors, double noise,
                              uint64_t seed);

}  // namespace optiml

#endif  // OPTIML_SEARCH_POLICY_H_
