#ifndef OPTIML_OPTIMIZE_EVALUATE_H_
#define OPTIML_OPTIMIZE_EVALUATE_H_

// CandidateEvaluator: one candidate through the stages apply, prepare (parse, plan, build), verify,
// time and diagnose. The first stage that fails ends it with a Rejection. A candidate that executes
// the same as an earlier one (equal source, or equal PTX under equal plans) is answered from that
// one.

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "rewrite/catalogue.h"
#include "task/inputs.h"
#include "verify/verifier.h"

namespace optiml {

// What a plan's buffers hold before a run: inputs are filled and may not be written, inouts are
// filled, outputs and workspaces are poisoned.
std::vector<BufferContents> ContentsFor(const KernelTask& task, const LaunchPlan& plan,
                                        const TaskInputs& inputs);

// Counters at the first timed shape -> what bounds the kernel.
using DiagnoseFunction =
    std::function<Diagnosis(const Profile& profile, const Timing& timing, const DeviceInfo& info,
                            const std::vector<KernelResources>& resources)>;

struct CandidateOutcome {
  Evaluation evaluation;
  std::string source;                   // empty when an edit refused to be applied
  std::optional<int64_t> duplicate_of;  // the node that answered
};

class CandidateEvaluator {
 public:
  struct Parts {
    const KernelTask* task = nullptr;
    Verifier* verifier = nullptr;
    Device* device = nullptr;
    const Clock* clock = nullptr;
    DiagnoseFunction diagnose;                // empty: no diagnosis
    const std::atomic<bool>* stop = nullptr;  // may be null
    uint64_t timing_seed = 1;                 // of the inputs at the timed shapes
  };
  explicit CandidateEvaluator(Parts parts) : parts_(std::move(parts)) {}

  // The source that the chain makes. `node` becomes the variant's id unless an earlier one answers.
  // Fails with kInterrupted when asked to stop; nothing is remembered then.
  Result<CandidateOutcome> Evaluate(const rewrite::Catalogue& catalogue,
                                    std::span<const Edit> chain, VariantId variant);
  Result<CandidateOutcome> EvaluateSource(const KernelSource& source, VariantId variant);

  // Makes an evaluation answer for equal candidates from now on. `node`: its node in the tree;
  // absent for one that is not in the tree.
  void Remember(const Evaluation& evaluation, std::optional<int64_t> node);

 private:
  struct Known {
    Evaluation evaluation;
    std::optional<int64_t> node;
  };

  Result<CandidateOutcome> Finish(const KernelSource& source, CandidateOutcome outcome);
  // The earlier one's findings under the new one's id and stage times.
  void Answer(const Known& known, CandidateOutcome& outcome) const;
  Result<void> TimeShapes(const PreparedCandidate& candidate, Evaluation& evaluation);
  // Inputs of timed row `row` for a plan; kept between candidates while they are small.
  Result<RunRequest*> TimedRequest(size_t row, const LaunchPlan& plan);

  // A timed shape's request, and the arguments its buffers belong to.
  struct CachedRequest {
    std::vector<int> arguments;
    RunRequest request;
  };

  Parts parts_;
  std::vector<Known> known_;
  std::map<ContentHash, size_t> by_source_;                          // index into known_
  std::map<std::pair<ContentHash, ContentHash>, size_t> by_binary_;  // PTX, plans
  std::map<size_t, CachedRequest> requests_;                         // by timed row
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_EVALUATE_H_
