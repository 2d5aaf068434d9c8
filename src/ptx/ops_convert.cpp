// cvt: between all integer and floating-point formats. Compiled once for every instruction set of
// the host.
//
// Floating point to integer rounds as asked and clamps; NaN becomes 0, or the sign bit alone when
// either type has 64 bits (PTX ISA, cvt). Integers narrow by truncation, or clamp with .sat.

#include "ptx/lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

template <class T>
struct Held {  // bytes live in 16-bit registers
  using type = T;
};
template <>
struct Held<s8> {
  using type = s16;
};
template <>
struct Held<u8> {
  using type = u16;
};

template <class T>
OPTIML_INLINE T MaxOf() {
  return kSigned<T> ? static_cast<T>((U<T>{1} << (8 * sizeof(T) - 1)) - 1)
                    : static_cast<T>(~U<T>{0});
}
template <class T>
OPTIML_INLINE T MinOf() {
  return kSigned<T> ? static_cast<T>(U<T>{1} << (8 * sizeof(T) - 1)) : T{0};
}

template <class D, class S, bool kSat>
const Op* RunIntToInt(Warp& w, const Op* op) {
  using HD = typename Held<D>::type;
  using HS = typename Held<S>::type;
  const HS* a = Reg<HS>(w, op->a);
  return Each<HD>(w, op, [=](u32 l) {
    const S value = static_cast<S>(a[l]);
    if constexpr (kSat) {
      const __int128 wide = value;
      const __int128 low = MinOf<D>();
      const __int128 high = MaxOf<D>();
      return static_cast<HD>(static_cast<D>(wide < low ? low : wide > high ? high : wide));
    } else {
      return static_cast<HD>(static_cast<D>(value));
    }
  });
}

template <class D, class S>
const Op* RunIntToFloat(Warp& w, const Op* op) {
  using HS = typename Held<S>::type;
  const HS* a = Reg<HS>(w, op->a);
  return Each<D>(w, op, [=](u32 l) { return static_cast<D>(static_cast<S>(a[l])); });
}
template <class D, class S>
const Op* RunIntToFloatRounded(Warp& w, const Op* op) {
  using HS = typename Held<S>::type;
  const HS* a = Reg<HS>(w, op->a);
  const auto mode = static_cast<Rounding>(op->aux);
  return EachSlow<D>(w, op, [=](u32 l) {
    // Directed by hand: compare the nearest value with the exact one and step when it lies on the
    // wrong side.
    const S value = static_cast<S>(a[l]);
    const D nearest = static_cast<D>(value);
    const __int128 exact = value;
    const __int128 back = static_cast<__int128>(nearest);
    using B = typename Choose<sizeof(D) == 4, u32, u64>::type;
    const B bits = Bits<B>(nearest);
    const bool above = back > exact;
    const bool below = back < exact;
    if (above && (mode == Rounding::kDown || (mode == Rounding::kZero && exact > 0))) {
      return Bits<D>(static_cast<B>(exact >= 0 ? bits - 1 : bits + 1));
    }
    if (below && (mode == Rounding::kUp || (mode == Rounding::kZero && exact < 0))) {
      return Bits<D>(static_cast<B>(exact >= 0 ? bits + 1 : bits - 1));
    }
    return nearest;
  });
}

template <int kExponentBits, int kFractionBits, class S>
const Op* RunIntTo16(Warp& w, const Op* op) {
  using HS = typename Held<S>::type;
  const HS* a = Reg<HS>(w, op->a);
  const auto mode = static_cast<Rounding>(op->aux);
  return EachSlow<u16>(w, op, [=](u32 l) {
    return RoundTo16<kExponentBits, kFractionBits>(static_cast<double>(static_cast<S>(a[l])), mode);
  });
}

