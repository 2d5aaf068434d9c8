// cvt: between all integer and floating-point formats. Compiled once for every instruction set of
// the host.
//
// Floating point to integer rounds as asked and clamps; NaN becomes 0, or the sign bit alone when
// either type has 64 bits (PTX ISA, cvt). Integers narrow by truncation, or clamp with .sat.

#include "ptx/convert_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

Handler SelectPacked(const AluRequest& r);

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
    const S value = static_cast<S>(a[l]);
    if constexpr (sizeof(S) == 8) {
      // 53 bits and what is beyond them as one: no second rounding can go wrong.
      const u64 magnitude =
          kSigned<S> && value < S{0} ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value);
      const u64 odd = (magnitude >> 11) | ((magnitude & 0x7ff) != 0 ? 1u : 0u);
      const double x = magnitude < (u64{1} << 53) ? static_cast<double>(magnitude)
                                                  : static_cast<double>(odd) * 0x1p11;
      return RoundTo16<kExponentBits, kFractionBits>(kSigned<S> && value < S{0} ? -x : x, mode);
    } else {
      return RoundTo16<kExponentBits, kFractionBits>(static_cast<double>(value), mode);
    }
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
  static constexpr bool kKeepsNan = false;
  using Reg = u16;
  OPTIML_INLINE float Load(u16 x) { return HalfToFloat(x); }
};
struct FromBf16 {
  static constexpr bool kKeepsNan = true;
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
    const double x = static_cast<double>(ftz ? Canonical(Flush(a[l])) : a[l]);
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
    return sat ? Saturate(x) : x;  // a NaN keeps its sign and the upper part of its payload
  });
}
template <class F>
const Op* Run16ToF32(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  const bool sat = (op->aux2 & 1) != 0;
  return Each<float>(w, op, [=](u32 l) {
    const float x = F::Load(a[l]);
    if (sat) {
      return Saturate(x);
    }
    return F::kKeepsNan ? x : Canonical(x);
  });
}
template <class F>
const Op* Run16ToF64(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  return Each<double>(w, op, [=](u32 l) { return static_cast<double>(F::Load(a[l])); });
}

// aux2 bit 0: sat, bit 1: ftz, bit 2: relu, bit 3: satfinite.
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
    if constexpr (sizeof(R) == 8) {
      if (a[l] != a[l] && (flags & 1) == 0) {  // a quiet NaN with the sign and the payload's top
        const u64 bits = Bits<u64>(a[l]);
        constexpr u64 kQuiet = ((u64{2} << kExponentBits) - 1) << (kFractionBits - 1);
        return static_cast<u16>((bits >> 48 & 0x8000) | kQuiet |
                                (bits >> (52 - kFractionBits) & ((u64{1} << kFractionBits) - 1)));
      }
    }
    return Narrow16<kExponentBits, kFractionBits>(static_cast<double>(a[l]), mode, flags);
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
    return SelectPacked(r);
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
  const bool plain =
      d == Type::kF16 || d == Type::kBf16 || d == Type::kF32 || d == Type::kF64 || IsInt(d);
  if (plain && (s == Type::kF16 || s == Type::kBf16 || s == Type::kF32 || s == Type::kF64)) {
    return SelectFromFloat(r);
  }
  return SelectPacked(r);
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
