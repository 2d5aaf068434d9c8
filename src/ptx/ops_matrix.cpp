// Products of small matrices as tensor cores compute them; see matrix.h for the arithmetic.
// Compiled once for every instruction set of the host.
//
// f16 and 8-bit floats: products and their scaled forms are exact in float, their truncated sum
// fits 32 bits in groups of 16. bf16 and tf32 need the range of double. Special values go a slow
// way.

#include "ptx/lanes.h"
#include "ptx/matrix.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

// Exponent of a term that is zero: it takes no part in the alignment.
constexpr s32 kNoExponent = -100000;
constexpr u32 kColumns = 8;  // a tile of results: one row of 8

// The element types as the value in float and the exponent of the leading bit's place. `kLeast` is
// the exponent of subnormal numbers, which are not normalised.
struct OfF16 {
  static constexpr s32 kLeast = -14;
  OPTIML_INLINE float Value(u32 x) { return HalfToFloat(static_cast<u16>(x)); }
};
struct OfBf16 {
  static constexpr s32 kLeast = -126;
  OPTIML_INLINE float Value(u32 x) { return Bits<float>(x << 16); }
};
struct OfTf32 {
  static constexpr s32 kLeast = -126;
  OPTIML_INLINE float Value(u32 x) { return Bits<float>(x & 0xffffe000u); }
};
struct OfF32 {
  static constexpr s32 kLeast = -126;
  OPTIML_INLINE float Value(u32 x) { return Bits<float>(x); }
};
template <int kExponentBits, int kFractionBits, s32 kFloor = 2 - (1 << (kExponentBits - 1))>
struct OfFp8 {
  static constexpr s32 kLeast = kFloor;
  OPTIML_INLINE float Value(u32 x) {
    // Moved into the place of an f32 with the exponent's bias corrected by a product, which is
    // exact and makes subnormal numbers right.
    constexpr u32 kShift = 23 - kFractionBits;
    const u32 magnitude = (x & 0x7fu) << kShift;
    constexpr s32 kOwnLeast = 2 - (1 << (kExponentBits - 1));
    const float scaled =
        Bits<float>(magnitude) * Bits<float>(static_cast<u32>(127 + 127 + kOwnLeast - 1) << 23);
    const u32 special = kExponentBits == 4     ? ((x & 0x7fu) == 0x7fu ? 0x7fffffffu : 0u)
                        : (x & 0x7fu) > 0x7cu  ? 0x7fffffffu
                        : (x & 0x7fu) == 0x7cu ? 0x7f800000u
                                               : 0u;
    const u32 bits = special != 0 ? special : Bits<u32>(scaled);
    return Bits<float>(bits | (x & 0x80u) << 24);
  }
};
using OfE4m3 = OfFp8<4, 3>;
using OfE5m2 = OfFp8<5, 2>;
using OfE4m3AsF16 = OfFp8<4, 3, OfF16::kLeast>;  // subnormal e4m3 numbers are normal in f16

template <class T>
OPTIML_INLINE s32 ExponentOf(float value) {
  const u32 bits = Bits<u32>(value) & 0x7fffffffu;
  const s32 exponent = static_cast<s32>(bits >> 23) - 127;
  const s32 clamped = exponent < T::kLeast ? T::kLeast : exponent;
  return bits == 0 ? kNoExponent : clamped;
}

