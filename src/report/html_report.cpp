// The page: its sections in order, and the frame around them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/content_hash.h"
#include "report/assets.h"
#include "report/html_parts.h"
#include "report/metric_table.h"
#include "report/report.h"
#include "report/report_numbers.h"
#include "report/text_format.h"

namespace optiml {
namespace {

std::string_view Asset(std::string_view name) {
  for (const EmbeddedText& asset : EmbeddedReportAssets()) {
    if (asset.name == name) {
      return asset.text;
    }
  }
  OPTIML_CHECK(false, "the report's assets are compiled in");
}

// The hash of the script as a content security policy writes it: the page runs this text and no
// other, whatever a kernel's source holds.
std::string ScriptHash(std::string_view script) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = ContentHash::Of(script).Hex();
  std::string base64;
  for (size_t i = 0; i < 32; i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j) {
      group = group << 8 |
              (j < 32 ? static_cast<uint32_t>(std::stoul(hex.substr(2 * j, 2), nullptr, 16)) : 0);
    }
    for (int shift = 18; shift >= 0; shift -= 6) {
      base64 += kDigits[group >> shift & 63];
    }
  }
  base64.back() = '=';  // 32 bytes fill all but the last digit
  return base64;
}

const char* MarkClass(EditMark mark) {
  switch (mark) {
    case EditMark::kKeep:
      return "keep";
    case EditMark::kBridge:
      return "bridge";
    case EditMark::kDropped:
      return "dropped";
  }
  return "keep";
}

void AddHero(const ReportModel& model, std::string& out) {
  const RunRecord& run = *model.run;
  out += "<section class=hero>";
  if (model.gain && model.gain->value > 1) {
    out += fmt::format("<div class=big><b>{}</b><span>{}</span><small>{} to {}</small></div>",
                       FormatFactor(model.gain->value),
                       model.measured ? "measured gain" : "predicted gain",
                       FormatFactor(model.gain->low), FormatFactor(model.gain->high));
  }
  out += "<div class=what><p class=headline>" + EscapeHtml(model.headline) + "</p>";
  if (model.time_before_s && model.time_after_s) {
    const double longest = std::max(*model.time_before_s, *model.time_after_s);
    const auto bar = [&](const char* name, double seconds, const char* css_class) {
      out += fmt::format(
          "<div class=bar><span>{}</span><div class=track><div class=\"{}\" "
          "style=\"width:{:.2f}%\"></div></div><b>{}</b></div>",
          name, css_class, seconds / longest * 100, FormatSeconds(seconds));
    };
    bar("before", *model.time_before_s, "old");
    bar("after", *model.time_after_s, "new");
  }
  out += "<p class=meta>";
  const auto chip = [&](const std::string& text) {
    if (!text.empty()) {
      out += "<span class=chip>" + EscapeHtml(text) + "</span>";
    }
  };
  chip(run.environment.device_name);
  chip(model.word + " times");
  chip(fmt::format("{} candidates", model.nodes.empty() ? 0 : model.nodes.size() - 1));
  chip(RunStateName(run.state));
  out += "</p></div></section>";
  if (!model.notes.empty()) {
    out += "<ul class=notes>";
    for (const std::string& note : model.notes) {
      out += "<li>" + EscapeHtml(note);
    }
    out += "</ul>";
  }
}

void AddShapes(const ReportModel& model, std::string& out) {
  if (model.shapes.empty()) {
    return;
  }
  out += fmt::format(
      "<div class=scroll><table class=num><thead><tr><th>timed shape<th>{0} before<th>{0} "
      "after<th>gain<th>interval<tbody>",
      model.word);
  for (const ShapeRow& row : model.shapes) {
    out += fmt::format("<tr><th>{}<td>{}<td>{}<td><b>{}</b><td>{} to {}", EscapeHtml(row.shape),
                       FormatSeconds(row.before.median_s), FormatSeconds(row.after.median_s),
                       FormatFactor(row.gain.value), FormatFactor(row.gain.low),
                       FormatFactor(row.gain.high));
  }
  out += "</table></div>";
}

