#include "core/error_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;

ErrorMap AllRight(const std::vector<int64_t>& shape, int64_t most = kMostMapCells) {
  ErrorMap map = MakeErrorMap(shape, most);
  int64_t count = 1;
  for (const int64_t extent : shape) {
    count *= extent;
  }
  for (int64_t i = 0; i < count; ++i) {
    Mark(map, i, kMapRight);
  }
  return map;
}

TEST(ErrorMap, RowsAreAllExtentsButTheLast) {
  const ErrorMap map = AllRight({2, 3, 5});
  EXPECT_EQ(map.rows, 6);
  EXPECT_EQ(map.columns, 5);
  EXPECT_EQ(map.cells, std::string(30, '.'));
}

TEST(ErrorMap, ALongRowIsFoldedAndItsEndIsNoElement) {
  const ErrorMap map = AllRight({1000});
  EXPECT_EQ(map.columns, 32);
  EXPECT_EQ(map.rows, 32);
  EXPECT_EQ(map.cells.size(), 1024u);
  EXPECT_EQ(map.cells.substr(0, 1000), std::string(1000, '.'));
  EXPECT_EQ(map.cells.substr(1000), std::string(24, ' '));
  EXPECT_EQ(AllRight({1000, 1}).cells, map.cells);
  EXPECT_EQ(AllRight({7}).cells, ".......");
  EXPECT_EQ(AllRight({7, 1}).columns, 7);
  EXPECT_EQ(AllRight({}).cells, ".");
  EXPECT_EQ(AllRight({0}).cells, " ");
  EXPECT_EQ(AllRight({0, 5}).cells, std::string(5, ' '));
}

TEST(ErrorMap, ACellKeepsTheWorstOfItsElements) {
  ErrorMap map = AllRight({300, 1000});
  EXPECT_EQ(map.cell_rows, 64);
  EXPECT_EQ(map.cell_columns, 64);
  Mark(map, 299 * 1000 + 999, '3');
  Mark(map, 299 * 1000 + 998, '1');
  EXPECT_EQ(map.cells.back(), '3');
  Mark(map, 299 * 1000 + 999, kMapKind);
  Mark(map, 299 * 1000 + 999, kMapUnwritten);
  Mark(map, 299 * 1000 + 999, '9');
  EXPECT_EQ(map.cells.back(), 'U');
  EXPECT_EQ(MapKinds(map), ".U");
  const ErrorMap coarse = Coarser(map, 16, 32);
  EXPECT_EQ(coarse.cell_rows, 16);
  EXPECT_EQ(coarse.cells.size(), 16u * 32u);
  EXPECT_EQ(coarse.cells, std::string(511, '.') + "U");
}

TEST(ErrorMap, LevelsAreDecades) {
  EXPECT_EQ(MapLevel(1.01), '1');
  EXPECT_EQ(MapLevel(9.9), '1');
  EXPECT_EQ(MapLevel(10), '2');
  EXPECT_EQ(MapLevel(99), '2');
  EXPECT_EQ(MapLevel(1e7), '8');
  EXPECT_EQ(MapLevel(1e8), '9');
  EXPECT_EQ(MapLevel(1e300 * 1e300), '9');
  EXPECT_EQ(MapCellMeaning('1', false), "off by less than 10 times what is allowed");
  EXPECT_EQ(MapCellMeaning('3', true), "off by less than 10^3");
  EXPECT_EQ(MapCellMeaning('9', true), "off by 10^8 or more");
}

TEST(ErrorMap, IsDescribedInWords) {
  ErrorMap map = AllRight({33, 1000});
  map.argument = "y";
  EXPECT_EQ(DescribeLayout(map),
            "y, 33 x 1000 elements, in 33 x 64 cells that show the worst of theirs");
  Mark(map, 0, '2');
  Mark(map, 999, kMapUnwritten);
  EXPECT_EQ(DescribeShares(map),
            "2110 of 2112 cells right, 1 of 2112 cells wrong, 1 of 2112 cells never written");
  map = AllRight({1000});
  map.argument = "z";
  EXPECT_THAT(DescribeLayout(map), HasSubstr("z, 1000 elements as 32 x 32"));
}

}  // namespace
}  // namespace optiml
