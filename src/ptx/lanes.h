#ifndef OPTIML_PTX_LANES_H_
#define OPTIML_PTX_LANES_H_

// What the vector handlers share: places to pointers, loops over 32 lanes, masked writes, float
// formats, rounding modes. Everything is static or in the namespace of the instruction set, so that
// code compiled for a wide instruction set is never linked into the plain one. Use no library
// templates here: their instances would be shared.

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "ptx/alu.h"
#include "ptx/warp.h"

#ifndef OPTIML_PTX_ISA
#define OPTIML_PTX_ISA plain
#endif

#define OPTIML_LANES _Pragma("GCC ivdep") for (uint32_t l = 0; l < 32; ++l)
#define OPTIML_INLINE static inline __attribute__((always_inline))

namespace optiml::ptx::OPTIML_PTX_ISA {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

template <class T>
OPTIML_INLINE T* Reg(Warp& w, Place place) {
  return reinterpret_cast<T*>(const_cast<uint8_t*>(w.base[place & 1]) + place);
}

OPTIML_INLINE u32& Pred(Warp& w, Place place) {
  return *Reg<u32>(w, place);
}

template <class To, class From>
OPTIML_INLINE To Bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

template <bool kCondition, class A, class B>
struct Choose {
  using type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using type = B;
};

template <class T>
struct Signedness {
  static constexpr bool value = static_cast<T>(-1) < static_cast<T>(0);
};
template <class T>
inline constexpr bool kSigned = Signedness<T>::value;
template <class T>
struct UnsignedOf {
  using type =
      typename Choose<sizeof(T) == 1, u8,
                      typename Choose<sizeof(T) == 2, u16,
                                      typename Choose<sizeof(T) == 4, u32, u64>::type>::type>::type;
};
template <class T>
using U = typename UnsignedOf<T>::type;

template <class T, class X>
OPTIML_INLINE void Blend(T* d, const X* t, const u32* lanes) {
  OPTIML_LANES {
    d[l] = lanes[l] != 0 ? static_cast<T>(t[l]) : d[l];
  }
}

// d[l] = f(l) for the active lanes. f must not fail for inactive ones.
template <class D, class F>
OPTIML_INLINE const Op* Each(Warp& w, const Op* op, F f) {
  D* d = Reg<D>(w, op->d);
  if (__builtin_expect(w.active == kAllLanes, 1)) {
    OPTIML_LANES {
      d[l] = f(l);
    }
  } else {
    alignas(64) D t[kLanes];
    OPTIML_LANES {
      t[l] = f(l);
    }
    Blend(d, t, w.lanes);
  }
  return op + 1;
}

// The same without vectorisation, and only for active lanes: for slow functions.
template <class D, class F>
OPTIML_INLINE const Op* EachSlow(Warp& w, const Op* op, F f) {
  D* d = Reg<D>(w, op->d);
  for (u32 m = w.active; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    d[l] = f(l);
  }
  return op + 1;
}

OPTIML_INLINE void WritePred(Warp& w, Place place, u32 value) {
  u32& p = Pred(w, place);
  p = (p & ~w.active) | (value & w.active);
}

// The host's rounding mode for a while; loads and stores stay inside.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : old_(_mm_getcsr()) {
    const u32 mode = rounding == Rounding::kDown   ? 0x2000u
                     : rounding == Rounding::kUp   ? 0x4000u
                     : rounding == Rounding::kZero ? 0x6000u
                                                   : 0u;
    _mm_setcsr((old_ & ~0x6000u) | mode);
    asm volatile("" ::: "memory");
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
  ~RoundingScope() {
    asm volatile("" ::: "memory");
    _mm_setcsr(old_);
  }

 private:
  u32 old_;
};

// NaN results of f32 arithmetic are 0x7fffffff on NVIDIA GPUs (PTX ISA, floating-point
// instructions); f16 and bf16: 0x7fff.
OPTIML_INLINE float Canonical(float x) {
  return x != x ? Bits<float>(u32{0x7fffffff}) : x;
}
OPTIML_INLINE double Canonical(double x) {
  return x;  // payloads are kept for f64
}

