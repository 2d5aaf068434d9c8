// optiml export: a run's results as plain files.
#include <fmt/format.h>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/run_folder.h"
#include "report/report.h"

namespace optiml {
namespace {

class ExportCommand : public Command {
 public:
  std::string Name() const override { return "export"; }
  std::string Summary() const override {
    return "write a run's best kernel, patch, reports and every variant's source";
  }
  std::string Example() const override {
    return "Example\n  optiml export last -o softmax-results";
  }
  void Declare(CLI::App& app) override {
    app.add_option("run", run_, "a run's folder or name, or \"last\"")
        ->type_name("RUN")
        ->required();
    app.add_option("-o,--out", out_, "folder to make; must not be there yet")
        ->type_name("DIR")
        ->required()
        ->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    OPTIML_ASSIGN(const fs::path folder, FindRunFolder(run_, env));
    OPTIML_ASSIGN(RunRecord record, LoadRun(folder));
    const fs::path target = env.Resolve(out_);
    std::error_code error;
    if (fs::exists(target, error)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: is there already (choose another folder)", out_));
    }
    // Everything is written beside the target and renamed when it is complete.
    fs::path part = target.string() + ".part";
    for (int i = 2; fs::exists(part, error); ++i) {
      part = fmt::format("{}.part{}", target.string(), i);
    }
    auto files = Write(part, MakeReportModel(std::move(record)));
    if (!files) {
      fs::remove_all(part, error);
      return std::move(files).error();
    }
    fs::rename(part, target, error);
    if (error) {
      const std::string reason = error.message();
      fs::remove_all(part, error);
      return Error(ErrorCode::kIo, fmt::format("{}: cannot create the folder: {}", out_, reason));
    }
    for (const std::string& file : *files) {
      *env.out << ShownPath(target / file, env) << "\n";
    }
    return kExitDone;
  }

 private:
  static Result<std::vector<std::string>> Write(const fs::path& part, const ReportModel& model) {
    OPTIML_TRY(CreateDirectories(part / "variants"));
    OPTIML_ASSIGN(std::vector<std::string> files, WriteRunFiles(part, model));
    int written = 0;
    for (const NodeRecord& node : model.run->nodes) {
      if (node.source.empty()) {
        continue;
      }
      const std::string name = fmt::format("variants/{:04}.cu", node.id);
      OPTIML_TRY(WriteFileAtomically(part / name, node.source));
      ++written;
    }
    files.push_back(fmt::format("variants/ ({} files)", written));
    return files;
  }

  std::string run_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> MakeExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace optiml
