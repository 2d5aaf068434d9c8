#include "verify/timed_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/metrics.h"
#include "verify/case_rows.h"
#include "verify/compare.h"
#include "verify/plan_runner.h"

namespace optiml {

uint8_t PoisonFor(const KernelTask& task) {
  const bool floats = std::any_of(task.args.begin(), task.args.end(), [](const ArgSpec& arg) {
    return arg.is_buffer && arg.role == ArgRole::kOut && IsFloat(arg.dtype);
  });
  return kPoisonBytes[floats ? 0 : 1];
}

namespace {

constexpr double kLanes = 32;
// What is predicted may be off: the whole run has more room.
constexpr uint64_t kLimitOfRuns = 2 * kMostTimedWork;

uint64_t BytesOf(const TaskInputs& inputs) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : inputs.buffers) {
    bytes += tensor.bytes.size();
  }
  return bytes;
}

class TimedRun {
 public:
  TimedRun(const TimedCheck& check, CaseLibrary& library, Device& device)
      : check_(check), library_(library), device_(device) {}

  // Why the row is left out; empty when it is to be compared.
  Result<std::string> WhyNot(size_t row, const TaskInputs& inputs) {
    if (const uint64_t bytes = BytesOf(inputs); bytes > kMostTimedBytes) {
      return fmt::format("its buffers have {} MiB, more than {}", bytes >> 20,
                         kMostTimedBytes >> 20);
    }
    const size_t plan = library_.first_timed_plan() + row;
    // One in host mode has no plan to ask for; its live run has a limit.
    bool original = check_.original.live != nullptr;
    if (!original) {
      OPTIML_ASSIGN(original,
                    IsQuick(check_.original.artifact, check_.original.plans.at(plan), inputs));
    }
    OPTIML_ASSIGN(const bool candidate, IsQuick(check_.artifact, check_.plans.at(row), inputs));
    return original && candidate
               ? std::string()
               : fmt::format("to run it takes more than {} million thread instructions",
                             kMostTimedWork / 1'000'000);
  }

  Result<std::optional<Rejection>> Compare(size_t row, size_t index, VerifyReport& report,
                                           std::string& left_out) {
    OPTIML_ASSIGN(const VerifyCase* c, library_.Resolve(index, check_.original));
    if (c->dropped) {
      left_out = c->drop_reason;
      return std::optional<Rejection>();
    }
    PlanRun run;
    run.artifact = &check_.artifact;
    run.plan = &check_.plans[row];
    run.passes = {{&c->inputs, PoisonFor(check_.task)}};
    run.step_limit = kLimitOfRuns;
    OPTIML_ASSIGN(const PlanResult result, RunPlan(check_.task, run, device_));
    const auto reject = [&](const std::string& reason) {
      report.failing_case = c->inputs.text;
      return std::optional(
          Rejection{Stage::kL2, fmt::format("at the timed {}: {}", c->inputs.text, reason)});
    };
    ++report.cases_run;
    if (!result.outcome.findings.empty()) {
      report.findings = result.outcome.findings;
    }
    if (result.outcome.status == RunStatus::kUnsupported) {
      left_out = result.outcome.reason;
      return std::optional<Rejection>();
    }
    if (result.outcome.status != RunStatus::kCompleted || !result.outcome.findings.empty()) {
      return reject(result.outcome.reason.empty() ? "the run did not complete"
                                                  : result.outcome.reason);
    }
    if (!result.changed_input.empty()) {
      return reject(fmt::format("the input {} was changed", result.changed_input));
    }
    OPTIML_ASSIGN(const CaseLibrary::Outcome compared,
                  library_.CompareOutputs(index, result.buffers, run.passes.front().poison,
                                          check_.original, check_.share));
    report.max_absolute_error = std::max(report.max_absolute_error, compared.max_absolute_error);
    report.max_relative_error = std::max(report.max_relative_error, compared.max_relative_error);
    report.max_budget_ratio = std::max(report.max_budget_ratio, compared.max_budget_ratio);
    if (compared.matches()) {
      return std::optional<Rejection>();
    }
    report.first_mismatch = compared.first;
    report.mismatch_count = compared.mismatch_count;
    report.error_map = compared.map;
    return reject(fmt::format("{} ({} of its elements differ)", MismatchText(*compared.first),
                              compared.mismatch_count));
  }

 private:
  // By what the device counts; one that does not is asked to run it.
  Result<bool> IsQuick(const Artifact& artifact, const LaunchPlan& plan, const TaskInputs& inputs) {
    if (!device_.Info().capabilities.counts) {
      return true;
    }
    RunRequest request;
    request.artifact = &artifact;
    request.plan = &plan;
    request.step_limit = kMostTimedWork;
    request.buffers = ContentsFor(check_.task, plan, {&inputs, PoisonFor(check_.task)});
    Profile profile;
    const bool measures = device_.Info().capabilities.measures_time;
    if (measures) {
      OPTIML_ASSIGN(profile, device_.Counters(request));
    } else {
      OPTIML_ASSIGN(TimeOutcome timed, device_.Time(request));
      if (timed.status == RunStatus::kTimedOut) {
        return false;
      }
      profile = std::move(timed.profile);
    }
    // A GPU is quick; a reference that has to do the same on the host is not.
    const auto warps = profile.Get(metric::kWarpInstructions);
    return warps ? *warps * kLanes <= static_cast<double>(kMostTimedWork) : !measures;
  }

