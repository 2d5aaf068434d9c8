#include "optimize/time_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "verify/plan_runner.h"
#include "verify/timed_check.h"

namespace optiml {
namespace {

// Contents of one timed shape above this size are made anew for each candidate: the run's memory
// must not grow with the task's.
constexpr size_t kCachedInputBytes = size_t{256} << 20;
// A host with a GPU has more of it; making contents anew costs more than a measurement.
constexpr size_t kCachedMeasuredBytes = size_t{4} << 30;
// Counters cost as much as a measurement: of a new best by more than the first factor; else of
// every third of what is within the second factor of the best.
constexpr double kNewBest = 0.98;
constexpr double kWorthCounting = 1.25;
constexpr int kOneOf = 3;
// Of the contents of gain measurements: fresh ones.
constexpr uint64_t kGainSeed = 77'000'017;

std::vector<int> BufferArguments(const LaunchPlan& plan) {
  std::vector<int> arguments;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument >= 0) {
      arguments.push_back(buffer.argument);
    }
  }
  return arguments;
}

// A request that outlives the candidate whose artifact and plan it has for a while.
class Lent {
 public:
  Lent(RunRequest& request, const Artifact& artifact, const LaunchPlan& plan) : request_(request) {
    request_.artifact = &artifact;
    request_.plan = &plan;
  }
  ~Lent() {
    request_.artifact = nullptr;
    request_.plan = nullptr;
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  RunRequest& request_;
};

Rejection Unmeasured(const std::string& shape, const std::string& reason) {
  return {Stage::kMeasure, fmt::format("{}: {}", shape, reason)};
}

}  // namespace

double PhysicalFloor(const KernelTask& task, const SizeBindings& sizes, const DeviceInfo& info) {
  if (!task.cost.bytes || info.dram_bytes_per_s <= 0) {
    return 0;
  }
  const Result<int64_t> bytes = task.cost.bytes->Evaluate(sizes);
  if (!bytes) {
    return 0;
  }
  double written = 0;
  for (const ArgSpec& arg : task.args) {
    if (!arg.is_buffer || (arg.role != ArgRole::kOut && arg.role != ArgRole::kInOut)) {
      continue;
    }
    const auto shape = ShapeOf(task, arg, sizes);
    double count = shape ? static_cast<double>(DTypeBytes(arg.dtype)) : 0;
    for (const int64_t extent : shape ? *shape : std::vector<int64_t>{}) {
      count *= static_cast<double>(extent);
    }
    written += count;
  }
  written = std::min(written, static_cast<double>(*bytes));
  const double read = static_cast<double>(*bytes) - written;
  return (read + std::max(0.0, written - static_cast<double>(info.l2_bytes))) /
         info.dram_bytes_per_s;
}

CompulsoryWork WorkOf(const KernelTask& task, const SizeBindings& sizes) {
  CompulsoryWork work;
  const auto value = [&](const std::optional<SizeExpr>& formula) -> std::optional<double> {
    const Result<int64_t> cost = formula ? formula->Evaluate(sizes) : Result<int64_t>(0);
    return formula && cost ? std::optional(static_cast<double>(*cost)) : std::nullopt;
  };
  work.bytes = value(task.cost.bytes);
  work.operations = value(task.cost.operations);
  work.is_half = std::any_of(task.args.begin(), task.args.end(), [](const ArgSpec& arg) {
    return arg.is_buffer && (arg.dtype == DType::kF16 || arg.dtype == DType::kBf16);
  });
  return work;
}

RunRequest ShapeTimer::MakeRequest(const LaunchPlan& plan,
                                   const std::vector<const TaskInputs*>& inputs) const {
  const uint8_t poison = PoisonFor(task_);
  RunRequest request;
  request.buffers = ContentsFor(task_, plan, {inputs.front(), poison});
  for (size_t i = 1; i < inputs.size(); ++i) {
    request.more_passes.push_back({ContentsFor(task_, plan, {inputs[i], poison})});
  }
  return request;
}

