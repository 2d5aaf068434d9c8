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

// Sign-bit operations.
template <class T, bool kNeg>
const Op* RunSign(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T sign =
      op->aux2 != 0 ? static_cast<T>(0x80008000u) : static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  return Each<T>(w, op, [=](u32 l) { return static_cast<T>(kNeg ? a[l] ^ sign : a[l] & ~sign); });
}

template <bool kNeg>
const Op* RunSignFtz(Warp& w, const Op* op) {
  const float* a = Reg<float>(w, op->a);
  return Each<float>(w, op, [=](u32 l) {
    const float x = Flush(a[l]);
    return kNeg ? -x : __builtin_fabsf(x);
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
      return r.sat ? &RunBinary<F16, O, true> : &RunBinary<F16, O, false>;
    case Type::kBf16:
      return &RunBinary<Bf16, O, false>;
    case Type::kF16x2:
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
      return SelectFma16<F16>(r, false);
    case Type::kF16x2:
      return SelectFma16<F16>(r, true);
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
  if (r.type == Type::kF32 && r.ftz) {
    return &RunSignFtz<kNeg>;
  }
  switch (TypeBytes(r.type)) {
    case 2:
      return &RunSign<u16, kNeg>;
    case 4:
      return &RunSign<u32, kNeg>;
    default:
      return &RunSign<u64, kNeg>;
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
