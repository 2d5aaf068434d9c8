#include "cli/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace optiml {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array<CorpusVerdict, 5> kVerdicts = {
    CorpusVerdict::kAccepted, CorpusVerdict::kRejected, CorpusVerdict::kUnsupported,
    CorpusVerdict::kNoTask, CorpusVerdict::kFailed};

// The first line, without the program's name.
std::string FirstLine(std::string text) {
  constexpr std::string_view kProgram = "optiml: ";
  if (text.starts_with(kProgram)) {
    text.erase(0, kProgram.size());
  }
  return text.substr(0, text.find('\n'));
}

// It said that a size does not fit in memory, or an allocation failed.
bool RanOutOfMemory(const ProcessOutcome& outcome) {
  return outcome.standard_error.find("bad_alloc") != std::string::npos ||
         outcome.standard_error.find("of memory") != std::string::npos;
}

std::string WhyFailed(const ProcessOutcome& outcome, const ProcessLimits& limits) {
  if (outcome.timed_out) {
    return fmt::format("did not end within {} s", limits.wall_time.count() / 1000);
  }
  const std::string said = FirstLine(outcome.standard_error);
  if (RanOutOfMemory(outcome)) {
    return outcome.signal != 0 ? "ran out of memory" : said;
  }
  const std::string why = outcome.signal != 0
                              ? fmt::format("crashed with signal {}", outcome.signal)
                              : fmt::format("ended with status {}", outcome.exit_code);
  return said.empty() ? why : why + ": " + said;
}

void ReadVerdict(const Json& json, CorpusRow& row) {
  if (json.value("accepted", false)) {
    row.verdict = CorpusVerdict::kAccepted;
    return;
  }
  row.verdict =
      json.value("unsupported", false) ? CorpusVerdict::kUnsupported : CorpusVerdict::kRejected;
  row.stage = json["stage"].is_string() ? json["stage"].get<std::string>() : "";
  row.reason = json["reason"].is_string() ? json["reason"].get<std::string>() : "";
}

Result<void> Collect(const fs::path& folder, std::vector<fs::path>& kernels) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: {}", folder.string(), error.message()));
  }
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    std::error_code ignored;
    if (fs::is_symlink(entry, ignored) || entry.filename().string().starts_with(".")) {
      continue;
    }
    if (!fs::is_directory(entry, ignored)) {
      if (entry.extension() == ".cu") {
        kernels.push_back(entry);
      }
    } else if (fs::exists(entry / "task.toml", ignored)) {
      kernels.push_back(entry);
    } else {
      OPTIML_TRY(Collect(entry, kernels));
    }
  }
  return {};
}

}  // namespace

std::string CorpusVerdictName(CorpusVerdict verdict) {
  switch (verdict) {
    case CorpusVerdict::kAccepted:
      return "accepted";
    case CorpusVerdict::kRejected:
      return "rejected";
    case CorpusVerdict::kUnsupported:
      return "unsupported";
    case CorpusVerdict::kNoTask:
      return "no task";
    case CorpusVerdict::kFailed:
      return "failed";
  }
  return "";
}

Result<std::vector<fs::path>> KernelsIn(const fs::path& corpus) {
  std::vector<fs::path> kernels;
  std::error_code ignored;
  if (fs::exists(corpus / "task.toml", ignored)) {
    return std::vector<fs::path>{corpus};
  }
  OPTIML_TRY(Collect(corpus, kernels));
  if (kernels.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: no folder with a task.toml and no .cu file", corpus.string()));
  }
  return kernels;
}