// Values and exponents of `count` elements; true when one is infinite or no number.
template <class T>
OPTIML_INLINE bool Decode(const u32* raw, u32 count, bool negate, float* values, s32* exponents) {
  const u32 flip = negate ? 0x80000000u : 0u;
  u32 special = 0;
  _Pragma("GCC ivdep") for (u32 i = 0; i < count; ++i) {
    const float value = Bits<float>(Bits<u32>(T::Value(raw[i])) ^ flip);
    values[i] = value;
    exponents[i] = ExponentOf<T>(value);
    special |= (Bits<u32>(value) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
  }
  return special != 0;
}

OPTIML_INLINE double PowerOfTwo(s32 exponent) {
  return Bits<double>(static_cast<u64>(exponent + 1023) << 52);
}

OPTIML_INLINE double Truncate(double x) {
#ifdef __SSE4_1__
  return __builtin_trunc(x);
#else
  return static_cast<double>(static_cast<s64>(x));
#endif
}

// The float next to x that is not larger in magnitude, with `fraction_bits` bits kept.
OPTIML_INLINE u32 TowardZero(double x, u32 fraction_bits) {
  const u64 bits = Bits<u64>(x);
  const u32 sign = static_cast<u32>(bits >> 32) & 0x80000000u;
  const u64 magnitude = bits & 0x7fffffffffffffffULL;
  const s32 exponent = static_cast<s32>(magnitude >> 52) - 1023;
  if (exponent > 127) {
    return sign | 0x7f800000u;
  }
  if (exponent < -149) {
    return sign;
  }
  const u64 fraction = (magnitude & 0xfffffffffffffULL) | (u64{1} << 52);
  u32 result = 0;
  if (exponent < -126) {
    result = static_cast<u32>(fraction >> (52 - 23 - 126 - exponent));
  } else {
    result =
        (static_cast<u32>(exponent + 127) << 23) + (static_cast<u32>(fraction >> 29) & 0x7fffffu);
  }
  return sign | (result & ~((1u << (23 - fraction_bits)) - 1));
}

OPTIML_INLINE u32 Result(double sum, const MatrixShape& shape) {
  return shape.d == Type::kF16 ? RoundTo16<5, 10>(sum, Rounding::kNearest)
                               : TowardZero(sum, shape.result_fraction_bits);
}

// One row of a tile with values that are infinite or no numbers: such a sum is what IEEE arithmetic
// makes of it, without overflow.
OPTIML_INLINE bool SpecialSum(const float* a, const float* b, float c, u32 begin, u32 end,
                              u32 column, const MatrixShape& shape, u32& result) {
  bool nan = c != c;
  bool positive = Bits<u32>(c) == 0x7f800000u;
  bool negative = Bits<u32>(c) == 0xff800000u;
  for (u32 i = begin; i < end; ++i) {
    const double p = static_cast<double>(a[i]) * static_cast<double>(b[i * kColumns + column]);
    nan = nan || p != p;
    positive = positive || Bits<u64>(p) == 0x7ff0000000000000ULL;
    negative = negative || Bits<u64>(p) == 0xfff0000000000000ULL;
  }
  if (!nan && !positive && !negative) {
    return false;
  }
  const bool half = shape.d == Type::kF16;
  result = nan || (positive && negative) ? (half ? 0x7fffu : 0x7fffffffu)
           : positive                    ? (half ? 0x7c00u : 0x7f800000u)
                                         : (half ? 0xfc00u : 0xff800000u);
  return true;
}

// One row of a tile: the fused sum over [begin, end) of k. `c` and d are 8 raw words; c null: zero.
template <bool kNarrow>
OPTIML_INLINE void RowSum(const MatrixShape& shape, const float* a, const s32* exponent_a,
                          const float* b, const s32* exponent_b, u32 begin, u32 end,
                          const u32* raw_c, bool special, u32* d) {
  alignas(64) float c[kColumns] = {};
  alignas(64) s32 most[kColumns];
  if (raw_c == nullptr) {
    for (u32 j = 0; j < kColumns; ++j) {
      most[j] = kNoExponent;
    }
  } else {
    const bool special_c = shape.c == Type::kF16 ? Decode<OfF16>(raw_c, kColumns, false, c, most)
                                                 : Decode<OfF32>(raw_c, kColumns, false, c, most);
    special = special || special_c;
  }
  for (u32 i = begin; i < end; ++i) {
    const s32 e = exponent_a[i];
    for (u32 j = 0; j < kColumns; ++j) {
      const s32 x = e + exponent_b[i * kColumns + j];
      most[j] = x > most[j] ? x : most[j];
    }
  }
  alignas(64) double sum[kColumns];
  alignas(64) double unit[kColumns];
  alignas(64) double scale[kColumns];
  for (u32 j = 0; j < kColumns; ++j) {
    const s32 e = most[j] < -900 ? 0 : most[j];  // all terms are zero
    unit[j] = PowerOfTwo(e - static_cast<s32>(shape.fraction_bits));
    scale[j] = PowerOfTwo(static_cast<s32>(shape.fraction_bits) - e);
    sum[j] = Truncate(static_cast<double>(c[j]) * scale[j]);
  }
  if constexpr (kNarrow) {
    alignas(64) float narrow[kColumns];
    for (u32 j = 0; j < kColumns; ++j) {
      // Products are 2^-48 or more: a smaller exponent is C's, and all products are zero.
      narrow[j] = most[j] < -100 ? 0.0f : static_cast<float>(scale[j]);
    }
    // A product is below 4, so 16 of them with at most 25 fraction bits stay inside 32 bits.
    for (u32 from = begin; from < end; from += 16) {
      const u32 to = end - from < 16 ? end : from + 16;
      alignas(64) s32 part[kColumns] = {};
      for (u32 i = from; i < to; ++i) {
        const float x = a[i];
        for (u32 j = 0; j < kColumns; ++j) {
          part[j] += static_cast<s32>(x * b[i * kColumns + j] * narrow[j]);
        }
      }
      for (u32 j = 0; j < kColumns; ++j) {
        sum[j] += static_cast<double>(part[j]);
      }
    }
  } else {
    for (u32 i = begin; i < end; ++i) {
      const auto x = static_cast<double>(a[i]);
      for (u32 j = 0; j < kColumns; ++j) {
        sum[j] += Truncate(x * static_cast<double>(b[i * kColumns + j]) * scale[j]);
      }
    }
  }
  for (u32 j = 0; j < kColumns; ++j) {
    d[j] = Result(sum[j] * unit[j], shape);
  }
  for (u32 j = 0; special && j < kColumns; ++j) {
    SpecialSum(a, b, c[j], begin, end, j, shape, d[j]);
  }
}

template <class TA, class TB, bool kNarrow>
void Float(const MatrixShape& shape, const MatrixOperands& operands) {
  const u32 m = shape.m;
  const u32 k = shape.k;
  const u32 step = shape.step == 0 ? k : shape.step;
  const auto* raw_a = static_cast<const u32*>(operands.a);
  alignas(64) float a[kMatrixMaxRows * kMatrixMaxDepth];
  alignas(64) s32 exponent_a[kMatrixMaxRows * kMatrixMaxDepth];
  const bool special_a = Decode<TA>(raw_a, m * k, shape.negate_a, a, exponent_a);
  for (u32 tile = 0; tile < shape.n / kColumns; ++tile) {
    const u32* raw_b = static_cast<const u32*>(operands.b) + tile * k * kColumns;
    const u32* raw_c =
        operands.c == nullptr ? nullptr : static_cast<const u32*>(operands.c) + tile * m * kColumns;
    u32* d = static_cast<u32*>(operands.d) + tile * m * kColumns;
    alignas(64) float b[kMatrixMaxDepth * kColumns];
    alignas(64) s32 exponent_b[kMatrixMaxDepth * kColumns];
    const bool special =
        Decode<TB>(raw_b, k * kColumns, shape.negate_b, b, exponent_b) || special_a;
    for (u32 row = 0; row < m; ++row) {
      const u32* c = raw_c == nullptr ? nullptr : raw_c + row * kColumns;
      for (u32 begin = 0; begin < k; begin += step) {
        alignas(64) u32 result[kColumns];
        RowSum<kNarrow>(shape, a + row * k, exponent_a + row * k, b, exponent_b, begin,
                        begin + step, c, special, result);
        __builtin_memcpy(d + row * kColumns, result, sizeof(result));
        c = d + row * kColumns;
      }
    }
  }
}

template <class TA, class TB>
void Halves(const MatrixShape& shape, const MatrixOperands& operands) {
  MatrixShape half = shape;
  half.k = shape.k / 2;
  const u32 tiles = shape.n / kColumns;
  const u32 results = shape.m * shape.n;
  alignas(64) u32 a[kMatrixMaxRows * kMatrixMaxDepth / 2];
  alignas(64) u32 b[kMatrixMaxDepth / 2 * kColumns];
  alignas(64) u32 sum[2][kMatrixMaxRows * kColumns];
  for (u32 tile = 0; tile < tiles; ++tile) {
    MatrixShape part = half;
    part.n = kColumns;
    for (u32 h = 0; h < 2; ++h) {
      for (u32 i = 0; i < half.k; ++i) {
        const u32 from = i / 2 * 4 + 2 * h + i % 2;
        for (u32 row = 0; row < shape.m; ++row) {
          a[row * half.k + i] = static_cast<const u32*>(operands.a)[row * shape.k + from];
        }
        for (u32 j = 0; j < kColumns; ++j) {
          b[i * kColumns + j] =
              static_cast<const u32*>(operands.b)[(tile * shape.k + from) * kColumns + j];
        }
      }
      Float<TA, TB, true>(part, {a, b, h == 0 ? nullptr : sum[0], sum[h]});
    }
    const u32 begin = tile * shape.m * kColumns;
    const auto* c = static_cast<const u32*>(operands.c) + begin;
    auto* d = static_cast<u32*>(operands.d) + begin;
    for (u32 i = 0; i < results / tiles; ++i) {
      d[i] = shape.d == Type::kF16
                 ? FloatToHalf(HalfToFloat(static_cast<u16>(c[i])) +
                               HalfToFloat(static_cast<u16>(sum[1][i])))
                 : Bits<u32>(Canonical(Bits<float>(c[i]) + Bits<float>(sum[1][i])));
    }
  }
}

template <class TA, class TB>
void Integer(const MatrixShape& shape, const MatrixOperands& operands) {
  const u32 m = shape.m;
  const u32 k = shape.k;
  const auto* a = static_cast<const u32*>(operands.a);
  for (u32 tile = 0; tile < shape.n / kColumns; ++tile) {
    const u32* b = static_cast<const u32*>(operands.b) + tile * k * kColumns;
    const u32* c =
        operands.c == nullptr ? nullptr : static_cast<const u32*>(operands.c) + tile * m * kColumns;
    u32* d = static_cast<u32*>(operands.d) + tile * m * kColumns;
    for (u32 row = 0; row < m; ++row) {
      alignas(64) s32 sum[kColumns] = {};
      for (u32 i = 0; i < k; ++i) {
        const s32 x = static_cast<TA>(a[row * k + i]);
        for (u32 j = 0; j < kColumns; ++j) {
          sum[j] += x * static_cast<TB>(b[i * kColumns + j]);
        }
      }
      for (u32 j = 0; j < kColumns; ++j) {
        const s64 total =
            static_cast<s64>(sum[j]) + (c == nullptr ? 0 : static_cast<s32>(c[row * kColumns + j]));
        const s64 clamped = total > 2147483647      ? 2147483647
                            : total < -2147483648LL ? -2147483648LL
                                                    : total;
        d[row * kColumns + j] = static_cast<u32>(shape.saturate ? clamped : total);
      }
    }
  }
}

void Double(const MatrixShape& shape, const MatrixOperands& operands) {
  const u32 m = shape.m;
  const u32 k = shape.k;
  const auto* a = static_cast<const double*>(operands.a);
  for (u32 tile = 0; tile < shape.n / kColumns; ++tile) {
    const double* b = static_cast<const double*>(operands.b) + tile * k * kColumns;
    const double* c = static_cast<const double*>(operands.c) + tile * m * kColumns;
    double* d = static_cast<double*>(operands.d) + tile * m * kColumns;
    for (u32 row = 0; row < m; ++row) {
      double sum[kColumns];
      for (u32 j = 0; j < kColumns; ++j) {
        sum[j] = c[row * kColumns + j];
      }
      for (u32 i = 0; i < k; ++i) {
        for (u32 j = 0; j < kColumns; ++j) {
          sum[j] = __builtin_fma(a[row * k + i], b[i * kColumns + j], sum[j]);
        }
      }
      for (u32 j = 0; j < kColumns; ++j) {
        d[row * kColumns + j] = sum[j];
      }
    }
  }
}

}  // namespace

