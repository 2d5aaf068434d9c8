// The search tree: one row for each node, with connectors, and a panel with the node's details. The
// script shows one article at a time; without it all of them follow the tree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/html_parts.h"
#include "report/metric_table.h"
#include "report/report_numbers.h"
#include "report/text_format.h"

namespace optiml {
namespace {

constexpr double kStep = 18;  // pixels a level is indented
constexpr double kRowHeight = 30;
// Metric changes that a node lists; the counters' table has all of them for the best one.
constexpr size_t kMostChanges = 12;

class TreeWriter {
 public:
  explicit TreeWriter(const ReportModel& model) : model_(model) {
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      by_id_.emplace(model.nodes[i].record->id, i);
      if (model.nodes[i].gain) {
        best_gain_ = std::max(best_gain_, *model.nodes[i].gain);
      }
    }
    if (model.run->result) {
      for (const ChainStep& step : model.run->result->chain) {
        marks_.push_back(step.mark);
      }
    }
  }

  std::string Rows() const {
    std::string out;
    struct Entry {
      size_t index;
      std::vector<bool> open;  // for each level above: whether a later sibling follows
    };
    std::vector<Entry> stack = {{0, {}}};
    while (!stack.empty()) {
      const Entry entry = std::move(stack.back());
      stack.pop_back();
      out += Row(model_.nodes[entry.index], entry.open);
      const auto& children = model_.nodes[entry.index].children;
      for (size_t i = children.size(); i-- > 0;) {
        std::vector<bool> open = entry.open;
        open.push_back(i + 1 < children.size());
        stack.push_back({by_id_.at(children[i]), std::move(open)});
      }
    }
    return out;
  }

  std::string Articles() const {
    std::string out;
    for (const NodeRow& row : model_.nodes) {
      out += Article(row);
    }
    return out;
  }

 private:
  std::string Connectors(const NodeRow& row, const std::vector<bool>& open) const {
    const double width = (row.depth + 1) * kStep;
    std::string out = fmt::format(
        "<svg class=wires width={0:.0f} height={1:.0f} viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "aria-hidden=true>",
        width, kRowHeight);
    const auto x = [](size_t level) { return (static_cast<double>(level) + 0.5) * kStep; };
    for (size_t level = 0; level < open.size(); ++level) {
      const bool own = level + 1 == open.size();
      if (own) {
        out += fmt::format("<path class=\"{}\" d=\"M{:.1f} 0V{:.1f}M{:.1f} {:.1f}H{:.1f}\"/>",
                           row.on_best_path ? "wire on" : "wire", x(level),
                           open[level] ? kRowHeight : kRowHeight / 2, x(level), kRowHeight / 2,
                           x(level + 1));
      } else if (open[level]) {
        out += fmt::format("<path class=wire d=\"M{0:.1f} 0V{1:.1f}\"/>", x(level), kRowHeight);
      }
    }
    const double cx = x(open.size());
    if (!row.children.empty()) {
      out += fmt::format("<path class=wire d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", cx, kRowHeight / 2,
                         kRowHeight);
    }
    const double cy = kRowHeight / 2;
    if (!row.record->evaluation.accepted()) {
      out +=
          fmt::format("<path class=bad-mark d=\"M{:.1f} {:.1f}l8 8m0 -8l-8 8\"/>", cx - 4, cy - 4);
    } else if (row.is_best) {
      out +=
          fmt::format("<path class=best-mark d=\"M{:.1f} {:.1f}l7 7l-7 7l-7 -7z\"/>", cx, cy - 7);
    } else {
      out += fmt::format("<circle class=\"{}\" cx={:.1f} cy={:.1f} r=5 />",
                         row.on_best_path ? "dot path" : "dot", cx, cy);
    }
    return out + "</svg>";
  }

