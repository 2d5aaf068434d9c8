#include "verify/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "verify/battery.h"
#include "verify/case_judge.h"
#include "verify/case_library.h"
#include "verify/compare.h"
#include "verify/limits.h"
#include "verify/live_case.h"
#include "verify/many_calls.h"
#include "verify/plan_runner.h"
#include "verify/prepare.h"
#include "verify/promoted_original.h"
#include "verify/timed_check.h"

namespace optiml {
namespace {

KernelTask WithItselfAsReference(KernelTask task) {
  task.reference.kind = ReferenceKind::kOriginal;
  return task;
}

constexpr char kOnALaterCall[] = "on a later call, ";
constexpr char kOnAnotherMachine[] = "where addresses and clocks are those of another machine, ";
// Thread instructions of a live run at a timed shape.
constexpr uint64_t kMostTraced = 2 * kMostTimedWork;

std::optional<Rejection> PlansBeyondLimits(const PreparedCandidate& candidate, Device& device) {
  std::vector<LaunchPlan> all = candidate.case_plans;
  all.insert(all.end(), candidate.timed_plans.begin(), candidate.timed_plans.end());
  auto problem = LaunchBeyondLimits(candidate.artifact, all, device.Info());
  return problem ? std::optional(Rejection{Stage::kL0, *std::move(problem)}) : std::nullopt;
}

std::optional<Rejection> OnlyTimed(const std::vector<LaunchPlan>& checked,
                                   const std::vector<LaunchPlan>& timed) {
  const auto kernel = UncheckedKernel(checked, timed);
  return kernel ? std::optional(Rejection{
                      Stage::kL0, fmt::format("{} is launched at a timed shape but at no checked "
                                              "one, so nothing says that it is right",
                                              *kernel)})
                : std::nullopt;
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
  Result<std::optional<Rejection>> Trace(PreparedCandidate& candidate,
                                         Evaluation& evaluation) override;
  Result<void> Verify(const PreparedCandidate& candidate, Evaluation& evaluation) override;
  Result<std::vector<const TaskInputs*>> TimedInputs(size_t row) override;
  bool KnowsTimed(size_t row, size_t set, const OutputsDigest& digest) const override;
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
  using TimedOutputs = std::vector<std::vector<std::byte>>;  // by buffer of the plan
  // What the outputs of one set are worth, or were when they had the same digest.
  Result<CaseLibrary::Outcome> Judged(size_t row, size_t set, size_t index, const LaunchPlan& plan,
                                      TimedOutputs outputs,
                                      const std::optional<OutputsDigest>& digest);
  // The original's outputs at a timed shape in double precision; see CaseLibrary::Truth.
  Result<std::vector<Tensor>> InDouble(const VerifyCase& c);
  Result<std::optional<Rejection>> RunLiveCase(const CaseRun& run, const VerifyCase& c,
                                               CaseJudge& judge);
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
  // Host mode: the first plan of each request's sizes and scalars, of that candidate.
  std::map<size_t, LaunchPlan> traced_;
  std::vector<LaunchPlan> with_new_kernels_;  // of its cases, each with one that none before had
  std::set<size_t>
      sampled_;  // timed cases whose original was compared with elements of the reference
  // Outputs of timed sets that were right, and within which share of their budget.
  struct Right {
    CaseLibrary::Outcome outcome;
    std::optional<double> share;
  };
  std::map<std::tuple<size_t, size_t, OutputsDigest>, Right> right_;  // by row and set
  std::mutex original_mutex_;  // Prepare() may ask for it on any thread
  std::optional<PreparedSource> original_;
  std::optional<std::variant<PromotedOriginal, std::string>> promoted_;  // or why there is none
  std::vector<std::string> dropped_;
  std::vector<std::string> notes_;
};

Result<std::variant<PreparedCandidate, Rejection>> TaskVerifier::Prepare(const KernelSource& source,
                                                                         Evaluation& evaluation) {
  using Outcome = std::variant<PreparedCandidate, Rejection>;
  const bool is_original = source.hash() == task_.source.hash();
  OPTIML_ASSIGN(auto prepared, PrepareSource(task_, source, is_original, library_.plan_requests(),
                                             builder_, device_.Info().architecture, evaluation,
                                             options_.recorder, [&]() -> Result<bool> {
                                               if (is_original) {
                                                 return true;
                                               }
                                               OPTIML_ASSIGN(const PreparedSource* original,
                                                             Original());
                                               return original->live != nullptr;
                                             }));
  if (auto* rejection = std::get_if<Rejection>(&prepared)) {
    evaluation.outcome = *rejection;
    return Outcome(std::move(*rejection));
  }
  auto& made = std::get<PreparedSource>(prepared);
  PreparedCandidate candidate;
  candidate.source = source;
  candidate.artifact = std::move(made.artifact);
  candidate.live = std::move(made.live);
  if (candidate.live != nullptr) {
    return Outcome(std::move(candidate));
  }
  const auto timed = made.plans.begin() + static_cast<std::ptrdiff_t>(library_.first_timed_plan());
  candidate.timed_plans.assign(timed, made.plans.end());
  candidate.case_plans.assign(made.plans.begin(), timed);
  candidate.checked_plans.assign(
      made.plans.begin(), made.plans.begin() + static_cast<std::ptrdiff_t>(task_.checked.size()));
  return Outcome(std::move(candidate));
}

Result<const PreparedSource*> TaskVerifier::Original() {
  const std::lock_guard<std::mutex> lock(original_mutex_);
  if (!original_) {
    Evaluation evaluation;
    OPTIML_ASSIGN(auto prepared,
                  PrepareSource(task_, task_.source, true, library_.plan_requests(), builder_,
                                device_.Info().architecture, evaluation, options_.recorder,
                                [] { return Result<bool>(true); }));
    if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the task's own kernel is refused at {}: {}",
                               StageName(rejection->stage), rejection->reason));
    }
    original_ = std::get<PreparedSource>(std::move(prepared));
  }
  return &*original_;
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
  CaseJudge judge({task_, device_, library_, *original, run.index, *c, run.full, report, notes_},
                  run.candidate.artifact, options_.step_limit_per_case);
  if (run.candidate.live != nullptr) {
    return RunLiveCase(run, *c, judge);
  }
  judge.Use(run.candidate.case_plans.at(c->plan));
  // The patterns alternate between cases.
  const PassRun once{&c->inputs, kPoisonBytes[run.full ? 0 : run.index % kPoisonBytes.size()]};
  if (!run.full) {
    return judge.Run({once}, "");
  }
  // The first call of a process, which may differ from all later ones. The same call twice shows
  // what is spared by keeping results. Then, in another process and on another machine: a call with
  // other contents in the same memory, and the case's own from the last block to the first; which
  // of these was wrong is asked only when something is.
  const PassRun again{&c->inputs, kPoisonBytes[1]};
  const PassRun others{&c->others, kPoisonBytes[1]};
  const PassRun reversed{&c->inputs, kPoisonBytes[0], BlockOrder::kLastToFirst};
  OPTIML_ASSIGN(Outcome single, judge.Run({once}, ""));
  if (single) {
    return single;
  }
  OPTIML_ASSIGN(Outcome all, judge.Run({once, again}, kOnALaterCall));
  const Surroundings elsewhere{kFirstMachine + run.index};
  if (!all) {
    judge.MoveTo(elsewhere);
    OPTIML_ASSIGN(all, judge.Run({others, reversed}, kOnALaterCall));
  }
  if (!all && HasDeviceVariables(run.candidate.artifact.ptx)) {
    const size_t calls =
        CallsInOneProcess(c->inputs, judge.first_pass_work(), options_.step_limit_per_case);
    judge.MoveTo({});
    return calls == 0 ? Outcome() : judge.Run(std::vector<PassRun>(calls, once), kOnALaterCall);
  }
  if (!all || all->stage == Stage::kL0) {
    return all;
  }
  judge.MoveTo(elsewhere);
  OPTIML_ASSIGN(Outcome moved, judge.Run({once}, kOnAnotherMachine));
  if (moved) {
    return moved;
  }
  judge.MoveTo({});
  OPTIML_ASSIGN(Outcome backwards, judge.Run({reversed}, "with its blocks from last to first, "));
  return backwards ? backwards : all;
}

