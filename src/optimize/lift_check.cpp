#include "optimize/lift_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "task/inputs.h"
#include "verify/plan_runner.h"
#include "verify/timed_check.h"

namespace optiml {
namespace {

constexpr uint64_t kSeeds[] = {1, 2};

std::vector<std::string> LiftedKernels(const rewrite::Catalogue& catalogue) {
  std::vector<std::string> kernels;
  for (const rewrite::LiftReport& report : catalogue.Lifted()) {
    if (report.lifted) {
      kernels.push_back(report.kernel);
    }
  }
  return kernels;
}

// Where two runs differ, or nothing.
std::optional<std::string> FirstDifference(const KernelTask& task, const LaunchPlan& plan,
                                           const RunOutcome& root, const RunOutcome& printed) {
  if (printed.status != RunStatus::kCompleted || !printed.findings.empty()) {
    return printed.reason.empty() ? std::string("it does not run") : printed.reason;
  }
  size_t next = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument < 0) {
      continue;
    }
    const size_t index = next++;
    const ArgSpec& argument = task.args[static_cast<size_t>(buffer.argument)];
    if (argument.role == ArgRole::kWorkspace) {
      continue;
    }
    const auto [a, b] = std::mismatch(root.buffers[index].begin(), root.buffers[index].end(),
                                      printed.buffers[index].begin(), printed.buffers[index].end());
    if (a != root.buffers[index].end()) {
      const auto at = static_cast<size_t>(a - root.buffers[index].begin());
      return fmt::format("{} differs at element {}", argument.name,
                         at / DTypeBytes(argument.dtype));
    }
  }
  return std::nullopt;
}

// Why the printed-back root is not the root, or nothing.
Result<std::optional<std::string>> Compare(const KernelTask& task, const PreparedCandidate& root,
                                           const KernelSource& source, bool regroups_floats,
                                           Verifier& verifier, Device& device) {
  Evaluation evaluation;
  OPTIML_ASSIGN(auto prepared, verifier.Prepare(source, evaluation));
  if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
    return std::optional(fmt::format("{}: {}", StageName(rejection->stage), rejection->reason));
  }
  auto& printed = std::get<PreparedCandidate>(prepared);
  OPTIML_ASSIGN(const auto untraced, verifier.Trace(printed, evaluation));
  if (untraced) {
    return std::optional(fmt::format("{}: {}", StageName(untraced->stage), untraced->reason));
  }
  // Plans in host mode are for one contents each: the verifier makes them for its own.
  if (regroups_floats || root.live != nullptr) {
    OPTIML_TRY(verifier.Verify(printed, evaluation));
    const Rejection* rejection = evaluation.rejection();
    return rejection == nullptr ? std::optional<std::string>()
                                : std::optional(fmt::format("{}: {}", StageName(rejection->stage),
                                                            rejection->reason));
  }
  for (size_t row = 0; row < task.checked.size(); ++row) {
    for (const uint64_t seed : kSeeds) {
      OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(task, task.checked[row].sizes, seed));
      RunRequest request;
      request.repeatable = true;
      request.artifact = &root.artifact;
      request.plan = &root.checked_plans[row];
      request.buffers = ContentsFor(task, *request.plan, {&inputs, PoisonFor(task)});
      OPTIML_ASSIGN(const RunOutcome of_root, device.Run(request));
      if (of_root.status != RunStatus::kCompleted) {
        return Error(ErrorCode::kInternal,
                     fmt::format("lift check: the root, which was accepted, fails at {}: {}",
                                 task.checked[row].Text(), of_root.reason));
      }
      request.artifact = &printed.artifact;
      request.plan = &printed.checked_plans[row];
      request.buffers = ContentsFor(task, *request.plan, {&inputs, PoisonFor(task)});
      OPTIML_ASSIGN(const RunOutcome of_printed, device.Run(request));
      if (const auto difference = FirstDifference(task, *request.plan, of_root, of_printed)) {
        return std::optional(fmt::format("{}: {}", inputs.text, *difference));
      }
    }
  }
  return std::optional<std::string>();
}

}  // namespace

Result<CheckedCatalogue> MakeCheckedCatalogue(const KernelTask& task, const PreparedCandidate& root,
                                              Verifier& verifier, Device& device,
                                              const MakeCatalogueFunction& make_catalogue) {
  auto check = [&](const rewrite::Catalogue& catalogue) -> Result<std::optional<std::string>> {
    const rewrite::ApplyOutcome identity = catalogue.Identity();
    if (const auto* refusal = std::get_if<rewrite::ApplyRefusal>(&identity)) {
      return std::optional(refusal->reason);
    }
    const bool regroups_floats = std::ranges::any_of(
        catalogue.Lifted(),
        [](const rewrite::LiftReport& report) { return report.regroups_floats; });
    return Compare(task, root, std::get<KernelSource>(identity), regroups_floats, verifier, device);
  };

  CheckedCatalogue checked;
  std::map<std::string, std::string> failures;  // kernel -> why
  OPTIML_ASSIGN(checked.catalogue, make_catalogue({}));
  const std::vector<std::string> lifted = LiftedKernels(*checked.catalogue);
  if (!lifted.empty()) {
    OPTIML_ASSIGN(const std::optional<std::string> together, check(*checked.catalogue));
    for (size_t i = 0; together && lifted.size() > 1 && i < lifted.size(); ++i) {
      std::vector<std::string> others = lifted;
      others.erase(others.begin() + static_cast<long>(i));
      OPTIML_ASSIGN(const auto alone, make_catalogue(others));
      OPTIML_ASSIGN(const std::optional<std::string> failure, check(*alone));
      if (failure) {
        failures[lifted[i]] = *failure;
      }
    }
    if (together && failures.empty()) {  // one kernel, or wrong only together: trust none
      for (const std::string& kernel : lifted) {
        failures[kernel] = *together;
      }
    }
  }
  if (!failures.empty()) {
    std::vector<std::string> excluded;
    for (const auto& [kernel, why] : failures) {
      excluded.push_back(kernel);
    }
    OPTIML_ASSIGN(checked.catalogue, make_catalogue(excluded));
  }
  for (const rewrite::LiftReport& report : checked.catalogue->Lifted()) {
    const auto failure = failures.find(report.kernel);
    checked.rows.push_back(
        {report.kernel, report.lifted,
         failure == failures.end() ? report.detail : "lift check failed: " + failure->second});
  }
  return checked;
}

}  // namespace optiml
