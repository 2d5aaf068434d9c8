// Tables of numbers.
#include <fmt/format.h>

#include <cmath>

#include "report/html_parts.h"
#include "report/metric_table.h"
#include "report/text_format.h"

namespace optiml {
namespace {

// A change below this is neither good nor poor.
constexpr double kMarkedChange = 0.02;

// Whether the change is good, by the metric's sense: " good", " poor" or "".
const char* ChangeSense(const MetricChange& change) {
  const MetricInfo* info = FindMetric(change.id);
  if (info == nullptr || info->sense == MetricSense::kNeutral || !change.before || !change.after ||
      std::fabs(*change.after - *change.before) < kMarkedChange * std::fabs(*change.before)) {
    return "";
  }
  const bool down = *change.after < *change.before;
  return down == (info->sense == MetricSense::kLower) ? " good" : " poor";
}

std::string RatioText(const MetricChange& change) {
  if (const std::optional<double> ratio = change.ratio()) {
    return *ratio == 0 ? "gone" : FormatFactor(*ratio);
  }
  return change.before && change.after && *change.after != 0 ? "new" : "";
}

bool IsZeroThroughout(const MetricChange& change) {
  return change.before == 0.0 && change.after == 0.0;
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
  std::string zeros;
  for (const MetricChange& change : changes) {
    if (IsZeroThroughout(change)) {
      zeros += (zeros.empty() ? "" : ", ") + EscapeHtml(MetricTitle(change.id));
      continue;
    }
    const MetricInfo* info = FindMetric(change.id);
    out +=
        fmt::format("<tr><th title=\"{}{}\">{}<td>{}<td>{}<td class=\"ratio{}\">{}",
                    EscapeHtml(change.id), info == nullptr ? "" : ": " + EscapeHtml(info->meaning),
                    EscapeHtml(MetricTitle(change.id)), Cell(change.before, change.unit),
                    Cell(change.after, change.unit), ChangeSense(change), RatioText(change));
  }
  out += "</table></div>";
  return zeros.empty() ? out : out + "<p class=muted>0 before and after: " + zeros + ".</p>";
}

}  // namespace optiml
