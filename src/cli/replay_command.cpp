// optiml replay: walks through a run again, from its store alone.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/run_folder.h"

namespace optiml {
namespace {

class ReplayCommand : public Command {
 public:
  std::string Name() const override { return "replay"; }
  std::string Summary() const override {
    return "make a run's tree again from its store, without compiler and device";
  }
  std::string Example() const override { return "Example\n  optiml replay last"; }
  void Declare(CLI::App& app) override {
    app.add_option("run", run_, "a run's folder or name, or \"last\"")
        ->type_name("RUN")
        ->required();
    app.add_flag("--json", json_, "print the result as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    OPTIML_ASSIGN(const fs::path folder, FindRunFolder(run_, env));
    OPTIML_ASSIGN(const RunRecord record, LoadRun(folder));
    OPTIML_ASSIGN(const int64_t best, tools.ReplaySearch(record));
    if (json_) {
      *env.out << nlohmann::ordered_json{{"run", record.id.value},
                                         {"nodes", record.nodes.size()},
                                         {"best_node", best},
                                         {"same_tree", true}}
                      .dump(2)
               << "\n";
    } else {
      *env.out << fmt::format("{}: the same tree of {} nodes, best node {}\n", record.id.value,
                              record.nodes.size(), best);
    }
    return kExitDone;
  }

 private:
  std::string run_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeReplayCommand() {
  return std::make_unique<ReplayCommand>();
}

}  // namespace optiml