Result<CorpusRow> CheckOfCorpus(const fs::path& corpus, const fs::path& kernel,
                                const std::vector<std::string>& arguments,
                                const ProcessLimits& limits, bool works, const CliEnv& env,
                                Toolbox& tools) {
  CorpusRow row;
  row.kernel =
      kernel == corpus ? kernel.filename().string() : kernel.lexically_relative(corpus).string();
  std::vector<std::string> command = {"check", kernel.string(), "--json"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  OPTIML_ASSIGN(const ProcessOutcome outcome, tools.RunProgram(command, env, limits));
  row.seconds = std::chrono::duration<double>(outcome.wall_time).count();
  const bool ended = !outcome.timed_out && outcome.signal == 0;
  if (ended && outcome.exit_code == kExitEnvironment && !RanOutOfMemory(outcome) && !works) {
    return Error(ErrorCode::kUnavailable, FirstLine(outcome.standard_error));
  }
  // A kernel that does not build, or whose launcher cannot be followed, has a verdict too.
  const Json json = Json::parse(outcome.standard_output, nullptr, false);
  const bool is_judged =
      ended && outcome.exit_code <= kExitBadUse && json.is_object() && json.contains("accepted");
  if (ended && outcome.exit_code == kExitBadUse && !is_judged) {
    row.verdict = CorpusVerdict::kNoTask;
    row.reason = FirstLine(outcome.standard_error);
    return row;
  }
  if (!is_judged) {
    row.verdict = CorpusVerdict::kFailed;
    row.reason = WhyFailed(outcome, limits);
    return row;
  }
  ReadVerdict(json, row);
  return row;
}

bool IsJudged(const CorpusRow& row) {
  return row.verdict == CorpusVerdict::kAccepted || row.verdict == CorpusVerdict::kRejected ||
         row.verdict == CorpusVerdict::kUnsupported;
}

std::string CorpusHead() {
  return fmt::format("{:<11} {:<9} {:>7} {}\n", "verdict", "stage", "seconds", "kernel");
}

std::string FormatCorpusRow(const CorpusRow& row, int width) {
  std::string text = fmt::format("{:<11} {:<9} {:>7.1f} {}\n", CorpusVerdictName(row.verdict),
                                 row.stage, row.seconds, row.kernel);
  if (row.reason.empty()) {
    return text;
  }
  // The reason on a line of its own, cut where the terminal ends; --json has all of it.
  constexpr size_t kIndent = 12;
  std::string reason = row.reason.substr(0, row.reason.find('\n'));
  const size_t room = std::max<size_t>(static_cast<size_t>(std::max(width, 0)), 60) - kIndent;
  if (reason.size() > room) {
    reason = reason.substr(0, room - 3) + "...";
  }
  return text + std::string(kIndent, ' ') + reason + "\n";
}

std::string CorpusSummary(const std::vector<CorpusRow>& rows) {
  std::string text = fmt::format("{} kernel{}:", rows.size(), rows.size() == 1 ? "" : "s");
  std::string separator = " ";
  for (const CorpusVerdict verdict : kVerdicts) {
    const auto count = std::count_if(rows.begin(), rows.end(),
                                     [&](const CorpusRow& row) { return row.verdict == verdict; });
    if (count > 0) {
      text += fmt::format("{}{} {}", separator, count, CorpusVerdictName(verdict));
      separator = ", ";
    }
  }
  return text + "\n";
}

std::string CorpusJson(const std::vector<CorpusRow>& rows) {
  Json json;
  json["kernels"] = Json::array();
  json["counts"] = Json::object();
  for (const CorpusVerdict verdict : kVerdicts) {
    json["counts"][CorpusVerdictName(verdict)] = 0;
  }
  for (const CorpusRow& row : rows) {
    const std::string verdict = CorpusVerdictName(row.verdict);
    json["counts"][verdict] = json["counts"][verdict].get<int>() + 1;
    json["kernels"].push_back({{"kernel", row.kernel},
                               {"verdict", verdict},
                               {"stage", row.stage.empty() ? Json(nullptr) : Json(row.stage)},
                               {"reason", row.reason.empty() ? Json(nullptr) : Json(row.reason)},
                               {"seconds", row.seconds}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace optiml
