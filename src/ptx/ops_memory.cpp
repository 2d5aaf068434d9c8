// Loads and stores of global, shared, local and generic addresses. Compiled once for every
// instruction set of the host.
//
// Three shapes of a warp's addresses are served quickly: consecutive lanes at consecutive elements,
// all lanes at one address, and the same distances between lanes as the last time this instruction
// ran (MemorySite).

#include "ptx/memory_checks.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

// Lanes so many bytes apart miss the host's caches: fetched ahead while they are counted.
constexpr s64 kScattered = 4096;

// Two lanes of a store at one address: only a race when their values differ.
template <u32 kBytes, u32 kVector, Space kSpace, class A>
void CompareLanes(Warp& w, const Op* op, const A* address, s64 offset, u32 mask) {
  using Value = typename ElementOf<kBytes>::Register;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    for (u32 k = m & (m - 1); k != 0; k &= k - 1) {
      const u32 other = static_cast<u32>(__builtin_ctz(k));
      if (address[l] != address[other]) {
        continue;
      }
      bool differ = false;
      for (u32 v = 0; v < kVector; ++v) {
        const Value* s = Reg<Value>(w, PlaceOf(op, true, v));
        differ = differ || s[l] != s[other];
      }
      if (differ) {
        ReportLaneConflict(w, op, kSpace, l, other,
                           static_cast<A>(address[l] + static_cast<A>(offset)));
        return;
      }
      break;
    }
  }
}

template <u32 kBytes, u32 kVector>
bool StoresWhatIsThere(Warp& w, const Op* op, u32 lane, u64 address) {
  using M = typename ElementOf<kBytes>::Memory;
  using R = typename ElementOf<kBytes>::Register;
  M value[kVector];
  for (u32 v = 0; v < kVector; ++v) {
    value[v] = static_cast<M>(Reg<R>(w, PlaceOf(op, true, v))[lane]);
  }
  return __builtin_memcmp(w.block->shared + address, value, sizeof(value)) == 0;
}

