#ifndef OPTIML_OPTIMIZE_SCRIPTED_RUN_H_
#define OPTIML_OPTIMIZE_SCRIPTED_RUN_H_

// A whole run without compiler, emulator or disk, for tests of the session: sources are the names
// of the edits joined by '+', and a script says what each costs and which are rejected.

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/fake_device.h"
#include "optimize/engines.h"
#include "optimize/interruptible_device.h"
#include "optimize/session.h"
#include "store/run_store.h"
#include "store/serialise.h"

namespace optiml {

// What the world of a test looks like. Times are seconds, by source text.
struct Script {
  std::vector<std::string> edits = {"a", "b", "c"};  // offered everywhere, unless in the chain
  std::function<double(const std::string& text)> time = [](const std::string&) { return 1e-3; };
  std::set<std::string> rejected;               // texts that L1 rejects
  std::set<std::string> illegal;                // texts that the catalogue refuses to make
  std::map<std::string, std::string> same_ptx;  // text -> the text whose PTX it has
  std::map<std::string, uint32_t> grid;         // text -> the grid it launches; 1 elsewhere
  std::set<std::string> mismatch_lifts;         // kernels whose printed-back form is wrong
  std::vector<std::string> kernels = {"k"};     // lifted
  bool regroups_floats = false;                 // what the lifts say of themselves
  std::function<void()> on_verify = [] {};
};

// Whether a text holds a part.
inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// "a" halves the time, everything else costs a little.
inline Script AIsGood() {
  Script script;
  script.time = [](const std::string& text) {
    return (Has(text, "a") ? 0.5e-3 : 1e-3) + (Has(text, "b") ? 1e-5 : 0) +
           (Has(text, "c") ? 2e-5 : 0);
  };
  return script;
}

// What the rewrites make of a text; of "root" the names alone.
inline std::string TextOf(std::span<const Edit> chain, const std::string& base = "root") {
  std::string text = base == "root" ? "" : base;
  for (const Edit& edit : chain) {
    text += (text.empty() ? "" : "+") + edit.rewrite;
  }
  return text.empty() ? "root" : text;
}

inline Edit ScriptedEdit(const std::string& name) {
  Edit edit;
  edit.rewrite = name;
  edit.summary = "does " + name;
  edit.claim = {{"work", Direction::kDown}};
  return edit;
}

class ScriptedCatalogue : public rewrite::Catalogue {
 public:
  ScriptedCatalogue(const Script& script, const std::vector<std::string>& excluded,
                    std::string base = "root")
      : script_(script), base_(std::move(base)) {
    for (const std::string& kernel : script.kernels) {
      const bool lifted = std::find(excluded.begin(), excluded.end(), kernel) == excluded.end();
      reports_.push_back(
          {kernel, lifted, lifted ? "a map" : "excluded", lifted && script.regroups_floats});
    }
  }
  const std::vector<rewrite::LiftReport>& Lifted() const override { return reports_; }
  std::vector<Edit> Propose(std::span<const Edit> chain, const Diagnosis*) const override {
    std::vector<Edit> edits;
    for (const std::string& name : script_.edits) {
      const bool used = std::any_of(chain.begin(), chain.end(),
                                    [&](const Edit& edit) { return edit.rewrite == name; });
      if (!used) {
        edits.push_back(ScriptedEdit(name));
      }
    }
    return edits;
  }
  rewrite::ApplyOutcome Apply(std::span<const Edit> chain) const override {
    const std::string text = TextOf(chain, base_);
    if (script_.illegal.contains(text)) {
      return rewrite::ApplyRefusal{"not legal here"};
    }
    return KernelSource(text, "launch", "kernel.cu");
  }
  // "identity of k1,k2": the lifted kernels, by name.
  rewrite::ApplyOutcome Identity() const override {
    std::string text;
    for (const rewrite::LiftReport& report : reports_) {
      if (report.lifted) {
        text += (text.empty() ? "identity of " : ",") + report.kernel;
      }
    }
    if (text.empty()) {
      return rewrite::ApplyRefusal{"nothing was lifted"};
    }
    return KernelSource(text, "launch", "kernel.cu");
  }