  std::string Outcome(const NodeRow& row) const {
    const Evaluation& evaluation = row.record->evaluation;
    if (const Rejection* rejection = evaluation.rejection()) {
      return fmt::format("<span class={}>{}</span> <span class=muted>{}</span>",
                         rejection->is_unsupported ? "muted" : "bad", StageName(rejection->stage),
                         EscapeHtml(rejection->reason));
    }
    std::string out;
    if (row.on_best_path && row.depth > 0 && static_cast<size_t>(row.depth) <= marks_.size()) {
      const EditMark mark = marks_[static_cast<size_t>(row.depth - 1)];
      out += MarkBadge(mark);
    }
    if (row.record->duplicate_of >= 0) {
      out += fmt::format("<span class=chip>same as {}</span>", row.record->duplicate_of);
    }
    return out;
  }

  static std::string MarkBadge(EditMark mark) {
    const char* css_class = mark == EditMark::kKeep     ? "keep"
                            : mark == EditMark::kBridge ? "bridge"
                                                        : "dropped";
    return fmt::format("<span class=\"badge {}\">{}</span>", css_class, EditMarkName(mark));
  }

  std::string Row(const NodeRow& row, const std::vector<bool>& open) const {
    const NodeRecord& node = *row.record;
    const std::string label = node.parent < 0 ? "the task's kernel" : node.edit.Label();
    std::string gain = "<span class=gain></span>";
    if (row.gain && node.evaluation.accepted()) {
      // Logarithmic, so that a later factor of two is as long as an early one.
      const double share =
          best_gain_ > 1 ? std::max(0.0, std::log(*row.gain) / std::log(best_gain_)) : 0;
      gain = fmt::format(
          "<span class=gain><span class=\"meter{}\" style=\"width:{:.0f}px\"></span>{}</span>",
          row.on_best_path ? " on" : "", share * 56, FormatFactor(*row.gain));
    }
    return fmt::format(
        "<a class=\"row{}{}\" href=\"#node-{}\" data-node={}>{}<span class=id>{}</span><code "
        "class=label>{}</code>{}<span class=outcome>{}</span></a>\n",
        row.on_best_path ? " onpath" : "", row.is_best ? " best" : "", node.id, node.id,
        Connectors(row, open), node.id, EscapeHtml(label), gain, Outcome(row));
  }

  void AddReward(const NodeRecord& node, std::string& out) const {
    if (node.reward.parts.empty()) {
      return;
    }
    out += fmt::format(
        "<h4>Reward {:.3f}</h4><table class=num><thead><tr><th>part<th>weight<th>"
        "value<th class=left>why<tbody>",
        node.reward.total);
    for (const RewardPart& part : node.reward.parts) {
      out += fmt::format("<tr><th>{}<td>{:.2f}<td>{:+.3f}<td class=left>{}", EscapeHtml(part.name),
                         part.weight, part.value, EscapeHtml(part.reason));
    }
    out += "</table>";
  }

  void AddFacts(const NodeRow& row, std::string& out) const {
    const Evaluation& evaluation = row.record->evaluation;
    out += "<dl>";
    const auto fact = [&](const char* name, const std::string& html) {
      out += fmt::format("<dt>{}<dd>{}", name, html);
    };
    for (const Timing& timing : evaluation.timings) {
      fact(timing.kind == TimingKind::kMeasured ? "measured" : "predicted",
           fmt::format("{} ({} to {}) at {}", FormatSeconds(timing.median_s),
                       FormatSeconds(timing.low_s), FormatSeconds(timing.high_s),
                       EscapeHtml(timing.shape)));
    }
    if (row.gain) {
      fact("against the task's kernel", FormatFactor(*row.gain));
    }
    if (!evaluation.launcher.empty()) {
      fact("launcher", EscapeHtml(evaluation.launcher));
    }
    for (const KernelResources& kernel : evaluation.resources) {
      fact("resources",
           fmt::format("<code>{}</code>: {} registers, {} shared, {} spilled",
                       EscapeHtml(kernel.name_expression), kernel.registers,
                       FormatQuantity(static_cast<double>(kernel.static_shared_bytes), "byte"),
                       FormatQuantity(
                           static_cast<double>(kernel.spill_store_bytes + kernel.spill_load_bytes),
                           "byte")));
    }
    if (evaluation.verify) {
      const VerifyReport& verify = *evaluation.verify;
      fact("checks", fmt::format("reached {}, {} cases, worst error {} of what is allowed",
                                 StageName(verify.stage_reached), verify.cases_run,
                                 FormatPercent(verify.max_budget_ratio)));
    }
    if (evaluation.diagnosis) {
      std::string text = fmt::format("{} bound", BoundName(evaluation.diagnosis->bound));
      if (!evaluation.diagnosis->cause.empty()) {
        text += ": " + EscapeHtml(evaluation.diagnosis->cause);
      }
      for (const std::string& sentence : evaluation.diagnosis->evidence) {
        text += "<br><span class=muted>" + EscapeHtml(sentence) + "</span>";
      }
      fact("diagnosis", text);
    }
    std::string stages;
    for (const StageTime& time : evaluation.stage_times) {
      stages += fmt::format("{}{} {}", stages.empty() ? "" : ", ", StageName(time.stage),
                            FormatElapsed(std::chrono::duration<double>(time.time).count()));
    }
    if (!stages.empty()) {
      fact("time spent", stages);
    }
    out += "</dl>";
  }

