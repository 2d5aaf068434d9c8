#ifndef OPTIML_SCORE_JUDGE_H_
#define OPTIML_SCORE_JUDGE_H_

// Judge: whether an edit did what it claimed. Mechanical: compares the metrics that the edit's
// claim names before and after the edit. Comments in the source, and how fast the candidate is, do
// not enter.

#include <optional>
#include <string>
#include <vector>

#include "core/edit.h"
#include "core/judgement.h"
#include "core/metrics.h"

namespace optiml {

// Changes below 2 % say nothing: sampled blocks of the emulator and counters of a GPU repeat to
// about a percent.
inline constexpr double kUnclearRatio = 0.02;

// Of one claim: supported or refuted when the metric moved by more than kUnclearRatio, unclear when
// it hardly moved or was not measured on both sides. `before` is the profile of the variant that
// the edit was applied to.
Verdict JudgeClaim(const MetricClaim& claim, const Profile& before, const Profile& after);

// Nothing when the edit claims nothing or a profile is missing.
std::optional<Judgement> JudgeEdit(const Edit& edit, const std::optional<Profile>& before,
                                   const std::optional<Profile>& after);

// Before the evaluation: whether an edit aims at what bounds the kernel.
Opinion MechanicalOpinion(const Edit& edit, const std::optional<Diagnosis>& diagnosis);

// What an opinion does to an edit's prior: 1/4 for what cannot help, 4 for what surely does.
double PriorFactor(const Opinion& opinion);

// Below this a model's own edit is not tried. A rewrite of the catalogue is only put off.
inline constexpr double kImplausible = 0.1;

}  // namespace optiml

#endif  // OPTIML_SCORE_JUDGE_H_
