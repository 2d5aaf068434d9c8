#ifndef OPTIML_PTX_ACCESS_H_
#define OPTIML_PTX_ACCESS_H_

// The uncommon half of memory accesses: finding the object, patterns of addresses, sector and bank
// counts, findings. The common half is in ops_memory.cpp, which calls these when its quick tests
// fail. Internal to ptx/.

#include <algorithm>
#include <cstdint>
#include <string>

#include "ptx/warp.h"

namespace optiml::ptx {

// One access by some lanes of a warp.
struct AccessShape {
  uint32_t bytes = 4;  // of one lane, all elements of a vector together
  uint32_t mask = 0;
  bool store = false;
  bool atomic = false;
};

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

// Points the site at the allocation (or shared region) that holds all of [lo, hi); false when none
// does or a store is not allowed.
bool LocateGlobal(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi, bool store);
bool LocateShared(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi);

// Records the lanes' distances from the first active lane. False when they do not fit 32 bits: the
// site is left without a pattern.
bool RecordPattern(MemorySite& site, const uint64_t* addresses, uint32_t mask);

// Joins the bytes of neighbouring lanes that touch into runs (MemorySite::run_*).
void BuildRuns(MemorySite& site, uint32_t bytes);

// Counts of a global access whose pattern is recorded, at `address` of the first active lane.
uint32_t PatternSectors(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes);
// Fills site.lines for this address.
void PatternLines(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes);
// Wavefronts of a shared access with a recorded pattern; `ideal` is the number without conflicts.
// 4-byte accesses go by warp, 8-byte by half warp, 16-byte by quarter warp; twice as many lanes
// where they read in pairs. L1 has the banks of shared memory, so global accesses count alike.
uint32_t PatternWavefronts(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes,
                           uint32_t& ideal, bool global = false);
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

// Ends the kernel: finds the lane that cannot make its access and says why. Returns null.
const Op* FaultAccess(Warp& warp, const Op* op, Space space, const uint64_t* addresses,
                      const AccessShape& shape);

// Bits of a bitmap: whether [begin, end) are all set; set them.
bool BitsSet(const uint64_t* bitmap, uint64_t begin, uint64_t end);
void SetBits(uint64_t* bitmap, uint64_t begin, uint64_t end, bool parallel);

// A read of bytes never written; goes on.
void ReportUninitialised(Warp& warp, const Op* op, Space space, uint32_t lane, uint64_t address,
                         uint32_t bytes);

enum class SharedAccess : uint8_t { kLoad, kStore, kStrong };

// Bytes [lo, hi) of the block's own shared memory, against copies, mbarriers and other blocks: see
// async_checks.h. REQUIRES: the program uses any of these (BlockState::async), races are checked
void CheckAsyncAccess(Warp& warp, const Op* op, uint64_t lo, uint64_t hi, uint32_t lane,
                      SharedAccess access);

// Shared addresses of which some lie in other blocks of the cluster (mapa): checks and counts the
// access and says where each lane's bytes are. False after a fault. REQUIRES: the block's program
// uses clusters (BlockState::cluster)
bool RemoteShared(Warp& warp, const Op* op, const uint64_t* addresses, uint32_t mask,
                  uint32_t bytes, SharedAccess access, uint8_t** hosts);

// Op::aux of accesses and atomics, beside what the handlers use.
inline constexpr uint32_t kAccessStrong = 1;  // volatile, relaxed, acquire, release
inline constexpr uint32_t kAccessBlockScope = 16;
inline constexpr uint32_t kAccessRelease = 64;
inline constexpr uint32_t kAccessCompareAndSwap = 128;

// Bytes [lo, hi) of global memory by neighbouring lanes from `first` on.
struct GlobalLanes {
  uint64_t lo = 0;
  uint64_t hi = 0;
  uint32_t first = 0;
  uint32_t lane_bytes = 4;     // of each lane
  uint32_t element_bytes = 4;  // of a register
};
// The race check of global memory (global_races.h), before the access happens.
// REQUIRES: Worker::check_global_races
void CheckGlobalAccess(Warp& warp, const Op* op, const Allocation& allocation,
                       const GlobalLanes& lanes, bool store);
void CheckGlobalAtomic(Warp& warp, const Op* op, const Allocation& allocation, uint64_t at,
                       uint32_t bytes, uint32_t lane);

// Race check of granules [begin, end) by one lane after the quick test found a tag that is not
// known to be ordered. `value_equal`: a store that leaves the bytes as they were, so that it does
// not matter which of the stores was last.
void CheckRace(Warp& warp, const Op* op, uint32_t begin, uint32_t end, uint32_t lane,
               SharedAccess access, bool value_equal);
// Two lanes of one store instruction wrote different values to one address.
void ReportLaneConflict(Warp& warp, const Op* op, Space space, uint32_t lane, uint32_t other,
                        uint64_t address);

// Adds a finding about the instruction, unless the same one was reported by the same instruction;
// `detail` follows "block (..) thread (..): ".
void Report(Warp& warp, const Op* op, uint32_t lane, const std::string& kind,
            const std::string& detail);
// The same, and the kernel ends. Returns null.
const Op* Fault(Warp& warp, const Op* op, uint32_t lane, const std::string& kind,
                const std::string& detail);

// "block (1,0,0) thread (33,0,0)"
std::string WhoText(const Warp& warp, uint32_t lane);
// "byte 48 of tile in shared memory" (PTX does not say how large the elements are)
std::string SharedName(const Warp& warp, uint64_t address);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ACCESS_H_