// Null when there is no such product.
MatrixKernel SelectMatrix(const MatrixShape& shape) {
  const Type a = shape.a;
  const Type b = shape.b;
  switch (a) {
    case Type::kF16:
      return b == a ? &Float<OfF16, OfF16, true> : nullptr;
    case Type::kBf16:
      return b == a ? &Float<OfBf16, OfBf16, false> : nullptr;
    case Type::kTf32:
      return b == a ? &Float<OfTf32, OfTf32, false> : nullptr;
    case Type::kE4m3:
      return b == Type::kE4m3 ? (shape.in_halves ? &Halves<OfE4m3AsF16, OfE4m3AsF16>
                                                 : &Float<OfE4m3, OfE4m3, true>)
             : b == Type::kE5m2
                 ? (shape.in_halves ? &Halves<OfE4m3AsF16, OfE5m2> : &Float<OfE4m3, OfE5m2, true>)
                 : nullptr;
    case Type::kE5m2:
      return b == Type::kE4m3
                 ? (shape.in_halves ? &Halves<OfE5m2, OfE4m3AsF16> : &Float<OfE5m2, OfE4m3, true>)
             : b == Type::kE5m2
                 ? (shape.in_halves ? &Halves<OfE5m2, OfE5m2> : &Float<OfE5m2, OfE5m2, true>)
                 : nullptr;
    case Type::kS8:
      return b == Type::kS8 ? &Integer<s8, s8> : b == Type::kU8 ? &Integer<s8, u8> : nullptr;
    case Type::kU8:
      return b == Type::kS8 ? &Integer<u8, s8> : b == Type::kU8 ? &Integer<u8, u8> : nullptr;
    case Type::kF64:
      return b == a ? &Double : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
