// optiml bench: landscapes of tasks, and searches on them.
#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/run_folder.h"
#include "optimize/recorded_landscape.h"
#include "report/text_format.h"

namespace optiml {
namespace {

constexpr const char* kStrategies[] = {"mcts", "greedy", "random"};

class BenchCommand : public Command {
 public:
  std::string Name() const override { return "bench"; }
  std::string Summary() const override {
    return "what runs found, as a landscape; searches on landscapes";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml optimize examples/softmax --search random --candidates 300 -o softmax-1\n"
           "  optiml bench landscape softmax-1 softmax-2 -o softmax.landscape\n"
           "  optiml bench search softmax.landscape --candidates 40";
  }
  void Declare(CLI::App& app) override {
    app.add_option(
           "what", what_,
           "landscape: write what one or more runs of one task on one device found out; "
           "search: how near the searchers come to the best that is known, without a device")
        ->check(CLI::IsMember({"landscape", "search"}))
        ->required();
    app.add_option("inputs", inputs_, "runs (landscape) or landscapes (search)")
        ->type_name("RUN|FILE...")
        ->required();
    app.add_option("-o,--out", out_, "the landscape to write")->type_name("FILE")->group("Output");
    app.add_option("--candidates", candidates_, "candidates of each search")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str()
        ->group("Search");
    app.add_option("--seeds", seeds_, "searches of each strategy")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str()
        ->group("Search");
    app.add_flag("--json", json_, "print the table of search as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    if (what_ == "search") {
      return Search(env);
    }
    if (out_.empty()) {
      return Error(ErrorCode::kInvalidArgument, "bench landscape needs --out FILE");
    }
    return WriteLandscape(env);
  }

 private:
  Result<int> WriteLandscape(CliEnv& env) const {
    std::optional<RecordedLandscape> all;
    for (const std::string& run : inputs_) {
      OPTIML_ASSIGN(const fs::path folder, FindRunFolder(run, env));
      OPTIML_ASSIGN(const RunRecord record, LoadRun(folder));
      auto one = LandscapeOf(record);
      if (!one) {
        return std::move(one).error().WithContext(run);
      }
      if (all) {
        OPTIML_TRY(AddTo(*all, *one));
      } else {
        all = *std::move(one);
      }
    }
    OPTIML_TRY(WriteFileAtomically(env.Resolve(out_), FormatLandscape(*all)));
    size_t accepted = 0;
    for (const RecordedPoint& point : all->points) {
      accepted += point.rejected_at.empty() ? 1 : 0;
    }
    *env.out << fmt::format("{}: {} on {}, {} chains, {} of them accepted, best {} {}\n", out_,
                            all->task, all->device, all->points.size(), accepted,
                            FormatSeconds(all->BestSeconds()),
                            all->measured ? "measured" : "predicted");
    return kExitDone;
  }

  struct Row {
    double ratio = 0;  // best known time over the best that was found, mean over the seeds
    double unknown_ratio = 0;
  };
  Result<Row> Try(const RecordedLandscape& landscape, const std::string& strategy) const {
    Row row;
    const double best = landscape.BestSeconds();
    for (int seed = 1; seed <= seeds_; ++seed) {
      SearchOptions options;
      options.strategy = strategy;
      options.seed = static_cast<uint64_t>(seed);
      OPTIML_ASSIGN(const LandscapeSearch found, SearchOn(landscape, options, candidates_));
      row.ratio += best / found.best_s / seeds_;
      row.unknown_ratio += found.candidates == 0
                               ? 0
                               : static_cast<double>(found.unknown) / found.candidates / seeds_;
    }
    return row;
  }

  Result<int> Search(CliEnv& env) const {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::string text = fmt::format(
        "best known time over the best found, mean of {} seeds at {} candidates "
        "(candidates that no run tried)\n{:<28}",
        seeds_, candidates_, "landscape");
    for (const char* strategy : kStrategies) {
      text += fmt::format(" {:>14}", strategy);
    }
    text += "\n";
    for (const std::string& file : inputs_) {
      OPTIML_ASSIGN(const std::string content, ReadFile(env.Resolve(file)));
      OPTIML_ASSIGN(const RecordedLandscape landscape, ParseLandscape(content, file));
      text += fmt::format("{:<28}", landscape.task);
      for (const char* strategy : kStrategies) {
        OPTIML_ASSIGN(const Row row, Try(landscape, strategy));
        text += fmt::format(" {:>6.2f} {:>7}", row.ratio,
                            fmt::format("({})", FormatPercent(row.unknown_ratio)));
        json.push_back({{"file", file},
                        {"task", landscape.task},
                        {"device", landscape.device},
                        {"times_are", landscape.measured ? "measured" : "predicted"},
                        {"strategy", strategy},
                        {"best_ratio", row.ratio},
                        {"unknown_ratio", row.unknown_ratio}});
      }
      text += "\n";
    }
    *env.out << (json_ ? json.dump(2) + "\n" : text);
    return kExitDone;
  }

  std::string what_;
  std::vector<std::string> inputs_;
  std::string out_;
  int candidates_ = 40;
  int seeds_ = 20;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeBenchCommand() {
  return std::make_unique<BenchCommand>();
}

}  // namespace optiml
