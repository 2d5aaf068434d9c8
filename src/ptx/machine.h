#ifndef OPTIML_PTX_MACHINE_H_
#define OPTIML_PTX_MACHINE_H_

// Launch: runs one kernel of a module on emulated memory: warps of 32 lanes, reconvergence at the
// immediate post-dominator, blocks in the order of their linear id. Checks and counters are off
// unless asked for; bounds, alignment and read-only violations are always checked.
//
// Blocks or warps that wait for each other finish: a warp that spins (a loop that polls memory by
// an atomic, volatile or acquiring access) gives way to the other warps, then to further blocks.
//
// Deterministic: with more than one thread, blocks run in parallel, but for kernels in which the
// order of blocks can show in the results (atomics whose old value is used): those run on one.
// Floating-point sums by global atomics take effect in the order of blocks (ordered_atomics.h).
// Only the hits of the cache model vary with threads. Thread safe for distinct memories.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/launch_plan.h"
#include "ptx/counters.h"
#include "ptx/memory.h"
#include "ptx/module.h"

namespace optiml::ptx {

struct Checks {
  bool initialisation =
      false;  // reads of bytes never written: global (tracked allocations), shared, local
  bool shared_races = false;  // shared accesses of different warps that nothing orders
  bool warp_races =
      false;  // the same between lanes of one warp without a warp-level synchronisation
  bool divergent_barriers = true;  // bar.sync that part of a warp, or of the block, never reaches
  bool global_races = false;  // accesses of global memory that nothing orders, also between blocks;
                              // includes shared_races. Such a launch runs on one thread.
};

// Physical limits against which a launch is refused; defaults are those of compute capability 9.0
// (CUDA C++ Programming Guide, technical specifications).
struct LaunchLimits {
  uint32_t threads_per_block = 1024;
  uint64_t shared_bytes_per_block = 227 * 1024;  // opt-in limit, static and dynamic together
  uint32_t grid_x = 0x7fffffff;
  uint32_t grid_y = 65535;
  uint32_t grid_z = 65535;
  uint32_t cluster_blocks = 8;   // portable; 16 with an attribute of the kernel
  uint64_t resident_blocks = 0;  // most blocks of a cooperative launch; 0: not known
};

// A sectored, set-associative model: block b runs on SM b % sms with that SM's L1 (loads allocate,
// stores write through); one L2 (write back, allocates on both). Both start empty.
struct CacheModel {
  bool enabled = false;
  uint32_t sms = 132;  // H200
  uint64_t l1_bytes =
      128 * 1024;  // of one SM: what is left beside shared memory, and the share of one block if
                   // the caller divides it by the blocks resident together
  uint64_t l2_bytes = 50ull << 20;
  uint32_t l1_ways = 4;
  uint32_t l2_ways = 16;
};

class FloatShadow;

struct LaunchRequest {
  const Module* module = nullptr;
  std::string kernel;  // the PTX entry's name
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  // 1 1 1: what the kernel requires, else no clusters
  bool cooperative = false;
  uint64_t dynamic_shared_bytes = 0;
  std::vector<std::byte>
      parameters;  // laid out as Function::parameters say; must have parameter_bytes bytes
  Checks checks;
  LaunchLimits limits;
  bool counters = false;
  bool line_counters = false;               // also per source line
  CacheModel cache;                         // needs counters
  uint64_t step_limit = uint64_t{1} << 36;  // thread-instructions; 0: none
  // Run only these linear block ids (x fastest), in this order; empty: all. The caller knows that
  // blocks do not depend on each other. With clusters: all blocks of the clusters of these.
  std::vector<uint64_t> block_sample;
  int threads = 1;  // at most; see above
  // Follows floating-point values in double arithmetic (float_shadow.h), some 15 times slower and
  // on one host thread; null: does not.
  FloatShadow* shadow = nullptr;
  // What the clocks showed before the launch: they count thread instructions from there.
  uint64_t cycles_before = 0;
  uint64_t nanoseconds_before = 0;  // %globaltimer
  size_t findings_limit = 16;       // further findings are counted, not described
  size_t printf_bytes = 64 * 1024;  // output of printf that is kept
  // Set from elsewhere: the launch ends soon, as at its step limit. Null: nobody does.
  const std::atomic<bool>* stop = nullptr;
};

enum class LaunchStatus {
  kCompleted,  // ran to the end; findings may still hold races, uninitialised reads, divergent
               // barriers
  kFault,      // out of bounds, misaligned, read-only, trap, assertion: findings.front() says which
  kUnsupported,  // the kernel needs what the machine does not have: `message` names it with its
                 // lines
  kStepLimit,    // `message` names the lines where warps were
  kDeadlock,     // warps wait for each other for ever: `message` and a finding name their lines
  kRefused       // the launch is invalid: no such kernel, limits, parameter size
};
std::string LaunchStatusName(LaunchStatus status);

struct LaunchOutcome {
  LaunchStatus status = LaunchStatus::kRefused;
  std::string message;  // empty when completed; otherwise one sentence
  std::vector<Finding> findings;
  uint64_t findings_total = 0;
  Counters counters;  // zero unless asked for, but for blocks_run and thread_instructions
  std::string printf_output;
  // Checks that were asked for and gave up: "race check incomplete: ..."; no findings.
  std::vector<std::string> notes;

  // Completed and nothing found.
  bool clean() const { return status == LaunchStatus::kCompleted && findings_total == 0; }
};

// Never fails otherwise than in the outcome. Memory keeps what was written before a fault.
LaunchOutcome Launch(const LaunchRequest& request, DeviceMemory& memory);

// Packs values into a parameter block in declaration order; fails when number or size of the
// arguments disagree with the kernel. Each argument's bytes must be exactly the parameter's size.
Result<std::vector<std::byte>> PackParameters(const Function& kernel,
                                              const std::vector<std::vector<std::byte>>& arguments);

// Empty when every instruction that `kernel` can reach is one the machine executes; otherwise one
// message per distinct opcode: "unsupported: mma.sync... at PTX line 12, source line 7".
std::vector<std::string> UnsupportedInstructions(const Module& module, const std::string& kernel);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_MACHINE_H_
