// Floating-point handlers and their choice: f32, f64, f16, bf16 and the packed pairs. Compiled once
// for every instruction set of the host.
//
// f32 arithmetic is the host's with NVIDIA's canonical NaN. f16 and bf16 are computed in float or
// double and rounded once.

#include "ptx/float_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

Handler SelectFunction(const AluRequest& r);
Handler SelectFloatCompare(const AluRequest& r);

namespace {

OPTIML_INLINE float MulAdd(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
OPTIML_INLINE double MulAdd(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

// min and max of PTX: a NaN loses unless both are; -0 is less than +0.
template <class Num, bool kMax>
OPTIML_INLINE Num Extreme(Num a, Num b) {
  using B = typename Choose<sizeof(Num) == 4, u32, u64>::type;
  const B either = kMax ? (Bits<B>(a) & Bits<B>(b)) : (Bits<B>(a) | Bits<B>(b));
  Num r = kMax ? (a > b ? a : b) : (a < b ? a : b);
  r = a == b ? Bits<Num>(either) : r;
  r = b != b ? a : r;
  r = a != a ? b : r;
  return r;
}

struct Add {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return a + b;
  }
};
struct Sub {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return a - b;
  }
};
struct Mul {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return a * b;
  }
};
struct Div {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return a / b;
  }
};
// div.approx.f32: beyond 2^126 the reciprocal of the divisor counts as zero (PTX ISA, div).
struct DivApprox {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return __builtin_fabsf(b) > 0x1p126f ? a * __builtin_copysignf(0.0f, b) : a / b;
  }
};
struct Min {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return Extreme<N, false>(a, b);
  }
};
struct Max {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    return Extreme<N, true>(a, b);
  }
};
template <class M>
struct Propagating {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    const N r = M::template Of<N>(a, b);
    return (a != a || b != b) ? a + b : r;
  }
};
template <class M>
struct XorSign {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    const N r =
        M::template Of<N>(__builtin_signbit(a) != 0 ? -a : a, __builtin_signbit(b) != 0 ? -b : b);
    return (__builtin_signbit(a) != 0) != (__builtin_signbit(b) != 0) ? -r : r;
  }
};
template <class M>
struct Relu {
  template <class N>
  OPTIML_INLINE N Of(N a, N b) {
    const N r = M::template Of<N>(a, b);
    return r > N(0) ? r : r != r ? r : N(0);
  }
};

template <class F, class O, bool kSat>
const Op* RunBinary(Warp& w, const Op* op) {
  using R = typename F::Reg;
  const R* a = Reg<R>(w, op->a);
  const R* b = Reg<R>(w, op->b);
  return Each<R>(w, op, [=](u32 l) {
    auto r = O::template Of<typename F::Num>(F::Load(a[l]), F::Load(b[l]));
    if constexpr (kSat) {
      r = Clamp01(r);
    }
    return F::Store(r);
  });
}

template <class F, class O, bool kSat>
const Op* RunBinaryRounded(Warp& w, const Op* op) {
  const RoundingScope scope(static_cast<Rounding>(op->aux2));
  return RunBinary<F, O, kSat>(w, op);
}

template <class F, bool kSat>
const Op* RunFma(Warp& w, const Op* op) {
  using R = typename F::Reg;
  const R* a = Reg<R>(w, op->a);
  const R* b = Reg<R>(w, op->b);
  const R* c = Reg<R>(w, op->c);
  return Each<R>(w, op, [=](u32 l) {
    auto r = MulAdd(F::Load(a[l]), F::Load(b[l]), F::Load(c[l]));
    if constexpr (kSat) {
      r = Clamp01(r);
    }
    return F::Store(r);
  });
}

template <class F, bool kSat>
const Op* RunFmaRounded(Warp& w, const Op* op) {
  const RoundingScope scope(static_cast<Rounding>(op->aux2));
  return RunFma<F, kSat>(w, op);
}

// a * b + c in 16-bit formats with one rounding: the product is exact in double; the sum is made
// odd when inexact, so that the second rounding cannot go wrong (Boldo and Melquiond, "Emulation of
// FMA and correctly rounded sums", 2008).
OPTIML_INLINE double FmaToOdd(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double q = static_cast<double>(c);
  const double s = p + q;
  const double t = s - p;
  const double error = (p - (s - t)) + (q - t);
  const u64 bits = Bits<u64>(s);
  if (error == 0 || error != error || (bits & 1) != 0) {
    return s;
  }
  return Bits<double>((error > 0) == (s > 0) ? bits + 1 : bits - 1);
}

template <class F, bool kSat, bool kRelu>
OPTIML_INLINE u16 Fma16(u16 a, u16 b, u16 c) {
  double r = FmaToOdd(F::Load(a), F::Load(b), F::Load(c));
  if constexpr (kSat) {
    r = Clamp01(r);
  }
  if constexpr (kRelu) {
    r = r > 0 || r != r ? r : 0;
  }
  return F::StoreExact(r);
}

