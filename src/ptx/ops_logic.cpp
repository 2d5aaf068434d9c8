// Logic, bit fields, comparisons, selections, moves and width changes of integers. Compiled once
// for every instruction set of the host.

#include "ptx/integer_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

template <class T>
const Op* RunAnd(Warp& w, const Op* op) {
  return Binary<T>(w, op, [](T a, T b) { return a & b; });
}
template <class T>
const Op* RunOr(Warp& w, const Op* op) {
  return Binary<T>(w, op, [](T a, T b) { return a | b; });
}
template <class T>
const Op* RunXor(Warp& w, const Op* op) {
  return Binary<T>(w, op, [](T a, T b) { return a ^ b; });
}
template <class T>
const Op* RunNot(Warp& w, const Op* op) {
  return Unary<T>(w, op, [](T a) { return ~a; });
}
template <class T>
const Op* RunCnot(Warp& w, const Op* op) {
  return Unary<T>(w, op, [](T a) { return a == 0 ? 1 : 0; });
}
template <class T>
const Op* RunMov(Warp& w, const Op* op) {
  return Unary<T>(w, op, [](T a) { return a; });
}
template <class T>
const Op* RunShl(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  return Each<T>(w, op, [=](u32 l) {
    return b[l] >= 8 * sizeof(T) ? T{0} : static_cast<T>(a[l] << (b[l] & (8 * sizeof(T) - 1)));
  });
}
template <class T>
const Op* RunShr(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  return Each<T>(w, op, [=](u32 l) {
    const u32 s = b[l];
    const u32 limit = 8 * sizeof(T) - 1;
    if constexpr (kSigned<T>) {
      return static_cast<T>(a[l] >> (s > limit ? limit : s));
    } else {
      return s > limit ? T{0} : static_cast<T>(a[l] >> (s & limit));
    }
  });
}
// Position and length of bit fields: PTX takes the low 8 bits; for 64-bit fields the GPU's sequence
// takes all (measured).
template <class T>
OPTIML_INLINE u32 FieldNumber(u32 x) {
  return sizeof(T) == 4 ? x & 0xff : x < 255 ? x : 255;
}
template <class T>
const Op* RunBfe(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  return EachSlow<T>(w, op, [=](u32 l) {
    constexpr u32 kTop = 8 * sizeof(T) - 1;
    const u32 position = FieldNumber<T>(b[l]);
    const u32 length = FieldNumber<T>(c[l]);
    const U<T> value = static_cast<U<T>>(a[l]);
    if (length == 0) {
      return T{0};
    }
    const u32 sign_at = position + length - 1 < kTop ? position + length - 1 : kTop;
    const bool fill = kSigned<T> && ((value >> sign_at) & 1) != 0;
    U<T> result = position > kTop ? U<T>{0} : static_cast<U<T>>(value >> position);
    const u32 available = position > kTop ? 0 : kTop + 1 - position;
    const u32 kept = length < available ? length : available;
    const U<T> mask = kept > kTop ? ~U<T>{0} : static_cast<U<T>>((U<T>{1} << kept) - 1);
    result &= mask;
    if (fill) {
      result |= static_cast<U<T>>(~mask);
    }
    return static_cast<T>(result);
  });
}
template <class T>
const Op* RunBfi(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  const u32* e = Reg<u32>(w, op->e);
  return EachSlow<T>(w, op, [=](u32 l) {
    constexpr u32 kWidth = 8 * sizeof(T);
    const u32 position = FieldNumber<T>(c[l]);
    const u32 length = FieldNumber<T>(e[l]);
    if (length == 0 || position >= kWidth) {
      return b[l];
    }
    T mask = length >= kWidth ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
    mask = static_cast<T>(mask << position);
    return static_cast<T>((b[l] & ~mask) | ((a[l] << position) & mask));
  });
}
template <class T, bool kShift>
const Op* RunBfind(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  return EachSlow<u32>(w, op, [=](u32 l) {
    U<T> value = static_cast<U<T>>(a[l]);
    if (kSigned<T> && a[l] < 0) {
      value = static_cast<U<T>>(~value);
    }
    if (value == 0) {
      return 0xffffffffu;
    }
    const u32 position = 63u - static_cast<u32>(__builtin_clzll(value));
    return kShift ? 8 * static_cast<u32>(sizeof(T)) - 1 - position : position;
  });
}
template <class T>
const Op* RunBrev(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  return EachSlow<T>(w, op, [=](u32 l) {
    T value = a[l];
    T result = 0;
    for (u32 i = 0; i < 8 * sizeof(T); ++i) {
      result = static_cast<T>((result << 1) | (value & 1));
      value >>= 1;
    }
    return result;
  });
}
template <class T>
const Op* RunClz(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  return EachSlow<u32>(w, op, [=](u32 l) {
    return a[l] == 0
               ? 8 * static_cast<u32>(sizeof(T))
               : static_cast<u32>(__builtin_clzll(a[l])) - (64 - 8 * static_cast<u32>(sizeof(T)));
  });
}
template <class T>
const Op* RunPopc(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  return EachSlow<u32>(w, op, [=](u32 l) { return static_cast<u32>(__builtin_popcountll(a[l])); });
}

