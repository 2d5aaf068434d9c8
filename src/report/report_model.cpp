#include "report/report_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/host_mode.h"
#include "report/metric_table.h"
#include "report/report_numbers.h"
#include "report/text_format.h"

namespace optiml {
namespace {

std::optional<double> TimeOf(const Evaluation& evaluation) {
  return evaluation.timings.empty() ? std::nullopt
                                    : std::optional<double>(evaluation.TimeSeconds());
}

// The tree with depths, children and the path to the best node.
std::vector<NodeRow> MakeNodes(const RunRecord& run, std::optional<double> root_time) {
  std::vector<NodeRow> rows;
  std::map<int64_t, size_t> by_id;
  for (const NodeRecord& node : run.nodes) {
    NodeRow row;
    row.record = &node;
    row.time_s = TimeOf(node.evaluation);
    if (row.time_s && root_time) {
      row.gain = *root_time / *row.time_s;
    }
    if (const auto parent = by_id.find(node.parent); parent != by_id.end()) {
      row.depth = rows[parent->second].depth + 1;
      rows[parent->second].children.push_back(node.id);
    }
    by_id.emplace(node.id, rows.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> LabelsTo(const std::vector<NodeRow>& nodes,
                                  const std::map<int64_t, size_t>& by_id, size_t index) {
  std::vector<std::string> labels;
  for (auto at = by_id.find(nodes[index].record->id);
       at != by_id.end() && by_id.contains(nodes[at->second].record->parent);
       at = by_id.find(nodes[at->second].record->parent)) {
    labels.push_back(nodes[at->second].record->edit.Label());
  }
  std::reverse(labels.begin(), labels.end());
  return labels;
}

// The node that the result's chain leads to; without a result the fastest accepted one.
std::optional<size_t> FindBest(const RunRecord& run, const std::vector<NodeRow>& nodes,
                               const std::map<int64_t, size_t>& by_id) {
  if (run.result) {
    std::vector<std::string> chain;
    for (const ChainStep& step : run.result->chain) {
      chain.push_back(step.edit.Label());
    }
    for (size_t i = 0; !chain.empty() && i < nodes.size(); ++i) {
      if (LabelsTo(nodes, by_id, i) == chain) {
        return i;
      }
    }
    for (size_t i = 0; run.result->improved && i < nodes.size(); ++i) {
      if (nodes[i].record->source == run.result->best_source) {
        return i;
      }
    }
    if (!run.result->improved) {
      return std::nullopt;
    }
  }
  std::optional<size_t> best;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].record->evaluation.accepted() && nodes[i].time_s &&
        (!best || *nodes[i].time_s < *nodes[*best].time_s)) {
      best = i;
    }
  }
  return best;
}

void MarkBestPath(const RunRecord& run, std::vector<NodeRow>& nodes) {
  std::map<int64_t, size_t> by_id;
  for (size_t i = 0; i < nodes.size(); ++i) {
    by_id.emplace(nodes[i].record->id, i);
  }
  const std::optional<size_t> best = FindBest(run, nodes, by_id);
  if (!best) {
    return;
  }
  nodes[*best].is_best = true;
  for (auto at = by_id.find(nodes[*best].record->id); at != by_id.end();
       at = by_id.find(nodes[at->second].record->parent)) {
    nodes[at->second].on_best_path = true;
  }
}

std::vector<ChainRow> MakeChain(const ReportModel& model) {
  std::vector<ChainRow> rows;
  if (!model.run->result) {
    return rows;
  }
  std::string_view last_source = model.run->task.source;
  std::optional<double> last_time = model.time_before_s;
  const Profile* last_profile =
      model.before != nullptr && model.before->profile ? &*model.before->profile : nullptr;
  for (const ChainStep& step : model.run->result->chain) {
    ChainRow row;
    row.step = &step;
    if (step.time_s && step.time_without_s) {
      row.gain_without = *step.time_without_s / *step.time_s;
    }
    if (step.mark != EditMark::kDropped) {
      const Profile* profile = step.profile ? &*step.profile : nullptr;
      row.time_before_s = last_time;
      if (last_time && step.time_s) {
        row.gain = *last_time / *step.time_s;
      }
      row.changes = NotableChanges(last_profile, profile);
      row.claims = CheckClaims(step.edit.claim, last_profile, profile);
      // A bridge may have no time, counters or text of its own: the next edit is then compared with
      // what was before it.
      last_time = step.time_s ? step.time_s : last_time;
      last_profile = profile != nullptr ? profile : last_profile;
      if (!step.source.empty()) {
        row.diff = DiffHunks(last_source, step.source);
        last_source = step.source;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string Headline(const ReportModel& model) {
  const RunRecord& run = *model.run;
  if (run.state == RunState::kFailed) {
    return fmt::format("The run failed: {}.", run.failure);
  }
  const std::string times =
      model.time_before_s && model.time_after_s
          ? fmt::format("{} time from {} to {}", model.word, FormatSeconds(*model.time_before_s),
                        FormatSeconds(*model.time_after_s)) +
                (model.shapes.size() > 1
                     ? fmt::format(" (geometric mean over {} shapes)", model.shapes.size())
                     : "")
          : "";
  if (!model.finished) {
    const auto candidates = run.nodes.empty() ? 0 : run.nodes.size() - 1;
    std::string text = fmt::format("The run has not ended: {} candidate{} evaluated so far",
                                   candidates, candidates == 1 ? "" : "s");
    if (!times.empty() && model.gain && model.gain->value > 1) {
      text += fmt::format("; best so far: {} ({})", times, FormatFactor(model.gain->value));
    }
    return text + ".";
  }
  if (!run.result || !run.result->improved) {
    return fmt::format("No improvement could be kept: {}.",
                       run.result ? run.result->reason : "the run left no result");
  }
  if (!model.gain) {
    return fmt::format("{} was improved.", run.task.name);
  }
  return model.measured ? fmt::format("{} runs {} as fast: {}, interval {} to {}.", run.task.name,
                                      FormatFactor(model.gain->value), times,
                                      FormatFactor(model.gain->low), FormatFactor(model.gain->high))
                        : fmt::format(
                              "A gain of {} is predicted for {}: {}; {} to {} within the model's "
                              "stated error.",
                              FormatFactor(model.gain->value), run.task.name, times,
                              FormatFactor(model.gain->low), FormatFactor(model.gain->high));
}

// How far from what the machine can do, and whether its clocks were its own.
void AddMachineNotes(const ReportModel& model, std::vector<std::string>& notes) {
  const RunRecord& run = *model.run;
  if (model.floor && (model.floor->times_before || model.floor->times_after)) {
    const FloorRow& floor = *model.floor;
    std::string note =
        fmt::format("Target floor at {}: {} ({}).",
                    run.task.timed_shapes.empty() ? "the timed shape" : run.task.timed_shapes[0],
                    FormatSeconds(floor.target.seconds), floor.target.basis);
    if (floor.times_before) {
      note += fmt::format(" The original takes {:.2f} times as long", *floor.times_before);
      note += floor.times_after ? fmt::format(", the {} {:.2f}.",
                                              model.finished ? "kept kernel" : "best one so far",
                                              *floor.times_after)
                                : std::string(".");
    }
    if (floor.reject_s && model.measured) {
      note += fmt::format(" Times below {} would not be believed (the memory's pin rate).",
                          FormatSeconds(*floor.reject_s));
    }
    notes.push_back(std::move(note));
  }
  if (run.result && run.result->gain_conditions) {
    const Conditions& conditions = *run.result->gain_conditions;
    notes.push_back(fmt::format("The gain was measured at: {}.", DescribeConditions(conditions)));
    if (std::string warning = ThrottleWarning(conditions); !warning.empty()) {
      notes.push_back("Warning: " + std::move(warning) + ".");
    }
  }
}

// Who counted; empty where nobody did, or where it is the emulator in a run that predicts.
std::string SourcesOfCounters(const ReportModel& model) {
  const auto source_of = [](const Evaluation* evaluation) {
    return evaluation != nullptr && evaluation->profile ? std::optional(evaluation->profile->source)
                                                        : std::nullopt;
  };
  const auto name = [](ProfileSource source) {
    return source == ProfileSource::kEmulator ? std::string("the emulator")
                                              : ProfileSourceName(source);
  };
  const std::optional<ProfileSource> before = source_of(model.before);
  const std::optional<ProfileSource> after = source_of(model.after);
  if (!model.measured || (!before && !after)) {
    return "";
  }
  if (before && after && *before != *after) {
    return fmt::format("Counters before are by {}, those after by {}: they are not compared.",
                       name(*before), name(*after));
  }
  return fmt::format("Counters are by {}.", name(before ? *before : *after));
}

std::vector<std::string> Notes(const ReportModel& model) {
  const RunRecord& run = *model.run;
  std::vector<std::string> notes;
  if (!model.measured) {
    notes.push_back(fmt::format(
        "Nothing here was timed on a GPU: every time is the prediction of the time model of {}. A "
        "gain is kept only when it exceeds the model's stated error, a factor of {:.2f}.",
        run.environment.device_name, run.environment.prediction_error_factor));
  }
  if (model.before != nullptr && IsHostMode(model.before->launcher)) {
    std::string note = kHostModeNote;
    note[0] = 'H';
    notes.push_back(std::move(note));
  }
  if (std::string note = SourcesOfCounters(model); !note.empty()) {
    notes.push_back(std::move(note));
  }
  if (model.before != nullptr && model.before->profile &&
      model.before->profile->sampled_ratio < 1) {
    notes.push_back(fmt::format("Counters come from {} of the blocks, scaled up to all of them.",
                                FormatPercent(model.before->profile->sampled_ratio)));
  }
  if (model.finished && run.result && run.result->improved) {
    const auto& delivered = run.result->delivered;
    if (!delivered) {
      notes.push_back("The file was not checked as delivered.");
    } else if (const Rejection* rejection = delivered->rejection()) {
      notes.push_back(fmt::format("The check of the file as delivered failed at {}: {}.",
                                  StageName(rejection->stage), rejection->reason));
    } else if (delivered->verify) {
      notes.push_back(fmt::format(
          "The file as delivered was checked again from its text: {} case{} passed, worst error "
          "{} of what the tolerance allows.",
          delivered->verify->cases_run, delivered->verify->cases_run == 1 ? "" : "s",
          FormatPercent(delivered->verify->max_budget_ratio)));
    }
    if (!run.result->delivered_note.empty()) {
      notes.push_back(fmt::format("The file as delivered: {}.", run.result->delivered_note));
    }
  }
  AddMachineNotes(model, notes);
  if (run.state == RunState::kInterrupted) {
    notes.push_back("The run was interrupted; it can be resumed.");
  }
  return notes;
}

std::vector<LedgerRow> MakeLedger(const RunRecord& run) {
  std::vector<LedgerRow> rows;
  for (const NodeRecord& node : run.nodes) {
    const Rejection* rejection = node.evaluation.rejection();
    if (rejection == nullptr) {
      continue;
    }
    LedgerRow row;
    row.node = &node;
    row.evidence = FirstEvidence(node.evaluation);
    row.is_unsupported = rejection->is_unsupported;
    if (node.evaluation.verify && node.evaluation.verify->error_map) {
      row.map = &*node.evaluation.verify->error_map;
    }
    rows.push_back(std::move(row));
  }
  // What is known to be wrong first.
  std::stable_partition(rows.begin(), rows.end(),
                        [](const LedgerRow& row) { return !row.is_unsupported; });
  return rows;
}

}  // namespace

std::optional<double> MetricChange::ratio() const {
  return before && after && *before != 0 ? std::optional<double>(*after / *before) : std::nullopt;
}

std::string ClaimVerdictName(ClaimCheck::Verdict verdict) {
  switch (verdict) {
    case ClaimCheck::Verdict::kCameTrue:
      return "came true";
    case ClaimCheck::Verdict::kDidNot:
      return "did not";
    case ClaimCheck::Verdict::kNotObtained:
      return "not obtained";
  }
  return "not obtained";
}

std::string FirstEvidence(const Evaluation& evaluation) {
  if (!evaluation.verify) {
    return "";
  }
  const VerifyReport& verify = *evaluation.verify;
  std::string text;
  if (verify.first_mismatch) {
    const Mismatch& mismatch = *verify.first_mismatch;
    std::string place;
    for (const int64_t coordinate : mismatch.coordinates) {
      place += fmt::format("{}{}", place.empty() ? "" : ", ", coordinate);
    }
    if (place.empty()) {
      place = std::to_string(mismatch.index);
    }
    text = fmt::format(
        "{}[{}]: expected {:.9g}, got {}", mismatch.argument, place, mismatch.expected,
        mismatch.unwritten ? "nothing (never written)" : fmt::format("{:.9g}", mismatch.got));
    if (verify.mismatch_count > 1) {
      text += fmt::format("; {} elements differ", verify.mismatch_count);
    }
  } else if (!verify.findings.empty()) {
    const Finding& finding = verify.findings.front();
    text =
        fmt::format("{} in {}{}: {}", finding.kind, finding.kernel,
                    finding.line > 0 ? fmt::format(" line {}", finding.line) : "", finding.detail);
  }
  if (!text.empty() && !verify.failing_case.empty()) {
    text += " (" + verify.failing_case + ")";
  }
  return text;
}

std::string ReproduceCommand(const RunRecord& run) {
  const bool lone_file = run.task.task_toml.empty();
  std::string command =
      "optiml optimize " + QuoteForShell(lone_file ? run.task.source_path : run.task.folder);
  for (const auto& [name, value] : run.options) {
    if (value == "true") {
      command += " --" + name;
      continue;
    }
    if (value == "false") {
      command += " --no-" + name;
      continue;
    }
    // A flag that was given several times is kept one value a line.
    size_t begin = 0;
    while (begin <= value.size() && !value.empty()) {
      const size_t end = std::min(value.find('\n', begin), value.size());
      command += fmt::format(" --{} {}", name, QuoteForShell(value.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  return command;
}

ReportModel MakeReportModel(RunRecord record) {
  ReportModel model;
  model.run = std::make_shared<const RunRecord>(std::move(record));
  const RunRecord& run = *model.run;
  model.finished = run.state == RunState::kFinished && run.result.has_value();
  model.measured = run.environment.measures_time;
  model.word = model.measured ? "measured" : "predicted";

  if (run.result && run.result->root) {
    model.before = &*run.result->root;
  } else if (!run.nodes.empty() && run.nodes.front().parent < 0) {
    model.before = &run.nodes.front().evaluation;
  }
  if (model.before != nullptr) {
    model.time_before_s = TimeOf(*model.before);
  }
  model.nodes = MakeNodes(run, model.time_before_s);
  MarkBestPath(run, model.nodes);

  if (run.result) {
    if (run.result->improved) {
      model.after = run.result->best ? &*run.result->best : nullptr;
      model.best_source = run.result->best_source;
    }
  } else {
    const auto best = std::find_if(model.nodes.begin(), model.nodes.end(),
                                   [](const NodeRow& row) { return row.is_best; });
    if (best != model.nodes.end() && best->depth > 0) {
      model.after = &best->record->evaluation;
      model.best_source = best->record->source;
    }
  }
  if (model.after != nullptr) {
    model.time_after_s = TimeOf(*model.after);
  }
  if (model.before != nullptr && model.after != nullptr) {
    model.shapes =
        MatchShapes(*model.before, *model.after, run.environment.prediction_error_factor);
    model.gain =
        GainOverShapes(model.shapes, model.measured, run.environment.prediction_error_factor);
  }
  const auto profile_of = [](const Evaluation* evaluation) {
    return evaluation != nullptr && evaluation->profile ? &*evaluation->profile : nullptr;
  };
  model.counters = AllChanges(profile_of(model.before), profile_of(model.after));
  model.models = MakeModelReport(run);
  model.chain = MakeChain(model);
  for (ChainRow& row : model.chain) {
    row.by_model = model.models.Find(row.step->edit, [&](int64_t id) {
      return std::any_of(model.nodes.begin(), model.nodes.end(), [&](const NodeRow& node) {
        return node.record->id == id && node.on_best_path;
      });
    });
  }
  MakeRoofline(model);
  MakeFloor(model);
  model.rejected = MakeLedger(run);
  model.unsupported_count =
      static_cast<int>(std::count_if(model.rejected.begin(), model.rejected.end(),
                                     [](const LedgerRow& row) { return row.is_unsupported; }));
  for (const NodeRecord& node : run.nodes) {
    model.accepted_count += node.parent >= 0 && node.evaluation.accepted() ? 1 : 0;
    model.duplicate_count += node.duplicate_of >= 0 ? 1 : 0;
  }
  MakeStageShares(model);
  model.headline = Headline(model);
  model.notes = Notes(model);
  model.reproduce = ReproduceCommand(run);
  return model;
}

}  // namespace optiml
