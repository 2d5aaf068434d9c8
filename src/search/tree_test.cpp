#include "search/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/policy.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;

constexpr TellOutcome Accepted(double reward) {
  return {reward, true, NodeId()};
}
constexpr TellOutcome Rejected(double reward) {
  return {reward, false, NodeId()};
}

TEST(Tree, BacksRewardsUpToTheRoot) {
  Tree tree(4);
  tree.Tell(Tree::root(), Accepted(0));
  tree.List(Tree::root(), {0, 1});
  const NodeId a = tree.AddChild(Tree::root());
  EXPECT_EQ(tree[Tree::root()].in_flight, 1);
  tree.Tell(a, Accepted(2));
  tree.List(a, {0, 1, 2});
  tree.Tell(tree.AddChild(a), Rejected(-9));
  const NodeId duplicate = tree.AddChild(a);
  tree.Tell(duplicate, {5, true, Tree::root()});
  const TreeNode& root = tree[Tree::root()];
  EXPECT_EQ(root.in_flight, 0);
  EXPECT_EQ(root.visits, 4);
  EXPECT_EQ(root.valued, 3);
  EXPECT_DOUBLE_EQ(root.sum, 7);
  EXPECT_DOUBLE_EQ(root.max, 2);  // nothing can be built on the duplicate
  EXPECT_DOUBLE_EQ(tree.max_reward(), 5);
  EXPECT_DOUBLE_EQ(tree.min_reward(), 0);  // the rejected one sets no scale
}

TEST(Tree, ClosesWhatCannotAskAnyMore) {
  Tree tree(2);
  tree.Tell(Tree::root(), Accepted(0));
  tree.List(Tree::root(), {1, 0});
  const NodeId a = tree.AddChild(Tree::root());
  const NodeId b = tree.AddChild(Tree::root());
  EXPECT_EQ(tree[a].edit, 1);
  tree.Tell(a, Rejected(-1));
  EXPECT_TRUE(tree[a].closed);
  EXPECT_FALSE(tree[Tree::root()].closed);
  tree.Tell(b, Accepted(1));
  tree.List(b, {0});
  const NodeId deepest = tree.AddChild(b);
  EXPECT_FALSE(tree[b].closed);  // its child is in flight
  tree.Tell(deepest, Accepted(1));
  EXPECT_TRUE(tree[deepest].closed);  // max_depth
  EXPECT_TRUE(tree[b].closed);
  EXPECT_TRUE(tree[Tree::root()].closed);
}

TEST(Tree, ANodeWithoutEditsIsClosed) {
  Tree tree(2);
  tree.Tell(Tree::root(), Accepted(0));
  tree.List(Tree::root(), {});
  EXPECT_TRUE(tree[Tree::root()].closed);
}

TEST(TreeDeathTest, RefusesWhatWasNotAsked) {
  Tree tree(2);
  EXPECT_DEATH(tree.Tell(NodeId(1), Accepted(0)), "never asked for");
  tree.Tell(Tree::root(), Accepted(0));
  EXPECT_DEATH(tree.Tell(Tree::root(), Accepted(0)), "told once");
  EXPECT_DEATH(tree.AddChild(Tree::root()), "untried");
}

TEST(OrderByPrior, IsStrictWithoutNoise) {
  EXPECT_THAT(OrderByPrior(NodeId(3), {0.5, 2, 0.5, 1}, 0, 1), ElementsAre(1, 3, 0, 2));
}

TEST(OrderByPrior, NoiseMixesByTheRatioOfPriors) {
  int swapped = 0;
  int tied_first = 0;
  for (int64_t node = 0; node < 4000; ++node) {
    swapped += OrderByPrior(NodeId(node), {1, 0.5}, 0.25, 1).front() == 1 ? 1 : 0;
    tied_first += OrderByPrior(NodeId(node), {1, 1}, 0.25, 1).front() == 1 ? 1 : 0;
  }
  // 1 / (1 + 2^(1/0.25)) = 1/17 of 4000, and a half.
  EXPECT_NEAR(swapped, 4000 / 17, 60);
  EXPECT_NEAR(tied_first, 2000, 130);
}

}  // namespace
}  // namespace optiml
