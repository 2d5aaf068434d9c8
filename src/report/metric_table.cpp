#include "report/metric_table.h"

#include <fmt/format.h>

#include <array>

#include "core/hardware_metrics.h"

namespace optiml {
namespace {

constexpr char kWork[] = "work";
constexpr char kGlobal[] = "global memory";
constexpr char kShared[] = "shared memory";
constexpr char kLaunch[] = "launch";
constexpr char kLimits[] = "limits";
constexpr MetricSense kLower = MetricSense::kLower;
constexpr MetricSense kHigher = MetricSense::kHigher;
constexpr MetricSense kNeutral = MetricSense::kNeutral;

constexpr std::array kTable = {
    MetricInfo{metric::kThreadInstructions, "thread instructions", "inst", kLower, kWork,
               "instructions executed, counted once for each active thread"},
    MetricInfo{metric::kWarpInstructions, "warp instructions", "inst", kLower, kWork,
               "instructions executed, counted once for each warp; what the schedulers issue"},
    MetricInfo{metric::kThreadsPerInstruction, "threads per instruction", "thread", kHigher, kWork,
               "average active threads of a warp instruction, 0 to 32; low values mean divergence "
               "or partly filled warps"},
    MetricInfo{metric::kFaddInstructions, "FADD", "inst", kNeutral, kWork,
               "single-precision additions, by thread; one floating-point operation each"},
    MetricInfo{metric::kFmulInstructions, "FMUL", "inst", kNeutral, kWork,
               "single-precision multiplications, by thread; one floating-point operation each"},
    MetricInfo{metric::kFfmaInstructions, "FFMA", "inst", kNeutral, kWork,
               "single-precision fused multiply-adds, by thread; two floating-point operations "
               "each"},
    MetricInfo{metric::kIntegerInstructions, "integer instructions", "inst", kLower, kWork,
               "integer arithmetic, by thread: mostly addresses and loop counters"},
    MetricInfo{metric::kSpecialFunctionInstructions, "special functions", "inst", kLower, kWork,
               "warp instructions on the transcendental unit (ex2, lg2, rcp, rsqrt, sin, cos) and "
               "conversions"},
    MetricInfo{metric::kDivergentBranches, "divergent branches", "branch", kLower, kWork,
               "branches at which the threads of a warp went different ways"},
    MetricInfo{metric::kBarriers, "barriers", "barrier", kNeutral, kWork,
               "arrivals of warps at a block-wide barrier; only the emulator counts them"},
    MetricInfo{metric::kGlobalLoadRequests, "global load requests", "request", kLower, kGlobal,
               "warp-level load instructions to global memory"},
    MetricInfo{metric::kGlobalLoadSectors, "global load sectors", "sector", kLower, kGlobal,
               "32-byte sectors that the global loads touched"},
    MetricInfo{metric::kGlobalLoadSectorsPerRequest, "sectors per load", "sector", kLower, kGlobal,
               "sectors a load request touches: 4 for 32 neighbouring 4-byte words, 32 when every "
               "thread reads another sector"},
    MetricInfo{metric::kGlobalStoreRequests, "global store requests", "request", kLower, kGlobal,
               "warp-level store instructions to global memory"},
    MetricInfo{metric::kGlobalStoreSectors, "global store sectors", "sector", kLower, kGlobal,
               "32-byte sectors that the global stores touched"},
    MetricInfo{metric::kGlobalStoreSectorsPerRequest, "sectors per store", "sector", kLower,
               kGlobal, "sectors a store request touches; see sectors per load"},
    MetricInfo{metric::kGlobalAtomicRequests, "global atomic requests", "request", kLower, kGlobal,
               "warp-level atomic operations at global memory"},
    MetricInfo{metric::kGlobalAtomicLanes, "global atomic lanes", "lane", kLower, kGlobal,
               "threads that took part in atomic operations at global memory"},
    MetricInfo{metric::kGlobalAtomicRounds, "global atomic rounds", "round", kLower, kGlobal,
               "rounds in which threads of one atomic request met on one address"},
    MetricInfo{metric::kLoadsInFlight, "loads in flight", "load", kHigher, kGlobal,
               "average global loads that a warp has in flight together"},
    MetricInfo{metric::kDramReadBytes, "DRAM bytes read", "byte", kLower, kGlobal,
               "bytes that moved from device memory to the L2 cache"},
    MetricInfo{metric::kDramWriteBytes, "DRAM bytes written", "byte", kLower, kGlobal,
               "bytes that moved from the L2 cache to device memory"},
    MetricInfo{metric::kDramDirtyBytes, "dirty bytes left in L2", "byte", kLower, kGlobal,
               "bytes in the L2 cache that are still to be written when the kernel ends"},
    MetricInfo{metric::kL1HitRatio, "L1 hit ratio", "ratio", kNeutral, kGlobal,
               "sectors found in the L1 cache over sectors asked for, 0 to 1"},
    MetricInfo{metric::kL2HitRatio, "L2 hit ratio", "ratio", kNeutral, kGlobal,
               "sectors found in the L2 cache over sectors asked for, 0 to 1"},
    MetricInfo{metric::kLocalLoadSectors, "local load sectors", "sector", kLower, kGlobal,
               "sectors read from local memory: spilled registers and indexed local arrays"},
    MetricInfo{metric::kLocalStoreSectors, "local store sectors", "sector", kLower, kGlobal,
               "sectors written to local memory"},
    MetricInfo{metric::kSharedLoadWavefronts, "shared load wavefronts", "wavefront", kNeutral,
               kShared, "passes through the shared-memory banks that the loads needed"},
    MetricInfo{metric::kSharedStoreWavefronts, "shared store wavefronts", "wavefront", kNeutral,
               kShared, "passes through the shared-memory banks that the stores needed"},
    MetricInfo{metric::kSharedLoadConflicts, "shared load conflicts", "wavefront", kLower, kShared,
               "load wavefronts beyond the conflict-free number"},
    MetricInfo{metric::kSharedStoreConflicts, "shared store conflicts", "wavefront", kLower,
               kShared, "store wavefronts beyond the conflict-free number"},
    MetricInfo{metric::kSharedAtomicRequests, "shared atomic requests", "request", kLower, kShared,
               "warp-level atomic operations at shared memory"},
    MetricInfo{metric::kSharedAtomicRounds, "shared atomic rounds", "round", kLower, kShared,
               "rounds in which threads of one atomic request met on one address"},
    MetricInfo{metric::kRegisters, "registers per thread", "register", kNeutral, kLaunch,
               "registers that the linker gave each thread"},
    MetricInfo{metric::kSharedBytesPerBlock, "shared memory per block", "byte", kNeutral, kLaunch,
               "static and dynamic shared memory of one block"},
    MetricInfo{metric::kBlocks, "blocks", "block", kNeutral, kLaunch, "blocks of the grid"},
    MetricInfo{
        metric::kWaves, "waves", "wave", kNeutral, kLaunch,
        "blocks of the grid over the blocks that the device holds at once; below 1 a part of "
        "the device idles"},
    MetricInfo{metric::kTheoreticalOccupancy, "theoretical occupancy", "ratio", kNeutral, kLaunch,
               "resident warps that registers, shared memory and block size allow, over the "
               "multiprocessor's limit, 0 to 1"},
    MetricInfo{metric::kDramUtilisation, "DRAM utilisation", "ratio", kNeutral, kLimits,
               "DRAM bytes a second over the pin bandwidth, 0 to 1"},
    MetricInfo{metric::kSmUtilisation, "SM utilisation", "ratio", kNeutral, kLimits,
               "use of the busiest pipe of the multiprocessors, 0 to 1"},
    MetricInfo{metric::kL2Utilisation, "L2 utilisation", "ratio", kNeutral, kLimits,
               "bytes a second through the L2 cache over its limit, 0 to 1"},
    MetricInfo{metric::kL1Utilisation, "L1 utilisation", "ratio", kNeutral, kLimits,
               "use of the busiest part of the L1 cache and the shared memory, 0 to 1"},
    MetricInfo{metric::kIssueUtilisation, "issue utilisation", "ratio", kNeutral, kLimits,
               "issued warp instructions over the schedulers' limit, 0 to 1"},
    MetricInfo{metric::kLsuRequestUtilisation, "load-store requests", "ratio", kNeutral, kLimits,
               "load-store instructions that the L1 cache takes, over its limit, 0 to 1; a part of "
               "L1 utilisation; GPU counters only"},
    MetricInfo{metric::kLsuDataUtilisation, "load-store data", "ratio", kNeutral, kLimits,
               "wavefronts through the data stage of the L1 cache and the shared memory, over its "
               "limit, 0 to 1; a part of L1 utilisation; GPU counters only"},
    MetricInfo{metric::kFmaUtilisation, "FMA pipe", "ratio", kNeutral, kLimits,
               "use of the pipe of single-precision arithmetic, 0 to 1; GPU counters only"},
    MetricInfo{metric::kAluUtilisation, "ALU pipe", "ratio", kNeutral, kLimits,
               "use of the pipe of integer arithmetic and comparisons, 0 to 1; GPU counters only"},
    MetricInfo{metric::kFp64Utilisation, "FP64 pipe", "ratio", kNeutral, kLimits,
               "use of the pipe of double-precision arithmetic, 0 to 1; GPU counters only"},
    MetricInfo{metric::kTensorUtilisation, "tensor pipe", "ratio", kNeutral, kLimits,
               "use of the tensor cores, 0 to 1; GPU counters only"},
    MetricInfo{metric::kXuUtilisation, "transcendental pipe", "ratio", kNeutral, kLimits,
               "use of the transcendental unit, 0 to 1; GPU counters only"},
    MetricInfo{metric::kLsuIssueUtilisation, "load-store pipe", "ratio", kNeutral, kLimits,
               "use of the pipe that issues load-store instructions, 0 to 1; GPU counters only"},
    MetricInfo{metric::kAchievedOccupancy, "achieved occupancy", "ratio", kNeutral, kLimits,
               "resident warps, on average, over those that a multiprocessor can hold, 0 to 1; GPU "
               "counters only"},
    MetricInfo{metric::kStallLongScoreboard, "waiting for memory", "warp", kLower, kLimits,
               "warps that wait for global or local memory while one issues; GPU counters only"},
    MetricInfo{metric::kStallShortScoreboard, "waiting for shared memory", "warp", kLower, kLimits,
               "warps that wait for shared memory or the transcendental unit while one issues; GPU "
               "counters only"},
    MetricInfo{metric::kStallBarrier, "waiting at barriers", "warp", kLower, kLimits,
               "warps that wait at a block-wide barrier while one issues; GPU counters only"},
    MetricInfo{metric::kStallWait, "waiting for arithmetic", "warp", kLower, kLimits,
               "warps that wait out a fixed latency while one issues; GPU counters only"},
    MetricInfo{metric::kStallMathPipe, "waiting for a pipe", "warp", kLower, kLimits,
               "warps that wait for an arithmetic pipe while one issues; GPU counters only"},
    MetricInfo{metric::kStallLgThrottle, "waiting to ask memory", "warp", kLower, kLimits,
               "warps that wait because the queue of global and local accesses is full, while one "
               "issues; GPU counters only"},
    MetricInfo{metric::kStallMioThrottle, "waiting to ask shared memory", "warp", kLower, kLimits,
               "warps that wait because the queue of shared-memory and special instructions is "
               "full, while one issues; GPU counters only"},
    MetricInfo{metric::kProfilerPasses, "profiler passes", "pass", kNeutral, kLimits,
               "how often the plan was executed to count all of this; GPU counters only"},
    MetricInfo{metric::kLatencyShare, "latency share", "ratio", kNeutral, kLimits,
               "share of the predicted time that the latency of dependent instructions and loads "
               "alone would take"},
    MetricInfo{metric::kAtomicShare, "atomic share", "ratio", kNeutral, kLimits,
               "share of the predicted time that atomic operations alone would take"},
    MetricInfo{metric::kLaunchShare, "launch share", "ratio", kNeutral, kLimits,
               "share of the predicted time that starting the kernels alone would take"},
};

const char* SenseName(MetricSense sense) {
  switch (sense) {
    case MetricSense::kLower:
      return "lower";
    case MetricSense::kHigher:
      return "higher";
    case MetricSense::kNeutral:
      return "depends";
  }
  return "depends";
}

}  // namespace

std::span<const MetricInfo> MetricTable() {
  return kTable;
}

const MetricInfo* FindMetric(std::string_view id) {
  for (const MetricInfo& info : kTable) {
    if (id == info.id) {
      return &info;
    }
  }
  return nullptr;
}

std::string MetricTitle(const MetricId& id) {
  const MetricInfo* info = FindMetric(id);
  return info == nullptr ? id : info->title;
}

std::string MetricsDocument() {
  std::string text =
      "# Metrics\n\n"
      "Counters that profiles, diagnoses, rewards and reports use. Names are Nsight Compute's "
      "where "
      "the meaning is the same; a count that only the emulator has is called `emulator__...`. A "
      "metric that was not obtained is absent, never zero. Ratios run from 0 to 1. Values belong "
      "to "
      "all launches of one shape together; where blocks were sampled, sums are scaled up to all "
      "blocks and the profile says which share was counted.\n\n"
      "This file is printed by `optiml docs metrics`; a test compares the two.\n";
  std::string group;
  for (const MetricInfo& info : kTable) {
    if (group != info.group) {
      group = info.group;
      text += fmt::format(
          "\n## {}{}\n\n| metric | called | unit | better | meaning |\n|---|---|---|---|---|\n",
          static_cast<char>(group[0] - 'a' + 'A'), group.substr(1));
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", info.id, info.title, info.unit,
                        SenseName(info.sense), info.meaning);
  }
  return text;
}

}  // namespace optiml
