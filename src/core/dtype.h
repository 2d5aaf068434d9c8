#ifndef OPTIML_CORE_DTYPE_H_
#define OPTIML_CORE_DTYPE_H_

// DType: the element types of a task's arguments, their sizes, their conversions to double and
// back.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace optiml {

enum class DType {
  kF16,
  kBf16,
  kF32,
  kF64,
  kE4m3,
  kE5m2,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool
};

// "f32", "bf16", "e4m3", "i64", "bool" ...
std::string_view DTypeName(DType dtype);

// Fails with the list of known names.
Result<DType> ParseDType(std::string_view name);

size_t DTypeBytes(DType dtype);
bool IsFloat(DType dtype);
bool IsSignedInteger(DType dtype);  // false for unsigned, bool and floats

// Unit roundoff of a float type: 2^-11 for f16, 2^-8 bf16, 2^-24 f32, 2^-53 f64, 2^-4 e4m3, 2^-3
// e5m2 (IEEE 754-2019 and OCP 8-bit Floating Point Specification 1.0). REQUIRES: IsFloat(dtype)
double UnitRoundoff(DType dtype);

// Reads one element. 64-bit integers beyond 2^53 lose digits: compare integers through LoadInteger.
double LoadElement(DType dtype, const std::byte* at);
// REQUIRES: !IsFloat(dtype). u64 values above 2^63-1 come back as their two's complement.
int64_t LoadInteger(DType dtype, const std::byte* at);

// Writes one element, rounded to nearest even; integers truncate towards zero and saturate.
void StoreElement(DType dtype, double value, std::byte* at);
// REQUIRES: !IsFloat(dtype). Keeps the low bits.
void StoreInteger(DType dtype, int64_t value, std::byte* at);

}  // namespace optiml

#endif  // OPTIML_CORE_DTYPE_H_
