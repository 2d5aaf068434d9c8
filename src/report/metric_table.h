#ifndef OPTIML_REPORT_METRIC_TABLE_H_
#define OPTIML_REPORT_METRIC_TABLE_H_

// What each metric of core/metrics.h is called, counts and means, for tables that people read.
// docs/metrics.md is printed from here.

#include <span>
#include <string>
#include <string_view>

#include "core/metrics.h"

namespace optiml {

// Which way is better, all else equal.
enum class MetricSense { kLower, kHigher, kNeutral };

struct MetricInfo {
  const char* id;
  const char* title;  // "global load sectors"
  const char* unit;   // "sector", "byte", "ratio" ...
  MetricSense sense;
  const char* group;  // "work", "global memory", "shared memory", "launch", "limits"
  const char* meaning;
};

// In the order of the tables: by group.
std::span<const MetricInfo> MetricTable();

// Null for a metric that is not in the table (a device may report more).
const MetricInfo* FindMetric(std::string_view id);

// The title, or the id itself where there is none.
std::string MetricTitle(const MetricId& id);

// docs/metrics.md, whole.
std::string MetricsDocument();

}  // namespace optiml

#endif  // OPTIML_REPORT_METRIC_TABLE_H_