template <u32 kBytes, u32 kVector, Space kSpace, bool kStore, class A>
OPTIML_INLINE const Op* Access(Warp& w, const Op* op, const A* address, s64 offset, u32 mask,
                               const u32* lane_masks, u32 site_offset) {
  constexpr u32 kSize = kBytes * kVector;
  constexpr StoredBefore same =
      kStore && kSpace == Space::kShared ? &StoresWhatIsThere<kBytes, kVector> : nullptr;
  MemorySite& site = w.worker->sites[op->site + site_offset];
  const Lanes lanes = LanesOf(mask);
  const A at_first = address[lanes.first];
  // Which shape?
  A uneven = 0;
  A unequal = 0;
  const A start = static_cast<A>(at_first - lanes.first * kSize);
  if (__builtin_expect(mask == kAllLanes, 1)) {
    OPTIML_LANES {
      uneven |= address[l] ^ static_cast<A>(start + l * kSize);
      unequal |= address[l] ^ at_first;
    }
  } else {
    OPTIML_LANES {
      const A keep = static_cast<A>(static_cast<s64>(static_cast<s32>(lane_masks[l])));
      uneven |= (address[l] ^ static_cast<A>(start + l * kSize)) & keep;
      unequal |= (address[l] ^ at_first) & keep;
    }
  }
  const u64 first_address = static_cast<A>(at_first + static_cast<A>(offset));
  Shape shape = Shape::kPattern;
  bool known = true;
  u64 lo = first_address;
  u64 hi = first_address + kSize;
  u64 misalignment = first_address;
  if (uneven == 0 && lanes.run) {
    shape = Shape::kConsecutive;
    hi = first_address + lanes.count * kSize;
  } else if (unequal == 0) {
    shape = Shape::kEqual;
  } else {
    if (!SamePattern(site, address, at_first, lane_masks, mask)) {
      known = false;
      if (!RecordLanes(site, address, at_first, lane_masks, mask)) {
        alignas(64) u64 all[kLanes];
        Spread(address, offset, all);
        if (!RecordPattern(site, all, mask)) {
          return FaultAccess(w, op, kSpace, all, {kSize, mask, kStore, false});
        }
      }
    }
    lo = first_address + static_cast<u64>(static_cast<s64>(site.min_distance));
    hi = first_address + static_cast<u64>(static_cast<s64>(site.max_distance)) + kSize;
    misalignment |= site.distance_bits;
  }
  const bool inside = lo >= site.lo && hi <= site.hi && lo < hi;
  if (__builtin_expect(!inside || (misalignment & (kSize - 1)) != 0, 0)) {
    const bool located = (misalignment & (kSize - 1)) == 0 &&
                         (kSpace == Space::kGlobal ? LocateGlobal(w, site, lo, hi, kStore)
                                                   : LocateShared(w, site, lo, hi));
    if (!located) {
      alignas(64) u64 all[kLanes];
      Spread(address, offset, all);
      if constexpr (kSpace == Space::kShared) {
        if (w.block->cluster != nullptr) {
          u8* hosts[kLanes];
          if (!RemoteShared(w, op, all, mask, kSize,
                            (op->aux & 1) != 0 ? SharedAccess::kStrong
                            : kStore           ? SharedAccess::kStore
                                               : SharedAccess::kLoad,
                            hosts)) {
            return nullptr;
          }
          if constexpr (kStore) {
            StoreEach<kBytes, kVector>(w, op, mask, [&](u32 l) { return hosts[l]; });
          } else {
            LoadEach<kBytes, kVector>(w, op, mask, [&](u32 l) { return hosts[l]; });
          }
          return op + 1;
        }
      }
      // Either a fault, or lanes in several objects: then one lane after the other.
      if (kSpace == Space::kGlobal && (misalignment & (kSize - 1)) == 0 && lanes.count > 1 &&
          shape != Shape::kEqual) {
        for (u32 m = mask; m != 0; m &= m - 1) {
          const u32 l = static_cast<u32>(__builtin_ctz(m));
          if (!LocateGlobal(w, site, all[l], all[l] + kSize, kStore)) {
            return FaultAccess(w, op, kSpace, all, {kSize, mask, kStore, false});
          }
          const auto host = [&](u32 lane) {
            return site.allocation->host + (all[lane] - site.allocation->address);
          };
          Finish<kSpace, kStore>(w, op, site, Shape::kEqual, false, kSize, kBytes, LanesOf(1u << l),
                                 all[l], all[l], all[l] + kSize, all, s64{0}, same);
          if constexpr (kStore) {
            StoreEach<kBytes, kVector>(w, op, 1u << l, host);
          } else {
            LoadEach<kBytes, kVector>(w, op, 1u << l, host);
          }
        }
        return op + 1;
      }
      return FaultAccess(w, op, kSpace, all, {kSize, mask, kStore, false});
    }
  }
  u8* const base =
      kSpace == Space::kGlobal ? reinterpret_cast<u8*>(site.allocation->host) : w.block->shared;
  const u64 zero = kSpace == Space::kGlobal ? site.allocation->address : 0;
  const auto host = [=](u32 l) __attribute__((always_inline)) {
    return base + (static_cast<A>(address[l] + static_cast<A>(offset)) - zero);
  };
  if (kSpace == Space::kGlobal && !known &&
      s64{site.max_distance} - site.min_distance >= kScattered) {
    for (u32 m = mask; m != 0; m &= m - 1) {
      __builtin_prefetch(host(static_cast<u32>(__builtin_ctz(m))));
    }
  }
  // Checks and counts come first: a load may overwrite its own address register.
  Finish<kSpace, kStore>(w, op, site, shape, known, kSize, kBytes, lanes, first_address, lo, hi,
                         address, offset, same);
  if constexpr (kStore) {
    if ((kSpace == Space::kShared
             ? w.worker->check_races
             : w.worker->check_global_races && (op->aux & kAccessStrong) == 0) &&
        shape != Shape::kConsecutive && lanes.count > 1 &&
        (shape == Shape::kEqual || site.duplicates)) {
      CompareLanes<kBytes, kVector, kSpace>(w, op, address, offset, mask);
    }
    if (shape == Shape::kConsecutive) {
      StoreRun<kBytes, kVector>(w, op, base + (lo - zero), lanes);
    } else {
      StoreEach<kBytes, kVector>(w, op, mask, host);
    }
  } else {
    if (shape == Shape::kConsecutive) {
      LoadRun<kBytes, kVector>(w, op, base + (lo - zero), lanes);
    } else if (shape == Shape::kEqual && mask == w.active) {
      LoadEqual<kBytes, kVector>(w, op, base + (lo - zero));
    } else {
      LoadEach<kBytes, kVector>(w, op, mask, host);
    }
  }
  return op + 1;
}

