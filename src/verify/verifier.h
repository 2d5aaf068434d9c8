#ifndef OPTIML_VERIFY_VERIFIER_H_
#define OPTIML_VERIFY_VERIFIER_H_

// Verifier: whether a candidate computes what its task says. Stages L0 (sane: builds, stays within
// the device's limits, runs without a finding) and L1 (right: every checked shape, several fills
// and seeds, poison with two patterns, twice in a row), as docs/verification.md describes. The
// first failure ends it.
//
// A candidate arrives as text; the verifier parses, plans and builds it, so that what is verified
// is what is delivered. Expected values never enter the device before the candidate has ended.
//
// Threads: one call at a time; Prepare() may run beside any other, and beside itself.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "frontend/frontend.h"
#include "task/inputs.h"
#include "task/reference.h"
#include "verify/live_launcher.h"

namespace optiml {

// A candidate made ready: parsed, planned for every checked and timed shape, built.
struct PreparedCandidate {
  KernelSource source;
  Artifact artifact;
  std::vector<LaunchPlan> checked_plans;  // by row of KernelTask::checked
  std::vector<LaunchPlan> timed_plans;    // by row of KernelTask::timed
  std::vector<LaunchPlan> case_plans;     // of the verifier's cases: further rows, varied scalars
  // Host mode: the plans above are those of one contents each, and there are none before Trace().
  std::shared_ptr<LiveLauncher> live;
};

// One line of the battery's table.
struct BatteryVerdict {
  std::string mutant;   // "zeros", "1 % scale error" ...
  std::string verdict;  // "rejected", "equivalent" (it is right for this task), "accepted" (the
                        // task is too weak)
  std::string detail;
};

struct VerifierOptions {
  int seeds = 2;  // per shape, with the declared fills; each further fill runs once per shape
  uint64_t first_seed = 1;
  std::vector<FillKind> extra_fills = {FillKind::kUniform,     FillKind::kConstant,
                                       FillKind::kAllNegative, FillKind::kHeavyTailed,
                                       FillKind::kMixedScale,  FillKind::kSmallInts};
  uint64_t step_limit_per_case = uint64_t{4'000'000'000};
  RecorderOptions recorder;  // of launchers that cannot be interpreted
};

class Verifier {
 public:
  virtual ~Verifier() = default;

  // Parse, plan, build. A refusal is a Rejection with its stage (kParse, kPlan, kBuild); times are
  // added to `evaluation.stage_times`, resources and ptx hash are filled in.
  virtual Result<std::variant<PreparedCandidate, Rejection>> Prepare(const KernelSource& source,
                                                                     Evaluation& evaluation) = 0;

  // Makes the plans of a candidate in host mode, on the first case's contents of each row and on
  // those that are timed; the device executes its launcher's work. Nothing for other candidates.
  // evaluation.outcome holds the Rejection, too.
  virtual Result<std::optional<Rejection>> Trace(PreparedCandidate& candidate,
                                                 Evaluation& evaluation) {
    (void)candidate;
    (void)evaluation;
    return std::optional<Rejection>();
  }

  // REQUIRES: Trace() was called, if the candidate is in host mode
  // L0 and L1. On rejection evaluation.outcome holds it; evaluation.verify is filled either way.
  // Fails (kInvalidArgument) when the task itself is wrong: its reference or its own kernel cannot
  // compute a checked shape, or they disagree.
  virtual Result<void> Verify(const PreparedCandidate& candidate, Evaluation& evaluation) = 0;

  // L2, on a device that measures: what row `row` of the timed shapes is timed with, as many sets
  // as there are passes.
  virtual Result<std::vector<const TaskInputs*>> TimedInputs(size_t row) = 0;
  // Whether outputs with this digest were right when CheckTimed() saw them in that set of the row,
  // and so are this candidate's. REQUIRES: as CheckTimed()
  virtual bool KnowsTimed(size_t row, size_t set, const OutputsDigest& digest) const {
    (void)row;
    (void)set;
    (void)digest;
    return false;
  }
  // REQUIRES: Verify() accepted the candidate, and no other one since.
  // What the timed buffers held after each set, against what the task's own kernel computes there
  // on the same device, and against elements of the reference where it has a range form. `timed`
  // completed, with these inputs and this plan; its outputs are taken. Outputs that KnowsTimed()
  // need not be there.
  virtual Result<std::optional<Rejection>> CheckTimed(size_t row, const LaunchPlan& plan,
                                                      TimeOutcome& timed,
                                                      Evaluation& evaluation) = 0;
  // L2: the timed shapes, whole, where they are not too big (verify/timed_check.h). What is left
  // out is in Notes(). On rejection evaluation.outcome holds it; evaluation.verify is added to.
  // REQUIRES: Verify accepted the candidate
  virtual Result<void> VerifyTimed(const PreparedCandidate&, Evaluation&) { return {}; }

  // The task battery, against the task's own kernel: rows for the report, and an Error
  // (kInvalidArgument) with the reason and the fix when the task cannot tell right from wrong, when
  // its own kernel is rejected, or when the kernel disagrees with its reference.
  virtual Result<std::vector<BatteryVerdict>> Battery() = 0;

  // Cases of our own that the original does not compute either, with the reason: they were left
  // out. Complete after Battery().
  virtual std::vector<std::string> DroppedCases() const = 0;

  // What the device's checks of this verifier's runs say of themselves: "race check incomplete:
  // ...". Nothing about right or wrong.
  virtual std::vector<std::string> Notes() const { return {}; }
};

// Everything is borrowed and must outlive the verifier. `reference` is null for tasks whose
// reference is the original kernel or recorded tensors.
Result<std::unique_ptr<Verifier>> MakeVerifier(const KernelTask& task, Builder& builder,
                                               Device& device, HostReference* reference,
                                               const VerifierOptions& options);

}  // namespace optiml

#endif  // OPTIML_VERIFY_VERIFIER_H_
