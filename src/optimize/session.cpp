#include "optimize/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/check.h"
#include "core/own_launcher.h"
#include "optimize/chain.h"
#include "optimize/chained_catalogue.h"
#include "optimize/engines.h"
#include "optimize/expansion.h"
#include "optimize/interruptible_device.h"
#include "optimize/lift_check.h"
#include "optimize/replay.h"
#include "score/scorer.h"

namespace optiml {
namespace {

using Phase = Progress::Phase;

// How the kernel of a task with [launch] is launched now: the reader's own host code has the old
// launch.
std::string LaunchNote(const LaunchSpec& launch, const PreparedCandidate& best,
                       const std::string& shape) {
  const LaunchPlan& plan = best.timed_plans.front();
  if (plan.maker == PlanMaker::kTaskFile) {
    return "; it is launched as [launch] says";
  }
  std::string launches;
  for (const LaunchStep& step : plan.steps) {
    if (const auto* one = std::get_if<KernelLaunch>(&step)) {
      launches += fmt::format("{}{}<<<({}, {}, {}), ({}, {}, {})>>>", launches.empty() ? "" : ", ",
                              one->kernel, one->grid.x, one->grid.y, one->grid.z, one->block.x,
                              one->block.y, one->block.z);
    }
  }
  return fmt::format("; call its {} in place of the task's [launch]: it launches {} at {}",
                     OwnLauncherName(launch.kernel), launches, shape);
}

// A tree of repetitions must end too.
constexpr size_t kNodesPerCandidate = 4;

class Session {
 public:
  Session(const SessionParts& parts, const Engines& engines, Device& device,
          const SessionOptions& options, const RunRecord& record)
      : parts_(parts),
        engines_(engines),
        device_(device),
        options_(options),
        record_(record),
        watch_(*parts.clock),
        evaluator_(EvaluatorParts()) {}

  Result<void> Run() {
    if (record_.task.hash != parts_.task->hash.Hex()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the task {} has changed since the run {} began: start a new run",
                               parts_.task->name, record_.id.value));
    }
    if (record_.result && CandidatesUsedUp()) {
      // It may have been killed between the two last writes.
      return record_.state == RunState::kFinished ? Result<void>()
                                                  : parts_.store->SetState(RunState::kFinished, "");
    }
    OPTIML_TRY(parts_.store->SetState(RunState::kRunning, ""));
    OPTIML_TRY(CheckTask());
    OPTIML_TRY(EvaluateRoot());
    OPTIML_TRY(MakeActions());
    MakeExpander();
    OPTIML_TRY(ContinueFromRecord());
    uses_ = Uses();
    const Stopwatch searching(*parts_.clock);
    OPTIML_ASSIGN(const std::string stop_reason, Search());
    search_s_ = Seconds(searching.Elapsed()).count();
    NoteUses();
    return Finish(stop_reason);
  }

 private:
  CandidateEvaluator::Parts EvaluatorParts() const {
    CandidateEvaluator::Parts parts;
    parts.task = parts_.task;
    parts.verifier = engines_.verifier.get();
    parts.device = &device_;
    for (const Engines::More& more : engines_.more) {
      parts.more.emplace_back(more.verifier.get(), more.device.get());
    }
    parts.clock = parts_.clock;
    parts.diagnose = engines_.diagnose;
    parts.stop = parts_.stop;
    parts.timing_seed = options_.verifier.first_seed;
    return parts;
  }

  // Where the devices' time went up to now, where they say so.
  std::vector<DeviceUse> Uses() const {
    std::vector<DeviceUse> uses = {device_.Use()};
    for (const Engines::More& more : engines_.more) {
      uses.push_back(more.device->Use());
    }
    std::erase_if(uses, [](const DeviceUse& use) { return use.device.empty(); });
    return uses;
  }

  // What the search alone took of the devices.
  void NoteUses() {
    std::vector<DeviceUse> now = Uses();
    for (size_t i = 0; i < now.size(); ++i) {
      now[i].busy_s -= uses_[i].busy_s;
      for (const DeviceUse::Phase& before : uses_[i].phases) {
        now[i].Add(before.name, -before.seconds);
      }
    }
    uses_ = std::move(now);
  }

