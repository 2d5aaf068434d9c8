#include "report/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "report/text_format.h"

namespace optiml {
namespace {

std::string OpinionText(const Opinion& opinion) {
  return fmt::format("{}plausibility {:.2f}: {}", opinion.maker.empty() ? "" : opinion.maker + ", ",
                     opinion.plausibility_ratio, opinion.reason);
}

std::string ClaimOf(const Edit& edit) {
  std::string text;
  for (const MetricClaim& one : edit.claim) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.metric,
                        one.direction == Direction::kDown ? "down" : "up");
  }
  return text;
}

std::string JudgedAfter(const NodeRecord& node) {
  if (node.judgement) {
    return fmt::format("{}, {}: {}", node.judgement->maker, VerdictName(node.judgement->verdict),
                       node.judgement->reason);
  }
  for (const RewardPart& part : node.reward.parts) {
    if (part.name == "judge") {
      return part.reason;
    }
  }
  return "";
}

ModelEditRow MakeRow(const RunRecord& run, const TrialRecord& trial) {
  ModelEditRow row;
  row.trial = &trial;
  row.claim = ClaimOf(trial.edit);
  row.before = trial.note.opinion ? OpinionText(*trial.note.opinion) : "";
  for (const NodeRecord& node : run.nodes) {
    if (node.parent == trial.node && trial.kept && node.edit.Label() == trial.edit.Label()) {
      row.node = node.id;
      row.after = JudgedAfter(node);
    }
  }
  return row;
}

std::string DollarsText(double dollars) {
  return dollars > 0 ? fmt::format("${:.2f}", dollars) : "";
}

std::string NodeText(int64_t node) {
  return node < 0 ? "" : std::to_string(node);
}

std::string TokensText(const ModelUseRow& use) {
  return (use.tokens_estimated ? "about " : "") + FormatNumber(static_cast<double>(use.tokens));
}

// The cells of a row, escaped by the caller.
std::vector<std::string> Cells(const ModelUseRow& use) {
  return {use.role,
          use.model,
          std::to_string(use.calls),
          std::to_string(use.unused),
          TokensText(use),
          DollarsText(use.dollars),
          FormatElapsed(use.seconds)};
}

std::vector<std::string> Cells(const ModelEditRow& row) {
  const TrialRecord& trial = *row.trial;
  return {std::to_string(trial.node),
          trial.edit.Label(),
          trial.edit.summary,
          row.claim,
          row.before,
          trial.reason,
          NodeText(row.node),
          row.after};
}

constexpr const char* kUseHeads[] = {"role", "model", "calls", "unused", "tokens", "cost", "time"};
constexpr const char* kEditHeads[] = {"at node", "edit",    "why",     "claim",
                                      "judge",   "outcome", "is node", "claim against counters"};

template <typename Rows, typename Heads>
std::string MarkdownTable(const Rows& rows, const Heads& heads) {
  std::string out = "\n|";
  std::string line = "|";
  for (const char* head : heads) {
    out += fmt::format(" {} |", head);
    line += "---|";
  }
  out += "\n" + line + "\n";
  for (const auto& row : rows) {
    out += "|";
    for (const std::string& cell : Cells(row)) {
      out += " " + EscapeMarkdown(cell) + " |";
    }
    out += "\n";
  }
  return out;
}

template <typename Rows, typename Heads>
std::string HtmlTable(const Rows& rows, const Heads& heads) {
  std::string out = "<div class=scroll><table class=ledger><thead><tr>";
  for (const char* head : heads) {
    out += fmt::format("<th>{}", head);
  }
  out += "<tbody>";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : Cells(row)) {
      out += "<td>" + EscapeHtml(cell);
    }
  }
  return out + "</table></div>";
}

}  // namespace

const ModelEditRow* ModelReport::Find(
    const Edit& edit, const std::function<bool(int64_t node)>& is_on_best_path) const {
  for (const ModelEditRow& row : edits) {
    if (row.node >= 0 && is_on_best_path(row.node) && row.trial->edit.Label() == edit.Label()) {
      return &row;
    }
  }
  return nullptr;
}

ModelReport MakeModelReport(const RunRecord& run) {
  ModelReport models;
  for (const ExchangeRecord& exchange : run.exchanges) {
    if (exchange.request.empty()) {
      models.given_up.push_back(fmt::format("{} {}: {}; {}", exchange.role, exchange.model,
                                            exchange.failure, exchange.outcome));
      continue;
    }
    auto use = std::find_if(models.uses.begin(), models.uses.end(), [&](const ModelUseRow& row) {
      return row.role == exchange.role && row.model == exchange.model;
    });
    if (use == models.uses.end()) {
      use = models.uses.insert(use, {exchange.role, exchange.model});
    }
    ++use->calls;
    use->unused += exchange.outcome != "used" ? 1 : 0;
    use->tokens += exchange.prompt_tokens + exchange.completion_tokens;
    use->tokens_estimated = use->tokens_estimated || exchange.tokens_estimated;
    use->dollars += exchange.dollars;
    use->seconds += std::chrono::duration<double>(exchange.wall_time).count();
  }
  for (const TrialRecord& trial : run.trials) {
    models.edits.push_back(MakeRow(run, trial));
  }
  return models;
}

std::string RoleUseText(const std::string& role, int calls, int64_t tokens, double dollars) {
  return fmt::format("{} {} call{}, {} tokens{}{}", role, calls, calls == 1 ? "" : "s",
                     FormatNumber(static_cast<double>(tokens)), dollars > 0 ? ", " : "",
                     DollarsText(dollars));
}

std::string ByModelText(const ModelEditRow& row) {
  return fmt::format("proposed by {}{}{}", row.trial->note.proposer,
                     row.before.empty() ? "" : "; judge before: " + row.before,
                     row.after.empty() ? "" : "; judge after: " + row.after);
}

std::string ModelSectionMarkdown(const ModelReport& models) {
  if (!models.any()) {
    return "";
  }
  std::string out = "\n## Language models\n";
  for (const std::string& sentence : models.given_up) {
    out += "\n- " + EscapeMarkdown(sentence) + "\n";
  }
  if (!models.uses.empty()) {
    out += MarkdownTable(models.uses, kUseHeads);
  }
  if (!models.edits.empty()) {
    out += MarkdownTable(models.edits, kEditHeads);
  }
  return out;
}

std::string ModelSectionHtml(const ModelReport& models) {
  std::string out;
  for (const std::string& sentence : models.given_up) {
    out += "<p>" + EscapeHtml(sentence) + "</p>";
  }
  if (!models.uses.empty()) {
    out += HtmlTable(models.uses, kUseHeads);
  }
  if (!models.edits.empty()) {
    out += "<h3>What they proposed</h3>" + HtmlTable(models.edits, kEditHeads);
  }
  return out;
}

}  // namespace optiml
