// Integer arithmetic and its choice. Compiled once for every instruction set of the host.

#include "ptx/integer_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

Handler SelectLogic(const AluRequest& r);

namespace {

// Division by zero gives all ones, and so does its remainder, on the GPU (measured); PTX leaves it
// open.
template <class T>
OPTIML_INLINE T Divide(T a, T b) {
  if (b == 0) {
    return static_cast<T>(-1);
  }
  if constexpr (kSigned<T>) {
    if (b == -1) {
      return static_cast<T>(U<T>{0} - static_cast<U<T>>(a));
    }
  }
  return static_cast<T>(a / b);
}

template <class T>
OPTIML_INLINE T Remainder(T a, T b) {
  if (b == 0) {
    return static_cast<T>(-1);
  }
  if constexpr (kSigned<T>) {
    if (b == -1) {
      return 0;
    }
  }
  return static_cast<T>(a % b);
}

struct OpAdd {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<U<T>>(w, op, [](U<T> a, U<T> b) { return a + b; });
  }
};
struct OpSub {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<U<T>>(w, op, [](U<T> a, U<T> b) { return a - b; });
  }
};
struct OpMulLo {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<U<T>>(w, op, [](U<T> a, U<T> b) { return MulLow(a, b); });
  }
};
struct OpMulHi {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<T>(w, op, [](T a, T b) { return MulHigh(a, b); });
  }
};
struct OpMadLo {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Ternary<U<T>>(w, op, [](U<T> a, U<T> b, U<T> c) { return MulLow(a, b) + c; });
  }
};
struct OpMadHi {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Ternary<T>(w, op, [](T a, T b, T c) {
      return static_cast<U<T>>(MulHigh(a, b)) + static_cast<U<T>>(c);
    });
  }
};
template <class T>
struct WiderOf;
template <>
struct WiderOf<u16> {
  using type = u32;
};
template <>
struct WiderOf<s16> {
  using type = s32;
};
template <>
struct WiderOf<u32> {
  using type = u64;
};
template <>
struct WiderOf<s32> {
  using type = s64;
};
struct OpMulWide {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    using D = typename WiderOf<T>::type;
    const T* a = Reg<T>(w, op->a);
    const T* b = Reg<T>(w, op->b);
    return Each<D>(
        w, op, [=](u32 l) { return static_cast<D>(static_cast<D>(a[l]) * static_cast<D>(b[l])); });
  }
};
struct OpMadWide {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    using D = typename WiderOf<T>::type;
    const T* a = Reg<T>(w, op->a);
    const T* b = Reg<T>(w, op->b);
    const U<D>* c = Reg<U<D>>(w, op->c);
    return Each<U<D>>(w, op, [=](u32 l) {
      return static_cast<U<D>>(static_cast<U<D>>(static_cast<D>(a[l]) * static_cast<D>(b[l])) +
                               c[l]);
    });
  }
};
struct OpMul24 {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    const bool high = op->aux != 0;
    return Binary<T>(w, op, [=](T a, T b) {
      const s64 x = kSigned<T> ? static_cast<s64>(static_cast<s32>(static_cast<u32>(a) << 8) >> 8)
                               : static_cast<s64>(static_cast<u32>(a) & 0xffffffu);
      const s64 y = kSigned<T> ? static_cast<s64>(static_cast<s32>(static_cast<u32>(b) << 8) >> 8)
                               : static_cast<s64>(static_cast<u32>(b) & 0xffffffu);
      return static_cast<T>(high ? (x * y) >> 16 : x * y);
    });
  }
};
// mad.hi.sat.s32 and mad24.hi.sat.s32: the sum clamps.
template <bool k24>
const Op* RunMadHighSat(Warp& w, const Op* op) {
  return Ternary<s32>(w, op, [](s32 a, s32 b, s32 c) {
    const auto narrow = [](s32 x) {
      return static_cast<s64>(static_cast<s32>(static_cast<u32>(x) << 8) >> 8);
    };
    const s64 product = k24 ? narrow(a) * narrow(b) >> 16 : static_cast<s64>(a) * b >> 32;
    const s64 sum = static_cast<s64>(static_cast<s32>(product)) + c;
    return static_cast<s32>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
}
struct OpMad24 {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    const bool high = op->aux != 0;
    return Ternary<T>(w, op, [=](T a, T b, T c) {
      const s64 x = kSigned<T> ? static_cast<s64>(static_cast<s32>(static_cast<u32>(a) << 8) >> 8)
                               : static_cast<s64>(static_cast<u32>(a) & 0xffffffu);
      const s64 y = kSigned<T> ? static_cast<s64>(static_cast<s32>(static_cast<u32>(b) << 8) >> 8)
                               : static_cast<s64>(static_cast<u32>(b) & 0xffffffu);
      return static_cast<T>(static_cast<u32>(high ? (x * y) >> 16 : x * y) + static_cast<u32>(c));
    });
  }
};
struct OpDiv {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    const T* a = Reg<T>(w, op->a);
    const T* b = Reg<T>(w, op->b);
    if constexpr (sizeof(T) <= 4) {
      // Exact through double: quotients of 32-bit integers are at least 2^-32 away from the next
      // integer, relatively.
      return Each<T>(w, op, [=](u32 l) {
        const double q = static_cast<double>(a[l]) / static_cast<double>(b[l]);
        const s64 t = static_cast<s64>(b[l] == 0 ? 0.0 : q);
        return static_cast<T>(b[l] == 0 ? static_cast<T>(-1) : static_cast<T>(t));
      });
    } else {
      return EachSlow<T>(w, op, [=](u32 l) { return Divide(a[l], b[l]); });
    }
  }
};
struct OpRem {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    const T* a = Reg<T>(w, op->a);
    const T* b = Reg<T>(w, op->b);
    if constexpr (sizeof(T) <= 4) {
      return Each<T>(w, op, [=](u32 l) {
        const double q = static_cast<double>(a[l]) / static_cast<double>(b[l]);
        const s64 t = static_cast<s64>(b[l] == 0 ? 0.0 : q);
        const T rest =
            static_cast<T>(static_cast<u32>(a[l]) - static_cast<u32>(t) * static_cast<u32>(b[l]));
        return b[l] == 0 ? static_cast<T>(-1) : rest;
      });
    } else {
      return EachSlow<T>(w, op, [=](u32 l) { return Remainder(a[l], b[l]); });
    }
  }
};
struct OpMin {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<T>(w, op, [](T a, T b) { return a < b ? a : b; });
  }
};
struct OpMax {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<T>(w, op, [](T a, T b) { return a > b ? a : b; });
  }
};
struct OpMinRelu {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<T>(w, op, [](T a, T b) {
      const T m = a < b ? a : b;
      return m > 0 ? m : T{0};
    });
  }
};
struct OpMaxRelu {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<T>(w, op, [](T a, T b) {
      const T m = a > b ? a : b;
      return m > 0 ? m : T{0};
    });
  }
};
struct OpNeg {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Unary<U<T>>(w, op, [](U<T> a) { return U<T>{0} - a; });
  }
};
struct OpAbs {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Unary<T>(w, op,
                    [](T a) { return a < 0 ? static_cast<T>(U<T>{0} - static_cast<U<T>>(a)) : a; });
  }
};
struct OpSad {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Ternary<T>(w, op, [](T a, T b, T c) {
      const U<T> difference = a < b
                                  ? static_cast<U<T>>(static_cast<U<T>>(b) - static_cast<U<T>>(a))
                                  : static_cast<U<T>>(static_cast<U<T>>(a) - static_cast<U<T>>(b));
      return static_cast<U<T>>(c) + difference;
    });
  }
};
struct OpSatAdd {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<s32>(w, op, [](s32 a, s32 b) {
      const s64 sum = static_cast<s64>(a) + b;
      return static_cast<s32>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    });
  }
};
struct OpSatSub {
  template <class T>
  static const Op* Run(Warp& w, const Op* op) {
    return Binary<s32>(w, op, [](s32 a, s32 b) {
      const s64 sum = static_cast<s64>(a) - b;
      return static_cast<s32>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    });
  }
};

