#include "cli/emulation_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "device/counter_metrics.h"
#include "report/metric_table.h"
#include "report/text_format.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSourceColumns = 72;

std::string Extents(const Dim3& dims) {
  return fmt::format("{} x {} x {}", dims.x, dims.y, dims.z);
}

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return "";
  }
  text = text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
  return std::string(text.substr(0, kSourceColumns));
}

// Lines of a text by number, from 1.
class SourceLines {
 public:
  explicit SourceLines(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      lines_.push_back(text.substr(0, end));
      text = end == std::string_view::npos ? "" : text.substr(end + 1);
    }
  }
  std::string Of(int line) const {
    const bool known = line > 0 && static_cast<size_t>(line) <= lines_.size();
    return known ? Trimmed(lines_[static_cast<size_t>(line) - 1]) : "";
  }

 private:
  std::vector<std::string_view> lines_;
};

std::vector<ptx::LineCounts> ByWork(const ptx::Counters& counters) {
  std::vector<ptx::LineCounts> lines = counters.lines;
  std::ranges::stable_sort(lines, [](const ptx::LineCounts& a, const ptx::LineCounts& b) {
    return a.thread_instructions > b.thread_instructions;
  });
  return lines;
}

std::string LaunchHeading(size_t number, const LaunchTrace& trace) {
  const KernelLaunch& launch = trace.launch;
  std::string out = fmt::format("launch {}: {}, grid {}, block {}", number, launch.kernel,
                                Extents(launch.grid), Extents(launch.block));
  if (launch.dynamic_shared_bytes > 0) {
    out += fmt::format(", {} dynamic shared",
                       FormatQuantity(static_cast<double>(launch.dynamic_shared_bytes), "byte"));
  }
  return out + (launch.line > 0 ? fmt::format(", launched at line {}", launch.line) : "");
}

std::string CountersText(const ptx::Counters& counters) {
  const Profile profile = CountsOf(counters);
  std::string out;
  std::string zeros;
  for (const MetricInfo& info : MetricTable()) {
    const auto value = profile.Get(info.id);
    if (value == 0.0) {
      zeros += fmt::format("{}{}", zeros.empty() ? "" : ", ", info.title);
    } else if (value) {
      out += fmt::format("  {:<28} {}\n", info.title, FormatQuantity(*value, info.unit));
    }
  }
  return out + (zeros.empty() ? "" : fmt::format("  0: {}\n", zeros));
}

std::string LinesText(const ptx::Counters& counters, const SourceLines& source, size_t most) {
  const double total = static_cast<double>(std::max<uint64_t>(counters.thread_instructions, 1));
  std::string out;
  for (const ptx::LineCounts& line : ByWork(counters)) {
    if (line.line <= 0 || most-- == 0) {
      break;
    }
    out += fmt::format("  {:>5}  {:>7}  {}\n", line.line,
                       FormatPercent(static_cast<double>(line.thread_instructions) / total),
                       source.Of(line.line));
  }
  return out.empty() ? out : "  line     share  of the thread instructions\n" + out;
}

std::string FindingLine(const Finding& finding, const SourceLines& source) {
  const std::string place = finding.line > 0 ? fmt::format(" at line {}", finding.line) : "";
  const std::string text = source.Of(finding.line);
  const bool repeats = finding.detail.starts_with(finding.kind);
  return fmt::format("  {}{}: {}{}{}\n", finding.kernel, place, repeats ? "" : finding.kind + ": ",
                     finding.detail, text.empty() ? "" : "\n      " + text);
}

Json DimsJson(const Dim3& dims) {
  return Json::array({dims.x, dims.y, dims.z});
}

Json FindingsJson(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"kind", finding.kind},
                    {"kernel", finding.kernel},
                    {"line", finding.line},
                    {"detail", finding.detail}});
  }
  return json;
}

