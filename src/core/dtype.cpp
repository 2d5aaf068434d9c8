#include "core/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/check.h"

namespace optiml {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  size_t size_bytes;
};

constexpr std::array<DTypeRow, 15> kRows = {{{DType::kF16, "f16", 2},
                                             {DType::kBf16, "bf16", 2},
                                             {DType::kF32, "f32", 4},
                                             {DType::kF64, "f64", 8},
                                             {DType::kE4m3, "e4m3", 1},
                                             {DType::kE5m2, "e5m2", 1},
                                             {DType::kI8, "i8", 1},
                                             {DType::kU8, "u8", 1},
                                             {DType::kI16, "i16", 2},
                                             {DType::kU16, "u16", 2},
                                             {DType::kI32, "i32", 4},
                                             {DType::kU32, "u32", 4},
                                             {DType::kI64, "i64", 8},
                                             {DType::kU64, "u64", 8},
                                             {DType::kBool, "bool", 1}}};

// A binary float format with a sign bit. `max_code` is the largest finite magnitude's bit pattern.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  uint32_t max_code;
  bool has_infinity;
};

constexpr FloatFormat kF16Format{5, 10, 0x7bff, true};
constexpr FloatFormat kBf16Format{8, 7, 0x7f7f, true};
constexpr FloatFormat kE4m3Format{
    4, 3, 0x7e, false};  // OCP FP8: 448 is the largest, S.1111.111 is NaN, no infinity
constexpr FloatFormat kE5m2Format{5, 2, 0x7b, true};

double Decode(uint32_t bits, const FloatFormat& f) {
  const int width = f.exponent_bits + f.fraction_bits;
  const bool negative = (bits >> width & 1) != 0;
  const uint32_t magnitude = bits & ((1u << width) - 1);
  double value = 0;
  if (magnitude > f.max_code) {
    const bool infinite = f.has_infinity && magnitude == f.max_code + 1;
    value = infinite ? std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int exponent = static_cast<int>(magnitude >> f.fraction_bits);
    const uint32_t fraction = magnitude & ((1u << f.fraction_bits) - 1);
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    value = exponent == 0
                ? std::ldexp(fraction, 1 - bias - f.fraction_bits)
                : std::ldexp(fraction + (1u << f.fraction_bits), exponent - bias - f.fraction_bits);
  }
  return negative ? -value : value;
}

uint32_t Encode(double value, const FloatFormat& f) {
  const int width = f.exponent_bits + f.fraction_bits;
  const uint32_t sign = std::signbit(value) ? 1u << width : 0;
  const uint32_t nan = (1u << width) - 1;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return sign | nan;
  }
  const uint32_t overflow = f.has_infinity ? f.max_code + 1 : nan;
  if (std::isinf(value)) {
    return sign | overflow;
  }
  if (magnitude == 0) {
    return sign;
  }
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // The significand in units of the last place; nearbyint rounds half to even, and a carry walks
  // into the exponent.
  const double scaled = std::nearbyint(std::ldexp(magnitude, f.fraction_bits - exponent));
  const double code = scaled + static_cast<double>(exponent - (1 - bias)) * (1 << f.fraction_bits);
  return sign | (code > f.max_code ? overflow : static_cast<uint32_t>(code));
}

template <typename T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void Write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

template <typename T>
void WriteSaturated(std::byte* at, double value) {
  if (std::isnan(value)) {
    Write<T>(at, 0);
    return;
  }
  // 2^63 and 2^64 are doubles, their predecessors in T are not: compare before the cast.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value <= low) {
    Write<T>(at, std::numeric_limits<T>::min());
  } else if (value >= high) {
    Write<T>(at, std::numeric_limits<T>::max());
  } else {
    Write<T>(at, static_cast<T>(value));
  }
}

}  // namespace

std::string_view DTypeName(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].name;
}

