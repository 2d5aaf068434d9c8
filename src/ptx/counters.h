#ifndef OPTIML_PTX_COUNTERS_H_
#define OPTIML_PTX_COUNTERS_H_

// Counters: what a launch did, as numbers. Counts are of PTX instructions, not of the machine code
// that ptxas makes of them: compare ratios. Every count is of the blocks that ran; `blocks_run` of
// `blocks_in_grid` says which share that is.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace optiml::ptx {

enum class InstructionClass : uint8_t {
  kFp32Add,    // add and sub of f32
  kFp32Other,  // min, max, abs, neg, compare of f32
  kFp32Mul,
  kFp32Fma,
  kFp64,
  kFp16,             // f16, bf16 and packed forms
  kInteger,          // 32-bit and narrower: arithmetic, logic, shifts, compare, select
  kInteger64,        // 64-bit integers: ptxas needs about two 32-bit instructions for each
  kSpecialFunction,  // ex2, lg2, rcp, rsqrt, sin, cos, tanh, sqrt
  kFp32Division,     // correctly rounded div, rcp and sqrt of f32: each a sequence on the GPU
  kFp32Reciprocal,
  kFp32Root,
  kDivision,  // div and rem of other types
  kConversion,
  kMove,     // mov, cvta, ld.param: mostly no instruction on the GPU
  kControl,  // bra, ret, call, bar, fences, nanosleep
  kWarp,     // shfl, vote, match, redux, activemask
  kLoadGlobal,
  kStoreGlobal,
  kLoadShared,
  kStoreShared,
  kLoadLocal,
  kStoreLocal,
  kLoadConst,
  kAtomicGlobal,
  kAtomicShared,
  kMatrix,  // mma, wmma.mma, wgmma
  kOther,
  kCount
};
std::string_view InstructionClassName(InstructionClass instruction_class);
inline constexpr size_t kInstructionClasses = static_cast<size_t>(InstructionClass::kCount);

// One kind of access (loads or stores) to global or local memory.
struct RequestCounts {
  uint64_t requests = 0;    // warp-level instructions with at least one active lane
  uint64_t sectors = 0;     // 32-byte sectors that they touch, each once a request
  uint64_t lane_bytes = 0;  // bytes that the active lanes asked for
  uint64_t lines = 0;       // 128-byte lines that they touch, each once a request; global only
  // Clocks of L1: as in shared memory, each of 32 banks gives 4 bytes; global only.
  uint64_t wavefronts = 0;
};

// One kind of access to shared memory: 32 banks of 4 bytes; 8-byte accesses go by half warp,
// 16-byte by quarter warp.
struct SharedCounts {
  uint64_t requests = 0;
  uint64_t wavefronts = 0;
  uint64_t conflicts = 0;  // wavefronts beyond the number without bank conflicts
};

// Asynchronous copies.
struct CopyCounts {
  uint64_t requests = 0;  // cp.async: warp-level instructions; bulk copies: one each
  uint64_t bytes = 0;     // read; of bulk copies, moved
};

struct AtomicCounts {
  uint64_t requests = 0;
  uint64_t sectors = 0;     // global only
  uint64_t lanes = 0;       // active lanes: operations
  uint64_t serialised = 0;  // sum over requests of the largest number of lanes on one address
  uint64_t returning = 0;   // requests whose result is used (atom); the rest are reductions (red)
  // Global only (atomic_places.h): L2 takes one address of a sector in a round.
  uint64_t rounds = 0;
  uint64_t busiest_float_sector_rounds = 0;  // of a sector, counting floating-point atomics alone
  uint64_t busiest_piece_rounds = 0;         // of 512 bytes that one slice of L2 holds
  uint64_t pieces = 0;                       // that were touched, of 512 bytes; at most 4096
};

// Of one source line, when asked for.
struct LineCounts {
  int32_t line = 0;
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
};

// A load that hits L1 takes as long as ten dependent instructions of four clocks (latencies: Luo et
// al., "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking", 2024).
inline constexpr uint32_t kLoadRoundWork = 10;

struct Counters {
  uint64_t blocks_in_grid = 0;
  uint64_t blocks_run = 0;
  uint64_t warps_run = 0;
  uint64_t threads_run = 0;

  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;  // lanes that were active, predicated-off lanes included
  // Lanes whose predicate held, by class.
  std::array<uint64_t, kInstructionClasses> thread_by_class{};
  std::array<uint64_t, kInstructionClasses> warp_by_class{};

  uint64_t branches = 0;            // warp-level conditional branches
  uint64_t divergent_branches = 0;  // those whose lanes went both ways
  uint64_t barriers = 0;            // warp-level arrivals at bar.sync and bar.red

  RequestCounts global_load;
  RequestCounts global_store;
  RequestCounts local_load;
  RequestCounts local_store;
  SharedCounts shared_load;
  SharedCounts shared_store;
  // Their traffic is also in global_load, global_store, shared_load and shared_store; of a bulk
  // copy each 128 bytes count as a request.
  CopyCounts async_copy;  // cp.async
  CopyCounts bulk_copy;   // cp.async.bulk
  // Accesses of ordinary instructions to the shared memory of other blocks of the cluster.
  RequestCounts cluster_load;
  RequestCounts cluster_store;
  AtomicCounts global_atomic;
  AtomicCounts shared_atomic;
  uint64_t const_load_requests = 0;

  // Cache model (absent: cache_modelled false). Sectors of 32 bytes, local memory included.
  bool cache_modelled = false;
  uint64_t l1_load_sectors = 0;
  uint64_t l1_load_hits = 0;
  uint64_t l2_sectors = 0;  // reads, writes and atomics that reach L2
  uint64_t l2_hits = 0;
  uint64_t l2_read_sectors = 0;
  uint64_t l2_write_sectors = 0;
  uint64_t dram_read_bytes = 0;
  uint64_t dram_write_bytes = 0;       // evicted while the kernel ran
  uint64_t l2_dirty_bytes_at_end = 0;  // still to be written when it ended

  // Requests of global loads, by the farthest place that one of their sectors came from; the others
  // came from L1.
  uint64_t load_requests_from_l2 = 0;
  uint64_t load_requests_from_dram = 0;

  // Memory-level parallelism, from the order and the dependences of the loads inside each basic
  // block, weighted with how often the block ran: `global_load_rounds` counts rounds of loads that
  // can be in flight together.
  uint64_t global_load_rounds = 0;

  // How unevenly work is spread: the sum over blocks of the work of each one's longest warp, and
  // the work of the longest warp of all. Work: warp instructions, and kLoadRoundWork for each round
  // of global loads.
  uint64_t longest_warp_work = 0;
  uint64_t longest_block_work = 0;

  std::vector<LineCounts> lines;  // sorted by line; empty unless asked for

  // Average global loads of a warp in flight at the first use of one; 0 without global loads.
  double LoadsInFlight() const;
  double GlobalLoadSectorsPerRequest() const;   // 0 without loads
  double GlobalStoreSectorsPerRequest() const;  // 0 without stores
  double ThreadsPerInstruction() const;         // 0 .. 32
  double L1HitRatio() const;                    // 0 .. 1; 0 without the model
  double L2HitRatio() const;
  uint64_t ByClass(InstructionClass instruction_class) const {
    return thread_by_class[static_cast<size_t>(instruction_class)];
  }

  Counters& operator+=(const Counters& other);
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_COUNTERS_H_
