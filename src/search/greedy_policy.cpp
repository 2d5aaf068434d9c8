#include "search/policy.h"

namespace optiml {
namespace {

class GreedyPolicy : public Policy {
 public:
  explicit GreedyPolicy(const SearchOptions& options) : options_(options) {}

  std::optional<NodeId> Choose(const Tree& tree) override {
    std::optional<NodeId> best;
    for (NodeId id = Tree::root(); id.value < tree.size(); ++id.value) {
      if (tree[id].is_ready() && (!best || tree[id].reward > tree[*best].reward)) {
        best = id;
      }
    }
    return best;
  }

  std::vector<int> Order(NodeId node, const std::vector<double>& priors) override {
    return OrderByPrior(node, priors, options_.prior_noise, options_.seed);
  }

 private:
  SearchOptions options_;
};

}  // namespace

std::unique_ptr<Policy> MakeGreedyPolicy(const SearchOptions& options) {
  return std::make_unique<GreedyPolicy>(options);
}

}  // namespace optiml
