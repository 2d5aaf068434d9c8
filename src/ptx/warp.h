#ifndef OPTIML_PTX_WARP_H_
#define OPTIML_PTX_WARP_H_

// The machine's state while a kernel runs: Warp (32 lanes), BlockState (its warps and shared
// memory), Worker (one host thread: caches, counters). Internal to ptx/. Plain data; the handlers
// in ops_*.cpp and machine.cpp work on it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/atomic_places.h"
#include "ptx/cache_model.h"
#include "ptx/counters.h"
#include "ptx/machine.h"
#include "ptx/memory.h"
#include "ptx/program.h"

namespace optiml::ptx {

inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffff;

// Shared memory of the cluster's block r is at (r + 1) << kRankShift of the shared window; below
// that is the block's own.
inline constexpr uint32_t kRankShift = 24;

enum class Stop : uint8_t {
  kNone,
  kExited,   // all lanes
  kBarrier,  // waits at Warp::barrier
  kYield,    // its slice ended, or it polls memory that has not changed
  kWait,     // for an mbarrier or for its cluster, at Warp::pc
  kFault,    // Worker::findings has it
  kStepLimit
};

// A group of lanes that waits to run.
struct Path {
  const Op* pc = nullptr;
  const Op* reconvergence = nullptr;
  uint32_t mask = 0;
  bool is_call = false;      // returns to the caller's frame when popped
  uint32_t saved_live = 0;   // calls: Warp::frame_live of the caller
  uint32_t saved_frame = 0;  // calls: index of the caller's function
  uint32_t saved_base = 0;   // calls: offset of the caller's registers
  uint32_t saved_local = 0;  // calls: offset of the caller's locals
  uint32_t saved_stack = 0;  // calls: Warp::local_stack of the caller
  uint32_t call_site = 0;
};

class AtomicLog;
struct Worker;
struct BlockState;
struct WgmmaState;
struct WarpShadow;
class ShadowStore;
class FloatShadow;

struct Warp {
  const uint8_t* base[2] = {nullptr,
                            nullptr};  // registers; constants - 1 (places of constants are odd)
  uint32_t active = 0;                 // lanes of the running path
  uint32_t carry = 0;                  // condition code, one bit a lane
  alignas(64) uint32_t lanes[kLanes] = {};  // active, as 0 or ~0 a lane
  const Op* reconvergence = nullptr;
  Worker* worker = nullptr;
  BlockState* block = nullptr;
  uint8_t* local = nullptr;  // lane l's locals are at local + l * local_stride
  uint32_t local_stride = 0;
  uint32_t local_base = 0;    // of the running function's frame
  int64_t slice = 0;          // instructions until it gives way
  uint64_t work = 0;          // so far; see Counters
  uint32_t live = 0;          // lanes that have not exited
  uint32_t frame_live = 0;    // lanes that have not returned from the running function
  uint32_t polls = 0;         // backward branches of polling loops since the last progress
  uint32_t index = 0;         // in the block
  uint32_t frame = 0;         // running function
  uint32_t frame_offset = 0;  // of its registers, from the start of the register file
  Stop stop = Stop::kNone;
  uint32_t active_count = 0;        // lanes of the running path
  uint32_t warp_floor = 0;          // race check: the stamp of its last warp-level synchronisation
  uint32_t saved_active = 0;        // while a predicated instruction runs
  const Op* poll_branch = nullptr;  // the backward branch that `polls` counts
  uint32_t poll_lanes = 0;          // lanes that took it last
  uint32_t local_stack = 0;         // bytes that the running frame has allocated (alloca)
  uint32_t rotations = 0;           // changes of path by lanes that wait, since its turn began
  uint32_t poll_turns = 0;          // turns that ended in the loop of `poll_branch`
  uint32_t split = 0;               // lanes that others went ahead of since they wait
  const Op* pc = nullptr;           // where to go on
  std::vector<Path> stack;
  uint64_t registers_bytes = 0;
  std::unique_ptr<std::byte[]> register_storage;
  std::unique_ptr<std::byte[]> local_storage;
  std::vector<uint64_t> local_initialised;
  // Barrier that it waits at.
  int32_t barrier = -1;
  uint32_t barrier_threads = 0;  // 0: all of the block
  const Op* barrier_op = nullptr;
  uint32_t barrier_predicate = 0;
  std::shared_ptr<WarpShadow> float_shadow;  // null: values are not followed (float_shadow.h)
  std::shared_ptr<WgmmaState> wgmma;  // matrix products in flight (ops_wgmma.cpp); null: none yet

  // More room for registers and locals; contents and frames stay.
  void Grow(uint64_t new_registers_bytes, uint32_t new_local_stride);

