#ifndef OPTIML_OPTIMIZE_EVALUATE_H_
#define OPTIML_OPTIMIZE_EVALUATE_H_

// CandidateEvaluator: one candidate through the stages apply, prepare (parse, plan, build), verify,
// time and diagnose. The first stage that fails ends it with a Rejection. A candidate that executes
// the same as an earlier one (equal source, or equal PTX under equal plans) is answered from that
// one.

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "optimize/stations.h"
#include "optimize/time_shapes.h"
#include "rewrite/catalogue.h"
#include "verify/verifier.h"

namespace optiml {

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
    // Further devices, as good as the first, on which candidates are judged beside it.
    std::vector<std::pair<Verifier*, Device*>> more;
    const Clock* clock = nullptr;
    DiagnoseFunction diagnose;                // empty: no diagnosis
    const std::atomic<bool>* stop = nullptr;  // may be null
    uint64_t timing_seed = 1;                 // of the inputs at the timed shapes
  };
  explicit CandidateEvaluator(Parts parts);

  // A candidate on its way: applied; parsed, planned and built at once or, with `ahead`, on a
  // thread of its own while others are measured; with further devices, judged there, too.
  class Begun {
   public:
    Begun(Begun&&) = default;
    Begun& operator=(Begun&&) = default;

   private:
    friend class CandidateEvaluator;
    struct Preparation {
      Evaluation evaluation;  // with what preparing adds
      Result<std::variant<PreparedCandidate, Rejection>> prepared;
    };
    // What is left when it has been judged: its evaluation, or what is broken.
    struct Judged {
      Evaluation evaluation;
      Result<void> done;
    };
    Begun() = default;
    CandidateOutcome outcome_;
    std::optional<KernelSource> source_;  // absent: the edit refused to be applied
    std::future<Preparation> preparation_;
    std::future<Judged> judged_;  // instead of it, with further devices
  };
  Begun Begin(const rewrite::Catalogue& catalogue, std::span<const Edit> chain, VariantId variant,
              bool ahead);
  // The rest. Fails with kInterrupted when asked to stop; nothing is remembered then.
  Result<CandidateOutcome> Finish(Begun begun);

  // The source that the chain makes, from begin to end. `variant` is its id unless an earlier one
  // answers.
  Result<CandidateOutcome> Evaluate(const rewrite::Catalogue& catalogue,
                                    std::span<const Edit> chain, VariantId variant);
  Result<CandidateOutcome> EvaluateSource(const KernelSource& source, VariantId variant);

  // How many times as fast one source is as another, on a device that measures; absent where one of
  // them does not get that far, with the reason.
  Result<std::optional<GainMeasurement>> MeasureGain(const KernelSource& candidate,
                                                     const KernelSource& incumbent,
                                                     std::string& why_not);

  // For work of the caller's own on the first device; no candidate is judged there meanwhile.
  Stations::Hold HoldFirst() { return stations_.AcquireFirst(); }

  // Makes an evaluation answer for equal candidates from now on. `node`: its node in the tree;
  // absent for one that is not in the tree. A node takes the place of what is not in the tree.
  void Remember(const Evaluation& evaluation, std::optional<int64_t> node);

 private:
  struct Known {
    Evaluation evaluation;
    std::optional<int64_t> node;
  };

  // Starts preparing, unless the source is known.
  Begun BeginSource(const KernelSource& source, CandidateOutcome outcome, bool ahead);
  Begun::Preparation Prepare(const KernelSource& source, Evaluation evaluation) const;
  // A prepared candidate up to the program that it is; whether it has to be judged then.
  Result<bool> Identify(Begun::Preparation& preparation, Station& station);
  // Verifies, times, diagnoses.
  Result<void> Judge(const PreparedCandidate& candidate, Station& station, Evaluation& evaluation);
  // All of it, on the next station that is free.
  Begun::Judged PrepareAndJudge(const KernelSource& source, Evaluation evaluation);
  // Whether an earlier one answers for a program that was identified.
  bool AnswerByBinary(CandidateOutcome& outcome) const;
  // The earlier one's findings under the new one's id and stage times.
  void Answer(const Known& known, CandidateOutcome& outcome) const;

  Parts parts_;
  Stations stations_;
  std::vector<Known> known_;
  std::map<ContentHash, size_t> by_source_;                          // index into known_
  std::map<std::pair<ContentHash, ContentHash>, size_t> by_binary_;  // PTX, plans
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_EVALUATE_H_