Result<DType> ParseDType(std::string_view name) {
  std::string known;
  for (const auto& row : kRows) {
    if (row.name == name) {
      return row.dtype;
    }
    known.append(known.empty() ? "" : " ").append(row.name);
  }
  return Error(ErrorCode::kInvalidArgument,
               "unknown dtype \"" + std::string(name) + "\" (known: " + known + ")");
}

size_t DTypeBytes(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].size_bytes;
}

bool IsFloat(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBf16:
    case DType::kF32:
    case DType::kF64:
    case DType::kE4m3:
    case DType::kE5m2:
      return true;
    default:
      return false;
  }
}

bool IsSignedInteger(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 ||
         dtype == DType::kI64;
}

double UnitRoundoff(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-11;
    case DType::kBf16:
      return 0x1p-8;
    case DType::kF32:
      return 0x1p-24;
    case DType::kF64:
      return 0x1p-53;
    case DType::kE4m3:
      return 0x1p-4;
    case DType::kE5m2:
      return 0x1p-3;
    default:
      OPTIML_CHECK(false, "only float types round");
  }
}

double LoadElement(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kF16:
      return Decode(Read<uint16_t>(at), kF16Format);
    case DType::kBf16:
      return std::bit_cast<float>(static_cast<uint32_t>(Read<uint16_t>(at)) << 16);
    case DType::kF32:
      return Read<float>(at);
    case DType::kF64:
      return Read<double>(at);
    case DType::kE4m3:
      return Decode(Read<uint8_t>(at), kE4m3Format);
    case DType::kE5m2:
      return Decode(Read<uint8_t>(at), kE5m2Format);
    case DType::kU64:
      return static_cast<double>(Read<uint64_t>(at));
    default:
      return static_cast<double>(LoadInteger(dtype, at));
  }
}

int64_t LoadInteger(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kI8:
      return Read<int8_t>(at);
    case DType::kU8:
    case DType::kBool:
      return Read<uint8_t>(at);
    case DType::kI16:
      return Read<int16_t>(at);
    case DType::kU16:
      return Read<uint16_t>(at);
    case DType::kI32:
      return Read<int32_t>(at);
    case DType::kU32:
      return Read<uint32_t>(at);
    case DType::kI64:
    case DType::kU64:
      return Read<int64_t>(at);
    default:
      OPTIML_CHECK(false, "a float is no integer");
  }
}

void StoreElement(DType dtype, double value, std::byte* at) {
  switch (dtype) {
    case DType::kF16:
      return Write(at, static_cast<uint16_t>(Encode(value, kF16Format)));
    case DType::kBf16:
      return Write(at, static_cast<uint16_t>(Encode(value, kBf16Format)));
    case DType::kF32:
      return Write(at, static_cast<float>(value));
    case DType::kF64:
      return Write(at, value);
    case DType::kE4m3:
      return Write(at, static_cast<uint8_t>(Encode(value, kE4m3Format)));
    case DType::kE5m2:
      return Write(at, static_cast<uint8_t>(Encode(value, kE5m2Format)));
    case DType::kI8:
      return WriteSaturated<int8_t>(at, value);
    case DType::kU8:
      return WriteSaturated<uint8_t>(at, value);
    case DType::kI16:
      return WriteSaturated<int16_t>(at, value);
    case DType::kU16:
      return WriteSaturated<uint16_t>(at, value);
    case DType::kI32:
      return WriteSaturated<int32_t>(at, value);
    case DType::kU32:
      return WriteSaturated<uint32_t>(at, value);
    case DType::kI64:
      return WriteSaturated<int64_t>(at, value);
    case DType::kU64:
      return WriteSaturated<uint64_t>(at, value);
    case DType::kBool:
      return Write(at, static_cast<uint8_t>(value != 0));
  }
}

void StoreInteger(DType dtype, int64_t value, std::byte* at) {
  OPTIML_CHECK(!IsFloat(dtype), "a float is no integer");
  if (dtype == DType::kBool) {
    Write(at, static_cast<uint8_t>(value != 0));
    return;
  }
  std::memcpy(at, &value, DTypeBytes(dtype));  // little endian: the low bytes come first
}

}  // namespace optiml
