#ifndef OPTIML_CORE_ERROR_MAP_H_
#define OPTIML_CORE_ERROR_MAP_H_

// ErrorMap: where an output is wrong, as a small picture. The output is laid out in rows and
// columns, these are cut into at most 64 x 64 cells, and each cell holds one character for the
// worst of its elements:
//
//   .    every element is right
//   1-9  wrong by less than 10^k times what is allowed (9: or more); where values are exact
//        (integers), by less than 10^k
//   N    a NaN or an infinity where another value is due, or the other way round
//   U    an element still holds what was there before the run
//   ' '  no element: behind the end of an output that was folded into rows
//
// Plain data; drawn by the report and by the command line.

#include <cstdint>
#include <string>
#include <vector>

namespace optiml {

inline constexpr int64_t kMostMapCells = 64;  // in each direction

struct ErrorMap {
  std::string argument;
  std::vector<int64_t> shape;  // the output's
  // As it is laid out: the last extent is the columns, all others together the rows; what would be
  // one long row or column is folded. rows * columns is at least the element count.
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t cell_rows = 0;  // of the map, 1 .. kMostMapCells
  int64_t cell_columns = 0;
  bool is_exact = false;  // an integer output: levels are differences
  std::string cells;      // cell_rows * cell_columns, row by row
};

inline constexpr char kMapRight = '.';
inline constexpr char kMapKind = 'N';
inline constexpr char kMapUnwritten = 'U';
inline constexpr char kMapNoElement = ' ';

// An empty map (no element is right or wrong yet) for an output of this shape, with `most` cells in
// each direction at most. REQUIRES: every extent >= 0
ErrorMap MakeErrorMap(const std::vector<int64_t>& shape, int64_t most = kMostMapCells);

// The level of an error that is `ratio` times what is allowed. REQUIRES: ratio > 1 or is_exact
char MapLevel(double ratio);

// Element i holds `cell`: the cell keeps the worse of both.
void Mark(ErrorMap& map, int64_t i, char cell);

// The same picture in fewer cells.
ErrorMap Coarser(const ErrorMap& map, int64_t most_rows, int64_t most_columns);

// "off by up to 100 times what is allowed", "never written" ...
std::string MapCellMeaning(char cell, bool is_exact);

// The kinds of cell that a map has, each once, the mildest first.
std::string MapKinds(const ErrorMap& map);

// "y, 33 x 1000 elements in 33 x 64 cells" and "31 % of the cells are right, 69 % never written":
// the picture in words.
std::string DescribeLayout(const ErrorMap& map);
std::string DescribeShares(const ErrorMap& map);

}  // namespace optiml

#endif  // OPTIML_CORE_ERROR_MAP_H_
