#include "ptx/cache_model.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace optiml::ptx {

namespace {

// The sectors of a mask and those that lie in the same aligned 64 bytes: what L2 fetches from DRAM
// at once (measured on an H200: a 4-byte load from each line reads 64 bytes).
uint8_t PairsOf(uint8_t sectors) {
  const uint8_t lower = sectors & 0x5;
  const uint8_t upper = sectors & 0xa;
  return static_cast<uint8_t>(sectors | lower << 1 | upper >> 1);
}

}  // namespace

SectorCache::SectorCache(uint64_t bytes, uint32_t ways) : ways_(std::max(ways, 1u)) {
  sets_ = std::max<uint64_t>(bytes / kLineBytes / ways_, 1);
  line_count_ = sets_ * ways_;
  lines_.reset(static_cast<Line*>(std::calloc(line_count_, sizeof(Line))));
  OPTIML_CHECK(lines_ != nullptr, "no memory for the cache model");
}

void SectorCache::Freer::operator()(Line* lines) const {
  std::free(lines);
}

uint64_t SectorCache::SetOf(uint64_t line) const {
  // Real caches hash the address so that power-of-two strides spread; the multiplier is 2^64 /
  // golden ratio.
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(line * 0x9e3779b97f4a7c15ULL) * sets_) >> 64);
}

SectorCache::Outcome SectorCache::Access(uint64_t line, uint8_t sectors, bool allocate, bool write,
                                         CacheHint& hint) {
  Line* found = nullptr;
  if (hint < line_count_ && lines_[hint].tag == line + 1) {
    found = &lines_[hint];
  } else {
    Line* set = &lines_[SetOf(line) * ways_];
    Line* oldest = set;
    for (uint32_t way = 0; way < ways_; ++way) {
      if (set[way].tag == line + 1) {
        found = &set[way];
        break;
      }
      // Ages as differences, so that the clock may wrap.
      if (clock_ - set[way].used > clock_ - oldest->used) {
        oldest = &set[way];
      }
    }
    if (found == nullptr) {
      if (!allocate) {
        return {};
      }
      Outcome outcome;
      outcome.evicted_dirty = static_cast<uint8_t>(SectorCount(oldest->dirty));
      *oldest = Line{line + 1, ++clock_, sectors, write ? sectors : uint8_t{0}};
      hint = static_cast<CacheHint>(oldest - lines_.get());
      return outcome;
    }
    hint = static_cast<CacheHint>(found - lines_.get());
  }
  Outcome outcome;
  outcome.hit = found->valid & sectors;
  found->used = ++clock_;
  if (allocate) {
    found->valid |= sectors;
    found->dirty |= write ? sectors : uint8_t{0};
  }
  return outcome;
}

void SectorCache::Invalidate(uint64_t line, uint8_t sectors) {
  Line* set = &lines_[SetOf(line) * ways_];
  for (uint32_t way = 0; way < ways_; ++way) {
    if (set[way].tag == line + 1) {
      set[way].valid &= static_cast<uint8_t>(~sectors);
    }
  }
}

uint64_t SectorCache::DirtySectors() const {
  uint64_t count = 0;
  for (uint64_t i = 0; i < line_count_; ++i) {
    count += SectorCount(lines_[i].dirty);
  }
  return count;
}

void L2Cache::Read(uint64_t line, uint8_t sectors, Counters& counters) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (shared_) {
    lock.lock();
  }
  const auto outcome = cache_.Access(line, sectors, true, false, hint_);
  const auto asked = SectorCount(sectors);
  const auto hits = SectorCount(outcome.hit);
  counters.l2_sectors += asked;
  counters.l2_read_sectors += asked;
  counters.l2_hits += hits;
  counters.dram_read_bytes += (asked - hits) * kSectorBytes;
  // A sector that is missing comes with the other one of its 64 bytes.
  const auto missing = static_cast<uint8_t>(sectors & ~outcome.hit);
  const auto with = static_cast<uint8_t>(PairsOf(missing) & ~sectors);
  if (with != 0) {
    const auto fetched = cache_.Access(line, with, true, false, hint_);
    counters.dram_read_bytes += (SectorCount(with) - SectorCount(fetched.hit)) * kSectorBytes;
  }
  counters.dram_write_bytes += uint64_t{outcome.evicted_dirty} * kSectorBytes;
}

void L2Cache::Write(uint64_t line, uint8_t sectors, Counters& counters) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (shared_) {
    lock.lock();
  }
  const auto outcome = cache_.Access(line, sectors, true, true, hint_);
  const auto asked = SectorCount(sectors);
  counters.l2_sectors += asked;
  counters.l2_write_sectors += asked;
  // A write never waits for DRAM: L2 keeps byte masks. It counts as a hit, as
  // lts__t_sector_hit_rate does.
  counters.l2_hits += asked;
  counters.dram_write_bytes += uint64_t{outcome.evicted_dirty} * kSectorBytes;
}

void L2Cache::Update(uint64_t line, uint8_t sectors, Counters& counters) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (shared_) {
    lock.lock();
  }
  const auto outcome = cache_.Access(line, sectors, true, true, hint_);
  const uint64_t asked = SectorCount(sectors);
  const uint64_t hits = SectorCount(outcome.hit);
  counters.l2_sectors += asked;
  counters.l2_write_sectors += asked;
  counters.l2_hits += hits;
  counters.dram_read_bytes += (asked - hits) * kSectorBytes;
  counters.dram_write_bytes += uint64_t{outcome.evicted_dirty} * kSectorBytes;
}

void L1Cache::LoadSlowly(uint64_t line, uint8_t sectors, CacheHint& hint, Counters& counters) {
  const auto outcome = cache_.Access(line, sectors, true, false, hint);
  counters.l1_load_sectors += SectorCount(sectors);
  counters.l1_load_hits += SectorCount(outcome.hit);
  const auto missing = static_cast<uint8_t>(sectors & ~outcome.hit);
  if (missing != 0) {
    l2_->Read(line, missing, counters);
  }
}

void L1Cache::Store(uint64_t line, uint8_t sectors, CacheHint& hint, Counters& counters) {
  cache_.Access(line, sectors, false, false, hint);
  l2_->Write(line, sectors, counters);
}

void L1Cache::Atomic(uint64_t line, uint8_t sectors, Counters& counters) {
  cache_.Invalidate(line, sectors);
  l2_->Update(line, sectors, counters);
}

}  // namespace optiml::ptx
