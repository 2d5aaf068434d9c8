#ifndef OPTIML_PTX_ASYNC_STATE_H_
#define OPTIML_PTX_ASYNC_STATE_H_

// What is under way in a block besides its warps: asynchronous copies, mbarriers, and the cluster
// that it belongs to. Only blocks of programs that use any of this have it (Program::uses_async).
//
// Copies land as late as the rules of PTX allow: at the wait that covers them. A kernel that reads
// before its wait therefore sees what was there before, in every run.
//
// Race check: besides the tags of ShadowMemory, each word of 4 bytes knows whether a copy is about
// to write or read it, when the last copy landed in it, and who of the other blocks of the cluster
// touched it. An mbarrier hands on what its arrivals knew (Clock).
//
// Internal to ptx/. Plain data; ops_async.cpp, ops_bulk.cpp, ops_mbarrier.cpp, ops_cluster.cpp and
// async_checks.cpp work on it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/tensor_map.h"
#include "ptx/warp.h"

namespace optiml::ptx {

// Blocks of a cluster; 8 are portable, 16 need an attribute (CUDA C++ Programming Guide, "Thread
// Block Clusters").
inline constexpr uint32_t kMaxClusterBlocks = 16;
// Of a phase's arrivals, and of the bytes that it expects (PTX ISA, "mbarrier").
inline constexpr int64_t kMaxArrivals = (int64_t{1} << 20) - 1;

// What is ordered before: accesses of warp v of the block with a stamp below warps[v], of other
// blocks r of the cluster below blocks[r], copies that landed before `landed`.
struct Clock {
  std::array<uint32_t, kLanes> warps{};
  std::array<uint32_t, kMaxClusterBlocks> blocks{};
  uint32_t landed = 0;
};

struct Mbarrier {
  uint32_t address = 0;      // in the block's shared memory
  int64_t expected = 0;      // arrivals of each phase
  int64_t dropped = 0;       // of later phases
  int64_t pending = 0;       // arrivals that the running phase lacks
  int64_t bytes = 0;         // that it expects and that have not come (negative: came early)
  uint64_t phase = 0;        // that runs
  uint32_t instruction = 0;  // of its initialisation
  std::array<uint8_t, kLanes> attempts{};  // tests of the running phase in vain, by warp
  Clock running;
  Clock completed;
};

// One cp.async of a warp, as far as it has not landed.
struct CopyRecord {
  const Op* op = nullptr;
  uint32_t mask = 0;   // lanes whose bytes have not landed
  uint32_t bytes = 0;  // of a lane
  uint64_t number = 0;
  uint32_t destination[kLanes] = {};
  uint32_t group[kLanes] = {};  // of the lane's groups: the one that its next commit closes
  alignas(16) std::byte data[kLanes * 16] = {};
};

// An arrival that follows when the lanes' earlier copies have landed (cp.async.mbarrier.arrive).
struct PendingArrival {
  uint32_t barrier = 0;
  uint32_t warp = 0;
  uint32_t lane = 0;
  uint64_t before = 0;  // copies with smaller numbers
};

// One bulk copy of one thread, until it has landed.
struct BulkCopy {
  BulkKind kind = BulkKind::kLoad;
  const Op* op = nullptr;
  BlockState* issuer = nullptr;
  BlockState* target = nullptr;  // whose shared memory is written (kStore: read)
  uint32_t warp = 0;             // of the issuer
  uint32_t lane = 0;
  uint64_t global = 0;  // kLoad, kStore
  uint32_t shared = 0;  // in the target
  uint32_t source = 0;  // kBetweenBlocks: in the issuer
  uint32_t bytes = 0;
  uint32_t barrier = 0;               // in the target; kStore: none
  uint32_t group = 0;                 // kStore: the bulk group that its commit closes
  bool read = false;                  // kStore: `data` holds what was read
  CombineFunction combine = nullptr;  // null: overwrites
  uint32_t element_bytes = 0;
  std::vector<std::byte> data;             // kValue, and kStore once read
  std::shared_ptr<const TensorTile> tile;  // null: `bytes` consecutive ones
};

struct RemoteTag {
  uint32_t stamp = 0;  // of the other block; 0: none
  uint16_t rank = 0;
  uint16_t thread = 0;
  uint32_t instruction = 0;
  bool strong = false;  // an atomic or volatile access
};

// Of a word of 4 bytes of shared memory.
struct WordState {
  uint16_t writes = 0;    // copies that will write it
  uint16_t combines = 0;  // those of them that combine with what is there: they may meet each other
  uint16_t reads = 0;     // copies that will read it
  uint32_t landed = 0;    // when the last copy landed; 0: none
  bool barrier = false;   // belongs to an mbarrier
};

struct WarpAsync {
  std::vector<CopyRecord> copies;  // in order of issue; those before `first` have landed
  size_t first = 0;
  uint64_t next_number = 0;
  std::array<uint32_t, kLanes> committed{};       // groups of cp.async that each lane has closed
  std::array<uint32_t, kLanes> bulk_committed{};  // bulk groups
  uint32_t cluster_arrived = 0;  // lanes that wait for the running phase of the cluster's barrier
  uint32_t cluster_owes = 0;     // lanes that arrived and did not wait since
  // Race check: copies that landed before are ordered before this warp; so are accesses of other
  // blocks with smaller stamps.
  uint32_t known_landed = 0;
  std::array<uint32_t, kMaxClusterBlocks> known_blocks{};
  // Generic writes with smaller stamps may be read by the asynchronous proxy.
  std::array<uint32_t, kLanes> fenced{};
};

struct BlockAsync {
  std::array<WarpAsync, kLanes> warps;
  std::vector<Mbarrier> barriers;
  std::vector<PendingArrival> arrivals;
  std::vector<BulkCopy> incoming;        // that complete at an mbarrier of this block
  std::vector<BulkCopy> outgoing;        // of bulk groups of its threads
  uint32_t landings = 1;                 // counts them
  std::vector<WordState> words;          // empty without the race check
  std::vector<RemoteTag> remote_writes;  // empty without the race check, or in clusters of one
  std::vector<RemoteTag> remote_reads;

  Mbarrier* Find(uint32_t address);
  // As at the start of a block.
  void Reset();
};

struct ClusterState {
  std::vector<BlockState*> blocks;  // by rank
  uint64_t phase = 0;               // of its barrier
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ASYNC_STATE_H_