 private:
  const Script& script_;
  std::string base_;  // the text that the chain starts from
  std::vector<rewrite::LiftReport> reports_;
};

class ScriptedVerifier : public Verifier {
 public:
  ScriptedVerifier(const Script& script, const KernelTask& task, Device& device)
      : script_(script), task_(task), device_(device) {}

  Result<std::variant<PreparedCandidate, Rejection>> Prepare(const KernelSource& source,
                                                             Evaluation& evaluation) override {
    {
      const std::lock_guard lock(mutex_);  // candidates are prepared ahead
      prepared.push_back(source.text());
    }
    PreparedCandidate candidate;
    candidate.source = source;
    const auto twin = script_.same_ptx.find(source.text());
    candidate.artifact.ptx = twin == script_.same_ptx.end() ? source.text() : twin->second;
    candidate.artifact.ptx_hash = ContentHash::Of(candidate.artifact.ptx);
    evaluation.ptx_hash = candidate.artifact.ptx_hash;
    evaluation.launcher = "interpreted";
    for (size_t i = 0; i < task_.checked.size() + task_.timed.size(); ++i) {
      LaunchPlan plan;
      plan.buffers = {{"x", 0, 16, 0}, {"y", 1, 16, 0}};
      KernelLaunch launch;
      launch.kernel = "k";
      const auto grid = script_.grid.find(source.text());
      launch.grid.x = grid == script_.grid.end() ? 1 : grid->second;
      plan.steps = {launch};
      (i < task_.checked.size() ? candidate.checked_plans : candidate.timed_plans).push_back(plan);
    }
    return std::variant<PreparedCandidate, Rejection>(std::move(candidate));
  }

  Result<std::optional<Rejection>> Trace(PreparedCandidate& candidate,
                                         Evaluation& evaluation) override {
    traced.push_back(candidate.source.text());
    if (trace_rejection) {
      evaluation.outcome = *trace_rejection;
    }
    return trace_rejection;
  }

  Result<void> Verify(const PreparedCandidate& candidate, Evaluation& evaluation) override {
    verified.push_back(candidate.source.text());
    script_.on_verify();
    RunRequest request;
    request.artifact = &candidate.artifact;
    request.plan = &candidate.checked_plans.front();
    request.buffers.resize(2);
    OPTIML_ASSIGN(const RunOutcome outcome, device_.Run(request));
    evaluation.verify.emplace();
    evaluation.verify->cases_run = 1;
    if (script_.rejected.contains(candidate.source.text())) {
      evaluation.outcome = Rejection{Stage::kL1, "y[0] is 1, expected 2"};
    }
    return {};
  }

  Result<std::vector<BatteryVerdict>> Battery() override {
    ++batteries;
    return std::vector<BatteryVerdict>{{"zeros", "rejected", "y[0]"}};
  }

  std::vector<std::string> DroppedCases() const override { return {"n=4, fill special: NaN"}; }

  Result<std::vector<const TaskInputs*>> TimedInputs(size_t row) override {
    OPTIML_ASSIGN(timed_inputs_, MakeInputs(task_, task_.timed[row].sizes, 1));
    return std::vector<const TaskInputs*>{&timed_inputs_, &timed_inputs_};
  }
  Result<std::optional<Rejection>> CheckTimed(size_t, const LaunchPlan&, TimeOutcome&,
                                              Evaluation&) override {
    ++timed_checks;
    return timed_rejection;
  }

  int timed_checks = 0;
  std::optional<Rejection> timed_rejection;

  int batteries = 0;
  std::vector<std::string> prepared;  // texts, in order
  std::vector<std::string> traced;
  std::optional<Rejection> trace_rejection;
  std::vector<std::string> verified;

