// optiml check: does one kernel compute what its task says?
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "cli/check_view.h"
#include "cli/command.h"
#include "cli/corpus.h"
#include "cli/option_checks.h"
#include "cli/stages.h"
#include "core/host_mode.h"
#include "optimize/interruptible_device.h"
#include "report/text_format.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

// What a check cannot say where the reference is the task's own kernel; empty elsewhere.
std::string WeakReference(const KernelTask& task, const KernelSource& kernel) {
  if (task.reference.kind != ReferenceKind::kOriginal) {
    return "";
  }
  return kernel.hash() == task.source.hash()
             ? "[reference] kind is \"original\": the kernel was compared with itself; this says "
               "that "
               "it runs, repeats and stays within its buffers, not that its results are right"
             : "[reference] kind is \"original\": compared with the task's own kernel, whose "
               "results "
               "nothing checks";
}

constexpr int64_t kMostKernelSeconds = 1'000'000;
constexpr int64_t kMostKernelGib = 1 << 20;

class CheckCommand : public Command {
 public:
  std::string Name() const override { return "check"; }
  std::string Summary() const override {
    return "verify one kernel against a task: the first failing stage and the first wrong element";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml check examples/softmax --kernel mine.cu\n"
           "  optiml check examples/softmax --battery      (can the task tell right from wrong?)\n"
           "  optiml check --corpus kernels                (a table of every kernel in a folder)\n"
           "\n"
           "Exit status 1 means that the kernel, or one of the corpus, is not accepted; 2 that "
           "the\n"
           "task's own kernel does not build, or that its launcher cannot be followed.";
  }
  void Declare(CLI::App& app) override {
    AddTaskOptions(app, task_);
    app.get_option("path")->required(false);
    app.add_option(
           "--corpus", corpus_,
           "check every kernel below this folder: task folders, and .cu files with what can "
           "be inferred")
        ->type_name("DIR")
        ->excludes("path")
        ->group("Corpus");
    app.add_option("--kernel-time", kernel_seconds_,
                   "seconds after which the check of one of the corpus ends")
        ->type_name("SECONDS")
        ->check(WholeNumbers(int64_t{1}, kMostKernelSeconds))
        ->capture_default_str()
        ->group("Corpus");
    app.add_option("--kernel-memory", kernel_gib_, "GiB of address space for the check of one")
        ->type_name("GIB")
        ->check(WholeNumbers(int64_t{1}, kMostKernelGib))
        ->capture_default_str()
        ->group("Corpus");
    app.add_option("--kernel", kernel_, "the kernel to check (default: the task's own)")
        ->type_name("FILE.cu")
        ->group("Task");
    app.add_option("--check-seeds", verifier_.seeds, "input seeds for each checked shape and fill")
        ->type_name("N")
        ->check(WholeNumbers(1))
        ->capture_default_str()
        ->group("Checks");
    app.add_option("--first-check-seed", verifier_.first_seed, "the first of these seeds")
        ->type_name("N")
        ->check(WholeNumbers(uint64_t{0}))
        ->capture_default_str()
        ->group("Checks");
    app.add_flag("--skip-timed", skip_timed_,
                 "do not execute the timed shapes: only the checked ones are compared")
        ->group("Checks");
    app.add_flag("--battery", battery_,
                 "put kernels that are wrong on purpose through the task's checks")
        ->group("Checks");
    app.add_option("--stop-after", stop_after_, "print what this stage yields, and stop")
        ->check(CLI::IsMember(StopStages()))
        ->group("Output");
    app.add_flag("--json", json_, "print the result as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    if (!corpus_.empty()) {
      return RunCorpus(env, tools);
    }
    if (task_.path.empty()) {
      return Error(ErrorCode::kInvalidArgument, "PATH is required (or --corpus DIR)");
    }
    OPTIML_ASSIGN(const Workbench bench, MakeWorkbench(task_, env, tools, verifier_));
    if (battery_) {
      return RunBattery(bench, env, tools);
    }
    OPTIML_ASSIGN(const KernelSource source, ChooseKernel(*bench.task, kernel_, env));
    if (!stop_after_.empty()) {
      OPTIML_ASSIGN(const std::string text,
                    DescribeStage(bench, source, *ParseStage(stop_after_), verifier_, env, tools));
      *env.out << text;
      return kExitDone;
    }
    const bool measures = bench.device->Info().capabilities.measures_time;
    const Stage last = skip_timed_ ? Stage::kL1 : measures ? Stage::kMeasure : Stage::kL2;
    OPTIML_ASSIGN(const StageOutcome outcome,
                  RunStages(bench, source, last, verifier_, env, tools));
    const int exit_code = ExitCodeOfKernel(outcome.evaluation, kernel_.empty());
    const std::string note = WeakReference(*bench.task, source);
    const std::string& makers = outcome.evaluation.launcher;
    if (json_) {
      Json json = CheckJson(outcome.evaluation);
      json["task"] = bench.task->name;
      json["kernel"] = source.path();
      if (!makers.empty()) {
        json["launcher"] = makers;
      }
      if (IsHostMode(makers)) {
        json["guarantees"] = kHostModeNote;
      }
      if (!note.empty()) {
        json["note"] = note;
      }
      json["check_notes"] = outcome.notes;
      json["reproduce"] = Reproduce(env);
      *env.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    } else {
      *env.out << CheckText(source.path(), outcome.evaluation);
      if (makers.find("recorded") != std::string::npos) {
        *env.out << "launcher: " << makers << "\n";
      }
      if (IsHostMode(makers)) {
        *env.out << kHostModeNote << "\n";
      }
      if (!note.empty()) {
        *env.out << "note: " << note << "\n";
      }
      for (const std::string& of_checks : outcome.notes) {
        *env.out << "note: " << of_checks << "\n";
      }
      if (exit_code != kExitDone) {
        *env.out << "reproduce with\n  " << Reproduce(env) << "\n";
      }
    }
    return exit_code;
  }

