#include "optimize/evaluate.h"

#include <fmt/format.h>

#include "base/check.h"
#include "optimize/interruptible_device.h"

namespace optiml {
namespace {

// Inputs of one timed shape above this size are made anew for each candidate: the run's memory must
// not grow with the task's.
constexpr size_t kCachedInputBytes = size_t{256} << 20;

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

std::vector<int> BufferArguments(const LaunchPlan& plan) {
  std::vector<int> arguments;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument >= 0) {
      arguments.push_back(buffer.argument);
    }
  }
  return arguments;
}

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

std::vector<BufferContents> ContentsFor(const KernelTask& task, const LaunchPlan& plan,
                                        const TaskInputs& inputs) {
  std::vector<size_t> tensor_of(task.args.size());  // argument -> index into inputs.buffers
  size_t next = 0;
  for (size_t i = 0; i < task.args.size(); ++i) {
    tensor_of[i] = task.args[i].is_buffer ? next++ : 0;
  }
  std::vector<BufferContents> contents;
  for (const int argument : BufferArguments(plan)) {
    const auto index = static_cast<size_t>(argument);
    OPTIML_CHECK(index < task.args.size() && task.args[index].is_buffer,
                 "a plan's buffer belongs to a buffer argument");
    const ArgRole role = task.args[index].role;
    BufferContents& buffer = contents.emplace_back();
    buffer.read_only = role == ArgRole::kIn;
    buffer.element_bytes = static_cast<uint32_t>(DTypeBytes(task.args[index].dtype));
    if (role == ArgRole::kIn || role == ArgRole::kInOut) {
      buffer.bytes = inputs.buffers[tensor_of[index]].bytes;
    }
  }
  return contents;
}

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
    OPTIML_TRY(TimeShapes(candidate, evaluation));
  }
  if (evaluation.accepted() && evaluation.profile && parts_.diagnose) {
    const StageTimer timer(*parts_.clock, Stage::kProfile, evaluation);
    evaluation.diagnosis = parts_.diagnose(*evaluation.profile, evaluation.timings.front(),
                                           parts_.device->Info(), evaluation.resources);
  }
  return outcome;
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

Result<void> CandidateEvaluator::TimeShapes(const PreparedCandidate& candidate,
                                            Evaluation& evaluation) {
  const StageTimer timer(*parts_.clock, Stage::kMeasure, evaluation);
  const std::vector<SizeRow>& rows = parts_.task->timed;
  OPTIML_CHECK(candidate.timed_plans.size() == rows.size(), "one plan for each timed shape");
  for (size_t row = 0; row < rows.size(); ++row) {
    OPTIML_ASSIGN(RunRequest * request, TimedRequest(row, candidate.timed_plans[row]));
    request->artifact = &candidate.artifact;
    request->plan = &candidate.timed_plans[row];
    Result<TimeOutcome> timed = parts_.device->Time(*request);
    request->artifact = nullptr;  // the candidate's; the request outlives it
    request->plan = nullptr;
    if (!timed) {
      return std::move(timed).error();
    }
    if (timed->status != RunStatus::kCompleted) {
      evaluation.outcome = Rejection{
          Stage::kMeasure,
          fmt::format("{}: {}: {}", rows[row].Text(), RunStatusName(timed->status), timed->reason)};
      return {};
    }
    if (candidate.timed_plans[row].Kernels().empty()) {
      evaluation.outcome = Rejection{
          Stage::kMeasure, fmt::format("{}: the launcher launches no kernel", rows[row].Text())};
      return {};
    }
    if (!(timed->timing.median_s > 0)) {
      return Error(ErrorCode::kInternal, fmt::format("{}: the device gave the time {} s for {}",
                                                     parts_.device->Info().name,
                                                     timed->timing.median_s, rows[row].Text()));
    }
    timed->timing.shape = rows[row].Text();
    evaluation.timings.push_back(std::move(timed->timing));
    if (row == 0 && !timed->profile.metrics.empty()) {
      evaluation.profile = std::move(timed->profile);
    }
  }
  return {};
}

Result<RunRequest*> CandidateEvaluator::TimedRequest(size_t row, const LaunchPlan& plan) {
  std::vector<int> arguments = BufferArguments(plan);
  const auto found = requests_.find(row);
  if (found != requests_.end() && found->second.arguments == arguments) {
    return &found->second.request;
  }
  requests_.erase(row);
  OPTIML_ASSIGN(const TaskInputs inputs,
                MakeInputs(*parts_.task, parts_.task->timed[row].sizes, parts_.timing_seed));
  CachedRequest cached;
  cached.request.buffers = ContentsFor(*parts_.task, plan, inputs);
  size_t bytes = 0;
  for (const BufferContents& buffer : cached.request.buffers) {
    bytes += buffer.bytes.size();
  }
  if (bytes <= kCachedInputBytes) {
    cached.arguments = std::move(arguments);
  } else {
    cached.arguments = {-1};  // matches no plan: replaced by the next candidate
  }
  return &requests_.emplace(row, std::move(cached)).first->second.request;
}

}  // namespace optiml
