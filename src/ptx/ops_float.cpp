// Floating-point handlers and their choice: f32, f64, f16, bf16 and the packed pairs. Compiled once
// for every instruction set of the host.
//
// f32 arithmetic is the host's with NVIDIA's canonical NaN. f16 and bf16 are computed in float or
// double and rounded once. Approximate functions are computed in double and rounded, so they are at
// least as accurate as the GPU's.

#include "ptx/lanes.h"

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

// How elements of a type are held in registers and computed.
struct F32 {
  using Reg = float;
  using Num = float;
  OPTIML_INLINE float Load(float x) { return x; }
  OPTIML_INLINE float Store(float x) { return Canonical(x); }
};
struct F32Ftz {
  using Reg = float;
  using Num = float;
  OPTIML_INLINE float Load(float x) { return Flush(x); }
  OPTIML_INLINE float Store(float x) { return Flush(Canonical(x)); }
};
struct F64 {
  using Reg = double;
  using Num = double;
  OPTIML_INLINE double Load(double x) { return x; }
  OPTIML_INLINE double Store(double x) { return x; }
};
struct F16 {
  using Reg = u16;
  using Num = float;
  OPTIML_INLINE float Load(u16 x) { return HalfToFloat(x); }
  OPTIML_INLINE u16 Store(float x) { return FloatToHalf(x); }
  OPTIML_INLINE u16 StoreExact(double x) { return RoundTo16<5, 10>(x, Rounding::kNearest); }
};
struct Bf16 {
  using Reg = u16;
  using Num = float;
  OPTIML_INLINE float Load(u16 x) { return Bf16ToFloat(x); }
  OPTIML_INLINE u16 Store(float x) { return FloatToBf16(x); }
  OPTIML_INLINE u16 StoreExact(double x) { return RoundTo16<8, 7>(x, Rounding::kNearest); }
};

