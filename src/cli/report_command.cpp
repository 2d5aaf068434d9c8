// optiml report: what a run found, as HTML, Markdown or JSON.
#include <fmt/format.h>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/run_folder.h"
#include "report/report.h"

namespace optiml {
namespace {

class ReportCommand : public Command {
 public:
  std::string Name() const override { return "report"; }
  std::string Summary() const override {
    return "show what a run found and why, as HTML, Markdown or JSON";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml report last                         (writes report.html into the run's "
           "folder)\n"
           "  optiml report last --format markdown       (prints)\n"
           "  optiml report last --json | jq .gain";
  }
  void Declare(CLI::App& app) override {
    app.add_option("run", run_, "a run's folder or name, or \"last\"")
        ->type_name("RUN")
        ->required();
    app.add_option("--format", format_, "how to lay it out")
        ->check(CLI::IsMember({"html", "markdown", "json"}))
        ->capture_default_str()
        ->group("Output");
    app.add_flag("--json", json_, "the same as --format json")->group("Output");
    app.add_option("-o,--out", out_,
                   "file to write, or - to print (default: report.html in the run's folder for "
                   "HTML, else printed)")
        ->type_name("FILE")
        ->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    OPTIML_ASSIGN(const fs::path folder, FindRunFolder(run_, env));
    OPTIML_ASSIGN(RunRecord record, LoadRun(folder));
    const ReportFormat format = json_ ? ReportFormat::kJson : *ParseReportFormat(format_);
    const std::string text = FormatReport(MakeReportModel(std::move(record)), format);
    if (out_ == "-" || (out_.empty() && format != ReportFormat::kHtml)) {
      *env.out << text;
      return kExitDone;
    }
    const fs::path file = out_.empty() ? folder / "report.html" : env.Resolve(out_);
    if (auto written = WriteFileAtomically(file, text); !written) {
      return out_.empty() ? Error(written.error().code(),
                                  fmt::format("{} (say where it may be written with --out, or "
                                              "print it with --out -)",
                                              written.error().message()))
                          : std::move(written).error();
    }
    *env.out << ShownPath(file, env) << "\n";
    return kExitDone;
  }

 private:
  std::string run_;
  std::string format_ = "html";
  bool json_ = false;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> MakeReportCommand() {
  return std::make_unique<ReportCommand>();
}

}  // namespace optiml