template <class F, bool kPair, bool kSat, bool kRelu>
const Op* RunFma16(Warp& w, const Op* op) {
  using R = typename Choose<kPair, u32, u16>::type;
  const R* a = Reg<R>(w, op->a);
  const R* b = Reg<R>(w, op->b);
  const R* c = Reg<R>(w, op->c);
  return EachSlow<R>(w, op, [=](u32 l) {
    u32 r = Fma16<F, kSat, kRelu>(static_cast<u16>(a[l]), static_cast<u16>(b[l]),
                                  static_cast<u16>(c[l]));
    if constexpr (kPair) {
      r |= static_cast<u32>(Fma16<F, kSat, kRelu>(static_cast<u16>(a[l] >> 16),
                                                  static_cast<u16>(b[l] >> 16),
                                                  static_cast<u16>(c[l] >> 16)))
           << 16;
    }
    return static_cast<R>(r);
  });
}

template <class F, class O, bool kSat>
OPTIML_INLINE u16 Binary16(u16 a, u16 b) {
  float r = O::template Of<float>(F::Load(a), F::Load(b));
  if constexpr (kSat) {
    r = Clamp01(r);
  }
  return F::Store(r);
}

template <class F, class O, bool kSat>
const Op* RunBinary16x2(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  return Each<u32>(w, op, [=](u32 l) {
    const u32 low = Binary16<F, O, kSat>(static_cast<u16>(a[l]), static_cast<u16>(b[l]));
    const u32 high =
        Binary16<F, O, kSat>(static_cast<u16>(a[l] >> 16), static_cast<u16>(b[l] >> 16));
    return low | (high << 16);
  });
}

// neg and abs. f64: the sign bit alone. The narrower formats go through the adder, which makes
// every NaN the canonical one (measured).
template <bool kNeg>
const Op* RunSign64(Warp& w, const Op* op) {
  const u64* a = Reg<u64>(w, op->a);
  constexpr u64 kSign = u64{1} << 63;
  return Each<u64>(w, op, [=](u32 l) { return kNeg ? a[l] ^ kSign : a[l] & ~kSign; });
}

template <bool kNeg, bool kFtz>
const Op* RunSign32(Warp& w, const Op* op) {
  const float* a = Reg<float>(w, op->a);
  return Each<float>(w, op, [=](u32 l) {
    const float x = kFtz ? Flush(a[l]) : a[l];
    return Canonical(kNeg ? -x : __builtin_fabsf(x));
  });
}

// kInfinity: the format's; below its leading place every number is subnormal.
template <bool kNeg, bool kFtz, u32 kInfinity>
OPTIML_INLINE u32 Sign16(u32 x) {
  const u32 magnitude = x & 0x7fffu;
  const u32 kept = kFtz && magnitude < (kInfinity & ~(kInfinity << 1)) ? 0 : magnitude;
  return magnitude > kInfinity ? 0x7fffu : kept | (kNeg ? (x & 0x8000u) ^ 0x8000u : 0u);
}

template <class R, bool kNeg, bool kFtz, u32 kInfinity>
const Op* RunSign16(Warp& w, const Op* op) {
  const R* a = Reg<R>(w, op->a);
  return Each<R>(w, op, [=](u32 l) {
    u32 r = Sign16<kNeg, kFtz, kInfinity>(a[l] & 0xffffu);
    if constexpr (sizeof(R) == 4) {
      r |= Sign16<kNeg, kFtz, kInfinity>(a[l] >> 16) << 16;
    }
    return static_cast<R>(r);
  });
}

template <class T>
const Op* RunCopysign(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  constexpr T kSign = T{1} << (8 * sizeof(T) - 1);
  return Each<T>(w, op, [=](u32 l) { return static_cast<T>((b[l] & ~kSign) | (a[l] & kSign)); });
}

template <class O>
Handler SelectBinary(const AluRequest& r) {
  const bool directed = Directed(r.rounding);
  switch (r.type) {
    case Type::kF32:
      if (directed) {
        return r.ftz ? (r.sat ? &RunBinaryRounded<F32Ftz, O, true>
                              : &RunBinaryRounded<F32Ftz, O, false>)
                     : (r.sat ? &RunBinaryRounded<F32, O, true> : &RunBinaryRounded<F32, O, false>);
      }
      return r.ftz ? (r.sat ? &RunBinary<F32Ftz, O, true> : &RunBinary<F32Ftz, O, false>)
                   : (r.sat ? &RunBinary<F32, O, true> : &RunBinary<F32, O, false>);
    case Type::kF64:
      return directed ? &RunBinaryRounded<F64, O, false> : &RunBinary<F64, O, false>;
    case Type::kF16:
      if (r.ftz) {
        return r.sat ? &RunBinary<F16Ftz, O, true> : &RunBinary<F16Ftz, O, false>;
      }
      return r.sat ? &RunBinary<F16, O, true> : &RunBinary<F16, O, false>;
    case Type::kBf16:
      return &RunBinary<Bf16, O, false>;
    case Type::kF16x2:
      if (r.ftz) {
        return r.sat ? &RunBinary16x2<F16Ftz, O, true> : &RunBinary16x2<F16Ftz, O, false>;
      }
      return r.sat ? &RunBinary16x2<F16, O, true> : &RunBinary16x2<F16, O, false>;
    case Type::kBf16x2:
      return &RunBinary16x2<Bf16, O, false>;
    default:
      return nullptr;
  }
}