// aux: 0 generic, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16.
const Op* RunPrmt(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u64 bytes = (static_cast<u64>(b[l]) << 32) | a[l];
    const u32 s = c[l] & 3;
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
      u32 selector = 0;
      switch (op->aux) {
        case 0:
          selector = (c[l] >> (4 * i)) & 15;
          break;
        case 1:
          selector = (s + i) & 7;
          break;
        case 2:
          selector = (s - i) & 7;
          break;
        case 3:
          selector = s;
          break;
        case 4:
          selector = i < s ? s : i;
          break;
        case 5:
          selector = i > s ? s : i;
          break;
        default:
          selector = (s & 1) * 2 + (i & 1);
          break;
      }
      u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 0xff;
      if ((selector & 8) != 0) {
        byte = (byte & 0x80) != 0 ? 0xff : 0;
      }
      result |= byte << (8 * i);
    }
    return result;
  });
}

template <bool kLeft, bool kClamp>
const Op* RunShf(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  return Each<u32>(w, op, [=](u32 l) {
    const u32 n = kClamp ? (c[l] > 32 ? 32 : c[l]) : c[l] & 31;
    const u64 both = (static_cast<u64>(b[l]) << 32) | a[l];
    return kLeft ? static_cast<u32>((both << n) >> 32) : static_cast<u32>(both >> n);
  });
}

const Op* RunLop3(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32* c = Reg<u32>(w, op->c);
  const u32 table = op->aux;
  u32 select[8];
  for (u32 i = 0; i < 8; ++i) {
    select[i] = (table >> i) & 1 ? ~0u : 0u;
  }
  return Each<u32>(w, op, [=](u32 l) {
    const u32 x = a[l];
    const u32 y = b[l];
    const u32 z = c[l];
    return (select[0] & ~x & ~y & ~z) | (select[1] & ~x & ~y & z) | (select[2] & ~x & y & ~z) |
           (select[3] & ~x & y & z) | (select[4] & x & ~y & ~z) | (select[5] & x & ~y & z) |
           (select[6] & x & y & ~z) | (select[7] & x & y & z);
  });
}

template <bool kClamp>
const Op* RunBmsk(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  return Each<u32>(w, op, [=](u32 l) {
    const u32 position = kClamp ? (a[l] > 32 ? 32 : a[l]) : a[l] & 31;
    const u32 width = kClamp ? (b[l] > 32 ? 32 : b[l]) : b[l] & 31;
    return static_cast<u32>(((u64{1} << width) - 1) << position);
  });
}

