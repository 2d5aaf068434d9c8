#include "optimize/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "score/seconds_text.h"

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

// Geometric means.
Gain OverShapes(const std::vector<Gain>& gains) {
  double ratio = 0;
  double low = 0;
  double high = 0;
  for (const Gain& gain : gains) {
    ratio += std::log(gain.ratio);
    low += std::log(gain.low);
    high += std::log(gain.high);
  }
  const auto count = static_cast<double>(gains.size());
  return {std::exp(ratio / count), std::exp(low / count), std::exp(high / count)};
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
      : root_(root), evaluate_(evaluate) {
    for (size_t i = 0; i < chain.size(); ++i) {
      outcome_.steps.push_back({chain[i], EditMark::kKeep, {}, {}, "", "", {}});
      kept_.push_back(i);
    }
  }

  Result<ChainOutcome> Run() {
    OPTIML_ASSIGN(outcome_.best, Of(kept_));
    OPTIML_CHECK(outcome_.best.evaluation.accepted(), "the chain of an accepted node is accepted");
    whole_ = outcome_.best.evaluation;
    OPTIML_TRY(CutTail());
    for (bool dropped = true; dropped;) {
      OPTIML_ASSIGN(const bool one, DropOnce(1));
      OPTIML_ASSIGN(const bool two, one ? Result<bool>(false) : DropOnce(2));
      dropped = one || two;
    }
    OPTIML_TRY(Reorder());
    OPTIML_TRY(TellPrefixes());
    return std::move(outcome_);
  }

 private:
  Result<CandidateOutcome> Of(const std::vector<size_t>& kept) {
    if (kept.empty()) {
      return root_;
    }
    std::vector<Edit> edits;
    for (const size_t index : kept) {
      edits.push_back(outcome_.steps[index].edit);
    }
    return evaluate_(edits);
  }

  // Against the whole chain: small losses of many drops must not add up.
  bool IsAsGood(const CandidateOutcome& other) const {
    return other.evaluation.accepted() && !IsSlower(other.evaluation, whole_);
  }

  // Goes on with `shorter` in the place of the chain; what is missing in it was dropped.
  void Accept(std::vector<size_t> shorter, CandidateOutcome outcome) {
    const std::string note = fmt::format("no gain: the chain takes {} without it, {} with it",
                                         SecondsText(outcome.evaluation.TimeSeconds()),
                                         SecondsText(outcome_.best.evaluation.TimeSeconds()));
    for (const size_t index : kept_) {
      if (std::find(shorter.begin(), shorter.end(), index) == shorter.end()) {
        ChainStep& step = outcome_.steps[index];
        step.mark = EditMark::kDropped;
        step.time_without_s = outcome.evaluation.TimeSeconds();
        step.note = note;
      }
    }
    kept_ = std::move(shorter);
    outcome_.best = std::move(outcome);
  }

  // The prefixes are nodes of the tree: nothing is evaluated for this.
  Result<void> CutTail() {
    for (size_t size = 0; size < kept_.size(); ++size) {
      std::vector<size_t> prefix(kept_.begin(), kept_.begin() + static_cast<long>(size));
      OPTIML_ASSIGN(CandidateOutcome outcome, Of(prefix));
      if (IsAsGood(outcome)) {
        Accept(std::move(prefix), std::move(outcome));
        break;
      }
    }
    return {};
  }

  // One pass from the last edit to the first, leaving out `count` neighbours at a time; whether any
  // were dropped.
  Result<bool> DropOnce(size_t count) {
    bool any = false;
    for (size_t end = kept_.size(); end >= count; --end) {
      if (end > kept_.size()) {
        continue;  // two were dropped: the chain is shorter now
      }
      std::vector<size_t> shorter = kept_;
      shorter.erase(shorter.begin() + static_cast<long>(end - count),
                    shorter.begin() + static_cast<long>(end));
      OPTIML_ASSIGN(CandidateOutcome without, Of(shorter));
      if (IsAsGood(without)) {
        Accept(std::move(shorter), std::move(without));
        any = true;
      } else if (count == 1) {
        NoteNeeded(outcome_.steps[kept_[end - 1]], without.evaluation);
      }
    }
    return any;
  }

  void NoteNeeded(ChainStep& step, const Evaluation& without) const {
    step.time_without_s.reset();
    if (!without.accepted()) {
      step.note = "the chain needs it: without it " + WhyNot(without);
      return;
    }
    step.time_without_s = without.TimeSeconds();
    step.note = fmt::format("without it the chain takes {:.3g} times as long",
                            without.TimeSeconds() / outcome_.best.evaluation.TimeSeconds());
  }

  // Moves an edit that needs a later one behind it, where the result is as good.
  Result<void> Reorder() {
    std::vector<size_t> prefix;
    for (size_t i = 0; i + 1 < kept_.size(); ++i) {
      prefix.push_back(kept_[i]);
      OPTIML_ASSIGN(const CandidateOutcome before, Of(prefix));
      if (before.evaluation.accepted()) {
        continue;
      }
      ChainStep& first = outcome_.steps[kept_[i]];
      ChainStep& second = outcome_.steps[kept_[i + 1]];
      std::swap(first, second);
      OPTIML_ASSIGN(const CandidateOutcome moved, Of(prefix));
      OPTIML_ASSIGN(CandidateOutcome whole, Of(kept_));
      if (moved.evaluation.accepted() && IsAsGood(whole)) {
        outcome_.best = std::move(whole);
      } else {
        std::swap(first, second);
      }
    }
    return {};
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

  const CandidateOutcome& root_;
  const EvaluateChain& evaluate_;
  Evaluation whole_;          // of the chain before anything was dropped
  std::vector<size_t> kept_;  // indices into outcome_.steps
  ChainOutcome outcome_;
};

}  // namespace