Result<RunRequest*> ShapeTimer::RequestFor(size_t row, const LaunchPlan& plan) {
  std::vector<int> arguments = BufferArguments(plan);
  const auto found = requests_.find(row);
  if (found != requests_.end() && found->second.arguments == arguments) {
    return &found->second.request;
  }
  requests_.erase(row);
  CachedRequest cached;
  const bool measures = device_.Info().capabilities.measures_time;
  if (measures) {
    OPTIML_ASSIGN(const std::vector<const TaskInputs*> sets, verifier_.TimedInputs(row));
    cached.request = MakeRequest(plan, sets);
  } else {
    OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(task_, task_.timed[row].sizes, seed_));
    cached.request = MakeRequest(plan, {&inputs});
  }
  size_t bytes = 0;
  for (const BufferContents& buffer : cached.request.buffers) {
    bytes += buffer.bytes.size();
  }
  // {-1} matches no plan: replaced by the next candidate.
  cached.arguments = bytes <= (measures ? kCachedMeasuredBytes : kCachedInputBytes)
                         ? std::move(arguments)
                         : std::vector<int>{-1};
  return &requests_.emplace(row, std::move(cached)).first->second.request;
}

Result<void> ShapeTimer::Time(const PreparedCandidate& candidate, Evaluation& evaluation) {
  OPTIML_CHECK(candidate.timed_plans.size() == task_.timed.size(), "one plan for each timed shape");
  for (size_t row = 0; row < task_.timed.size() && evaluation.accepted(); ++row) {
    OPTIML_ASSIGN(std::optional<Rejection> rejection, TimeRow(row, candidate, evaluation));
    if (rejection) {
      evaluation.outcome = *std::move(rejection);
    }
  }
  return {};
}

Result<std::optional<Rejection>> ShapeTimer::TimeRow(size_t row, const PreparedCandidate& candidate,
                                                     Evaluation& evaluation) {
  const LaunchPlan& plan = candidate.timed_plans[row];
  const SizeRow& sizes = task_.timed[row];
  if (plan.Kernels().empty()) {
    return std::optional(Unmeasured(sizes.Text(), "the launcher launches no kernel"));
  }
  OPTIML_ASSIGN(RunRequest * request, RequestFor(row, plan));
  const Lent lent(*request, candidate.artifact, plan);
  request->knows_outputs = [this, row](size_t set, const OutputsDigest& digest) {
    return verifier_.KnowsTimed(row, set, digest);
  };
  OPTIML_ASSIGN(TimeOutcome timed, device_.Time(*request));
  if (timed.timing.kind == TimingKind::kMeasured && timed.status == RunStatus::kCompleted &&
      timed.timing.median_s < PhysicalFloor(task_, sizes.sizes, device_.Info())) {
    OPTIML_ASSIGN(timed, device_.Time(*request));  // a second look before the verdict
  }
  OPTIML_ASSIGN(std::optional<Rejection> rejection, CheckOne(row, candidate, timed, evaluation));
  if (rejection) {
    return rejection;
  }
  if (row == 0) {
    OPTIML_TRY(AddCounters(*request, timed));
    if (!timed.profile.metrics.empty()) {
      evaluation.profile = std::move(timed.profile);
    }
  }
  timed.timing.shape = sizes.Text();
  evaluation.timings.push_back(std::move(timed.timing));
  return rejection;
}

Result<void> ShapeTimer::AddCounters(const RunRequest& request, TimeOutcome& timed) {
  const double seconds = timed.timing.median_s;
  const bool is_best = best_s_ == 0 || seconds < kNewBest * best_s_;
  const bool is_near = seconds <= kWorthCounting * best_s_;
  const bool is_worth_it = is_best || (is_near && near_++ % kOneOf == 0);
  best_s_ = best_s_ == 0 ? seconds : std::min(best_s_, seconds);
  if (counts_ && timed.profile.metrics.empty() && is_worth_it &&
      device_.Info().capabilities.counts) {
    OPTIML_ASSIGN(timed.profile, device_.Counters(request));
  }
  return {};
}

