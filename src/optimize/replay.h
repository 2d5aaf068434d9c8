#ifndef OPTIML_OPTIMIZE_REPLAY_H_
#define OPTIML_OPTIMIZE_REPLAY_H_

// The searcher of a run brought back to where its record ends: asked again what it was asked, told
// again what it was told, and held to what the record says it asked. Resume goes on from here;
// ReplaySearch (session.h) checks a record with it.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "optimize/session.h"
#include "search/searcher.h"
#include "store/run_record.h"

namespace optiml {

struct ReplayedSearch {
  std::unique_ptr<Searcher> searcher;
  std::map<int64_t, std::vector<Edit>> edits;  // by node: what it was given to choose from
  std::deque<Evaluate> open;                   // asked but not told when the record ended
  int64_t asked = 0;                           // questions, those included
};

// REQUIRES: the record has its root. Fails with kParse at the first step that differs, naming it.
Result<ReplayedSearch> ReplayNodes(const RunRecord& record, const SessionOptions& options);

// What the searcher is told of a node.
TellOutcome OutcomeOf(const NodeRecord& node);

// The edits from the root to a node. `nodes` are in the order of their ids.
std::vector<Edit> ChainTo(const std::vector<NodeRecord>& nodes, int64_t node);

// The fastest accepted node; of equals the one with the shortest chain, of those the oldest.
// REQUIRES: the root is accepted and timed.
int64_t BestNode(const std::vector<NodeRecord>& nodes);

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_REPLAY_H_
