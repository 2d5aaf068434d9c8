#include "verify/live_launcher.h"

#include <fmt/format.h>

#include <utility>

#include "verify/live_machine.h"

namespace optiml {
namespace {

Rejection Stopped(const RunOutcome& outcome, const Device& device) {
  const std::string reason =
      outcome.reason.empty() ? std::string("the run did not complete") : outcome.reason;
  if (outcome.status == RunStatus::kUnsupported) {
    return {Stage::kL0, fmt::format("not checked by {}: {}", device.Info().name, reason), true};
  }
  return {Stage::kL0, reason};
}

}  // namespace

Result<std::variant<std::shared_ptr<LiveLauncher>, Refusal>> LiveLauncher::Make(
    ast::SourceUnit unit, const std::string& entry, const RecorderOptions& recorder,
    const std::vector<LauncherArgument>& arguments) {
  using Outcome = std::variant<std::shared_ptr<LiveLauncher>, Refusal>;
  std::shared_ptr<LiveLauncher> made(new LiveLauncher(std::move(unit), entry, recorder));
  OPTIML_ASSIGN(auto refusal, made->planner_.PrepareLive(arguments));
  return refusal ? Outcome(*std::move(refusal)) : Outcome(std::move(made));
}

Result<std::variant<std::vector<LiveTraced>, Rejection>> LiveLauncher::Run(const KernelTask& task,
                                                                           const LiveRun& run,
                                                                           Device& device) {
  using Outcome = std::variant<std::vector<LiveTraced>, Rejection>;
  auto module = modules_.Get(*run.artifact);
  if (!module) {
    return Outcome(Rejection{
        Stage::kL0,
        fmt::format("not checked by {}: {}", device.Info().name, module.error().message()), true});
  }
  std::vector<std::vector<LauncherArgument>> arguments;
  for (const PassRun& call : run.calls) {
    OPTIML_ASSIGN(std::vector<LauncherArgument> bound,
                  BindArguments(task, call.inputs->sizes, call.inputs->scalars));
    arguments.push_back(std::move(bound));
  }
  std::vector<LiveCall> calls;
  for (const std::vector<LauncherArgument>& bound : arguments) {
    calls.push_back({&bound, run.compares_memory && &bound == &arguments.back()});
  }
  LiveMachine machine({task, *run.artifact, **module, device, Surroundings{run.elsewhere},
                       run.step_limit, run.repeatable},
                      run.calls);
  OPTIML_ASSIGN(auto ran, planner_.RunLive(calls, run.elsewhere.has_value(), machine));
  if (machine.failure() != nullptr) {
    return Outcome(Stopped(*machine.failure(), device));
  }
  if (const auto* refusal = std::get_if<Refusal>(&ran)) {
    return Outcome(Rejection{Stage::kPlan, refusal->reason, !refusal->is_fault});
  }
  auto& plans = std::get<std::vector<LivePlan>>(ran);
  std::vector<std::vector<Tensor>> outputs = machine.TakeOutputs();
  std::vector<LiveTraced> traced;
  for (size_t i = 0; i < plans.size(); ++i) {
    traced.push_back({std::move(plans[i]), std::move(outputs[i])});
  }
  return Outcome(std::move(traced));
}

std::string LiveLauncher::Difference(const LaunchPlan& fresh, const LaunchPlan& later,
                                     std::string_view when) const {
  const auto refusal = planner_.Compare(fresh, later, when);
  return refusal ? refusal->reason : std::string();
}

}  // namespace optiml
