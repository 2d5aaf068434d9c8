#include "ptx/atomic_counts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/address_patterns.h"

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

// Both for lanes whose addresses lie close together: tables by place instead of by hash.
class CloseLanes {
 public:
  static constexpr uint32_t kBytes = 1024;
  static constexpr uint32_t kNarrowest = 2;  // bytes of an atomic

  // False when they do not.
  bool Count(const uint64_t* address, uint32_t mask) {
    low_ = ~uint64_t{0};
    uint64_t high = 0;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const uint64_t at = address[std::countr_zero(m)];
      low_ = std::min(low_, at);
      high = std::max(high, at);
    }
    low_ &= ~uint64_t{(1u << kSectorShift) - 1};
    if (high - low_ >= kBytes) {
      return false;
    }
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const auto at = static_cast<uint32_t>(address[std::countr_zero(m)] - low_);
      uint8_t& of_sector = sectors_[at >> kSectorShift];
      of_sector = std::max(of_sector, ++addresses_[at / kNarrowest]);
      most_ = std::max(most_, of_sector);
    }
    return true;
  }
  uint32_t most() const { return most_; }
  uint32_t AddPlaces(AtomicPlaces& places, bool floating) const {
    uint32_t count = 0;
    for (uint32_t i = 0; i < sectors_.size(); ++i) {
      if (sectors_[i] != 0) {
        ++count;
        places.Add((low_ >> kSectorShift) + i, sectors_[i], floating);
      }
    }
    return count;
  }

 private:
  uint64_t low_ = 0;
  uint8_t most_ = 0;
  std::array<uint8_t, kBytes / kNarrowest> addresses_{};
  std::array<uint8_t, (kBytes >> kSectorShift)> sectors_{};
};

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
  const AccessShape shape{kind.bytes, mask, true, true};
  if (equal) {
    counts.serialised += lanes;
    if (kind.shared) {
      return;
    }
    worker.atomic_places.Add(address[first] >> kSectorShift, lanes, kind.floating);
    ++counts.sectors;
    if (worker.cache) {
      CacheRange(worker, site, address[first], address[first] + kind.bytes, shape);
    }
    return;
  }
  uint8_t rank[kLanes];
  CloseLanes close;
  const bool is_close = close.Count(address, mask);
  counts.serialised += is_close ? close.most() : CountPerAddress(worker, address, mask, rank);
  if (kind.shared) {
    return;
  }
  counts.sectors += is_close ? close.AddPlaces(worker.atomic_places, kind.floating)
                             : CountPlaces(worker, address, mask, rank, kind.floating);
  if (worker.cache) {
    RecordPattern(site, address, mask);
    CachePattern(worker, site, address[first], shape);
  }
}

}  // namespace optiml::ptx
