// Comparisons and tests of floating-point numbers. Compiled once for every instruction set of the
// host.

#include "ptx/float_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

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
        holds = !nan && !infinite && !subnormal;  // zero as well (measured)
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

Handler SelectFloatCompare(const AluRequest& r) {
  switch (r.op) {
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
