#include "optimize/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "optimize/chain.h"
#include "optimize/replay.h"
#include "profile/model_diagnoser.h"
#include "propose/model_proposer.h"
#include "propose/rewrite_proposer.h"
#include "rewrite/model_edits.h"
#include "score/judge.h"
#include "score/model_judge.h"
#include "score/seconds_text.h"

namespace optiml {
namespace {

constexpr int kDiagnosisTokens = 1024;
constexpr int kProposalTokens = 8192;  // a whole kernel, three times
constexpr int kOpinionTokens = 2048;
constexpr int kVerdictTokens = 512;
// Failed edits that a proposer is shown: the latest.
constexpr size_t kMostFailedShown = 12;
constexpr size_t kMostOutcomeBytes = 500;  // of a compiler's or checker's message

std::string OutcomeText(const Evaluation& evaluation, const Evaluation& root) {
  if (const Rejection* rejection = evaluation.rejection()) {
    return fmt::format("rejected at {}: {}", StageName(rejection->stage),
                       rejection->reason.substr(0, kMostOutcomeBytes));
  }
  return fmt::format("accepted, {:.3g} times as fast as the original",
                     root.TimeSeconds() / evaluation.TimeSeconds());
}

// The model's, or the table's.
std::optional<PlacedDiagnosis> DiagnosisOf(const ExpansionRecord& expansion,
                                           const Evaluation& evaluation) {
  if (expansion.diagnosis || !evaluation.diagnosis) {
    return expansion.diagnosis;
  }
  return PlacedDiagnosis{*evaluation.diagnosis, {}, ""};
}

}  // namespace

// A node on its way to its edits.
struct Expander::Place {
  explicit Place(const std::vector<NodeRecord>& all) : nodes(all) {}