void AddClaims(const ChainRow& row, std::string& out) {
  if (row.claims.empty()) {
    return;
  }
  out += "<ul class=claims>";
  for (const ClaimCheck& check : row.claims) {
    const char* css_class = check.verdict == ClaimCheck::Verdict::kCameTrue ? "ok"
                            : check.verdict == ClaimCheck::Verdict::kDidNot ? "bad"
                                                                            : "muted";
    out += fmt::format("<li><span class={}>{}</span> claimed: {} {}", css_class,
                       ClaimVerdictName(check.verdict), EscapeHtml(MetricTitle(check.claim.metric)),
                       check.claim.direction == Direction::kDown ? "down" : "up");
    if (check.change.before && check.change.after) {
      out += fmt::format(" <span class=muted>({} to {})</span>",
                         EscapeHtml(FormatQuantity(*check.change.before, check.change.unit)),
                         EscapeHtml(FormatQuantity(*check.change.after, check.change.unit)));
    }
  }
  out += "</ul>";
}

void AddChain(const ReportModel& model, std::string& out) {
  if (model.chain.empty()) {
    out += model.finished ? "<p class=muted>No edit was kept.</p>"
                          : "<p class=muted>The chain is settled when the run ends.</p>";
    return;
  }
  out += "<ol class=chain>";
  for (const ChainRow& row : model.chain) {
    const ChainStep& step = *row.step;
    out += fmt::format(
        "<li class=\"card {0}\"><header><span class=\"badge {0}\">{1}</span><code>{2}</code>",
        MarkClass(step.mark), EditMarkName(step.mark), EscapeHtml(step.edit.Label()));
    if (row.gain) {
      out += fmt::format("<b class=stepgain>{}</b>", FormatFactor(*row.gain));
    }
    out += "</header><p>" + EscapeHtml(step.edit.summary) + "</p><p class=muted>";
    if (row.time_before_s && step.time_s) {
      out += fmt::format("{} {} &rarr; {}", model.word, FormatSeconds(*row.time_before_s),
                         FormatSeconds(*step.time_s));
      out += row.gain_without || !step.note.empty() ? "; " : "";
    }
    if (!step.note.empty()) {
      out += EscapeHtml(step.note);
    } else if (row.gain_without) {
      out += fmt::format("without it the kernel would take {} as long",
                         FormatFactor(*row.gain_without));
    }
    out += "</p>";
    if (row.by_model != nullptr) {
      out += "<p class=muted>" + EscapeHtml(ByModelText(*row.by_model)) + "</p>";
    }
    AddClaims(row, out);
    if (!row.changes.empty()) {
      out += "<details><summary>Counters that moved</summary>" +
             MetricChangeTable(row.changes, "") + "</details>";
    }
    if (!row.diff.empty()) {
      out += "<details open><summary>Diff</summary>" + DiffTable(row.diff) + "</details>";
    }
    out += "</li>";
  }
  out += "</ol>";
}

// Pictures that are shown at once; with more of them each waits to be opened.
constexpr size_t kMostOpenMaps = 6;

std::string MapDetails(const ErrorMap* map, bool open) {
  const std::string figure = map == nullptr ? "" : ErrorMapFigure(*map);
  return figure.empty() ? ""
                        : fmt::format("<details{}><summary>Where it is wrong</summary>{}</details>",
                                      open ? " open" : "", figure);
}

void AddLedger(const ReportModel& model, bool unsupported, std::string& out) {
  const auto maps =
      static_cast<size_t>(std::count_if(model.rejected.begin(), model.rejected.end(),
                                        [](const LedgerRow& row) { return row.map != nullptr; }));
  out += fmt::format(
      "<div class=scroll><table class=ledger id={}><thead><tr><th>node<th>edit<th>stage<th>reason"
      "<tbody>",
      unsupported ? "unchecked" : "ledger");
  for (const LedgerRow& row : model.rejected) {
    if (row.is_unsupported != unsupported) {
      continue;
    }
    const Rejection* rejection = row.node->evaluation.rejection();
    out += fmt::format(
        "<tr><td><a href=\"#node-{0}\">{0}</a><td><code>{1}</code><td class={2}>{3}<td>{4}{5}{6}",
        row.node->id, EscapeHtml(row.node->edit.Label()), unsupported ? "muted" : "bad",
        StageName(rejection->stage), EscapeHtml(rejection->reason),
        row.evidence.empty() ? "" : "<br><code>" + EscapeHtml(row.evidence) + "</code>",
        MapDetails(row.map, maps <= kMostOpenMaps));
  }
  out += "</table></div>";
}