  uint8_t* registers() const { return const_cast<uint8_t*>(base[0]); }
  void SetActive(uint32_t mask) {
    active = mask;
    active_count = static_cast<uint32_t>(__builtin_popcount(mask));
    for (uint32_t l = 0; l < kLanes; ++l) {
      lanes[l] = 0 - ((mask >> l) & 1);
    }
  }
};

// One memory instruction as it ran last on this worker: the object it went to, and how the lanes'
// addresses lay. Most instructions do the same again, which makes checks and counts cheap.
struct MemorySite {
  uint64_t lo = 1;  // addresses of the object; empty at first
  uint64_t hi = 0;
  Allocation* allocation = nullptr;  // null: shared memory
  uint32_t mask = 0;                 // of the lanes for which the pattern holds; 0: none yet
  int32_t min_distance = 0;          // bytes, from the first active lane
  int32_t max_distance = 0;
  uint32_t distance_bits = 0;  // all distances or-ed
  bool duplicates = false;     // two lanes at the same address, or overlapping
  // Counts of the pattern, each once it is known: bit i of wavefronts_known says that
  // wavefronts[i], by address mod 4, holds; sectors and lines hold by address mod 128, or mod 32
  // groups of it where that is all that matters (CountPhase in access.cpp).
  uint8_t wavefronts_known = 0;
  int16_t wavefronts[4] = {};
  int16_t ideal = 0;  // wavefronts without bank conflicts
  uint64_t phases_known[2] = {};
  uint8_t phase_sectors[128] = {};
  uint8_t phase_lines[128] = {};
  uint32_t lines_phase = ~0u;  // address mod 128 for which `lines` holds
  uint8_t line_count = 0;
  int32_t line_distance[64] = {};  // in bytes from the first lane's line
  uint8_t line_sectors[64] = {};
  CacheHint hints[64] = {};
  // Neighbouring lanes' bytes joined, for checks of whole runs; built when the pattern holds a
  // second time.
  uint8_t run_count = 0;  // 0: not built
  int32_t run_distance[kLanes] = {};
  uint16_t run_bytes[kLanes] = {};
  uint8_t run_lane[kLanes] = {};
  alignas(64) int32_t distance[kLanes] = {};

  // The pattern is a new one.
  void ForgetCounts() {
    wavefronts_known = 0;
    phases_known[0] = 0;
    phases_known[1] = 0;
    lines_phase = ~0u;
    run_count = 0;
  }
  // The next access looks its object up.
  void Forget() {
    lo = 1;
    hi = 0;
  }
};

struct BlockCount {
  uint64_t warps = 0;
  uint64_t threads = 0;
};

// Tags of the race check for one granule of shared memory: (stamp << 10 | thread); the stamp grows
// at each barrier.
struct ShadowMemory {
  std::vector<uint32_t> write;
  std::vector<uint32_t> read;
  std::vector<uint32_t> read2;   // a second reader, of another warp
  std::vector<uint32_t> strong;  // atomics and volatile accesses
  // Instruction of the last access, for messages.
  std::vector<uint32_t> write_instruction;
  std::vector<uint32_t> read_instruction;
  uint32_t granule_shift = 2;
  uint32_t stamp = 1;
};

struct Barrier {
  uint32_t arrived_threads = 0;
  uint32_t expected_threads = 0;  // 0: all live threads of the block
  uint32_t warps = 0;             // bit mask of those that wait
  uint32_t arrivals = 0;          // warps that arrived without waiting (bar.arrive)
};

struct BlockAsync;
struct BlockOrder;
struct ClusterState;

struct BlockState {
  uint64_t linear_id = 0;
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t threads = 0;
  uint32_t warp_count = 0;
  uint32_t sm = 0;
  std::vector<Warp> warps;
  std::unique_ptr<std::byte[]> shared_storage;
  uint8_t* shared = nullptr;
  std::vector<uint64_t> shared_initialised;  // bit a byte
  std::array<Barrier, 16> barriers{};
  std::unique_ptr<ShadowMemory> shadow;
  // Race check: accesses of warp v with a stamp below known[w * 32 + v] are ordered before warp w's
  // next ones; floor[w] is the least of them.
  std::vector<uint32_t> known;
  std::vector<uint32_t> floor;
  uint32_t arrived_only = 0;  // warps that did bar.arrive since the last completion
  uint64_t idle_rounds = 0;   // rounds without progress
  // Of programs that use copies, mbarriers or clusters; see async_state.h.
  std::shared_ptr<BlockAsync> async;
  std::shared_ptr<ClusterState> cluster;
  // With the race check of global memory; see global_races.h.
  std::shared_ptr<BlockOrder> order;
  std::shared_ptr<ShadowStore> float_shadow;  // of shared memory; null: values are not followed
  uint32_t rank = 0;                          // in its cluster
  bool finished = false;  // all warps have exited; others of the cluster may run

  uint32_t AllWarps() const { return warp_count >= kLanes ? ~0u : (1u << warp_count) - 1; }
};

struct LaunchContext;

struct Worker {
  LaunchContext* launch = nullptr;
  bool count = false;  // counters wanted
  bool check_init = false;
  bool check_races = false;
  bool check_warp_races = false;
  bool check_global_races = false;
  bool parallel = false;  // other workers run: bitmaps and atomics need the host's atomics
  bool cache = false;
  FloatShadow* float_shadow = nullptr;  // of global memory
  AtomicLog* atomic_log = nullptr;      // null: atomics take effect at once (ordered_atomics.h)
  int64_t steps_left = 0;
  int64_t clock_start = 0;  // steps_left at the beginning
  uint64_t cycles_before = 0;
  uint64_t nanoseconds_before = 0;
  std::vector<BlockCount> blocks;
  std::vector<MemorySite> sites;
  std::vector<uint64_t> predicated_threads;  // by class
  Counters counters;
  AtomicPlaces atomic_places;  // of global memory
  L1Cache* l1 = nullptr;
  const std::vector<SharedRegion>* regions = nullptr;
  uint8_t* shared = nullptr;  // of the running block
  std::vector<Finding> findings;
  uint64_t findings_total = 0;
  bool faulted = false;
  bool progress = false;  // something other than polling happened in this round
  bool idle = false;      // nothing did in the last one: waits with a time limit end
  // Scratch of the sector and bank counts: keys with the number of the request that put them there.
  uint64_t scratch_key[128] = {};
  uint32_t scratch_stamp[128] = {};
  uint8_t scratch_slot[128] = {};
  uint32_t request_number = 0;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_WARP_H_
