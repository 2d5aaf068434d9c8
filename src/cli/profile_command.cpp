// optiml profile: time, counters and diagnosis of one kernel.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/stages.h"
#include "core/hardware_metrics.h"
#include "core/host_mode.h"
#include "device/checked_device.h"
#include "optimize/time_shapes.h"
#include "profile/diagnosis.h"
#include "profile/ncu_import.h"
#include "report/metric_table.h"
#include "report/text_format.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

class ProfileCommand : public Command {
 public:
  std::string Name() const override { return "profile"; }
  std::string Summary() const override {
    return "time, counters, limits and diagnosis of one kernel";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml profile examples/matmul\n"
           "  optiml profile examples/matmul --kernel mine.cu --json\n"
           "  ncu --csv --page raw --metrics $(optiml docs ncu-metrics) --log-file c.csv ./app\n"
           "  optiml profile examples/matmul --ncu c.csv      (counters from there)\n"
           "\n"
           "Exit status 1 means that the kernel is rejected before it can be timed; 2 that it is "
           "the\n"
           "task's own and does not build, or that its launcher cannot be followed.";
  }
  void Declare(CLI::App& app) override {
    AddTaskOptions(app, task_);
    app.add_option("--kernel", kernel_, "the kernel to profile (default: the task's own)")
        ->type_name("FILE.cu")
        ->group("Task");
    app.add_option("--ncu", ncu_,
                   "take the counters from this file: what `ncu --csv --page raw` printed of a "
                   "program that launches the kernel at the first timed shape")
        ->type_name("FILE.csv")
        ->group("Counters");
    app.add_flag("--json", json_, "print the result as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    OPTIML_ASSIGN(const Workbench bench, MakeWorkbench(task_, env, tools));
    OPTIML_ASSIGN(const KernelSource source, ChooseKernel(*bench.task, kernel_, env));
    OPTIML_ASSIGN(StageOutcome outcome,
                  RunStages(bench, source, Stage::kProfile, VerifierOptions(), env, tools));
    if (!ncu_.empty() && outcome.evaluation.accepted()) {
      OPTIML_TRY(UseCountersOf(ncu_, bench, *outcome.prepared, env, outcome.evaluation));
    }
    const Evaluation& evaluation = outcome.evaluation;
    if (json_) {
      *env.out << ToJson(evaluation, bench).dump(2, ' ', false, Json::error_handler_t::replace)
               << "\n";
    } else if (!evaluation.accepted()) {
      *env.out << fmt::format("{}: {}\n", source.path(), DescribeOutcome(evaluation));
    } else {
      *env.out << ToText(evaluation, bench);
    }
    return ExitCodeOfKernel(evaluation, kernel_.empty());
  }

 private:
  // The profile and the diagnosis by Nsight Compute's counters. The times stay the device's: those
  // under a profiler are no measurement of the kernel alone.
  static Result<void> UseCountersOf(const std::string& file, const Workbench& bench,
                                    const PreparedCandidate& prepared, const CliEnv& env,
                                    Evaluation& evaluation) {
    OPTIML_ASSIGN(const std::string text, ReadFile(env.Resolve(file)));
    OPTIML_ASSIGN(const std::vector<NcuLaunch> launches, ParseNcuCsv(text, file));
    OPTIML_ASSIGN(NcuProfile counted, ProfileFromNcu(launches, prepared.timed_plans.front(), file));
    Timing timing = evaluation.timings.front();
    if (counted.seconds) {
      timing.kind = TimingKind::kMeasured;
      timing.median_s = *counted.seconds;
    }
    evaluation.profile = std::move(counted.profile);
    evaluation.diagnosis =
        Diagnose(*evaluation.profile, timing, bench.device->Info(), evaluation.resources);
    return {};
  }

  // The floors at a timed shape; absent where the task says no cost.
  struct Floors {
    std::optional<TargetFloor> target;
    double reject_s = 0;  // 0: none
  };
  static Floors FloorsAt(const std::string& shape, const Workbench& bench) {
    const DeviceInfo& device = bench.device->Info();
    for (const SizeRow& row : bench.task->timed) {
      if (row.Text() == shape) {
        return {TargetFloorOf(WorkOf(*bench.task, row.sizes), device.dram_bytes_per_s,
                              device.fp32_flops_per_s, device.peaks),
                PhysicalFloor(*bench.task, row.sizes, device)};
      }
    }
    return {};
  }
  static std::string FloorText(const Timing& timing, const Workbench& bench) {
    const Floors floors = FloorsAt(timing.shape, bench);
    if (!floors.target) {
      return "";
    }
    return fmt::format("    {:.2f} times the target floor of {} ({})\n",
                       timing.median_s / floors.target->seconds,
                       FormatSeconds(floors.target->seconds), floors.target->basis);
  }
  static Json FloorJson(const Timing& timing, const Workbench& bench) {
    const Floors floors = FloorsAt(timing.shape, bench);
    if (!floors.target) {
      return nullptr;
    }
    return {{"target_s", floors.target->seconds},
            {"target_basis", floors.target->basis},
            {"times_the_target", timing.median_s / floors.target->seconds},
            {"reject_s", floors.reject_s > 0 ? Json(floors.reject_s) : Json(nullptr)}};
  }

  // Why the GPU's own counters cannot be had; empty where nothing speaks against them.
  static std::string WhyNoCounters(const Workbench& bench) {
    const auto* counters = dynamic_cast<const HardwareCounters*>(bench.device.get());
    return counters == nullptr ? "" : counters->WhyNoCounters();
  }

  static std::string ToText(const Evaluation& evaluation, const Workbench& bench) {
    const DeviceInfo& device = bench.device->Info();
    std::string out = fmt::format("{} on {}\n\n", bench.task->name, device.name);
    for (const Timing& timing : evaluation.timings) {
      out +=
          fmt::format("  {:<36} {} {} ({} to {})\n", timing.shape, FormatSeconds(timing.median_s),
                      timing.kind == TimingKind::kMeasured ? "measured" : "predicted",
                      FormatSeconds(timing.low_s), FormatSeconds(timing.high_s));
      out += FloorText(timing, bench);
      out += timing.clock.empty() ? "" : fmt::format("    clock: {}\n", timing.clock);
    }
    for (const KernelResources& kernel : evaluation.resources) {
      out += fmt::format(
          "  {}: {} registers, {} shared, {} spilled\n", kernel.name_expression, kernel.registers,
          FormatQuantity(static_cast<double>(kernel.static_shared_bytes), "byte"),
          FormatQuantity(static_cast<double>(kernel.spill_store_bytes + kernel.spill_load_bytes),
                         "byte"));
    }
    if (evaluation.diagnosis) {
      const Diagnosis& diagnosis = *evaluation.diagnosis;
      out += fmt::format("\n{} bound: {}\n", BoundName(diagnosis.bound), diagnosis.cause);
      for (const std::string& sentence : diagnosis.evidence) {
        out += "  " + sentence + "\n";
      }
      if (!diagnosis.speed_of_light.empty()) {
        out += fmt::format("\nshare of the machine's limits (memory: {})\n",
                           DescribeBandwidth(device.dram_bytes_per_s, device.peaks));
      }
      for (const auto& [name, ratio] : diagnosis.speed_of_light) {
        const auto filled = static_cast<size_t>(std::min(std::max(ratio, 0.0), 1.0) * 40);
        out += fmt::format("  {:<12} {}{} {}\n", name, std::string(filled, '#'),
                           std::string(40 - filled, '.'), FormatPercent(ratio));
      }
    }
    if (evaluation.profile) {
      const ProfileSource source = evaluation.profile->source;
      out += fmt::format(
          "\ncounters at {}, by {}", evaluation.timings.front().shape,
          source == ProfileSource::kEmulator ? "the emulator" : ProfileSourceName(source));
      if (const auto passes = evaluation.profile->Get(metric::kProfilerPasses)) {
        out += fmt::format(" in {:.0f} passes", *passes);
      }
      out += evaluation.profile->sampled_ratio < 1
                 ? fmt::format(", from {} of the blocks\n",
                               FormatPercent(evaluation.profile->sampled_ratio))
                 : "\n";
      if (source == ProfileSource::kEmulator && !WhyNoCounters(bench).empty()) {
        out += fmt::format("  (hardware counters: {})\n", WhyNoCounters(bench));
      }
      std::string zeros;
      for (const MetricInfo& info : MetricTable()) {
        const auto value = evaluation.profile->Get(info.id);
        if (value == 0.0) {
          zeros += fmt::format("{}{}", zeros.empty() ? "" : ", ", info.title);
        } else if (value) {
          out += fmt::format("  {:<28} {}\n", info.title, FormatQuantity(*value, info.unit));
        }
      }
      out += zeros.empty() ? "" : fmt::format("  0: {}\n", zeros);
    }
    if (IsHostMode(evaluation.launcher)) {
      out += fmt::format("\n{}\n", kHostModeNote);
    }
    return out;
  }

  static Json ToJson(const Evaluation& evaluation, const Workbench& bench) {
    Json json;
    const Rejection* rejection = evaluation.rejection();
    json["task"] = bench.task->name;
    json["device"] = bench.device->Info().name;
    if (IsHostMode(evaluation.launcher)) {
      json["launcher"] = evaluation.launcher;
      json["guarantees"] = kHostModeNote;
    }
    json["accepted"] = rejection == nullptr;
    json["stage"] = rejection == nullptr ? Json(nullptr) : Json(StageName(rejection->stage));
    json["reason"] = rejection == nullptr ? Json(nullptr) : Json(rejection->reason);
    json["timings"] = Json::array();
    for (const Timing& timing : evaluation.timings) {
      json["timings"].push_back(
          {{"shape", timing.shape},
           {"kind", timing.kind == TimingKind::kMeasured ? "measured" : "predicted"},
           {"median_s", timing.median_s},
           {"low_s", timing.low_s},
           {"high_s", timing.high_s},
           {"clock", timing.clock},
           {"floor", FloorJson(timing, bench)}});
    }
    json["diagnosis"] = nullptr;
    if (evaluation.diagnosis) {
      json["diagnosis"] = {{"bound", BoundName(evaluation.diagnosis->bound)},
                           {"cause", evaluation.diagnosis->cause},
                           {"evidence", evaluation.diagnosis->evidence},
                           {"confidence_ratio", evaluation.diagnosis->confidence_ratio},
                           {"speed_of_light", evaluation.diagnosis->speed_of_light}};
    }
    json["metrics"] = Json::object();
    json["metrics_from"] = nullptr;
    json["no_hardware_counters"] = WhyNoCounters(bench);
    if (evaluation.profile) {
      json["metrics_from"] = ProfileSourceName(evaluation.profile->source);
      for (const auto& [id, metric] : evaluation.profile->metrics) {
        json["metrics"][id] = {{"value", metric.value}, {"unit", metric.unit}};
      }
    }
    return json;
  }

  TaskOptions task_;
  std::string kernel_;
  std::string ncu_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeProfileCommand() {
  return std::make_unique<ProfileCommand>();
}

}  // namespace optiml