// The case's plan is that of a live run on its contents; what is judged is that plan, and what the
// live runs gave.
Result<std::optional<Rejection>> TaskVerifier::RunLiveCase(const CaseRun& run, const VerifyCase& c,
                                                           CaseJudge& judge) {
  using Outcome = std::optional<Rejection>;
  const LiveSubject subject{task_, run.candidate.artifact, *run.candidate.live, device_,
                            options_.step_limit_per_case};
  const PassRun once{&c.inputs, kPoisonBytes[run.full ? 0 : run.index % kPoisonBytes.size()]};
  const uint64_t machine = kFirstMachine + run.index;
  OPTIML_ASSIGN(auto made, run.full ? TraceInFull(subject, c, machine)
                                    : TraceOnce(subject, c.inputs, once.poison));
  if (auto* rejection = std::get_if<Rejection>(&made)) {
    Outcome failed = judge.Fail(rejection->stage, rejection->reason);
    failed->is_unsupported = rejection->is_unsupported;
    return failed;
  }
  const auto& live = std::get<LiveCase>(made);
  const auto [first, is_first] = traced_.try_emplace(c.plan, live.plan);
  if (const std::string differs =
          is_first ? std::string()
                   : UploadThatDiffers(first->second, live.plan, run.candidate.live->path());
      !differs.empty()) {
    return judge.Fail(Stage::kPlan, differs);
  }
  if (UncheckedKernel(with_new_kernels_, {live.plan})) {
    with_new_kernels_.push_back(live.plan);
  }
  judge.Use(live.plan);
  judge.MakeRepeatable();
  OPTIML_ASSIGN(Outcome outcome, judge.Run({once}, ""));
  if (!outcome && !SameOutputs(task_, judge.buffers(), live.outputs.front().buffers)) {
    outcome = judge.Fail(Stage::kL0,
                         "its launches, executed once more on the same contents, give "
                         "another output: it is not determined by them");
  }
  if (!outcome && run.full) {
    OPTIML_ASSIGN(outcome, judge.Run({once, {&c.inputs, kPoisonBytes[1]}}, kOnALaterCall));
  }
  if (!outcome && run.full) {
    judge.MoveTo({machine});
    OPTIML_ASSIGN(outcome, judge.Run({once}, kOnAnotherMachine));
  }
  for (const LiveOutputs& outputs : live.outputs) {
    if (!outcome) {
      OPTIML_ASSIGN(outcome, judge.Compare(outputs.buffers, outputs.poison, outputs.what));
    }
  }
  return outcome;
}

