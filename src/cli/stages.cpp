#include "cli/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file_system.h"
#include "optimize/interruptible_device.h"
#include "optimize/time_shapes.h"
#include "profile/diagnosis.h"
#include "report/metric_table.h"
#include "report/report_model.h"
#include "report/text_format.h"

namespace optiml {
namespace {

std::string DescribePlans(const KernelTask& task, const PreparedCandidate& prepared) {
  std::string out;
  for (size_t i = 0; i < prepared.checked_plans.size(); ++i) {
    out +=
        fmt::format("checked {}\n{}", task.checked[i].Text(), prepared.checked_plans[i].Format());
  }
  for (size_t i = 0; i < prepared.timed_plans.size(); ++i) {
    out += fmt::format("timed {}\n{}", task.timed[i].Text(), prepared.timed_plans[i].Format());
  }
  return out;
}

std::string DescribeArtifact(const Artifact& artifact) {
  std::string out;
  for (const KernelResources& kernel : artifact.kernels) {
    out += fmt::format("// {}: {} registers, {} B static shared, {} B stack, {} B spilled\n",
                       kernel.name_expression, kernel.registers, kernel.static_shared_bytes,
                       kernel.stack_bytes, kernel.spill_store_bytes + kernel.spill_load_bytes);
  }
  return out + artifact.ptx;
}

}  // namespace

Result<StageOutcome> RunStages(const Workbench& bench, const KernelSource& source, Stage last,
                               const VerifierOptions& options, const CliEnv& env, Toolbox& tools) {
  StageOutcome outcome;
  outcome.evaluation.source_hash = source.hash();
  InterruptibleDevice device(*bench.device, env.stop);
  OPTIML_ASSIGN(const auto verifier,
                tools.MakeVerifier(*bench.task, *bench.builder, device, bench.reference.get(),
                                   bench.Recording(options)));
  OPTIML_ASSIGN(auto prepared, verifier->Prepare(source, outcome.evaluation));
  if (auto* rejection = std::get_if<Rejection>(&prepared)) {
    outcome.evaluation.outcome = std::move(*rejection);
    return outcome;
  }
  outcome.prepared = std::get<PreparedCandidate>(std::move(prepared));
  OPTIML_ASSIGN(const auto untraced, verifier->Trace(*outcome.prepared, outcome.evaluation));
  if (untraced) {
    outcome.prepared.reset();
    return outcome;
  }
  if (last >= Stage::kL0) {
    OPTIML_TRY(verifier->Verify(*outcome.prepared, outcome.evaluation));
    if (last == Stage::kL2 && outcome.evaluation.accepted()) {
      OPTIML_TRY(verifier->VerifyTimed(*outcome.prepared, outcome.evaluation));
    }
    outcome.notes = verifier->Notes();
  }
  if (last >= Stage::kMeasure && outcome.evaluation.accepted()) {
    const Stopwatch watch(*env.clock);
    // The session's seed too, so that both time the same data.
    ShapeTimer timer(*bench.task, device, *verifier, options.first_seed);
    if (last == Stage::kMeasure) {
      timer.CountNothing();
    }
    OPTIML_TRY(timer.Time(*outcome.prepared, outcome.evaluation));
    outcome.evaluation.stage_times.push_back({Stage::kMeasure, watch.Elapsed()});
  }
  if (outcome.evaluation.accepted() && outcome.evaluation.profile) {
    outcome.evaluation.diagnosis =
        Diagnose(*outcome.evaluation.profile, outcome.evaluation.timings.front(), device.Info(),
                 outcome.evaluation.resources);
  }
  return outcome;
}

Result<KernelSource> ChooseKernel(const KernelTask& task, const std::string& file,
                                  const CliEnv& env) {
  if (file.empty()) {
    return task.source;
  }
  OPTIML_ASSIGN(std::string text, ReadFile(env.Resolve(file)));
  return KernelSource(std::move(text), task.source.entry(), file);
}

int ExitCodeOfKernel(const Evaluation& evaluation, bool is_own) {
  const Rejection* rejection = evaluation.rejection();
  if (rejection == nullptr) {
    return kExitDone;
  }
  return is_own && rejection->stage <= Stage::kBuild ? kExitBadUse : kExitNothingKept;
}

std::vector<std::string> StopStages() {
  return {"parse", "plan", "build", "L1", "measure", "profile"};
}

Result<std::string> DescribeStage(const Workbench& bench, const KernelSource& source, Stage last,
                                  const VerifierOptions& options, const CliEnv& env,
                                  Toolbox& tools) {
  if (last == Stage::kParse) {
    return tools.DescribeSource(source, bench.toolchain.include_directory);
  }
  OPTIML_ASSIGN(const StageOutcome outcome, RunStages(bench, source, last, options, env, tools));
  if (!outcome.evaluation.accepted()) {
    return DescribeOutcome(outcome.evaluation) + "\n";
  }
  switch (last) {
    case Stage::kPlan:
      return DescribePlans(*bench.task, *outcome.prepared);
    case Stage::kBuild:
      return DescribeArtifact(outcome.prepared->artifact);
    case Stage::kMeasure:
    case Stage::kProfile: {
      std::string out;
      for (const Timing& timing : outcome.evaluation.timings) {
        out += fmt::format("{} {} {} ({} to {})\n", timing.shape,
                           timing.kind == TimingKind::kMeasured ? "measured" : "predicted",
                           FormatSeconds(timing.median_s), FormatSeconds(timing.low_s),
                           FormatSeconds(timing.high_s));
      }
      if (last == Stage::kProfile && outcome.evaluation.profile) {
        for (const auto& [id, metric] : outcome.evaluation.profile->metrics) {
          out += fmt::format("{} {}\n", id, FormatQuantity(metric.value, metric.unit));
        }
      }
      return out;
    }
    default:
      return DescribeOutcome(outcome.evaluation) + "\n";
  }
}

std::string DescribeOutcome(const Evaluation& evaluation) {
  if (const Rejection* rejection = evaluation.rejection()) {
    const std::string evidence = FirstEvidence(evaluation);
    return fmt::format("rejected at {}: {}{}", StageName(rejection->stage), rejection->reason,
                       evidence.empty() || rejection->reason.find(evidence) != std::string::npos
                           ? ""
                           : "\n  " + evidence);
  }
  if (!evaluation.verify) {
    return "accepted";
  }
  return fmt::format("accepted: {} case{} passed, worst error {} of what the tolerance allows",
                     evaluation.verify->cases_run, evaluation.verify->cases_run == 1 ? "" : "s",
                     FormatPercent(evaluation.verify->max_budget_ratio));
}

}  // namespace optiml
