// Monte Carlo tree search over edits. One selection walks down from the root; at each node n:
//
//   widening   n may have max(1, floor(k * visits(n)^e)) children; below that its next untried edit
//              is asked for.
//   UCT        otherwise the walk goes on to the child with the highest
//                value(child) + c * sqrt(ln(1 + visits'(n)) / visits'(child))
//              where visits' counts each open question below a node as `virtual_loss` visits.
//   value      (share * max + (1 - share) * mean) * visits / visits', over the subtree's rewards,
//              min-max normalised over all accepted rewards of the tree, so that c means the same
//              in every run. A rejected candidate counts as 0 in the mean; a duplicate counts in
//              the mean and not in the maximum, because nothing can be built on it.
//
// Where the walk finds nothing to ask below the best child it takes the next best, and at last an
// untried edit beyond the widening limit: the limit orders the work, it never ends the run.
#include <algorithm>
#include <cmath>

#include "search/policy.h"

namespace optiml {
namespace {

class MctsPolicy : public Policy {
 public:
  explicit MctsPolicy(const SearchOptions& options) : options_(options) {}

  std::optional<NodeId> Choose(const Tree& tree) override {
    return ChooseBelow(tree, Tree::root());
  }

  std::vector<int> Order(NodeId node, const std::vector<double>& priors) override {
    return OrderByPrior(node, priors, options_.prior_noise, options_.seed);
  }

 private:
  // Depth is bounded by SearchOptions::max_depth.
  std::optional<NodeId> ChooseBelow(const Tree& tree, NodeId id) const {
    const TreeNode& node = tree[id];
    if (node.closed || node.state != NodeState::kAccepted) {
      return std::nullopt;
    }
    if (!node.listed || (node.has_untried() && node.children.size() < AllowedChildren(node))) {
      return id;
    }
    struct Scored {
      double score;
      NodeId child;
    };
    std::vector<Scored> scored;
    for (const NodeId child : node.children) {
      if (!tree[child].closed && tree[child].state == NodeState::kAccepted) {
        scored.push_back({Score(tree, node, tree[child]), child});
      }
    }
    std::stable_sort(scored.begin(), scored.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
    for (const Scored& candidate : scored) {
      if (const std::optional<NodeId> found = ChooseBelow(tree, candidate.child)) {
        return found;
      }
    }
    return node.has_untried() ? std::optional<NodeId>(id) : std::nullopt;
  }

  size_t AllowedChildren(const TreeNode& node) const {
    const double allowed = options_.widening_factor *
                           std::pow(static_cast<double>(node.visits), options_.widening_exponent);
    // The tolerance keeps whole numbers whole where pow rounds them down on some machine.
    return static_cast<size_t>(std::max(1.0, std::floor(allowed + 1e-9)));
  }

  double Visits(const TreeNode& node) const {
    return static_cast<double>(node.visits) +
           options_.virtual_loss * static_cast<double>(node.in_flight);
  }

  double Score(const Tree& tree, const TreeNode& parent, const TreeNode& child) const {
    const double visits = Visits(child);
    return Value(tree, child) * static_cast<double>(child.visits) / visits +
           options_.exploration * std::sqrt(std::log(1 + Visits(parent)) / visits);
  }

  double Value(const Tree& tree, const TreeNode& node) const {
    const double range = tree.max_reward() - tree.min_reward();
    double max = 0.5;  // all rewards are equal: neither good nor bad
    double sum = 0.5 * static_cast<double>(node.valued);
    if (range > 0) {
      max = node.has_max ? (node.max - tree.min_reward()) / range : 0;
      sum = (node.sum - static_cast<double>(node.valued) * tree.min_reward()) / range;
    }
    const double mean = sum / static_cast<double>(node.visits);
    return options_.backup_max_share * max + (1 - options_.backup_max_share) * mean;
  }

  SearchOptions options_;
};

}  // namespace

std::unique_ptr<Policy> MakeMctsPolicy(const SearchOptions& options) {
  return std::make_unique<MctsPolicy>(options);
}

}  // namespace optiml
