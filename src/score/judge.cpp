#include "score/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace optiml {
namespace {

// Relative change in [-1, 1], by the larger of the two; positive when the metric rose.
double RelativeChange(double before, double after) {
  const double largest = std::max(std::abs(before), std::abs(after));
  return largest == 0 ? 0 : (after - before) / largest;
}

}  // namespace

Verdict JudgeClaim(const MetricClaim& claim, const Profile& before, const Profile& after) {
  const std::optional<double> old_value = before.Get(claim.metric);
  const std::optional<double> new_value = after.Get(claim.metric);
  if (!old_value || !new_value) {
    return Verdict::kUnclear;
  }
  const double change = RelativeChange(*old_value, *new_value);
  if (std::abs(change) <= kUnclearRatio) {
    return Verdict::kUnclear;
  }
  return (change > 0) == (claim.direction == Direction::kUp) ? Verdict::kSupported
                                                             : Verdict::kRefuted;
}

std::optional<Judgement> JudgeEdit(const Edit& edit, const std::optional<Profile>& before,
                                   const std::optional<Profile>& after) {
  if (edit.claim.empty() || !before || !after) {
    return std::nullopt;
  }
  int supported = 0;
  int refuted = 0;
  std::string example;
  for (const MetricClaim& claim : edit.claim) {
    const Verdict verdict = JudgeClaim(claim, *before, *after);
    supported += verdict == Verdict::kSupported ? 1 : 0;
    refuted += verdict == Verdict::kRefuted ? 1 : 0;
    if (verdict == Verdict::kRefuted && example.empty()) {
      const double old_value = *before->Get(claim.metric);
      const double new_value = *after->Get(claim.metric);
      example = fmt::format(" ({} {} from {:.4g} to {:.4g})", claim.metric,
                            new_value > old_value ? "rose" : "fell", old_value, new_value);
    }
  }
  const auto claims = static_cast<double>(edit.claim.size());
  Judgement judgement;
  judgement.value = (supported - refuted) / claims;
  judgement.verdict = supported > refuted   ? Verdict::kSupported
                      : refuted > supported ? Verdict::kRefuted
                                            : Verdict::kUnclear;
  judgement.reason = fmt::format("{} of {} claims supported, {} refuted{}", supported,
                                 edit.claim.size(), refuted, example);
  return judgement;
}

Opinion MechanicalOpinion(const Edit& edit, const std::optional<Diagnosis>& diagnosis) {
  if (!diagnosis || diagnosis->bound == Bound::kUnknown || edit.aims_at == Bound::kUnknown) {
    return {0.5, "what bounds the kernel, or what the edit aims at, is not known", ""};
  }
  const bool fits = edit.aims_at == diagnosis->bound;
  return {fits ? 0.75 : 0.25,
          fmt::format("it aims at {}, the kernel is bound by {}", BoundName(edit.aims_at),
                      BoundName(diagnosis->bound)),
          ""};
}

double PriorFactor(const Opinion& opinion) {
  return std::pow(4, 2 * opinion.plausibility_ratio - 1);
}

}  // namespace optiml
