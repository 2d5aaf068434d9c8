#include "optimize/evaluate.h"

#include <fmt/format.h>

#include "base/check.h"
#include "optimize/interruptible_device.h"

namespace optiml {
namespace {

// Adds the time from its construction to its end of life to one stage.
class StageTimer {
 public:
  StageTimer(const Clock& clock, Stage stage, Evaluation& evaluation)
      : watch_(clock), stage_(stage), evaluation_(evaluation) {}
  StageTimer(const StageTimer&) = delete;  // it writes once
  StageTimer& operator=(const StageTimer&) = delete;
  ~StageTimer() { evaluation_.stage_times.push_back({stage_, watch_.Elapsed()}); }

 private:
  Stopwatch watch_;
  Stage stage_;
  Evaluation& evaluation_;
};

ContentHash HashPlans(const PreparedCandidate& candidate) {
  ContentHasher hasher;
  for (const auto* plans :
       {&candidate.checked_plans, &candidate.timed_plans, &candidate.case_plans}) {
    for (const LaunchPlan& plan : *plans) {
      hasher.Add(plan.Format());
    }
  }
  return hasher.Finish();
}

}  // namespace

Result<CandidateOutcome> CandidateEvaluator::Evaluate(const rewrite::Catalogue& catalogue,
                                                      std::span<const Edit> chain,
                                                      VariantId variant) {
  CandidateOutcome outcome;
  outcome.evaluation.variant = variant;
  std::optional<rewrite::ApplyOutcome> applied;
  {
    const StageTimer timer(*parts_.clock, Stage::kApply, outcome.evaluation);
    applied = catalogue.Apply(chain);
  }
  if (const auto* refusal = std::get_if<rewrite::ApplyRefusal>(&*applied)) {
    outcome.evaluation.outcome = Rejection{Stage::kApply, refusal->reason};
    return outcome;
  }
  return Finish(std::get<KernelSource>(*applied), std::move(outcome));
}

Result<CandidateOutcome> CandidateEvaluator::EvaluateSource(const KernelSource& source,
                                                            VariantId variant) {
  CandidateOutcome outcome;
  outcome.evaluation.variant = variant;
  return Finish(source, std::move(outcome));
}

Result<CandidateOutcome> CandidateEvaluator::Finish(const KernelSource& source,
                                                    CandidateOutcome outcome) {
  Evaluation& evaluation = outcome.evaluation;
  outcome.source = source.text();
  evaluation.source_hash = source.hash();
  if (const auto found = by_source_.find(source.hash()); found != by_source_.end()) {
    Answer(known_[found->second], outcome);
    return outcome;
  }
  OPTIML_TRY(InterruptibleDevice::CheckStop(parts_.stop));
  OPTIML_ASSIGN(auto prepared, parts_.verifier->Prepare(source, evaluation));
  if (auto* rejection = std::get_if<Rejection>(&prepared)) {
    evaluation.outcome = std::move(*rejection);
    return outcome;
  }
  const auto& candidate = std::get<PreparedCandidate>(prepared);
  evaluation.ptx_hash = candidate.artifact.ptx_hash;
  evaluation.plan_hash = HashPlans(candidate);
  const auto twin = by_binary_.find({*evaluation.ptx_hash, *evaluation.plan_hash});
  if (twin != by_binary_.end()) {
    Answer(known_[twin->second], outcome);
    return outcome;
  }
  OPTIML_TRY(parts_.verifier->Verify(candidate, evaluation));
  if (evaluation.accepted()) {
    const StageTimer timer(*parts_.clock, Stage::kMeasure, evaluation);
    OPTIML_TRY(timer_.Time(candidate, evaluation));
  }
  if (evaluation.accepted() && evaluation.profile && parts_.diagnose) {
    const StageTimer timer(*parts_.clock, Stage::kProfile, evaluation);
    evaluation.diagnosis = parts_.diagnose(*evaluation.profile, evaluation.timings.front(),
                                           parts_.device->Info(), evaluation.resources);
  }
  return outcome;
}

Result<std::optional<GainMeasurement>> CandidateEvaluator::MeasureGain(
    const KernelSource& candidate, const KernelSource& incumbent, std::string& why_not) {
  std::vector<PreparedCandidate> both;
  for (const KernelSource* source : {&candidate, &incumbent}) {
    Evaluation ignored;
    OPTIML_ASSIGN(auto prepared, parts_.verifier->Prepare(*source, ignored));
    if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
      why_not = rejection->reason;
      return std::optional<GainMeasurement>();
    }
    both.push_back(std::get<PreparedCandidate>(std::move(prepared)));
  }
  return timer_.MeasureGain(both[0], both[1], why_not);
}

void CandidateEvaluator::Answer(const Known& known, CandidateOutcome& outcome) const {
  Evaluation answer = known.evaluation;
  answer.source_hash = outcome.evaluation.source_hash;
  answer.stage_times = std::move(outcome.evaluation.stage_times);
  answer.from_store = true;
  outcome.evaluation = std::move(answer);
  outcome.duplicate_of = known.node;
}

void CandidateEvaluator::Remember(const Evaluation& evaluation, std::optional<int64_t> node) {
  if (evaluation.source_hash.is_zero()) {
    return;  // an edit that refused: there is no source
  }
  known_.push_back({evaluation, node});
  const size_t index = known_.size() - 1;
  by_source_.emplace(evaluation.source_hash, index);
  if (evaluation.ptx_hash && evaluation.plan_hash) {
    by_binary_.emplace(std::pair(*evaluation.ptx_hash, *evaluation.plan_hash), index);
  }
}

}  // namespace optiml
