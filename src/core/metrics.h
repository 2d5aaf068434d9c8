#ifndef OPTIML_CORE_METRICS_H_
#define OPTIML_CORE_METRICS_H_

// Metrics by name. Names are Nsight Compute's where the meaning is the same; a count that only the
// emulator has carries the prefix "emulator__". docs/metrics.md lists each with unit and meaning. A
// metric that was not obtained is absent: there is no default and no zero.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace optiml {

using MetricId = std::string;

namespace metric {
// Thread-level and warp-level instructions executed.
inline constexpr char kThreadInstructions[] = "smsp__thread_inst_executed.sum";
inline constexpr char kWarpInstructions[] = "smsp__inst_executed.sum";
// Average active threads in a warp instruction, 0 .. 32.
inline constexpr char kThreadsPerInstruction[] =
    "smsp__thread_inst_executed_per_inst_executed.ratio";
// Warp-level requests to global memory and the 32-byte sectors they touch.
inline constexpr char kGlobalLoadRequests[] = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
inline constexpr char kGlobalLoadSectors[] = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
inline constexpr char kGlobalStoreRequests[] = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
inline constexpr char kGlobalStoreSectors[] = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
inline constexpr char kGlobalLoadSectorsPerRequest[] =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
inline constexpr char kGlobalStoreSectorsPerRequest[] =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
// Shared memory: wavefronts and those beyond the conflict-free number.
inline constexpr char kSharedLoadWavefronts[] =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
inline constexpr char kSharedStoreWavefronts[] =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
inline constexpr char kSharedLoadConflicts[] =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
inline constexpr char kSharedStoreConflicts[] =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
// Bytes between L2 and device memory.
inline constexpr char kDramReadBytes[] = "dram__bytes_read.sum";
inline constexpr char kDramWriteBytes[] = "dram__bytes_write.sum";
// Bytes that L2 still has to write when the launch ends.
inline constexpr char kDramDirtyBytes[] = "emulator__l2_dirty_bytes_at_end.sum";
inline constexpr char kL1HitRatio[] = "l1tex__t_sector_hit_rate.ratio";
inline constexpr char kL2HitRatio[] = "lts__t_sector_hit_rate.ratio";
// Atomic operations at global memory, warp-level requests.
inline constexpr char kGlobalAtomicRequests[] = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum";
// Lanes of those requests, and the rounds in which lanes of one request met on one address.
inline constexpr char kGlobalAtomicLanes[] = "emulator__global_atomic_lanes.sum";
inline constexpr char kGlobalAtomicRounds[] = "emulator__global_atomic_rounds.sum";
inline constexpr char kSharedAtomicRequests[] = "emulator__shared_atomic_requests.sum";
inline constexpr char kSharedAtomicRounds[] = "emulator__shared_atomic_rounds.sum";
inline constexpr char kLocalLoadSectors[] = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
inline constexpr char kLocalStoreSectors[] = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";
// Instruction classes, thread level.
inline constexpr char kFaddInstructions[] = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
inline constexpr char kFmulInstructions[] = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
inline constexpr char kFfmaInstructions[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
inline constexpr char kIntegerInstructions[] =
    "smsp__sass_thread_inst_executed_op_integer_pred_on.sum";
inline constexpr char kSpecialFunctionInstructions[] = "smsp__inst_executed_pipe_xu.sum";
inline constexpr char kBarriers[] = "emulator__barriers.sum";
inline constexpr char kDivergentBranches[] = "smsp__sass_branch_targets_threads_divergent.sum";
inline constexpr char kTheoreticalOccupancy[] = "sm__maximum_warps_per_active_cycle.ratio";
inline constexpr char kRegisters[] = "launch__registers_per_thread";
inline constexpr char kSharedBytesPerBlock[] = "launch__shared_mem_per_block";
inline constexpr char kBlocks[] = "launch__grid_size";
// Fractions of the speed of light, 0 .. 1.
inline constexpr char kDramUtilisation[] = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kSmUtilisation[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kL2Utilisation[] = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kL1Utilisation[] = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kIssueUtilisation[] = "smsp__inst_issued.avg.pct_of_peak_sustained_elapsed";
// Shares of the predicted time, 0 .. 1, that latency (dependent instructions and loads of the
// resident warps), atomics and launches alone would take.
inline constexpr char kLatencyShare[] = "emulator__latency_share.ratio";
inline constexpr char kAtomicShare[] = "emulator__atomic_share.ratio";
inline constexpr char kLaunchShare[] = "emulator__launch_share.ratio";
// Average global loads of a warp in flight together.
inline constexpr char kLoadsInFlight[] = "emulator__global_loads_in_flight.ratio";
// Blocks of the grid over those that the device holds at once; below 1 some of it idles.
inline constexpr char kWaves[] = "launch__waves_per_multiprocessor";
}  // namespace metric

struct Metric {
  double value = 0;
  std::string unit;  // "byte", "inst", "sector", "ratio" ...
};

enum class ProfileSource { kEmulator, kCupti, kNcu, kStatic };
std::string ProfileSourceName(ProfileSource source);  // "emulator" ...

// Counters of a whole plan at one shape.
struct Profile {
  std::map<MetricId, Metric> metrics;
  ProfileSource source = ProfileSource::kEmulator;
  // 1: every block was counted; less: this share of the blocks was, and sums were scaled up.
  double sampled_ratio = 1;

  std::optional<double> Get(const MetricId& id) const;
};

}  // namespace optiml

#endif  // OPTIML_CORE_METRICS_H_