  const TimedCheck& check_;
  CaseLibrary& library_;
  Device& device_;
};

}  // namespace

namespace {

// Elements of one place that are asked for.
constexpr int64_t kSampled = 16;

// Whether element e of the original is what the reference says.
bool IsRight(const Tensor& reference, const Tensor& original, int64_t e,
             const ErrorBudget* budget) {
  if (budget == nullptr) {
    const auto at = static_cast<size_t>(e);
    return LoadInteger(reference.dtype,
                       reference.bytes.data() + at * DTypeBytes(reference.dtype)) ==
           LoadInteger(original.dtype, original.bytes.data() + at * DTypeBytes(original.dtype));
  }
  const double expected = reference.At(e);
  const double got = original.At(e);
  if (!std::isfinite(expected) || !std::isfinite(got)) {
    return std::isnan(expected) ? std::isnan(got) : expected == got;
  }
  return std::fabs(got - expected) <= kDisagreement * budget->Allowance(e, expected);
}

}  // namespace

Result<void> CheckSampledReference(const KernelTask& task, HostReference& reference,
                                   const VerifyCase& c) {
  const std::vector<const ArgSpec*> args = BufferArgs(task);
  int64_t longest = 0;
  for (const Tensor& output : c.original) {
    longest = std::max(longest, output.bytes.empty() ? 0 : output.element_count());
  }
  if (longest == 0 || BytesOf(c.inputs) > kMostSampledBytes) {
    return {};
  }
  for (const int64_t begin : {longest / 3, std::max<int64_t>(0, longest - kSampled)}) {
    const int64_t end = std::min(longest, begin + kSampled);
    OPTIML_ASSIGN(const std::vector<Tensor> part, reference.RunRange(c.inputs, begin, end));
    for (size_t i = 0; i < args.size(); ++i) {
      const Tensor& original = c.original[i];
      const int64_t stop = original.bytes.empty() ? begin : std::min(end, original.element_count());
      for (int64_t e = begin; e < stop; ++e) {
        if (!IsRight(part[i], original, e, c.budgets[i] ? &*c.budgets[i] : nullptr)) {
          return Error(
              ErrorCode::kInvalidArgument,
              fmt::format("the reference disagrees with the original kernel at the timed {}: "
                          "{}[{}]: expected {:.9g}, got {:.9g} (got is the kernel's)",
                          c.inputs.text, args[i]->name, e, part[i].At(e), original.At(e)));
        }
      }
    }
  }
  return {};
}

std::optional<double> PrecisionElsewhere(const KernelTask& task, const VerifyReport& checked) {
  if (task.reference.kind != ReferenceKind::kHost || !std::isfinite(checked.max_budget_ratio)) {
    return std::nullopt;
  }
  return kShareGrowth * checked.max_budget_ratio;
}

Result<std::optional<Rejection>> JudgeTimedShapes(const TimedCheck& check, CaseLibrary& library,
                                                  Device& device, VerifyReport& report,
                                                  std::vector<std::string>& notes) {
  TimedRun run(check, library, device);
  for (size_t row = 0; row < check.plans.size(); ++row) {
    const auto leave_out = [&](const std::string& why) {
      notes.push_back(
          fmt::format("not compared at the timed {}: {}", check.task.timed[row].Text(), why));
    };
    // Before the inputs are made: they take the memory.
    if (const double elements = Elements(check.task, check.task.timed[row].sizes);
        elements > static_cast<double>(kMostTimedBytes)) {
      leave_out(fmt::format("its buffers have {:.0f} million elements", elements / 1e6));
      continue;
    }
    OPTIML_ASSIGN(const size_t index, library.BeginTimed(row, check.seed, kLimitOfRuns));
    const auto judge = [&]() -> Result<std::optional<Rejection>> {
      OPTIML_ASSIGN(std::string left_out, run.WhyNot(row, library.InputsOf(index)));
      std::optional<Rejection> rejection;
      if (left_out.empty()) {
        OPTIML_ASSIGN(rejection, run.Compare(row, index, report, left_out));
      }
      if (!left_out.empty()) {
        leave_out(left_out);
      }
      return rejection;
    };
    Result<std::optional<Rejection>> judged = judge();
    library.EndTimed();
    if (!judged || *judged) {
      return judged;
    }
  }
  return std::optional<Rejection>();
}

}  // namespace optiml
