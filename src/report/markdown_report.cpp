// The report as Markdown: for pull requests and terminals.
#include <fmt/format.h>

#include "report/metric_table.h"
#include "report/report.h"
#include "report/report_numbers.h"
#include "report/text_format.h"

namespace optiml {
namespace {

constexpr char kNotObtained[] = "not obtained";
// Changes that a chain step lists; the counters' table has all of them.
constexpr size_t kMostChanges = 6;

std::string Quantity(const std::optional<double>& value, const std::string& unit) {
  return value ? FormatQuantity(*value, unit) : kNotObtained;
}

std::string Factor(const std::optional<double>& factor) {
  return factor ? FormatFactor(*factor) : "";
}

void AddChain(const ReportModel& model, std::string& out) {
  if (model.chain.empty()) {
    return;
  }
  out += "\n## What changed\n\n";
  int number = 0;
  for (const ChainRow& row : model.chain) {
    const ChainStep& step = *row.step;
    out += fmt::format("### {}. {} `{}`\n\n{}\n\n", ++number, EditMarkName(step.mark),
                       step.edit.Label(), EscapeMarkdown(step.edit.summary));
    if (row.gain && row.time_before_s) {
      out += fmt::format("- {} time {} -> {} ({})\n", model.word, FormatSeconds(*row.time_before_s),
                         FormatSeconds(*step.time_s), FormatFactor(*row.gain));
    }
    if (!step.note.empty()) {
      out += "- " + EscapeMarkdown(step.note) + "\n";
    } else if (row.gain_without) {
      out += fmt::format("- without it the kernel would take {} as long\n",
                         FormatFactor(*row.gain_without));
    }
    if (row.by_model != nullptr) {
      out += "- " + EscapeMarkdown(ByModelText(*row.by_model)) + "\n";
    }
    for (const ClaimCheck& check : row.claims) {
      out +=
          fmt::format("- claim: {} goes {}: {}\n", EscapeMarkdown(MetricTitle(check.claim.metric)),
                      check.claim.direction == Direction::kDown ? "down" : "up",
                      ClaimVerdictName(check.verdict));
    }
    for (size_t i = 0; i < std::min(row.changes.size(), kMostChanges); ++i) {
      const MetricChange& change = row.changes[i];
      out += fmt::format("- {}: {} -> {}\n", EscapeMarkdown(MetricTitle(change.id)),
                         Quantity(change.before, change.unit), Quantity(change.after, change.unit));
    }
    std::string diff;
    for (const DiffHunk& hunk : row.diff) {
      diff += diff.empty() ? "" : "...\n";
      for (const DiffLine& line : hunk.lines) {
        diff += line.kind == DiffKind::kSame ? ' ' : line.kind == DiffKind::kRemoved ? '-' : '+';
        diff += std::string(line.text) + "\n";
      }
    }
    if (!diff.empty()) {
      out += "\n" + MarkdownCodeBlock(diff, "diff");
    }
    out += "\n";
  }
}

void AddNode(const ReportModel& model, const NodeRow& row, std::string& out) {
  const NodeRecord& node = *row.record;
  const std::string label = node.parent < 0 ? "the task's kernel" : "`" + node.edit.Label() + "`";
  std::string outcome;
  if (const Rejection* rejection = node.evaluation.rejection()) {
    outcome = fmt::format("{} at {}: {}", rejection->is_unsupported ? "not checked" : "rejected",
                          StageName(rejection->stage), EscapeMarkdown(rejection->reason));
  } else if (row.time_s) {
    outcome = fmt::format("{} {}{}", model.word, FormatSeconds(*row.time_s),
                          row.gain ? " (" + FormatFactor(*row.gain) + ")" : "");
  } else {
    outcome = "accepted";
  }
  out += fmt::format("{}- {}{} {}: {}{}\n", std::string(static_cast<size_t>(row.depth) * 2, ' '),
                     row.on_best_path ? "**" : "", node.id, label, outcome,
                     row.on_best_path ? "**" : "");
}

// Depth first, children in the order in which they were told; the stack is explicit since a tree
// may be deep.
void AddTree(const ReportModel& model, std::string& out) {
  if (model.nodes.empty()) {
    return;
  }
  out += fmt::format("\n## Search tree\n\n{} candidates: {} accepted, {} rejected.\n\n",
                     model.nodes.size() - 1, model.accepted_count, model.rejected.size());
  std::map<int64_t, size_t> by_id;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    by_id.emplace(model.nodes[i].record->id, i);
  }
  std::vector<size_t> stack = {0};
  while (!stack.empty()) {
    const NodeRow& row = model.nodes[stack.back()];
    stack.pop_back();
    AddNode(model, row, out);
    for (auto child = row.children.rbegin(); child != row.children.rend(); ++child) {
      stack.push_back(by_id.at(*child));
    }
  }
}

void AddCounters(const ReportModel& model, std::string& out) {
  if (model.counters.empty()) {
    return;
  }
  out += "\n## Counters\n\n| counter | before | after | ratio |\n|---|---:|---:|---:|\n";
  for (const MetricChange& change : model.counters) {
    out += fmt::format("| {} | {} | {} | {} |\n", EscapeMarkdown(MetricTitle(change.id)),
                       Quantity(change.before, change.unit), Quantity(change.after, change.unit),
                       Factor(change.ratio()));
  }
}

void AddRoofline(const ReportModel& model, std::string& out) {
  out += "\n## Roofline\n\n";
  if (!model.roofline) {
    out += "Not drawn: " + EscapeMarkdown(model.no_roofline) + ".\n";
    return;
  }
  out += fmt::format("Ceilings: {}/s of DRAM, {} operations/s; {}.\n\n",
                     FormatQuantity(model.roofline->dram_bytes_per_s, "byte"),
                     FormatNumber(model.roofline->fp32_flops_per_s), model.roofline->basis);
  for (const RooflinePoint& point : model.roofline->points) {
    const double roof = std::min(model.roofline->fp32_flops_per_s,
                                 point.operations_per_byte * model.roofline->dram_bytes_per_s);
    out += fmt::format("- {}: {} operations/byte, {} operations/s, {} of the roof\n", point.label,
                       FormatNumber(point.operations_per_byte),
                       FormatNumber(point.operations_per_second),
                       FormatPercent(point.operations_per_second / roof));
  }
}

void AddRest(const ReportModel& model, std::string& out) {
  const RunRecord& run = *model.run;
  if (!model.rejected.empty()) {
    bool of_unsupported = false;
    for (const LedgerRow& row : model.rejected) {
      if (&row == &model.rejected.front() || row.is_unsupported != of_unsupported) {
        of_unsupported = row.is_unsupported;
        out += of_unsupported ? "\n## Candidates that could not be checked\n\nWhether they are "
                                "right was not found out.\n"
                              : "\n## Rejected candidates\n";
        out += "\n| node | edit | stage | reason |\n|---:|---|---|---|\n";
      }
      const Rejection* rejection = row.node->evaluation.rejection();
      out += fmt::format("| {} | {} | {} | {}{} |\n", row.node->id,
                         EscapeMarkdown(row.node->edit.Label()), StageName(rejection->stage),
                         EscapeMarkdown(rejection->reason),
                         row.evidence.empty() ? "" : "; " + EscapeMarkdown(row.evidence));
    }
  }
  if (!model.stage_shares.empty()) {
    out += "\n## Where the time went\n\n| stage | time | candidates |\n|---|---:|---:|\n";
    for (const StageShare& share : model.stage_shares) {
      out +=
          fmt::format("| {} | {} | {} |\n", share.name, FormatElapsed(share.seconds), share.count);
    }
    for (const std::string& line : DeviceLines(run)) {
      out += "\n" + EscapeMarkdown(line) + "\n";
    }
  }
  if (!run.battery.empty()) {
    out +=
        "\n## Can the checks tell right from wrong?\n\n| wrong kernel | verdict | detail "
        "|\n|---|---|---|\n";
    for (const BatteryRow& row : run.battery) {
      out += fmt::format("| {} | {} | {} |\n", EscapeMarkdown(row.mutant),
                         EscapeMarkdown(row.verdict), EscapeMarkdown(row.detail));
    }
  }
  if (!run.lifts.empty()) {
    out += "\n## Kernels that were understood\n\n";
    for (const LiftRow& row : run.lifts) {
      out += fmt::format("`{}`: {}\n\n{}\n", row.kernel,
                         row.lifted ? "lifted to an algorithm" : "not lifted",
                         MarkdownCodeBlock(row.detail, ""));
    }
  }
  out += "\n## Environment\n\n";
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      out += fmt::format("- {}: {}\n", name, EscapeMarkdown(value));
    }
  };
  line("OptiML", run.environment.optiml_version);
  line("device", run.environment.device_name);
  line("architecture", run.environment.architecture);
  line("toolchain", run.environment.toolchain);
  line("started", run.environment.started_at);
  if (model.before != nullptr && !model.before->launcher.empty()) {
    line("launcher", fmt::format("{} ({})", run.task.entry, model.before->launcher));
  }
  line("task", run.task.name + " " + run.task.hash.substr(0, 12));
  for (const auto& [key, value] : run.task.origin) {
    line(key.c_str(), value);
  }
  out += "\n## Reproduce\n\n" + MarkdownCodeBlock(model.reproduce, "sh");
}

}  // namespace

