#ifndef OPTIML_PTX_ADDRESS_PATTERNS_H_
#define OPTIML_PTX_ADDRESS_PATTERNS_H_

// How the addresses of a warp's lanes lie when they are neither neighbours nor equal: the pattern
// (distances from the first active lane) and what it costs, kept in the MemorySite as long as the
// pattern stays. Internal to ptx/.

#include <algorithm>
#include <cstdint>

#include "ptx/access.h"
#include "ptx/warp.h"

namespace optiml::ptx {

// A small hash set over worker scratch: Add returns the key's slot and whether it is new.
class Distinct {
 public:
  explicit Distinct(Worker& worker) : worker_(worker) { ++worker_.request_number; }

  bool Add(uint64_t key, uint32_t& slot) {
    slot = static_cast<uint32_t>((key * 0x9e3779b97f4a7c15ULL) >> 57);
    while (worker_.scratch_stamp[slot] == worker_.request_number) {
      if (worker_.scratch_key[slot] == key) {
        return false;
      }
      slot = (slot + 1) & 127;
    }
    worker_.scratch_stamp[slot] = worker_.request_number;
    worker_.scratch_key[slot] = key;
    return true;
  }

 private:
  Worker& worker_;
};

// Records the lanes' distances from the first active lane. False when they do not fit 32 bits: the
// site is left without a pattern.
bool RecordPattern(MemorySite& site, const uint64_t* addresses, uint32_t mask);

// Joins the bytes of neighbouring lanes that touch into runs (MemorySite::run_*).
void BuildRuns(MemorySite& site, uint32_t bytes);

// Counts of an access whose pattern is recorded. Wavefronts: 4-byte accesses go by warp, 8-byte by
// half warp, 16-byte by quarter warp; twice as many lanes where they read in pairs. L1 has the
// banks of shared memory, so global accesses count alike.
struct PatternCounts {
  uint32_t sectors = 0;  // of 32 bytes
  uint32_t lines = 0;    // of 128 bytes
  uint32_t wavefronts = 0;
  uint32_t ideal = 0;  // wavefronts without bank conflicts
};
// At `address` of the first active lane. REQUIRES: every lane's address is a multiple of its bytes
PatternCounts CountPattern(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes);
// Fills the site's list of lines for this address; any alignment.
void PatternLines(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes);
// Clocks that L1 needs for a global request of so many wavefronts in so many lines.
inline uint32_t L1Wavefronts(uint32_t wavefronts, uint32_t lines) {
  constexpr uint32_t kLinesOfWavefront = 4;  // tags looked up in a clock
  return std::max(wavefronts, (lines + kLinesOfWavefront - 1) / kLinesOfWavefront);
}
// Phases (whole, half or quarter warps) with an active lane: the ideal wavefronts of an access
// without equal addresses.
uint32_t ActivePhases(uint32_t mask, uint32_t bytes);
// Half warps with an active lane: the wavefronts of a 16-byte access to one address.
inline uint32_t ActiveHalves(uint32_t mask) {
  return ((mask & 0xffff) != 0 ? 1u : 0u) + ((mask >> 16) != 0 ? 1u : 0u);
}

// Sends the sectors of [lo, hi) or of the recorded pattern to the cache model.
void CacheRange(Worker& worker, MemorySite& site, uint64_t lo, uint64_t hi,
                const AccessShape& shape);
void CachePattern(Worker& worker, MemorySite& site, uint64_t address, const AccessShape& shape);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ADDRESS_PATTERNS_H_
