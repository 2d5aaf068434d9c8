#include "cli/generate_model.h"

#include <fmt/format.h>

#include "base/file_system.h"
#include "cli/stages.h"
#include "generate/kernel_samples.h"
#include "report/text_format.h"
#include "task/task.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

// A task whose own kernel is the sample: it is judged against the reference alone.
Result<KernelVerdict> Judge(const KernelSource& source, const TaskOptions& options,
                            const CliEnv& env, Toolbox& tools) {
  OPTIML_TRY(WriteFileAtomically(fs::path(options.path) / "kernel.cu", source.text()));
  KernelVerdict verdict;
  VerifierOptions checks;
  auto bench = MakeWorkbench(options, env, tools, checks);
  if (!bench) {
    // A launcher of other arguments, a file that cannot be parsed: the sample's fault.
    if (bench.error().code() == ErrorCode::kInvalidArgument ||
        bench.error().code() == ErrorCode::kParse) {
      verdict.message = bench.error().message();
      return verdict;
    }
    return std::move(bench).error();
  }
  auto outcome = RunStages(*bench, bench->task->source, Stage::kMeasure, checks, env, tools);
  if (!outcome) {
    if (outcome.error().code() == ErrorCode::kInvalidArgument) {
      verdict.message = outcome.error().message();
      return verdict;
    }
    return std::move(outcome).error();
  }
  verdict.accepted = outcome->evaluation.accepted();
  if (verdict.accepted && !outcome->evaluation.timings.empty()) {
    verdict.seconds = outcome->evaluation.TimeSeconds();
  } else if (!verdict.accepted) {
    verdict.message = DescribeOutcome(outcome->evaluation);
  }
  return verdict;
}

Result<Json> Keep(const std::vector<KernelSample>& samples, const fs::path& folder,
                  const std::string& own, bool has_kernel) {
  Json rows = Json::array();
  int siblings = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const KernelSample& sample = samples[i];
    Json row = {{"accepted", sample.verdict.accepted}, {"repaired", sample.was_repaired}};
    if (sample.verdict.seconds) {
      row["predicted_s"] = *sample.verdict.seconds;
    }
    if (!sample.verdict.accepted) {
      row["reason"] = sample.verdict.message;
    } else if (i == 0) {
      OPTIML_TRY(WriteFileAtomically(folder / "kernel.cu", sample.source.text()));
      if (has_kernel) {
        OPTIML_TRY(WriteFileAtomically(folder / "naive.cu", own));
      }
      row["file"] = "kernel.cu";
    } else {
      OPTIML_TRY(CreateDirectories(folder / "samples"));
      const std::string name = fmt::format("samples/{}.cu", ++siblings);
      OPTIML_TRY(WriteFileAtomically(folder / name, sample.source.text()));
      row["file"] = name;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<Json> SampleIntoTask(ChatModel& model, const TaskOptions& options, bool has_kernel,
                            int count, const CliEnv& env, Toolbox& tools) {
  const fs::path folder = options.path;
  OPTIML_ASSIGN(const std::string own, ReadFile(folder / "kernel.cu"));
  OPTIML_ASSIGN(const std::string reference, ReadFile(folder / "reference.cpp"));
  OPTIML_ASSIGN(const KernelTask task, LoadTask(folder));
  SampleOptions sampling;
  sampling.count = count;
  sampling.stop = env.stop;
  const auto samples = SampleKernels(
      model, task, reference,
      [&](const KernelSource& source) { return Judge(source, options, env, tools); }, sampling);
  OPTIML_TRY(WriteFileAtomically(folder / "kernel.cu", own));
  if (!samples) {
    return samples.error();
  }
  if (!has_kernel && (samples->empty() || !samples->front().verdict.accepted)) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("none of the {} kernels of {} was accepted: {}", samples->size(), model.name(),
                    samples->empty() ? "" : samples->front().verdict.message));
  }
  return Keep(*samples, folder, own, has_kernel);
}

Result<void> AddSamples(IntentOutcome& outcome, const IntentOptions& intent, ChatModel* model,
                        const TaskOptions& task, const CliEnv& env, Toolbox& tools) {
  const int count = outcome.has_kernel ? intent.samples : std::max(1, intent.samples);
  if (count > 0 && model == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "--samples: no language model (--model SPEC)");
  }
  if (count > 0) {
    OPTIML_ASSIGN(outcome.json["samples"],
                  SampleIntoTask(*model, task, outcome.has_kernel, count, env, tools));
  }
  return {};
}

}  // namespace optiml
