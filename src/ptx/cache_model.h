#ifndef OPTIML_PTX_CACHE_MODEL_H_
#define OPTIML_PTX_CACHE_MODEL_H_

// The cache model: sectored, set associative, least recently used. Lines of 128 bytes with four
// sectors of 32 bytes. Loads go through the L1 of the block's SM (allocate on miss); stores and
// atomics go to L2, which writes back; a store updates the L1's sector when it is there, an atomic
// drops it. DRAM traffic is what L2 misses, by aligned 64 bytes, and evicts, by sectors.
//
// Internal to ptx/. Not thread safe: workers lock the L2 (LockedL2).

#include <cstdint>
#include <memory>
#include <mutex>

#include "ptx/counters.h"

namespace optiml::ptx {

inline constexpr uint32_t kLineBytes = 128;
inline constexpr uint32_t kSectorBytes = 32;

// Number of sectors in a mask of four.
inline uint64_t SectorCount(uint8_t sectors) {
  return (0x4332322132212110ULL >> (4 * (sectors & 15))) & 15;
}

// Where a line was found last: an index into the cache's lines. Wrong hints only cost a search.
using CacheHint = uint32_t;

class SectorCache {
 public:
  SectorCache(uint64_t bytes, uint32_t ways);

  struct Outcome {
    uint8_t hit = 0;            // sectors that were there, of those asked for
    uint8_t evicted_dirty = 0;  // dirty sectors that left
  };
  // Whether the hint leads to the line and all its sectors are there: the common case, without a
  // search.
  bool HitsAt(uint64_t line, uint8_t sectors, CacheHint hint) {
    Line& found = lines_[hint < line_count_ ? hint : 0];
    if (found.tag != line + 1 || (sectors & ~found.valid) != 0) {
      return false;
    }
    found.used = ++clock_;
    return true;
  }
  // Looks up `sectors` (4 bits) of the line; brings them in when `allocate`; marks them dirty when
  // `write`.
  Outcome Access(uint64_t line, uint8_t sectors, bool allocate, bool write, CacheHint& hint);
  void Invalidate(uint64_t line, uint8_t sectors);
  uint64_t DirtySectors() const;

 private:
  struct Line {
    uint64_t tag = 0;  // line + 1; 0: empty
    uint32_t used = 0;
    uint8_t valid = 0;
    uint8_t dirty = 0;
  };
  uint64_t SetOf(uint64_t line) const;

  struct Freer {
    void operator()(Line* lines) const;
  };

  // From calloc: pages that no access touches cost nothing, and a model of 50 MB has many.
  std::unique_ptr<Line[], Freer> lines_;
  uint64_t line_count_;
  uint64_t sets_;
  uint32_t ways_;
  uint32_t clock_ = 0;
};

class L2Cache {
 public:
  L2Cache(uint64_t bytes, uint32_t ways) : cache_(bytes, ways) {}
  void Read(uint64_t line, uint8_t sectors, Counters& counters);
  void Write(uint64_t line, uint8_t sectors, Counters& counters);
  // Reads what is not there, and writes.
  void Update(uint64_t line, uint8_t sectors, Counters& counters);
  uint64_t DirtyBytes() const { return cache_.DirtySectors() * kSectorBytes; }
  void set_shared(bool shared) { shared_ = shared; }

 private:
  std::mutex mutex_;
  bool shared_ = false;  // by several workers
  SectorCache cache_;
  CacheHint hint_ = 0;
};

class L1Cache {
 public:
  L1Cache(uint64_t bytes, uint32_t ways, L2Cache* l2) : cache_(bytes, ways), l2_(l2) {}
  void Load(uint64_t line, uint8_t sectors, CacheHint& hint, Counters& counters) {
    if (cache_.HitsAt(line, sectors, hint)) {
      const uint64_t count = SectorCount(sectors);
      counters.l1_load_sectors += count;
      counters.l1_load_hits += count;
    } else {
      LoadSlowly(line, sectors, hint, counters);
    }
  }
  void Store(uint64_t line, uint8_t sectors, CacheHint& hint, Counters& counters);
  void Atomic(uint64_t line, uint8_t sectors, Counters& counters);

 private:
  void LoadSlowly(uint64_t line, uint8_t sectors, CacheHint& hint, Counters& counters);

  SectorCache cache_;
  L2Cache* l2_;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_CACHE_MODEL_H_