// aux: 0 nearest, 1 zero, 2 down, 3 up.
template <class N>
OPTIML_INLINE N RoundInt(N x, u32 mode) {
  if constexpr (sizeof(N) == 4) {
    switch (mode) {
      case 0:
        return __builtin_nearbyintf(x);
      case 1:
        return __builtin_truncf(x);
      case 2:
        return __builtin_floorf(x);
      default:
        return __builtin_ceilf(x);
    }
  } else {
    switch (mode) {
      case 0:
        return __builtin_nearbyint(x);
      case 1:
        return __builtin_trunc(x);
      case 2:
        return __builtin_floor(x);
      default:
        return __builtin_ceil(x);
    }
  }
}

template <class D, class N>
OPTIML_INLINE typename Held<D>::type FloatToInt(N rounded) {
  constexpr bool kWide = sizeof(D) == 8 || sizeof(N) == 8;
  // 2^(bits) or 2^(bits - 1): the first value beyond the type.
  constexpr N kBeyond = static_cast<N>(sizeof(D) == 8   ? (kSigned<D> ? 0x1p63 : 0x1p64)
                                       : sizeof(D) == 4 ? (kSigned<D> ? 0x1p31 : 0x1p32)
                                       : sizeof(D) == 2 ? (kSigned<D> ? 0x1p15 : 0x1p16)
                                                        : (kSigned<D> ? 0x1p7 : 0x1p8));
  constexpr N kLeast = kSigned<D> ? -kBeyond : N(0);
  using Wide =
      typename Choose<sizeof(D) == 8, D,
                      typename Choose<sizeof(D) == 4 && !kSigned<D>, s64, s32>::type>::type;
  const bool inside = rounded < kBeyond && rounded > kLeast;
  const Wide converted = static_cast<Wide>(inside ? rounded : N(0));
  D result = static_cast<D>(converted);
  result = rounded >= kBeyond ? MaxOf<D>() : result;
  result = rounded <= kLeast ? MinOf<D>() : result;
  constexpr D kNan = kWide ? static_cast<D>(U<D>{1} << (8 * sizeof(D) - 1)) : D{0};
  return static_cast<typename Held<D>::type>(rounded != rounded ? kNan : result);
}

struct FromF32 {
  using Reg = float;
  OPTIML_INLINE float Load(float x) { return x; }
};
struct FromF32Ftz {
  using Reg = float;
  OPTIML_INLINE float Load(float x) { return Flush(x); }
};
struct FromF64 {
  using Reg = double;
  OPTIML_INLINE double Load(double x) { return x; }
};
struct FromF16 {
  using Reg = u16;
  OPTIML_INLINE float Load(u16 x) { return HalfToFloat(x); }
};
struct FromBf16 {
  using Reg = u16;
  OPTIML_INLINE float Load(u16 x) { return Bf16ToFloat(x); }
};

template <class D, class F, u32 kMode>
const Op* RunFloatToInt(Warp& w, const Op* op) {
  using R = typename F::Reg;
  const R* a = Reg<R>(w, op->a);
  return Each<typename Held<D>::type>(
      w, op, [=](u32 l) { return FloatToInt<D>(RoundInt(F::Load(a[l]), kMode)); });
}

template <class N>
OPTIML_INLINE N Saturate(N x) {
  return x > N(0) ? (x < N(1) ? x : N(1)) : N(0);
}