const Op* RunFns(Warp& w, const Op* op) {
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const s32* c = Reg<s32>(w, op->c);
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u32 mask = a[l];
    const u32 base = b[l];
    const s32 offset = c[l];
    if (offset == 0) {
      return (mask >> (base & 31)) & 1 ? base : 0xffffffffu;
    }
    s32 position = static_cast<s32>(base);
    const s32 step = offset > 0 ? 1 : -1;
    s32 count = offset > 0 ? offset : -offset;
    while (position >= 0 && position < 32) {
      if ((mask >> position) & 1) {
        if (--count == 0) {
          return static_cast<u32>(position);
        }
      }
      position += step;
    }
    return 0xffffffffu;
  });
}

OPTIML_INLINE u32 Combine(Warp& w, const Op* op, u32 mask, u32 aux) {
  const auto bool_op = static_cast<BoolOp>(aux & 7);
  if (bool_op == BoolOp::kNone) {
    return mask;
  }
  u32 c = Pred(w, op->c);
  c = (aux & 8) != 0 ? ~c : c;
  return bool_op == BoolOp::kAnd ? mask & c : bool_op == BoolOp::kOr ? mask | c : mask ^ c;
}

template <class T, Compare kCompare>
OPTIML_INLINE bool Holds(T a, T b) {
  if constexpr (kCompare == Compare::kEq) {
    return a == b;
  } else if constexpr (kCompare == Compare::kNe) {
    return a != b;
  } else if constexpr (kCompare == Compare::kLt) {
    return a < b;
  } else if constexpr (kCompare == Compare::kLe) {
    return a <= b;
  } else if constexpr (kCompare == Compare::kGt) {
    return a > b;
  } else {
    return a >= b;
  }
}

template <class T>
OPTIML_INLINE u32 MaskOf(const T* flags) {
  u32 mask = 0;
  OPTIML_LANES {
    mask |= flags[l] != 0 ? 1u << l : 0u;
  }
  return mask;
}

template <class T, Compare kCompare>
const Op* RunSetp(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  u32 mask = 0;
  OPTIML_LANES {
    mask |= Holds<T, kCompare>(a[l], b[l]) ? 1u << l : 0u;
  }
  const u32 aux = op->aux;
  if (__builtin_expect(aux == 0, 1)) {
    WritePred(w, op->d, mask);
    return op + 1;
  }
  if ((aux & 16) != 0) {
    WritePred(w, op->d2, Combine(w, op, ~mask, aux));
  }
  WritePred(w, op->d, Combine(w, op, mask, aux));
  return op + 1;
}

template <class D>
OPTIML_INLINE const Op* WriteSet(Warp& w, const Op* op, u32 mask, D yes) {
  mask = Combine(w, op, mask, op->aux);
  return Each<D>(w, op, [=](u32 l) { return (mask >> l) & 1 ? yes : D{0}; });
}

template <class T, Compare kCompare>
const Op* RunSet(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  u32 mask = 0;
  OPTIML_LANES {
    mask |= Holds<T, kCompare>(a[l], b[l]) ? 1u << l : 0u;
  }
  return WriteSet<u32>(w, op, mask, op->aux2);
}

template <class T>
const Op* RunSelp(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  const u32 p = op->aux != 0 ? ~Pred(w, op->c) : Pred(w, op->c);
  return Each<T>(w, op, [=](u32 l) { return (p & (1u << l)) != 0 ? a[l] : b[l]; });
}

template <class T, bool kFloat>
const Op* RunSlct(Warp& w, const Op* op) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  if constexpr (kFloat) {
    const float* c = Reg<float>(w, op->c);
    if (op->aux2 != 0) {  // ftz
      return Each<T>(w, op, [=](u32 l) { return Flush(c[l]) >= 0.0f ? a[l] : b[l]; });
    }
    return Each<T>(w, op, [=](u32 l) { return c[l] >= 0.0f ? a[l] : b[l]; });
  } else {
    const s32* c = Reg<s32>(w, op->c);
    return Each<T>(w, op, [=](u32 l) { return c[l] >= 0 ? a[l] : b[l]; });
  }
}

