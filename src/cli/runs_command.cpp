// optiml runs: the runs below a folder.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/run_folder.h"
#include "report/text_format.h"

namespace optiml {
namespace {

// Root time over the best accepted time, of whatever the run has so far.
std::string GainText(const ReportModel& model) {
  return model.gain && model.gain->value > 1
             ? fmt::format("{} {}", FormatFactor(model.gain->value), model.word)
             : "-";
}

class RunsCommand : public Command {
 public:
  std::string Name() const override { return "runs"; }
  std::string Summary() const override { return "list runs: state, candidates, gain"; }
  std::string Example() const override {
    return "Examples\n  optiml runs\n  optiml runs nightly --json";
  }
  void Declare(CLI::App& app) override {
    app.add_option("folder", folder_, "where to look")->type_name("DIR")->capture_default_str();
    app.add_flag("--json", json_, "print the list as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    const fs::path folder = env.Resolve(folder_);
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored) && folder_ != kRunsFolder) {
      return Error(ErrorCode::kNotFound, fmt::format("{}: no such folder", folder_));
    }
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::string text;
    bool broken = false;
    for (const fs::path& each : ListRunFolders(folder)) {
      auto run = LoadRun(each);
      if (!run) {
        broken = true;
        *env.err << "optiml: " << OneLine(run.error().message()) << "\n";
        json.push_back({{"folder", each.string()},
                        {"state", "unreadable"},
                        {"problem", ValidUtf8(OneLine(run.error().message()))}});
        text += Row(ShownPath(each, env), "unreadable", "", "", "");
        continue;
      }
      // A process that was killed leaves "running" behind.
      const bool killed = run->state == RunState::kRunning && !IsRunLocked(each);
      const ReportModel model = MakeReportModel(*std::move(run));
      const std::string state = killed ? "killed" : RunStateName(model.run->state);
      const size_t candidates = model.run->nodes.empty() ? 0 : model.run->nodes.size() - 1;
      json.push_back({{"folder", each.string()},
                      {"run", model.run->id.value},
                      {"state", state},
                      {"task", model.run->task.name},
                      {"candidates", candidates},
                      {"gain", model.gain ? nlohmann::ordered_json(model.gain->value)
                                          : nlohmann::ordered_json(nullptr)},
                      {"times_are", model.word},
                      {"started_at", model.run->environment.started_at}});
      text += Row(ShownPath(each, env), state, std::to_string(candidates), GainText(model),
                  model.run->environment.started_at);
    }
    if (json_) {
      *env.out << json.dump(2) << "\n";
    } else if (text.empty()) {
      *env.out << fmt::format("no runs in {}\n", folder_);
    } else {
      *env.out << Row("run", "state", "candidates", "gain", "started") << text;
    }
    return broken ? kExitEnvironment : kExitDone;
  }

 private:
  static std::string Row(const std::string& run, const std::string& state,
                         const std::string& candidates, const std::string& gain,
                         const std::string& started) {
    std::string row =
        fmt::format("{:<44} {:<12} {:>10}  {:<18} {}", run, state, candidates, gain, started);
    row.erase(row.find_last_not_of(' ') + 1);
    return row + "\n";
  }

  std::string folder_ = kRunsFolder;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRunsCommand() {
  return std::make_unique<RunsCommand>();
}

}  // namespace optiml
