#ifndef OPTIML_SCORE_JUDGE_H_
#define OPTIML_SCORE_JUDGE_H_

// Judge: whether an edit did what it claimed. Mechanical: compares the metrics that the edit's
// claim names before and after the edit. Comments in the source, and how fast the candidate is, do
// not enter.

#include <optional>
#include <string>
#include <vector>

#include "core/edit.h"
#include "core/metrics.h"

namespace optiml {

enum class Verdict {
  kSupported,  // moved in the claimed direction by more than kUnclearRatio
  kRefuted,    // moved the other way by more than kUnclearRatio
  kUnclear,    // hardly moved, or not measured on both sides
};

// Changes below 2 % say nothing: sampled blocks of the emulator and counters of a GPU repeat to
// about a percent.
inline constexpr double kUnclearRatio = 0.02;

// Of one claim. `before` is the profile of the variant that the edit was applied to.
Verdict JudgeClaim(const MetricClaim& claim, const Profile& before, const Profile& after);

struct Judgement {
  double value = 0;    // (supported - refuted) / claims, in [-1, 1]
  std::string reason;  // "2 of 3 claims supported, 1 refuted (dram__bytes_read.sum rose 12 %)"
};

// Nothing when the edit claims nothing or a profile is missing.
std::optional<Judgement> JudgeEdit(const Edit& edit, const std::optional<Profile>& before,
                                   const std::optional<Profile>& after);

}  // namespace optiml

#endif  // OPTIML_SCORE_JUDGE_H_
