#include "verify/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "verify/battery.h"
#include "verify/case_library.h"
#include "verify/compare.h"
#include "verify/limits.h"
#include "verify/plan_runner.h"
#include "verify/prepare.h"
#include "verify/promoted_original.h"
#include "verify/timed_check.h"

namespace optiml {
namespace {

std::string FindingSentence(const Finding& finding) {
  const std::string place = finding.line > 0 ? fmt::format(" (line {})", finding.line) : "";
  const std::string kernel = finding.kernel.empty() ? "" : fmt::format("{}: ", finding.kernel);
  // The detail may already begin with the kind.
  const bool repeats = finding.detail.starts_with(finding.kind);
  return fmt::format("{}{}{}{}", kernel, repeats ? "" : finding.kind + ": ", finding.detail, place);
}

constexpr double kSameWork = 0.9;  // one block may be spared a step or two
// Of one launch among several: less than this many thread instructions say nothing.
constexpr uint64_t kLeastSpared = 256;

// What a second call with the same inputs is spared of the first one's work, as a sentence; empty
// when it does as much, in all and in each of its launches, as it should.
std::string WorkOfSecondCall(const RunOutcome& run) {
  if (run.pass_work.size() < 2 || run.pass_work[0] == 0) {
    return "";
  }
  const auto share = [](uint64_t first, uint64_t second) {
    return static_cast<double>(second) / static_cast<double>(first);
  };
  if (const double all = share(run.pass_work[0], run.pass_work[1]); all < kSameWork) {
    return fmt::format("does {:.0f} % of the first one's work", 100 * all);
  }
  if (run.launch_work.size() < 2) {
    return "";
  }
  const std::vector<uint64_t>& first = run.launch_work[0];
  const std::vector<uint64_t>& second = run.launch_work[1];
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (second[i] + kLeastSpared <= first[i] && share(first[i], second[i]) < kSameWork) {
      return fmt::format("does {:.0f} % of the first one's work in its launch number {}",
                         100 * share(first[i], second[i]), i + 1);
    }
  }
  return "";
}

KernelTask WithItselfAsReference(KernelTask task) {
  task.reference.kind = ReferenceKind::kOriginal;
  return task;
}

// The first number of the machines that cases run on (Surroundings).
constexpr uint64_t kFirstMachine = 1;

class TaskVerifier : public Verifier {
 public:
  TaskVerifier(const KernelTask& task, Builder& builder, Device& device, HostReference* reference,
               const VerifierOptions& options)
      : task_(task),
        builder_(builder),
        device_(device),
        options_(options),
        library_(task, device, reference, options.step_limit_per_case),
        timed_task_(WithItselfAsReference(task)),
        timed_(timed_task_, device, nullptr, options.step_limit_per_case),
        reference_(reference) {}

  Result<void> MakeCases() {
    return library_.MakeCases(options_.seeds, options_.first_seed, options_.extra_fills);
  }

  Result<std::variant<PreparedCandidate, Rejection>> Prepare(const KernelSource& source,
                                                             Evaluation& evaluation) override;
  Result<void> Verify(const PreparedCandidate& candidate, Evaluation& evaluation) override;
  Result<std::vector<const TaskInputs*>> TimedInputs(size_t row) override;
  Result<std::optional<Rejection>> CheckTimed(size_t row, const LaunchPlan& plan,
                                              TimeOutcome& timed, Evaluation& evaluation) override;
  Result<void> VerifyTimed(const PreparedCandidate& candidate, Evaluation& evaluation) override;
  Result<std::vector<BatteryVerdict>> Battery() override;
  std::vector<std::string> DroppedCases() const override { return dropped_; }
  std::vector<std::string> Notes() const override { return notes_; }

 private:
  struct CaseRun {
    const PreparedCandidate& candidate;
    size_t index = 0;
    bool full = false;  // every check of the device, and several calls
  };

  // The task's own kernel with every plan; made once.
  Result<const PreparedSource*> Original();
  // Runs one case. A rejection ends the candidate; absent when the case passed or was dropped.
  Result<std::optional<Rejection>> RunCase(const CaseRun& run, VerifyReport& report);
  // The original's outputs at a timed shape in double precision; see CaseLibrary::Truth.
  Result<std::vector<Tensor>> InDouble(const VerifyCase& c);
  void Note(const CaseLibrary::Outcome& outcome, VerifyReport& report) const;
  void NoteDropped(const VerifyCase& c);