 private:
  Result<int> RunCorpus(CliEnv& env, Toolbox& tools) const {
    if (battery_ || !kernel_.empty() || !stop_after_.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "--corpus goes with neither --kernel nor --battery nor --stop-after");
    }
    const std::filesystem::path corpus = env.Resolve(corpus_);
    OPTIML_ASSIGN(const auto kernels, KernelsIn(corpus));
    ProcessLimits limits;
    limits.wall_time = std::chrono::seconds(kernel_seconds_);
    limits.address_space_bytes = static_cast<size_t>(kernel_gib_) << 30;
    const std::vector<std::string> arguments = Arguments(env, true);
    std::vector<CorpusRow> rows;
    if (!json_) {
      *env.out << CorpusHead();
    }
    for (const std::filesystem::path& kernel : kernels) {
      if (env.stop != nullptr && *env.stop) {
        return kExitInterrupted;
      }
      const bool works = std::any_of(rows.begin(), rows.end(), IsJudged);
      OPTIML_ASSIGN(CorpusRow row,
                    CheckOfCorpus(corpus, kernel, arguments, limits, works, env, tools));
      if (env.stop != nullptr && *env.stop) {
        return kExitInterrupted;  // the check was interrupted as well
      }
      if (!json_) {
        *env.out << FormatCorpusRow(row, env.width) << std::flush;
      }
      rows.push_back(std::move(row));
    }
    *env.out << (json_ ? CorpusJson(rows) : CorpusSummary(rows));
    const bool all = std::all_of(rows.begin(), rows.end(), [](const CorpusRow& row) {
      return row.verdict == CorpusVerdict::kAccepted;
    });
    return all ? kExitDone : kExitNothingKept;
  }

  Result<int> RunBattery(const Workbench& bench, CliEnv& env, Toolbox& tools) const {
    InterruptibleDevice device(*bench.device, env.stop);
    OPTIML_ASSIGN(const auto verifier,
                  tools.MakeVerifier(*bench.task, *bench.builder, device, bench.reference.get(),
                                     bench.Recording(verifier_)));
    OPTIML_ASSIGN(const std::vector<BatteryVerdict> rows, verifier->Battery());
    if (json_) {
      Json json = Json::array();
      for (const BatteryVerdict& row : rows) {
        json.push_back({{"mutant", row.mutant}, {"verdict", row.verdict}, {"detail", row.detail}});
      }
      *env.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    } else {
      *env.out << fmt::format("{:<28} {:<12} {}\n", "wrong kernel", "verdict", "detail");
      for (const BatteryVerdict& row : rows) {
        *env.out << fmt::format("{:<28} {:<12} {}\n", row.mutant, row.verdict, row.detail);
      }
      if (bench.task->reference.kind == ReferenceKind::kOriginal) {
        *env.out << "note: [reference] kind is \"original\": the right answers are the task's own "
                    "kernel's, which nothing checks\n";
      }
    }
    return kExitDone;
  }

  // The options that say what is checked and how. `with_threads`: also the one on which results do
  // not depend.
  std::vector<std::string> Arguments(const CliEnv& env, bool with_threads) const {
    std::vector<std::string> arguments;
    for (const auto& [key, value] : FormatTaskOptions(task_, env)) {
      if (key == "threads" && !with_threads) {
        continue;
      }
      size_t begin = 0;
      while (begin < value.size()) {
        const size_t end = std::min(value.find('\n', begin), value.size());
        arguments.push_back("--" + key);
        if (key != "unconfined") {
          arguments.push_back(value.substr(begin, end - begin));
        }
        begin = end + 1;
      }
    }
    for (const auto& [flag, value] : {std::pair("--check-seeds", uint64_t(verifier_.seeds)),
                                      std::pair("--first-check-seed", verifier_.first_seed)}) {
      arguments.insert(arguments.end(), {flag, std::to_string(value)});
    }
    if (skip_timed_) {
      arguments.emplace_back("--skip-timed");
    }
    return arguments;
  }

  std::string Reproduce(const CliEnv& env) const {
    std::string command = "optiml check " + QuoteForShell(task_.path);
    if (!kernel_.empty()) {
      command += " --kernel " + QuoteForShell(kernel_);
    }
    for (const std::string& argument : Arguments(env, false)) {
      command += " " + QuoteForShell(argument);
    }
    return command;
  }

  TaskOptions task_;
  VerifierOptions verifier_;
  std::string kernel_;
  std::string corpus_;
  int64_t kernel_seconds_ = 300;
  int64_t kernel_gib_ = 16;
  bool battery_ = false;
  bool skip_timed_ = false;
  std::string stop_after_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() {
  return std::make_unique<CheckCommand>();
}

}  // namespace optiml
