#ifndef OPTIML_REPORT_REPORT_H_
#define OPTIML_REPORT_REPORT_H_

// The three layouts of a ReportModel. Each returns the whole document; equal models give equal
// bytes.
//
// The HTML is one file: styles, script and charts are inline, nothing is fetched, and everything is
// readable without the script. All text from sources, compilers and kernels is escaped.

#include <optional>
#include <string>
#include <string_view>

#include "report/report_model.h"

namespace optiml {

std::string MarkdownReport(const ReportModel& model);
std::string JsonReport(const ReportModel& model);
std::string HtmlReport(const ReportModel& model);

enum class ReportFormat { kMarkdown, kJson, kHtml };
// "markdown" or "md", "json", "html".
std::optional<ReportFormat> ParseReportFormat(std::string_view name);
std::string FormatReport(const ReportModel& model, ReportFormat format);

// The patch from the task's kernel to the best one; empty when nothing was kept.
std::string BestPatch(const ReportModel& model);

}  // namespace optiml

#endif  // OPTIML_REPORT_REPORT_H_
