#include "cli/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/run_folder.h"
#include "core/host_mode.h"
#include "report/text_format.h"

namespace optiml {
namespace {

constexpr int kSentenceIndent = 16;  // below the edit's name

std::string WrapText(const std::string& text, int indent, int width) {
  const auto columns = static_cast<size_t>(std::clamp(width, 60, 110));
  std::string out;
  std::string line(static_cast<size_t>(indent), ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line.assign(static_cast<size_t>(indent), ' ');
    }
    line += (line.back() == ' ' ? "" : " ") + word;
  }
  return out + line + "\n";
}

std::string Row(const std::string& name, const std::string& text) {
  return fmt::format("  {:<10} {}\n", name, text);
}

}  // namespace

int ExitCodeOfRun(const RunRecord& run) {
  if (run.state != RunState::kFinished) {
    return kExitInterrupted;
  }
  return run.result && run.result->improved ? kExitDone : kExitNothingKept;
}

std::string RunSummary(const ReportModel& model, const std::filesystem::path& folder,
                       const std::vector<std::string>& files, const CliEnv& env) {
  const RunRecord& run = *model.run;
  std::string out = fmt::format("\n{}\n\n", model.headline);
  if (model.time_before_s) {
    out += Row("before", fmt::format("{} {}", FormatSeconds(*model.time_before_s), model.word));
  }
  if (model.time_after_s) {
    out += Row("after", fmt::format("{} {}", FormatSeconds(*model.time_after_s), model.word));
  }
  if (model.gain) {
    out += Row("gain", fmt::format("{} ({} to {})", FormatFactor(model.gain->value),
                                   FormatFactor(model.gain->low), FormatFactor(model.gain->high)));
  }
  if (model.floor && model.floor->times_after) {
    out += Row("floor",
               fmt::format("{:.2f} times the target floor of {} ({})", *model.floor->times_after,
                           FormatSeconds(model.floor->target.seconds), model.floor->target.basis));
  }
  out += Row("device", run.environment.device_name);
  if (run.result && run.result->gain_conditions) {
    out += Row("clocks", DescribeConditions(*run.result->gain_conditions));
    if (const std::string warning = ThrottleWarning(*run.result->gain_conditions);
        !warning.empty()) {
      out += WrapText("warning: " + warning, 2, env.width);
    }
  }
  const size_t candidates = run.nodes.empty() ? 0 : run.nodes.size() - 1;
  const auto repeats = std::count_if(run.nodes.begin(), run.nodes.end(),
                                     [](const NodeRecord& node) { return node.duplicate_of >= 0; });
  out += Row(
      "candidates",
      fmt::format("{}: {} accepted, {} rejected{}{}", candidates, model.accepted_count,
                  model.rejected.size(),
                  model.unsupported_count > 0
                      ? fmt::format(" ({} of them could not be checked)", model.unsupported_count)
                      : std::string(),
                  repeats > 0 ? fmt::format("; {} repeat another", repeats) : std::string()));
  if (run.result && !run.result->stop_reason.empty()) {
    out += Row("stopped by", run.result->stop_reason);
  }
  if (model.before != nullptr && IsHostMode(model.before->launcher)) {
    out += WrapText(kHostModeNote, 2, env.width);
  }
  bool headed = false;
  for (const ChainRow& row : model.chain) {
    if (row.step->mark == EditMark::kDropped) {
      continue;
    }
    out += headed ? "" : "\nkept edits\n";
    headed = true;
    out += fmt::format("  {:<6} {:<6} {}\n", EditMarkName(row.step->mark),
                       row.gain ? FormatFactor(*row.gain) : "", row.step->edit.Label());
    out += WrapText(row.step->edit.summary, kSentenceIndent, env.width);
  }
  const std::string shown = ShownPath(folder, env);
  if (!files.empty()) {
    out += fmt::format("\nfiles in {}\n ", shown);
    for (const std::string& file : files) {
      out += " " + file;
    }
    out += "\n";
  }
  if (run.state == RunState::kInterrupted || run.state == RunState::kRunning) {
    out += fmt::format("\ncontinue it with\n  optiml resume {}\n", QuoteForShell(shown));
  } else {
    out += fmt::format("\nlook at it with\n  xdg-open {}\n",
                       QuoteForShell((std::filesystem::path(shown) / "report.html").string()));
  }
  return out;
}

std::string RunSummaryJson(const ReportModel& model, const std::filesystem::path& folder,
                           const std::vector<std::string>& files, int exit_code) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  const RunRecord& run = *model.run;
  Json json;
  json["run"] = run.id.value;
  json["folder"] = folder.string();
  json["state"] = RunStateName(run.state);
  json["improved"] = run.result && run.result->improved;
  json["exit_code"] = exit_code;
  json["headline"] = model.headline;
  json["times_are"] = model.word;
  json["time_before_s"] = or_null(model.time_before_s);
  json["time_after_s"] = or_null(model.time_after_s);
  json["guarantees"] = model.before != nullptr && IsHostMode(model.before->launcher)
                           ? Json(kHostModeNote)
                           : Json(nullptr);
  json["gain"] =
      model.gain
          ? Json{{"value", model.gain->value}, {"low", model.gain->low}, {"high", model.gain->high}}
          : Json(nullptr);
  json["device"] = run.environment.device_name;
  json["candidates"] = run.nodes.empty() ? 0 : run.nodes.size() - 1;
  json["accepted"] = model.accepted_count;
  json["rejected"] = model.rejected.size();
  json["unsupported"] = model.unsupported_count;
  json["chain"] = Json::array();
  for (const ChainRow& row : model.chain) {
    json["chain"].push_back({{"edit", row.step->edit.Label()},
                             {"mark", EditMarkName(row.step->mark)},
                             {"summary", row.step->edit.summary},
                             {"gain", or_null(row.gain)}});
  }
  json["files"] = files;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace optiml
