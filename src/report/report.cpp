#include "report/report.h"

#include <filesystem>

#include "report/line_diff.h"

namespace optiml {

std::optional<ReportFormat> ParseReportFormat(std::string_view name) {
  if (name == "markdown" || name == "md") {
    return ReportFormat::kMarkdown;
  }
  if (name == "json") {
    return ReportFormat::kJson;
  }
  if (name == "html") {
    return ReportFormat::kHtml;
  }
  return std::nullopt;
}

std::string FormatReport(const ReportModel& model, ReportFormat format) {
  switch (format) {
    case ReportFormat::kMarkdown:
      return MarkdownReport(model);
    case ReportFormat::kJson:
      return JsonReport(model);
    case ReportFormat::kHtml:
      return HtmlReport(model);
  }
  return "";
}

std::string BestPatch(const ReportModel& model) {
  if (model.best_source.empty()) {
    return "";
  }
  const std::string name = std::filesystem::path(model.run->task.source_path).filename().string();
  return UnifiedDiff("a/" + name, "b/" + name, model.run->task.source, model.best_source);
}

}  // namespace optiml