  const KernelTask& task_;
  Builder& builder_;
  Device& device_;
  VerifierOptions options_;
  CaseLibrary library_;
  KernelTask timed_task_;  // the original is too slow a reference on the host at the timed sizes
  CaseLibrary timed_;      // made when it is first asked for
  bool has_timed_ = false;
  HostReference* reference_;
  // Of the candidate that was verified last, see PrecisionElsewhere.
  std::optional<double> share_;
  std::set<size_t>
      sampled_;  // timed cases whose original was compared with elements of the reference
  std::optional<PreparedSource> original_;
  std::optional<std::variant<PromotedOriginal, std::string>> promoted_;  // or why there is none
  std::vector<std::string> dropped_;
  std::vector<std::string> notes_;
};

Result<std::variant<PreparedCandidate, Rejection>> TaskVerifier::Prepare(const KernelSource& source,
                                                                         Evaluation& evaluation) {
  using Outcome = std::variant<PreparedCandidate, Rejection>;
  const bool is_original = source.hash() == task_.source.hash();
  OPTIML_ASSIGN(auto prepared,
                PrepareSource(task_, source, is_original, library_.plan_requests(), builder_,
                              device_.Info().architecture, evaluation, options_.recorder));
  if (auto* rejection = std::get_if<Rejection>(&prepared)) {
    evaluation.outcome = *rejection;
    return Outcome(std::move(*rejection));
  }
  auto& made = std::get<PreparedSource>(prepared);
  PreparedCandidate candidate;
  candidate.source = source;
  candidate.artifact = std::move(made.artifact);
  const auto timed = made.plans.begin() + static_cast<std::ptrdiff_t>(library_.first_timed_plan());
  candidate.timed_plans.assign(timed, made.plans.end());
  candidate.case_plans.assign(made.plans.begin(), timed);
  candidate.checked_plans.assign(
      made.plans.begin(), made.plans.begin() + static_cast<std::ptrdiff_t>(task_.checked.size()));
  return Outcome(std::move(candidate));
}

Result<const PreparedSource*> TaskVerifier::Original() {
  if (!original_) {
    Evaluation evaluation;
    OPTIML_ASSIGN(auto prepared,
                  PrepareSource(task_, task_.source, true, library_.plan_requests(), builder_,
                                device_.Info().architecture, evaluation, options_.recorder));
    if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the task's own kernel is refused at {}: {}",
                               StageName(rejection->stage), rejection->reason));
    }
    original_ = std::get<PreparedSource>(std::move(prepared));
  }
  return &*original_;
}

void TaskVerifier::Note(const CaseLibrary::Outcome& outcome, VerifyReport& report) const {
  report.max_absolute_error = std::max(report.max_absolute_error, outcome.max_absolute_error);
  report.max_relative_error = std::max(report.max_relative_error, outcome.max_relative_error);
  report.max_budget_ratio = std::max(report.max_budget_ratio, outcome.max_budget_ratio);
}

void TaskVerifier::NoteDropped(const VerifyCase& c) {
  const std::string text = fmt::format("{}: {}", c.inputs.text, c.drop_reason);
  if (std::find(dropped_.begin(), dropped_.end(), text) == dropped_.end()) {
    dropped_.push_back(text);
  }
}

