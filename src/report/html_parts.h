#ifndef OPTIML_REPORT_HTML_PARTS_H_
#define OPTIML_REPORT_HTML_PARTS_H_

// Pieces of the HTML report. Each returns a fragment with everything escaped; the page puts them in
// order (html_report.cpp).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report_model.h"

namespace optiml {

// html_charts.cpp: inline SVG.
// Gain of every candidate over the order of evaluation, with the best so far; "" below two nodes.
std::string ProgressChart(const ReportModel& model);
// Log-log, with both ceilings. REQUIRES: model.roofline
std::string RooflineChart(const Roofline& roofline);
// One bar for each limit of the machine, before and after; "" without a diagnosis.
std::string SpeedOfLightBars(const ReportModel& model);
std::string StageBar(const ReportModel& model);

// html_tree.cpp: the tree as rows, and a panel with one article for each node.
std::string TreeSection(const ReportModel& model);

// html_diff.cpp
std::string DiffTable(const std::vector<DiffHunk>& hunks);
// CUDA text with line numbers and light syntax colours.
std::string SourceListing(std::string_view source);
// One line of CUDA with <i class="..."> around comments, keywords, numbers and strings;
// `in_comment` carries a block comment from line to line.
std::string HighlightLine(std::string_view line, bool& in_comment);

// html_error_map.cpp
// Where an output is wrong; "" for a map that is not whole.
std::string ErrorMapFigure(const ErrorMap& map);

// html_tables.cpp
// Rows of metric, before, after, ratio; good changes are marked by the metric's sense.
std::string MetricChangeTable(const std::vector<MetricChange>& changes, std::string_view caption);
std::string Cell(const std::optional<double>& value, std::string_view unit);

}  // namespace optiml

#endif  // OPTIML_REPORT_HTML_PARTS_H_
