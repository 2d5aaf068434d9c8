#ifndef OPTIML_PTX_ACCESS_H_
#define OPTIML_PTX_ACCESS_H_

// The uncommon half of memory accesses: finding the object, bits of bitmaps, findings. The common
// half is in ops_memory.cpp, which calls these when its quick tests fail; how the lanes' addresses
// lie is counted in address_patterns.h. Internal to ptx/.

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

// Points the site at the allocation (or shared region) that holds all of [lo, hi); false when none
// does or a store is not allowed. LocateGlobal: for accesses that are no atomics; what the launch's
// atomics do to the allocation before has happened then.
bool FindGlobal(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi, bool store);
bool LocateGlobal(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi, bool store);
bool LocateShared(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi);

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
// A run of neighbouring bytes of one access, of lanes from `lane` on.
struct GlobalPiece {
  uint64_t lo;
  uint64_t hi;
  uint32_t lane;
};
// The same for all pieces of one access, in their order. `shape`: its first three numbers hold
// nothing.
void CheckGlobalPieces(Warp& warp, const Op* op, const Allocation& allocation,
                       const GlobalPiece* pieces, uint32_t count, const GlobalLanes& shape,
                       bool store);
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