// Float to float. aux: the Rounding; aux2 bit 0: sat, bit 1: ftz.
const Op* RunF32ToF32(Warp& w, const Op* op) {
  const float* a = Reg<float>(w, op->a);
  const auto mode = static_cast<Rounding>(op->aux);
  const bool sat = (op->aux2 & 1) != 0;
  if (mode == Rounding::kNone && op->aux2 == 1) {
    return Each<float>(w, op, [=](u32 l) { return Saturate(a[l]); });
  }
  const bool ftz = (op->aux2 & 2) != 0;
  const u32 round = mode == Rounding::kIntNearest ? 0
                    : mode == Rounding::kIntZero  ? 1
                    : mode == Rounding::kIntDown  ? 2
                                                  : 3;
  const bool to_integer = mode >= Rounding::kIntNearest && mode <= Rounding::kIntUp;
  return Each<float>(w, op, [=](u32 l) {
    float x = ftz ? Flush(a[l]) : a[l];
    if (to_integer) {
      x = round == 0   ? __builtin_nearbyintf(x)
          : round == 1 ? __builtin_truncf(x)
          : round == 2 ? __builtin_floorf(x)
                       : __builtin_ceilf(x);
    }
    x = sat ? Saturate(x) : x;
    return Canonical(x);
  });
}
const Op* RunF64ToF64(Warp& w, const Op* op) {
  const double* a = Reg<double>(w, op->a);
  const auto mode = static_cast<Rounding>(op->aux);
  const bool sat = (op->aux2 & 1) != 0;
  const u32 round = mode == Rounding::kIntNearest ? 0
                    : mode == Rounding::kIntZero  ? 1
                    : mode == Rounding::kIntDown  ? 2
                                                  : 3;
  const bool to_integer = mode >= Rounding::kIntNearest && mode <= Rounding::kIntUp;
  return EachSlow<double>(w, op, [=](u32 l) {
    double x = to_integer ? RoundInt(a[l], round) : a[l];
    return sat ? Saturate(x) : x;
  });
}
const Op* RunF32ToF64(Warp& w, const Op* op) {
  const float* a = Reg<float>(w, op->a);
  const bool sat = (op->aux2 & 1) != 0;
  const bool ftz = (op->aux2 & 2) != 0;
  return Each<double>(w, op, [=](u32 l) {
    const double x = static_cast<double>(ftz ? Flush(a[l]) : a[l]);
    return sat ? Saturate(x) : x;
  });
}
const Op* RunF64ToF32(Warp& w, const Op* op) {
  const double* a = Reg<double>(w, op->a);
  const bool sat = (op->aux2 & 1) != 0;
  const bool ftz = (op->aux2 & 2) != 0;
  const RoundingScope scope(static_cast<Rounding>(op->aux));
  return Each<float>(w, op, [=](u32 l) {
    float x = static_cast<float>(a[l]);
    x = ftz ? Flush(x) : x;
    x = sat ? Saturate(x) : x;
    return Canonical(x);
  });
}
template <class F>
const Op* Run16ToF32(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  const bool sat = (op->aux2 & 1) != 0;
  return Each<float>(w, op, [=](u32 l) {
    const float x = F::Load(a[l]);
    return sat ? Saturate(x) : Canonical(x);
  });
}
template <class F>
const Op* Run16ToF64(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  return Each<double>(w, op, [=](u32 l) { return static_cast<double>(F::Load(a[l])); });
}

