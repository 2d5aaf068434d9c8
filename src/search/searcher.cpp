#include "search/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"
#include "search/policy.h"
#include "search/tree.h"

namespace optiml {
namespace {

// The one implementation of the ask/tell protocol; the policy decides.
class TreeSearcher : public Searcher {
 public:
  TreeSearcher(std::unique_ptr<Policy> policy, int max_depth)
      : policy_(std::move(policy)), tree_(max_depth) {}

  void TellRoot(const TellOutcome& outcome) override {
    OPTIML_CHECK(tree_[Tree::root()].state == NodeState::kInFlight, "the root is told once");
    tree_.Tell(Tree::root(), outcome);
  }

  Question Ask() override {
    OPTIML_CHECK(tree_[Tree::root()].state != NodeState::kInFlight,
                 "the root is told before the first question");
    OPTIML_CHECK(!needs_edits_.is_valid(), "edits are set before the next question");
    const std::optional<NodeId> node = policy_->Choose(tree_);
    if (!node) {
      return Exhausted{};
    }
    if (!tree_[*node].listed) {
      needs_edits_ = *node;
      return NeedEdits{*node};
    }
    const NodeId child = tree_.AddChild(*node);
    open_.push_back(child);
    return Evaluate{child, *node, tree_[child].edit};
  }

  void SetEdits(NodeId node, const std::vector<double>& priors) override {
    OPTIML_CHECK(node.is_valid() && node == needs_edits_,
                 "edits are set for the node that was asked about");
    OPTIML_CHECK(std::all_of(priors.begin(), priors.end(),
                             [](double prior) { return prior > 0 && std::isfinite(prior); }),
                 "a prior is a positive number");
    needs_edits_ = NodeId();
    tree_.List(node, policy_->Order(node, priors));
  }

  void Tell(NodeId child, const TellOutcome& outcome) override {
    OPTIML_CHECK(!open_.empty() && open_.front() == child,
                 "the oldest open question is told first");
    open_.pop_front();
    tree_.Tell(child, outcome);
  }

 private:
  std::unique_ptr<Policy> policy_;
  Tree tree_;
  NodeId needs_edits_;       // valid between NeedEdits and SetEdits
  std::deque<NodeId> open_;  // asked and not told, oldest first
};

// A number that must lie in [low, high].
struct Range {
  const char* name;
  double value;
  double low;
  double high;
};

}  // namespace

std::vector<int> OrderByPrior(NodeId node, const std::vector<double>& priors, double noise,
                              uint64_t seed) {
  const uint64_t node_seed = RandomAt(seed, static_cast<uint64_t>(node.value));
  std::vector<double> keys(priors.size());
  for (size_t i = 0; i < priors.size(); ++i) {
    const double unit = std::max(ToUnit(RandomAt(node_seed, i)), 0x1.0p-54);  // never 0 or 1
    keys[i] = std::log(priors[i]) - noise * std::log(-std::log(unit));
  }
  std::vector<int> order(priors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return keys[static_cast<size_t>(a)] > keys[static_cast<size_t>(b)];
  });
  return order;
}

Result<std::unique_ptr<Searcher>> MakeSearcher(const SearchOptions& options) {
  constexpr double kMany = 1e6;
  const Range ranges[] = {
      {"exploration", options.exploration, 0, kMany},
      {"backup_max_share", options.backup_max_share, 0, 1},
      {"widening_factor", options.widening_factor, 0, kMany},
      {"widening_exponent", options.widening_exponent, 0, 1},
      {"virtual_loss", options.virtual_loss, 0, kMany},
      {"prior_noise", options.prior_noise, 0, kMany},
      {"max_depth", static_cast<double>(options.max_depth), 1, 1000},  // recursion follows depth
  };
  for (const Range& range : ranges) {
    if (!(range.value >= range.low && range.value <= range.high)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("search option {} is {}, allowed is {} to {}", range.name,
                               range.value, range.low, range.high));
    }
  }
  std::unique_ptr<Policy> policy;
  if (options.strategy == "mcts") {
    policy = MakeMctsPolicy(options);
  } else if (options.strategy == "greedy") {
    policy = MakeGreedyPolicy(options);
  } else if (options.strategy == "random") {
    policy = MakeRandomPolicy(options);
  } else {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("unknown search strategy \"{}\" (known: mcts greedy random)",
                             options.strategy));
  }
  return std::unique_ptr<Searcher>(
      std::make_unique<TreeSearcher>(std::move(policy), options.max_depth));
}

}  // namespace optiml