Result<std::optional<Rejection>> TaskVerifier::RunCase(const CaseRun& run, VerifyReport& report) {
  using Outcome = std::optional<Rejection>;
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  OPTIML_ASSIGN(const VerifyCase* c, library_.Resolve(run.index, *original));
  if (c->dropped) {
    NoteDropped(*c);
    return Outcome();
  }
  ++report.cases_run;
  const LaunchPlan& plan = run.candidate.case_plans.at(c->plan);
  PlanRun request;
  request.artifact = &run.candidate.artifact;
  request.plan = &plan;
  request.checks = run.full ? CheckLevel::kFull : CheckLevel::kBounds;
  request.step_limit = options_.step_limit_per_case;

  const auto fail = [&](Stage stage, std::string reason) {
    report.failing_case = c->inputs.text;
    return Outcome(Rejection{stage, fmt::format("at {}: {}", c->inputs.text, reason)});
  };
  const auto judge = [&](std::vector<PassRun> passes, std::string_view what) -> Result<Outcome> {
    request.passes = std::move(passes);
    const uint8_t poison = request.passes.back().poison;
    OPTIML_ASSIGN(const PlanResult result, RunPlan(task_, request, device_));
    const Stage stage = run.full ? Stage::kL0 : Stage::kL1;
    for (const std::string& note : result.outcome.notes) {
      if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) {
        notes_.push_back(note);
      }
    }
    if (!result.outcome.findings.empty()) {
      report.findings = result.outcome.findings;
      return fail(stage, FindingSentence(result.outcome.findings.front()));
    }
    if (result.outcome.status == RunStatus::kUnsupported) {
      Outcome unsupported = fail(
          stage, fmt::format("not checked by {}: {}", device_.Info().name, result.outcome.reason));
      unsupported->is_unsupported = true;
      return unsupported;
    }
    if (result.outcome.status != RunStatus::kCompleted) {
      return fail(stage, result.outcome.reason.empty() ? "the run did not complete"
                                                       : result.outcome.reason);
    }
    if (!result.changed_input.empty()) {
      return fail(Stage::kL1, fmt::format("the input {} was changed", result.changed_input));
    }
    OPTIML_ASSIGN(const CaseLibrary::Outcome compared,
                  library_.CompareOutputs(run.index, result.buffers, poison, *original));
    Note(compared, report);
    if (!compared.matches()) {
      report.first_mismatch = compared.first;
      report.mismatch_count = compared.mismatch_count;
      report.error_map = compared.map;
      return fail(Stage::kL1, fmt::format("{}{} ({} of its elements differ)", what,
                                          MismatchText(*compared.first), compared.mismatch_count));
    }
    const bool is_repeat = request.passes.size() > 1 && request.passes[0].inputs == &c->inputs;
    const std::string spared = is_repeat ? WorkOfSecondCall(result.outcome) : "";
    if (!spared.empty()) {
      return fail(Stage::kL0, fmt::format("a second call with the same inputs {}: something is "
                                          "kept from it",
                                          spared));
    }
    return Outcome();
  };
  // The patterns alternate between cases.
  const PassRun once{&c->inputs, kPoisonBytes[run.full ? 0 : run.index % kPoisonBytes.size()]};
  if (!run.full) {
    return judge({once}, "");
  }
  // The first call of a process, which may differ from all later ones. The same call twice shows
  // what is spared by keeping results. Then, in another process and on another machine: a call with
  // other contents in the same memory, and the case's own from the last block to the first; which
  // of these was wrong is asked only when something is.
  const PassRun again{&c->inputs, kPoisonBytes[1]};
  const PassRun others{&c->others, kPoisonBytes[1]};
  const PassRun reversed{&c->inputs, kPoisonBytes[0], BlockOrder::kLastToFirst};
  OPTIML_ASSIGN(Outcome single, judge({once}, ""));
  if (single) {
    return single;
  }
  OPTIML_ASSIGN(Outcome all, judge({once, again}, "on a later call, "));
  const Surroundings elsewhere{kFirstMachine + run.index};
  if (!all) {
    request.surroundings = elsewhere;
    OPTIML_ASSIGN(all, judge({others, reversed}, "on a later call, "));
  }
  if (!all || all->stage == Stage::kL0) {
    return all;
  }
  request.surroundings = elsewhere;
  OPTIML_ASSIGN(Outcome moved, judge({once},
                                     "where addresses and clocks are those of another "
                                     "machine, "));
  if (moved) {
    return moved;
  }
  request.surroundings = {};
  OPTIML_ASSIGN(Outcome backwards, judge({reversed}, "with its blocks from last to first, "));
  return backwards ? backwards : all;
}