template <class Num>
OPTIML_INLINE Num Clamp01(Num x) {
  return x > Num(0) ? (x < Num(1) ? x : Num(1)) : Num(0);  // NaN becomes +0
}

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
#ifdef __AVX512F__
  if constexpr (sizeof(typename F::Reg) == 4 && !kSat) {
    const float* a = Reg<float>(w, op->a);
    const float* b = Reg<float>(w, op->b);
    const float* c = Reg<float>(w, op->c);
    float* d = Reg<float>(w, op->d);
    const auto mode = static_cast<Rounding>(op->aux2);
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff));
    for (u32 h = 0; h < 32; h += 16) {
      __m512 x;
      if (mode == Rounding::kDown) {
        x = _mm512_fmadd_round_ps(_mm512_load_ps(a + h), _mm512_load_ps(b + h),
                                  _mm512_load_ps(c + h), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
      } else if (mode == Rounding::kUp) {
        x = _mm512_fmadd_round_ps(_mm512_load_ps(a + h), _mm512_load_ps(b + h),
                                  _mm512_load_ps(c + h), _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
      } else {
        x = _mm512_fmadd_round_ps(_mm512_load_ps(a + h), _mm512_load_ps(b + h),
                                  _mm512_load_ps(c + h), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
      }
      if constexpr (__is_same(F, F32)) {
        const __mmask16 invalid = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        x = _mm512_mask_mov_ps(x, invalid, nan);
        _mm512_mask_store_ps(d + h, static_cast<__mmask16>(w.active >> h), x);
      }
    }
    if constexpr (__is_same(F, F32)) {
      return op + 1;
    }
  }
#endif
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
struct Sin {
  static constexpr bool kSlow = true;
  OPTIML_INLINE float Of(float x) { return static_cast<float>(sin(static_cast<double>(x))); }
};
struct Cos {
  static constexpr bool kSlow = true;
  OPTIML_INLINE float Of(float x) { return static_cast<float>(cos(static_cast<double>(x))); }
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
// lower one is zero.
struct RcpApprox64 {
  OPTIML_INLINE double Of(double x) {
    const double in = Bits<double>(Bits<u64>(x) & 0xffffffff00000000ULL);
    const double flushed = __builtin_fabs(in) < 0x1p-1022 ? __builtin_copysign(0.0, in) : in;
    const double r = 1.0 / flushed;
    const double out = Bits<double>(Bits<u64>(r) & 0xffffffff00000000ULL);
    return __builtin_fabs(out) < 0x1p-1022 ? __builtin_copysign(0.0, out) : out;
  }
};
struct Rsqrt64 {
  OPTIML_INLINE double Of(double x) { return 1.0 / __builtin_sqrt(x); }
};
struct RsqrtApprox64 {
  OPTIML_INLINE double Of(double x) {
    const double in = Bits<double>(Bits<u64>(x) & 0xffffffff00000000ULL);
    return Bits<double>(Bits<u64>(1.0 / __builtin_sqrt(in)) & 0xffffffff00000000ULL);
  }
};

template <class O>
const Op* RunUnary64(Warp& w, const Op* op) {
  const double* a = Reg<double>(w, op->a);
  const RoundingScope scope(static_cast<Rounding>(op->aux2));
  return Each<double>(w, op, [=](u32 l) { return O::Of(a[l]); });
}

template <class F>
const Op* RunTestp(Warp& w, const Op* op) {
  using R = typename F::Reg;
  const R* a = Reg<R>(w, op->a);
  constexpr bool kDouble = sizeof(R) == 8;
  u32 mask = 0;
  for (u32 l = 0; l < kLanes; ++l) {
    const double x = static_cast<double>(a[l]);
    const double magnitude = __builtin_fabs(x);
    const bool nan = x != x;
    const bool infinite = magnitude == __builtin_inf();
    const bool subnormal = magnitude > 0 && magnitude < (kDouble ? 0x1p-1022 : 0x1p-126);
    bool holds = false;
    switch (static_cast<TestKind>(op->aux2)) {
      case TestKind::kFinite:
        holds = !nan && !infinite;
        break;
      case TestKind::kInfinite:
        holds = infinite;
        break;
      case TestKind::kNumber:
        holds = !nan;
        break;
      case TestKind::kNotANumber:
        holds = nan;
        break;
      case TestKind::kNormal:
        holds = !nan && !infinite && !subnormal && magnitude > 0;
        break;
      case TestKind::kSubnormal:
        holds = subnormal;
        break;
    }
    mask |= holds ? 1u << l : 0u;
  }
  WritePred(w, op->d, mask);
  return op + 1;
}

template <Compare kCompare, class N>
OPTIML_INLINE bool Holds(N a, N b) {
  switch (kCompare) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a < b || a > b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kGe:
      return a >= b;
    case Compare::kEqu:
      return !(a < b || a > b);
    case Compare::kNeu:
      return a != b;
    case Compare::kLtu:
      return !(a >= b);
    case Compare::kLeu:
      return !(a > b);
    case Compare::kGtu:
      return !(a <= b);
    case Compare::kGeu:
      return !(a < b);
    case Compare::kNum:
      return a == a && b == b;
    default:
      return a != a || b != b;
  }
}

OPTIML_INLINE u32 Combine(Warp& w, const Op* op, u32 mask) {
  const auto bool_op = static_cast<BoolOp>(op->aux & 7);
  if (bool_op == BoolOp::kNone) {
    return mask;
  }
  const u32 c = (op->aux & 8) != 0 ? ~Pred(w, op->c) : Pred(w, op->c);
  return bool_op == BoolOp::kAnd ? mask & c : bool_op == BoolOp::kOr ? mask | c : mask ^ c;
}

template <class F, Compare kCompare>
OPTIML_INLINE u32 CompareMask(Warp& w, const Op* op) {
  using R = typename F::Reg;
  const R* a = Reg<R>(w, op->a);
  const R* b = Reg<R>(w, op->b);
  u32 mask = 0;
  OPTIML_LANES {
    mask |= Holds<kCompare>(F::Load(a[l]), F::Load(b[l])) ? 1u << l : 0u;
  }
  return mask;
}

template <class F, Compare kCompare>
struct SetpFloat {
  static const Op* Run(Warp& w, const Op* op) {
    const u32 mask = CompareMask<F, kCompare>(w, op);
    if ((op->aux & 16) != 0) {
      WritePred(w, op->d2, Combine(w, op, ~mask));
    }
    WritePred(w, op->d, Combine(w, op, mask));
    return op + 1;
  }
};

// aux2: the bits of "true"; aux & 32: the result has 16 bits.
template <class F, Compare kCompare>
struct SetFloat {
  static const Op* Run(Warp& w, const Op* op) {
    const u32 mask = Combine(w, op, CompareMask<F, kCompare>(w, op));
    const u32 yes = op->aux2;
    if ((op->aux & 32) != 0) {
      return Each<u16>(w, op, [=](u32 l) { return static_cast<u16>((mask >> l) & 1 ? yes : 0); });
    }
    return Each<u32>(w, op, [=](u32 l) { return (mask >> l) & 1 ? yes : 0; });
  }
};

// Packed comparisons: setp writes two predicates (aux2 0), set a pair of 16-bit values (aux2: the
// bits of "true").
template <class F, Compare kCompare>
struct ComparePair {
  static const Op* Run(Warp& w, const Op* op) {
    const u32* a = Reg<u32>(w, op->a);
    const u32* b = Reg<u32>(w, op->b);
    u32 low = 0;
    u32 high = 0;
    OPTIML_LANES {
      low |= Holds<kCompare>(F::Load(static_cast<u16>(a[l])), F::Load(static_cast<u16>(b[l])))
                 ? 1u << l
                 : 0u;
      high |= Holds<kCompare>(F::Load(static_cast<u16>(a[l] >> 16)),
                              F::Load(static_cast<u16>(b[l] >> 16)))
                  ? 1u << l
                  : 0u;
    }
    if (op->aux2 == 0) {
      low = Combine(w, op, low);
      high = Combine(w, op, high);
      WritePred(w, op->d, low);
      if ((op->aux & 16) != 0) {
        WritePred(w, op->d2, high);
      }
      return op + 1;
    }
    const u32 yes = op->aux2;
    return Each<u32>(w, op, [=](u32 l) {
      return ((low >> l) & 1 ? yes : 0) | (((high >> l) & 1 ? yes : 0) << 16);
    });
  }
};

template <class F, template <class, Compare> class H>
Handler ByCompare(Compare compare) {
  switch (compare) {
    case Compare::kEq:
      return &H<F, Compare::kEq>::Run;
    case Compare::kNe:
      return &H<F, Compare::kNe>::Run;
    case Compare::kLt:
      return &H<F, Compare::kLt>::Run;
    case Compare::kLe:
      return &H<F, Compare::kLe>::Run;
    case Compare::kGt:
      return &H<F, Compare::kGt>::Run;
    case Compare::kGe:
      return &H<F, Compare::kGe>::Run;
    case Compare::kEqu:
      return &H<F, Compare::kEqu>::Run;
    case Compare::kNeu:
      return &H<F, Compare::kNeu>::Run;
    case Compare::kLtu:
      return &H<F, Compare::kLtu>::Run;
    case Compare::kLeu:
      return &H<F, Compare::kLeu>::Run;
    case Compare::kGtu:
      return &H<F, Compare::kGtu>::Run;
    case Compare::kGeu:
      return &H<F, Compare::kGeu>::Run;
    case Compare::kNum:
      return &H<F, Compare::kNum>::Run;
    case Compare::kNan:
      return &H<F, Compare::kNan>::Run;
    default:
      return nullptr;
  }
}

bool Directed(Rounding r) {
  return r == Rounding::kZero || r == Rounding::kDown || r == Rounding::kUp;
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

template <class O>
Handler SelectUnary(const AluRequest& r) {
  switch (r.type) {
    case Type::kF32:
      if (Directed(r.rounding)) {
        return r.ftz ? &RunUnaryRounded<F32Ftz, O> : &RunUnaryRounded<F32, O>;
      }
      return r.ftz ? &RunUnary<F32Ftz, O> : &RunUnary<F32, O>;
    case Type::kF16:
      return &RunUnary<F16, O>;
    case Type::kBf16:
      return &RunUnary<Bf16, O>;
    case Type::kF16x2:
      return &RunUnary16x2<F16, O>;
    case Type::kBf16x2:
      return &RunUnary16x2<Bf16, O>;
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

template <template <class, Compare> class H>
Handler SelectCompare(const AluRequest& r, Type type) {
  switch (type) {
    case Type::kF32:
      return r.ftz ? ByCompare<F32Ftz, H>(r.compare) : ByCompare<F32, H>(r.compare);
    case Type::kF64:
      return ByCompare<F64, H>(r.compare);
    case Type::kF16:
      return ByCompare<F16, H>(r.compare);
    case Type::kBf16:
      return ByCompare<Bf16, H>(r.compare);
    case Type::kF16x2:
      return ByCompare<F16, ComparePair>(r.compare);
    case Type::kBf16x2:
      return ByCompare<Bf16, ComparePair>(r.compare);
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
    case AluOp::kTestp:
      return r.type == Type::kF32 ? &RunTestp<F32> : &RunTestp<F64>;
    case AluOp::kSetp:
      return SelectCompare<SetpFloat>(r, r.type);
    case AluOp::kSet:
      return SelectCompare<SetFloat>(r, r.source_type);
    default:
      return nullptr;
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
