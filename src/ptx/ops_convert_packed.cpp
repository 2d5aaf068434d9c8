// Conversions to and from pairs, 8-bit floats, tf32, and packing with saturation. Compiled once for
// every instruction set of the host.

#include "ptx/convert_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

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
    high = relu && high <= 0 ? 0.0f : high;
    low = relu && low <= 0 ? 0.0f : low;
    return static_cast<u32>(FloatToHalf(low)) | (static_cast<u32>(FloatToHalf(high)) << 16);
  });
}
// cvt.rna.tf32.f32: 10 fraction bits, ties away from zero; the low bits become zero.
const Op* RunTf32(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const bool away = static_cast<Rounding>(op->aux) == Rounding::kNearestAway;
  const bool zero = static_cast<Rounding>(op->aux) == Rounding::kZero;
  const bool relu = (op->aux2 & 4) != 0;
  const bool finite = (op->aux2 & 8) != 0;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u32 bits = a[l];
    const u32 magnitude = bits & 0x7fffffffu;
    // NaN: what the H200 gives; rna cuts it like a number.
    if (magnitude > 0x7f800000u && !away) {
      return u32{0x7fffe000};
    }
    if (relu && (bits >> 31) != 0) {
      return u32{0};
    }
    const u32 result = (magnitude >= 0x7f800000u || zero)
                           ? bits & 0xffffe000u
                           : (bits + (away ? 0x1000u : 0xfffu + ((bits >> 13) & 1))) & 0xffffe000u;
    // satfinite takes one step back from all ones in the exponent, whatever follows it.
    return finite && (result & 0x7f800000u) == 0x7f800000u ? result - 0x2000u : result;
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
// Fields of 4 or 2 bits (the opcode's words, not a Type): aux bit 0 signed, the rest their width.
const Op* RunPackSatBits(Warp& w, const Op* op) {
  const s32* a = Reg<s32>(w, op->a);
  const s32* b = Reg<s32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  const bool is_signed = (op->aux & 1) != 0;
  const u32 bits = op->aux >> 1;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const s32 low = is_signed ? -(1 << (bits - 1)) : 0;
    const s32 high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    const u32 mask = (1u << bits) - 1;
    const s32 x = a[l] < low ? low : a[l] > high ? high : a[l];
    const s32 y = b[l] < low ? low : b[l] > high ? high : b[l];
    return c[l] << (2 * bits) | (static_cast<u32>(x) & mask) << bits | (static_cast<u32>(y) & mask);
  });
}

}  // namespace

Handler SelectPacked(const AluRequest& r) {
  const Type d = r.type;
  const Type s = r.source_type;
  if (r.op == AluOp::kCvtPack) {
    return d == Type::kNone                     ? &RunPackSatBits
           : d == Type::kU16 || d == Type::kS16 ? &RunPackSat16
           : d == Type::kU8 || d == Type::kS8   ? &RunPackSat8
                                                : Handler{nullptr};
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
  return nullptr;
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
