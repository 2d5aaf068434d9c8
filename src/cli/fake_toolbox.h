#ifndef OPTIML_CLI_FAKE_TOOLBOX_H_
#define OPTIML_CLI_FAKE_TOOLBOX_H_

// A command line inside a test: streams that are strings, a folder of its own with a task in it,
// and a toolbox whose parts answer from a script. Included by tests only.

#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_system.h"
#include "cli/cli.h"
#include "cli/open_model.h"
#include "device/fake_device.h"
#include "llm/scripted_chat_model.h"
#include "report/sample_run.h"

namespace optiml {

class FakeBuilder : public Builder {
 public:
  explicit FakeBuilder(Result<ToolchainInfo> toolchain) : toolchain_(std::move(toolchain)) {}
  Result<BuildOutcome> Build(const BuildRequest&) override {
    return Error(ErrorCode::kUnavailable, "the fake builder builds nothing");
  }
  Result<ToolchainInfo> Toolchain() override { return toolchain_; }

 private:
  Result<ToolchainInfo> toolchain_;
};

// Accepts every kernel whose text does not hold the word "wrong".
class FakeVerifier : public Verifier {
 public:
  FakeVerifier(const KernelTask& task, Device& device, Result<std::vector<BatteryVerdict>> battery,
               bool throws_bad_alloc)
      : task_(task),
        device_(device),
        battery_(std::move(battery)),
        throws_bad_alloc_(throws_bad_alloc) {}

  Result<std::variant<PreparedCandidate, Rejection>> Prepare(const KernelSource& source,
                                                             Evaluation& evaluation) override {
    using Outcome = std::variant<PreparedCandidate, Rejection>;
    if (source.text().find("broken") != std::string::npos) {
      return Outcome(Rejection{Stage::kBuild, source.path() + ":3: expected a ';'"});
    }
    if (source.text().find("untraceable") != std::string::npos) {
      return Outcome(Rejection{Stage::kPlan, source.path() + ":5: launcher uses goto", true});
    }
    if (source.text().find("reads back") != std::string::npos) {
      evaluation.launcher = "host mode";
    }
    PreparedCandidate candidate;
    candidate.source = source;
    candidate.checked_plans.resize(task_.checked.size());
    LaunchPlan launches;
    KernelLaunch launch;
    launch.kernel = "copy_kernel";
    launches.steps.emplace_back(std::move(launch));
    candidate.timed_plans.assign(task_.timed.size(), launches);
    candidate.artifact.ptx = ".version 8.0\n";
    return Outcome(std::move(candidate));
  }
  Result<std::optional<Rejection>> Trace(PreparedCandidate& candidate,
                                         Evaluation& evaluation) override {
    if (candidate.source.text().find("for ever") == std::string::npos) {
      return std::optional<Rejection>();
    }
    const Rejection rejection{Stage::kPlan, "launcher reads back more than 10000 times", true};
    evaluation.outcome = rejection;
    return std::optional(rejection);
  }
  Result<void> Verify(const PreparedCandidate& candidate, Evaluation& evaluation) override {
    OPTIML_TRY(RunSomething());
    evaluation.verify = VerifyReport{};
    evaluation.verify->cases_run = 12;
    if (candidate.source.text().find("wrong") != std::string::npos) {
      evaluation = sample::RejectWithMismatch();
    }
    return {};
  }
  // Refuses kernels that say "small": they are right at the checked sizes alone.
  Result<void> VerifyTimed(const PreparedCandidate& candidate, Evaluation& evaluation) override {
    if (candidate.source.text().find("small") != std::string::npos) {
      evaluation.outcome = Rejection{Stage::kL2, "at the timed n=4096: y[0] is unwritten"};
    }
    return {};
  }
  Result<std::vector<BatteryVerdict>> Battery() override {
    OPTIML_TRY(RunSomething());
    return battery_;
  }
  std::vector<std::string> DroppedCases() const override { return {}; }
  Result<std::vector<const TaskInputs*>> TimedInputs(size_t) override {
    return std::vector<const TaskInputs*>{};  // the device predicts
  }
  Result<std::optional<Rejection>> CheckTimed(size_t, const LaunchPlan&, TimeOutcome&,
                                              Evaluation&) override {
    return std::optional<Rejection>();
  }

 private:
  // As a real one, it works with the device that it was given.
  Result<void> RunSomething() {
    if (throws_bad_alloc_) {
      throw std::bad_alloc();
    }
    const Artifact artifact;
    const LaunchPlan plan;
    RunRequest request;
    request.artifact = &artifact;
    request.plan = &plan;
    OPTIML_TRY(device_.Run(request));
    return {};
  }