  // The loop: ask until enough is under way, tell the oldest. Everything that was told is in the
  // store before the next question is asked.
  Result<std::string> Search() {
    live_begin_ = watch_.Elapsed();
    for (const Evaluate& question : search_.open) {
      OPTIML_TRY(Start(question));
    }
    std::string ended;
    while (true) {
      OPTIML_ASSIGN(ended, AskMore());
      if (pending_.empty()) {
        return ended;
      }
      OPTIML_TRY(InterruptibleDevice::CheckStop(parts_.stop));
      OPTIML_ASSIGN(const NodeRecord node, FinishOldest());
      OPTIML_TRY(parts_.store->AppendNode(node));
      search_.searcher->Tell(NodeId(node.id), OutcomeOf(node));
      Add(node);
    }
  }

  // Until enough candidates are under way; why no more were asked for.
  Result<std::string> AskMore() {
    while (static_cast<int>(pending_.size()) < options_.in_flight) {
      if (const std::optional<std::string> reason = BudgetEnded()) {
        return *reason;
      }
      OPTIML_TRY(InterruptibleDevice::CheckStop(parts_.stop));
      const Question question = search_.searcher->Ask();
      if (std::holds_alternative<Exhausted>(question)) {
        return std::string("exhausted");
      }
      if (const auto* needs = std::get_if<NeedEdits>(&question)) {
        OPTIML_TRY(Expand(needs->node));
        continue;
      }
      ++search_.asked;
      OPTIML_TRY(Start(std::get<Evaluate>(question)));
    }
    return std::string();
  }

  std::optional<std::string> BudgetEnded() const {
    if (candidates_done() + static_cast<int>(pending_.size()) >= options_.budget.candidates ||
        CandidatesUsedUp()) {
      return "candidates";
    }
    if (options_.budget.wall_time && watch_.Elapsed() >= *options_.budget.wall_time) {
      return "wall time";
    }
    return std::nullopt;
  }

  // Gives a node its edits.
  Result<void> Expand(NodeId node) {
    OPTIML_ASSIGN(ExpansionRecord expansion, expander_->Expand(node.value, record_.nodes));
    OPTIML_TRY(parts_.store->AppendExpansion(expansion));
    std::vector<double> priors;
    for (const Edit& edit : expansion.edits) {
      priors.push_back(edit.prior);
    }
    search_.searcher->SetEdits(node, priors);
    search_.edits.emplace(node.value, std::move(expansion.edits));
    return {};
  }

  // One candidate: apply, prepare, verify, time, profile, score.
  struct Pending {
    NodeRecord node;
    Nanoseconds asked_at{0};
    CandidateEvaluator::Begun begun;
  };

  Result<void> Start(const Evaluate& question) {
    NodeRecord node;
    node.id = question.child.value;
    node.parent = question.parent.value;
    node.edit = search_.edits.at(node.parent)[static_cast<size_t>(question.edit)];
    std::vector<Edit> chain = ChainTo(record_.nodes, node.parent);
    chain.push_back(node.edit);
    OPTIML_TRY(catalogue_->Prepare(chain, false));
    const Nanoseconds now = watch_.Elapsed();
    CandidateEvaluator::Begun begun =
        evaluator_.Begin(*catalogue_, chain, VariantId(node.id), options_.in_flight > 1);
    pending_.push_back({std::move(node), now, std::move(begun)});
    return {};
  }

