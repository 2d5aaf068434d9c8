#include "search/tree.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace optiml {

Tree::Tree(int max_depth) : max_depth_(max_depth) {
  TreeNode root;
  root.in_flight = 1;
  nodes_.push_back(std::move(root));
}

void Tree::Tell(NodeId id, const TellOutcome& outcome) {
  OPTIML_CHECK(id.is_valid() && id.value < size(), "told a node that was never asked for");
  TreeNode& node = At(id);
  OPTIML_CHECK(node.state == NodeState::kInFlight, "a node is told once");
  OPTIML_CHECK(std::isfinite(outcome.reward), "a reward is a finite number");
  const bool duplicate = outcome.duplicate_of.is_valid();
  OPTIML_CHECK(!duplicate || (outcome.duplicate_of < id &&
                              At(outcome.duplicate_of).state != NodeState::kInFlight),
               "a duplicate is one of an earlier, told node");
  node.reward = outcome.reward;
  node.state = !outcome.accepted ? NodeState::kRejected
               : duplicate       ? NodeState::kDuplicate
                                 : NodeState::kAccepted;
  if (outcome.accepted) {
    min_reward_ = has_reward_ ? std::min(min_reward_, outcome.reward) : outcome.reward;
    max_reward_ = has_reward_ ? std::max(max_reward_, outcome.reward) : outcome.reward;
    has_reward_ = true;
  }
  for (NodeId up = id; up.is_valid(); up = At(up).parent) {
    TreeNode& ancestor = At(up);
    ++ancestor.visits;
    --ancestor.in_flight;
    if (outcome.accepted) {
      ++ancestor.valued;
      ancestor.sum += outcome.reward;
    }
    if (node.state == NodeState::kAccepted) {
      ancestor.max = ancestor.has_max ? std::max(ancestor.max, outcome.reward) : outcome.reward;
      ancestor.has_max = true;
    }
  }
  if (node.state != NodeState::kAccepted || node.depth >= max_depth_) {
    node.closed = true;
    CloseUpwards(node.parent);
  }
}

void Tree::List(NodeId id, std::vector<int> order) {
  TreeNode& node = At(id);
  OPTIML_CHECK(node.is_ready() && !node.listed, "edits are listed once, for an accepted node");
  node.listed = true;
  node.order = std::move(order);
  node.order.shrink_to_fit();
  CloseUpwards(id);
}

NodeId Tree::AddChild(NodeId parent) {
  TreeNode child;
  {
    TreeNode& node = At(parent);
    OPTIML_CHECK(node.has_untried(), "a node without untried edits has no next child");
    child.parent = parent;
    child.edit = node.order[node.tried++];
    child.depth = node.depth + 1;
  }
  const NodeId id(size());
  nodes_.push_back(std::move(child));
  At(parent).children.push_back(id);
  for (NodeId up = id; up.is_valid(); up = At(up).parent) {
    ++At(up).in_flight;
  }
  return id;
}

void Tree::CloseUpwards(NodeId id) {
  for (; id.is_valid(); id = At(id).parent) {
    TreeNode& node = At(id);
    const bool open = !node.listed || node.has_untried() ||
                      std::any_of(node.children.begin(), node.children.end(),
                                  [this](NodeId child) { return !At(child).closed; });
    if (open || node.closed) {
      return;
    }
    node.closed = true;
  }
}

}  // namespace optiml