// aux2 bit 0: sat, bit 1: ftz, bit 2: relu, bit 3: satfinite.
template <int kExponentBits, int kFractionBits>
OPTIML_INLINE u16 Narrow16(double x, Rounding mode, u32 flags) {
  if ((flags & 1) != 0) {
    x = Saturate(x);
  }
  if ((flags & 4) != 0) {
    x = x > 0 || x != x ? x : 0;
  }
  u16 h = RoundTo16<kExponentBits, kFractionBits>(x, mode);
  constexpr u16 kInfinity = static_cast<u16>(((1 << kExponentBits) - 1) << kFractionBits);
  if ((flags & 8) != 0 && (h & 0x7fff) == kInfinity) {
    h = static_cast<u16>(h - 1);
  }
  return h;
}
OPTIML_INLINE Rounding AsIeee(Rounding r) {
  return r == Rounding::kNone ? Rounding::kNearest : r;
}
template <int kExponentBits, int kFractionBits, class R>
const Op* RunFloatTo16(Warp& w, const Op* op) {
  const R* a = Reg<R>(w, op->a);
  const auto mode = AsIeee(static_cast<Rounding>(op->aux));
  const u32 flags = op->aux2;
  if constexpr (sizeof(R) == 4) {
    if (mode == Rounding::kNearest && flags == 0) {
      if constexpr (kFractionBits == 7) {
        return Each<u16>(w, op, [=](u32 l) { return FloatToBf16(a[l]); });
      } else {
        return Each<u16>(w, op, [=](u32 l) { return FloatToHalf(a[l]); });
      }
    }
  }
  return EachSlow<u16>(w, op, [=](u32 l) {
    return Narrow16<kExponentBits, kFractionBits>(static_cast<double>(a[l]), mode, flags);
  });
}
// Two f32 into a pair: a is the upper half.
template <int kExponentBits, int kFractionBits>
const Op* RunFloatTo16x2(Warp& w, const Op* op) {
  const float* a = Reg<float>(w, op->a);
  const float* b = Reg<float>(w, op->b);
  const auto mode = AsIeee(static_cast<Rounding>(op->aux));
  const u32 flags = op->aux2;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u32 high = Narrow16<kExponentBits, kFractionBits>(static_cast<double>(a[l]), mode, flags);
    const u32 low = Narrow16<kExponentBits, kFractionBits>(static_cast<double>(b[l]), mode, flags);
    return low | (high << 16);
  });
}
// Between 16-bit formats, with or without integer rounding.
template <class F, int kExponentBits, int kFractionBits>
const Op* Run16To16(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  const auto mode = static_cast<Rounding>(op->aux);
  const u32 round = mode == Rounding::kIntNearest ? 0
                    : mode == Rounding::kIntZero  ? 1
                    : mode == Rounding::kIntDown  ? 2
                                                  : 3;
  const bool to_integer = mode >= Rounding::kIntNearest && mode <= Rounding::kIntUp;
  const u32 flags = op->aux2;
  return EachSlow<u16>(w, op, [=](u32 l) {
    const float x = F::Load(a[l]);
    return Narrow16<kExponentBits, kFractionBits>(
        static_cast<double>(to_integer ? RoundInt(x, round) : x),
        to_integer ? Rounding::kNearest : AsIeee(mode), flags);
  });
}

