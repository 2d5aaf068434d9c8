// optiml doctor: what is on this machine, and what follows.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/task_options.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// A context takes half of it, guard bands and copies of small tasks the rest.
constexpr double kLittleMemory = 1.5e9;

enum class Verdict { kOk, kMissing, kBroken };  // broken: the main job cannot run

struct Finding {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string what;
  std::string follows;  // what it means; empty when all is well
};

std::string Described(const ProgramFact& program) {
  return program.path.empty()
             ? "not found"
             : program.path.string() + (program.version.empty() ? "" : ", " + program.version);
}

// The nearest folder above `folder` that is there.
fs::path Existing(fs::path folder) {
  std::error_code ignored;
  while (!folder.empty() && !fs::exists(folder, ignored) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

using Findings = std::vector<Finding>;

std::string CudaVersion(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

void AddToolchain(const MachineFacts& facts, Findings& findings) {
  findings.push_back(
      {"front end", Verdict::kOk, "Clang " + facts.clang_version + ", linked in", ""});
  if (!facts.toolchain) {
    findings.push_back({"NVRTC", Verdict::kBroken, facts.toolchain.error().message(),
                        "no kernel can be compiled"});
    return;
  }
  const ToolchainInfo& info = *facts.toolchain;
  findings.push_back(
      {"NVRTC", Verdict::kOk, fmt::format("{}, {}", info.nvrtc_version, info.nvrtc.string()), ""});
  const bool headers = !info.include_directory.empty();
  findings.push_back({"CUDA headers", headers ? Verdict::kOk : Verdict::kMissing,
                      headers ? info.include_directory.string() : "not found",
                      headers ? "" : "kernels that include CUDA's own headers do not compile"});
}

void AddPrograms(const MachineFacts& facts, Findings& findings) {
  findings.push_back({"C++ compiler", facts.compiler.path.empty() ? Verdict::kBroken : Verdict::kOk,
                      Described(facts.compiler),
                      facts.compiler.path.empty() ? "host references and launchers that must be "
                                                    "recorded cannot be compiled; install a C++ "
                                                    "compiler"
                                                  : ""});
  if (facts.sandbox) {
    findings.push_back({"sandbox", Verdict::kOk, Described(facts.bubblewrap), ""});
  } else {
    findings.push_back(
        {"sandbox", Verdict::kMissing, facts.sandbox.error().message(),
         "host references and launchers that must be recorded run only with --unconfined"});
  }
  findings.push_back({"nvcc", facts.nvcc.path.empty() ? Verdict::kMissing : Verdict::kOk,
                      Described(facts.nvcc),
                      facts.nvcc.path.empty() ? "nothing: kernels are compiled without it" : ""});
}

void AddCache(const std::optional<fs::path>& cache, Findings& findings) {
  if (!cache) {
    findings.push_back({"cache", Verdict::kMissing, "no folder is known (HOME is not set)",
                        "every kernel and every host reference is compiled anew"});
    return;
  }
  const fs::path existing = Existing(*cache);
  std::error_code ignored;
  const bool writable =
      fs::is_directory(existing, ignored) && access(existing.c_str(), W_OK | X_OK) == 0;
  findings.push_back({"cache", writable ? Verdict::kOk : Verdict::kMissing,
                      cache->string() + (writable ? "" : ", not writable"),
                      writable ? ""
                               : "every kernel and every host reference is compiled anew; set "
                                 "OPTIML_CACHE_DIR to a folder that can be written"});
}

// Toolkits of a later major version make what the driver need not know.
void AddDriver(const MachineFacts& facts, Findings& findings) {
  if (!facts.has_driver || facts.driver_version == 0) {
    return;
  }
  const std::string version = CudaVersion(facts.driver_version);
  const bool is_older = facts.toolchain && std::atoi(facts.toolchain->nvrtc_version.c_str()) >
                                               facts.driver_version / 1000;
  std::string number;
  for (const GpuFact& gpu : facts.gpus) {
    if (number.empty() && gpu.nvml) {
      number = gpu.nvml->driver_version.value.value_or("");
    }
  }
  findings.push_back(
      {"driver", is_older ? Verdict::kMissing : Verdict::kOk,
       fmt::format("{}{}for {}{}", number, number.empty() ? "" : ", ", version,
                   is_older ? ", older than NVRTC " + facts.toolchain->nvrtc_version : ""),
       is_older ? fmt::format("it may not load what NVRTC makes: update the driver, or name a "
                              "toolkit of {} or earlier with OPTIML_CUDA_HOME",
                              version)
                : ""});
}

// The GPU that the command looks at; null where there is none.
const GpuFact* AddGpu(const MachineFacts& facts, size_t ordinal, Findings& findings) {
  if (ordinal < facts.gpus.size()) {
    std::string names;
    for (const GpuFact& gpu : facts.gpus) {
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", gpu.name, gpu.architecture);
    }
    findings.push_back({"GPU", Verdict::kOk, names, ""});
    return &facts.gpus[ordinal];
  }
  findings.push_back({"GPU", Verdict::kMissing,
                      !facts.has_driver               ? "no driver (libcuda.so.1)"
                      : !facts.driver_problem.empty() ? facts.driver_problem
                      : facts.gpus.empty()
                          ? "the driver lists none"
                          : fmt::format("number {} was asked for, the driver lists {} "
                                        "(the first is 0)",
                                        ordinal, facts.gpus.size()),
                      "kernels run on the emulator, and times are predicted, not measured"});
  return nullptr;
}

std::string OrUnknown(const cuda::NvmlValue<double>& value, double unit, const char* name) {
  return value.value ? fmt::format("{:.0f} {}", *value.value / unit, name)
                     : fmt::format("? {} ({})", name, value.why_not);
}

std::string OnOff(const char* name, const cuda::NvmlValue<bool>& value) {
  return fmt::format("{} {}", name, !value.value ? "not known" : *value.value ? "on" : "off");
}

void AddClocks(const cuda::NvmlFacts& nvml, Findings& findings) {
  findings.push_back({"NVML", Verdict::kOk,
                      OnOff("ECC", nvml.ecc) + ", " + OnOff("persistence", nvml.persistence), ""});
  std::string what = fmt::format(
      "SM {} of {}, memory {} of {}, {}, {} of {}", OrUnknown(nvml.sm_hz, 1e6, "MHz"),
      OrUnknown(nvml.most_sm_hz, 1e6, "MHz"), OrUnknown(nvml.memory_hz, 1e6, "MHz"),
      OrUnknown(nvml.most_memory_hz, 1e6, "MHz"), OrUnknown(nvml.temperature_celsius, 1, "C"),
      OrUnknown(nvml.power_watts, 1, "W"), OrUnknown(nvml.power_limit_watts, 1, "W"));
  const bool throttled = nvml.throttling.value && !nvml.throttling.value->empty();
  what += throttled ? fmt::format("; held down: {}", fmt::join(*nvml.throttling.value, ", "))
          : nvml.throttling.value ? "; no throttling"
                                  : "; throttling not known (" + nvml.throttling.why_not + ")";
  findings.push_back({"clocks", throttled ? Verdict::kMissing : Verdict::kOk, what,
                      throttled ? "times are longer than those of the full clock" : ""});
}

void AddMemory(const cuda::NvmlFacts& nvml, Findings& findings) {
  if (!nvml.free_bytes.value || !nvml.total_bytes.value) {
    findings.push_back({"GPU memory", Verdict::kMissing, "not known: " + nvml.free_bytes.why_not,
                        "whether a task fits shows when it is run"});
  } else {
    const auto free_bytes = static_cast<double>(*nvml.free_bytes.value);
    const bool little = free_bytes < kLittleMemory;
    findings.push_back({"GPU memory", little ? Verdict::kMissing : Verdict::kOk,
                        fmt::format("{:.1f} of {:.1f} GB free", free_bytes / 1e9,
                                    static_cast<double>(*nvml.total_bytes.value) / 1e9),
                        little ? "there may be no room for a context and buffers: kernels may not "
                                 "run on the GPU until others end"
                               : ""});
  }
  if (!nvml.processes.value) {
    findings.push_back({"other work", Verdict::kMissing, "not known: " + nvml.processes.why_not,
                        "whether others disturb times is not known"});
    return;
  }
  std::string others;
  for (const cuda::NvmlProcess& process : *nvml.processes.value) {
    others += fmt::format(
        "{}process {}{}", others.empty() ? "" : ", ", process.pid,
        process.bytes ? fmt::format(" ({:.1f} GB)", static_cast<double>(*process.bytes) / 1e9)
                      : "");
  }
  findings.push_back({"other work", others.empty() ? Verdict::kOk : Verdict::kMissing,
                      others.empty() ? "no other process computes on the GPU" : others,
                      others.empty() ? "" : "times may be disturbed while they compute"});
}

void AddNvml(const GpuFact& gpu, Findings& findings) {
  if (!gpu.nvml) {
    findings.push_back({"NVML", Verdict::kMissing, gpu.nvml_problem,
                        "clocks, temperature and throttling do not stand beside times"});
    return;
  }
  const cuda::NvmlFacts& nvml = *gpu.nvml;
  AddClocks(nvml, findings);
  AddMemory(nvml, findings);
  const bool mig = nvml.is_mig_slice || nvml.mig_mode.value.value_or(false);
  findings.push_back(
      {"MIG", Verdict::kOk,
       nvml.is_mig_slice ? fmt::format("this is a slice: {} multiprocessors, {:.1f} MB of L2",
                                       gpu.multiprocessors, static_cast<double>(gpu.l2_bytes) / 1e6)
                         : OnOff("mode", nvml.mig_mode),
       mig && !nvml.is_mig_slice ? "CUDA sees slices alone: name one with CUDA_VISIBLE_DEVICES"
                                 : ""});
}

void AddPeaks(const GpuFact& gpu, size_t ordinal, Findings& findings) {
  if (!gpu.peaks) {
    findings.push_back(
        {"peaks", Verdict::kMissing, "not measured with this driver",
         fmt::format("fractions and target floors are of stated rates; `optiml doctor "
                     "--measure-peaks{}` measures (it takes some seconds)",
                     ordinal > 0 ? fmt::format(" --device cuda:{}", ordinal) : "")});
    return;
  }
  const MeasuredPeaks& peaks = *gpu.peaks;
  std::string what;
  const auto add = [&](const char* name, double rate, double unit, const char* unit_name) {
    if (rate > 0) {
      what += fmt::format("{}{} {:.3g} {}", what.empty() ? "" : ", ", name, rate / unit, unit_name);
    }
  };
  add("memory", peaks.dram_read_bytes_per_s, 1e12, "TB/s read");
  add("and", peaks.dram_copy_bytes_per_s, 1e12, "TB/s copied");
  add("L2", peaks.l2_bytes_per_s, 1e12, "TB/s");
  add("shared", peaks.shared_bytes_per_s, 1e12, "TB/s");
  add("fp32", peaks.fp32_flops_per_s, 1e12, "TFLOP/s");
  add("f16 mma", peaks.tensor_flops_per_s, 1e12, "TFLOP/s");
  add("a launch", peaks.launch_s, 1e-6, "us");
  findings.push_back({"peaks", Verdict::kOk,
                      fmt::format("{}; {}{}", what, peaks.date,
                                  peaks.driver.empty() ? "" : ", driver " + peaks.driver),
                      ""});
}

Findings Judge(const MachineFacts& facts, size_t ordinal, const std::optional<fs::path>& cache) {
  Findings findings;
  AddToolchain(facts, findings);
  AddPrograms(facts, findings);
  AddDriver(facts, findings);
  if (const GpuFact* gpu = AddGpu(facts, ordinal, findings)) {
    AddNvml(*gpu, findings);
    AddPeaks(*gpu, ordinal, findings);
  }
  AddCache(cache, findings);
  return findings;
}

// What is not known is null, and "not_known" has the reason.
Json ToJson(const cuda::NvmlFacts& nvml) {
  Json json = Json::object();
  Json not_known = Json::object();
  const auto add = [&](const char* key, const auto& value) {
    json[key] = value.value ? Json(*value.value) : Json(nullptr);
    if (!value.value) {
      not_known[key] = value.why_not;
    }
  };
  add("driver_version", nvml.driver_version);
  add("cuda_version", nvml.cuda_version);
  add("uuid", nvml.uuid);
  add("sm_hz", nvml.sm_hz);
  add("most_sm_hz", nvml.most_sm_hz);
  add("memory_hz", nvml.memory_hz);
  add("most_memory_hz", nvml.most_memory_hz);
  add("temperature_celsius", nvml.temperature_celsius);
  add("power_watts", nvml.power_watts);
  add("power_limit_watts", nvml.power_limit_watts);
  add("throttling", nvml.throttling);
  add("mig_mode", nvml.mig_mode);
  json["is_mig_slice"] = nvml.is_mig_slice;
  add("ecc", nvml.ecc);
  add("persistence", nvml.persistence);
  add("free_bytes", nvml.free_bytes);
  add("total_bytes", nvml.total_bytes);
  cuda::NvmlValue<Json> processes;
  processes.why_not = nvml.processes.why_not;
  if (nvml.processes.value) {
    processes.value = Json::array();
    for (const cuda::NvmlProcess& process : *nvml.processes.value) {
      processes.value->push_back(
          {{"pid", process.pid}, {"bytes", process.bytes ? Json(*process.bytes) : Json(nullptr)}});
    }
  }
  add("processes", processes);
  json["not_known"] = std::move(not_known);
  return json;
}

Json ToJson(const MeasuredPeaks& peaks) {
  return {{"date", peaks.date},
          {"driver", peaks.driver},
          {"dram_read_bytes_per_s", peaks.dram_read_bytes_per_s},
          {"dram_copy_bytes_per_s", peaks.dram_copy_bytes_per_s},
          {"l2_bytes_per_s", peaks.l2_bytes_per_s},
          {"shared_bytes_per_s", peaks.shared_bytes_per_s},
          {"fp32_flops_per_s", peaks.fp32_flops_per_s},
          {"tensor_flops_per_s", peaks.tensor_flops_per_s},
          {"launch_s", peaks.launch_s}};
}

Json ToJson(const std::vector<GpuFact>& gpus) {
  Json json = Json::array();
  for (const GpuFact& gpu : gpus) {
    json.push_back({{"name", gpu.name},
                    {"architecture", gpu.architecture},
                    {"uuid", gpu.uuid},
                    {"pci_bus_id", gpu.pci_bus_id},
                    {"multiprocessors", gpu.multiprocessors},
                    {"l2_bytes", gpu.l2_bytes},
                    {"nvml", gpu.nvml ? ToJson(*gpu.nvml) : Json(nullptr)},
                    {"nvml_problem", gpu.nvml_problem},
                    {"peaks", gpu.peaks ? ToJson(*gpu.peaks) : Json(nullptr)}});
  }
  return json;
}

Finding OfCounters(const CounterCheck& check) {
  return {"counters", check.can_count ? Verdict::kOk : Verdict::kMissing, check.what,
          check.follows};
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kMissing:
      return "missing";
    case Verdict::kBroken:
      return "broken";
  }
  return "broken";
}

class DoctorCommand : public Command {
 public:
  std::string Name() const override { return "doctor"; }
  std::string Summary() const override { return "what is on this machine, and what follows"; }
  std::string Example() const override {
    return "Examples\n"
           "  optiml doctor\n"
           "  optiml doctor --measure-peaks      (bandwidths and rates of the GPU, once)\n"
           "\n"
           "Exit status 3 means that kernels cannot be optimised here, or that there is no GPU to "
           "be\n"
           "measured.";
  }
  void Declare(CLI::App& app) override {
    AddGpuChoice(app, device_);
    app.add_flag("--measure-peaks", measure_,
                 "measure what the GPU's memory, caches and pipes reach, and keep it: reports and "
                 "profiles compare with it")
        ->group("GPU");
    app.add_flag("--json", json_, "print the findings as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    std::vector<std::string> notes;
    if (measure_) {
      OPTIML_ASSIGN(notes, Measure(env, tools));
    }
    const MachineFacts facts = tools.InspectMachine(PeaksFolder(env));
    const size_t ordinal =
        device_.size() > 5 ? static_cast<size_t>(std::atoi(device_.c_str() + 5)) : 0;
    Findings findings = Judge(facts, ordinal, env.CacheDirectory());
    if (!facts.gpus.empty()) {
      findings.push_back(OfCounters(tools.TryCounters(GpuChoice(env))));
    }
    const bool broken = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
      return finding.verdict == Verdict::kBroken;
    });
    *env.out << (json_ ? JsonOf(findings, facts, notes, broken) : TextOf(findings, notes, broken));
    return broken ? kExitEnvironment : kExitDone;
  }

 private:
  DeviceChoice GpuChoice(const CliEnv& env) const {
    DeviceChoice choice;
    choice.kind = device_;
    choice.stop = env.stop;
    choice.peaks = PeaksFolder(env);
    return choice;
  }

  // What is worth telling of the measurement.
  Result<std::vector<std::string>> Measure(const CliEnv& env, Toolbox& tools) const {
    const DeviceChoice choice = GpuChoice(env);
    if (choice.peaks.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "--measure-peaks: there is no folder to keep them in (set OPTIML_CACHE_DIR)");
    }
    // "2026-11-30" of "2026-11-30T22:31:20Z".
    OPTIML_ASSIGN(PeakOutcome outcome,
                  tools.MeasurePeaks(choice, env.clock->WallTime().substr(0, 10)));
    return std::move(outcome.notes);
  }

  static std::string TextOf(const Findings& findings, const std::vector<std::string>& notes,
                            bool broken) {
    std::string text = fmt::format("OptiML {}\n\n", OPTIML_VERSION);
    for (const Finding& finding : findings) {
      text += fmt::format("{:<8} {:<13} {}\n", VerdictName(finding.verdict), finding.name,
                          finding.what);
      if (!finding.follows.empty()) {
        text += fmt::format("{:<22} -> {}\n", "", finding.follows);
      }
    }
    for (const std::string& note : notes) {
      text += fmt::format("\nnote: {}", note);
    }
    text += notes.empty() ? "" : "\n";
    return text + "\n" +
           (broken ? "kernels cannot be optimised here: mend what is broken"
                   : "ready: try `optiml optimize examples/softmax`") +
           "\n";
  }

  static std::string JsonOf(const Findings& findings, const MachineFacts& facts,
                            const std::vector<std::string>& notes, bool broken) {
    Json rows = Json::array();
    for (const Finding& finding : findings) {
      rows.push_back({{"name", finding.name},
                      {"verdict", VerdictName(finding.verdict)},
                      {"what", finding.what},
                      {"follows", finding.follows}});
    }
    const Json json = {{"version", OPTIML_VERSION},
                       {"ready", !broken},
                       {"findings", rows},
                       {"gpus", ToJson(facts.gpus)},
                       {"notes", notes}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  std::string device_ = "cuda";
  bool measure_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDoctorCommand() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace optiml
