// The map of an error as inline SVG: cells on the left, what their looks mean on the right. Colours
// come from the style sheet, so that they follow the light and the dark scheme; unwritten cells and
// those of the wrong kind are striped, so that no two looks differ in colour alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "report/html_parts.h"
#include "report/text_format.h"

namespace optiml {
namespace {

// Levels share a look where no eye would tell them apart.
struct Look {
  std::string_view cells;
  const char* css_class;
  const char* ratio_text;  // of floats: times what is allowed
  const char* exact_text;  // of integers
};
constexpr std::array<Look, 7> kLooks = {{
    {".", "m0", "right", "right"},
    {"1", "m1", "up to 10 x what is allowed", "off by less than 10"},
    {"23", "m2", "up to 1000 x what is allowed", "off by less than 1000"},
    {"456", "m3", "up to a million x what is allowed", "off by less than a million"},
    {"789", "m4", "a million x or more of it", "off by a million or more"},
    {"N", "m5", "NaN or infinity, or none where due", "of another kind"},
    {"U", "m6", "never written", "never written"},
}};

// Horizontal runs of the look's cells, as strokes along their middles.
std::string Runs(const ErrorMap& map, std::string_view cells) {
  std::string path;
  for (int64_t row = 0; row < map.cell_rows; ++row) {
    const std::string_view line = std::string_view(map.cells).substr(
        static_cast<size_t>(row * map.cell_columns), static_cast<size_t>(map.cell_columns));
    for (size_t begin = line.find_first_of(cells); begin != std::string_view::npos;) {
      const size_t end = std::min(line.find_first_not_of(cells, begin), line.size());
      path += fmt::format("M{} {}.5h{}", begin, row, end - begin);
      begin = line.find_first_of(cells, end);
    }
  }
  return path;
}

std::string Swatch(double y, const Look& look, std::string_view text) {
  return fmt::format(
      "<svg x=268 y=\"{0:.0f}\" width=14 height=14 viewBox=\"0 0 1 1\"><path class={1} d=\"M0 "
      ".5h1\"/></svg><text x=290 y=\"{2:.0f}\">{3}</text>",
      y, look.css_class, y + 11, EscapeHtml(text));
}

}  // namespace

std::string ErrorMapFigure(const ErrorMap& map) {
  // A store may hold what a later version draws in another way.
  if (map.cell_rows < 1 || map.cell_columns < 1 ||
      map.cells.size() != static_cast<size_t>(map.cell_rows * map.cell_columns)) {
    return "";
  }
  constexpr double kMostWidth = 240;
  constexpr double kMostCell = 16;
  constexpr double kLeast = 16;  // of a single row of many cells
  constexpr double kTop = 8;
  constexpr double kLegendLine = 21;
  constexpr double kWidth = 520;
  const double cell = std::min({kMostCell, kMostWidth / static_cast<double>(map.cell_columns),
                                kMostWidth / static_cast<double>(map.cell_rows)});
  const double width = std::max(cell * static_cast<double>(map.cell_columns), kLeast);
  const double height = std::max(cell * static_cast<double>(map.cell_rows), kLeast);
  std::string cells;
  std::string legend;
  double y = kTop;
  for (const Look& look : kLooks) {
    const std::string runs = Runs(map, look.cells);
    if (runs.empty()) {
      continue;
    }
    cells += fmt::format("<path class={} d=\"{}\"/>", look.css_class, runs);
    legend += Swatch(y, look, map.is_exact ? look.exact_text : look.ratio_text);
    y += kLegendLine;
  }
  const double bottom = std::max(kTop + height + 24, y + 4);
  return fmt::format(
      "<figure class=map><figcaption>{0}</figcaption><svg class=errormap viewBox=\"0 0 {1:.0f} "
      "{2:.0f}\" role=img aria-label=\"Error of {0}: {3}\"><svg x=1 y=\"{4:.0f}\" "
      "width=\"{5:.1f}\" height=\"{6:.1f}\" viewBox=\"0 0 {7} {8}\" "
      "preserveAspectRatio=none>{9}</svg><rect class=frame x=\".5\" y=\"{10:.1f}\" "
      "width=\"{11:.1f}\" height=\"{12:.1f}\"/><text x=1 y=\"{13:.0f}\">{14} columns to the right, "
      "{15} rows down</text>{16}</svg></figure>",
      EscapeHtml(DescribeLayout(map)), kWidth, bottom, EscapeHtml(DescribeShares(map)), kTop, width,
      height, map.cell_columns, map.cell_rows, cells, kTop - .5, width + 1, height + 1,
      kTop + height + 17, map.columns, map.rows, legend);
}

}  // namespace optiml
