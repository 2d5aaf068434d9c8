#include "device/launch_metrics.h"

#include <algorithm>
#include <cstring>

#include "core/hardware_metrics.h"

namespace optiml {
namespace {

constexpr char kDuration[] = "gpu__time_duration.sum";
constexpr char kL1Sectors[] = "l1tex__t_sectors.sum";
constexpr char kL2Sectors[] = "lts__t_sectors.sum";
constexpr char kIssueCycles[] = "smsp__issue_active.sum";
constexpr char kActiveCycles[] = "sm__cycles_active.sum";

// Sums over launches: the metric's own name, or all of `parts` together.
struct SumOf {
  const char* id;
  const char* unit;
  std::vector<const char*> parts = {};
};
const std::vector<SumOf>& Sums() {
  static const std::vector<SumOf> sums = {
      {metric::kThreadInstructions, "inst"},
      {metric::kWarpInstructions, "inst"},
      {metric::kGlobalLoadRequests, "request"},
      {metric::kGlobalLoadSectors, "sector"},
      {metric::kGlobalStoreRequests, "request"},
      {metric::kGlobalStoreSectors, "sector"},
      {metric::kSharedLoadWavefronts, "wavefront"},
      {metric::kSharedStoreWavefronts, "wavefront"},
      {metric::kSharedLoadConflicts, "wavefront"},
      {metric::kSharedStoreConflicts, "wavefront"},
      {metric::kDramReadBytes, "byte"},
      {metric::kDramWriteBytes, "byte"},
      // Atomic operations whose result nobody reads are counted apart.
      {metric::kGlobalAtomicRequests,
       "request",
       {metric::kGlobalAtomicRequests, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"}},
      {metric::kLocalLoadSectors, "sector"},
      {metric::kLocalStoreSectors, "sector"},
      {metric::kFaddInstructions, "inst"},
      {metric::kFmulInstructions, "inst"},
      {metric::kFfmaInstructions, "inst"},
      {metric::kIntegerInstructions, "inst"},
      {metric::kSpecialFunctionInstructions, "inst"},
      {metric::kDivergentBranches, "branch"},
  };
  return sums;
}

// Shares: of one launch as they are; of several weighted by what they are shares of.
struct ShareOf {
  const char* id;
  const char* name;    // the profiler's
  const char* weight;  // a counter
  const char* unit = "ratio";
  bool is_cheap = true;
};
constexpr ShareOf kShares[] = {
    {metric::kDramUtilisation, metric::kDramUtilisation, kDuration},
    {metric::kSmUtilisation, metric::kSmUtilisation, kDuration, "ratio", false},
    {metric::kL2Utilisation, metric::kL2Utilisation, kDuration},
    {metric::kL1Utilisation, metric::kL1Utilisation, kDuration, "ratio", false},
    {metric::kIssueUtilisation, metric::kIssueUtilisation, kDuration},
    {metric::kLsuRequestUtilisation, metric::kLsuRequestUtilisation, kDuration},
    {metric::kLsuDataUtilisation, metric::kLsuDataUtilisation, kDuration},
    {metric::kFmaUtilisation, metric::kFmaUtilisation, kDuration},
    {metric::kAluUtilisation, metric::kAluUtilisation, kDuration},
    {metric::kFp64Utilisation, metric::kFp64Utilisation, kDuration},
    {metric::kTensorUtilisation, metric::kTensorUtilisation, kDuration},
    {metric::kXuUtilisation, metric::kXuUtilisation, kDuration},
    {metric::kLsuIssueUtilisation, metric::kLsuIssueUtilisation, kDuration},
    {metric::kL1HitRatio, "l1tex__t_sector_hit_rate.pct", kL1Sectors},
    {metric::kL2HitRatio, "lts__t_sector_hit_rate.pct", kL2Sectors},
    {metric::kAchievedOccupancy, metric::kAchievedOccupancy, kActiveCycles},
    {metric::kStallLongScoreboard, metric::kStallLongScoreboard, kIssueCycles, "warp"},
    {metric::kStallShortScoreboard, metric::kStallShortScoreboard, kIssueCycles, "warp"},
    {metric::kStallBarrier, metric::kStallBarrier, kIssueCycles, "warp"},
    {metric::kStallWait, metric::kStallWait, kIssueCycles, "warp"},
    {metric::kStallMathPipe, metric::kStallMathPipe, kIssueCycles, "warp"},
    {metric::kStallLgThrottle, metric::kStallLgThrottle, kIssueCycles, "warp"},
    {metric::kStallMioThrottle, metric::kStallMioThrottle, kIssueCycles, "warp"},
};

struct QuotientOf {
  const char* id;
  const char* numerator;
  const char* denominator;
};
constexpr QuotientOf kQuotients[] = {
    {metric::kThreadsPerInstruction, metric::kThreadInstructions, metric::kWarpInstructions},
    {metric::kGlobalLoadSectorsPerRequest, metric::kGlobalLoadSectors, metric::kGlobalLoadRequests},
    {metric::kGlobalStoreSectorsPerRequest, metric::kGlobalStoreSectors,
     metric::kGlobalStoreRequests},
};

using Launches = std::vector<const LaunchCounters*>;

std::optional<double> ValueOf(const LaunchCounters& launch, const char* name) {
  const auto found = launch.find(name);
  return found == launch.end() ? std::nullopt : std::optional(found->second.value);
}

// Of every launch; nothing when one of them lacks it.
std::optional<double> Sum(const Launches& launches, const char* name) {
  double sum = 0;
  for (const LaunchCounters* launch : launches) {
    const auto value = ValueOf(*launch, name);
    if (!value) {
      return std::nullopt;
    }
    sum += *value;
  }
  return sum;
}

std::optional<double> Sum(const Launches& launches, const std::vector<const char*>& parts) {
  double sum = 0;
  for (const char* part : parts) {
    const auto value = Sum(launches, part);
    if (!value) {
      return std::nullopt;
    }
    sum += *value;
  }
  return sum;
}

std::optional<size_t> Longest(const Launches& launches) {
  if (launches.size() == 1) {
    return 0;
  }
  std::optional<size_t> longest;
  for (size_t i = 0; i < launches.size(); ++i) {
    const auto duration = ValueOf(*launches[i], kDuration);
    if (!duration) {
      return std::nullopt;
    }
    if (!longest || *duration > *ValueOf(*launches[*longest], kDuration)) {
      longest = i;
    }
  }
  return longest;
}

std::optional<double> Weighted(const Launches& launches, const ShareOf& share) {
  if (launches.size() == 1) {
    return ValueOf(*launches.front(), share.name);
  }
  const auto total = Sum(launches, share.weight);
  if (total.value_or(0) <= 0) {
    return std::nullopt;
  }
  double weighted = 0;
  for (const LaunchCounters* launch : launches) {
    const double weight = *ValueOf(*launch, share.weight);
    const auto value = ValueOf(*launch, share.name);
    if (!value && weight > 0) {
      return std::nullopt;
    }
    weighted += value.value_or(0) * weight / *total;
  }
  return weighted;
}

std::vector<std::string> Names(bool only_cheap) {
  std::vector<std::string> names = {kDuration};
  for (const SumOf& sum : Sums()) {
    if (sum.parts.empty()) {
      names.emplace_back(sum.id);
    }
    names.insert(names.end(), sum.parts.begin(), sum.parts.end());
  }
  for (const ShareOf& share : kShares) {
    if (share.is_cheap || !only_cheap) {
      names.emplace_back(share.name);
    }
  }
  names.insert(names.end(), {kL1Sectors, kL2Sectors, kIssueCycles, kActiveCycles});
  return names;
}

}  // namespace

CombinedCounters CombineLaunches(const Launches& launches) {
  CombinedCounters combined;
  std::map<MetricId, Metric>& metrics = combined.profile.metrics;
  combined.seconds = Sum(launches, kDuration);
  combined.longest = Longest(launches);
  for (const SumOf& sum : Sums()) {
    const auto value = sum.parts.empty() ? Sum(launches, sum.id) : Sum(launches, sum.parts);
    if (value) {
      metrics[sum.id] = {*value, sum.unit};
    }
  }
  for (const QuotientOf& quotient : kQuotients) {
    const auto numerator = combined.profile.Get(quotient.numerator);
    const auto denominator = combined.profile.Get(quotient.denominator);
    if (numerator && denominator.value_or(0) > 0) {
      metrics[quotient.id] = {*numerator / *denominator, "ratio"};
    }
  }
  for (const ShareOf& share : kShares) {
    if (const auto value = Weighted(launches, share)) {
      metrics[share.id] = {*value, share.unit};
    }
  }
  return combined;
}

std::vector<std::string> AllLaunchCounters() {
  return Names(false);
}

std::vector<std::string> CheapLaunchCounters() {
  return Names(true);
}

Metric InBaseUnitsByName(const std::string& name, double value) {
  if (name.find("pct") != std::string::npos) {
    return {value / 100, "ratio"};
  }
  if (name == kDuration) {
    return {value * 1e-9, "second"};
  }
  return {value, ""};
}

}  // namespace optiml
