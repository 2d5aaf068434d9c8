#ifndef OPTIML_PTX_MEMORY_LANES_H_
#define OPTIML_PTX_MEMORY_LANES_H_

// Moving bytes between memory and the lanes of registers, for each shape of a warp's addresses. See
// lanes.h on what may stand here.

#include "ptx/lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

template <u32 kBytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using Memory = u8;
  using Register = u16;
};
template <>
struct ElementOf<2> {
  using Memory = u16;
  using Register = u16;
};
template <>
struct ElementOf<4> {
  using Memory = u32;
  using Register = u32;
};
template <>
struct ElementOf<8> {
  using Memory = u64;
  using Register = u64;
};

enum class Shape : u8 { kConsecutive, kEqual, kPattern };

struct Lanes {
  u32 mask;
  u32 first;
  u32 count;  // active lanes
  bool run;   // the active lanes are neighbours
};

OPTIML_INLINE Lanes LanesOf(u32 mask) {
  Lanes lanes;
  lanes.mask = mask;
  if (__builtin_expect(mask == kAllLanes, 1)) {
    lanes.first = 0;
    lanes.count = 32;
    lanes.run = true;
    return lanes;
  }
  lanes.first = static_cast<u32>(__builtin_ctz(mask));
  lanes.count = static_cast<u32>(__builtin_popcount(mask));
  const u32 shifted = mask >> lanes.first;
  lanes.run = (shifted & (shifted + 1)) == 0;
  return lanes;
}

OPTIML_INLINE Place PlaceOf(const Op* op, bool store, u32 element) {
  if (store) {
    return element == 0 ? op->b : element == 1 ? op->c : element == 2 ? op->d : op->d2;
  }
  return element == 0 ? op->d : element == 1 ? op->d2 : element == 2 ? op->b : op->c;
}

template <u32 kBytes, u32 kVector>
OPTIML_INLINE void LoadRun(Warp& w, const Op* op, const u8* from, const Lanes& lanes) {
  using M = typename ElementOf<kBytes>::Memory;
  using R = typename ElementOf<kBytes>::Register;
  if constexpr (kVector == 1 && kBytes != 1) {
    R* d = Reg<R>(w, op->d);
    if (__builtin_expect(lanes.mask == kAllLanes, 1)) {
      __builtin_memcpy(d, from, 32 * kBytes);
    } else {
      __builtin_memcpy(d + lanes.first, from, lanes.count * kBytes);
    }
  } else {
    alignas(64) M t[32 * kVector];
    if (__builtin_expect(lanes.mask == kAllLanes, 1)) {
      __builtin_memcpy(t, from, sizeof(t));
      for (u32 v = 0; v < kVector; ++v) {
        R* d = Reg<R>(w, PlaceOf(op, false, v));
        OPTIML_LANES {
          d[l] = t[l * kVector + v];
        }
      }
    } else {
      __builtin_memcpy(t, from, lanes.count * kBytes * kVector);
      for (u32 v = 0; v < kVector; ++v) {
        R* d = Reg<R>(w, PlaceOf(op, false, v));
        for (u32 i = 0; i < lanes.count; ++i) {
          d[lanes.first + i] = t[i * kVector + v];
        }
      }
    }
  }
}

template <u32 kBytes, u32 kVector>
OPTIML_INLINE void StoreRun(Warp& w, const Op* op, u8* to, const Lanes& lanes) {
  using M = typename ElementOf<kBytes>::Memory;
  using R = typename ElementOf<kBytes>::Register;
  if constexpr (kVector == 1 && kBytes != 1) {
    const R* s = Reg<R>(w, op->b);
    if (__builtin_expect(lanes.mask == kAllLanes, 1)) {
      __builtin_memcpy(to, s, 32 * kBytes);
    } else {
      __builtin_memcpy(to, s + lanes.first, lanes.count * kBytes);
    }
  } else {
    alignas(64) M t[32 * kVector];
    for (u32 v = 0; v < kVector; ++v) {
      const R* s = Reg<R>(w, PlaceOf(op, true, v));
      OPTIML_LANES {
        t[l * kVector + v] = static_cast<M>(s[l]);
      }
    }
    __builtin_memcpy(to, t + lanes.first * kVector, lanes.count * kBytes * kVector);
  }
}

