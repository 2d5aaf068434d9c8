#include "ptx/tensor_map.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <set>

namespace optiml::ptx {
namespace {

using testing::HasSubstr;

TensorMap Plane(uint64_t width, uint64_t height, uint32_t box_x, uint32_t box_y) {
  TensorMap map;
  map.rank = 2;
  map.address = 0x10000;
  map.dimensions = {width, height, 1, 1, 1};
  map.strides = {0, (width * 4 + 15) / 16 * 16, 0, 0, 0};
  map.box = {box_x, box_y, 1, 1, 1};
  return map;
}

TEST(TensorMap, SurvivesEncoding) {
  TensorMap map;
  map.type = TensorType::kBf16;
  map.rank = 3;
  map.address = 0x2'0000'1230;
  map.dimensions = {uint64_t{1} << 32, 77, 5, 1, 1};
  map.strides = {0, uint64_t{1} << 36, (uint64_t{1} << 40) - 16, 0, 0};
  map.box = {64, 3, 2, 1, 1};
  map.element_strides = {1, 2, 3, 1, 1};
  map.swizzle = TensorSwizzle::k128;
  map.fill_nan = true;
  auto bytes = EncodeTensorMap(map);
  ASSERT_TRUE(bytes) << bytes.error().message();
  const auto back = DecodeTensorMap(*bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->type, map.type);
  EXPECT_EQ(back->rank, 3u);
  EXPECT_EQ(back->address, map.address);
  EXPECT_EQ(back->dimensions, map.dimensions);
  EXPECT_EQ(back->strides, map.strides);
  EXPECT_EQ(back->box, map.box);
  EXPECT_EQ(back->element_strides, map.element_strides);
  EXPECT_EQ(back->swizzle, map.swizzle);
  EXPECT_TRUE(back->fill_nan);
  EXPECT_EQ(back->BoxBytes(), 64u * 2 * 1 * 2);
  SetTensorAddress(*bytes, 0x40);
  ASSERT_TRUE(DecodeTensorMap(*bytes));
  EXPECT_EQ(DecodeTensorMap(*bytes)->address, 0x40u);
}

TEST(TensorMap, OtherBytesAreNone) {
  const EncodedTensorMap zeros{};
  ASSERT_FALSE(DecodeTensorMap(zeros));
  auto bytes = EncodeTensorMap(Plane(8, 8, 4, 4));
  ASSERT_TRUE(bytes);
  for (const size_t at : {0u, 9u, 40u, 63u, 119u, 127u}) {
    auto broken = *bytes;
    broken[at] ^= std::byte{1};
    const auto decoded = DecodeTensorMap(broken);
    ASSERT_FALSE(decoded) << at;
    EXPECT_THAT(decoded.error().message(), HasSubstr("cuTensorMapEncodeTiled"));
  }
}

TEST(TensorMap, WhatTheDriverRefusesIsRefused) {
  const auto refusal = [](auto change) {
    TensorMap map = Plane(64, 64, 8, 8);
    change(map);
    const auto bytes = EncodeTensorMap(map);
    EXPECT_FALSE(bytes.has_value());
    return bytes ? std::string() : bytes.error().message();
  };
  EXPECT_THAT(refusal([](TensorMap& m) { m.rank = 6; }), HasSubstr("rank 6 is outside 1 .. 5"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.address = 8; }), HasSubstr("no multiple of 16"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.dimensions[1] = 0; }), HasSubstr("dimension 1 is 0"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.strides[1] = 24; }), HasSubstr("stride 1 of 24 bytes"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.box[1] = 257; }), HasSubstr("outside 1 .. 256"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.box[0] = 3; }),
              HasSubstr("12 bytes, no multiple of 16"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.element_strides[1] = 9; }), HasSubstr("outside 1 .. 8"));
  EXPECT_THAT(refusal([](TensorMap& m) { m.interleave = 1; }), HasSubstr("interleave 1"));
  EXPECT_THAT(refusal([](TensorMap& m) {
                m.type = TensorType::kS32;
                m.fill_nan = true;
              }),
              HasSubstr("floating-point"));
  EXPECT_THAT(refusal([](TensorMap& m) {
                m.swizzle = TensorSwizzle::k32;
                m.box[0] = 12;
              }),
              HasSubstr("48 bytes, more than the swizzle's 32"));
}