Result<std::optional<Rejection>> TaskVerifier::Trace(PreparedCandidate& candidate,
                                                     Evaluation& evaluation) {
  using Outcome = std::optional<Rejection>;
  if (candidate.live == nullptr) {
    return Outcome();
  }
  const SystemClock clock;
  const Nanoseconds begin = clock.Now();
  LiveSubject subject{task_, candidate.artifact, *candidate.live, device_,
                      options_.step_limit_per_case};
  const auto add = [&](const TaskInputs& inputs, uint8_t poison,
                       std::vector<LaunchPlan>& to) -> Result<Outcome> {
    OPTIML_ASSIGN(auto made, TraceOnce(subject, inputs, poison));
    if (auto* rejection = std::get_if<Rejection>(&made)) {
      rejection->reason = fmt::format("at {}: {}", inputs.text, rejection->reason);
      evaluation.outcome = *rejection;
      return Outcome(std::move(*rejection));
    }
    to.push_back(std::get<LiveCase>(std::move(made)).plan);
    return Outcome();
  };
  candidate.case_plans.clear();
  candidate.timed_plans.clear();
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  Outcome outcome;
  for (size_t plan = 0; plan < library_.first_timed_plan() && !outcome; ++plan) {
    OPTIML_ASSIGN(const VerifyCase* c, library_.Resolve(library_.FirstCaseOf(plan), *original));
    if (c->dropped) {
      candidate.case_plans.emplace_back();  // nothing is promised there
      continue;
    }
    OPTIML_ASSIGN(outcome, add(c->inputs, kPoisonBytes[0], candidate.case_plans));
  }
  subject.step_limit = kMostTraced;
  subject.repeatable = false;
  for (size_t row = 0; row < task_.timed.size() && !outcome; ++row) {
    OPTIML_ASSIGN(const size_t index,
                  library_.BeginTimed(row, options_.first_seed, subject.step_limit));
    Result<Outcome> added = add(library_.InputsOf(index), PoisonFor(task_), candidate.timed_plans);
    library_.EndTimed();
    OPTIML_ASSIGN(outcome, std::move(added));
  }
  if (!outcome) {
    candidate.checked_plans.assign(
        candidate.case_plans.begin(),
        candidate.case_plans.begin() + static_cast<std::ptrdiff_t>(task_.checked.size()));
  }
  evaluation.stage_times.push_back({Stage::kPlan, clock.Now() - begin});
  return outcome;
}

