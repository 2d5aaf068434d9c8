#include "ptx/atomic_counts.h"

#include <algorithm>
#include <bit>

#include "ptx/access.h"

namespace optiml::ptx {
namespace {

// A key's slot in the scratch table, with a count of 0 when this request had not met it.
uint32_t CountedSlot(Worker& worker, Distinct& distinct, uint64_t key) {
  uint32_t slot = 0;
  if (distinct.Add(key, slot)) {
    worker.scratch_slot[slot] = 0;
  }
  return slot;
}

// The largest number of lanes on one address. rank[lane]: how many lanes up to this one are on its.
uint32_t CountPerAddress(Worker& worker, const uint64_t* address, uint32_t mask, uint8_t* rank) {
  Distinct distinct(worker);
  uint32_t most = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    rank[l] = ++worker.scratch_slot[CountedSlot(worker, distinct, address[l])];
    most = std::max<uint32_t>(most, rank[l]);
  }
  return most;
}

// Of each sector, the lanes on its busiest address: the largest rank in it. Returns the sectors.
uint32_t CountPlaces(Worker& worker, const uint64_t* address, uint32_t mask, const uint8_t* rank,
                     bool floating) {
  Distinct distinct(worker);
  uint32_t slots[kLanes];
  uint32_t sectors = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const uint32_t slot = CountedSlot(worker, distinct, address[l] >> kSectorShift);
    uint8_t& most = worker.scratch_slot[slot];
    if (most == 0) {
      slots[sectors++] = slot;
    }
    most = std::max(most, rank[l]);
  }
  for (uint32_t i = 0; i < sectors; ++i) {
    worker.atomic_places.Add(worker.scratch_key[slots[i]], worker.scratch_slot[slots[i]], floating);
  }
  return sectors;
}

}  // namespace

void CountAtomic(Warp& w, const Op* op, MemorySite& site, const uint64_t* address, uint32_t mask,
                 const AtomicShape& kind) {
  Worker& worker = *w.worker;
  AtomicCounts& counts =
      kind.shared ? worker.counters.shared_atomic : worker.counters.global_atomic;
  ++counts.requests;
  counts.returning += op->d != 0 ? 1 : 0;
  const auto lanes = static_cast<uint32_t>(std::popcount(mask));
  counts.lanes += lanes;
  const auto first = static_cast<uint32_t>(std::countr_zero(mask));
  bool equal = true;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    equal = equal && address[std::countr_zero(m)] == address[first];
  }
  uint8_t rank[kLanes];
  counts.serialised += equal ? lanes : CountPerAddress(worker, address, mask, rank);
  if (kind.shared) {
    return;
  }
  const AccessShape shape{kind.bytes, mask, true, true};
  if (equal) {
    worker.atomic_places.Add(address[first] >> kSectorShift, lanes, kind.floating);
    ++counts.sectors;
    if (worker.cache) {
      CacheRange(worker, site, address[first], address[first] + kind.bytes, shape);
    }
  } else {
    counts.sectors += CountPlaces(worker, address, mask, rank, kind.floating);
    if (worker.cache) {
      RecordPattern(site, address, mask);
      CachePattern(worker, site, address[first], shape);
    }
  }
}

}  // namespace optiml::ptx