// Global element index of each 4-byte word of the box in shared memory; -1: outside.
std::vector<int64_t> Words(const TensorTile& tile, uint32_t base) {
  std::vector<int64_t> words(tile.map.BoxBytes() / 4, -2);
  ForEachRun(tile, base, [&](const TensorRun& run) {
    for (uint32_t i = 0; i < run.bytes; i += 4) {
      int64_t& word = words[(run.shared - base + i) / 4];
      EXPECT_EQ(word, -2) << "each word once";
      word = run.global == 0 ? -1 : static_cast<int64_t>(run.global + i - tile.map.address) / 4;
    }
  });
  return words;
}

TEST(TensorTile, BoxesAreRowsInOrder) {
  const auto words = Words({Plane(10, 6, 4, 3), {5, 2}}, 128);  // rows are 12 words apart
  EXPECT_EQ(words, (std::vector<int64_t>{29, 30, 31, 32, 41, 42, 43, 44, 53, 54, 55, 56}));
}

TEST(TensorTile, WhatLiesOutsideIsMarked) {
  // Column -1 and row 5, 6 of 6.
  const TensorTile tile{Plane(10, 6, 4, 3), {-1, 4}};
  EXPECT_EQ(Words(tile, 0), (std::vector<int64_t>{-1, 48, 49, 50, -1, 60, 61, 62, -1, -1, -1, -1}));
  const ByteRange range = TouchedBytes(tile);
  EXPECT_EQ(range.lo, tile.map.address + 48 * 4);
  EXPECT_EQ(range.hi, tile.map.address + 63 * 4);
  // The row may end within the box; all of it may be outside.
  EXPECT_EQ(Words({Plane(10, 6, 4, 1), {8, 0}}, 0), (std::vector<int64_t>{8, 9, -1, -1}));
  const TensorTile nowhere{Plane(10, 6, 4, 1), {20, 0}};
  EXPECT_EQ(Words(nowhere, 0), std::vector<int64_t>(4, -1));
  EXPECT_EQ(TouchedBytes(nowhere).lo, TouchedBytes(nowhere).hi);
}

TEST(TensorTile, ElementStridesSkip) {
  TensorMap map = Plane(8, 9, 4, 5);
  map.element_strides = {1, 2, 1, 1, 1};
  EXPECT_EQ(map.BoxBytes(), 4u * 3 * 4);
  EXPECT_EQ(Words({map, {0, 1}}, 0),
            (std::vector<int64_t>{8, 9, 10, 11, 24, 25, 26, 27, 40, 41, 42, 43}));
}

TEST(TensorTile, SwizzlesPermuteChunksOfALine) {
  // 32 words a row: chunk c of row r is at chunk c ^ (r mod 8).
  TensorMap map = Plane(32, 16, 32, 16);
  map.swizzle = TensorSwizzle::k128;
  const auto words = Words({map, {0, 0}}, 1024);
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t chunk = 0; chunk < 8; ++chunk) {
      EXPECT_EQ(words[row * 32 + (chunk ^ (row % 8)) * 4], row * 32 + chunk * 4);
    }
  }
  // 16 words: two rows a line; chunks of 64 bytes swap by the line's number mod 4.
  map = Plane(16, 16, 16, 16);
  map.swizzle = TensorSwizzle::k64;
  const auto half = Words({map, {0, 0}}, 512);
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t chunk = 0; chunk < 4; ++chunk) {
      EXPECT_EQ(half[row * 16 + (chunk ^ (row / 2 % 4)) * 4], row * 16 + chunk * 4);
    }
  }
  map = Plane(8, 16, 8, 16);
  map.swizzle = TensorSwizzle::k32;
  const auto quarter = Words({map, {0, 0}}, 256);
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t chunk = 0; chunk < 2; ++chunk) {
      EXPECT_EQ(quarter[row * 8 + (chunk ^ (row / 4 % 2)) * 4], row * 8 + chunk * 4);
    }
  }
}

TEST(TensorTile, ThreeDimensions) {
  TensorMap map;
  map.rank = 3;
  map.address = 0x1000;
  map.dimensions = {8, 3, 4, 1, 1};
  map.strides = {0, 32, 96, 0, 0};
  map.box = {4, 2, 2, 1, 1};
  const auto words = Words({map, {4, 2, 1}}, 0);
  EXPECT_EQ(words,
            (std::vector<int64_t>{44, 45, 46, 47, -1, -1, -1, -1, 68, 69, 70, 71, -1, -1, -1, -1}));
}

}  // namespace
}  // namespace optiml::ptx