// aux bit 0: a signed, bit 1: b signed.
const Op* RunDp4a(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  const u32 aux = op->aux;
  return Each<u32>(w, op, [=](u32 l) {
    u32 sum = c[l];
    for (u32 i = 0; i < 4; ++i) {
      const s32 x =
          (aux & 1) ? static_cast<s8>(a[l] >> (8 * i)) : static_cast<s32>((a[l] >> (8 * i)) & 0xff);
      const s32 y =
          (aux & 2) ? static_cast<s8>(b[l] >> (8 * i)) : static_cast<s32>((b[l] >> (8 * i)) & 0xff);
      sum += static_cast<u32>(x * y);
    }
    return sum;
  });
}

template <u32 kHigh>
const Op* RunDp2a(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  const u32 aux = op->aux;
  return Each<u32>(w, op, [=](u32 l) {
    u32 sum = c[l];
    for (u32 i = 0; i < 2; ++i) {
      const u32 half = a[l] >> (16 * i);
      const u32 byte = b[l] >> (8 * (i + 2 * kHigh));
      const s32 x = (aux & 1) ? static_cast<s16>(half) : static_cast<s32>(half & 0xffff);
      const s32 y = (aux & 2) ? static_cast<s8>(byte) : static_cast<s32>(byte & 0xff);
      sum += static_cast<u32>(x) * static_cast<u32>(y);
    }
    return sum;
  });
}

