// S9 and S12 for stencils: a thread computes a small block of neighbouring points from a window of
// the input that it holds in registers, so that an element is loaded once for all of them. Points
// at the border, where a condition differs, take the source's own expression.

#include <fmt/format.h>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {
namespace {

constexpr int64_t kMostWords = 128;  // of the window and the results

}  // namespace

Transformation MakeRegisterWindow() {
  Transformation result;
  result.name = "register_window";
  result.code = "S9 S12";
  result.aims_at = Bound::kLatency;
  result.claim = {Down(metric::kGlobalLoadRequests), Down(metric::kThreadInstructions),
                  Up(metric::kRegisters)};
  result.prior = 3;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"columns", 4}, {"rows", 4}}, {{"columns", 4}, {"rows", 2}},
                                   {{"columns", 1}, {"rows", 8}}, {{"columns", 1}, {"rows", 4}},
                                   {{"columns", 4}, {"rows", 8}}, {{"columns", 4}, {"rows", 1}},
                                   {{"columns", 2}, {"rows", 4}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kStencil})) {
      return reason;
    }
    if (!facts.WritesDoNotAlias()) {
      return "a written buffer may overlap the window";
    }
    const int64_t columns = schedule.Get("register_window", "columns", 0);
    const int64_t rows = schedule.Get("register_window", "rows", 0);
    if (auto reason = RefuseUnlessOneOf(columns, {1, 2, 4, 8}, "columns")) {
      return reason;
    }
    if (auto reason = RefuseUnlessOneOf(rows, {1, 2, 4, 8}, "rows")) {
      return reason;
    }
    const Window& window = *facts.shape.window;
    if (rows > 1 && window.row.empty()) {
      return "the program has no rows";
    }
    if (rows * columns == 1) {
      return "one point a thread is no block of points";
    }
    const int64_t words = (rows + window.row_high - window.row_low) *
                              (columns + window.column_high - window.column_low) +
                          rows * columns;
    if (words > kMostWords) {
      return fmt::format("{} registers for the window (at most {})", words, kMostWords);
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts& facts, const Parameters& parameters) {
    return fmt::format(
        "compute {} x {} neighbouring points per thread from a window of {} held in "
        "registers",
        parameters.at("rows"), parameters.at("columns"), facts.shape.window->buffer);
  };
  return result;
}

}  // namespace optiml::rewrite
