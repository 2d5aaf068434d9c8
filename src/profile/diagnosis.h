#ifndef OPTIML_PROFILE_DIAGNOSIS_H_
#define OPTIML_PROFILE_DIAGNOSIS_H_

// Diagnose: what bounds a kernel, by a decision table over fractions of the machine's limits.
//
//   launches take half of the time                       -> latency   (launch overhead)
//   atomics on few addresses take most of it             -> latency   (serialised atomics)
//   device memory near its limit                         -> memory
//   L2 or the load-store path near its limit             -> memory    (or uncoalesced, bank
//   conflicts) issue or an arithmetic pipe near its limit           -> compute none near, too few
//   blocks or warps to hide latencies -> occupancy none near -> latency nothing was counted ->
//   unknown
//
// The highest fraction wins where several are near. A metric that is absent takes no part; evidence
// names the metrics that spoke. Pure: the same table serves the emulator's, CUPTI's and ncu's
// counters.

#include <vector>

#include "core/artifact.h"
#include "core/evaluation.h"
#include "core/metrics.h"
#include "device/device.h"

namespace optiml {

// `timing` is of the profiled shape; `resources` are those of the plan's kernels, and may be empty.
Diagnosis Diagnose(const Profile& profile, const Timing& timing, const DeviceInfo& device,
                   const std::vector<KernelResources>& resources);

}  // namespace optiml

#endif  // OPTIML_PROFILE_DIAGNOSIS_H_