template <u32 kBytes, u32 kVector>
OPTIML_INLINE void LoadEqual(Warp& w, const Op* op, const u8* from) {
  using M = typename ElementOf<kBytes>::Memory;
  using R = typename ElementOf<kBytes>::Register;
  for (u32 v = 0; v < kVector; ++v) {
    M value;
    __builtin_memcpy(&value, from + v * kBytes, kBytes);
    R* d = Reg<R>(w, PlaceOf(op, false, v));
    if (w.active == kAllLanes) {
      OPTIML_LANES {
        d[l] = value;
      }
    } else {
      OPTIML_LANES {
        d[l] = w.lanes[l] != 0 ? static_cast<R>(value) : d[l];
      }
    }
  }
}

// host(l): where lane l's bytes are. Only active lanes are asked.
template <u32 kBytes, u32 kVector, class H>
OPTIML_INLINE void LoadEach(Warp& w, const Op* op, u32 mask, H host) {
  using M = typename ElementOf<kBytes>::Memory;
  using R = typename ElementOf<kBytes>::Register;
  R* d[kVector];
  for (u32 v = 0; v < kVector; ++v) {
    d[v] = Reg<R>(w, PlaceOf(op, false, v));
  }
  const auto one = [&](u32 l) __attribute__((always_inline)) {
    M value[kVector];
    __builtin_memcpy(value, host(l), sizeof(value));
    for (u32 v = 0; v < kVector; ++v) {
      d[v][l] = value[v];
    }
  };
  if (mask == kAllLanes) {
#pragma GCC unroll 8
    for (u32 l = 0; l < 32; ++l) {
      one(l);
    }
  } else {
    for (u32 m = mask; m != 0; m &= m - 1) {
      one(static_cast<u32>(__builtin_ctz(m)));
    }
  }
}

template <u32 kBytes, u32 kVector, class H>
OPTIML_INLINE void StoreEach(Warp& w, const Op* op, u32 mask, H host) {
  using M = typename ElementOf<kBytes>::Memory;
  using R = typename ElementOf<kBytes>::Register;
  const R* s[kVector];
  for (u32 v = 0; v < kVector; ++v) {
    s[v] = Reg<R>(w, PlaceOf(op, true, v));
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    M value[kVector];
    for (u32 v = 0; v < kVector; ++v) {
      value[v] = static_cast<M>(s[v][l]);
    }
    __builtin_memcpy(host(l), value, sizeof(value));
  }
}

// Addresses as 64-bit numbers with the offset added; shared ones wrap at 32 bits.
template <class A>
OPTIML_INLINE void Spread(const A* address, s64 offset, u64* out) {
  OPTIML_LANES {
    out[l] = static_cast<A>(address[l] + static_cast<A>(offset));
  }
}

template <class A>
OPTIML_INLINE bool SamePattern(const MemorySite& site, const A* address, A first, const u32* lanes,
                               u32 mask) {
  if (site.mask != mask) {
    return false;
  }
  A bad = 0;
  OPTIML_LANES {
    const A keep = static_cast<A>(static_cast<s64>(static_cast<s32>(lanes[l])));
    bad |= ((address[l] - first) ^ static_cast<A>(static_cast<s64>(site.distance[l]))) & keep;
  }
  return bad == 0;
}

// As RecordPattern (address_patterns.h), for distances that fit 32 bits; false, with nothing done,
// when they do not.
template <class A>
OPTIML_INLINE bool RecordLanes(MemorySite& site, const A* address, A first, const u32* lanes,
                               u32 mask) {
  constexpr s32 kFarthest = s32{1} << 30;
  alignas(64) s32 distance[kLanes + 1];
  A unfit = 0;
  OPTIML_LANES {
    const A keep = static_cast<A>(static_cast<s64>(static_cast<s32>(lanes[l])));
    const A d = (address[l] - first) & keep;
    const s32 narrow = static_cast<s32>(d);
    unfit |= d ^ static_cast<A>(static_cast<s64>(narrow));
    distance[l] = narrow;
  }
  s32 least = 0;
  s32 most = 0;
  u32 bits = 0;
  OPTIML_LANES {
    least = distance[l] < least ? distance[l] : least;
    most = distance[l] > most ? distance[l] : most;
    bits |= static_cast<u32>(distance[l]);
  }
  if (unfit != 0 || least < -kFarthest || most >= kFarthest) {
    return false;
  }
  u32 descends = mask != kAllLanes ? 1 : 0;  // or may
  distance[kLanes] = kFarthest;
  OPTIML_LANES {
    site.distance[l] = distance[l];
    descends |= distance[l] >= distance[l + 1] ? 1u : 0u;
  }
  site.mask = mask;
  site.min_distance = least;
  site.max_distance = most;
  site.distance_bits = bits;
  site.duplicates = descends != 0;
  site.ForgetCounts();
  return true;
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA

#endif  // OPTIML_PTX_MEMORY_LANES_H_