 private:
  const Script& script_;
  const KernelTask& task_;
  Device& device_;
  TaskInputs timed_inputs_;
  std::mutex mutex_;
};

// Keeps a record in memory as the real store would; fails from the write numbered `fail_at` on.
class MemoryStore : public RunStore {
 public:
  explicit MemoryStore(RunRecord header) : record(std::move(header)) {}
  Result<RunRecord> Load() override { return record; }
  Result<void> SaveBattery(const std::vector<BatteryRow>& rows) override {
    return Write([&] { record.battery = rows; });
  }
  Result<void> SaveLifts(const std::vector<LiftRow>& rows) override {
    return Write([&] { record.lifts = rows; });
  }
  Result<void> AppendExpansion(const ExpansionRecord& expansion) override {
    return Write([&] { record.expansions.push_back(expansion); });
  }
  Result<void> AppendNode(const NodeRecord& node) override {
    return Write([&] { record.nodes.push_back(node); });
  }
  Result<void> AppendExchange(const ExchangeRecord& exchange) override {
    return Write([&] { record.exchanges.push_back(exchange); });
  }
  Result<void> AppendTrial(const TrialRecord& trial) override {
    return Write([&] { record.trials.push_back(trial); });
  }
  Result<void> SaveResult(const RunResult& result) override {
    return Write([&] { record.result = result; });
  }
  Result<void> SaveOptions(const std::map<std::string, std::string>& options) override {
    return Write([&] { record.options = options; });
  }
  Result<void> SetState(RunState state, const std::string& failure) override {
    return Write([&] {
      record.state = state;
      record.failure = failure;
    });
  }

  RunRecord record;
  int writes = 0;
  int fail_at = -1;
  std::function<void(int)> before_write = [](int) {};

 private:
  Result<void> Write(const std::function<void()>& change) {
    before_write(writes);
    if (fail_at >= 0 && writes >= fail_at) {
      return Error(ErrorCode::kIo, "run.sqlite: cannot write: the disk is full");
    }
    ++writes;
    change();
    return {};
  }
};

class ScriptedRun {
 public:
  explicit ScriptedRun(Script the_script) : script(std::move(the_script)) {
    task.name = "scripted";
    task.source = KernelSource("root", "launch", "kernel.cu");
    ArgSpec x;
    x.name = "x";
    x.is_buffer = true;
    x.dtype = DType::kF32;
    x.shape = {SizeExpr(4)};
    ArgSpec y = x;
    y.name = "y";
    y.role = ArgRole::kOut;
    task.args = {x, y};
    task.checked = {{{{"n", 4}}, 1}};
    task.timed = {{{{"n", 8}}, 2}, {{{"n", 16}}, 3}};
    task.hash = ContentHash::Of("task");
    options.budget.candidates = 12;
    Teach(device);
  }

  // Makes a device answer as the script says.
  void Teach(FakeDevice& one) {
    one.on_time = [this, &one](const RunRequest& request) -> Result<TimeOutcome> {
      TimeOutcome outcome;
      outcome.timing.median_s = script.time(request.artifact->ptx);
      outcome.timing.low_s = 0.95 * outcome.timing.median_s;
      outcome.timing.high_s = 1.05 * outcome.timing.median_s;
      outcome.timing.kind =
          one.info.capabilities.measures_time ? TimingKind::kMeasured : TimingKind::kPredicted;
      outcome.profile.metrics["work"] = {1e6 * outcome.timing.median_s, "inst"};
      return outcome;
    };
    one.on_run = [this](const RunRequest& request) -> Result<RunOutcome> {
      RunOutcome outcome;
      // The printed-back root writes something else when one of its kernels was lifted wrongly.
      const std::string& text = request.artifact->ptx;
      std::byte written{1};
      for (const std::string& kernel : script.mismatch_lifts) {
        if (text.starts_with("identity") && text.find(kernel) != std::string::npos) {
          written = std::byte{2};
        }
      }
      outcome.buffers = {std::vector<std::byte>(16, std::byte{0}),
                         std::vector<std::byte>(16, written)};
      return outcome;
    };
  }