Result<void> TaskVerifier::Verify(const PreparedCandidate& candidate, Evaluation& evaluation) {
  const SystemClock clock;
  const Nanoseconds begin = clock.Now();
  VerifyReport& report = evaluation.verify.emplace();
  share_.reset();
  const auto finish = [&](Stage stage, Nanoseconds since, std::optional<Rejection> rejection) {
    evaluation.stage_times.push_back({stage, clock.Now() - since});
    if (rejection) {
      evaluation.outcome = *std::move(rejection);
    }
  };
  report.stage_reached = Stage::kL0;
  std::vector<LaunchPlan> all = candidate.case_plans;
  all.insert(all.end(), candidate.timed_plans.begin(), candidate.timed_plans.end());
  if (auto problem = LaunchBeyondLimits(candidate.artifact, all, device_.Info())) {
    finish(Stage::kL0, begin, Rejection{Stage::kL0, *std::move(problem)});
    return {};
  }
  if (const auto kernel = UncheckedKernel(candidate.case_plans, candidate.timed_plans)) {
    finish(Stage::kL0, begin,
           Rejection{Stage::kL0, fmt::format("{} is launched at a timed shape but at no checked "
                                             "one, so nothing says that it is right",
                                             *kernel)});
    return {};
  }
  // The first case of each row, smallest row first: with every check that the device has, called
  // several times.
  std::vector<size_t> first;
  std::vector<size_t> rest;
  for (size_t i = 0; i < library_.size(); ++i) {
    (library_.IsFirst(i) ? first : rest).push_back(i);
  }
  for (const size_t i : first) {
    OPTIML_ASSIGN(std::optional<Rejection> rejection, RunCase({candidate, i, true}, report));
    if (rejection) {
      report.stage_reached = rejection->stage;
      finish(Stage::kL0, begin, std::move(rejection));
      return {};
    }
  }
  finish(Stage::kL0, begin, std::nullopt);
  const Nanoseconds middle = clock.Now();
  report.stage_reached = Stage::kL1;
  for (const size_t i : rest) {
    OPTIML_ASSIGN(std::optional<Rejection> rejection, RunCase({candidate, i, false}, report));
    if (rejection) {
      finish(Stage::kL1, middle, std::move(rejection));
      return {};
    }
  }
  finish(Stage::kL1, middle, std::nullopt);
  share_ = PrecisionElsewhere(task_, report);
  return {};
}

Result<std::vector<const TaskInputs*>> TaskVerifier::TimedInputs(size_t row) {
  if (!has_timed_) {
    OPTIML_TRY(timed_.MakeTimedCases(options_.first_seed, library_.first_timed_plan()));
    timed_.SetTruth([this](const VerifyCase& c) { return InDouble(c); });
    has_timed_ = true;
  }
  std::vector<const TaskInputs*> sets;
  for (size_t set = 0; set < kTimedSets; ++set) {
    sets.push_back(&timed_.InputsOf(row * kTimedSets + set));
  }
  return sets;
}

Result<std::vector<Tensor>> TaskVerifier::InDouble(const VerifyCase& c) {
  const size_t first = library_.first_timed_plan();
  if (!promoted_) {
    const std::vector<PlanRequest>& all = library_.plan_requests();
    OPTIML_ASSIGN(
        promoted_,
        PromotedOriginal::Make(task_, {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()},
                               {builder_, device_.Info().architecture, options_.recorder}));
  }
  std::string why_not;
  if (const auto* promoted = std::get_if<PromotedOriginal>(&*promoted_)) {
    OPTIML_ASSIGN(auto outputs,
                  promoted->Run(c.inputs, c.plan - first, options_.step_limit_per_case, device_));
    if (auto* tensors = std::get_if<std::vector<Tensor>>(&outputs)) {
      return std::move(*tensors);
    }
    why_not = std::get<std::string>(std::move(outputs));
  } else {
    why_not = std::get<std::string>(*promoted_);
  }
  notes_.push_back(
      fmt::format("at the timed {} the task's own kernel is what is compared with, as "
                  "it is: {}",
                  c.inputs.text, why_not));
  return std::vector<Tensor>();
}

