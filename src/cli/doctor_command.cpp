// optiml doctor: what is on this machine, and what follows.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

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

std::vector<Finding> Judge(const MachineFacts& facts, const std::optional<fs::path>& cache) {
  std::vector<Finding> findings;
  findings.push_back(
      {"front end", Verdict::kOk, "Clang " + facts.clang_version + ", linked in", ""});
  if (facts.toolchain) {
    const ToolchainInfo& info = *facts.toolchain;
    findings.push_back({"NVRTC", Verdict::kOk,
                        fmt::format("{}, {}", info.nvrtc_version, info.nvrtc.string()), ""});
    const bool headers = !info.include_directory.empty();
    findings.push_back({"CUDA headers", headers ? Verdict::kOk : Verdict::kMissing,
                        headers ? info.include_directory.string() : "not found",
                        headers ? "" : "kernels that include CUDA's own headers do not compile"});
  } else {
    findings.push_back({"NVRTC", Verdict::kBroken, facts.toolchain.error().message(),
                        "no kernel can be compiled"});
  }
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
  if (!facts.gpus.empty()) {
    std::string names;
    for (const GpuFact& gpu : facts.gpus) {
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", gpu.name, gpu.architecture);
    }
    findings.push_back({"GPU", Verdict::kOk,
                        fmt::format("{}; driver for CUDA {}", names, facts.driver_version), ""});
  } else {
    findings.push_back({"GPU", Verdict::kMissing,
                        !facts.has_driver              ? "no driver (libcuda.so.1)"
                        : facts.driver_problem.empty() ? "the driver lists none"
                                                       : facts.driver_problem,
                        "kernels run on the emulator, and times are predicted, not measured"});
  }
  if (!cache) {
    findings.push_back({"cache", Verdict::kMissing, "no folder is known (HOME is not set)",
                        "every kernel and every host reference is compiled anew"});
  } else {
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
  return findings;
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
    return "Example\n  optiml doctor\n\nExit status 3 means that kernels cannot be optimised here.";
  }
  void Declare(CLI::App& app) override {
    app.add_flag("--json", json_, "print the findings as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    const MachineFacts facts = tools.InspectMachine();
    std::vector<Finding> findings = Judge(facts, env.CacheDirectory());
    if (!facts.gpus.empty()) {
      findings.push_back(OfCounters(tools.TryCounters()));
    }
    bool broken = false;
    Json json = Json::array();
    std::string text;
    for (const Finding& finding : findings) {
      broken |= finding.verdict == Verdict::kBroken;
      json.push_back({{"name", finding.name},
                      {"verdict", VerdictName(finding.verdict)},
                      {"what", finding.what},
                      {"follows", finding.follows}});
      text += fmt::format("{:<8} {:<13} {}\n", VerdictName(finding.verdict), finding.name,
                          finding.what);
      if (!finding.follows.empty()) {
        text += fmt::format("{:<22} -> {}\n", "", finding.follows);
      }
    }
    const char* conclusion = broken ? "kernels cannot be optimised here: mend what is broken"
                                    : "ready: try `optiml optimize examples/softmax`";
    if (json_) {
      *env.out << Json{{"version", OPTIML_VERSION}, {"ready", !broken}, {"findings", json}}.dump(2)
               << "\n";
    } else {
      *env.out << "OptiML " << OPTIML_VERSION << "\n\n" << text << "\n" << conclusion << "\n";
    }
    return broken ? kExitEnvironment : kExitDone;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDoctorCommand() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace optiml