template <class From, class To>
const Op* RunExtend(Warp& w, const Op* op) {
  const From* a = Reg<From>(w, op->a);
  return Each<To>(w, op, [=](u32 l) { return static_cast<To>(a[l]); });
}

// A byte in a 16-bit register.
template <class To, bool kIsSigned>
const Op* RunExtendByte(Warp& w, const Op* op) {
  const u16* a = Reg<u16>(w, op->a);
  return Each<To>(w, op, [=](u32 l) {
    return kIsSigned ? static_cast<To>(static_cast<s8>(a[l]))
                     : static_cast<To>(static_cast<u8>(a[l]));
  });
}

const Op* RunPredAnd(Warp& w, const Op* op) {
  WritePred(
      w, op->d,
      (Pred(w, op->a) ^ (op->aux & 1 ? ~0u : 0u)) & (Pred(w, op->b) ^ (op->aux & 2 ? ~0u : 0u)));
  return op + 1;
}
const Op* RunPredOr(Warp& w, const Op* op) {
  WritePred(
      w, op->d,
      (Pred(w, op->a) ^ (op->aux & 1 ? ~0u : 0u)) | (Pred(w, op->b) ^ (op->aux & 2 ? ~0u : 0u)));
  return op + 1;
}
const Op* RunPredXor(Warp& w, const Op* op) {
  WritePred(w, op->d, Pred(w, op->a) ^ Pred(w, op->b) ^ (op->aux == 1 || op->aux == 2 ? ~0u : 0u));
  return op + 1;
}
const Op* RunPredNot(Warp& w, const Op* op) {
  WritePred(w, op->d, op->aux != 0 ? Pred(w, op->a) : ~Pred(w, op->a));
  return op + 1;
}
const Op* RunPredMov(Warp& w, const Op* op) {
  WritePred(w, op->d, op->aux != 0 ? ~Pred(w, op->a) : Pred(w, op->a));
  return op + 1;
}

// Two or four elements into one register.
template <class From, class To>
const Op* RunPack(Warp& w, const Op* op) {
  constexpr u32 kCount = sizeof(To) / sizeof(From);
  const From* source[4] = {Reg<From>(w, op->a), Reg<From>(w, op->b), Reg<From>(w, op->c),
                           Reg<From>(w, op->e)};
  return Each<To>(w, op, [=](u32 l) {
    To value = 0;
    for (u32 i = 0; i < kCount; ++i) {
      value |= static_cast<To>(static_cast<To>(source[i][l]) << (8 * sizeof(From) * i));
    }
    return value;
  });
}

// One register into two or four; a result place of 0 is not written (the sink).
template <class From, class To>
const Op* RunUnpack(Warp& w, const Op* op) {
  constexpr u32 kCount = sizeof(From) / sizeof(To);
  const Place places[4] = {op->d, op->d2, op->b, op->c};
  alignas(64) From value[kLanes];
  __builtin_memcpy(value, Reg<From>(w, op->a), sizeof(value));
  for (u32 i = 0; i < kCount; ++i) {
    if (places[i] == 0) {
      continue;
    }
    alignas(64) To t[kLanes];
    OPTIML_LANES {
      t[l] = static_cast<To>(value[l] >> (8 * sizeof(To) * i));
    }
    Blend(Reg<To>(w, places[i]), t, w.lanes);
  }
  return op + 1;
}

const Op* RunSzext(Warp& w, const Op* op) {
  // aux bit 0: signed, bit 1: clamp.
  const u32* a = Reg<u32>(w, op->a);
  const u32* b = Reg<u32>(w, op->b);
  const u32 aux = op->aux;
  return EachSlow<u32>(w, op, [=](u32 l) {
    const u32 n = (aux & 2) != 0 ? (b[l] > 32 ? 32 : b[l]) : b[l] & 31;
    if (n == 0) {
      return 0u;
    }
    if (n == 32) {
      return a[l];
    }
    return (aux & 1) != 0 ? static_cast<u32>(static_cast<s32>(a[l] << (32 - n)) >> (32 - n))
                          : a[l] & ((1u << n) - 1);
  });
}