// 8-bit floats (OCP 8-bit Floating Point Specification): e4m3 has no infinity, its NaN is 0x7f;
// conversions saturate.
template <int kExponentBits, int kFractionBits>
OPTIML_INLINE u32 ToFp8(double x, bool relu) {
  constexpr bool kE4m3 = kExponentBits == 4;
  if (x != x) {
    return 0x7f;
  }
  const u32 sign = __builtin_signbit(x) != 0 ? 0x80u : 0u;
  if (relu && sign != 0) {
    return 0;
  }
  const double magnitude = __builtin_fabs(x);
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr double kMax = kE4m3 ? 448.0 : 57344.0;
  if (magnitude >= kMax) {
    return sign | (kE4m3 ? 0x7eu : 0x7bu);
  }
  const int exponent =
      magnitude == 0 ? -2000 : static_cast<int>((Bits<u64>(magnitude) >> 52) & 0x7ff) - 1023;
  const int unit = (exponent < 1 - kBias ? 1 - kBias : exponent) - kFractionBits;
  // magnitude / 2^unit, rounded to nearest even by the host.
  const double scale = Bits<double>(static_cast<u64>(1023 - unit) << 52);
  const u64 steps = static_cast<u64>(__builtin_nearbyint(magnitude * scale));
  const u64 code = exponent < 1 - kBias
                       ? steps
                       : steps + (static_cast<u64>(exponent + kBias - 1) << kFractionBits);
  constexpr u64 kTop = kE4m3 ? 0x7e : 0x7b;
  return sign | static_cast<u32>(code > kTop ? kTop : code);
}
template <int kExponentBits, int kFractionBits>
OPTIML_INLINE float FromFp8(u32 code) {
  constexpr bool kE4m3 = kExponentBits == 4;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const u32 sign = (code & 0x80) << 24;
  const u32 exponent = (code & 0x7f) >> kFractionBits;
  const u32 fraction = code & ((1u << kFractionBits) - 1);
  if (kE4m3 ? (code & 0x7f) == 0x7f : (exponent == 31 && fraction != 0)) {
    return Bits<float>(u32{0x7fffffff});
  }
  if (!kE4m3 && exponent == 31) {
    return Bits<float>(sign | 0x7f800000u);
  }
  if (exponent == 0) {
    const float scale = Bits<float>(static_cast<u32>(127 + 1 - kBias - kFractionBits) << 23);
    return Bits<float>(Bits<u32>(static_cast<float>(fraction) * scale) | sign);
  }
  return Bits<float>(sign | ((exponent + 127 - kBias) << 23) | (fraction << (23 - kFractionBits)));
}
template <int kExponentBits, int kFractionBits>
const Op* RunF32ToFp8x2(Warp& w, const Op* op) {
  const float* a = Reg<float>(w, op->a);
  const float* b = Reg<float>(w, op->b);
  const bool relu = (op->aux2 & 4) != 0;
  return EachSlow<u16>(w, op, [=](u32 l) {
    const u32 high = ToFp8<kExponentBits, kFractionBits>(static_cast<double>(a[l]), relu);
    const u32 low = ToFp8<kExponentBits, kFractionBits>(static_cast<double>(b[l]), relu);
    return static_cast<u16>(low | (high << 8));
  });
}
template <int kExponentBits, int kFractionBits>
const Op* RunF16x2ToFp8x2(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const bool relu = (op->aux2 & 4) != 0;
  return EachSlow<u16>(w, op, [=](u32 l) {
    const u32 high = ToFp8<kExponentBits, kFractionBits>(
        static_cast<double>(HalfToFloat(static_cast<u16>(a[l] >> 16))), relu);
    const u32 low = ToFp8<kExponentBits, kFractionBits>(
        static_cast<double>(HalfToFloat(static_cast<u16>(a[l]))), relu);
    return static_cast<u16>(low | (high << 8));
  });
}
template <int kExponentBits, int kFractionBits>
const Op* RunFp8x2ToF16x2(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  const bool relu = (op->aux2 & 4) != 0;
  return EachSlow<u32>(w, op, [=](u32 l) {
    float high = FromFp8<kExponentBits, kFractionBits>(static_cast<u32>(a[l] >> 8));
    float low = FromFp8<kExponentBits, kFractionBits>(static_cast<u32>(a[l] & 0xff));
    high = relu && high < 0 ? 0.0f : high;
    low = relu && low < 0 ? 0.0f : low;
    return static_cast<u32>(FloatToHalf(low)) | (static_cast<u32>(FloatToHalf(high)) << 16);
  });
}
// cvt.rna.tf32.f32: 10 fraction bits, ties away from zero; the low bits become zero.
const Op* RunTf32(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const bool away = static_cast<Rounding>(op->aux) == Rounding::kNearestAway;
  const bool zero = static_cast<Rounding>(op->aux) == Rounding::kZero;
  const bool relu = (op->aux2 & 4) != 0;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u32 bits = a[l];
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
      return u32{0x7fffffff};
    }
    if (relu && (bits >> 31) != 0) {
      return u32{0};
    }
    if ((bits & 0x7f800000u) == 0x7f800000u || zero) {
      return bits & 0xffffe000u;
    }
    return (bits + (away ? 0x1000u : 0xfffu + ((bits >> 13) & 1))) & 0xffffe000u;
  });
}
// cvt.pack.sat.u16.s32 and the 8-bit forms with a third operand.
const Op* RunPackSat16(Warp& w, const Op* op) {
  const s32* a = Reg<s32>(w, op->a);
  const s32* b = Reg<s32>(w, op->b);
  const bool is_signed = op->aux != 0;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const s32 low = is_signed ? -32768 : 0;
    const s32 high = is_signed ? 32767 : 65535;
    const s32 x = a[l] < low ? low : a[l] > high ? high : a[l];
    const s32 y = b[l] < low ? low : b[l] > high ? high : b[l];
    return (static_cast<u32>(x) << 16) | (static_cast<u32>(y) & 0xffffu);
  });
}
const Op* RunPackSat8(Warp& w, const Op* op) {
  const s32* a = Reg<s32>(w, op->a);
  const s32* b = Reg<s32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  const bool is_signed = op->aux != 0;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const s32 low = is_signed ? -128 : 0;
    const s32 high = is_signed ? 127 : 255;
    const s32 x = a[l] < low ? low : a[l] > high ? high : a[l];
    const s32 y = b[l] < low ? low : b[l] > high ? high : b[l];
    return (c[l] << 16) | ((static_cast<u32>(x) & 0xffu) << 8) | (static_cast<u32>(y) & 0xffu);
  });
}

