// optiml init: a task.toml for a .cu, with what could be inferred and what is left to fill in.
#include <fmt/format.h>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/task_options.h"
#include "task/launcher_scan.h"

namespace optiml {
namespace {

class InitCommand : public Command {
 public:
  std::string Name() const override { return "init"; }
  std::string Summary() const override {
    return "write a task.toml for a .cu file and say what is left to fill in";
  }
  std::string Example() const override {
    return "Example\n  optiml init kernel.cu --timed rows=8192,cols=8192 --arg "
           "'x=f32[rows,cols]:in:normal'";
  }
  void Declare(CLI::App& app) override {
    app.add_option("file", options_.path, "the .cu file")->type_name("FILE.cu")->required();
    AddShapeOptions(app, options_);
    app.add_option("-o,--out", out_, "file to write, or - to print (default: task.toml beside it)")
        ->type_name("FILE")
        ->group("Output");
    app.add_flag("--force", force_, "replace a file that is there")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    const fs::path source_path = env.Resolve(options_.path);
    OPTIML_ASSIGN(const TaskOverrides overrides, MakeOverrides(options_));
    OPTIML_ASSIGN(const std::string text, ReadFile(source_path));
    const fs::path target =
        out_.empty() ? source_path.parent_path() / "task.toml" : env.Resolve(out_);
    std::error_code ignored;
    if (out_ != "-" && !force_ && fs::exists(target, ignored)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: is there already (--force replaces it)", target.string()));
    }
    OPTIML_ASSIGN(const SourceComments comments, ReadComments(text, options_.path));
    Result<ScannedLauncher> found =
        ScanLauncher(text, options_.path, options_.entry.empty() ? comments.entry : options_.entry);
    if (!found && !options_.entry.empty()) {
      return std::move(found).error().WithContext("--entry " + options_.entry);
    }
    OPTIML_ASSIGN(const ScannedLauncher scanned, std::move(found));
    OPTIML_ASSIGN(const std::vector<LauncherFact> launcher,
                  tools.LauncherFacts(KernelSource(text, scanned.entry, options_.path), {}));
    OPTIML_ASSIGN(const InferredTask task,
                  InferTask(source_path, text, scanned.entry, launcher, overrides));
    if (out_ == "-") {
      *env.out << task.toml;
    } else {
      OPTIML_TRY(WriteFileAtomically(target, task.toml));
      *env.out << fmt::format("wrote {}\n", target.string());
    }
    std::ostream& notes = out_ == "-" ? *env.err : *env.out;
    if (task.missing.empty()) {
      notes << fmt::format("nothing is left to fill in; try `optiml check {}`\n",
                           target.parent_path().string());
      return kExitDone;
    }
    notes << "left to fill in:\n";
    for (const std::string& sentence : task.missing) {
      notes << "  " << sentence << "\n";
    }
    return kExitDone;
  }

 private:
  TaskOptions options_;
  std::string out_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeInitCommand() {
  return std::make_unique<InitCommand>();
}

}  // namespace optiml