  Result<NodeRecord> FinishOldest() {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    NodeRecord& node = pending.node;
    OPTIML_ASSIGN(CandidateOutcome outcome, evaluator_.Finish(std::move(pending.begun)));
    node.source = std::move(outcome.source);
    node.evaluation = std::move(outcome.evaluation);
    node.duplicate_of = outcome.duplicate_of.value_or(-1);
    if (node.duplicate_of < 0) {  // its own, or a trial's of the same program
      node.evaluation.variant = VariantId(node.id);
      node.evaluation.from_store = false;
    }
    node.variant = node.evaluation.variant;
    OPTIML_ASSIGN(node.judgement, expander_->JudgeNode(node, record_.nodes));
    node.reward =
        scorer_->Score(node.evaluation, node.edit,
                       record_.nodes[static_cast<size_t>(node.parent)].evaluation, node.judgement);
    node.asked = search_.asked;
    if (options_.in_flight > 1) {
      node.expanded = static_cast<int64_t>(search_.edits.size());
    }
    node.told_at = parts_.clock->WallTime();
    const Nanoseconds now = watch_.Elapsed();
    node.wall_time = now - std::max(pending.asked_at, last_told_);
    last_told_ = now;
    return std::move(node);
  }

  Result<void> CheckTask() {
    if (!record_.battery.empty()) {
      return {};
    }
    Report(Phase::kBattery, "");
    OPTIML_ASSIGN(const std::vector<BatteryVerdict> verdicts, engines_.verifier->Battery());
    for (const BatteryVerdict& verdict : verdicts) {
      record_.battery.push_back({verdict.mutant, verdict.verdict, verdict.detail});
    }
    for (const std::string& dropped : engines_.verifier->DroppedCases()) {
      record_.battery.push_back({"check", "left out", dropped});
    }
    return parts_.store->SaveBattery(record_.battery);
  }

