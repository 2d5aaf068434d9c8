// The report's charts as inline SVG. Colours come from the style sheet's classes, so that they
// follow the light and the dark scheme; every mark differs in shape as well as in colour.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html_parts.h"
#include "report/text_format.h"

namespace optiml {
namespace {

// A linear or logarithmic axis from values to pixels.
struct Axis {
  double low;
  double high;
  double pixel_low;
  double pixel_high;
  double At(double value) const {
    const double share =
        (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return pixel_low + share * (pixel_high - pixel_low);
  }
};

// Powers of ten that hold all of [low, high], at least one decade.
std::pair<double, double> Decades(double low, double high) {
  const double begin = std::floor(std::log10(low));
  const double end = std::max(std::ceil(std::log10(high)), begin + 1);
  return {std::pow(10.0, begin), std::pow(10.0, end)};
}

std::string Text(double x, double y, const char* css_class, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>", x, y, css_class,
                     EscapeHtml(text));
}

std::string Line(double x1, double y1, double x2, double y2, const char* css_class) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>",
                     x1, y1, x2, y2, css_class);
}

constexpr double kLeft = 64;
constexpr double kWidth = 760;
constexpr double kRight = 24;

// Ticks 1, 2, 5 of each decade that lie within [low, high]; at most about ten.
std::vector<double> LogTicks(double low, double high) {
  std::vector<double> ticks;
  const bool wide = std::log10(high / low) > 3;
  for (double decade = std::pow(10.0, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double tick = decade * step;
      if (tick >= low * 0.999 && tick <= high * 1.001 && (step == 1.0 || !wide)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

}  // namespace

std::string ProgressChart(const ReportModel& model) {
  double low = 1;
  double high = 1;
  for (const NodeRow& row : model.nodes) {
    if (row.gain && row.record->evaluation.accepted()) {
      low = std::min(low, *row.gain);
      high = std::max(high, *row.gain);
    }
  }
  if (model.nodes.size() < 2) {
    return "";
  }
  constexpr double kHeight = 230;
  constexpr double kTop = 16;
  constexpr double kBottom = 52;
  low = std::min(low / 1.15, 0.9);
  high = std::max(high * 1.15, 1.5);
  const Axis y{low, high, kHeight - kBottom, kTop};
  const auto last = static_cast<double>(model.nodes.size() - 1);
  const auto x = [&](size_t i) {
    return kLeft + static_cast<double>(i) / last * (kWidth - kLeft - kRight);
  };
  std::string out = fmt::format(
      "<svg class=chart viewBox=\"0 0 {0:.0f} {1:.0f}\" role=img aria-label=\"Gain of each "
      "candidate in the order of evaluation\">",
      kWidth, kHeight);
  for (const double tick : LogTicks(low, high)) {
    out += Line(kLeft, y.At(tick), kWidth - kRight, y.At(tick), tick == 1 ? "axis" : "grid");
    out += Text(kLeft - 8, y.At(tick) + 4, "tick end", FormatFactor(tick));
  }
  const double floor_y = kHeight - kBottom + 14;
  if (!model.rejected.empty()) {
    out += Text(kLeft - 8, floor_y + 4, "tick end", "rejected");
  }
  std::string steps = fmt::format("M{:.1f} {:.1f}", x(0), y.At(1));
  double best = 1;
  for (size_t i = 1; i < model.nodes.size(); ++i) {
    const NodeRow& row = model.nodes[i];
    if (row.gain && row.record->evaluation.accepted() && *row.gain > best) {
      best = *row.gain;
      steps += fmt::format("H{:.1f}V{:.1f}", x(i), y.At(best));
    }
  }
  out += fmt::format("<path d=\"{}H{:.1f}\" class=best-line />", steps, kWidth - kRight);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const NodeRow& row = model.nodes[i];
    const NodeRecord& node = *row.record;
    const std::string label = node.parent < 0 ? "the task's kernel" : node.edit.Label();
    out += fmt::format("<a href=\"#node-{}\">", node.id);
    if (!node.evaluation.accepted()) {
      out += fmt::format(
          "<path class=bad-mark d=\"M{0:.1f} {1:.1f}l7 7m0 -7l-7 7\"><title>{2} {3}: rejected at "
          "{4}</title></path>",
          x(i) - 3.5, floor_y - 3.5, node.id, EscapeHtml(label),
          StageName(node.evaluation.rejection()->stage));
    } else if (row.gain) {
      out += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"><title>{} {}: "
          "{}</title></circle>",
          x(i), y.At(*row.gain), row.is_best ? 6 : 4, row.on_best_path ? "dot path" : "dot",
          node.id, EscapeHtml(label), FormatFactor(*row.gain));
    }
    out += "</a>";
  }
  out += Text((kLeft + kWidth - kRight) / 2, kHeight - 10, "tick middle",
              "candidates in the order of evaluation");
  return out + "</svg>";
}

std::string RooflineChart(const Roofline& roofline) {
  constexpr double kHeight = 420;
  constexpr double kTop = 34;
  constexpr double kBottom = 56;
  const double ridge = roofline.fp32_flops_per_s / roofline.dram_bytes_per_s;
  double low_x = ridge / 10;
  double high_x = ridge * 10;
  double low_y = roofline.fp32_flops_per_s / 10;
  for (const RooflinePoint& point : roofline.points) {
    low_x = std::min(low_x, point.operations_per_byte / 2);
    high_x = std::max(high_x, point.operations_per_byte * 2);
    low_y = std::min(low_y, point.operations_per_second / 2);
  }
  const auto [x_begin, x_end] = Decades(low_x, high_x);
  const auto [y_begin, y_end] = Decades(low_y, roofline.fp32_flops_per_s);
  const Axis x{x_begin, x_end, kLeft, kWidth - kRight};
  const Axis y{y_begin, y_end, kHeight - kBottom, kTop};
  std::string out = fmt::format(
      "<svg class=chart viewBox=\"0 0 {0:.0f} {1:.0f}\" role=img aria-label=\"Roofline: operations "
      "a second over operations a byte, before and after\">",
      kWidth, kHeight);
  for (double tick = x_begin; tick <= x_end * 1.001; tick *= 10) {
    out += Line(x.At(tick), kTop, x.At(tick), kHeight - kBottom, "grid");
    out += Text(x.At(tick), kHeight - kBottom + 18, "tick middle", FormatNumber(tick));
  }
  for (double tick = y_begin; tick <= y_end * 1.001; tick *= 10) {
    out += Line(kLeft, y.At(tick), kWidth - kRight, y.At(tick), "grid");
    out += Text(kLeft - 8, y.At(tick) + 4, "tick end", FormatNumber(tick));
  }
  // The slope enters at the left edge, or at the bottom when it is below the picture there.
  const double enter = std::max(x_begin, y_begin / roofline.dram_bytes_per_s);
  const double ridge_y = y.At(roofline.fp32_flops_per_s);
  out +=
      fmt::format("<path class=roof d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\"/>", x.At(enter),
                  y.At(enter * roofline.dram_bytes_per_s), x.At(ridge), ridge_y, kWidth - kRight);
  out += Text(kWidth - kRight, ridge_y - 8, "roof-label end",
              FormatNumber(roofline.fp32_flops_per_s) + "FLOP/s FP32");
  const double middle = std::sqrt(enter * ridge);
  const double middle_x = x.At(middle);
  const double middle_y = y.At(middle * roofline.dram_bytes_per_s);
  const double angle =
      std::atan2(ridge_y - middle_y, x.At(ridge) - middle_x) * 180 / std::acos(-1.0);
  out += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" class=\"roof-label "
      "middle\">{}</text>",
      middle_x, middle_y - 9, angle,
      EscapeHtml(FormatQuantity(roofline.dram_bytes_per_s, "byte") + "/s DRAM"));
  if (roofline.points.size() == 2) {
    out += Line(x.At(roofline.points[0].operations_per_byte),
                y.At(roofline.points[0].operations_per_second),
                x.At(roofline.points[1].operations_per_byte),
                y.At(roofline.points[1].operations_per_second), "move");
  }
  for (size_t i = 0; i < roofline.points.size(); ++i) {
    const RooflinePoint& point = roofline.points[i];
    const double px = x.At(point.operations_per_byte);
    const double py = y.At(point.operations_per_second);
    const bool after = point.label == "after";
    if (after) {
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=6 class=\"dot path\" />", px, py);
    } else {
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=10 height=10 class=old-mark />",
                         px - 5, py - 5);
    }
    const bool crowded = px > kWidth - 160;
    out +=
        Text(crowded ? px - 12 : px + 12, py + 4, crowded ? "point end" : "point",
             fmt::format("{}: {}FLOP/s", point.label, FormatNumber(point.operations_per_second)));
  }
  out += Text((kLeft + kWidth - kRight) / 2, kHeight - 10, "tick middle",
              "operations per byte of DRAM traffic");
  out += Text(8, kTop - 18, "tick", "operations/s");
  return out + "</svg>";
}