Result<std::optional<Rejection>> TaskVerifier::CheckTimed(size_t row, const LaunchPlan& plan,
                                                          TimeOutcome& timed,
                                                          Evaluation& evaluation) {
  using Outcome = std::optional<Rejection>;
  VerifyReport& report = evaluation.verify ? *evaluation.verify : evaluation.verify.emplace();
  report.stage_reached = Stage::kL2;
  const auto fail = [&](const TaskInputs& inputs, const std::string& reason) {
    report.failing_case = inputs.text;
    return Outcome(
        Rejection{Stage::kL2, fmt::format("in the timed buffers, at {}: {}", inputs.text, reason)});
  };
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  OPTIML_CHECK(timed.outputs.size() == kTimedSets, "the device was given as many passes");
  timed.other_outputs.resize(kTimedSets);
  for (size_t set = 0; set < kTimedSets; ++set) {
    const size_t index = row * kTimedSets + set;
    OPTIML_ASSIGN(const VerifyCase* c, timed_.Resolve(index, *original));
    if (set == 0 && reference_ != nullptr && reference_->has_range() &&
        sampled_.insert(index).second) {
      OPTIML_TRY(CheckSampledReference(task_, *reference_, *c));
    }
    if (!timed.findings.empty()) {
      report.findings = timed.findings;
      return fail(c->inputs, FindingSentence(timed.findings.front()));
    }
    ++report.cases_run;
    for (auto* outputs : {&timed.outputs[set], &timed.other_outputs[set]}) {
      if (outputs->empty()) {
        continue;  // every copy holds the same
      }
      const std::vector<Tensor> buffers = ByArgument(task_, plan, std::move(*outputs), c->inputs);
      OPTIML_ASSIGN(const CaseLibrary::Outcome compared,
                    timed_.CompareOutputs(index, buffers, PoisonFor(task_), *original, share_));
      Note(compared, report);
      if (!compared.matches()) {
        report.first_mismatch = compared.first;
        report.mismatch_count = compared.mismatch_count;
        report.error_map = compared.map;
        return fail(c->inputs, fmt::format("{} ({} of its elements differ)",
                                           MismatchText(*compared.first), compared.mismatch_count));
      }
    }
  }
  return Outcome();
}

Result<void> TaskVerifier::VerifyTimed(const PreparedCandidate& candidate, Evaluation& evaluation) {
  OPTIML_CHECK(evaluation.verify && evaluation.accepted(), "L2 follows L1");
  const SystemClock clock;
  const Nanoseconds begin = clock.Now();
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  const TimedCheck check{
      task_, *original, candidate.artifact, candidate.timed_plans, options_.first_seed, share_};
  VerifyReport& report = *evaluation.verify;
  report.stage_reached = Stage::kL2;
  OPTIML_ASSIGN(std::optional<Rejection> rejection,
                JudgeTimedShapes(check, library_, device_, report, notes_));
  evaluation.stage_times.push_back({Stage::kL2, clock.Now() - begin});
  if (rejection) {
    evaluation.outcome = *std::move(rejection);
  }
  return {};
}

Result<std::vector<BatteryVerdict>> TaskVerifier::Battery() {
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  for (size_t i = 0; i < library_.size(); ++i) {
    OPTIML_ASSIGN(const VerifyCase* c, library_.Resolve(i, *original));
    if (c->dropped) {
      NoteDropped(*c);
    }
  }
  // The kernel to beat must pass what its candidates must pass.
  Evaluation evaluation;
  OPTIML_ASSIGN(const auto prepared, Prepare(task_.source, evaluation));
  OPTIML_CHECK(std::holds_alternative<PreparedCandidate>(prepared),
               "the original was prepared a moment ago");
  OPTIML_TRY(Verify(std::get<PreparedCandidate>(prepared), evaluation));
  if (const Rejection* rejection = evaluation.rejection()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the task's own kernel is rejected at {}: {}",
                             StageName(rejection->stage), rejection->reason));
  }
  return RunBattery(task_, library_, *original);
}

}  // namespace

Result<std::unique_ptr<Verifier>> MakeVerifier(const KernelTask& task, Builder& builder,
                                               Device& device, HostReference* reference,
                                               const VerifierOptions& options) {
  if (task.reference.kind == ReferenceKind::kHost && reference == nullptr) {
    return Error(ErrorCode::kInternal, "the task has a host reference, but none was handed over");
  }
  auto verifier = std::make_unique<TaskVerifier>(task, builder, device, reference, options);
  OPTIML_TRY(verifier->MakeCases());
  return std::unique_ptr<Verifier>(std::move(verifier));
}

}  // namespace optiml
