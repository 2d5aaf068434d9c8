#ifndef OPTIML_DEVICE_LAUNCH_METRICS_H_
#define OPTIML_DEVICE_LAUNCH_METRICS_H_

// From what a hardware profiler counted, launch by launch, to the profile of a plan. The names are
// Nsight Compute's and CUPTI's, which are the same; core/metrics.h and docs/metrics.md say what
// becomes of them. Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/metrics.h"

namespace optiml {

// Of one launch, in base units: byte, second, ratio (never percent). What was not counted is
// absent.
using LaunchCounters = std::map<std::string, Metric>;

struct CombinedCounters {
  Profile profile;                // metrics alone: whose they are is the caller's to say
  std::optional<double> seconds;  // of all launches; absent when one has no duration
  std::optional<size_t> longest;  // which launch; absent when that cannot be told
};

// Sums are added up; ratios come of their sums, or are weighted by what they are shares of: the
// launches' durations, sectors, issued cycles. Where that cannot be done the metric is absent.
CombinedCounters CombineLaunches(const std::vector<const LaunchCounters*>& launches);

// What CombineLaunches makes use of, to ask a profiler for. The second leaves out what is the
// maximum of others, which takes many passes: 7 are left on an H200, of 12.
std::vector<std::string> AllLaunchCounters();
std::vector<std::string> CheapLaunchCounters();

// A value that the profiler gave by this name, in base units.
Metric InBaseUnitsByName(const std::string& name, double value);

}  // namespace optiml

#endif  // OPTIML_DEVICE_LAUNCH_METRICS_H_