template <class M>
Handler SelectExtreme(const AluRequest& r) {
  if (r.relu) {
    return r.nan ? SelectBinary<Relu<Propagating<M>>>(r) : SelectBinary<Relu<M>>(r);
  }
  if (r.xorsign_abs) {
    return r.nan ? SelectBinary<XorSign<Propagating<M>>>(r) : SelectBinary<XorSign<M>>(r);
  }
  return r.nan ? SelectBinary<Propagating<M>>(r) : SelectBinary<M>(r);
}

template <class F>
Handler SelectFma16(const AluRequest& r, bool pair) {
  if (r.sat) {
    return pair ? &RunFma16<F, true, true, false> : &RunFma16<F, false, true, false>;
  }
  if (r.relu) {
    return pair ? &RunFma16<F, true, false, true> : &RunFma16<F, false, false, true>;
  }
  return pair ? &RunFma16<F, true, false, false> : &RunFma16<F, false, false, false>;
}

Handler SelectFma(const AluRequest& r) {
  const bool directed = Directed(r.rounding);
  switch (r.type) {
    case Type::kF32:
      if (directed) {
        return r.ftz ? (r.sat ? &RunFmaRounded<F32Ftz, true> : &RunFmaRounded<F32Ftz, false>)
                     : (r.sat ? &RunFmaRounded<F32, true> : &RunFmaRounded<F32, false>);
      }
      return r.ftz ? (r.sat ? &RunFma<F32Ftz, true> : &RunFma<F32Ftz, false>)
                   : (r.sat ? &RunFma<F32, true> : &RunFma<F32, false>);
    case Type::kF64:
      return directed ? &RunFmaRounded<F64, false> : &RunFma<F64, false>;
    case Type::kF16:
      return r.ftz ? SelectFma16<F16Ftz>(r, false) : SelectFma16<F16>(r, false);
    case Type::kF16x2:
      return r.ftz ? SelectFma16<F16Ftz>(r, true) : SelectFma16<F16>(r, true);
    case Type::kBf16:
      return SelectFma16<Bf16>(r, false);
    case Type::kBf16x2:
      return SelectFma16<Bf16>(r, true);
    default:
      return nullptr;
  }
}

template <bool kNeg>
Handler SelectSign(const AluRequest& r) {
  constexpr u32 kF16Infinity = 0x7c00;
  constexpr u32 kBf16Infinity = 0x7f80;
  switch (r.type) {
    case Type::kF32:
      return r.ftz ? &RunSign32<kNeg, true> : &RunSign32<kNeg, false>;
    case Type::kF64:
      return &RunSign64<kNeg>;
    case Type::kF16:
      return r.ftz ? &RunSign16<u16, kNeg, true, kF16Infinity>
                   : &RunSign16<u16, kNeg, false, kF16Infinity>;
    case Type::kF16x2:
      return r.ftz ? &RunSign16<u32, kNeg, true, kF16Infinity>
                   : &RunSign16<u32, kNeg, false, kF16Infinity>;
    case Type::kBf16:
      return &RunSign16<u16, kNeg, false, kBf16Infinity>;
    case Type::kBf16x2:
      return &RunSign16<u32, kNeg, false, kBf16Infinity>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler SelectFloat(const AluRequest& r) {
  switch (r.op) {
    case AluOp::kAdd:
      return SelectBinary<Add>(r);
    case AluOp::kSub:
      return SelectBinary<Sub>(r);
    case AluOp::kMulLo:
      return SelectBinary<Mul>(r);
    case AluOp::kDiv:
      if (r.approximate && r.type == Type::kF32) {
        return r.ftz ? &RunBinary<F32Ftz, DivApprox, false> : &RunBinary<F32, DivApprox, false>;
      }
      return r.type == Type::kF32 || r.type == Type::kF64 ? SelectBinary<Div>(r) : nullptr;
    case AluOp::kMin:
      return SelectExtreme<Min>(r);
    case AluOp::kMax:
      return SelectExtreme<Max>(r);
    case AluOp::kFma:
      return SelectFma(r);
    case AluOp::kNeg:
      return SelectSign<true>(r);
    case AluOp::kAbs:
      return SelectSign<false>(r);
    case AluOp::kCopysign:
      return r.type == Type::kF32 ? &RunCopysign<u32> : &RunCopysign<u64>;
    case AluOp::kTestp:
    case AluOp::kSetp:
    case AluOp::kSet:
      return SelectFloatCompare(r);
    default:
      return SelectFunction(r);
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
