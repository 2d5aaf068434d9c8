#ifndef OPTIML_OPTIMIZE_EXPANSION_H_
#define OPTIML_OPTIMIZE_EXPANSION_H_

// Expander: gives a node its edits. The catalogue's, with priors that follow the diagnosis; and a
// model's where the run has one:
//
//   diagnose   the model's diagnosis takes the place of the table's for what is proposed here
//   propose    at most kMostProposals edits, each a sketch, hunks or a whole kernel
//   judge      opinions move the priors; a model's own edit that is implausible is not tried
//   try        each proposal is evaluated at once, through all gates. Only what is accepted and
//              faster than the node reaches the search (as an edit that it will choose soon, and
//              whose evaluation is then known); what fails leaves no trace in the tree.
//
// Trials that fail come out of a share of their own (SessionOptions::model_share) and never out of
// the candidates, so that a model that proposes nonsense leaves the search as it is without one.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "optimize/chained_catalogue.h"
#include "optimize/evaluate.h"
#include "optimize/model_desk.h"
#include "store/run_store.h"

namespace optiml {

inline constexpr int kMostProposals = 3;  // of one question

// Trials that may fail in a run of so many candidates.
int FailingTrials(double share, int candidates);

class Expander {
 public:
  struct Parts {
    const KernelTask* task = nullptr;
    ChainedCatalogue* catalogue = nullptr;
    CandidateEvaluator* evaluator = nullptr;
    ModelDesk* desk = nullptr;
    RunStore* store = nullptr;
    const Clock* clock = nullptr;
    const DeviceInfo* device = nullptr;
    bool judge = true;
    int failing_trials = 0;
    std::vector<KernelSource> siblings;            // of the root: SessionParts
    std::function<void(const std::string&)> tell;  // what became of a trial
  };
  // `earlier`: trials of the record, which are not made again.
  Expander(Parts parts, std::vector<TrialRecord> earlier)
      : parts_(std::move(parts)), trials_(std::move(earlier)) {}

  // `nodes` are those of the record, in the order of their ids. The expansion is not stored yet.
  Result<ExpansionRecord> Expand(int64_t node, const std::vector<NodeRecord>& nodes);

  // The model's verdict on a node that was just evaluated, where there is a model and the counters
  // leave the edit's claim unclear.
  Result<std::optional<Judgement>> JudgeNode(const NodeRecord& node,
                                             const std::vector<NodeRecord>& nodes);

 private:
  struct Place;
  Result<void> Diagnose(Place& place);
  Result<std::vector<Proposal>> Propose(Place& place);
  Result<void> FormOpinions(Place& place, std::vector<Proposal>& proposals);
  Result<void> TryAll(Place& place, std::vector<Proposal> proposals);
  Result<std::string> TryThese(Place& place, const std::vector<Proposal>& proposals);
  Result<size_t> IndexOfTrial(const Place& place, const Proposal& proposal);
  Result<TrialRecord> Try(const Place& place, const Proposal& proposal);
  void Keep(Place& place, Proposal proposal) const;
  void AddSiblings(Place& place) const;
  int FailuresLeft(const Place& place) const;

  Parts parts_;
  std::vector<TrialRecord> trials_;
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_EXPANSION_H_
