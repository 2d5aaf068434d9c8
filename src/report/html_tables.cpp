// Tables of numbers.
#include <fmt/format.h>

#include "report/html_parts.h"
#include "report/metric_table.h"
#include "report/text_format.h"

namespace optiml {
namespace {

// Whether the change is good, by the metric's sense: " good", " poor" or "".
const char* Verdict(const MetricChange& change) {
  const MetricInfo* info = FindMetric(change.id);
  if (info == nullptr || info->sense == MetricSense::kNeutral || !change.before || !change.after ||
      *change.before == *change.after) {
    return "";
  }
  const bool down = *change.after < *change.before;
  return down == (info->sense == MetricSense::kLower) ? " good" : " poor";
}

std::string RatioText(const MetricChange& change) {
  const std::optional<double> ratio = change.ratio();
  if (!ratio) {
    return "";
  }
  if (*ratio == 0) {
    return "gone";
  }
  return FormatFactor(*ratio);
}

}  // namespace

std::string Cell(const std::optional<double>& value, std::string_view unit) {
  return value ? EscapeHtml(FormatQuantity(*value, unit))
               : std::string("<em class=muted>not obtained</em>");
}

std::string MetricChangeTable(const std::vector<MetricChange>& changes, std::string_view caption) {
  std::string out = fmt::format(
      "<div class=scroll><table class=num>{}<thead><tr><th>counter<th>before<th>after<th>ratio"
      "<tbody>",
      caption.empty() ? "" : fmt::format("<caption>{}</caption>", EscapeHtml(caption)));
  for (const MetricChange& change : changes) {
    const MetricInfo* info = FindMetric(change.id);
    out +=
        fmt::format("<tr><th title=\"{}{}\">{}<td>{}<td>{}<td class=\"ratio{}\">{}",
                    EscapeHtml(change.id), info == nullptr ? "" : ": " + EscapeHtml(info->meaning),
                    EscapeHtml(MetricTitle(change.id)), Cell(change.before, change.unit),
                    Cell(change.after, change.unit), Verdict(change), RatioText(change));
  }
  return out + "</table></div>";
}

}  // namespace optiml
