#ifndef OPTIML_PROPOSE_PROPOSER_H_
#define OPTIML_PROPOSE_PROPOSER_H_

// Proposer: which edits may come next after a chain of edits. It is asked once for each node that
// the search expands; what it answered is kept in the run's store, so that a replay needs no
// proposer.

#include <span>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "core/evaluation.h"

namespace optiml {

struct ProposalRequest {
  std::span<const Edit> chain;  // from the root; empty for the root itself
  const Evaluation* evaluation =
      nullptr;  // of the variant that the chain makes; accepted, never null
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  // Edits in any order, each with a prior above 0; labels differ among siblings. Empty: nothing is
  // left to try here. Fails when a tool that the proposer needs is broken.
  virtual Result<std::vector<Edit>> Propose(const ProposalRequest& request) = 0;
};

}  // namespace optiml

#endif  // OPTIML_PROPOSE_PROPOSER_H_
