// optiml resume: continues an interrupted run.
#include <fmt/format.h>

#include <tuple>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/model_choice.h"
#include "cli/option_checks.h"
#include "cli/run_driver.h"
#include "cli/run_folder.h"

namespace optiml {
namespace {

class ResumeCommand : public Command {
 public:
  std::string Name() const override { return "resume"; }
  std::string Summary() const override { return "continue a run that was interrupted or killed"; }
  std::string Example() const override {
    return "Example\n  optiml resume optiml-runs/softmax-20261129-192407";
  }
  void Declare(CLI::App& app) override {
    app.add_option("run", run_, "a run's folder or name, or \"last\"")
        ->type_name("RUN")
        ->required();
    app.add_option("--candidates", candidates_,
                   "candidates to evaluate in all (default: as the run began)")
        ->type_name("N")
        ->check(WholeNumbers(0, 1'000'000))
        ->group("Search");
    app.add_option("--time", seconds_, "seconds after which this part ends; 0 is no limit")
        ->type_name("SECONDS")
        ->check(WholeNumbers(int64_t{0}, kMostSeconds))
        ->group("Search");
    app.add_option("--threads", threads_, "host threads that may be used; 0 is all cores")
        ->type_name("N")
        ->check(WholeNumbers(0, 1024))
        ->group("Device");
    AddOutputFlags(app, output_);
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    OPTIML_ASSIGN(const fs::path folder, FindRunFolder(run_, env));
    OPTIML_ASSIGN(const auto store, RunStore::Open(folder / kStoreName, false));
    OPTIML_ASSIGN(RunRecord record, store->Load());
    if (record.state == RunState::kFinished) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: the run has ended (look at it with `optiml report {}`)", run_, run_));
    }
    OPTIML_ASSIGN(TaskOptions task, ParseTaskOptions(record.options));
    OPTIML_ASSIGN(SessionOptions options, ParseSessionOptions(record.options));
    task.path = record.task.task_toml.empty() ? record.task.source_path : record.task.folder;
    if (threads_) {
      task.threads = *threads_;
    }
    if (candidates_) {
      options.budget.candidates = *candidates_;
    }
    if (seconds_) {
      options.budget.wall_time =
          *seconds_ > 0 ? std::optional(std::chrono::seconds(*seconds_)) : std::nullopt;
    }
    OPTIML_ASSIGN(const Workbench bench, MakeWorkbench(task, env, tools, options.verifier));
    if (bench.task->hash.Hex() != record.task.hash) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: the task has changed since the run began (restore it, or begin "
                               "a new run with `optiml optimize`)",
                               task.path));
    }
    OPTIML_TRY(CheckSameMachine(record, bench));
    // How long the whole run may be is the run's; how long this part may be is not.
    if (candidates_) {
      record.options["candidates"] = std::to_string(*candidates_);
      OPTIML_TRY(store->SaveOptions(record.options));
    }
    OpenedModels models = ModelsOf(record, options, env, tools);
    RunJob job;
    job.models = &models;
    job.folder = folder;
    job.bench = &bench;
    job.store = store.get();
    job.options = options;
    job.record = std::move(record);
    job.output = output_;
    return DriveRun(job, env, tools);
  }

 private:
  // The run's models. It goes on without those that cannot be reached any more.
  static OpenedModels ModelsOf(const RunRecord& record, const SessionOptions& options,
                               const CliEnv& env, Toolbox& tools) {
    RoleUse spent;
    for (const ExchangeRecord& exchange : record.exchanges) {
      spent.tokens += exchange.prompt_tokens + exchange.completion_tokens;
      spent.dollars += exchange.dollars;
    }
    auto opened = OpenModels(ParseModelChoice(record.options), options.judge, env, tools, spent);
    if (opened) {
      return *std::move(opened);
    }
    *env.err << fmt::format("note: the run goes on without language models: {}\n",
                            opened.error().message());
    return {};
  }

  // Times of two devices, or of two models of one, must not meet in one tree.
  static Result<void> CheckSameMachine(const RunRecord& record, const Workbench& bench) {
    const EnvironmentSnapshot& began = record.environment;
    const EnvironmentSnapshot now = DescribeEnvironment(bench);
    const auto differ = [&](const std::string& what, const auto& then, const auto& here) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("{}: began with {} {}, this is {}",
                                                            record.id.value, what, then, here));
    };
    if (now.device_name != began.device_name || now.architecture != began.architecture) {
      return differ("the device", fmt::format("{} ({})", began.device_name, began.architecture),
                    fmt::format("{} ({})", now.device_name, now.architecture));
    }
    if (now.toolchain != began.toolchain) {
      return differ("the toolchain", began.toolchain, now.toolchain);
    }
    for (const auto& [what, then, here] :
         {std::tuple("a device of this many bytes/s:", began.dram_bytes_per_s,
                     now.dram_bytes_per_s),
          std::tuple("a device of this many FLOP/s:", began.fp32_flops_per_s, now.fp32_flops_per_s),
          std::tuple("a time model of this error:", began.prediction_error_factor,
                     now.prediction_error_factor)}) {
      if (then != here) {
        return differ(what, then, here);
      }
    }
    return {};
  }

  std::string run_;
  std::optional<int> candidates_;
  std::optional<int64_t> seconds_;
  std::optional<int> threads_;
  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> MakeResumeCommand() {
  return std::make_unique<ResumeCommand>();
}

}  // namespace optiml