Result<std::optional<Rejection>> ShapeTimer::CheckOne(size_t row,
                                                      const PreparedCandidate& candidate,
                                                      TimeOutcome& timed, Evaluation& evaluation) {
  using Outcome = std::optional<Rejection>;
  const std::string shape = task_.timed[row].Text();
  if (timed.status != RunStatus::kCompleted) {
    return Outcome(
        Unmeasured(shape, fmt::format("{}: {}", RunStatusName(timed.status), timed.reason)));
  }
  if (!(timed.timing.median_s > 0)) {
    return Error(ErrorCode::kInternal,
                 fmt::format("{}: the device gave the time {} s for {}", device_.Info().name,
                             timed.timing.median_s, shape));
  }
  if (timed.timing.kind != TimingKind::kMeasured) {
    return Outcome();
  }
  OPTIML_ASSIGN(Outcome wrong,
                verifier_.CheckTimed(row, candidate.timed_plans[row], timed, evaluation));
  if (wrong) {
    return wrong;
  }
  const double floor = PhysicalFloor(task_, task_.timed[row].sizes, device_.Info());
  if (timed.timing.median_s < floor) {
    return Outcome(Rejection{
        Stage::kFloor,
        fmt::format("{}: {:.3g} us were measured, twice; the task's bytes alone need {:.3g} us at "
                    "the memory's pin rate, so its work is not done in that time",
                    shape, 1e6 * timed.timing.median_s, 1e6 * floor)});
  }
  return Outcome();
}

Result<std::optional<Gain>> ShapeTimer::GainOnce(size_t row, const PreparedCandidate& candidate,
                                                 const PreparedCandidate& incumbent, uint64_t seed,
                                                 std::optional<Conditions>& conditions,
                                                 std::string& why_not) {
  // Launches in host mode are those for the timed contents.
  const bool live = candidate.live != nullptr || incumbent.live != nullptr;
  OPTIML_ASSIGN(const TaskInputs inputs,
                MakeInputs(task_, task_.timed[row].sizes, live ? seed_ : seed));
  RunRequest other = MakeRequest(incumbent.timed_plans[row], {&inputs});
  other.artifact = &incumbent.artifact;
  other.plan = &incumbent.timed_plans[row];
  RunRequest request = MakeRequest(candidate.timed_plans[row], {&inputs});
  request.artifact = &candidate.artifact;
  request.plan = &candidate.timed_plans[row];
  request.incumbent = &other;
  // Nothing is known of these contents but that all copies must agree.
  request.knows_outputs = [](size_t, const OutputsDigest&) { return true; };
  OPTIML_ASSIGN(const TimeOutcome timed, device_.Time(request));
  if (timed.status != RunStatus::kCompleted || !timed.gain) {
    why_not = fmt::format("{}: {}", RunStatusName(timed.status), timed.reason);
    return std::optional<Gain>();
  }
  if (!timed.findings.empty()) {
    why_not = timed.findings.front().detail;
    return std::optional<Gain>();
  }
  if (timed.timing.median_s < PhysicalFloor(task_, task_.timed[row].sizes, device_.Info())) {
    why_not = "a time below what the task's bytes alone need";
    return std::optional<Gain>();
  }
  if (timed.conditions) {
    conditions = conditions ? Joined(*conditions, *timed.conditions) : *timed.conditions;
  }
  return timed.gain;
}

Result<std::optional<GainMeasurement>> ShapeTimer::MeasureGain(const PreparedCandidate& candidate,
                                                               const PreparedCandidate& incumbent,
                                                               std::string& why_not) {
  GainMeasurement measured;
  for (size_t row = 0; row < task_.timed.size(); ++row) {
    OPTIML_ASSIGN(const std::optional<Gain> first,
                  GainOnce(row, candidate, incumbent, kGainSeed, measured.conditions, why_not));
    if (!first) {
      return std::optional<GainMeasurement>();
    }
    // In the incumbent's place, so that a better place in memory cannot look like a better kernel.
    OPTIML_ASSIGN(const std::optional<Gain> swapped,
                  GainOnce(row, incumbent, candidate, kGainSeed + 1, measured.conditions, why_not));
    if (!swapped) {
      return std::optional<GainMeasurement>();
    }
    measured.first.push_back(*first);
    measured.second.push_back({1 / swapped->ratio, 1 / swapped->high, 1 / swapped->low});
  }
  return std::optional<GainMeasurement>(std::move(measured));
}

}  // namespace optiml