// Pairs of 16-bit integers.
template <class T, class F>
OPTIML_INLINE const Op* Pairs(Warp& w, const Op* op, F f) {
  return Binary<u32>(w, op, [=](u32 a, u32 b) {
    const u32 low = static_cast<u16>(f(static_cast<T>(a), static_cast<T>(b)));
    const u32 high = static_cast<u16>(f(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | high << 16;
  });
}
const Op* RunAddPair(Warp& w, const Op* op) {
  return Pairs<u16>(w, op, [](u16 a, u16 b) { return a + b; });
}
template <class T, bool kMax, bool kRelu>
const Op* RunExtremePair(Warp& w, const Op* op) {
  return Pairs<T>(w, op, [](T a, T b) {
    const T r = (a < b) != kMax ? a : b;
    return kRelu && r < T{0} ? T{0} : r;
  });
}
template <bool kMax>
Handler SelectExtremePair(const AluRequest& r) {
  if (r.type == Type::kU16x2) {
    return r.relu ? nullptr : &RunExtremePair<u16, kMax, false>;
  }
  return r.relu ? &RunExtremePair<s16, kMax, true> : &RunExtremePair<s16, kMax, false>;
}
Handler SelectPair(const AluRequest& r) {
  switch (r.op) {
    case AluOp::kAdd:
      return r.sat ? nullptr : &RunAddPair;
    case AluOp::kMin:
      return SelectExtremePair<false>(r);
    case AluOp::kMax:
      return SelectExtremePair<true>(r);
    default:
      return nullptr;
  }
}

// The carry flag is the hardware's: a subtraction adds the complement, so that its flag is set when
// there was no borrow. PTX's words ("borrow") mean the same wherever subc follows sub; after add or
// mad they do not, and the GPU does this (measured).
template <class T>
const Op* RunCarry(Warp& w, const Op* op) {
  // aux: 0 add, 1 sub, 2 mad.lo, 3 mad.hi (of a signed type: aux2 bit 2); aux2 bit 0: carry in, bit
  // 1: carry out.
  using W = unsigned __int128;
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  const T* c = Reg<T>(w, op->c);
  T* d = Reg<T>(w, op->d);
  u32 carry = 0;
  for (u32 m = w.active; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    const u64 in = (op->aux2 & 1) != 0 ? (w.carry >> l) & 1 : 0;
    bool out = false;
    if (op->aux == 1) {
      const u64 one = (op->aux2 & 1) != 0 ? in : 1;
      const W sum = static_cast<W>(a[l]) + static_cast<T>(~b[l]) + one;
      out = (sum >> (8 * sizeof(T))) != 0;
      d[l] = static_cast<T>(sum);
    } else {
      W x = a[l];
      W y = b[l];
      if (op->aux >= 2) {
        T product = 0;
        if (op->aux == 2) {
          product = static_cast<T>(static_cast<W>(a[l]) * b[l]);
        } else if ((op->aux2 & 4) != 0) {
          using S = typename Choose<sizeof(T) == 4, s32, s64>::type;
          product = static_cast<T>(MulHigh(static_cast<S>(a[l]), static_cast<S>(b[l])));
        } else {
          product = MulHigh(a[l], b[l]);
        }
        x = product;
        y = c[l];
      }
      const W sum = x + y + in;
      out = (sum >> (8 * sizeof(T))) != 0;
      d[l] = static_cast<T>(sum);
    }
    carry |= out ? 1u << l : 0u;
  }
  if ((op->aux2 & 2) != 0) {
    w.carry = (w.carry & ~w.active) | carry;
  }
  return op + 1;
}

template <class F>
Handler Integers(Type type) {
  switch (type) {
    case Type::kU16:
      return &F::template Run<u16>;
    case Type::kS16:
    case Type::kB16:
      return &F::template Run<s16>;
    case Type::kU32:
      return &F::template Run<u32>;
    case Type::kS32:
    case Type::kB32:
      return &F::template Run<s32>;
    case Type::kU64:
      return &F::template Run<u64>;
    case Type::kS64:
    case Type::kB64:
      return &F::template Run<s64>;
    default:
      return nullptr;
  }
}

template <class F>
Handler NarrowIntegers(Type type) {
  switch (type) {
    case Type::kU16:
      return &F::template Run<u16>;
    case Type::kS16:
      return &F::template Run<s16>;
    case Type::kU32:
      return &F::template Run<u32>;
    case Type::kS32:
      return &F::template Run<s32>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler SelectInteger(const AluRequest& r) {
  const uint32_t bytes = TypeBytes(r.type);
  if (r.type == Type::kU16x2 || r.type == Type::kS16x2) {
    return SelectPair(r);
  }
  switch (r.op) {
    case AluOp::kAdd:
      return r.sat ? &OpSatAdd::Run<s32> : Integers<OpAdd>(r.type);
    case AluOp::kSub:
      return r.sat ? &OpSatSub::Run<s32> : Integers<OpSub>(r.type);
    case AluOp::kMulLo:
      return Integers<OpMulLo>(r.type);
    case AluOp::kMulHi:
      return Integers<OpMulHi>(r.type);
    case AluOp::kMulWide:
      return NarrowIntegers<OpMulWide>(r.type);
    case AluOp::kMadLo:
      return Integers<OpMadLo>(r.type);
    case AluOp::kMadHi:
      return r.sat ? (r.type == Type::kS32 ? &RunMadHighSat<false> : nullptr)
                   : Integers<OpMadHi>(r.type);
    case AluOp::kMadWide:
      return NarrowIntegers<OpMadWide>(r.type);
    case AluOp::kMul24:
      return bytes == 4 ? NarrowIntegers<OpMul24>(r.type) : nullptr;
    case AluOp::kMad24:
      return r.sat        ? (r.type == Type::kS32 ? &RunMadHighSat<true> : nullptr)
             : bytes == 4 ? NarrowIntegers<OpMad24>(r.type)
                          : nullptr;
    case AluOp::kDiv:
      return Integers<OpDiv>(r.type);
    case AluOp::kRem:
      return Integers<OpRem>(r.type);
    case AluOp::kMin:
      return r.relu ? Integers<OpMinRelu>(r.type) : Integers<OpMin>(r.type);
    case AluOp::kMax:
      return r.relu ? Integers<OpMaxRelu>(r.type) : Integers<OpMax>(r.type);
    case AluOp::kNeg:
      return Integers<OpNeg>(r.type);
    case AluOp::kAbs:
      return Integers<OpAbs>(r.type);
    case AluOp::kSad:
      return Integers<OpSad>(r.type);
    case AluOp::kDp4a:
      return &RunDp4a;
    case AluOp::kDp2aLo:
      return &RunDp2a<0>;
    case AluOp::kDp2aHi:
      return &RunDp2a<1>;
    case AluOp::kAddc:
      return bytes == 4 ? &RunCarry<u32> : &RunCarry<u64>;
    default:
      return SelectLogic(r);
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
