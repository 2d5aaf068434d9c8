#ifndef OPTIML_CORE_HARDWARE_METRICS_H_
#define OPTIML_CORE_HARDWARE_METRICS_H_

// Metrics that only a GPU's own counters have, by Nsight Compute's names; see metrics.h.

namespace optiml::metric {

// How often the profiler executed the plan to count all.
inline constexpr char kProfilerPasses[] = "profiler__replayer_passes";
// Resident warps, of those that a multiprocessor can hold.
inline constexpr char kAchievedOccupancy[] = "sm__warps_active.avg.pct_of_peak_sustained_active";
// Parts of l1tex__throughput: the path of load-store instructions, and that of their data.
inline constexpr char kLsuRequestUtilisation[] =
    "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kLsuDataUtilisation[] =
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
// Parts of sm__throughput: its pipes.
inline constexpr char kFmaUtilisation[] =
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kAluUtilisation[] =
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kFp64Utilisation[] =
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kTensorUtilisation[] =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kXuUtilisation[] =
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed";
inline constexpr char kLsuIssueUtilisation[] =
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed";
// Warps that wait, on average, in a cycle that issues, by what they wait for.
inline constexpr char kStallLongScoreboard[] =
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
inline constexpr char kStallShortScoreboard[] =
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio";
inline constexpr char kStallBarrier[] =
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
inline constexpr char kStallWait[] =
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
inline constexpr char kStallMathPipe[] =
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio";
inline constexpr char kStallLgThrottle[] =
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio";
inline constexpr char kStallMioThrottle[] =
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio";

}  // namespace optiml::metric

#endif  // OPTIML_CORE_HARDWARE_METRICS_H_
