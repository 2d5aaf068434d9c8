#ifndef OPTIML_SEARCH_TREE_H_
#define OPTIML_SEARCH_TREE_H_

// Tree: the nodes of a search in a vector by id, with the statistics of their subtrees. Pure
// bookkeeping: which node comes next is a Policy's business (policy.h).
//
//   asked (in flight) --Tell--> accepted   may be listed (given its edits) and expanded
//                          \--> rejected   closed at once
//                           \-> duplicate  closed at once: an earlier node stands for it
//
// Invariants: a parent's id is below its children's; a node is closed exactly when no question can
// ever come from its subtree again. Threads: none.

#include <cstdint>
#include <vector>

#include "search/searcher.h"

namespace optiml {

enum class NodeState { kInFlight, kAccepted, kRejected, kDuplicate };

struct TreeNode {
  NodeId parent;  // not valid for the root
  int edit = -1;  // index into the parent's list
  int depth = 0;  // edits from the root
  NodeState state = NodeState::kInFlight;
  bool listed = false;  // its edits are known
  bool closed = false;
  double reward = 0;             // its own, once told
  std::vector<int> order;        // its edits, first to be tried first
  size_t tried = 0;              // order[0 .. tried) have been asked
  std::vector<NodeId> children;  // in the order asked

  // Of the subtree, this node included.
  int64_t visits = 0;     // told nodes
  int64_t in_flight = 0;  // asked and not told
  int64_t valued = 0;     // told nodes that were not rejected
  double sum = 0;         // rewards of the valued ones
  bool has_max = false;   // some node is accepted
  double max = 0;         // best reward of an accepted node; a duplicate's counts in the sum alone

  bool has_untried() const { return listed && tried < order.size(); }
  // Whether a question can come from this very node now.
  bool is_ready() const {
    return state == NodeState::kAccepted && !closed && (!listed || has_untried());
  }
};

class Tree {
 public:
  explicit Tree(int max_depth);  // holds the root, in flight

  const TreeNode& operator[](NodeId id) const { return nodes_[static_cast<size_t>(id.value)]; }
  int64_t size() const { return static_cast<int64_t>(nodes_.size()); }
  static constexpr NodeId root() { return NodeId(0); }

  // REQUIRES: the node is in flight; duplicate_of is not valid or is an earlier, told node.
  void Tell(NodeId node, const TellOutcome& outcome);

  // Gives an accepted node its edits. REQUIRES: is_ready(), not listed; `order` is a permutation of
  // 0 .. order.size()-1.
  void List(NodeId node, std::vector<int> order);

  // Asks for the next untried edit of a node. REQUIRES: has_untried()
  NodeId AddChild(NodeId parent);

  // Extremes of the rewards of all nodes that were not rejected. REQUIRES: the root was told.
  double min_reward() const { return min_reward_; }
  double max_reward() const { return max_reward_; }

 private:
  TreeNode& At(NodeId id) { return nodes_[static_cast<size_t>(id.value)]; }
  // Closes the node if nothing is left below it, then its parents likewise.
  void CloseUpwards(NodeId node);

  int max_depth_;
  std::vector<TreeNode> nodes_;
  bool has_reward_ = false;
  double min_reward_ = 0;
  double max_reward_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_SEARCH_TREE_H_
