// Functions of one floating-point number: roots, reciprocals, exponentials, trigonometry. Compiled
// once for every instruction set of the host.
//
// Approximate functions are computed in double and rounded, so they are at least as accurate as the
// GPU's.

#include "ptx/float_lanes.h"

extern "C" {
float fmaf(float, float, float);
double fma(double, double, double);
double exp2(double);
double log2(double);
double sin(double);
double cos(double);
double tanh(double);
double sqrt(double);
}

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

// 2^x for |x| < 1100 in double: 2^round(x) times a polynomial on [-0.5, 0.5] (Taylor of 2^f to
// degree 11; the remainder is below 2^-46, far under half an ulp of float).
OPTIML_INLINE double Exp2Double(double x) {
  x = x < -1000.0 ? -1000.0 : x > 1000.0 ? 1000.0 : x;
  const double shifted = x + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double f = (x - n) * 0.69314718055994530942;
  double p = 1.0 / 39916800;
  p = p * f + 1.0 / 3628800;
  p = p * f + 1.0 / 362880;
  p = p * f + 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  return Bits<double>(Bits<u64>(p) + (Bits<u64>(shifted) << 52));
}

OPTIML_INLINE float Exp2Float(float x) {
  const float r = static_cast<float>(Exp2Double(static_cast<double>(x)));
  return x != x ? x : r;
}

struct Ex2 {
  static constexpr bool kSlow = false;
  OPTIML_INLINE float Of(float x) { return Exp2Float(x); }
};
struct Lg2 {
  static constexpr bool kSlow = true;
  OPTIML_INLINE float Of(float x) { return static_cast<float>(log2(static_cast<double>(x))); }
};
// sin.approx and cos.approx multiply by 1 / (2 pi) in f32, rounding toward zero, and look at the
// fraction of the result (FMUL.RZ and MUFU in the machine code): large arguments lose what the GPU
// loses.
OPTIML_INLINE double Turns(float x) {
  const double exact = static_cast<double>(x) * static_cast<double>(Bits<float>(u32{0x3e22f983}));
  const double turns = Bits<double>(Bits<u64>(exact) & ~u64{0x1fffffff});
  const double part = turns - __builtin_rint(turns);
  return part == 0 ? __builtin_copysign(0.0, turns) : part * 6.283185307179586477;
}
struct Sin {
  static constexpr bool kSlow = true;
  OPTIML_INLINE float Of(float x) { return static_cast<float>(sin(Turns(x))); }
};
struct Cos {
  static constexpr bool kSlow = true;
  OPTIML_INLINE float Of(float x) { return static_cast<float>(cos(Turns(x))); }
};
struct Tanh {
  static constexpr bool kSlow = true;
  OPTIML_INLINE float Of(float x) { return static_cast<float>(tanh(static_cast<double>(x))); }
};
struct Rcp {
  static constexpr bool kSlow = false;
  OPTIML_INLINE float Of(float x) { return 1.0f / x; }
};
struct Sqrt {
  static constexpr bool kSlow = false;
  OPTIML_INLINE float Of(float x) { return __builtin_sqrtf(x); }
};
struct Rsqrt {
  static constexpr bool kSlow = false;
  OPTIML_INLINE float Of(float x) {
    const double d = static_cast<double>(x);
    const float r = static_cast<float>(1.0 / __builtin_sqrt(d));
    return r;
  }
};

template <class F, class O>
const Op* RunUnary(Warp& w, const Op* op) {
  using R = typename F::Reg;
  const R* a = Reg<R>(w, op->a);
  const auto f = [=](u32 l) { return F::Store(O::Of(F::Load(a[l]))); };
  if constexpr (O::kSlow) {
    return EachSlow<R>(w, op, f);
  } else {
    return Each<R>(w, op, f);
  }
}

template <class F, class O>
const Op* RunUnaryRounded(Warp& w, const Op* op) {
  const RoundingScope scope(static_cast<Rounding>(op->aux2));
  return RunUnary<F, O>(w, op);
}

template <class F, class O>
const Op* RunUnary16x2(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u32 low = F::Store(O::Of(F::Load(static_cast<u16>(a[l]))));
    const u32 high = F::Store(O::Of(F::Load(static_cast<u16>(a[l] >> 16))));
    return low | (high << 16);
  });
}