std::string MarkdownReport(const ReportModel& model) {
  const RunRecord& run = *model.run;
  std::string out = fmt::format("# {}\n\n**{}**\n\n", EscapeMarkdown(run.task.name),
                                EscapeMarkdown(model.headline));
  if (!run.task.intent.empty()) {
    out += "> " + EscapeMarkdown(run.task.intent) + "\n\n";
  }
  for (const std::string& note : model.notes) {
    out += "- " + EscapeMarkdown(note) + "\n";
  }
  if (run.result && !run.result->reason.empty()) {
    out += fmt::format("- {} (stopped: {})\n", EscapeMarkdown(run.result->reason),
                       EscapeMarkdown(run.result->stop_reason));
  }
  if (!model.shapes.empty()) {
    out += fmt::format("\n| shape | {0} before | {0} after | gain |\n|---|---:|---:|---:|\n",
                       model.word);
    for (const ShapeRow& row : model.shapes) {
      out += fmt::format("| {} | {} | {} | {} ({} to {}) |\n", EscapeMarkdown(row.shape),
                         FormatSeconds(row.before.median_s), FormatSeconds(row.after.median_s),
                         FormatFactor(row.gain.value), FormatFactor(row.gain.low),
                         FormatFactor(row.gain.high));
    }
  }
  AddChain(model, out);
  AddCounters(model, out);
  AddRoofline(model, out);
  AddTree(model, out);
  out += ModelSectionMarkdown(model.models);
  AddRest(model, out);
  return out;
}

}  // namespace optiml
