// Loads and stores of global, shared, local and generic addresses. Compiled once for every
// instruction set of the host.
//
// Three shapes of a warp's addresses are served quickly: consecutive lanes at consecutive elements,
// all lanes at one address, and the same distances between lanes as the last time this instruction
// ran (MemorySite).

#include "ptx/access.h"
#include "ptx/lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {
namespace {

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

// Race tags of consecutive granules [begin, end) that belong to lanes first, first + 1, ... (per
// granules a lane).
template <SharedAccess kAccess>
OPTIML_INLINE u32 TagRange(Warp& w, u32 begin, u32 end, u32 lane, u32 lane_shift, bool strong) {
  ShadowMemory& shadow = *w.block->shadow;
  const u32 warp = w.index;
  const u32 floor = w.block->floor[warp] << 10;
  const u32 mine = (shadow.stamp << 10) | (warp << 5);
  u32* write = shadow.write.data();
  u32* read = shadow.read.data();
  u32* read2 = shadow.read2.data();
  u32* strong_tags = shadow.strong.data();
  u32 bad = 0;
  const auto other = [=](u32 tag) __attribute__((always_inline)) {
    return tag >= floor && ((tag >> 5) & 31) != warp ? 1u : 0u;
  };
  const u32 count = end - begin;
  _Pragma("GCC ivdep") for (u32 i = 0; i < count; ++i) {
    const u32 g = begin + i;
    const u32 tag = mine | ((lane + (i >> lane_shift)) & 31);
    bad |= other(write[g]);
    if constexpr (kAccess == SharedAccess::kLoad) {
      const u32 r = read[g];
      const bool keep = other(r) != 0;
      read2[g] = keep ? tag : read2[g];
      read[g] = keep ? r : tag;
    } else {
      bad |= other(read[g]) | other(read2[g]);
    }
  }
  if (strong && kAccess != SharedAccess::kStrong) {
    for (u32 i = 0; i < count; ++i) {
      bad |= other(strong_tags[begin + i]);
    }
  }
  return bad;
}

template <SharedAccess kAccess>
OPTIML_INLINE void WriteTags(Warp& w, const Op* op, u32 begin, u32 end, u32 lane, u32 lane_shift) {
  ShadowMemory& shadow = *w.block->shadow;
  const u32 mine = (shadow.stamp << 10) | (w.index << 5);
  u32* tags = kAccess == SharedAccess::kStore ? shadow.write.data() : shadow.strong.data();
  u32* instruction = kAccess == SharedAccess::kLoad ? shadow.read_instruction.data()
                                                    : shadow.write_instruction.data();
  const u32 count = end - begin;
  const u32 which = op->instruction;
  _Pragma("GCC ivdep") for (u32 i = 0; i < count; ++i) {
    if constexpr (kAccess != SharedAccess::kLoad) {
      tags[begin + i] = mine | ((lane + (i >> lane_shift)) & 31);
    }
    instruction[begin + i] = which;
  }
}

template <SharedAccess kAccess>
OPTIML_INLINE void RaceRun(Warp& w, const Op* op, u64 lo, u64 hi, u32 first, u32 bytes,
                           bool strong) {
  const u32 shift = w.block->shadow->granule_shift;
  const u32 begin = static_cast<u32>(lo >> shift);
  const u32 end = static_cast<u32>((hi - 1) >> shift) + 1;
  const u32 per_lane = bytes >> shift;
  const u32 lane_shift = per_lane >= 4 ? 2 : per_lane == 2 ? 1 : 0;
  const u32 bad = TagRange<kAccess>(w, begin, end, first, lane_shift, strong);
  if (__builtin_expect(bad != 0, 0)) {
    for (u32 i = begin; i < end; ++i) {
      CheckRace(w, op, i, i + 1, (first + ((i - begin) >> lane_shift)) & 31, kAccess, false);
    }
  }
  WriteTags<kAccess>(w, op, begin, end, first, lane_shift);
}

// Checks and counts of one access. Out of line: one copy serves all widths.
template <Space kSpace, bool kStore, class A>
__attribute__((noinline)) void Finish(Warp& w, const Op* op, MemorySite& site, Shape shape,
                                      u32 size, const Lanes& lanes, u64 address, u64 lo, u64 hi,
                                      const A* addresses, s64 offset) {
  Worker& worker = *w.worker;
  // Initialisation.
  if constexpr (kSpace == Space::kGlobal) {
    Allocation* allocation = site.allocation;
    if (allocation->tracked && !allocation->fully_initialised && (kStore || worker.check_init)) {
      if (shape != Shape::kPattern) {
        if constexpr (kStore) {
          SetBits(allocation->initialised.data(), lo - allocation->address,
                  hi - allocation->address, worker.parallel);
        } else if (!BitsSet(allocation->initialised.data(), lo - allocation->address,
                            hi - allocation->address)) {
          for (u32 m = lanes.mask; m != 0; m &= m - 1) {
            const u32 l = static_cast<u32>(__builtin_ctz(m));
            const u64 at =
                static_cast<A>(addresses[l] + static_cast<A>(offset)) - allocation->address;
            if (!BitsSet(allocation->initialised.data(), at, at + size)) {
              ReportUninitialised(w, op, kSpace, l, at + allocation->address, size);
              break;
            }
          }
        }
      } else {
        for (u32 m = lanes.mask; m != 0; m &= m - 1) {
          const u32 l = static_cast<u32>(__builtin_ctz(m));
          const u64 at =
              static_cast<A>(addresses[l] + static_cast<A>(offset)) - allocation->address;
          if constexpr (kStore) {
            SetBits(allocation->initialised.data(), at, at + size, worker.parallel);
          } else if (!BitsSet(allocation->initialised.data(), at, at + size)) {
            ReportUninitialised(w, op, kSpace, l, at + allocation->address, size);
            break;
          }
        }
      }
    }
  } else if (worker.check_init) {
    u64* bitmap = w.block->shared_initialised.data();
    if (shape != Shape::kPattern) {
      if constexpr (kStore) {
        SetBits(bitmap, lo, hi, false);
      } else if (!BitsSet(bitmap, lo, hi)) {
        for (u32 m = lanes.mask; m != 0; m &= m - 1) {
          const u32 l = static_cast<u32>(__builtin_ctz(m));
          const u64 at = static_cast<A>(addresses[l] + static_cast<A>(offset));
          if (!BitsSet(bitmap, at, at + size)) {
            ReportUninitialised(w, op, kSpace, l, at, size);
            break;
          }
        }
      }
    } else {
      for (u32 m = lanes.mask; m != 0; m &= m - 1) {
        const u32 l = static_cast<u32>(__builtin_ctz(m));
        const u64 at = static_cast<A>(addresses[l] + static_cast<A>(offset));
        if constexpr (kStore) {
          SetBits(bitmap, at, at + size, false);
        } else if (!BitsSet(bitmap, at, at + size)) {
          ReportUninitialised(w, op, kSpace, l, at, size);
          break;
        }
      }
    }
  }
  // Races.
  if constexpr (kSpace == Space::kShared) {
    if (worker.check_races) {
      const bool strong_access = (op->aux & 1) != 0;  // volatile, relaxed, acquire, release
      const bool has_strong = !w.block->shadow->strong.empty();
      if (shape != Shape::kPattern) {
        if (strong_access) {
          RaceRun<SharedAccess::kStrong>(w, op, lo, hi, lanes.first, size, has_strong);
        } else {
          RaceRun<kStore ? SharedAccess::kStore : SharedAccess::kLoad>(w, op, lo, hi, lanes.first,
                                                                       size, has_strong);
        }
      } else {
        for (u32 m = lanes.mask; m != 0; m &= m - 1) {
          const u32 l = static_cast<u32>(__builtin_ctz(m));
          const u64 at = static_cast<A>(addresses[l] + static_cast<A>(offset));
          if (strong_access) {
            RaceRun<SharedAccess::kStrong>(w, op, at, at + size, l, size, has_strong);
          } else {
            RaceRun<kStore ? SharedAccess::kStore : SharedAccess::kLoad>(w, op, at, at + size, l,
                                                                         size, has_strong);
          }
        }
      }
    }
  }
  // Counters.
  if (worker.count && (op->aux & 8) == 0) {
    if constexpr (kSpace == Space::kGlobal) {
      RequestCounts& counts = kStore ? worker.counters.global_store : worker.counters.global_load;
      ++counts.requests;
      counts.lane_bytes += lanes.count * size;
      counts.sectors += shape != Shape::kPattern ? ((hi - 1) >> 5) - (lo >> 5) + 1
                                                 : PatternSectors(worker, site, address, size);
      if (worker.cache) {
        const AccessShape access{size, lanes.mask, kStore, false};
        if (shape != Shape::kPattern) {
          CacheRange(worker, site, lo, hi, access);
        } else {
          CachePattern(worker, site, address, access);
        }
      }
    } else {
      SharedCounts& counts = kStore ? worker.counters.shared_store : worker.counters.shared_load;
      ++counts.requests;
      if (shape == Shape::kEqual) {
        ++counts.wavefronts;
      } else if (shape == Shape::kConsecutive) {
        counts.wavefronts += size <= 4 ? 1 : ActivePhases(lanes.mask, size);
      } else {
        u32 ideal = 0;
        const u32 wavefronts = PatternWavefronts(worker, site, address, size, ideal);
        counts.wavefronts += wavefronts;
        counts.conflicts += wavefronts - ideal;
      }
    }
  }
}

template <u32 kBytes, u32 kVector, Space kSpace, bool kStore, class A>
OPTIML_INLINE const Op* Access(Warp& w, const Op* op, const A* address, s64 offset, u32 mask,
                               const u32* lane_masks, u32 site_offset) {
  constexpr u32 kSize = kBytes * kVector;
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
      alignas(64) u64 all[kLanes];
      Spread(address, offset, all);
      if (!RecordPattern(site, all, mask)) {
        return FaultAccess(w, op, kSpace, all, {kSize, mask, kStore, false});
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
          Finish<kSpace, kStore>(w, op, site, Shape::kEqual, kSize, LanesOf(1u << l), all[l],
                                 all[l], all[l] + kSize, all, s64{0});
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
  // Checks and counts come first: a load may overwrite its own address register.
  Finish<kSpace, kStore>(w, op, site, shape, kSize, lanes, first_address, lo, hi, address, offset);
  if constexpr (kStore) {
    if constexpr (kSpace == Space::kShared) {
      if (w.worker->check_races && shape != Shape::kConsecutive && lanes.count > 1 &&
          (shape == Shape::kEqual || site.duplicates)) {
        // Two lanes at one address: only a race when their values differ.
        for (u32 m = mask; m != 0; m &= m - 1) {
          const u32 l = static_cast<u32>(__builtin_ctz(m));
          for (u32 k = m & (m - 1); k != 0; k &= k - 1) {
            const u32 other = static_cast<u32>(__builtin_ctz(k));
            if (address[l] != address[other]) {
              continue;
            }
            bool differ = false;
            for (u32 v = 0; v < kVector; ++v) {
              const auto* s = Reg<typename ElementOf<kBytes>::Register>(w, PlaceOf(op, true, v));
              differ = differ || s[l] != s[other];
            }
            if (differ) {
              ReportLaneConflict(w, op, l, other,
                                 static_cast<A>(address[l] + static_cast<A>(offset)));
            }
            break;
          }
        }
      }
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
      } else if (!BitsSet(w.local_initialised.data(), at, at + kSize)) {
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