bool IsInt(Type t) {
  return t >= Type::kU8 && t <= Type::kS64;
}

template <template <class, class> class Make, class D>
Handler BySource(Type source) {
  switch (source) {
    case Type::kU8:
      return Make<D, u8>::Get();
    case Type::kS8:
      return Make<D, s8>::Get();
    case Type::kU16:
      return Make<D, u16>::Get();
    case Type::kS16:
      return Make<D, s16>::Get();
    case Type::kU32:
      return Make<D, u32>::Get();
    case Type::kS32:
      return Make<D, s32>::Get();
    case Type::kU64:
      return Make<D, u64>::Get();
    case Type::kS64:
      return Make<D, s64>::Get();
    default:
      return nullptr;
  }
}
template <template <class, class> class Make>
Handler ByBoth(Type destination, Type source) {
  switch (destination) {
    case Type::kU8:
      return BySource<Make, u8>(source);
    case Type::kS8:
      return BySource<Make, s8>(source);
    case Type::kU16:
      return BySource<Make, u16>(source);
    case Type::kS16:
      return BySource<Make, s16>(source);
    case Type::kU32:
      return BySource<Make, u32>(source);
    case Type::kS32:
      return BySource<Make, s32>(source);
    case Type::kU64:
      return BySource<Make, u64>(source);
    case Type::kS64:
      return BySource<Make, s64>(source);
    default:
      return nullptr;
  }
}
template <class D, class S>
struct MakeIntToInt {
  static Handler Get() { return &RunIntToInt<D, S, false>; }
};
template <class D, class S>
struct MakeIntToIntSat {
  static Handler Get() { return &RunIntToInt<D, S, true>; }
};
template <class D, class S>
struct MakeIntToFloat {
  static Handler Get() { return &RunIntToFloat<D, S>; }
};
template <class D, class S>
struct MakeIntToFloatRounded {
  static Handler Get() { return &RunIntToFloatRounded<D, S>; }
};
template <class D, class S>
struct MakeIntTo16 {
  static Handler Get() { return D{} == 10 ? &RunIntTo16<5, 10, S> : &RunIntTo16<8, 7, S>; }
};
struct HalfTag {
  constexpr bool operator==(int x) const { return x == 10; }
};
struct Bf16Tag {
  constexpr bool operator==(int x) const { return x == 7; }
};

template <class F, u32 kMode>
Handler FloatToIntOf(Type destination) {
  switch (destination) {
    case Type::kU8:
      return &RunFloatToInt<u8, F, kMode>;
    case Type::kS8:
      return &RunFloatToInt<s8, F, kMode>;
    case Type::kU16:
      return &RunFloatToInt<u16, F, kMode>;
    case Type::kS16:
      return &RunFloatToInt<s16, F, kMode>;
    case Type::kU32:
      return &RunFloatToInt<u32, F, kMode>;
    case Type::kS32:
      return &RunFloatToInt<s32, F, kMode>;
    case Type::kU64:
      return &RunFloatToInt<u64, F, kMode>;
    case Type::kS64:
      return &RunFloatToInt<s64, F, kMode>;
    default:
      return nullptr;
  }
}
template <class F>
Handler FloatToIntBy(const AluRequest& r) {
  switch (r.rounding) {
    case Rounding::kIntNearest:
      return FloatToIntOf<F, 0>(r.type);
    case Rounding::kIntDown:
      return FloatToIntOf<F, 2>(r.type);
    case Rounding::kIntUp:
      return FloatToIntOf<F, 3>(r.type);
    default:
      return FloatToIntOf<F, 1>(r.type);
  }
}

