#include "cli/emulation_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

// Lines in which an error was born, with their shares; contributions of both signs may take each
// other away, so shares are of what was born, not of what is left.
std::vector<std::pair<int, double>> BirthShares(const ptx::ElementError& error) {
  double sum = 0;
  for (const ptx::ErrorBirth& birth : error.births) {
    sum += std::fabs(birth.amount);
  }
  std::vector<std::pair<int, double>> shares;
  for (const ptx::ErrorBirth& birth : error.births) {
    shares.emplace_back(birth.line, std::isfinite(sum) ? std::fabs(birth.amount) / sum : 1);
  }
  return shares;
}

std::string ShadowLine(const char* what, const ptx::ElementError& error,
                       const SourceLines& source) {
  std::string out =
      fmt::format("    worst {} error {:.3g} at element {}: {:.9g}, in double {:.12g}\n", what,
                  error.error, error.element, error.value, error.shadow);
  std::string births;
  for (const auto& [line, share] : BirthShares(error)) {
    births += fmt::format("{}{} ({})", births.empty() ? "" : ", ",
                          line > 0 ? fmt::format("line {}", line) : "an unknown line",
                          FormatPercent(share));
  }
  if (!births.empty()) {
    const std::string text = source.Of(error.births.front().line);
    out +=
        fmt::format("      born at {}\n{}", births, text.empty() ? "" : "        " + text + "\n");
  }
  if (error.cancelled_bits > 0) {
    const std::string text = source.Of(error.cancelled_line);
    out += fmt::format("      grew by {} bits where a sum cancelled, at line {}\n{}",
                       error.cancelled_bits, error.cancelled_line,
                       text.empty() ? "" : "        " + text + "\n");
  }
  return out;
}

std::string ShadowText(const TraceOutcome& trace, const SourceLines& source) {
  std::string out = "\nerrors against double arithmetic (branches and addresses as they were)\n";
  for (const ShadowTrace& shadow : trace.shadows) {
    const ptx::BufferError& error = shadow.error;
    out += fmt::format("  {}: {} of {} elements are inexact\n", shadow.buffer, error.inexact,
                       error.elements);
    if (error.inexact > 0) {
      out += ShadowLine("relative", error.relative, source);
      out += ShadowLine("absolute", error.absolute, source);
    }
  }
  if (trace.shadows.empty()) {
    out += "  no output of floats\n";
  }
  std::string lines;
  for (const int32_t line : trace.unfollowed_lines) {
    lines += fmt::format("{}{}", lines.empty() ? "" : ", ", line);
  }
  return out +
         (lines.empty()
              ? ""
              : fmt::format("  not followed, so taken as exact: results of line {}\n", lines));
}

// Infinities as null: JSON has none.
Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json ErrorJson(const ptx::ElementError& error) {
  if (error.element < 0) {
    return nullptr;
  }
  Json json;
  json["error"] = Number(error.error);
  json["element"] = error.element;
  json["value"] = Number(error.value);
  json["shadow"] = Number(error.shadow);
  json["born"] = Json::array();
  const auto shares = BirthShares(error);
  for (size_t i = 0; i < shares.size(); ++i) {
    json["born"].push_back({{"line", shares[i].first},
                            {"amount", Number(error.births[i].amount)},
                            {"share", shares[i].second}});
  }
  json["cancelled"] = nullptr;
  if (error.cancelled_bits > 0) {
    json["cancelled"] = {{"line", error.cancelled_line}, {"bits", error.cancelled_bits}};
  }
  return json;
}

Json ShadowJson(const TraceOutcome& trace) {
  Json json;
  json["outputs"] = Json::array();
  for (const ShadowTrace& shadow : trace.shadows) {
    json["outputs"].push_back({{"buffer", shadow.buffer},
                               {"elements", shadow.error.elements},
                               {"inexact", shadow.error.inexact},
                               {"relative", ErrorJson(shadow.error.relative)},
                               {"absolute", ErrorJson(shadow.error.absolute)}});
  }
  json["unfollowed_lines"] = trace.unfollowed_lines;
  return json;
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
  if (view.shadow && trace.run.status == RunStatus::kCompleted) {
    out += ShadowText(trace, source);
  }
  uint64_t fired = 0;
  for (const LaunchTrace& launch : trace.launches) {
    fired += launch.outcome.findings_total;
  }
  for (const std::string& note : trace.run.notes) {
    out += "\nnote: " + note + "\n";
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
  json["notes"] = trace.run.notes;
  json["printed"] = trace.run.printed;
  if (view.shadow) {
    json["shadow"] = ShadowJson(trace);
  }
  return json;
}

}  // namespace optiml
