#include "base/rng.h"
#include "search/policy.h"

namespace optiml {
namespace {

class RandomPolicy : public Policy {
 public:
  explicit RandomPolicy(const SearchOptions& options) : seed_(options.seed), rng_(options.seed) {}

  std::optional<NodeId> Choose(const Tree& tree) override {
    ready_.clear();
    for (NodeId id = Tree::root(); id.value < tree.size(); ++id.value) {
      if (tree[id].is_ready()) {
        ready_.push_back(id);
      }
    }
    if (ready_.empty()) {
      return std::nullopt;
    }
    return ready_[rng_.NextBelow(ready_.size())];
  }

  std::vector<int> Order(NodeId node, const std::vector<double>& priors) override {
    std::vector<int> order(priors.size());
    Rng shuffle(RandomAt(~seed_, static_cast<uint64_t>(node.value)));
    for (size_t i = 0; i < order.size(); ++i) {  // Fisher-Yates, inside out
      const size_t at = shuffle.NextBelow(i + 1);
      order[i] = order[at];
      order[at] = static_cast<int>(i);
    }
    return order;
  }

 private:
  uint64_t seed_;
  Rng rng_;
  std::vector<NodeId> ready_;  // of the last call; kept for its memory
};

}  // namespace

std::unique_ptr<Policy> MakeRandomPolicy(const SearchOptions& options) {
  return std::make_unique<RandomPolicy>(options);
}

}  // namespace optiml