std::string SpeedOfLightBars(const ReportModel& model) {
  const auto limits_of = [](const Evaluation* evaluation) {
    return evaluation != nullptr && evaluation->diagnosis ? &evaluation->diagnosis->speed_of_light
                                                          : nullptr;
  };
  const auto* before = limits_of(model.before);
  const auto* after = limits_of(model.after);
  std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> rows;
  if (before != nullptr) {
    for (const auto& [name, value] : *before) {
      rows[name].first = value;
    }
  }
  if (after != nullptr) {
    for (const auto& [name, value] : *after) {
      rows[name].second = value;
    }
  }
  if (rows.empty()) {
    return "";
  }
  std::string out = "<table class=sol><thead><tr><th>limit<th>share of the speed of light<tbody>";
  const auto bar = [](const char* name, const std::optional<double>& value, const char* css_class) {
    if (!value) {
      return fmt::format("<div class=solrow><span>{}</span><em class=muted>not obtained</em></div>",
                         name);
    }
    return fmt::format(
        "<div class=solrow><span>{}</span><div class=track><div class=\"{}\" "
        "style=\"width:{:.1f}%\"></div></div><b>{}</b></div>",
        name, css_class, std::clamp(*value, 0.0, 1.0) * 100, FormatPercent(*value));
  };
  for (const auto& [name, pair] : rows) {
    out += fmt::format("<tr><th>{}<td>{}{}", EscapeHtml(name), bar("before", pair.first, "old"),
                       after == nullptr ? "" : bar("after", pair.second, "new"));
  }
  return out + "</table>";
}

std::string StageBar(const ReportModel& model) {
  if (!(model.total_seconds > 0)) {
    return "";
  }
  std::string out = "<div class=stagebar role=img aria-label=\"Share of time of each stage\">";
  for (size_t i = 0; i < model.stage_shares.size(); ++i) {
    const StageShare& share = model.stage_shares[i];
    const double percent = share.seconds / model.total_seconds * 100;
    if (percent < 0.2) {
      continue;
    }
    out += fmt::format("<div class=\"st s{}\" style=\"width:{:.2f}%\" title=\"{}: {}\">{}</div>",
                       i % 8, percent, EscapeHtml(share.name), FormatElapsed(share.seconds),
                       percent > 9 ? EscapeHtml(share.name) : "");
  }
  return out + "</div>";
}

}  // namespace optiml