  Result<void> EvaluateRoot() {
    Report(Phase::kRoot, "");
    if (!record_.nodes.empty()) {
      return {};
    }
    const Stopwatch watch(*parts_.clock);
    OPTIML_ASSIGN(CandidateOutcome outcome,
                  evaluator_.EvaluateSource(parts_.task->source, VariantId(0)));
    if (const Rejection* rejection = outcome.evaluation.rejection()) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: the task's own kernel is rejected at {}: {}", parts_.task->source.path(),
                      StageName(rejection->stage), rejection->reason));
    }
    NodeRecord root;
    root.variant = VariantId(0);
    root.source = std::move(outcome.source);
    root.reward = Scorer(ScoreOptionsOf(options_), outcome.evaluation).ScoreRoot();
    root.evaluation = std::move(outcome.evaluation);
    root.told_at = parts_.clock->WallTime();
    root.wall_time = watch.Elapsed();
    OPTIML_TRY(parts_.store->AppendNode(root));
    record_.nodes.push_back(std::move(root));
    return {};
  }

  // The catalogue, with what the lift check refused left out.
  Result<void> MakeActions() {
    Evaluation ignored;
    OPTIML_ASSIGN(auto prepared, engines_.verifier->Prepare(parts_.task->source, ignored));
    if (auto* made = std::get_if<PreparedCandidate>(&prepared)) {
      OPTIML_ASSIGN(auto untraced, engines_.verifier->Trace(*made, ignored));
      if (untraced) {
        prepared = *std::move(untraced);
      }
    }
    if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
      return Error(
          ErrorCode::kInternal,
          fmt::format("{}: the root was accepted before, now it is rejected at {}: {}",
                      parts_.task->source.path(), StageName(rejection->stage), rejection->reason));
    }
    const auto& root = std::get<PreparedCandidate>(prepared);
    OPTIML_ASSIGN(CheckedCatalogue checked,
                  MakeCheckedCatalogue(*parts_.task, root, *engines_.verifier, device_,
                                       [&](const std::vector<std::string>& excluded_kernels) {
                                         return engines_.make_catalogue(root, excluded_kernels);
                                       }));
    catalogue_ = std::make_unique<ChainedCatalogue>(
        std::move(checked.catalogue),
        [this](const KernelSource& source) { return CatalogueOver(source); });
    return parts_.store->SaveLifts(checked.rows);
  }

  // The rewrites that may follow a model's edit. Its text has to pass the gates first: the lift is
  // checked by running it.
  Result<ChainedCatalogue::Made> CatalogueOver(const KernelSource& source) {
    OPTIML_ASSIGN(const CandidateOutcome outcome, evaluator_.EvaluateSource(source, VariantId()));
    if (!outcome.evaluation.from_store) {
      evaluator_.Remember(outcome.evaluation, std::nullopt);
    }
    Evaluation ignored;
    OPTIML_ASSIGN(const auto prepared, engines_.verifier->Prepare(source, ignored));
    const Rejection* rejection = outcome.evaluation.rejection();
    if (rejection == nullptr) {
      rejection = std::get_if<Rejection>(&prepared);
    }
    if (rejection != nullptr) {
      return ChainedCatalogue::Made(
          fmt::format("{}: {}", StageName(rejection->stage), rejection->reason));
    }
    const auto& candidate = std::get<PreparedCandidate>(prepared);
    const Stations::Hold first = evaluator_.HoldFirst();
    OPTIML_ASSIGN(CheckedCatalogue checked,
                  MakeCheckedCatalogue(*parts_.task, candidate, *engines_.verifier, device_,
                                       [&](const std::vector<std::string>& excluded_kernels) {
                                         return engines_.make_catalogue(candidate,
                                                                        excluded_kernels);
                                       }));
    return ChainedCatalogue::Made(std::move(checked.catalogue));
  }

  void MakeExpander() {
    desk_.emplace(
        ModelDesk::Parts{parts_.models, parts_.model_budget, options_.search.seed, parts_.store,
                         parts_.clock, parts_.stop,
                         [this](const std::string& note) { Report(Phase::kSearch, note); }},
        record_.exchanges);
    Expander::Parts parts;
    parts.task = parts_.task;
    parts.catalogue = catalogue_.get();
    parts.evaluator = &evaluator_;
    parts.desk = &*desk_;
    parts.store = parts_.store;
    parts.clock = parts_.clock;
    parts.device = &device_.Info();
    parts.judge = options_.judge;
    parts.siblings = parts_.siblings;
    parts.failing_trials = FailingTrials(options_.model_share, options_.budget.candidates);
    parts.tell = [this](const std::string& note) { Report(Phase::kSearch, note); };
    for (const TrialRecord& trial : record_.trials) {
      if (!trial.evaluation.from_store) {
        evaluator_.Remember(trial.evaluation, std::nullopt);
      }
    }
    expander_.emplace(std::move(parts), std::move(record_.trials));
    record_.trials.clear();
    record_.exchanges.clear();
  }

  Result<void> ContinueFromRecord() {
    OPTIML_ASSIGN(search_, ReplayNodes(record_, options_));
    record_.expansions.clear();  // the search has them now
    scorer_.emplace(ScoreOptionsOf(options_), record_.nodes[0].evaluation);
    replayed_candidates_ = candidates_done();
    for (NodeRecord& node : record_.nodes) {
      Count(node);
      node.source = std::string();  // it is in the store
    }
    return {};
  }

  void Add(const NodeRecord& node) {
    record_.nodes.push_back(node);
    record_.nodes.back().source = std::string();  // it is in the store
    Count(node);
    const Rejection* rejection = node.evaluation.rejection();
    Report(Phase::kSearch,
           rejection != nullptr
               ? fmt::format("{}: rejected at {}: {}", node.edit.Label(),
                             StageName(rejection->stage), rejection->reason)
               : fmt::format(
                     "{}: {} gain {:.2f}x", node.edit.Label(),
                     device_.Info().capabilities.measures_time ? "measured" : "predicted",
                     record_.nodes[0].evaluation.TimeSeconds() / node.evaluation.TimeSeconds()));
  }

  void Count(const NodeRecord& node) {
    if (node.duplicate_of < 0) {
      evaluator_.Remember(node.evaluation, node.id);
    }
    accepted_ += node.id > 0 && node.duplicate_of < 0 && node.evaluation.accepted() ? 1 : 0;
  }

  // The chain of the best node, the verdict on its gain, the check as delivered.
  Result<void> Finish(const std::string& stop_reason) {
    Report(Phase::kChain, "");
    const Evaluation& root = record_.nodes[0].evaluation;
    const int64_t best = BestNode(record_.nodes);
    RunResult result;
    result.root = root;
    result.stop_reason = stop_reason;
    result.devices = uses_;
    result.search_s = search_s_;
    result.search_candidates = candidates_done() - replayed_candidates_;
    if (best == 0) {
      result.best = root;
      result.best_source = parts_.task->source.text();
      result.reason =
          fmt::format("none of {} candidates was faster than the original ({} accepted)",
                      candidates_done(), accepted_);
    } else {
      OPTIML_TRY(Judge(best, result));
    }
    result.finished_at = parts_.clock->WallTime();
    OPTIML_TRY(parts_.store->SaveResult(result));
    OPTIML_TRY(parts_.store->SetState(RunState::kFinished, ""));
    Report(Phase::kDone, result.reason);
    return {};
  }

  Result<void> Judge(int64_t best, RunResult& result) {
    const CandidateOutcome root{*result.root, parts_.task->source.text(), std::nullopt};
    OPTIML_ASSIGN(ChainOutcome chain,
                  ReduceChain(ChainTo(record_.nodes, best), root,
                              [this](std::span<const Edit> edits) { return Again(edits); }));
    OPTIML_ASSIGN(const GainVerdict verdict, VerdictOn(chain.best));
    result.chain = std::move(chain.steps);
    result.best = chain.best.evaluation;
    result.gain = verdict.gain;
    result.gain_conditions = verdict.conditions;
    result.reason = verdict.reason;
    result.improved = verdict.kept;
    if (verdict.kept) {
      OPTIML_TRY(Deliver(chain.best.source, result));
    }
    if (result.improved) {
      result.best_source = std::move(chain.best.source);
      return {};
    }
    result.best_source = root.source;
    for (ChainStep& step : result.chain) {
      step.mark = EditMark::kDropped;
      step.note = "not kept: " + result.reason;
    }
    return {};
  }

  Result<GainVerdict> VerdictOn(const CandidateOutcome& best) {
    if (!device_.Info().capabilities.measures_time) {
      return JudgePrediction(record_.nodes[0].evaluation, best.evaluation, device_.Info());
    }
    std::string why_not;
    const KernelSource& original = parts_.task->source;
    OPTIML_ASSIGN(
        const std::optional<GainMeasurement> measured,
        evaluator_.MeasureGain(KernelSource(best.source, original.entry(), original.path()),
                               original, why_not));
    return measured ? JudgeMeasurement(*measured)
                    : GainVerdict{false, 1, "the gain could not be measured again: " + why_not};
  }

  // A chain that need not be in the tree.
  Result<CandidateOutcome> Again(std::span<const Edit> edits) {
    Report(Phase::kChain, edits.empty() ? "" : edits.back().Label());
    OPTIML_TRY(catalogue_->Prepare(edits, false));
    OPTIML_ASSIGN(CandidateOutcome outcome, evaluator_.Evaluate(*catalogue_, edits, VariantId()));
    if (!outcome.evaluation.from_store) {
      evaluator_.Remember(outcome.evaluation, std::nullopt);
    }
    return outcome;
  }

  // The very text that is handed over, without the memory of earlier answers.
  Result<void> Deliver(const std::string& source, RunResult& result) {
    Report(Phase::kDelivered, "");
    const KernelSource best(source, parts_.task->source.entry(), parts_.task->source.path());
    Evaluation ignored;
    OPTIML_ASSIGN(auto prepared, engines_.verifier->Prepare(best, ignored));
    auto* candidate = std::get_if<PreparedCandidate>(&prepared);
    OPTIML_CHECK(candidate != nullptr, "the best candidate was prepared before");
    OPTIML_ASSIGN(const auto untraced, engines_.verifier->Trace(*candidate, ignored));
    OPTIML_CHECK(!untraced, "the best candidate was traced before");
    OPTIML_ASSIGN(DeliveredReport report, engines_.deliver(source, *candidate));
    if (const Rejection* rejection = report.evaluation.rejection()) {
      result.improved = false;
      result.reason =
          fmt::format("the check of the file as delivered failed: {}", rejection->reason);
    }
    result.delivered = std::move(report.evaluation);
    result.delivered_note = std::move(report.nvcc);
    if (parts_.task->launch) {
      result.delivered_note +=
          LaunchNote(*parts_.task->launch, *candidate, parts_.task->timed.front().Text());
    }
    return {};
  }

  // Without the root and those that an earlier one answered for.
  int candidates_done() const {
    const auto own = std::count_if(record_.nodes.begin(), record_.nodes.end(),
                                   [](const NodeRecord& node) { return node.duplicate_of < 0; });
    return std::max(static_cast<int>(own), 1) - 1;
  }

  bool CandidatesUsedUp() const {
    return candidates_done() >= options_.budget.candidates ||
           record_.nodes.size() >
               kNodesPerCandidate * static_cast<size_t>(options_.budget.candidates);
  }

  void Report(Phase phase, const std::string& last) const {
    if (!parts_.observer) {
      return;
    }
    Progress progress;
    progress.phase = phase;
    progress.candidates_done = candidates_done();
    progress.candidates_budget = options_.budget.candidates;
    progress.accepted = accepted_;
    progress.measured = device_.Info().capabilities.measures_time;
    progress.last = last;
    progress.elapsed = watch_.Elapsed();
    if (desk_) {
      progress.models = desk_->Uses();
    }
    if (!record_.nodes.empty()) {
      const auto best = static_cast<size_t>(BestNode(record_.nodes));
      progress.root_time_s = record_.nodes[0].evaluation.TimeSeconds();
      progress.best_time_s = record_.nodes[best].evaluation.TimeSeconds();
    }
    const int live = candidates_done() - replayed_candidates_;
    if (phase == Phase::kSearch && live > 0) {
      Nanoseconds eta = (progress.elapsed - live_begin_) / live *
                        std::max(0, options_.budget.candidates - candidates_done());
      if (options_.budget.wall_time) {
        eta = std::min<Nanoseconds>(
            eta, std::max(Nanoseconds(0), *options_.budget.wall_time - progress.elapsed));
      }
      progress.eta = eta;
    }
    parts_.observer(progress);
  }

  const SessionParts& parts_;
  const Engines& engines_;
  Device& device_;
  const SessionOptions& options_;
  RunRecord record_;  // nodes without their sources, which are in the store
  Stopwatch watch_;
  CandidateEvaluator evaluator_;
  std::unique_ptr<ChainedCatalogue> catalogue_;
  std::optional<ModelDesk> desk_;
  std::optional<Expander> expander_;
  ReplayedSearch search_;
  std::deque<Pending> pending_;  // asked and not told, the oldest first
  Nanoseconds last_told_{0};
  std::vector<DeviceUse> uses_;  // before the search, then of it
  double search_s_ = 0;
  std::optional<Scorer> scorer_;
  int accepted_ = 0;
  int replayed_candidates_ = 0;
  Nanoseconds live_begin_{0};
};

}  // namespace

ScoreOptions ScoreOptionsOf(const SessionOptions& options) {
  ScoreOptions score;
  score.proxies = options.proxies;
  score.judge = options.judge;
  return score;
}

Result<RunRecord> RunSessionWith(const SessionParts& parts, const Engines& engines, Device& device,
                                 const SessionOptions& options, const RunRecord& record) {
  Session session(parts, engines, device, options, record);
  Result<void> ended = session.Run();
  if (ended) {
    return parts.store->Load();
  }
  if (ended.error().code() == ErrorCode::kInterrupted) {
    OPTIML_TRY(parts.store->SetState(RunState::kInterrupted, ""));
    return parts.store->Load();
  }
  // The store may be what is broken: its own error, not this one, is what the user must see.
  [[maybe_unused]] const bool noted =
      parts.store->SetState(RunState::kFailed, ended.error().message()).has_value();
  return std::move(ended).error();
}

}  // namespace optiml