OPTIML_INLINE float Flush(float x) {
  const u32 bits = Bits<u32>(x);
  return (bits & 0x7f800000u) == 0 ? Bits<float>(bits & 0x80000000u) : x;
}

OPTIML_INLINE float HalfToFloat(u16 h) {
#ifdef __F16C__
  return _cvtsh_ss(h);
#else
  const u32 sign = static_cast<u32>(h & 0x8000u) << 16;
  const u32 exponent = (h >> 10) & 31;
  const u32 fraction = h & 1023u;
  if (exponent == 31) {
    return Bits<float>(sign | 0x7f800000u | (fraction << 13));
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return Bits<float>(Bits<u32>(magnitude) | sign);
  }
  return Bits<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
#endif
}

// From double, one rounding; works for every rounding mode and both formats. fraction_bits 10 (f16)
// or 7 (bf16).
template <int kExponentBits, int kFractionBits>
OPTIML_INLINE u16 RoundTo16(double x, Rounding rounding) {
  const u64 bits = Bits<u64>(x);
  const u16 sign = static_cast<u16>((bits >> 63) << 15);
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr u16 kInfinity = static_cast<u16>(((1 << kExponentBits) - 1) << kFractionBits);
  const u64 magnitude = bits & 0x7fffffffffffffffULL;
  if (magnitude > 0x7ff0000000000000ULL) {
    return 0x7fff;
  }
  if (magnitude == 0x7ff0000000000000ULL) {
    return static_cast<u16>(sign | kInfinity);
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  u64 fraction = magnitude & 0xfffffffffffffULL;
  if (magnitude >= 0x0010000000000000ULL) {
    fraction |= u64{1} << 52;
  } else {
    // Below every format's range by hundreds of binades: zero, or the least number.
    const bool least = magnitude != 0 && ((rounding == Rounding::kUp && sign == 0) ||
                                          (rounding == Rounding::kDown && sign != 0));
    return static_cast<u16>(sign | (least ? 1 : 0));
  }
  int shift = 52 - kFractionBits;
  if (exponent < 1 - kBias) {
    shift += (1 - kBias) - exponent;
  }
  u64 kept = 0;
  u64 rest = 0;
  u64 half = 0;
  if (shift > 63) {
    rest = 1;
    half = 2;
  } else {
    kept = fraction >> shift;
    rest = fraction & ((u64{1} << shift) - 1);
    half = u64{1} << (shift - 1);
  }
  bool up = false;
  switch (rounding) {
    case Rounding::kZero:
      break;
    case Rounding::kDown:
      up = sign != 0 && rest != 0;
      break;
    case Rounding::kUp:
      up = sign == 0 && rest != 0;
      break;
    case Rounding::kNearestAway:
      up = rest >= half;
      break;
    default:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
  }
  kept += up ? 1 : 0;
  // A normal number carries its hidden bit into the exponent field by addition.
  u64 result = exponent < 1 - kBias
                   ? kept
                   : kept + (static_cast<u64>(exponent + kBias - 1) << kFractionBits);
  if (result >= kInfinity) {
    const bool to_max = rounding == Rounding::kZero || (rounding == Rounding::kDown && sign == 0) ||
                        (rounding == Rounding::kUp && sign != 0);
    result = to_max ? kInfinity - 1u : kInfinity;
  }
  return static_cast<u16>(sign | result);
}

OPTIML_INLINE u16 FloatToHalf(float x) {
#ifdef __F16C__
  return x != x ? u16{0x7fff} : static_cast<u16>(_cvtss_sh(x, 0));
#else
  return RoundTo16<5, 10>(static_cast<double>(x), Rounding::kNearest);
#endif
}

OPTIML_INLINE float Bf16ToFloat(u16 h) {
  return Bits<float>(static_cast<u32>(h) << 16);
}

OPTIML_INLINE u16 FloatToBf16(float x) {
  const u32 bits = Bits<u32>(x);
  const u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  return x != x ? u16{0x7fff} : static_cast<u16>(rounded);
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA

#endif  // OPTIML_PTX_LANES_H_
