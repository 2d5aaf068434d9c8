// optiml optimize: the main job.
#include <fmt/format.h>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/generate_model.h"
#include "cli/intent.h"
#include "cli/model_choice.h"
#include "cli/run_driver.h"
#include "cli/run_folder.h"
#include "cli/stages.h"

namespace optiml {
namespace {

class OptimizeCommand : public Command {
 public:
  std::string Name() const override { return "optimize"; }
  std::string Summary() const override {
    return "search for a kernel that needs less time and is proved to compute the same";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml optimize examples/softmax --candidates 40\n"
           "  optiml optimize --intent \"row-wise softmax of an 8192 x 8192 matrix\" --yes\n"
           "  optiml optimize kernel.cu --timed n=1048576 --checked n=1000 --arg "
           "'y=f32[n]:out' --arg 'x=f32[n]:in:normal'";
  }
  void Declare(CLI::App& app) override {
    AddTaskOptions(app, task_);
    AddMoreDevices(app, task_);
    CLI::Option* path = app.get_option("path")->required(false);
    app.add_option("--intent", intent_.text,
                   "no PATH: make the task of a sentence first (`optiml generate`)")
        ->type_name("TEXT")
        ->excludes(path)
        ->group("Intent");
    AddIntentOptions(app, intent_, "Intent");
    AddSessionFlags(app, session_);
    AddModelOptions(app, models_);
    app.add_option("-o,--out", out_, "folder of the run (default: optiml-runs/TASK-TIME)")
        ->type_name("DIR")
        ->group("Output");
    AddOutputFlags(app, output_);
    app.add_option(
           "--stop-after", stop_after_,
           "no search: put the task's own kernel through the stages and print what this one "
           "yields")
        ->check(CLI::IsMember(StopStages()))
        ->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    OPTIML_TRY(MakeSearcher(session_.options.search));  // before anything is compiled
    OPTIML_ASSIGN(const OpenedModels models,
                  OpenModels(models_, session_.options.judge, env, tools));
    if (!intent_.text.empty()) {
      OPTIML_ASSIGN(const bool is_taken, MakeTaskOfIntent(env, tools, models));
      if (!is_taken) {
        return kExitBadUse;
      }
    }
    if (task_.path.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "PATH is required (or --intent TEXT); see `optiml optimize --help`");
    }
    OPTIML_ASSIGN(const Workbench bench,
                  MakeWorkbench(task_, env, tools, session_.options.verifier));
    const SessionOptions options = session_.Get(bench.device->Info().capabilities.measures_time,
                                                1 + bench.more_devices.size());
    if (!stop_after_.empty()) {
      OPTIML_ASSIGN(const std::string text,
                    DescribeStage(bench, bench.task->source, *ParseStage(stop_after_),
                                  options.verifier, env, tools));
      *env.out << text;
      return kExitDone;
    }
    OPTIML_ASSIGN(const fs::path folder, ChooseRunFolder(out_, bench.task->name, env));
    OPTIML_ASSIGN(RunRecord header, MakeRunHeader(bench, task_, options, folder, env));
    header.options.merge(FormatModelChoice(models_, env));
    std::error_code ignored;
    const bool had_folder = fs::exists(folder, ignored);
    const bool had_parent = fs::exists(folder.parent_path(), ignored);
    OPTIML_TRY(CreateDirectories(folder));
    auto exit_code = Start(bench, models, options, std::move(header), folder, env, tools);
    // A run that failed before its first kernel was evaluated leaves nothing worth resuming.
    if (!exit_code && IsEmptyRun(folder)) {
      if (had_folder) {
        fs::remove(folder / kStoreName, ignored);
        fs::remove(folder / kLockName, ignored);
      } else {
        fs::remove_all(folder, ignored);
        if (!had_parent) {
          fs::remove(folder.parent_path(), ignored);  // only when it is empty: optiml-runs
        }
      }
    }
    return exit_code;
  }

 private:
  Result<int> Start(const Workbench& bench, const OpenedModels& models,
                    const SessionOptions& options, RunRecord header, const fs::path& folder,
                    CliEnv& env, Toolbox& tools) const {
    OPTIML_ASSIGN(const auto store, RunStore::Create(folder / kStoreName, header));
    RunJob job;
    job.folder = folder;
    job.bench = &bench;
    job.store = store.get();
    job.options = options;
    job.models = &models;
    job.record = std::move(header);
    job.output = output_;
    return DriveRun(job, env, tools);
  }

  // The task's folder stands beside the run's: "optiml-runs/softmax-20261129-192407-task".
  Result<bool> MakeTaskOfIntent(CliEnv& env, Toolbox& tools, const OpenedModels& models) {
    ChatModel* model = models.roles[ModelRole::kProposer];
    OPTIML_ASSIGN(IntentOutcome outcome,
                  ResolveIntent(intent_, "optiml optimize --intent", env,
                                output_.json ? nullptr : env.out, model, ReferenceFor(task_, env)));
    if (!outcome.task) {
      if (output_.json) {
        *env.out << outcome.json.dump(2, ' ', false,
                                      nlohmann::ordered_json::error_handler_t::replace)
                 << "\n";
      }
      return false;
    }
    OPTIML_ASSIGN(const fs::path run, ChooseRunFolder(out_, outcome.task->name, env));
    out_ = run.string();
    const fs::path folder = run.string() + "-task";
    task_.path = folder.string();
    OPTIML_TRY(WriteTask(*outcome.task, folder));
    OPTIML_TRY(AddSamples(outcome, intent_, model, task_, env, tools));
    if (!output_.json && !output_.quiet) {
      *env.out << "task      " << ShownPath(folder, env) << "\n";
    }
    return true;
  }

  // No store, or one that was never filled. What cannot be read is not known to be empty: it stays.
  static bool IsEmptyRun(const fs::path& folder) {
    std::error_code ignored;
    if (!fs::exists(folder / kStoreName, ignored)) {
      return true;
    }
    const auto run = LoadRun(folder);
    return run && run->nodes.empty();
  }

  TaskOptions task_;
  IntentOptions intent_;
  SessionFlags session_;
  ModelChoice models_;
  OutputFlags output_;
  std::string out_;
  std::string stop_after_;
};

}  // namespace

std::unique_ptr<Command> MakeOptimizeCommand() {
  return std::make_unique<OptimizeCommand>();
}

}  // namespace optiml