struct Rcp64 {
  OPTIML_INLINE double Of(double x) { return 1.0 / x; }
};
struct Sqrt64 {
  OPTIML_INLINE double Of(double x) { return __builtin_sqrt(x); }
};
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at and give only the upper word (PTX ISA): the
// lower one is zero. Their NaN is that of f32 in the upper word (measured).
OPTIML_INLINE double UpperWord(double x) {
  return x != x ? Bits<double>(u64{0x7fffffff00000000})
                : Bits<double>(Bits<u64>(x) & 0xffffffff00000000ULL);
}
struct RcpApprox64 {
  OPTIML_INLINE double Of(double x) {
    const double in = Bits<double>(Bits<u64>(x) & 0xffffffff00000000ULL);
    const double flushed = __builtin_fabs(in) < 0x1p-1022 ? __builtin_copysign(0.0, in) : in;
    const double r = 1.0 / flushed;
    const double out = UpperWord(r);
    return __builtin_fabs(out) < 0x1p-1022 ? __builtin_copysign(0.0, out) : out;
  }
};
struct Rsqrt64 {
  OPTIML_INLINE double Of(double x) { return 1.0 / __builtin_sqrt(x); }
};
struct RsqrtApprox64 {
  OPTIML_INLINE double Of(double x) {
    const double in = Bits<double>(Bits<u64>(x) & 0xffffffff00000000ULL);
    const double flushed = __builtin_fabs(in) < 0x1p-1022 ? __builtin_copysign(0.0, in) : in;
    return UpperWord(1.0 / __builtin_sqrt(flushed));
  }
};

template <class O>
const Op* RunUnary64(Warp& w, const Op* op) {
  const double* a = Reg<double>(w, op->a);
  const RoundingScope scope(static_cast<Rounding>(op->aux2));
  return Each<double>(w, op, [=](u32 l) { return O::Of(a[l]); });
}

template <class O>
Handler SelectUnary(const AluRequest& r) {
  switch (r.type) {
    case Type::kF32:
      if (Directed(r.rounding)) {
        return r.ftz ? &RunUnaryRounded<F32Ftz, O> : &RunUnaryRounded<F32, O>;
      }
      return r.ftz ? &RunUnary<F32Ftz, O> : &RunUnary<F32, O>;
    case Type::kF16:
      return r.ftz ? &RunUnary<F16Ftz, O> : &RunUnary<F16, O>;
    case Type::kBf16:
      return r.ftz ? &RunUnary<Bf16Ftz, O> : &RunUnary<Bf16, O>;
    case Type::kF16x2:
      return r.ftz ? &RunUnary16x2<F16Ftz, O> : &RunUnary16x2<F16, O>;
    case Type::kBf16x2:
      return r.ftz ? &RunUnary16x2<Bf16Ftz, O> : &RunUnary16x2<Bf16, O>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler SelectFunction(const AluRequest& r) {
  switch (r.op) {
    case AluOp::kEx2:
      return SelectUnary<Ex2>(r);
    case AluOp::kLg2:
      return r.type == Type::kF32 ? SelectUnary<Lg2>(r) : nullptr;
    case AluOp::kSin:
      return r.type == Type::kF32 ? SelectUnary<Sin>(r) : nullptr;
    case AluOp::kCos:
      return r.type == Type::kF32 ? SelectUnary<Cos>(r) : nullptr;
    case AluOp::kTanh:
      return SelectUnary<Tanh>(r);
    case AluOp::kRcp:
      if (r.type == Type::kF64) {
        return r.approximate ? &RunUnary64<RcpApprox64> : &RunUnary64<Rcp64>;
      }
      return r.type == Type::kF32 ? SelectUnary<Rcp>(r) : nullptr;
    case AluOp::kSqrt:
      return r.type == Type::kF64   ? &RunUnary64<Sqrt64>
             : r.type == Type::kF32 ? SelectUnary<Sqrt>(r)
                                    : nullptr;
    case AluOp::kRsqrt:
      if (r.type == Type::kF64) {
        return r.ftz ? &RunUnary64<RsqrtApprox64> : &RunUnary64<Rsqrt64>;
      }
      return r.type == Type::kF32 ? SelectUnary<Rsqrt>(r) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
