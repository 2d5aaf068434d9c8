#ifndef OPTIML_SCORE_SCORER_H_
#define OPTIML_SCORE_SCORER_H_

// Scorer: Evaluation -> Reward, everything against the root.
//
//   total = w_time * time + w_proxy * proxy + w_judge * judge - guardrails
//     time       ln(root time / candidate time), clipped to [-time_clip, time_clip]
//     proxy      counters that matter for the root's bound (proxies.h), in [-1, 1]
//     judge      whether the edit did what it claimed, against its parent (judge.h), in [-1, 1]
//     guardrail  penalties for more work, or for spills, that bought no time
// A rejected candidate has one fixed total, below every accepted one's. A part without the metrics
// it needs is left out. Each part says its reason in one sentence. Pure; threads do not matter.

#include <optional>

#include "core/edit.h"
#include "core/evaluation.h"
#include "core/judgement.h"

namespace optiml {

struct ScoreOptions {
  double time_weight = 1;
  double proxy_weight = 0.2;  // a tie-breaker: a proxy that halves is worth a 15 % gain in time
  double judge_weight = 0.05;
  double time_clip = 4;  // ln 55
  // More instructions or DRAM bytes than this factor times the root's, without a gain in time.
  double work_regression_factor = 1.2;
  double guardrail_penalty = 0.2;  // for each guardrail that is broken
  bool proxies = true;
  bool judge = true;
};

class Scorer {
 public:
  // REQUIRES: the root was accepted and timed.
  Scorer(const ScoreOptions& options, const Evaluation& root);

  // Of the root itself: total 0.
  Reward ScoreRoot() const;

  // `edit` led from `parent` to the candidate. `by_model`: a model's judgement, which speaks where
  // the counters leave the edit's claims unclear. REQUIRES: an accepted candidate was timed.
  Reward Score(const Evaluation& candidate, const Edit& edit, const Evaluation& parent,
               const std::optional<Judgement>& by_model = std::nullopt) const;

  // What every rejected candidate gets.
  double FailureTotal() const;

 private:
  RewardPart TimePart(const Evaluation& candidate) const;
  RewardPart GuardrailPart(const Evaluation& candidate) const;

  ScoreOptions options_;
  Evaluation root_;
};

}  // namespace optiml

#endif  // OPTIML_SCORE_SCORER_H_