  const KernelTask& task_;
  Device& device_;
  Result<std::vector<BatteryVerdict>> battery_;
  bool throws_bad_alloc_ = false;
};

class FakeToolbox : public Toolbox {
 public:
  Result<ToolchainInfo> toolchain = ToolchainInfo{"13.0", "/lib/nvrtc.so", ""};
  Result<std::vector<BatteryVerdict>> battery =
      std::vector<BatteryVerdict>{{"zeros", "rejected", "y[0]: expected 1, got 0"}};
  bool gpu_driver = false;        // a driver without a usable GPU
  bool models_down = false;       // no language model can be opened
  bool throws_bad_alloc = false;  // the verifier, at whatever it is asked
  MachineFacts facts;
  CounterCheck counters;
  std::optional<ArgRole> y_role = ArgRole::kOut;  // what the kernels do with y
  // Continues or makes a run; the store is parts.store.
  std::function<Result<RunRecord>(const SessionParts&, const SessionOptions&, const RunRecord&)>
      session;
  // What a process of the program does; absent: it runs.
  std::function<std::optional<Result<ProcessOutcome>>(const std::vector<std::string>&,
                                                      const ProcessLimits&)>
      program;
  Result<int64_t> replay = int64_t{5};
  std::map<std::string, DeviceInfo> gpus;           // by kind: "cuda:1"
  std::vector<SessionOptions> session_options;      // of every call
  std::vector<ReferenceOptions> reference_options;  // of every call
  std::vector<std::string> model_specs;             // of every model that was opened
  std::vector<DeviceChoice> measured_on;            // of every measurement of peaks

  std::unique_ptr<Builder> MakeBuilder(const std::filesystem::path&) override {
    return std::make_unique<FakeBuilder>(toolchain);
  }
  bool HasGpuDriver() override { return gpu_driver; }

  Result<std::unique_ptr<Device>> MakeDevice(const DeviceChoice& choice) override {
    if (const auto gpu = gpus.find(choice.kind); gpu != gpus.end()) {
      auto device = std::make_unique<FakeDevice>();
      device->info = gpu->second;
      device->info.capabilities.measures_time = true;
      return std::unique_ptr<Device>(std::move(device));
    }
    if (choice.kind.starts_with("cuda")) {
      return Error(ErrorCode::kUnavailable, "the GPU has fallen off the bus");
    }
    if (choice.description == "h100") {
      return Error(ErrorCode::kNotFound, "unknown device \"h100\" (known: h200)");
    }
    auto device = std::make_unique<FakeDevice>();
    device->info.prediction_error_factor = 1.4;
    device->info.name = choice.description + " (emulated)";
    return std::unique_ptr<Device>(std::move(device));
  }
  Result<std::unique_ptr<EmulatorDevice>> MakeEmulator(const DeviceChoice& choice) override {
    EmulatorOptions options;
    options.model = choice.description;
    options.stop = choice.stop;
    return EmulatorDevice::Make(options);
  }
  Result<std::unique_ptr<HostReference>> MakeReference(const KernelTask&,
                                                       const ReferenceOptions& options) override {
    reference_options.push_back(options);
    return Error(ErrorCode::kParse, "reference.cpp:4: expected a ';'");
  }
  Result<std::unique_ptr<Verifier>> MakeVerifier(const KernelTask& task, Builder&, Device& device,
                                                 HostReference*, const VerifierOptions&) override {
    return std::unique_ptr<Verifier>(
        std::make_unique<FakeVerifier>(task, device, battery, throws_bad_alloc));
  }
  Result<std::vector<LauncherFact>> LauncherFacts(const KernelSource& source,
                                                  const std::filesystem::path&) override {
    if (source.text().find("unparsable") != std::string::npos) {
      return Error(ErrorCode::kParse, source.path() + ":1: unparsable");
    }
    std::vector<LauncherFact> launcher = {{"x", true, true, DType::kF32, 2, ArgRole::kIn, "", {}},
                                          {"y", true, false, DType::kF32, 2, y_role, "", {}},
                                          {"n", false, false, DType::kI32, 2, {}, "", {}}};
    return launcher;
  }
  Result<std::string> DescribeSource(const KernelSource& source,
                                     const std::filesystem::path&) override {
    return "function " + source.entry() + "\n";
  }
  Result<RunRecord> RunSession(const SessionParts& parts, const SessionOptions& options,
                               const RunRecord& record) override {
    session_options.push_back(options);
    OPTIML_CHECK(static_cast<bool>(session), "the test scripts no session");
    return session(parts, options, record);
  }
  Result<int64_t> ReplaySearch(const RunRecord&) override { return replay; }
  Result<ProcessOutcome> RunProgram(const std::vector<std::string>& arguments, const CliEnv& env,
                                    const ProcessLimits& limits) override {
    if (program) {
      if (auto scripted = program(arguments, limits)) {
        return *std::move(scripted);
      }
    }
    // The same program, inside of this one.
    std::ostringstream out;
    std::ostringstream err;
    CliEnv inner = env;
    inner.out = &out;
    inner.err = &err;
    ProcessOutcome outcome;
    outcome.exit_code = RunCli(arguments, inner, *this);
    outcome.standard_output = out.str();
    outcome.standard_error = err.str();
    return outcome;
  }
  Result<std::unique_ptr<ChatModel>> MakeChatModel(
      const std::string& spec, const CliEnv& env,
      const std::shared_ptr<ModelLedger>& budget) override {
    if (spec.starts_with("script:")) {
      return OpenModelByName(spec, env, budget);
    }
    model_specs.push_back(spec);
    if (models_down || spec.starts_with("down")) {
      return Error(ErrorCode::kUnavailable, "no route to the endpoint");
    }
    return std::unique_ptr<ChatModel>(
        std::make_unique<ScriptedChatModel>(std::deque<std::string>{"{}"}));
  }
  MachineFacts InspectMachine(const std::filesystem::path&) override { return facts; }
  Result<PeakOutcome> MeasurePeaks(const DeviceChoice& choice, const std::string& date) override {
    measured_on.push_back(choice);
    if (facts.gpus.empty()) {
      return Error(ErrorCode::kUnavailable, "no NVIDIA driver: install one");
    }
    PeakOutcome outcome;
    outcome.peaks.date = date;
    outcome.peaks.dram_read_bytes_per_s = 4.31e12;
    outcome.notes = {"f16 tensor: fault: illegal instruction"};
    facts.gpus.front().peaks = outcome.peaks;
    return outcome;
  }
  CounterCheck TryCounters(const DeviceChoice& choice) override {
    counted_on = choice.kind;
    return counters;
  }
  std::string counted_on;
};

// A disk that is full: files of this process may not grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int) = nullptr;
};