// The file that is handed over, when its own check found it wrong.
void AddDelivered(const ReportModel& model, std::string& out) {
  const auto& result = model.run->result;
  const Evaluation* delivered = result && result->delivered ? &*result->delivered : nullptr;
  if (delivered == nullptr || delivered->accepted() || !delivered->verify ||
      !delivered->verify->error_map) {
    return;
  }
  out += "<h3>The file as delivered</h3><p><code>" + EscapeHtml(FirstEvidence(*delivered)) +
         "</code></p>" + MapDetails(&*delivered->verify->error_map, true);
}

void AddRejected(const ReportModel& model, std::string& out) {
  AddDelivered(model, out);
  if (model.rejected.empty()) {
    out += "<p class=muted>No candidate was rejected.</p>";
    return;
  }
  const size_t wrong = model.rejected.size() - static_cast<size_t>(model.unsupported_count);
  if (wrong > 0) {
    out += fmt::format(
        "<p>{} of {} candidates were rejected, each at the first check that it failed.</p><input "
        "class=filter type=search placeholder=\"filter\" aria-label=\"Filter rejected "
        "candidates\" data-filter=ledger hidden>",
        wrong, model.nodes.size() - 1);
    AddLedger(model, false, out);
  }
  if (model.unsupported_count > 0) {
    out += fmt::format(
        "<h3>Not checked</h3><p>{} of {} candidates could not be checked: what they do is not "
        "followed, and whether they are right was not found out.</p>",
        model.unsupported_count, model.nodes.size() - 1);
    AddLedger(model, true, out);
  }
}

void AddTimes(const ReportModel& model, std::string& out) {
  if (model.stage_shares.empty()) {
    out += "<p class=muted>Nothing was recorded.</p>";
    return;
  }
  out += StageBar(model) +
         "<div class=scroll><table class=num><thead><tr><th>stage<th>time<th>share<th>candidates"
         "<tbody>";
  for (size_t i = 0; i < model.stage_shares.size(); ++i) {
    const StageShare& share = model.stage_shares[i];
    out += fmt::format("<tr><th><i class=\"key s{}\"></i>{}<td>{}<td>{}<td>{}", i % 8,
                       EscapeHtml(share.name), FormatElapsed(share.seconds),
                       FormatPercent(share.seconds / std::max(model.total_seconds, 1e-12)),
                       share.count);
  }
  out += "</table></div>";
  for (const std::string& line : DeviceLines(*model.run)) {
    out += fmt::format("<p>{}</p>", EscapeHtml(line));
  }
}

void AddBattery(const ReportModel& model, std::string& out) {
  if (model.run->battery.empty()) {
    out += "<p class=muted>The battery was not run.</p>";
    return;
  }
  out +=
      "<p>Before the search, kernels that are wrong on purpose were put through the same checks. "
      "A task whose checks accept one of them is refused.</p><div class=scroll><table "
      "class=ledger><thead><tr><th>wrong kernel<th>verdict<th>detail<tbody>";
  for (const BatteryRow& row : model.run->battery) {
    const char* css_class = row.verdict == "rejected"   ? "ok"
                            : row.verdict == "accepted" ? "bad"
                                                        : "muted";
    out += fmt::format("<tr><th>{}<td class={}>{}<td>{}", EscapeHtml(row.mutant), css_class,
                       EscapeHtml(row.verdict), EscapeHtml(row.detail));
  }
  out += "</table></div>";
}

void AddLifts(const ReportModel& model, std::string& out) {
  if (model.run->lifts.empty()) {
    out += "<p class=muted>Nothing was recorded.</p>";
    return;
  }
  for (const LiftRow& row : model.run->lifts) {
    out += fmt::format(
        "<details class=card><summary><code>{}</code> <span class={}>{}</span></summary><pre>{}"
        "</pre></details>",
        EscapeHtml(row.kernel), row.lifted ? "ok" : "muted",
        row.lifted ? "lifted to an algorithm" : "not lifted", EscapeHtml(row.detail));
  }
}

// " (recorded)": who made the plans of the task's own kernel.
std::string LauncherNote(const ReportModel& model) {
  return model.before == nullptr || model.before->launcher.empty()
             ? ""
             : " (" + model.before->launcher + ")";
}