  std::string Article(const NodeRow& row) const {
    const NodeRecord& node = *row.record;
    const Evaluation& evaluation = node.evaluation;
    const auto parent = by_id_.find(node.parent);
    const NodeRecord* above =
        parent == by_id_.end() ? nullptr : model_.nodes[parent->second].record;
    std::string out = fmt::format(
        "<article class=\"node card\" id=\"node-{0}\" tabindex=-1><h3><span class=id>{0}</span> "
        "<code>{1}</code></h3>",
        node.id, EscapeHtml(above == nullptr ? "the task's kernel" : node.edit.Label()));
    if (!node.edit.summary.empty()) {
      out += "<p>" + EscapeHtml(node.edit.summary) + "</p>";
    }
    if (const Rejection* rejection = evaluation.rejection()) {
      const std::string evidence = FirstEvidence(evaluation);
      out += fmt::format("<p class=verdict><span class={}>{} at {}</span> {}{}</p>",
                         rejection->is_unsupported ? "muted" : "bad",
                         rejection->is_unsupported ? "not checked" : "rejected",
                         StageName(rejection->stage), EscapeHtml(rejection->reason),
                         evidence.empty() ? "" : "<br><code>" + EscapeHtml(evidence) + "</code>");
    } else if (above != nullptr) {
      out += fmt::format("<p class=verdict><span class=ok>accepted</span> {}</p>", Outcome(row));
    }
    if (above != nullptr) {
      out += fmt::format("<p class=muted>made from <a href=\"#node-{0}\">{0}</a>{1}</p>", above->id,
                         node.duplicate_of < 0
                             ? ""
                             : fmt::format("; the same program as <a href=\"#node-{0}\">{0}</a>, "
                                           "which answered for it",
                                           node.duplicate_of));
    }
    AddFacts(row, out);
    AddReward(node, out);
    if (above != nullptr && above->evaluation.profile && evaluation.profile) {
      auto changes = NotableChanges(&*above->evaluation.profile, &*evaluation.profile);
      changes.resize(std::min(changes.size(), kMostChanges));
      if (!changes.empty()) {
        out += "<h4>Counters against its parent</h4>" + MetricChangeTable(changes, "");
      }
    }
    if (above != nullptr) {
      out += "<details><summary>Diff against its parent</summary>" +
             DiffTable(DiffHunks(above->source, node.source)) + "</details>";
    }
    return out + "</article>\n";
  }

  const ReportModel& model_;
  std::map<int64_t, size_t> by_id_;
  double best_gain_ = 1;
  std::vector<EditMark> marks_;  // of the chain, by depth - 1 on the best path
};

}  // namespace

std::string TreeSection(const ReportModel& model) {
  if (model.nodes.empty()) {
    return "<p class=muted>No candidate was evaluated.</p>";
  }
  const TreeWriter writer(model);
  return "<div class=split><nav class=\"tree card\" aria-label=\"Search tree\">" + writer.Rows() +
         "</nav><div class=panel>" + writer.Articles() + "</div></div>";
}

}  // namespace optiml
