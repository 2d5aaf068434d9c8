#ifndef OPTIML_DEVICE_COUNTER_METRICS_H_
#define OPTIML_DEVICE_COUNTER_METRICS_H_

// From the emulator's counters to metrics by name (core/metrics.h, docs/metrics.md). Pure.

#include "core/metrics.h"
#include "device/time_model.h"

namespace optiml {

// Sums over the launches; what belongs to one launch (occupancy, registers, grid) is that of the
// longest one. Metrics without a meaning here (a ratio
// whose denominator is zero, cache counts without a cache model) are absent.
Profile ProfileOf(const PlanWork& work, const PlanTimes& times, const DeviceDescription& device);

// Only what was counted of one launch, without a predicted time.
Profile CountsOf(const ptx::Counters& counters);

}  // namespace optiml

#endif  // OPTIML_DEVICE_COUNTER_METRICS_H_
