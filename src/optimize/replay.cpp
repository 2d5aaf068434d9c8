#include "optimize/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "optimize/engines.h"
#include "score/scorer.h"

namespace optiml {
namespace {

// Rewards are recomputed on machines whose logarithms may differ in the last bits.
constexpr double kRewardTolerance = 1e-9;

Error Differs(int64_t node, const std::string& how) {
  return Error(ErrorCode::kParse, fmt::format("replay differs at node {}: {}", node, how));
}

Result<void> CheckShape(const RunRecord& record) {
  for (size_t i = 0; i < record.nodes.size(); ++i) {
    const NodeRecord& node = record.nodes[i];
    const auto id = static_cast<int64_t>(i);
    if (node.id != id || node.parent >= id || (id > 0) != (node.parent >= 0) ||
        node.duplicate_of >= id) {
      return Differs(id, fmt::format("the record calls it {} with parent {}, twin of {}", node.id,
                                     node.parent, node.duplicate_of));
    }
    if (node.asked > id + kMostInFlight) {
      return Differs(id, fmt::format("{} questions had been asked when it was told", node.asked));
    }
    if (node.evaluation.accepted() && node.evaluation.timings.empty()) {
      return Differs(id, "it is accepted but has no time");
    }
  }
  if (record.nodes.empty() || !record.nodes[0].evaluation.accepted()) {
    return Differs(0, "there is no accepted root");
  }
  return {};
}

Result<void> CheckReward(const Scorer& scorer, const RunRecord& record, const NodeRecord& node) {
  const NodeRecord& parent = record.nodes[static_cast<size_t>(node.parent)];
  const double total =
      scorer.Score(node.evaluation, node.edit, parent.evaluation, node.judgement).total;
  if (!(std::abs(total - node.reward.total) <= kRewardTolerance * std::max(1.0, std::abs(total)))) {
    return Differs(node.id, fmt::format("its findings give the reward {}, the record has {}", total,
                                        node.reward.total));
  }
  return {};
}

// The edits that the record says the node was given, with their priors set.
Result<void> AnswerExpansion(const RunRecord& record, NodeId node, ReplayedSearch& replayed) {
  const size_t next = replayed.edits.size();
  if (next >= record.expansions.size() || record.expansions[next].node != node.value) {
    return Differs(node.value, "the searcher expands it, the record does not");
  }
  std::vector<double> priors;
  for (const Edit& edit : record.expansions[next].edits) {
    if (!(edit.prior > 0) || !std::isfinite(edit.prior)) {
      return Differs(node.value,
                     fmt::format("the edit {} has the prior {}", edit.Label(), edit.prior));
    }
    priors.push_back(edit.prior);
  }
  replayed.searcher->SetEdits(node, priors);
  replayed.edits.emplace(node.value, record.expansions[next].edits);
  return {};
}

// The next question, as it was asked then.
Result<void> AskAgain(const RunRecord& record, int64_t node, ReplayedSearch& replayed) {
  Question question = replayed.searcher->Ask();
  while (const auto* needs = std::get_if<NeedEdits>(&question)) {
    OPTIML_TRY(AnswerExpansion(record, needs->node, replayed));
    question = replayed.searcher->Ask();
  }
  const auto* asked = std::get_if<Evaluate>(&question);
  if (asked == nullptr) {
    return Differs(node, "the searcher has nothing left to ask");
  }
  replayed.open.push_back(*asked);
  ++replayed.asked;
  return {};
}

// The edits of the result's chain must be those that lead to the best node, in whatever order.
Result<void> CheckResult(const RunRecord& record, int64_t best) {
  std::vector<std::string> edits;
  for (const Edit& edit : ChainTo(record.nodes, best)) {
    edits.push_back(edit.Label());
  }
  std::vector<std::string> steps;
  for (const ChainStep& step : record.result->chain) {
    steps.push_back(step.edit.Label());
  }
  std::sort(edits.begin(), edits.end());
  std::sort(steps.begin(), steps.end());
  if (edits != steps) {
    return Differs(best, "it is the best node, but the result's chain leads elsewhere");
  }
  return {};
}

}  // namespace

TellOutcome OutcomeOf(const NodeRecord& node) {
  return {node.reward.total, node.evaluation.accepted(),
          node.duplicate_of >= 0 ? NodeId(node.duplicate_of) : NodeId()};
}

std::vector<Edit> ChainTo(const std::vector<NodeRecord>& nodes, int64_t node) {
  std::vector<Edit> chain;
  for (; node > 0; node = nodes[static_cast<size_t>(node)].parent) {
    chain.push_back(nodes[static_cast<size_t>(node)].edit);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

int64_t BestNode(const std::vector<NodeRecord>& nodes) {
  std::vector<int> depths(nodes.size());
  const NodeRecord* best = &nodes.front();
  int best_depth = 0;
  for (size_t i = 1; i < nodes.size(); ++i) {
    const NodeRecord& node = nodes[i];
    depths[i] = depths[static_cast<size_t>(node.parent)] + 1;
    if (!node.evaluation.accepted()) {
      continue;
    }
    const double time = node.evaluation.TimeSeconds();
    const double best_time = best->evaluation.TimeSeconds();
    if (time < best_time || (time == best_time && depths[i] < best_depth)) {
      best = &node;
      best_depth = depths[i];
    }
  }
  return best->id;
}

Result<ReplayedSearch> ReplayNodes(const RunRecord& record, const SessionOptions& options) {
  OPTIML_TRY(CheckShape(record));
  ReplayedSearch replayed;
  OPTIML_ASSIGN(replayed.searcher, MakeSearcher(options.search));
  const Scorer scorer(ScoreOptionsOf(options), record.nodes[0].evaluation);
  replayed.searcher->TellRoot(OutcomeOf(record.nodes[0]));
  for (size_t i = 1; i < record.nodes.size(); ++i) {
    const NodeRecord& node = record.nodes[i];
    while (replayed.asked < std::max(node.asked, node.id)) {
      OPTIML_TRY(AskAgain(record, node.id, replayed));
    }
    // Expansions that no question followed: there was nothing left to ask, or no time.
    while (static_cast<int64_t>(replayed.edits.size()) < node.expanded) {
      const Question question = replayed.searcher->Ask();
      const auto* needs = std::get_if<NeedEdits>(&question);
      if (needs == nullptr) {
        return Differs(node.id, "the record has an expansion before it, the searcher has none");
      }
      OPTIML_TRY(AnswerExpansion(record, needs->node, replayed));
    }
    const Evaluate asked = replayed.open.front();
    replayed.open.pop_front();
    const Edit& edit = replayed.edits.at(asked.parent.value)[static_cast<size_t>(asked.edit)];
    if (asked.parent.value != node.parent || edit.Label() != node.edit.Label()) {
      return Differs(node.id,
                     fmt::format("the searcher asks for {} after node {}, the record has "
                                 "{} after node {}",
                                 edit.Label(), asked.parent.value, node.edit.Label(), node.parent));
    }
    OPTIML_TRY(CheckReward(scorer, record, node));
    replayed.searcher->Tell(asked.child, OutcomeOf(node));
  }
  // What was expanded after the last node was told, before a next one was.
  while (replayed.edits.size() < record.expansions.size()) {
    const Question question = replayed.searcher->Ask();
    if (const auto* needs = std::get_if<NeedEdits>(&question)) {
      OPTIML_TRY(AnswerExpansion(record, needs->node, replayed));
      continue;
    }
    const auto* asked = std::get_if<Evaluate>(&question);
    // The last question that can be open is asked after all expansions.
    if (asked == nullptr || static_cast<int>(replayed.open.size()) + 1 >= options.in_flight) {
      return Differs(record.expansions[replayed.edits.size()].node,
                     "the record expands it, the searcher does not");
    }
    replayed.open.push_back(*asked);
    ++replayed.asked;
  }
  return replayed;
}

Result<int64_t> ReplaySearch(const RunRecord& record) {
  OPTIML_ASSIGN(const SessionOptions options, ParseSessionOptions(record.options));
  OPTIML_ASSIGN(const ReplayedSearch replayed, ReplayNodes(record, options));
  const int64_t best = BestNode(record.nodes);
  if (record.result) {
    OPTIML_TRY(CheckResult(record, best));
  }
  return best;
}

}  // namespace optiml