void AddEnvironment(const ReportModel& model, std::string& out) {
  const RunRecord& run = *model.run;
  out += "<dl class=wide>";
  const auto fact = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) {
      out += fmt::format("<dt>{}<dd>{}", EscapeHtml(name), EscapeHtml(value));
    }
  };
  fact("run", run.id.value);
  fact("OptiML", run.environment.optiml_version);
  fact("device", run.environment.device_name);
  fact("architecture", run.environment.architecture);
  fact("toolchain", run.environment.toolchain);
  fact("times", model.measured ? "measured"
                               : fmt::format("predicted, stated error a factor of {:.2f}",
                                             run.environment.prediction_error_factor));
  fact("started", run.environment.started_at);
  if (run.result) {
    fact("finished", run.result->finished_at);
    fact("stopped by", run.result->stop_reason);
  }
  fact("task", run.task.folder.empty() ? run.task.source_path : run.task.folder);
  fact("task hash", run.task.hash);
  fact("launcher", run.task.entry + LauncherNote(model));
  std::string shapes;
  for (const std::string& shape : run.task.checked_shapes) {
    shapes += (shapes.empty() ? "" : "; ") + shape;
  }
  fact("checked shapes", shapes);
  for (const auto& [key, value] : run.task.origin) {
    fact(key, value);
  }
  out += "</dl><h3>Options</h3><dl class=wide>";
  for (const auto& [key, value] : run.options) {
    fact("--" + key, value);
  }
  out += fmt::format(
      "</dl><h3>Make it again</h3><div class=copy><pre id=reproduce>{}</pre><button type=button "
      "data-copy=reproduce hidden>copy</button></div>",
      EscapeHtml(model.reproduce));
}

struct Section {
  const char* id;
  const char* label;  // in the bar at the top
  const char* title;
  std::string html;
};

}  // namespace

std::string HtmlReport(const ReportModel& model) {
  const RunRecord& run = *model.run;
  std::vector<Section> sections;
  const auto section = [&](const char* id, const char* label, const char* title, auto add) {
    std::string html;
    add(model, html);
    sections.push_back({id, label, title, std::move(html)});
  };
  section("chain", "Changes", "What changed", AddChain);
  section("counters", "Counters", "Before and after", [](const ReportModel& m, std::string& out) {
    AddShapes(m, out);
    out += "<h3>Counters at the first timed shape</h3>";
    out += m.counters.empty() ? "<p class=muted>No counters were obtained.</p>"
                              : MetricChangeTable(m.counters, "");
  });
  section("roofline", "Limits", "Against the machine's limits",
          [](const ReportModel& m, std::string& out) {
            out += m.roofline
                       ? RooflineChart(*m.roofline) + "<p class=muted>" +
                             EscapeHtml(m.roofline->basis) + "; first timed shape.</p>"
                       : "<p class=muted>No roofline: " + EscapeHtml(m.no_roofline) + ".</p>";
            out += SpeedOfLightBars(m);
          });
  section("tree", "Search", "Search",
          [](const ReportModel& m, std::string& out) { out += ProgressChart(m) + TreeSection(m); });
  section("rejected", "Rejected", "Rejected", AddRejected);
  if (model.models.any()) {
    section("models", "Models", "Language models",
            [](const ReportModel& m, std::string& out) { out += ModelSectionHtml(m.models); });
  }
  section("time", "Time", "Where the time went", AddTimes);
  section("battery", "Checks", "Can the checks tell right from wrong?", AddBattery);
  section("lift", "Lift", "What was understood", AddLifts);
  if (!model.best_source.empty()) {
    section("source", "Source", "The kernel",
            [](const ReportModel& m, std::string& out) { out += SourceListing(m.best_source); });
  }
  section("environment", "Environment", "Environment", AddEnvironment);

  const std::string_view script = Asset("report.js");
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'sha256-{}'\">\n"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=color-scheme content=\"light dark\">\n"
      "<title>{} - OptiML</title>\n<style>{}</style></head>\n<body>\n"
      "<header class=top><a href=\"#top\" class=brand>OptiML</a><nav>",
      ScriptHash(script), EscapeHtml(run.task.name), Asset("report.css"));
  for (const Section& each : sections) {
    page += fmt::format("<a href=\"#{}\">{}</a>", each.id, each.label);
  }
  page += fmt::format(
      "</nav><button type=button id=scheme hidden aria-label=\"Switch between light and dark\">"
      "&#9680;</button></header>\n<main id=top><h1>{}</h1>",
      EscapeHtml(run.task.name));
  if (!run.task.intent.empty()) {
    page += "<p class=intent>" + EscapeHtml(run.task.intent) + "</p>";
  }
  AddHero(model, page);
  for (const Section& each : sections) {
    page += fmt::format("\n<section id={}><h2>{}</h2>{}</section>", each.id, each.title, each.html);
  }
  page += fmt::format("\n</main><script>{}</script></body></html>\n", script);
  return page;
}

}  // namespace optiml
