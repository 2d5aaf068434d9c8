#ifndef OPTIML_OPTIMIZE_CHAIN_H_
#define OPTIML_OPTIMIZE_CHAIN_H_

// The chain of the best node, told edit by edit: which edits carry its gain.
//
//   shortest prefix what comes after the shortest prefix that is not slower than the whole is
//   DROPPED leave one out   from the last edit to the first: where the chain without an edit, or
//   without two
//                   neighbours, is legal, accepted and not slower, they are DROPPED; repeated until
//                   nothing is dropped
//   order           an edit that is not accepted before the next one changes places with it where
//                   that gives a chain that is accepted and not slower
//   KEEP, BRIDGE    of what is left: a BRIDGE is an edit after which the chain is slower than
//   before
//                   it (or is not accepted), and which a later edit needs; the others are KEEP
//
// Pure but for `evaluate`.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "device/device.h"
#include "optimize/evaluate.h"
#include "optimize/time_shapes.h"
#include "store/run_record.h"

namespace optiml {

// An edit must buy more than 1 % to stay: below that the time model's resolution ends, and a reader
// of the patch would rather not have it.
inline constexpr double kNegligibleGain = 1.01;

// Whether `a` is slower than `b`: predicted times by more than kNegligibleGain; measured ones when
// in addition their intervals do not overlap. REQUIRES: both are accepted.
bool IsSlower(const Evaluation& a, const Evaluation& b);

// Whether the gain of `best` over `root` may be kept, and the sentence that says why.
struct GainVerdict {
  bool kept = false;
  double gain = 1;  // root time / best time
  std::string reason;
  std::optional<Conditions> conditions = {};  // under which it was measured
};
// Predicted times: only above the device's stated error.
GainVerdict JudgePrediction(const Evaluation& root, const Evaluation& best, const DeviceInfo& info);
// Measured in turn, twice: only when both intervals, at all shapes taken together, exclude that
// there is no gain, and the gain is more than kNegligibleGain both times: equal kernels in other
// places of memory differ by some tenths of a percent.
GainVerdict JudgeMeasurement(const GainMeasurement& measured);

struct ChainOutcome {
  std::vector<ChainStep> steps;  // all edits, dropped ones included
  CandidateOutcome best;         // what the edits that were not dropped make
};

using EvaluateChain = std::function<Result<CandidateOutcome>(std::span<const Edit>)>;

// REQUIRES: the whole chain is accepted; `root` is the evaluation of the empty chain.
Result<ChainOutcome> ReduceChain(const std::vector<Edit>& chain, const CandidateOutcome& root,
                                 const EvaluateChain& evaluate);

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_CHAIN_H_