Result<void> TaskVerifier::Verify(const PreparedCandidate& candidate, Evaluation& evaluation) {
  const SystemClock clock;
  const Nanoseconds begin = clock.Now();
  VerifyReport& report = evaluation.verify.emplace();
  share_.reset();
  traced_.clear();
  with_new_kernels_.clear();
  const auto finish = [&](Stage stage, Nanoseconds since, std::optional<Rejection> rejection) {
    evaluation.stage_times.push_back({stage, clock.Now() - since});
    if (rejection) {
      evaluation.outcome = *std::move(rejection);
    }
  };
  report.stage_reached = Stage::kL0;
  std::optional<Rejection> beyond = PlansBeyondLimits(candidate, device_);
  // In host mode the cases' own plans say what they launch.
  if (!beyond && candidate.live == nullptr) {
    beyond = OnlyTimed(candidate.case_plans, candidate.timed_plans);
  }
  if (beyond) {
    finish(Stage::kL0, begin, std::move(beyond));
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
  if (candidate.live != nullptr) {
    beyond = OnlyTimed(with_new_kernels_, candidate.timed_plans);
  }
  finish(Stage::kL1, middle, std::move(beyond));
  share_ = PrecisionElsewhere(task_, report);
  return {};
}

Result<std::vector<const TaskInputs*>> TaskVerifier::TimedInputs(size_t row) {
  // Plans in host mode are for one contents: every set is the same then.
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  if (!has_timed_) {
    OPTIML_TRY(timed_.MakeTimedCases(options_.first_seed, library_.first_timed_plan()));
    timed_.SetTruth([this](const VerifyCase& c) { return InDouble(c); });
    has_timed_ = true;
  }
  std::vector<const TaskInputs*> sets;
  for (size_t set = 0; set < kTimedSets; ++set) {
    sets.push_back(&timed_.InputsOf(row * kTimedSets + (original->live != nullptr ? 0 : set)));
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

bool TaskVerifier::KnowsTimed(size_t row, size_t set, const OutputsDigest& digest) const {
  const auto found = right_.find({row, set, digest});
  if (found == right_.end()) {
    return false;
  }
  // They were right within that share of the budget: within a larger one they are, too.
  const std::optional<double>& share = found->second.share;
  return !share_ || (share && *share <= *share_);
}

Result<CaseLibrary::Outcome> TaskVerifier::Judged(size_t row, size_t set, size_t index,
                                                  const LaunchPlan& plan, TimedOutputs outputs,
                                                  const std::optional<OutputsDigest>& digest) {
  if (outputs.empty()) {
    OPTIML_CHECK(KnowsTimed(row, set, *digest), "outputs that are not known are brought");
    return right_.at({row, set, *digest}).outcome;
  }
  OPTIML_ASSIGN(const PreparedSource* original, Original());
  const std::vector<Tensor> buffers =
      ByArgument(task_, plan, std::move(outputs), timed_.InputsOf(index));
  OPTIML_ASSIGN(CaseLibrary::Outcome compared,
                timed_.CompareOutputs(index, buffers, PoisonFor(task_), *original, share_));
  if (digest && compared.matches()) {
    right_.insert_or_assign({row, set, *digest}, Right{compared, share_});
  }
  return compared;
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
    const size_t index = row * kTimedSets + (original->live != nullptr ? 0 : set);
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
    const auto digest_of = [&](const std::vector<std::optional<OutputsDigest>>& digests) {
      return set < digests.size() ? digests[set] : std::nullopt;
    };
    const std::pair<TimedOutputs*, std::optional<OutputsDigest>> held[] = {
        {&timed.outputs[set], digest_of(timed.digests)},
        {&timed.other_outputs[set], digest_of(timed.other_digests)}};
    for (const auto& [outputs, digest] : held) {
      if (outputs->empty() && !digest) {
        continue;  // every copy holds the same
      }
      OPTIML_ASSIGN(const CaseLibrary::Outcome compared,
                    Judged(row, set, index, plan, std::move(*outputs), digest));
      NoteErrors(compared, report);
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
  OPTIML_ASSIGN(auto prepared, Prepare(task_.source, evaluation));
  OPTIML_CHECK(std::holds_alternative<PreparedCandidate>(prepared),
               "the original was prepared a moment ago");
  auto& candidate = std::get<PreparedCandidate>(prepared);
  OPTIML_ASSIGN(const auto rejected, Trace(candidate, evaluation));
  if (!rejected) {
    OPTIML_TRY(Verify(candidate, evaluation));
  }
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