template <u32 kBytes, u32 kVector, bool kStore>
const Op* RunGlobal(Warp& w, const Op* op) {
  return Access<kBytes, kVector, Space::kGlobal, kStore>(w, op, Reg<u64>(w, op->a), op->offset,
                                                         w.active, w.lanes, 0);
}

template <u32 kBytes, u32 kVector, bool kStore, class A>
const Op* RunShared(Warp& w, const Op* op) {
  return Access<kBytes, kVector, Space::kShared, kStore>(w, op, Reg<A>(w, op->a), op->offset,
                                                         w.active, w.lanes, 0);
}

// Local memory: lane l's bytes at local + l * stride. aux bit 1: relative to the running frame.
template <u32 kBytes, u32 kVector, bool kStore, class A>
OPTIML_INLINE const Op* LocalAccess(Warp& w, const Op* op, const A* address, s64 offset, u32 mask) {
  constexpr u32 kSize = kBytes * kVector;
  const s64 frame = (op->aux & 2) != 0 ? offset + static_cast<s64>(w.local_base) : offset;
  alignas(64) u64 all[kLanes];
  Spread(address, frame, all);
  u64 unequal = 0;
  u64 misalignment = 0;
  u64 most = 0;
  const u32 first = static_cast<u32>(__builtin_ctz(mask));
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    unequal |= all[l] ^ all[first];
    misalignment |= all[l];
    most = all[l] > most ? all[l] : most;
  }
  if (__builtin_expect(most > w.local_stride || most + kSize > w.local_stride ||
                           (misalignment & (kSize - 1)) != 0,
                       0)) {
    return FaultAccess(w, op, Space::kLocal, all, {kSize, mask, kStore, false});
  }
  u8* const base = w.local;
  const u64 stride = w.local_stride;
  const auto host = [&](u32 l)
                        __attribute__((always_inline)) { return base + l * stride + all[l]; };
  if (!w.local_initialised.empty()) {
    for (u32 m = mask; m != 0; m &= m - 1) {
      const u32 l = static_cast<u32>(__builtin_ctz(m));
      const u64 at = l * stride + all[l];
      if constexpr (kStore) {
        SetBits(w.local_initialised.data(), at, at + kSize, false);
      } else if (!BitsSet(w.local_initialised.data(), at, at + kSize) &&
                 HasUnwrittenElement(w.local_initialised.data(), at, at + kSize, kBytes)) {
        ReportUninitialised(w, op, Space::kLocal, l, all[l], kSize);
        break;
      }
    }
  }
  if constexpr (kStore) {
    StoreEach<kBytes, kVector>(w, op, mask, host);
  } else {
    LoadEach<kBytes, kVector>(w, op, mask, host);
  }
  if (w.worker->count && (op->aux & 4) == 0) {
    RequestCounts& counts = kStore ? w.worker->counters.local_store : w.worker->counters.local_load;
    ++counts.requests;
    counts.lane_bytes += static_cast<u64>(__builtin_popcount(mask)) * kSize;
    // The GPU interleaves the lanes' words: a word of 32 lanes is 128 bytes, 8 lanes share a
    // sector.
    u32 groups = 0;
    for (u32 g = 0; g < 4; ++g) {
      groups += ((mask >> (8 * g)) & 0xff) != 0 ? 1 : 0;
    }
    const u32 words = kSize <= 4 ? 1 : kSize / 4;
    counts.sectors +=
        unequal == 0 ? groups * words : static_cast<u64>(__builtin_popcount(mask)) * words;
  }
  return op + 1;
}

