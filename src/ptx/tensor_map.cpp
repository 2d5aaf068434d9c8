#include "ptx/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace optiml::ptx {
namespace {

constexpr char kMagic[8] = {'O', 'P', 'T', 'I', 'M', 'L', 'T', 'M'};
// Offsets of the encoded form; see the header.
constexpr size_t kAddressAt = 8;
constexpr size_t kDimensionsAt = 16;
constexpr size_t kBoxAt = 36;
constexpr size_t kElementStridesAt = 46;
constexpr size_t kRankAt = 51;
constexpr size_t kTypeAt = 52;
constexpr size_t kInterleaveAt = 53;
constexpr size_t kSwizzleAt = 54;
constexpr size_t kPromotionAt = 55;
constexpr size_t kFillAt = 56;
constexpr size_t kStridesAt = 64;
constexpr size_t kChecksumAt = 120;

constexpr uint64_t kMaxDimension = uint64_t{1} << 32;
constexpr uint64_t kMaxStride = uint64_t{1} << 40;
constexpr uint32_t kMaxBox = 256;
constexpr uint32_t kMaxElementStride = 8;
// Of addresses, strides and rows of the box, in bytes.
constexpr uint64_t kUnit = 16;
constexpr uint32_t kTypes = 13;

template <class T>
void Put(std::span<std::byte> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

template <class T>
T Get(std::span<const std::byte> bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// FNV-1a: tells an encoded map from other bytes.
uint64_t Checksum(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < kChecksumAt; ++i) {
    hash = (hash ^ static_cast<uint64_t>(bytes[i])) * 0x100000001b3ULL;
  }
  return hash;
}

bool IsFloat(TensorType type) {
  return type >= TensorType::kF16;
}

uint32_t SpanOf(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::k32    ? 32
         : swizzle == TensorSwizzle::k64  ? 64
         : swizzle == TensorSwizzle::k128 ? 128
                                          : 0;
}

Error Invalid(std::string what) {
  return {ErrorCode::kInvalidArgument, "tensor map: " + std::move(what)};
}

// Chunks of 16 bytes change places within the span, by the number of their 128-byte line.
uint32_t Swizzled(uint32_t address, TensorSwizzle swizzle) {
  const uint32_t line = address >> 7;
  switch (swizzle) {
    case TensorSwizzle::k32:
      return address ^ ((line & 1) << 4);
    case TensorSwizzle::k64:
      return address ^ ((line & 3) << 4);
    case TensorSwizzle::k128:
      return address ^ ((line & 7) << 4);
    default:
      return address;
  }
}

}  // namespace

Type NumberOf(TensorType type) {
  switch (type) {
    case TensorType::kU32:
      return Type::kU32;
    case TensorType::kS32:
      return Type::kS32;
    case TensorType::kU64:
      return Type::kU64;
    case TensorType::kS64:
      return Type::kS64;
    case TensorType::kF16:
      return Type::kF16;
    case TensorType::kBf16:
      return Type::kBf16;
    case TensorType::kF32:
      return Type::kF32;
    case TensorType::kF64:
      return Type::kF64;
    default:
      return Type::kNone;
  }
}

uint32_t TensorMap::element_bytes() const {
  switch (type) {
    case TensorType::kU8:
      return 1;
    case TensorType::kU16:
    case TensorType::kF16:
    case TensorType::kBf16:
      return 2;
    case TensorType::kU64:
    case TensorType::kS64:
    case TensorType::kF64:
      return 8;
    default:
      return 4;
  }
}

uint32_t TensorMap::BoxElements(size_t dimension) const {
  // The stride of the innermost dimension is ignored, as the driver documents.
  const uint32_t stride = dimension == 0 ? 1 : element_strides[dimension];
  return (box[dimension] + stride - 1) / stride;
}

uint32_t TensorMap::BoxBytes() const {
  uint32_t bytes = element_bytes();
  for (size_t i = 0; i < rank; ++i) {
    bytes *= BoxElements(i);
  }
  return bytes;
}

Result<EncodedTensorMap> EncodeTensorMap(const TensorMap& map) {
  if (static_cast<uint32_t>(map.type) >= kTypes) {
    return Invalid(fmt::format("data type {} is unknown", static_cast<uint32_t>(map.type)));
  }
  if (map.rank < 1 || map.rank > kMaxTensorRank) {
    return Invalid(fmt::format("rank {} is outside 1 .. {}", map.rank, kMaxTensorRank));
  }
  if (map.interleave != 0) {
    return Invalid(fmt::format("interleave {} is not emulated (only 0, none)", map.interleave));
  }
  if (map.address % kUnit != 0) {
    return Invalid(fmt::format("address {:#x} is no multiple of {}", map.address, kUnit));
  }
  if (map.fill_nan && !IsFloat(map.type)) {
    return Invalid("a fill with NaN needs a floating-point type");
  }
  for (size_t i = 0; i < map.rank; ++i) {
    if (map.dimensions[i] < 1 || map.dimensions[i] > kMaxDimension) {
      return Invalid(fmt::format("dimension {} is {}, outside 1 .. 2^32", i, map.dimensions[i]));
    }
    if (map.box[i] < 1 || map.box[i] > kMaxBox) {
      return Invalid(fmt::format("box {} is {}, outside 1 .. {}", i, map.box[i], kMaxBox));
    }
    if (map.element_strides[i] < 1 || map.element_strides[i] > kMaxElementStride) {
      return Invalid(fmt::format("element stride {} is {}, outside 1 .. {}", i,
                                 map.element_strides[i], kMaxElementStride));
    }
    if (i > 0 && (map.strides[i] % kUnit != 0 || map.strides[i] >= kMaxStride)) {
      return Invalid(fmt::format("stride {} of {} bytes is no multiple of {} below 2^40", i,
                                 map.strides[i], kUnit));
    }
  }
  const uint64_t row = uint64_t{map.box[0]} * map.element_bytes();
  if (row % kUnit != 0) {
    return Invalid(fmt::format("a row of the box takes {} bytes, no multiple of {}", row, kUnit));
  }
  if (const uint32_t span = SpanOf(map.swizzle); span != 0 && row > span) {
    return Invalid(
        fmt::format("a row of the box takes {} bytes, more than the swizzle's {}", row, span));
  }
  EncodedTensorMap bytes{};
  std::memcpy(bytes.data(), kMagic, sizeof(kMagic));
  Put(bytes, kAddressAt, map.address);
  for (size_t i = 0; i < kMaxTensorRank; ++i) {
    const bool used = i < map.rank;
    Put(bytes, kDimensionsAt + 4 * i, static_cast<uint32_t>(used ? map.dimensions[i] - 1 : 0));
    Put(bytes, kBoxAt + 2 * i, static_cast<uint16_t>(used ? map.box[i] : 1));
    Put(bytes, kElementStridesAt + i, static_cast<uint8_t>(used ? map.element_strides[i] : 1));
    if (i > 0) {
      Put(bytes, kStridesAt + 8 * (i - 1), used ? map.strides[i] : uint64_t{0});
    }
  }
  Put(bytes, kRankAt, static_cast<uint8_t>(map.rank));
  Put(bytes, kTypeAt, static_cast<uint8_t>(map.type));
  Put(bytes, kInterleaveAt, static_cast<uint8_t>(map.interleave));
  Put(bytes, kSwizzleAt, static_cast<uint8_t>(map.swizzle));
  Put(bytes, kPromotionAt, static_cast<uint8_t>(map.promotion));
  Put(bytes, kFillAt, static_cast<uint8_t>(map.fill_nan ? 1 : 0));
  Put(bytes, kChecksumAt, Checksum(bytes));
  return bytes;
}

Result<TensorMap> DecodeTensorMap(std::span<const std::byte> bytes) {
  if (bytes.size() != kTensorMapBytes || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0 ||
      Get<uint64_t>(bytes, kChecksumAt) != Checksum(bytes)) {
    return Invalid("these 128 bytes are none that cuTensorMapEncodeTiled made");
  }
  TensorMap map;
  map.type = static_cast<TensorType>(Get<uint8_t>(bytes, kTypeAt));
  map.rank = Get<uint8_t>(bytes, kRankAt);
  map.address = Get<uint64_t>(bytes, kAddressAt);
  for (size_t i = 0; i < kMaxTensorRank; ++i) {
    map.dimensions[i] = uint64_t{Get<uint32_t>(bytes, kDimensionsAt + 4 * i)} + 1;
    map.box[i] = Get<uint16_t>(bytes, kBoxAt + 2 * i);
    map.element_strides[i] = Get<uint8_t>(bytes, kElementStridesAt + i);
    map.strides[i] = i > 0 ? Get<uint64_t>(bytes, kStridesAt + 8 * (i - 1)) : 0;
  }
  map.interleave = Get<uint8_t>(bytes, kInterleaveAt);
  map.swizzle = static_cast<TensorSwizzle>(Get<uint8_t>(bytes, kSwizzleAt));
  map.promotion = Get<uint8_t>(bytes, kPromotionAt);
  map.fill_nan = Get<uint8_t>(bytes, kFillAt) != 0;
  return map;
}

void SetTensorAddress(EncodedTensorMap& bytes, uint64_t address) {
  Put(bytes, kAddressAt, address);
  Put(bytes, kChecksumAt, Checksum(bytes));
}

namespace {

// Calls f(outside, address of the row's element 0, row number) for the rows of the box in order.
template <class F>
void ForEachRow(const TensorTile& tile, F f) {
  const TensorMap& map = tile.map;
  uint32_t rows = 1;
  for (size_t i = 1; i < map.rank; ++i) {
    rows *= map.BoxElements(i);
  }
  for (uint32_t row = 0; row < rows; ++row) {
    uint32_t left = row;
    bool outside = false;
    uint64_t address = map.address;
    for (size_t i = 1; i < map.rank; ++i) {
      const uint32_t step = left % map.BoxElements(i);
      left /= map.BoxElements(i);
      const int64_t at = tile.at[i] + int64_t{step} * map.element_strides[i];
      outside = outside || at < 0 || static_cast<uint64_t>(at) >= map.dimensions[i];
      address += static_cast<uint64_t>(at) * map.strides[i];
    }
    f(outside, address, row);
  }
}

// Elements [begin, end) of a row that lie inside.
struct Inside {
  int64_t begin = 0;
  int64_t end = 0;
};
Inside InsideOf(const TensorTile& tile) {
  const auto count = static_cast<int64_t>(tile.map.BoxElements(0));
  const auto length = static_cast<int64_t>(tile.map.dimensions[0]);
  const int64_t begin = std::clamp<int64_t>(-tile.at[0], 0, count);
  int64_t end = length - tile.at[0];
  if (tile.writes_tensor) {  // boxes begin at a multiple of 16 bytes
    const int64_t in_unit = 16 / int64_t{tile.map.element_bytes()};
    end = (end + in_unit - 1) / in_unit * in_unit;
  }
  return {begin, std::clamp<int64_t>(end, begin, count)};
}

}  // namespace

void ForEachRun(const TensorTile& tile, uint32_t base,
                const std::function<void(const TensorRun&)>& f) {
  const TensorMap& map = tile.map;
  const uint32_t size = map.element_bytes();
  const uint32_t count = map.BoxElements(0);
  const Inside inside = InsideOf(tile);
  const auto emit = [&](uint32_t from, uint32_t to, uint64_t global) {
    // Swizzled runs end with their chunk of 16 bytes.
    while (from < to) {
      const uint32_t end = map.swizzle == TensorSwizzle::kNone ? to : std::min(to, (from | 15) + 1);
      f({Swizzled(from, map.swizzle), global, end - from});
      global += global != 0 ? end - from : 0;
      from = end;
    }
  };
  ForEachRow(tile, [&](bool outside, uint64_t address, uint32_t row) {
    const uint32_t start = base + row * count * size;
    const auto begin = static_cast<uint32_t>(outside ? 0 : inside.begin);
    const auto end = static_cast<uint32_t>(outside ? 0 : inside.end);
    emit(start, start + begin * size, 0);
    emit(start + begin * size, start + end * size,
         address + static_cast<uint64_t>((tile.at[0] + begin) * int64_t{size}));
    emit(start + end * size, start + count * size, 0);
  });
}

ByteRange TouchedBytes(const TensorTile& tile) {
  const Inside inside = InsideOf(tile);
  ByteRange range;
  if (inside.begin == inside.end) {
    return range;
  }
  const int64_t size = tile.map.element_bytes();
  ForEachRow(tile, [&](bool outside, uint64_t address, uint32_t) {
    if (outside) {
      return;
    }
    const uint64_t lo = address + static_cast<uint64_t>((tile.at[0] + inside.begin) * size);
    const uint64_t hi = address + static_cast<uint64_t>((tile.at[0] + inside.end) * size);
    range.lo = range.hi == 0 ? lo : std::min(range.lo, lo);
    range.hi = std::max(range.hi, hi);
  });
  return range;
}

uint64_t NanOf(TensorType type) {
  // 0x7ff7 in every 16 bits (measured on an H200 for f16, bf16 and f32).
  switch (type) {
    case TensorType::kF16:
    case TensorType::kBf16:
      return 0x7ff7;
    case TensorType::kF64:
      return 0x7ff77ff77ff77ff7ULL;
    default:
      return 0x7ff77ff7;
  }
}

}  // namespace optiml::ptx
