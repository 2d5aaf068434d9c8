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
  if (candidate.live != nullptr) {
    hasher.Add(candidate.source.text());  // it may decide otherwise on other contents
  }
  return hasher.Finish();
}

std::vector<Station> StationsOf(const CandidateEvaluator::Parts& parts) {
  std::vector<Station> stations;
  const auto add = [&](Verifier* verifier, Device* device) {
    Station& station = stations.emplace_back();
    station.verifier = verifier;
    station.device = device;
    station.timer =
        std::make_unique<ShapeTimer>(*parts.task, *device, *verifier, parts.timing_seed);
  };
  add(parts.verifier, parts.device);
  for (const auto& [verifier, device] : parts.more) {
    add(verifier, device);
  }
  return stations;
}

}  // namespace

CandidateEvaluator::CandidateEvaluator(Parts parts)
    : parts_(std::move(parts)), stations_(StationsOf(parts_)) {}

CandidateEvaluator::Begun CandidateEvaluator::Begin(const rewrite::Catalogue& catalogue,
                                                    std::span<const Edit> chain, VariantId variant,
                                                    bool ahead) {
  CandidateOutcome outcome;
  outcome.evaluation.variant = variant;
  std::optional<rewrite::ApplyOutcome> applied;
  {
    const StageTimer timer(*parts_.clock, Stage::kApply, outcome.evaluation);
    applied = catalogue.Apply(chain);
  }
  if (const auto* refusal = std::get_if<rewrite::ApplyRefusal>(&*applied)) {
    outcome.evaluation.outcome = Rejection{Stage::kApply, refusal->reason};
    Begun begun;
    begun.outcome_ = std::move(outcome);
    return begun;
  }
  return BeginSource(std::get<KernelSource>(*applied), std::move(outcome), ahead);
}

CandidateEvaluator::Begun CandidateEvaluator::BeginSource(const KernelSource& source,
                                                          CandidateOutcome outcome, bool ahead) {
  Begun begun;
  outcome.source = source.text();
  outcome.evaluation.source_hash = source.hash();
  begun.outcome_ = std::move(outcome);
  begun.source_ = source;
  if (by_source_.contains(source.hash())) {
    return begun;
  }
  if (ahead && stations_.count() > 1) {
    begun.judged_ = std::async(std::launch::async,
                               [this, source, evaluation = begun.outcome_.evaluation]() mutable {
                                 return PrepareAndJudge(source, std::move(evaluation));
                               });
    return begun;
  }
  begun.preparation_ = std::async(ahead ? std::launch::async : std::launch::deferred,
                                  [this, source, evaluation = begun.outcome_.evaluation]() mutable {
                                    return Prepare(source, std::move(evaluation));
                                  });
  return begun;
}

CandidateEvaluator::Begun::Preparation CandidateEvaluator::Prepare(const KernelSource& source,
                                                                   Evaluation evaluation) const {
  auto prepared = parts_.verifier->Prepare(source, evaluation);
  return Begun::Preparation{std::move(evaluation), std::move(prepared)};
}

Result<bool> CandidateEvaluator::Identify(Begun::Preparation& preparation, Station& station) {
  OPTIML_TRY(preparation.prepared);
  Evaluation& evaluation = preparation.evaluation;
  if (auto* rejection = std::get_if<Rejection>(&*preparation.prepared)) {
    evaluation.outcome = std::move(*rejection);
    return false;
  }
  auto& candidate = std::get<PreparedCandidate>(*preparation.prepared);
  OPTIML_ASSIGN(const auto untraced, station.verifier->Trace(candidate, evaluation));
  if (untraced) {
    return false;
  }
  evaluation.ptx_hash = candidate.artifact.ptx_hash;
  evaluation.plan_hash = HashPlans(candidate);
  return true;
}

Result<void> CandidateEvaluator::Judge(const PreparedCandidate& candidate, Station& station,
                                       Evaluation& evaluation) {
  OPTIML_TRY(station.verifier->Verify(candidate, evaluation));
  if (evaluation.accepted()) {
    const StageTimer timer(*parts_.clock, Stage::kMeasure, evaluation);
    OPTIML_TRY(station.timer->Time(candidate, evaluation));
  }
  if (evaluation.accepted() && evaluation.profile && parts_.diagnose) {
    const StageTimer timer(*parts_.clock, Stage::kProfile, evaluation);
    evaluation.diagnosis = parts_.diagnose(*evaluation.profile, evaluation.timings.front(),
                                           station.device->Info(), evaluation.resources);
  }
  return {};
}