Handler SelectFromFloat(const AluRequest& r) {
  if (IsInt(r.type)) {
    switch (r.source_type) {
      case Type::kF32:
        return r.ftz ? FloatToIntBy<FromF32Ftz>(r) : FloatToIntBy<FromF32>(r);
      case Type::kF64:
        return FloatToIntBy<FromF64>(r);
      case Type::kF16:
        return FloatToIntBy<FromF16>(r);
      default:
        return FloatToIntBy<FromBf16>(r);
    }
  }
  const Type s = r.source_type;
  switch (r.type) {
    case Type::kF32:
      return s == Type::kF32   ? &RunF32ToF32
             : s == Type::kF64 ? &RunF64ToF32
             : s == Type::kF16 ? &Run16ToF32<FromF16>
                               : &Run16ToF32<FromBf16>;
    case Type::kF64:
      return s == Type::kF32   ? &RunF32ToF64
             : s == Type::kF64 ? &RunF64ToF64
             : s == Type::kF16 ? &Run16ToF64<FromF16>
                               : &Run16ToF64<FromBf16>;
    case Type::kF16:
      return s == Type::kF32   ? &RunFloatTo16<5, 10, float>
             : s == Type::kF64 ? &RunFloatTo16<5, 10, double>
             : s == Type::kF16 ? &Run16To16<FromF16, 5, 10>
                               : &Run16To16<FromBf16, 5, 10>;
    case Type::kBf16:
      return s == Type::kF32   ? &RunFloatTo16<8, 7, float>
             : s == Type::kF64 ? &RunFloatTo16<8, 7, double>
             : s == Type::kF16 ? &Run16To16<FromF16, 8, 7>
                               : &Run16To16<FromBf16, 8, 7>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler SelectConvert(const AluRequest& r) {
  const Type d = r.type;
  const Type s = r.source_type;
  if (r.op == AluOp::kCvtPack) {
    return d == Type::kU16 || d == Type::kS16 ? &RunPackSat16
           : d == Type::kU8 || d == Type::kS8 ? &RunPackSat8
                                              : Handler{nullptr};
  }
  if (IsInt(s)) {
    if (IsInt(d)) {
      return r.sat ? ByBoth<MakeIntToIntSat>(d, s) : ByBoth<MakeIntToInt>(d, s);
    }
    const bool directed = r.rounding == Rounding::kZero || r.rounding == Rounding::kDown ||
                          r.rounding == Rounding::kUp;
    switch (d) {
      case Type::kF32:
        return directed ? BySource<MakeIntToFloatRounded, float>(s)
                        : BySource<MakeIntToFloat, float>(s);
      case Type::kF64:
        return directed ? BySource<MakeIntToFloatRounded, double>(s)
                        : BySource<MakeIntToFloat, double>(s);
      case Type::kF16:
        return BySource<MakeIntTo16, HalfTag>(s);
      case Type::kBf16:
        return BySource<MakeIntTo16, Bf16Tag>(s);
      default:
        return nullptr;
    }
  }
  if (d == Type::kTf32) {
    return s == Type::kF32 ? &RunTf32 : Handler{nullptr};
  }
  if (d == Type::kE4m3x2) {
    return s == Type::kF32     ? &RunF32ToFp8x2<4, 3>
           : s == Type::kF16x2 ? &RunF16x2ToFp8x2<4, 3>
                               : Handler{nullptr};
  }
  if (d == Type::kE5m2x2) {
    return s == Type::kF32     ? &RunF32ToFp8x2<5, 2>
           : s == Type::kF16x2 ? &RunF16x2ToFp8x2<5, 2>
                               : Handler{nullptr};
  }
  if (d == Type::kF16x2) {
    return s == Type::kE4m3x2   ? &RunFp8x2ToF16x2<4, 3>
           : s == Type::kE5m2x2 ? &RunFp8x2ToF16x2<5, 2>
           : s == Type::kF32    ? &RunFloatTo16x2<5, 10>
                                : Handler{nullptr};
  }
  if (d == Type::kBf16x2) {
    return s == Type::kF32 ? &RunFloatTo16x2<8, 7> : Handler{nullptr};
  }
  if (s == Type::kF16 || s == Type::kBf16 || s == Type::kF32 || s == Type::kF64) {
    return SelectFromFloat(r);
  }
  return nullptr;
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