// One folder with tasks in it, and the streams of one command line.
class CommandLine {
 public:
  CommandLine() : folder_(Folder()) {
    env.out = &out;
    env.err = &err;
    env.working_directory = folder_.path();
    env.variables = {{"OPTIML_CACHE_DIR", "cache"}};
    env.clock = &clock;
    env.stop = &stop;
    Write("copy/kernel.cu",
          "__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"
          "extern \"C\" void copy(const float* x, float* y, int n) { k<<<1, 1>>>(x, y, n); }\n");
    Write("copy/task.toml",
          "[task]\nname = \"copy\"\nsource = \"kernel.cu\"\nentry = \"copy\"\n"
          "[sizes]\ntimed = [ { n = 4096 } ]\nchecked = [ { n = 33 } ]\n"
          "[args]\nx = { dtype = \"f32\", shape = [\"n\"], fill = \"normal\" }\n"
          "y = { dtype = \"f32\", shape = [\"n\"], role = \"out\" }\nn = {}\n"
          "[reference]\nkind = \"original\"\n");
    tools.session = [this](const SessionParts& parts, const SessionOptions&,
                           const RunRecord& record) { return Finish(parts, record); };
  }

  int Run(const std::vector<std::string>& arguments) {
    out.str("");
    err.str("");
    return RunCli(arguments, env, tools);
  }

  fs::path Path(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& text) {
    const fs::path file = Path(name);
    OPTIML_CHECK(CreateDirectories(file.parent_path()).has_value(), "a test's own folder");
    OPTIML_CHECK(WriteFileAtomically(file, text).has_value(), "a test's own file");
  }
  std::string Read(const std::string& name) const {
    const auto text = ReadFile(Path(name));
    return text ? *text : "";
  }
  bool Exists(const std::string& name) const { return fs::exists(Path(name)); }
  size_t FilesIn(const std::string& name) const {
    return Exists(name) ? static_cast<size_t>(std::distance(fs::directory_iterator(Path(name)),
                                                            fs::directory_iterator()))
                        : 0;
  }

  // A session that finds what the report's sample found.
  static Result<RunRecord> Finish(const SessionParts& parts, RunRecord record) {
    const RunRecord found = sample::FinishedRun();
    for (size_t i = record.nodes.size(); i < found.nodes.size(); ++i) {
      OPTIML_TRY(parts.store->AppendNode(found.nodes[i]));
    }
    OPTIML_TRY(parts.store->SaveResult(*found.result));
    OPTIML_TRY(parts.store->SetState(RunState::kFinished, ""));
    return parts.store->Load();
  }

  std::ostringstream out;
  std::ostringstream err;
  FakeClock clock;
  std::atomic<bool> stop{false};
  CliEnv env;
  FakeToolbox tools;

 private:
  static TemporaryDirectory Folder() {
    auto folder = TemporaryDirectory::Create("optiml-cli-");
    OPTIML_CHECK(folder.has_value(), "a test needs a folder");
    return *std::move(folder);
  }
  TemporaryDirectory folder_;
};

}  // namespace optiml

#endif  // OPTIML_CLI_FAKE_TOOLBOX_H_