CandidateEvaluator::Begun::Judged CandidateEvaluator::PrepareAndJudge(const KernelSource& source,
                                                                      Evaluation evaluation) {
  Begun::Preparation preparation = Prepare(source, std::move(evaluation));
  const Stations::Hold station = stations_.Acquire();
  const auto judge = [&]() -> Result<void> {
    OPTIML_TRY(InterruptibleDevice::CheckStop(parts_.stop));
    OPTIML_ASSIGN(const bool goes_on, Identify(preparation, *station));
    return goes_on ? Judge(std::get<PreparedCandidate>(*preparation.prepared), *station,
                           preparation.evaluation)
                   : Result<void>();
  };
  Result<void> done = judge();
  return {std::move(preparation.evaluation), std::move(done)};
}

Result<CandidateOutcome> CandidateEvaluator::Evaluate(const rewrite::Catalogue& catalogue,
                                                      std::span<const Edit> chain,
                                                      VariantId variant) {
  return Finish(Begin(catalogue, chain, variant, false));
}

Result<CandidateOutcome> CandidateEvaluator::EvaluateSource(const KernelSource& source,
                                                            VariantId variant) {
  CandidateOutcome outcome;
  outcome.evaluation.variant = variant;
  return Finish(BeginSource(source, std::move(outcome), false));
}

Result<CandidateOutcome> CandidateEvaluator::Finish(Begun begun) {
  CandidateOutcome outcome = std::move(begun.outcome_);
  Evaluation& evaluation = outcome.evaluation;
  if (!begun.source_) {
    return outcome;
  }
  // It may have become known since it was begun.
  if (const auto found = by_source_.find(begun.source_->hash()); found != by_source_.end()) {
    Answer(known_[found->second], outcome);
    return outcome;
  }
  OPTIML_TRY(InterruptibleDevice::CheckStop(parts_.stop));
  if (begun.judged_.valid()) {
    Begun::Judged judged = begun.judged_.get();
    OPTIML_TRY(judged.done);
    evaluation = std::move(judged.evaluation);
    AnswerByBinary(outcome);
    return outcome;
  }
  Begun::Preparation preparation = begun.preparation_.get();
  const Stations::Hold station = stations_.Acquire();
  OPTIML_ASSIGN(const bool goes_on, Identify(preparation, *station));
  evaluation = std::move(preparation.evaluation);
  if (goes_on && !AnswerByBinary(outcome)) {
    OPTIML_TRY(Judge(std::get<PreparedCandidate>(*preparation.prepared), *station, evaluation));
  }
  return outcome;
}

bool CandidateEvaluator::AnswerByBinary(CandidateOutcome& outcome) const {
  const Evaluation& evaluation = outcome.evaluation;
  if (!evaluation.ptx_hash || !evaluation.plan_hash) {
    return false;
  }
  const auto twin = by_binary_.find({*evaluation.ptx_hash, *evaluation.plan_hash});
  if (twin != by_binary_.end()) {
    Answer(known_[twin->second], outcome);
  }
  return twin != by_binary_.end();
}

Result<std::optional<GainMeasurement>> CandidateEvaluator::MeasureGain(
    const KernelSource& candidate, const KernelSource& incumbent, std::string& why_not) {
  const Stations::Hold station = stations_.AcquireFirst();
  std::vector<PreparedCandidate> both;
  for (const KernelSource* source : {&candidate, &incumbent}) {
    Evaluation ignored;
    OPTIML_ASSIGN(auto prepared, parts_.verifier->Prepare(*source, ignored));
    if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
      why_not = rejection->reason;
      return std::optional<GainMeasurement>();
    }
    both.push_back(std::get<PreparedCandidate>(std::move(prepared)));
    OPTIML_ASSIGN(const auto untraced, parts_.verifier->Trace(both.back(), ignored));
    if (untraced) {
      why_not = untraced->reason;
      return std::optional<GainMeasurement>();
    }
  }
  return station->timer->MeasureGain(both[0], both[1], why_not);
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
  const auto answer = [&](auto& map, const auto& key) {
    const auto [found, is_new] = map.emplace(key, index);
    if (!is_new && !known_[found->second].node && node) {
      found->second = index;
    }
  };
  answer(by_source_, evaluation.source_hash);
  if (evaluation.ptx_hash && evaluation.plan_hash) {
    answer(by_binary_, std::pair(*evaluation.ptx_hash, *evaluation.plan_hash));
  }
}

}  // namespace optiml
