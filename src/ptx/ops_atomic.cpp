// atom and red on global, shared and generic addresses. Lanes go in order of their number, so that
// a run with one worker is deterministic; with several workers each operation is atomic on the
// host, or goes to a log (ordered_atomics.h).

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ptx/access.h"
#include "ptx/async_checks.h"
#include "ptx/atomic_counts.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/ordered_atomics.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

float HalfToFloat(uint16_t h) {
  const uint32_t exponent = (h >> 10) & 31;
  const uint32_t fraction = h & 1023u;
  const float sign = (h & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 1024),
                                            static_cast<int>(exponent) - 25));
}

uint16_t FloatToHalf(float x) {
  if (std::isnan(x)) {
    return 0x7fff;
  }
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(x));
  if (magnitude >= 65520.0) {
    return static_cast<uint16_t>(sign | 0x7c00);
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  const uint32_t code = unit == -24 ? steps : (static_cast<uint32_t>(unit + 24) << 10) + steps;
  return static_cast<uint16_t>(sign | code);
}

float Bf16ToFloat(uint16_t h) {
  return std::bit_cast<float>(static_cast<uint32_t>(h) << 16);
}

uint16_t FloatToBf16(float x) {
  if (std::isnan(x)) {
    return 0x7fff;
  }
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T, AtomicOp kOp>
T Combine(T old, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (kOp) {
    case AtomicOp::kAdd:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    case AtomicOp::kMin:
      return b < old ? b : old;
    case AtomicOp::kMax:
      return b > old ? b : old;
    case AtomicOp::kAnd:
      return static_cast<T>(old & b);
    case AtomicOp::kOr:
      return static_cast<T>(old | b);
    case AtomicOp::kXor:
      return static_cast<T>(old ^ b);
    case AtomicOp::kExch:
      return b;
    case AtomicOp::kCas:
      return old == b ? c : old;
    case AtomicOp::kInc:
      return old >= b ? T{0} : static_cast<T>(old + 1);
    default:
      return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
}

// A type's operations on its register form.
template <class T, AtomicOp kOp>
struct Integer {
  using Value = T;
  static constexpr bool kFloating = false;
  static constexpr FloatForm kAdds = FloatForm::kNone;  // of float_shadow.h
  static T Do(T old, T b, T c) { return Combine<T, kOp>(old, b, c); }
};
struct AddF32 {
  using Value = uint32_t;
  static constexpr bool kFloating = true;
  static constexpr FloatForm kAdds = FloatForm::kF32;
  static uint32_t Do(uint32_t old, uint32_t b, uint32_t) {
    // Global f32 atomics keep denormals only on some parts; the emulator always does.
    const float sum = std::bit_cast<float>(old) + std::bit_cast<float>(b);
    return std::isnan(sum) ? 0x7fffffff : std::bit_cast<uint32_t>(sum);
  }
};
struct AddF64 {
  using Value = uint64_t;
  static constexpr bool kFloating = true;
  static constexpr FloatForm kAdds = FloatForm::kF64;
  static uint64_t Do(uint64_t old, uint64_t b, uint64_t) {
    return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
  }
};
template <bool kBf16, AtomicOp kOp>
uint16_t Half(uint16_t old, uint16_t b) {
  const float x = kBf16 ? Bf16ToFloat(old) : HalfToFloat(old);
  const float y = kBf16 ? Bf16ToFloat(b) : HalfToFloat(b);
  const float r = kOp == AtomicOp::kAdd   ? x + y
                  : kOp == AtomicOp::kMin ? std::fmin(x, y)
                                          : std::fmax(x, y);
  return kBf16 ? FloatToBf16(r) : FloatToHalf(r);
}
template <bool kBf16, AtomicOp kOp>
constexpr FloatForm HalfSum() {
  return kOp != AtomicOp::kAdd ? FloatForm::kNone : kBf16 ? FloatForm::kBf16 : FloatForm::kF16;
}
template <bool kBf16, AtomicOp kOp>
struct Half1 {
  using Value = uint16_t;
  static constexpr bool kFloating = true;
  static constexpr FloatForm kAdds = HalfSum<kBf16, kOp>();
  static uint16_t Do(uint16_t old, uint16_t b, uint16_t) { return Half<kBf16, kOp>(old, b); }
};
template <bool kBf16, AtomicOp kOp>
struct Half2 {
  using Value = uint32_t;
  static constexpr bool kFloating = true;
  static constexpr FloatForm kAdds = HalfSum<kBf16, kOp>();
  static uint32_t Do(uint32_t old, uint32_t b, uint32_t) {
    const uint32_t low = Half<kBf16, kOp>(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
    const uint32_t high =
        Half<kBf16, kOp>(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
    return low | (high << 16);
  }
};

template <class V, class F>
V Update(V* at, bool parallel, F f) {
  if (!parallel) {
    const V old = *at;
    *at = f(old);
    return old;
  }
  V old = __atomic_load_n(at, __ATOMIC_RELAXED);
  for (;;) {
    const V next = f(old);
    if (__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

// Of a log of atomics (ordered_atomics.h).
template <class O>
void DoDeferred(const DeferredAtomic* begin, const DeferredAtomic* end, bool shared) {
  using V = typename O::Value;
  // Many that follow each other go to one word, which is read and written once then.
  for (const DeferredAtomic* one = begin; one != end;) {
    V* const at = reinterpret_cast<V*>(one->at);
    if (shared) {
      Update(at, true, [&](V old) { return O::Do(old, static_cast<V>(one->value), V{}); });
      ++one;
      continue;
    }
    V sum = *at;
    for (; one != end && one->at == reinterpret_cast<uint8_t*>(at); ++one) {
      sum = O::Do(sum, static_cast<V>(one->value), V{});
    }
    *at = sum;
  }
}

void TagAtomic(Warp& w, const Op* op, uint64_t address, uint32_t bytes, uint32_t lane) {
  ShadowMemory& shadow = *w.block->shadow;
  const auto begin = static_cast<uint32_t>(address >> shadow.granule_shift);
  const auto end = static_cast<uint32_t>((address + bytes - 1) >> shadow.granule_shift) + 1;
  const uint32_t floor = w.block->floor[w.index] << 10;
  for (uint32_t g = begin; g < end; ++g) {
    const auto other = [&](uint32_t tag) { return tag >= floor && ((tag >> 5) & 31) != w.index; };
    if (other(shadow.write[g]) || other(shadow.read[g]) || other(shadow.read2[g])) {
      CheckRace(w, op, g, g + 1, lane, SharedAccess::kStrong, false);
    }
    shadow.strong[g] = (shadow.stamp << 10) | (w.index << 5) | lane;
    shadow.write_instruction[g] = op->instruction;
  }
}

// Shared addresses of which some lie in other blocks of the cluster.
template <class O>
const Op* OnCluster(Warp& w, const Op* op, const uint64_t* address, uint32_t mask) {
  using V = typename O::Value;
  uint8_t* hosts[kLanes];
  if (!RemoteShared(w, op, address, mask, sizeof(V), SharedAccess::kStrong, hosts)) {
    return nullptr;
  }
  const V* b = RegisterAt<V>(w, op->b);
  const V* c = op->c != 0 ? RegisterAt<V>(w, op->c) : b;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    V old{};
    std::memcpy(&old, hosts[l], sizeof(V));
    const V next = O::Do(old, b[l], c[l]);
    std::memcpy(hosts[l], &next, sizeof(V));
    if (op->d != 0) {
      RegisterAt<V>(w, op->d)[l] = old;
    }
  }
  return op + 1;
}

template <class O>
void FollowAtomic(Warp& w, const Op* op, uint32_t lane, Space space, uint64_t address,
                  typename O::Value old, typename O::Value next) {
  using Bits = std::make_unsigned_t<typename O::Value>;
  ShadowAtomic(w, op, lane, space, address,
               {O::kAdds, sizeof(Bits), static_cast<Bits>(old), static_cast<Bits>(next)});
}

template <class O, Space kSpace>
const Op* OnLanes(Warp& w, const Op* op, const uint64_t* address, uint32_t mask,
                  uint32_t site_offset) {
  using V = typename O::Value;
  constexpr uint32_t kBytes = sizeof(V);
  Worker& worker = *w.worker;
  MemorySite& site = worker.sites[op->site + site_offset];
  const V* b = RegisterAt<V>(w, op->b);
  const V* c = op->c != 0 ? RegisterAt<V>(w, op->c) : b;
  V* d = op->d != 0 ? RegisterAt<V>(w, op->d) : nullptr;
  const bool shared = kSpace == Space::kShared;
  if (shared && w.block->cluster != nullptr) {
    uint64_t far = 0;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      far |= address[std::countr_zero(m)] >> kRankShift;
    }
    if (far != 0) {
      return OnCluster<O>(w, op, address, mask);
    }
  }
  AtomicLog* const log = worker.atomic_log;
  const Allocation* announced = nullptr;  // of this instruction
  bool deferred = false;
  if (worker.count) {
    CountAtomic(w, op, site, address, mask, {kBytes, shared, O::kFloating});
  }
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t at = address[l];
    if (!(at >= site.lo && at + kBytes <= site.hi) || (at & (kBytes - 1)) != 0) {
      const bool located = shared ? LocateShared(w, site, at, at + kBytes)
                                  : FindGlobal(w, site, at, at + kBytes, true);
      if (!located || (at & (kBytes - 1)) != 0) {
        return FaultAccess(w, op, kSpace, address, {kBytes, mask, true, true});
      }
    }
    uint8_t* host = nullptr;
    if (shared) {
      host = w.block->shared + at;
      if (worker.check_init && !BitsSet(w.block->shared_initialised.data(), at, at + kBytes)) {
        ReportUninitialised(w, op, kSpace, l, at, kBytes);
        SetBits(w.block->shared_initialised.data(), at, at + kBytes, false);
      }
      if (worker.check_races) {
        if (w.block->async != nullptr) {
          CheckAsyncAccess(w, op, at, at + kBytes, l, SharedAccess::kStrong);
        }
        TagAtomic(w, op, at, kBytes, l);
      }
    } else {
      Allocation* allocation = site.allocation;
      const uint64_t offset = at - allocation->address;
      host = reinterpret_cast<uint8_t*>(allocation->host) + offset;
      if (allocation->tracked && !allocation->fully_initialised) {
        if (worker.check_init &&
            !BitsSet(allocation->initialised.data(), offset, offset + kBytes)) {
          ReportUninitialised(w, op, kSpace, l, at, kBytes);
        }
        SetBits(allocation->initialised.data(), offset, offset + kBytes, worker.parallel);
      }
      if (worker.check_global_races) {
        CheckGlobalAtomic(w, op, *allocation, at, kBytes, l);
      }
      if (log != nullptr) {
        if (announced != allocation) {
          announced = allocation;
          deferred = worker.launch->ordered_atomics->Announce(*log, allocation, worker.sites);
        }
        if (deferred) {
          log->Add(&DoDeferred<O>, {host, static_cast<uint64_t>(b[l])});
          continue;
        }
      }
    }
    const V value = b[l];
    const V other = c[l];
    const V old = Update(reinterpret_cast<V*>(host), worker.parallel && !shared,
                         [&](V x) { return O::Do(x, value, other); });
    if (d != nullptr) {
      d[l] = old;
    }
    if (__builtin_expect(w.float_shadow != nullptr, 0)) {
      FollowAtomic<O>(w, op, l, shared ? Space::kShared : Space::kGlobal, at, old,
                      O::Do(old, value, other));
    }
  }
  return op + 1;
}

template <class O, Space kSpace, bool kWide>
const Op* Run(Warp& w, const Op* op) {
  alignas(64) uint64_t address[kLanes];
  const uint64_t* wide = RegisterAt<uint64_t>(w, op->a);
  const uint32_t* narrow = RegisterAt<uint32_t>(w, op->a);
  for (uint32_t l = 0; l < kLanes; ++l) {
    address[l] = kWide ? wide[l] + static_cast<uint64_t>(op->offset)
                       : narrow[l] + static_cast<uint32_t>(op->offset);
  }
  if constexpr (kSpace != Space::kNone) {
    return OnLanes<O, kSpace>(w, op, address, w.active, 0);
  } else {
    uint32_t shared = 0;
    for (uint32_t m = w.active; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      if (address[l] - kSharedWindow < kWindowBytes) {
        shared |= 1u << l;
        address[l] -= kSharedWindow;
      }
    }
    const Op* next = op + 1;
    if ((w.active & ~shared) != 0) {
      next = OnLanes<O, Space::kGlobal>(w, op, address, w.active & ~shared, 0);
    }
    if (shared != 0 && next != nullptr) {
      next = OnLanes<O, Space::kShared>(w, op, address, shared, 1);
    }
    return next;
  }
}

template <class O>
uint64_t CombineElements(uint64_t old, uint64_t value) {
  using V = typename O::Value;
  const V result = O::Do(static_cast<V>(old), static_cast<V>(value), V{});
  return static_cast<uint64_t>(static_cast<std::make_unsigned_t<V>>(result));
}

template <class O>
Handler BySpace(const AtomicRequest& r) {
  switch (r.space) {
    case Space::kGlobal:
      return &Run<O, Space::kGlobal, true>;
    case Space::kShared:
      return r.wide_address ? &Run<O, Space::kShared, true> : &Run<O, Space::kShared, false>;
    case Space::kNone:
      return &Run<O, Space::kNone, true>;
    default:
      return nullptr;
  }
}

template <AtomicOp kOp>
Handler ByType(const AtomicRequest& r) {
  switch (r.type) {
    case Type::kS32:
      return BySpace<Integer<int32_t, kOp>>(r);
    case Type::kU32:
    case Type::kB32:
      return BySpace<Integer<uint32_t, kOp>>(r);
    case Type::kS64:
      return BySpace<Integer<int64_t, kOp>>(r);
    case Type::kU64:
    case Type::kB64:
      return BySpace<Integer<uint64_t, kOp>>(r);
    default:
      return nullptr;
  }
}

template <AtomicOp kOp>
Handler ByHalf(const AtomicRequest& r) {
  switch (r.type) {
    case Type::kF16:
      return BySpace<Half1<false, kOp>>(r);
    case Type::kBf16:
      return BySpace<Half1<true, kOp>>(r);
    case Type::kF16x2:
      return BySpace<Half2<false, kOp>>(r);
    case Type::kBf16x2:
      return BySpace<Half2<true, kOp>>(r);
    default:
      return nullptr;
  }
}

}  // namespace

Handler SelectAtomic(const AtomicRequest& r) {
  switch (r.op) {
    case AtomicOp::kAdd:
      if (r.type == Type::kF32) {
        return BySpace<AddF32>(r);
      }
      if (r.type == Type::kF64) {
        return BySpace<AddF64>(r);
      }
      if (Handler half = ByHalf<AtomicOp::kAdd>(r)) {
        return half;
      }
      return ByType<AtomicOp::kAdd>(r);
    case AtomicOp::kMin:
      if (Handler half = ByHalf<AtomicOp::kMin>(r)) {
        return half;
      }
      return ByType<AtomicOp::kMin>(r);
    case AtomicOp::kMax:
      if (Handler half = ByHalf<AtomicOp::kMax>(r)) {
        return half;
      }
      return ByType<AtomicOp::kMax>(r);
    case AtomicOp::kAnd:
      return ByType<AtomicOp::kAnd>(r);
    case AtomicOp::kOr:
      return ByType<AtomicOp::kOr>(r);
    case AtomicOp::kXor:
      return ByType<AtomicOp::kXor>(r);
    case AtomicOp::kExch:
      return ByType<AtomicOp::kExch>(r);
    case AtomicOp::kCas:
      return r.type == Type::kB16 ? BySpace<Integer<uint16_t, AtomicOp::kCas>>(r)
                                  : ByType<AtomicOp::kCas>(r);
    case AtomicOp::kInc:
      return r.type == Type::kU32 ? BySpace<Integer<uint32_t, AtomicOp::kInc>>(r) : nullptr;
    case AtomicOp::kDec:
      return r.type == Type::kU32 ? BySpace<Integer<uint32_t, AtomicOp::kDec>>(r) : nullptr;
  }
  return nullptr;
}

CombineFunction SelectCombine(AtomicOp op, Type type) {
  const auto integer = [&]<AtomicOp kOp>() -> CombineFunction {
    switch (type) {
      case Type::kS32:
        return &CombineElements<Integer<int32_t, kOp>>;
      case Type::kU32:
      case Type::kB32:
        return &CombineElements<Integer<uint32_t, kOp>>;
      case Type::kS64:
        return &CombineElements<Integer<int64_t, kOp>>;
      case Type::kU64:
      case Type::kB64:
        return &CombineElements<Integer<uint64_t, kOp>>;
      default:
        return nullptr;
    }
  };
  const auto half = [&]<AtomicOp kOp>() -> CombineFunction {
    return type == Type::kF16    ? &CombineElements<Half1<false, kOp>>
           : type == Type::kBf16 ? &CombineElements<Half1<true, kOp>>
                                 : integer.template operator()<kOp>();
  };
  switch (op) {
    case AtomicOp::kAdd:
      return type == Type::kF32   ? &CombineElements<AddF32>
             : type == Type::kF64 ? &CombineElements<AddF64>
                                  : half.template operator()<AtomicOp::kAdd>();
    case AtomicOp::kMin:
      return half.template operator()<AtomicOp::kMin>();
    case AtomicOp::kMax:
      return half.template operator()<AtomicOp::kMax>();
    case AtomicOp::kAnd:
      return integer.template operator()<AtomicOp::kAnd>();
    case AtomicOp::kOr:
      return integer.template operator()<AtomicOp::kOr>();
    case AtomicOp::kXor:
      return integer.template operator()<AtomicOp::kXor>();
    case AtomicOp::kInc:
      return type == Type::kU32 ? &CombineElements<Integer<uint32_t, AtomicOp::kInc>> : nullptr;
    case AtomicOp::kDec:
      return type == Type::kU32 ? &CombineElements<Integer<uint32_t, AtomicOp::kDec>> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace optiml::ptx