bool IsSlower(const Evaluation& a, const Evaluation& b) {
  if (a.TimeSeconds() <= kNegligibleGain * b.TimeSeconds()) {
    return false;
  }
  return !IsMeasured(a) || GeometricMean(a, &Timing::low_s) > GeometricMean(b, &Timing::high_s);
}

GainVerdict JudgePrediction(const Evaluation& root, const Evaluation& best,
                            const DeviceInfo& info) {
  GainVerdict verdict;
  verdict.gain = root.TimeSeconds() / best.TimeSeconds();
  verdict.kept = verdict.gain > info.prediction_error_factor;
  verdict.reason = fmt::format(
      "predicted {:.2f} times as fast as the original, {} the time model's stated error of {:.2f} "
      "times",
      verdict.gain, verdict.kept ? "above" : "which does not exceed", info.prediction_error_factor);
  return verdict;
}

GainVerdict JudgeMeasurement(const GainMeasurement& measured) {
  const Gain first = OverShapes(measured.first);
  const Gain second = OverShapes(measured.second);
  GainVerdict verdict;
  verdict.gain = first.ratio;
  verdict.kept =
      first.low > 1 && second.low > 1 && std::min(first.ratio, second.ratio) > kNegligibleGain;
  const std::string numbers = fmt::format(
      "measured {:.3g} times as fast as the original (95 % interval {:.4g} to {:.4g}; again, in "
      "each other's roles and on other data: {:.4g} to {:.4g})",
      first.ratio, first.low, first.high, second.low, second.high);
  verdict.conditions = measured.conditions;
  verdict.reason =
      verdict.kept ? numbers : "no significant difference: " + numbers + ", which may be no gain";
  return verdict;
}

Result<ChainOutcome> ReduceChain(const std::vector<Edit>& chain, const CandidateOutcome& root,
                                 const EvaluateChain& evaluate) {
  return Reducer(chain, root, evaluate).Run();
}

}  // namespace optiml
