#include "optimize/chain.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/check.h"

namespace optiml {
namespace {

double GeometricMean(const Evaluation& evaluation, double Timing::* bound) {
  double log_sum = 0;
  for (const Timing& timing : evaluation.timings) {
    log_sum += std::log(timing.*bound);
  }
  return std::exp(log_sum / static_cast<double>(evaluation.timings.size()));
}

bool IsMeasured(const Evaluation& evaluation) {
  return evaluation.timings.front().kind == TimingKind::kMeasured;
}

// The edits of the chain that are still in it, by index.
std::vector<Edit> Pick(const std::vector<Edit>& chain, const std::vector<size_t>& kept) {
  std::vector<Edit> edits;
  for (const size_t index : kept) {
    edits.push_back(chain[index]);
  }
  return edits;
}

std::string WhyNot(const Evaluation& evaluation) {
  const Rejection& rejection = *evaluation.rejection();
  return fmt::format("{}: {}", StageName(rejection.stage), rejection.reason);
}

// Drops what carries no gain and notes what each edit is worth.
class Reducer {
 public:
  Reducer(const std::vector<Edit>& chain, const CandidateOutcome& root,
          const EvaluateChain& evaluate)
      : chain_(chain), root_(root), evaluate_(evaluate) {}

  Result<ChainOutcome> Run() {
    for (size_t i = 0; i < chain_.size(); ++i) {
      outcome_.steps.push_back({chain_[i], EditMark::kKeep, {}, {}, "", "", {}});
      kept_.push_back(i);
    }
    OPTIML_ASSIGN(outcome_.best, Of(kept_));
    OPTIML_CHECK(outcome_.best.evaluation.accepted(), "the chain of an accepted node is accepted");
    for (bool dropped = true; dropped;) {
      OPTIML_ASSIGN(dropped, DropOnce());
    }
    OPTIML_TRY(TellPrefixes());
    return std::move(outcome_);
  }

 private:
  Result<CandidateOutcome> Of(const std::vector<size_t>& kept) {
    if (kept.empty()) {
      return root_;
    }
    return evaluate_(Pick(chain_, kept));
  }

  // One pass from the last edit to the first; whether anything was dropped.
  Result<bool> DropOnce() {
    bool any = false;
    for (size_t position = kept_.size(); position-- > 0;) {
      std::vector<size_t> shorter = kept_;
      shorter.erase(shorter.begin() + static_cast<long>(position));
      ChainStep& step = outcome_.steps[kept_[position]];
      OPTIML_ASSIGN(CandidateOutcome without, Of(shorter));
      if (!without.evaluation.accepted()) {
        step.time_without_s.reset();
        step.note = "the chain needs it: without it " + WhyNot(without.evaluation);
        continue;
      }
      const double time = outcome_.best.evaluation.TimeSeconds();
      step.time_without_s = without.evaluation.TimeSeconds();
      if (IsSlower(without.evaluation, outcome_.best.evaluation)) {
        step.note = fmt::format("without it the chain takes {:.3g} times as long",
                                *step.time_without_s / time);
        continue;
      }
      step.mark = EditMark::kDropped;
      step.note = fmt::format("no gain: the chain takes {:.4g} s without it, {:.4g} s with it",
                              *step.time_without_s, time);
      kept_ = std::move(shorter);
      outcome_.best = std::move(without);
      any = true;
    }
    return any;
  }

  // Time, text and counters after each edit that is left.
  Result<void> TellPrefixes() {
    std::vector<size_t> prefix;
    CandidateOutcome before = root_;
    for (size_t i = 0; i < outcome_.steps.size(); ++i) {
      ChainStep& step = outcome_.steps[i];
      if (step.mark == EditMark::kDropped) {
        step.source = before.source;
        continue;
      }
      prefix.push_back(i);
      OPTIML_ASSIGN(CandidateOutcome after, Of(prefix));
      step.source = after.source;
      step.profile = after.evaluation.profile;
      const bool accepted = after.evaluation.accepted();
      if (accepted) {
        step.time_s = after.evaluation.TimeSeconds();
      }
      if (!accepted || IsSlower(after.evaluation, before.evaluation)) {
        step.mark = EditMark::kBridge;
        step.note += accepted ? "; alone it is a step back that a later edit needs"
                              : "; before the later edits " + WhyNot(after.evaluation);
      }
      if (accepted) {
        before = std::move(after);
      } else {
        before.source = after.source;
      }
    }
    return {};
  }

  const std::vector<Edit>& chain_;
  const CandidateOutcome& root_;
  const EvaluateChain& evaluate_;
  std::vector<size_t> kept_;  // indices into chain_
  ChainOutcome outcome_;
};

}  // namespace

bool IsSlower(const Evaluation& a, const Evaluation& b) {
  if (a.TimeSeconds() <= kNegligibleGain * b.TimeSeconds()) {
    return false;
  }
  return !IsMeasured(a) || GeometricMean(a, &Timing::low_s) > GeometricMean(b, &Timing::high_s);
}

GainVerdict JudgeGain(const Evaluation& root, const Evaluation& best, const DeviceInfo& info) {
  GainVerdict verdict;
  verdict.gain = root.TimeSeconds() / best.TimeSeconds();
  if (IsMeasured(best)) {
    const double least = GeometricMean(root, &Timing::low_s) / GeometricMean(best, &Timing::high_s);
    verdict.kept = least > 1;
    verdict.reason =
        verdict.kept
            ? fmt::format("measured {:.2f} times as fast as the original, at least {:.2f} times",
                          verdict.gain, least)
            : fmt::format(
                  "measured {:.2f} times as fast as the original, but the intervals do not "
                  "exclude that there is no gain",
                  verdict.gain);
    return verdict;
  }
  verdict.kept = verdict.gain > info.prediction_error_factor;
  verdict.reason = fmt::format(
      "predicted {:.2f} times as fast as the original, {} the time model's stated error of {:.2f} "
      "times",
      verdict.gain, verdict.kept ? "above" : "which does not exceed", info.prediction_error_factor);
  return verdict;
}

Result<ChainOutcome> ReduceChain(const std::vector<Edit>& chain, const CandidateOutcome& root,
                                 const EvaluateChain& evaluate) {
  return Reducer(chain, root, evaluate).Run();
}

}  // namespace optiml
