#ifndef OPTIML_DEVICE_TIME_MODEL_H_
#define OPTIML_DEVICE_TIME_MODEL_H_

// Time model: the time of a launch, predicted from what the emulator counted.
//
// Each resource of the GPU alone would need some time: device memory, L2, the load-store path (L1,
// shared memory, shuffles), instruction issue, the arithmetic pipes, atomics; and the chain of
// dependent instructions and loads of the resident warps, wave after wave, would need some. They
// overlap, so the launch takes a soft maximum: (sum of t_i^p)^(1/p). docs/time_model.md derives
// each term; the coefficients are data (descriptions/).
//
// Pure functions.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device_description.h"
#include "device/occupancy.h"
#include "ptx/counters.h"

namespace optiml {

// Times in seconds that one resource alone would need.
struct LaunchTimes {
  double dram = 0;
  double l2 = 0;
  double l2_store = 0;  // stores on their way from L1 to L2
  double global = 0;    // L1's share of the load-store path
  double shared = 0;    // shared memory's, with shuffles
  double l1_fill = 0;   // from L2 into L1
  double issue = 0;
  double block_start = 0;
  double fp32 = 0;
  double fp64 = 0;
  double fp16 = 0;
  double integer = 0;
  double special = 0;
  double atomics = 0;
  double latency = 0;
  double tail = 0;   // what the longest block takes more than others; added to the rest
  double total = 0;  // the soft maximum; without launch overhead

  Occupancy occupancy;
  double waves = 0;  // blocks over those resident at once on the whole device

  // Name -> seconds, without total.
  std::map<std::string, double> Parts() const;
};

struct LaunchWork {
  ptx::Counters counters;  // of the whole grid
  BlockShape block;
  uint64_t blocks = 0;      // in the grid
  uint64_t blocks_run = 0;  // really executed; fewer: the counters were extrapolated
};

// REQUIRES: work.blocks > 0 and the block fits on a multiprocessor
LaunchTimes PredictLaunch(const LaunchWork& work, const DeviceDescription& device);

// One step of a plan that takes time: a launch, or bytes that are moved.
struct StepWork {
  std::optional<LaunchWork> launch;
  uint64_t transfer_bytes = 0;  // read and written, when it is no launch
};
using PlanWork = std::vector<StepWork>;

// Of one step.
struct StepTimes {
  double overhead_s = 0;
  double transfer_s = 0;
  LaunchTimes launch;
};

struct PlanTimes {
  double seconds = 0;
  std::vector<StepTimes> steps;  // as in the work
};
PlanTimes PredictPlan(const PlanWork& work, const DeviceDescription& device);

// Of a memset (bytes written) or a copy (bytes read and written).
double PredictTransfer(uint64_t bytes, const DeviceDescription& device);

// How many of `slices` hold at least one of `pieces` that fall on them by a hash (expected).
double BusySlices(double pieces, double slices);

}  // namespace optiml

#endif  // OPTIML_DEVICE_TIME_MODEL_H_
