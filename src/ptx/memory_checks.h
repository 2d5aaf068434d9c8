#ifndef OPTIML_PTX_MEMORY_CHECKS_H_
#define OPTIML_PTX_MEMORY_CHECKS_H_

// Checks and counts of a memory access: initialisation, races in shared memory, sectors and
// wavefronts. See lanes.h on what may stand here.

#include "ptx/access.h"
#include "ptx/address_patterns.h"
#include "ptx/memory_lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

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
  // Lanes of the warp itself, since its last synchronisation.
  const u32 warp_floor = w.worker->check_warp_races ? w.warp_floor << 10 : ~0u;
  const auto other = [=](u32 tag) __attribute__((always_inline)) {
    return tag >= floor && ((tag >> 5) & 31) != warp ? 1u : 0u;
  };
  const auto unordered = [=](u32 tag, u32 mine_now) __attribute__((always_inline)) {
    return tag >= floor && (((tag >> 5) & 31) != warp ||
                            (tag >= warp_floor && ((tag ^ mine_now) & 31) != 0))
               ? 1u
               : 0u;
  };
  const u32 count = end - begin;
  _Pragma("GCC ivdep") for (u32 i = 0; i < count; ++i) {
    const u32 g = begin + i;
    const u32 tag = mine | ((lane + (i >> lane_shift)) & 31);
    bad |= unordered(write[g], tag);
    if constexpr (kAccess == SharedAccess::kLoad) {
      const u32 r = read[g];
      const bool keep = other(r) != 0;
      read2[g] = keep ? tag : read2[g];
      read[g] = keep ? r : tag;
    } else {
      bad |= unordered(read[g], tag) | unordered(read2[g], tag);
    }
  }
  if (strong && kAccess != SharedAccess::kStrong) {
    for (u32 i = 0; i < count; ++i) {
      bad |= unordered(strong_tags[begin + i], mine | ((lane + (i >> lane_shift)) & 31));
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

// Whether what the lane stores at this address of shared memory lies there already.
using StoredBefore = bool (*)(Warp& w, const Op* op, u32 lane, u64 address);

// `same` is null but for plain stores.
template <SharedAccess kAccess>
OPTIML_INLINE void RaceRun(Warp& w, const Op* op, u64 lo, u64 hi, u32 first, u32 bytes, bool strong,
                           StoredBefore same) {
  const u32 shift = w.block->shadow->granule_shift;
  const u32 begin = static_cast<u32>(lo >> shift);
  const u32 end = static_cast<u32>((hi - 1) >> shift) + 1;
  const u32 per_lane = bytes >> shift;
  const u32 lane_shift = per_lane > 1 ? static_cast<u32>(__builtin_ctz(per_lane)) : 0;
  const u32 bad = TagRange<kAccess>(w, begin, end, first, lane_shift, strong);
  if (__builtin_expect(bad != 0, 0)) {
    for (u32 i = begin; i < end; ++i) {
      const u32 place = (i - begin) >> lane_shift;
      const u32 lane = (first + place) & 31;
      CheckRace(w, op, i, i + 1, lane, kAccess,
                same != nullptr && same(w, op, lane, lo + u64{place} * bytes));
    }
  }
  WriteTags<kAccess>(w, op, begin, end, first, lane_shift);
}

// The access in pieces [at, end) with the lane that begins each: one, the runs of a known pattern,
// or lane by lane. Stops when f says so.
template <class A, class F>
OPTIML_INLINE void ForPieces(MemorySite& site, Shape shape, bool known, const Lanes& lanes,
                             u32 size, u64 address, u64 lo, u64 hi, const A* addresses, s64 offset,
                             F f) {
  if (shape != Shape::kPattern) {
    // Of lanes at one address the last stands for all: it is rarely the one that wrote there.
    f(lo, hi,
      shape == Shape::kEqual ? 31 - static_cast<u32>(__builtin_clz(lanes.mask)) : lanes.first);
    return;
  }
  if (known) {
    if (site.run_count == 0) {
      BuildRuns(site, size);
    }
    for (u32 i = 0; i < site.run_count; ++i) {
      const u64 at = address + static_cast<u64>(static_cast<s64>(site.run_distance[i]));
      if (!f(at, at + site.run_bytes[i], u32{site.run_lane[i]})) {
        return;
      }
    }
    return;
  }
  for (u32 m = lanes.mask; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    const u64 at = static_cast<A>(addresses[l] + static_cast<A>(offset));
    if (!f(at, at + size, l)) {
      return;
    }
  }
}

// As ForPieces, for races: of lanes that read one address two are looked at, for one of them may be
// the one that wrote there.
template <bool kStore, class A, class F>
OPTIML_INLINE void ForAccesses(MemorySite& site, Shape shape, bool known, const Lanes& lanes,
                               u32 size, u64 address, u64 lo, u64 hi, const A* addresses,
                               s64 offset, F f) {
  if (!kStore && shape == Shape::kEqual && (lanes.mask & (lanes.mask - 1)) != 0) {
    f(lo, hi, static_cast<u32>(__builtin_ctz(lanes.mask)));
  }
  ForPieces(site, shape, known, lanes, size, address, lo, hi, addresses, offset, f);
}

// Whether an element of this access has no byte that was written. One of which a part was is a
// member of a struct with its padding, which compilers copy together.
OPTIML_INLINE bool HasUnwrittenElement(const u64* bitmap, u64 begin, u64 end, u32 element) {
  for (u64 at = begin; at < end; at += element) {
    bool any = false;
    for (u64 byte = at; byte < at + element; ++byte) {
      any = any || ((bitmap[byte >> 6] >> (byte & 63)) & 1) != 0;
    }
    if (!any) {
      return true;
    }
  }
  return false;
}

// The first lane with an element that nobody wrote.
template <class A>
static __attribute__((noinline)) void FindUninitialised(Warp& w, const Op* op, Space space,
                                                        const u64* bitmap, u64 zero, u32 mask,
                                                        u32 size, u32 element, const A* addresses,
                                                        s64 offset) {
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 l = static_cast<u32>(__builtin_ctz(m));
    const u64 at = static_cast<A>(addresses[l] + static_cast<A>(offset));
    if (HasUnwrittenElement(bitmap, at - zero, at - zero + size, element)) {
      ReportUninitialised(w, op, space, l, at, size);
      return;
    }
  }
}

// Checks and counts of one access. Out of line: one copy serves all widths.
template <Space kSpace, bool kStore, class A>
static __attribute__((noinline)) void Finish(Warp& w, const Op* op, MemorySite& site, Shape shape,
                                             bool known, u32 size, u32 element, const Lanes& lanes,
                                             u64 address, u64 lo, u64 hi, const A* addresses,
                                             s64 offset, StoredBefore same) {
  Worker& worker = *w.worker;
  // Initialisation.
  u64* bitmap = nullptr;
  u64 zero = 0;
  if constexpr (kSpace == Space::kGlobal) {
    Allocation* allocation = site.allocation;
    if (allocation->tracked && !allocation->fully_initialised && (kStore || worker.check_init)) {
      bitmap = allocation->initialised.data();
      zero = allocation->address;
    }
  } else if (worker.check_init) {
    bitmap = w.block->shared_initialised.data();
  }
  if (bitmap != nullptr) {
    bool written = true;
    ForPieces(site, shape, known, lanes, size, address, lo, hi, addresses, offset,
              [&](u64 at, u64 end, u32) {
                if constexpr (kStore) {
                  SetBits(bitmap, at - zero, end - zero,
                          kSpace == Space::kGlobal && worker.parallel);
                } else {
                  written = BitsSet(bitmap, at - zero, end - zero);
                }
                return written;
              });
    if (!written) {
      FindUninitialised(w, op, kSpace, bitmap, zero, lanes.mask, size, element, addresses, offset);
    }
  }
  // Races.
  if constexpr (kSpace == Space::kGlobal) {
    if (worker.check_global_races && (op->aux & 8) == 0 && !site.allocation->read_only) {
      GlobalPiece pieces[kLanes + 1];
      u32 count = 0;
      ForAccesses<kStore>(site, shape, known, lanes, size, address, lo, hi, addresses, offset,
                          [&](u64 at, u64 end, u32 lane) {
                            pieces[count++] = {at, end, lane};
                            return true;
                          });
      CheckGlobalPieces(w, op, *site.allocation, pieces, count, {0, 0, 0, size, element}, kStore);
    }
  }
  if constexpr (kSpace == Space::kShared) {
    if (worker.check_races) {
      const bool strong_access = (op->aux & 1) != 0;  // volatile, relaxed, acquire, release
      const bool has_strong = !w.block->shadow->strong.empty();
      if (__builtin_expect(w.block->async != nullptr, 0)) {
        ForAccesses<kStore>(site, shape, known, lanes, size, address, lo, hi, addresses, offset,
                            [&](u64 at, u64 end, u32 lane) {
                              CheckAsyncAccess(w, op, at, end, lane,
                                               strong_access ? SharedAccess::kStrong
                                               : kStore      ? SharedAccess::kStore
                                                             : SharedAccess::kLoad);
                              return true;
                            });
      }
      // Of lanes that store to one address one stands for all: their values are compared elsewhere.
      const bool in_runs = known || (kStore && site.duplicates);
      ForAccesses<kStore>(site, shape, in_runs, lanes, size, address, lo, hi, addresses, offset,
                          [&](u64 at, u64 end, u32 lane) {
                            if (strong_access) {
                              RaceRun<SharedAccess::kStrong>(w, op, at, end, lane, size, has_strong,
                                                             nullptr);
                            } else {
                              RaceRun<kStore ? SharedAccess::kStore : SharedAccess::kLoad>(
                                  w, op, at, end, lane, size, has_strong, same);
                            }
                            return true;
                          });
    }
  }
  // Counters.
  if (worker.count && (op->aux & 8) == 0) {
    if constexpr (kSpace == Space::kGlobal) {
      RequestCounts& counts = kStore ? worker.counters.global_store : worker.counters.global_load;
      ++counts.requests;
      counts.lane_bytes += lanes.count * size;
      if (shape != Shape::kPattern) {
        const auto lines = static_cast<u32>(((hi - 1) >> 7) - (lo >> 7) + 1);
        counts.sectors += ((hi - 1) >> 5) - (lo >> 5) + 1;
        counts.lines += lines;
        counts.wavefronts +=
            L1Wavefronts(shape == Shape::kEqual ? 1 : ActivePhases(lanes.mask, size), lines);
      } else {
        const PatternCounts pattern = CountPattern(worker, site, address, size);
        counts.sectors += pattern.sectors;
        counts.lines += pattern.lines;
        counts.wavefronts += L1Wavefronts(pattern.wavefronts, pattern.lines);
      }
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
        counts.wavefronts += size <= 8 ? 1 : ActiveHalves(lanes.mask);
      } else if (shape == Shape::kConsecutive) {
        counts.wavefronts += size <= 4 ? 1 : ActivePhases(lanes.mask, size);
      } else {
        const PatternCounts pattern = CountPattern(worker, site, address, size);
        counts.wavefronts += pattern.wavefronts;
        counts.conflicts += pattern.wavefronts - pattern.ideal;
      }
    }
  }
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA

#endif  // OPTIML_PTX_MEMORY_CHECKS_H_