Json LaunchJson(const LaunchTrace& trace, const SourceLines& source) {
  const ptx::Counters& counters = trace.outcome.counters;
  Json json;
  json["kernel"] = trace.launch.kernel;
  json["grid"] = DimsJson(trace.launch.grid);
  json["block"] = DimsJson(trace.launch.block);
  json["dynamic_shared_bytes"] = trace.launch.dynamic_shared_bytes;
  json["line"] = trace.launch.line;
  json["status"] = ptx::LaunchStatusName(trace.outcome.status);
  json["theoretical_occupancy"] =
      trace.occupancy.blocks > 0 ? Json(trace.occupancy.ratio) : Json(nullptr);
  json["metrics"] = Json::object();
  for (const auto& [id, metric] : CountsOf(counters).metrics) {
    json["metrics"][id] = {{"value", metric.value}, {"unit", metric.unit}};
  }
  json["thread_instructions_by_class"] = Json::object();
  for (size_t i = 0; i < ptx::kInstructionClasses; ++i) {
    if (counters.thread_by_class[i] > 0) {
      const auto name = ptx::InstructionClassName(static_cast<ptx::InstructionClass>(i));
      json["thread_instructions_by_class"][std::string(name)] = counters.thread_by_class[i];
    }
  }
  json["lines"] = Json::array();
  for (const ptx::LineCounts& line : counters.lines) {
    json["lines"].push_back({{"line", line.line},
                             {"thread_instructions", line.thread_instructions},
                             {"warp_instructions", line.warp_instructions},
                             {"text", source.Of(line.line)}});
  }
  return json;
}

}  // namespace

std::string EmulationText(const TraceOutcome& trace, const EmulationView& view) {
  const SourceLines source(view.source_text);
  std::string out = view.title + "\n";
  size_t number = 0;
  for (const LaunchTrace& launch : trace.launches) {
    out += fmt::format("\n{}\n", LaunchHeading(++number, launch));
    if (launch.occupancy.blocks > 0) {
      out += fmt::format("  {:<28} {} ({} blocks, limited by {})\n", "theoretical occupancy",
                         FormatPercent(launch.occupancy.ratio), launch.occupancy.blocks,
                         launch.occupancy.limiter);
    }
    out += CountersText(launch.outcome.counters);
    out += LinesText(launch.outcome.counters, source, view.lines);
  }
  if (!trace.run.printed.empty()) {
    out += "\nprinted\n" + ValidUtf8(trace.run.printed);
    out += out.back() == '\n' ? "" : "\n";
  }
  if (trace.run.status != RunStatus::kCompleted) {
    const bool is_found = trace.run.status == RunStatus::kFault && !trace.run.findings.empty();
    out += fmt::format("\n{}: {}\n", RunStatusName(trace.run.status),
                       is_found ? "ended by what is found below" : trace.run.reason);
  }
  uint64_t fired = 0;
  for (const LaunchTrace& launch : trace.launches) {
    fired += launch.outcome.findings_total;
  }
  if (trace.run.findings.empty()) {
    return out + (trace.run.status == RunStatus::kCompleted
                      ? "\nchecks: nothing found (bounds, alignment, initialisation, shared-memory "
                        "races, barriers, read-only inputs)\n"
                      : "");
  }
  out += fmt::format("\nchecks: {} found", std::max<uint64_t>(fired, trace.run.findings.size()));
  out += fired > trace.run.findings.size()
             ? fmt::format(", the first {} of them\n", trace.run.findings.size())
             : "\n";
  for (const Finding& finding : trace.run.findings) {
    out += FindingLine(finding, source);
  }
  return out;
}

Json EmulationJson(const TraceOutcome& trace, const EmulationView& view) {
  const SourceLines source(view.source_text);
  Json json;
  json["title"] = view.title;
  json["status"] = RunStatusName(trace.run.status);
  json["reason"] = trace.run.reason.empty() ? Json(nullptr) : Json(trace.run.reason);
  json["launches"] = Json::array();
  for (const LaunchTrace& launch : trace.launches) {
    json["launches"].push_back(LaunchJson(launch, source));
  }
  json["findings"] = FindingsJson(trace.run.findings);
  json["printed"] = trace.run.printed;
  return json;
}

}  // namespace optiml
