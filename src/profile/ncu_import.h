#ifndef OPTIML_PROFILE_NCU_IMPORT_H_
#define OPTIML_PROFILE_NCU_IMPORT_H_

// Counters that Nsight Compute measured, from its CSV output:
//
//   ncu --csv --page raw --metrics LIST --log-file FILE.csv PROGRAM
//
// The raw page has one row a launch and one column a metric; its second line holds the units. Any
// set of metrics will do: what is not in the file is absent from the profile.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/launch_plan.h"
#include "core/metrics.h"
#include "device/launch_metrics.h"

namespace optiml {

// One row of the file.
struct NcuLaunch {
  std::string kernel;  // as ncu prints it: "softmax", "void ns::softmax<4>(const float *, float *)"
  Dim3 grid;
  Dim3 block;
  LaunchCounters metrics;  // by ncu's names
  int line = 0;            // of the file
};

// What the profiled program printed beside the table is skipped. Fails (kParse, with `file` and the
// line) on a text without a table of the raw page, a row that is cut, or a number that is none.
Result<std::vector<NcuLaunch>> ParseNcuCsv(std::string_view text, const std::string& file);

struct NcuProfile {
  Profile profile;
  std::optional<double> seconds;  // of all launches; absent when the file has no durations
};

// The counters of `plan`: of its launches in their order, the last time that they stand in the file
// one after the other (launches of other kernels may lie between). Sums are added up; ratios come
// of their sums, or are weighted by the launches' durations; what belongs to one launch is the
// longest one's. Where that cannot be done the metric is absent. Fails (kInvalidArgument) when the
// launches are not in the file, with what is there.
Result<NcuProfile> ProfileFromNcu(const std::vector<NcuLaunch>& launches, const LaunchPlan& plan,
                                  const std::string& file);

// The names to give `ncu --metrics`: all that ProfileFromNcu makes use of, with commas.
std::string NcuMetricList();

}  // namespace optiml

#endif  // OPTIML_PROFILE_NCU_IMPORT_H_