template <u32 kBytes, u32 kVector, bool kStore>
const Op* RunLocal(Warp& w, const Op* op) {
  return LocalAccess<kBytes, kVector, kStore>(w, op, Reg<u64>(w, op->a), op->offset, w.active);
}

template <u32 kBytes, u32 kVector, bool kStore>
const Op* RunLocal32(Warp& w, const Op* op) {
  return LocalAccess<kBytes, kVector, kStore>(w, op, Reg<u32>(w, op->a), op->offset, w.active);
}

template <u32 kBytes, u32 kVector, bool kStore>
const Op* RunGeneric(Warp& w, const Op* op) {
  const u64* address = Reg<u64>(w, op->a);
  u32 shared = 0;
  u32 local = 0;
  OPTIML_LANES {
    const u64 a = address[l] + static_cast<u64>(op->offset);
    shared |= a - kSharedWindow < kWindowBytes ? 1u << l : 0u;
    local |= a - kLocalWindow < kWindowBytes ? 1u << l : 0u;
  }
  shared &= w.active;
  local &= w.active;
  if (__builtin_expect((shared | local) == 0, 1)) {
    return Access<kBytes, kVector, Space::kGlobal, kStore>(w, op, address, op->offset, w.active,
                                                           w.lanes, 0);
  }
  alignas(64) u64 all[kLanes];
  Spread(address, op->offset, all);
  const Op* next = op + 1;
  const u32 global = w.active & ~(shared | local);
  alignas(64) u32 masks[kLanes];
  if (global != 0) {
    OPTIML_LANES {
      masks[l] = (global >> l) & 1 ? ~0u : 0u;
    }
    next = Access<kBytes, kVector, Space::kGlobal, kStore>(w, op, all, s64{0}, global, masks, 0);
  }
  if (shared != 0 && next != nullptr) {
    alignas(64) u32 narrow[kLanes];
    OPTIML_LANES {
      masks[l] = (shared >> l) & 1 ? ~0u : 0u;
      narrow[l] = static_cast<u32>(all[l] - kSharedWindow);
    }
    next = Access<kBytes, kVector, Space::kShared, kStore>(w, op, narrow, s64{0}, shared, masks, 1);
  }
  if (local != 0 && next != nullptr) {
    alignas(64) u64 inside[kLanes];
    OPTIML_LANES {
      inside[l] = all[l] - kLocalWindow;
    }
    next = LocalAccess<kBytes, kVector, kStore>(w, op, inside, s64{0}, local);
  }
  return next;
}

template <u32 kBytes, u32 kVector, bool kStore>
Handler SelectSpace(const MemoryRequest& r) {
  switch (r.space) {
    case Space::kGlobal:
    case Space::kConst:
      return &RunGlobal<kBytes, kVector, kStore>;
    case Space::kShared:
      return r.wide_address ? &RunShared<kBytes, kVector, kStore, u64>
                            : &RunShared<kBytes, kVector, kStore, u32>;
    case Space::kLocal:
      return r.wide_address ? &RunLocal<kBytes, kVector, kStore>
                            : &RunLocal32<kBytes, kVector, kStore>;
    case Space::kNone:
      return &RunGeneric<kBytes, kVector, kStore>;
    default:
      return nullptr;
  }
}

template <u32 kBytes, u32 kVector>
Handler SelectDirection(const MemoryRequest& r) {
  return r.store ? SelectSpace<kBytes, kVector, true>(r) : SelectSpace<kBytes, kVector, false>(r);
}

template <u32 kBytes>
Handler SelectVector(const MemoryRequest& r) {
  switch (r.vector) {
    case 1:
      return SelectDirection<kBytes, 1>(r);
    case 2:
      return SelectDirection<kBytes, 2>(r);
    case 4:
      if constexpr (kBytes <= 4) {
        return SelectDirection<kBytes, 4>(r);
      }
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Handler SelectMemory(const MemoryRequest& r) {
  switch (r.bytes) {
    case 1:
      return SelectVector<1>(r);
    case 2:
      return SelectVector<2>(r);
    case 4:
      return SelectVector<4>(r);
    case 8:
      return SelectVector<8>(r);
    default:
      return nullptr;
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA
