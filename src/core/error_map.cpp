#include "core/error_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/check.h"

namespace optiml {
namespace {

// From the mildest to the worst.
constexpr std::string_view kRanks = " .123456789NU";

size_t Rank(char cell) {
  const size_t rank = kRanks.find(cell);
  OPTIML_CHECK(rank != std::string_view::npos, "a cell of an error map has one of its characters");
  return rank;
}

// The cell of `cells` that holds place `at` of `extent`.
int64_t CellOf(int64_t at, int64_t extent, int64_t cells) {
  return at * cells / extent;
}

// Columns of one long row when it is folded: a power of two, so that warps and vectors line up, and
// about as many as there are rows.
int64_t FoldedColumns(int64_t count) {
  int64_t columns = 1;
  while (columns * columns < count) {
    columns *= 2;
  }
  return columns;
}

}  // namespace

ErrorMap MakeErrorMap(const std::vector<int64_t>& shape, int64_t most) {
  ErrorMap map;
  map.shape = shape;
  map.rows = 1;
  map.columns = shape.empty() ? 1 : shape.back();
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    map.rows *= shape[d];
  }
  const int64_t count = map.rows * map.columns;
  if ((map.rows == 1 || map.columns == 1) && count > most) {
    map.columns = FoldedColumns(count);
    map.rows = (count + map.columns - 1) / map.columns;
  } else if (map.columns == 1) {
    map.columns = count;  // a short column lies down
    map.rows = 1;
  }
  map.rows = std::max<int64_t>(map.rows, 1);
  map.columns = std::max<int64_t>(map.columns, 1);
  map.cell_rows = std::min(map.rows, most);
  map.cell_columns = std::min(map.columns, most);
  map.cells.assign(static_cast<size_t>(map.cell_rows * map.cell_columns), kMapNoElement);
  return map;
}

char MapLevel(double ratio) {
  constexpr int kMostLevel = 9;
  int level = 1;
  for (double limit = 10; level < kMostLevel && !(ratio < limit); limit *= 10) {
    ++level;
  }
  return static_cast<char>('0' + level);
}

void Mark(ErrorMap& map, int64_t i, char cell) {
  const int64_t row = CellOf(i / map.columns, map.rows, map.cell_rows);
  const int64_t column = CellOf(i % map.columns, map.columns, map.cell_columns);
  char& at = map.cells[static_cast<size_t>(row * map.cell_columns + column)];
  if (Rank(cell) > Rank(at)) {
    at = cell;
  }
}

ErrorMap Coarser(const ErrorMap& map, int64_t most_rows, int64_t most_columns) {
  ErrorMap coarse = map;
  coarse.cell_rows = std::min(map.cell_rows, most_rows);
  coarse.cell_columns = std::min(map.cell_columns, most_columns);
  coarse.cells.assign(static_cast<size_t>(coarse.cell_rows * coarse.cell_columns), kMapNoElement);
  for (int64_t row = 0; row < map.cell_rows; ++row) {
    for (int64_t column = 0; column < map.cell_columns; ++column) {
      const char cell = map.cells[static_cast<size_t>(row * map.cell_columns + column)];
      char& at = coarse.cells[static_cast<size_t>(
          CellOf(row, map.cell_rows, coarse.cell_rows) * coarse.cell_columns +
          CellOf(column, map.cell_columns, coarse.cell_columns))];
      if (Rank(cell) > Rank(at)) {
        at = cell;
      }
    }
  }
  return coarse;
}

std::string MapCellMeaning(char cell, bool is_exact) {
  switch (cell) {
    case kMapRight:
      return "right";
    case kMapKind:
      return "NaN or infinity, or none where one is due";
    case kMapUnwritten:
      return "never written";
    case kMapNoElement:
      return "no element";
    default:
      break;
  }
  const std::string limit = cell == '1' ? "10" : fmt::format("10^{}", cell);
  const std::string range = cell == '9' ? "10^8 or more" : fmt::format("less than {}", limit);
  return is_exact ? fmt::format("off by {}", range)
                  : fmt::format("off by {} times what is allowed", range);
}

std::string MapKinds(const ErrorMap& map) {
  std::string kinds;
  for (const char cell : kRanks) {
    if (cell != kMapNoElement && map.cells.find(cell) != std::string::npos) {
      kinds += cell;
    }
  }
  return kinds;
}

std::string DescribeLayout(const ErrorMap& map) {
  std::string text = fmt::format("{}, {} elements", map.argument, fmt::join(map.shape, " x "));
  if (map.shape.size() != 2 || map.shape[0] != map.rows || map.shape[1] != map.columns) {
    text += fmt::format(" as {} x {}", map.rows, map.columns);
  }
  if (map.cell_rows != map.rows || map.cell_columns != map.columns) {
    text += fmt::format(", in {} x {} cells that show the worst of theirs", map.cell_rows,
                        map.cell_columns);
  }
  return text;
}

std::string DescribeShares(const ErrorMap& map) {
  const auto count = [&](char cell) {
    return std::count(map.cells.begin(), map.cells.end(), cell);
  };
  const auto all = static_cast<int64_t>(map.cells.size()) - count(kMapNoElement);
  const int64_t right = count(kMapRight);
  const int64_t unwritten = count(kMapUnwritten);
  const int64_t kind = count(kMapKind);
  std::string text;
  for (const auto& [cells, what] : {std::pair(right, "right"),
                                    {all - right - unwritten - kind, "wrong"},
                                    {kind, "NaN or infinity, or none where one is due"},
                                    {unwritten, "never written"}}) {
    if (cells > 0) {
      text += fmt::format("{}{} of {} cells {}", text.empty() ? "" : ", ", cells, all, what);
    }
  }
  return text;
}

}  // namespace optiml