template <Compare kCompare>
Handler SetpOf(const AluRequest& r, bool set) {
  switch (r.op == AluOp::kSet ? r.source_type : r.type) {
    case Type::kU16:
    case Type::kB16:
      return set ? &RunSet<u16, kCompare> : &RunSetp<u16, kCompare>;
    case Type::kS16:
      return set ? &RunSet<s16, kCompare> : &RunSetp<s16, kCompare>;
    case Type::kU32:
    case Type::kB32:
      return set ? &RunSet<u32, kCompare> : &RunSetp<u32, kCompare>;
    case Type::kS32:
      return set ? &RunSet<s32, kCompare> : &RunSetp<s32, kCompare>;
    case Type::kU64:
    case Type::kB64:
      return set ? &RunSet<u64, kCompare> : &RunSetp<u64, kCompare>;
    case Type::kS64:
      return set ? &RunSet<s64, kCompare> : &RunSetp<s64, kCompare>;
    default:
      return nullptr;
  }
}

Handler SelectCompare(const AluRequest& r) {
  const bool set = r.op == AluOp::kSet;
  switch (r.compare) {
    case Compare::kEq:
      return SetpOf<Compare::kEq>(r, set);
    case Compare::kNe:
      return SetpOf<Compare::kNe>(r, set);
    case Compare::kLt:
    case Compare::kLo:
      return SetpOf<Compare::kLt>(r, set);
    case Compare::kLe:
    case Compare::kLs:
      return SetpOf<Compare::kLe>(r, set);
    case Compare::kGt:
    case Compare::kHi:
      return SetpOf<Compare::kGt>(r, set);
    case Compare::kGe:
    case Compare::kHs:
      return SetpOf<Compare::kGe>(r, set);
    default:
      return nullptr;
  }
}

Handler SelectExtend(const AluRequest& r) {
  if (r.from_bytes == 1) {
    if (r.to_bytes == 2) {
      return r.is_signed ? &RunExtendByte<s16, true> : &RunExtendByte<u16, false>;
    }
    if (r.to_bytes == 4) {
      return r.is_signed ? &RunExtendByte<s32, true> : &RunExtendByte<u32, false>;
    }
    return r.is_signed ? &RunExtendByte<s64, true> : &RunExtendByte<u64, false>;
  }
  if (r.from_bytes == 2) {
    if (r.to_bytes == 4) {
      return r.is_signed ? &RunExtend<s16, s32> : &RunExtend<u16, u32>;
    }
    return r.is_signed ? &RunExtend<s16, s64> : &RunExtend<u16, u64>;
  }
  return r.is_signed ? &RunExtend<s32, s64> : &RunExtend<u32, u64>;
}

}  // namespace