  RunRecord Header() const {
    RunRecord record;
    record.id = RunId{"scripted-1"};
    record.task.name = task.name;
    record.task.hash = task.hash.Hex();
    record.task.source = task.source.text();
    record.options = FormatSessionOptions(options);
    return record;
  }

  // One process's part of the run: goes on from what the store holds.
  Result<RunRecord> Go(RunStore& store) {
    Engines engines;
    auto made = std::make_unique<ScriptedVerifier>(script, task, device);
    verifier = made.get();
    engines.verifier = std::move(made);
    for (const std::unique_ptr<FakeDevice>& further : more_devices) {
      Engines::More& more = engines.more.emplace_back();
      more.device = std::make_unique<InterruptibleDevice>(*further, &stop);
      more.verifier = std::make_unique<ScriptedVerifier>(script, task, *more.device);
    }
    engines.make_catalogue =
        [this](const PreparedCandidate& root,
               const std::vector<std::string>& out) -> Result<std::unique_ptr<rewrite::Catalogue>> {
      return std::unique_ptr<rewrite::Catalogue>(
          std::make_unique<ScriptedCatalogue>(script, out, root.source.text()));
    };
    engines.diagnose = [](const Profile&, const Timing&, const DeviceInfo&,
                          const std::vector<KernelResources>&) {
      Diagnosis diagnosis;
      diagnosis.bound = Bound::kMemory;
      return diagnosis;
    };
    engines.deliver = [this](const std::string&,
                             const PreparedCandidate& candidate) -> Result<DeliveredReport> {
      DeliveredReport report;
      report.nvcc = "nvcc not present";
      OPTIML_TRY(verifier->Verify(candidate, report.evaluation));
      return report;
    };
    SessionParts parts;
    parts.task = &task;
    parts.device = &device;
    parts.clock = &clock;
    parts.store = &store;
    parts.stop = &stop;
    parts.models = models;
    parts.model_budget = model_budget;
    for (const std::string& sibling : siblings) {
      parts.siblings.emplace_back(sibling, "launch", "samples/1.cu");
    }
    parts.observer = [this](const Progress& step) { progress.push_back(step); };
    OPTIML_ASSIGN(const RunRecord record, store.Load());
    Result<RunRecord> result = RunSessionWith(parts, engines, device, options, record);
    verified = verifier->verified;
    batteries = verifier->batteries;
    verifier = nullptr;
    return result;
  }

  // The whole run in one go, in a store of its own.
  Result<RunRecord> Go() {
    MemoryStore store(Header());
    return Go(store);
  }

  Script script;
  KernelTask task;
  FakeDevice device;
  std::vector<std::unique_ptr<FakeDevice>> more_devices;  // taught ones
  FakeClock clock;
  std::atomic<bool> stop = false;
  SessionOptions options;
  ModelRoles models;
  ModelBudget model_budget;
  std::vector<std::string> siblings;  // texts
  std::vector<Progress> progress;
  std::vector<std::string> verified;  // texts that the last part verified
  int batteries = 0;                  // that the last part ran

 private:
  ScriptedVerifier* verifier = nullptr;
};

// The tree of a run as text: equal texts mean equal trees.
inline std::string TreeText(const RunRecord& record) {
  std::string text;
  for (const NodeRecord& node : record.nodes) {
    text += std::to_string(node.id) + "<-" + std::to_string(node.parent) + " " + node.source + " " +
            FormatReward(node.reward) + " twin " + std::to_string(node.duplicate_of) + "\n";
  }
  return text;
}

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_SCRIPTED_RUN_H_