  const std::vector<NodeRecord>& nodes;
  int64_t node = 0;
  std::vector<Edit> chain;
  Evaluation evaluation;  // with the diagnosis that counts here
  std::string source;
  ExpansionRecord expansion;
  ProposerInput input;
  ModelDesk::Talk talk;  // with the proposer
  int failed = 0;        // trials of this expansion, those of an earlier process included
};

int FailingTrials(double share, int candidates) {
  constexpr double kLeast = 2;  // one answer and its repair
  constexpr double kMost = 1e6;
  return share > 0 ? static_cast<int>(std::clamp(std::ceil(share * candidates), kLeast, kMost)) : 0;
}

// A killed process may have made some of this node's trials: they count when they come up again.
int Expander::FailuresLeft(const Place& place) const {
  const auto elsewhere = std::count_if(
      trials_.begin(), trials_.end(),
      [&](const TrialRecord& trial) { return !trial.kept && trial.node != place.node; });
  return parts_.failing_trials - static_cast<int>(elsewhere) - place.failed;
}

Result<ExpansionRecord> Expander::Expand(int64_t node, const std::vector<NodeRecord>& nodes) {
  Place place{nodes};
  place.node = node;
  place.chain = ChainTo(nodes, node);
  place.evaluation = nodes[static_cast<size_t>(node)].evaluation;
  place.expansion.node = node;
  OPTIML_TRY(parts_.catalogue->Prepare(place.chain, true));
  if (parts_.desk->HasAny()) {
    const rewrite::ApplyOutcome text = parts_.catalogue->Apply(place.chain);
    if (const auto* source = std::get_if<KernelSource>(&text)) {
      place.source = source->text();
    }
  }
  OPTIML_TRY(Diagnose(place));
  OPTIML_ASSIGN(place.expansion.edits,
                RewriteProposer(*parts_.catalogue).Propose({place.chain, &place.evaluation}));
  AddSiblings(place);
  place.expansion.notes.resize(place.expansion.edits.size());
  OPTIML_ASSIGN(std::vector<Proposal> proposals, Propose(place));
  OPTIML_TRY(FormOpinions(place, proposals));
  OPTIML_TRY(TryAll(place, std::move(proposals)));
  const auto says = [](const EditNote& note) { return !note.proposer.empty() || note.opinion; };
  if (std::none_of(place.expansion.notes.begin(), place.expansion.notes.end(), says)) {
    place.expansion.notes.clear();
  }
  return std::move(place.expansion);
}

Result<void> Expander::Diagnose(Place& place) {
  ModelDesk& desk = *parts_.desk;
  if (!desk.Has(ModelRole::kDiagnoser) || !place.evaluation.profile) {
    return {};
  }
  ModelDesk::Talk talk;
  talk.role = ModelRole::kDiagnoser;
  talk.prompt = Prompt::kDiagnoser;
  talk.node = place.node;
  talk.messages = DiagnoserPrompt(place.source, place.evaluation, *parts_.device);
  talk.max_tokens = kDiagnosisTokens;
  const std::string model = desk.NameOf(talk.role);
  OPTIML_ASSIGN(const bool taken, desk.Ask(talk, [&](const std::string& reply) -> Result<void> {
    OPTIML_ASSIGN(place.expansion.diagnosis,
                  ReadModelDiagnosis(reply, place.source, place.evaluation, model));
    return {};
  }));
  if (taken) {
    place.evaluation.diagnosis = place.expansion.diagnosis->diagnosis;
  }
  return {};
}

Result<std::vector<Proposal>> Expander::Propose(Place& place) {
  std::vector<Proposal> proposals;
  ModelDesk& desk = *parts_.desk;
  if (!desk.Has(ModelRole::kProposer) || FailuresLeft(place) <= 0) {
    return proposals;
  }
  const Evaluation& root = place.nodes.front().evaluation;
  ProposerInput& input = place.input;
  input.source = place.source;
  input.entry = parts_.task->source.entry();
  input.intent = parts_.task->intent;
  input.device = DeviceText(*parts_.device);
  input.evaluation = &place.evaluation;
  input.diagnosis = DiagnosisOf(place.expansion, place.evaluation);
  input.catalogue = place.expansion.edits;
  input.most = kMostProposals;
  std::vector<int64_t> path;
  for (int64_t node = place.node; node >= 0; node = place.nodes[static_cast<size_t>(node)].parent) {
    path.insert(path.begin(), node);
  }
  for (const int64_t node : path) {
    const NodeRecord& record = place.nodes[static_cast<size_t>(node)];
    if (node > 0) {
      input.chain.push_back({&record.edit, OutcomeText(record.evaluation, root)});
    }
  }
  const auto on_path = [&](int64_t node) {
    return std::find(path.begin(), path.end(), node) != path.end();
  };
  for (const NodeRecord& record : place.nodes) {
    if (record.id > 0 && on_path(record.parent) && !record.evaluation.accepted()) {
      input.failed.push_back({&record.edit, OutcomeText(record.evaluation, root)});
    }
  }
  for (const TrialRecord& trial : trials_) {
    if (!trial.kept && on_path(trial.node) && trial.node != place.node) {
      input.failed.push_back({&trial.edit, trial.reason.substr(0, kMostOutcomeBytes)});
    }
  }
  if (input.failed.size() > kMostFailedShown) {
    input.failed.erase(input.failed.begin(),
                       input.failed.end() - static_cast<long>(kMostFailedShown));
  }
  place.talk.role = ModelRole::kProposer;
  place.talk.prompt = Prompt::kProposer;
  place.talk.node = place.node;
  place.talk.messages = ProposerPrompt(input);
  input.failed.clear();  // they point to trials, which grow
  place.talk.max_tokens = kProposalTokens;
  const std::string model = desk.NameOf(ModelRole::kProposer);
  OPTIML_ASSIGN(const bool taken,
                desk.Ask(place.talk, [&](const std::string& reply) -> Result<void> {
                  OPTIML_ASSIGN(proposals, ReadProposals(reply, input, model));
                  return {};
                }));
  return taken ? proposals : std::vector<Proposal>();
}

// Opinions of the model on all edits, or of the mechanical judge on the proposals alone: what the
// catalogue aims at is in its priors already.
Result<void> Expander::FormOpinions(Place& place, std::vector<Proposal>& proposals) {
  std::vector<Edit>& edits = place.expansion.edits;
  if (!parts_.judge) {
    return {};
  }
  std::vector<Opinion> opinions;
  ModelDesk& desk = *parts_.desk;
  if (desk.Has(ModelRole::kJudge) && !(edits.empty() && proposals.empty())) {
    OpinionInput input;
    input.device = DeviceText(*parts_.device);
    input.source = place.source;
    input.evaluation = &place.evaluation;
    input.diagnosis = DiagnosisOf(place.expansion, place.evaluation);
    input.edits = edits;
    for (const Proposal& proposal : proposals) {
      input.edits.push_back(proposal.edit);
    }
    ModelDesk::Talk talk;
    talk.role = ModelRole::kJudge;
    talk.prompt = Prompt::kJudgeBefore;
    talk.node = place.node;
    talk.messages = OpinionPrompt(input);
    talk.max_tokens = kOpinionTokens;
    const std::string model = desk.NameOf(talk.role);
    OPTIML_ASSIGN(const bool taken, desk.Ask(talk, [&](const std::string& reply) -> Result<void> {
      OPTIML_ASSIGN(opinions, ReadOpinions(reply, input.edits.size(), model));
      return {};
    }));
    opinions.resize(taken ? opinions.size() : 0);
  }
  for (size_t i = 0; i < edits.size() && !opinions.empty(); ++i) {
    place.expansion.notes[i].opinion = opinions[i];
    edits[i].prior *= PriorFactor(opinions[i]);
  }
  for (size_t i = 0; i < proposals.size(); ++i) {
    proposals[i].note.opinion =
        opinions.empty() ? MechanicalOpinion(proposals[i].edit, place.evaluation.diagnosis)
                         : opinions[edits.size() + i];
  }
  return {};
}

// The proposals, and what the model makes of the messages about those that were rejected.
Result<void> Expander::TryAll(Place& place, std::vector<Proposal> proposals) {
  if (proposals.empty()) {
    return {};
  }
  OPTIML_ASSIGN(const std::string problem, TryThese(place, proposals));
  if (problem.empty() || place.talk.repaired || FailuresLeft(place) <= 0) {
    return {};
  }
  std::vector<Proposal> repaired;
  const std::string model = parts_.desk->NameOf(ModelRole::kProposer);
  OPTIML_ASSIGN(
      const bool taken,
      parts_.desk->Repair(place.talk, problem, [&](const std::string& reply) -> Result<void> {
        OPTIML_ASSIGN(repaired, ReadProposals(reply, place.input, model));
        return {};
      }));
  if (!taken) {
    return {};
  }
  for (Proposal& proposal : repaired) {
    if (parts_.judge) {
      proposal.note.opinion = MechanicalOpinion(proposal.edit, place.evaluation.diagnosis);
    }
  }
  OPTIML_TRY(TryThese(place, repaired));
  return {};
}

// What was rejected, for the model that is asked to repair it; "" when nothing was.
Result<std::string> Expander::TryThese(Place& place, const std::vector<Proposal>& proposals) {
  std::string problem;
  for (size_t i = 0; i < proposals.size() && FailuresLeft(place) > 0; ++i) {
    const std::optional<Opinion>& opinion = proposals[i].note.opinion;
    if (opinion && opinion->plausibility_ratio < kImplausible) {
      continue;
    }
    OPTIML_ASSIGN(const size_t index, IndexOfTrial(place, proposals[i]));
    const TrialRecord& trial = trials_[index];
    place.failed += trial.kept ? 0 : 1;
    if (trial.kept) {
      Keep(place, proposals[i]);
    } else if (!trial.evaluation.accepted()) {
      problem += fmt::format("Edit {} was {}\n", i + 1, trial.reason);
    }
  }
  return problem;
}

// Of the trial of this edit at this node: an earlier process's, or a new one's.
Result<size_t> Expander::IndexOfTrial(const Place& place, const Proposal& proposal) {
  const auto before = std::find_if(trials_.begin(), trials_.end(), [&](const TrialRecord& trial) {
    return trial.node == place.node && trial.edit.Label() == proposal.edit.Label();
  });
  if (before != trials_.end()) {
    return static_cast<size_t>(before - trials_.begin());
  }
  OPTIML_ASSIGN(TrialRecord trial, Try(place, proposal));
  OPTIML_TRY(parts_.store->AppendTrial(trial));
  if (parts_.tell) {
    parts_.tell(fmt::format("trial of {}: {}", proposal.edit.Label(), trial.reason));
  }
  trial.source = std::string();  // it is in the store
  trials_.push_back(std::move(trial));
  return trials_.size() - 1;
}

Result<TrialRecord> Expander::Try(const Place& place, const Proposal& proposal) {
  const Stopwatch watch(*parts_.clock);
  std::vector<Edit> chain = place.chain;
  chain.push_back(proposal.edit);
  OPTIML_TRY(parts_.catalogue->Prepare(chain, false));
  OPTIML_ASSIGN(CandidateOutcome outcome,
                parts_.evaluator->Evaluate(*parts_.catalogue, chain, VariantId()));
  TrialRecord trial;
  trial.node = place.node;
  trial.edit = proposal.edit;
  trial.note = proposal.note;
  const Evaluation& parent = place.evaluation;
  if (const Rejection* rejection = outcome.evaluation.rejection()) {
    trial.reason = fmt::format("rejected at {}: {}", StageName(rejection->stage),
                               rejection->reason.substr(0, kMostOutcomeBytes));
  } else if (outcome.evaluation.from_store) {
    trial.reason = outcome.duplicate_of
                       ? fmt::format("the same program as node {}", *outcome.duplicate_of)
                       : "the same program as an earlier trial";
  } else {
    trial.kept = IsSlower(parent, outcome.evaluation);
    trial.reason = fmt::format("{}: {} against {}", trial.kept ? "faster" : "not faster",
                               SecondsText(outcome.evaluation.TimeSeconds()),
                               SecondsText(parent.TimeSeconds()));
  }
  if (!outcome.evaluation.from_store) {
    parts_.evaluator->Remember(outcome.evaluation, std::nullopt);
  }
  trial.source = std::move(outcome.source);
  trial.evaluation = std::move(outcome.evaluation);
  trial.wall_time = watch.Elapsed();
  return trial;
}

// Whole kernels, as likely as the likeliest edit: nobody knows yet what they lead to.
void Expander::AddSiblings(Place& place) const {
  if (place.node != 0) {
    return;
  }
  std::vector<Edit>& edits = place.expansion.edits;
  double prior = 1;
  for (const Edit& edit : edits) {
    prior = std::max(prior, edit.prior);
  }
  for (const KernelSource& sibling : parts_.siblings) {
    if (sibling.text() != parts_.task->source.text()) {
      Edit edit = rewrite::MakeKernelEdit(sibling.text());
      edit.summary = fmt::format("start from {}", sibling.path());
      edit.prior = prior;
      edits.push_back(std::move(edit));
    }
  }
}

// Among the node's edits, in the place of the catalogue's where it is one of them. The search is to
// choose it next: it is known to be faster.
void Expander::Keep(Place& place, Proposal proposal) const {
  constexpr double kBeforeTheCatalogue = 3;
  std::vector<Edit>& edits = place.expansion.edits;
  std::vector<EditNote>& notes = place.expansion.notes;
  double best = 0;
  for (size_t i = 0; i < edits.size(); ++i) {
    best = std::max(best, notes[i].proposer.empty() ? edits[i].prior : 0);
  }
  Edit& edit = proposal.edit;
  for (size_t i = edits.size(); i-- > 0;) {
    if (edits[i].Label() == edit.Label()) {
      edits.erase(edits.begin() + static_cast<long>(i));
      notes.erase(notes.begin() + static_cast<long>(i));
    }
  }
  const std::optional<Opinion>& opinion = proposal.note.opinion;
  const double hope = std::min(1.0, edit.prior * (opinion ? PriorFactor(*opinion) : 1.0));
  edit.prior = (best > 0 ? best : 1) * (kBeforeTheCatalogue + hope);
  edits.push_back(std::move(edit));
  notes.push_back(std::move(proposal.note));
}

Result<std::optional<Judgement>> Expander::JudgeNode(const NodeRecord& node,
                                                     const std::vector<NodeRecord>& nodes) {
  std::optional<Judgement> judgement;
  const Evaluation& parent = nodes[static_cast<size_t>(node.parent)].evaluation;
  const auto counted = JudgeEdit(node.edit, parent.profile, node.evaluation.profile);
  if (!parts_.judge || !parts_.desk->Has(ModelRole::kJudge) || !node.evaluation.accepted() ||
      node.duplicate_of >= 0 || !counted || counted->verdict != Verdict::kUnclear) {
    return judgement;
  }
  const std::vector<Edit> chain = ChainTo(nodes, node.parent);
  OPTIML_TRY(parts_.catalogue->Prepare(chain, false));
  const rewrite::ApplyOutcome before = parts_.catalogue->Apply(chain);
  VerdictInput input;
  input.edit = &node.edit;
  if (parent.diagnosis) {
    input.diagnosis = PlacedDiagnosis{*parent.diagnosis, {}, ""};
  }
  input.before = &parent;
  input.after = &node.evaluation;
  input.source_after = node.source;
  if (const auto* source = std::get_if<KernelSource>(&before)) {
    input.source_before = source->text();
  }
  ModelDesk::Talk talk;
  talk.role = ModelRole::kJudge;
  talk.prompt = Prompt::kJudgeAfter;
  talk.node = node.id;
  talk.messages = VerdictPrompt(input);
  talk.max_tokens = kVerdictTokens;
  const std::string model = parts_.desk->NameOf(talk.role);
  OPTIML_TRY(parts_.desk->Ask(talk, [&](const std::string& reply) -> Result<void> {
    OPTIML_ASSIGN(judgement, ReadVerdict(reply, model));
    return {};
  }));
  return judgement;
}

}  // namespace optiml