Handler SelectLogic(const AluRequest& r) {
  const uint32_t bytes = TypeBytes(r.type);
  switch (r.op) {
    case AluOp::kMov:
      return OPTIML_BY_BYTES(bytes, RunMov);
    case AluOp::kAnd:
      return OPTIML_BY_BYTES(bytes, RunAnd);
    case AluOp::kOr:
      return OPTIML_BY_BYTES(bytes, RunOr);
    case AluOp::kXor:
      return OPTIML_BY_BYTES(bytes, RunXor);
    case AluOp::kNot:
      return OPTIML_BY_BYTES(bytes, RunNot);
    case AluOp::kCnot:
      return OPTIML_BY_BYTES(bytes, RunCnot);
    case AluOp::kShl:
      return OPTIML_BY_BYTES(bytes, RunShl);
    case AluOp::kShr:
      switch (r.type) {
        case Type::kS16:
          return &RunShr<s16>;
        case Type::kS32:
          return &RunShr<s32>;
        case Type::kS64:
          return &RunShr<s64>;
        default:
          return OPTIML_BY_BYTES(bytes, RunShr);
      }
    case AluOp::kBfe:
      return r.type == Type::kS32   ? &RunBfe<s32>
             : r.type == Type::kU32 ? &RunBfe<u32>
             : r.type == Type::kS64 ? &RunBfe<s64>
             : r.type == Type::kU64 ? &RunBfe<u64>
                                    : Handler{nullptr};
    case AluOp::kBfi:
      return bytes == 4 ? &RunBfi<u32> : &RunBfi<u64>;
    case AluOp::kBfind:
      return r.type == Type::kS32   ? &RunBfind<s32, false>
             : r.type == Type::kU32 ? &RunBfind<u32, false>
             : r.type == Type::kS64 ? &RunBfind<s64, false>
                                    : &RunBfind<u64, false>;
    case AluOp::kBfindShift:
      return r.type == Type::kS32   ? &RunBfind<s32, true>
             : r.type == Type::kU32 ? &RunBfind<u32, true>
             : r.type == Type::kS64 ? &RunBfind<s64, true>
                                    : &RunBfind<u64, true>;
    case AluOp::kBrev:
      return bytes == 4 ? &RunBrev<u32> : &RunBrev<u64>;
    case AluOp::kClz:
      return bytes == 4 ? &RunClz<u32> : &RunClz<u64>;
    case AluOp::kPopc:
      return bytes == 4 ? &RunPopc<u32> : &RunPopc<u64>;
    case AluOp::kPrmt:
      return &RunPrmt;
    case AluOp::kShfLeft:
      return r.clamp ? &RunShf<true, true> : &RunShf<true, false>;
    case AluOp::kShfRight:
      return r.clamp ? &RunShf<false, true> : &RunShf<false, false>;
    case AluOp::kLop3:
      return &RunLop3;
    case AluOp::kBmsk:
      return r.clamp ? &RunBmsk<true> : &RunBmsk<false>;
    case AluOp::kFns:
      return &RunFns;
    case AluOp::kSzext:
      return &RunSzext;
    case AluOp::kSetp:
    case AluOp::kSet:
      return SelectCompare(r);
    case AluOp::kSelp:
      return OPTIML_BY_BYTES(bytes, RunSelp);
    case AluOp::kSlct:
      if (r.source_type == Type::kF32) {
        return bytes == 2   ? &RunSlct<u16, true>
               : bytes == 4 ? &RunSlct<u32, true>
                            : &RunSlct<u64, true>;
      }
      return bytes == 2   ? &RunSlct<u16, false>
             : bytes == 4 ? &RunSlct<u32, false>
                          : &RunSlct<u64, false>;
    case AluOp::kExtend:
      return SelectExtend(r);
    case AluOp::kNarrow:
      return r.to_bytes == 2 ? (r.from_bytes == 4 ? &RunExtend<u32, u16> : &RunExtend<u64, u16>)
                             : &RunExtend<u64, u32>;
    case AluOp::kPredAnd:
      return &RunPredAnd;
    case AluOp::kPredOr:
      return &RunPredOr;
    case AluOp::kPredXor:
      return &RunPredXor;
    case AluOp::kPredNot:
      return &RunPredNot;
    case AluOp::kPredMov:
      return &RunPredMov;
    case AluOp::kPack:
      return r.from_bytes == 2 ? (r.to_bytes == 4 ? &RunPack<u16, u32> : &RunPack<u16, u64>)
                               : &RunPack<u32, u64>;
    case AluOp::kUnpack:
      return r.to_bytes == 2 ? (r.from_bytes == 4 ? &RunUnpack<u32, u16> : &RunUnpack<u64, u16>)
                             : &RunUnpack<u64, u32>;
    default:
      return nullptr;
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
