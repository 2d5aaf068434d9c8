#include "score/proxies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace optiml {
namespace {

// The weights are a judgement, ordered by how directly a counter costs time under the bound; the
// paper that OptiML follows does not publish its own (docs/architecture.md).
const std::vector<Proxy>& MemoryProxies() {
  static const std::vector<Proxy> proxies = {
      {"DRAM bytes",
       {metric::kDramReadBytes, metric::kDramWriteBytes, metric::kDramDirtyBytes},
       Direction::kDown,
       0.35},
      {"L1 sectors",
       {metric::kGlobalLoadSectors, metric::kGlobalStoreSectors},
       Direction::kDown,
       0.25},
      {"sectors a load request", {metric::kGlobalLoadSectorsPerRequest}, Direction::kDown, 0.1},
      {"sectors a store request", {metric::kGlobalStoreSectorsPerRequest}, Direction::kDown, 0.1},
      {"DRAM utilisation", {metric::kDramUtilisation}, Direction::kUp, 0.15},
      {"L2 hit ratio", {metric::kL2HitRatio}, Direction::kUp, 0.05}};
  return proxies;
}

const std::vector<Proxy>& ComputeProxies() {
  static const std::vector<Proxy> proxies = {
      {"thread instructions", {metric::kThreadInstructions}, Direction::kDown, 0.35},
      {"warp instructions", {metric::kWarpInstructions}, Direction::kDown, 0.25},
      {"SM utilisation", {metric::kSmUtilisation}, Direction::kUp, 0.2},
      {"integer instructions", {metric::kIntegerInstructions}, Direction::kDown, 0.1},
      {"special-function instructions",
       {metric::kSpecialFunctionInstructions},
       Direction::kDown,
       0.1}};
  return proxies;
}

const std::vector<Proxy>& LatencyProxies() {
  static const std::vector<Proxy> proxies = {
      {"global requests",
       {metric::kGlobalLoadRequests, metric::kGlobalStoreRequests},
       Direction::kDown,
       0.25},
      {"occupancy", {metric::kTheoreticalOccupancy}, Direction::kUp, 0.2},
      {"warp instructions", {metric::kWarpInstructions}, Direction::kDown, 0.2},
      {"global atomics", {metric::kGlobalAtomicRequests}, Direction::kDown, 0.15},
      {"shared-memory conflicts",
       {metric::kSharedLoadConflicts, metric::kSharedStoreConflicts},
       Direction::kDown,
       0.1},
      {"barriers", {metric::kBarriers}, Direction::kDown, 0.1}};
  return proxies;
}

const std::vector<Proxy>& OccupancyProxies() {
  static const std::vector<Proxy> proxies = {
      {"occupancy", {metric::kTheoreticalOccupancy}, Direction::kUp, 0.5},
      {"blocks", {metric::kBlocks}, Direction::kUp, 0.2},
      {"warp instructions", {metric::kWarpInstructions}, Direction::kDown, 0.2},
      {"registers", {metric::kRegisters}, Direction::kDown, 0.1}};
  return proxies;
}

const std::vector<Proxy>& UnknownProxies() {
  static const std::vector<Proxy> proxies = {
      {"DRAM bytes",
       {metric::kDramReadBytes, metric::kDramWriteBytes, metric::kDramDirtyBytes},
       Direction::kDown,
       0.35},
      {"L1 sectors",
       {metric::kGlobalLoadSectors, metric::kGlobalStoreSectors},
       Direction::kDown,
       0.25},
      {"warp instructions", {metric::kWarpInstructions}, Direction::kDown, 0.4}};
  return proxies;
}

}  // namespace

const std::vector<Proxy>& ProxiesOf(Bound bound) {
  switch (bound) {
    case Bound::kMemory:
      return MemoryProxies();
    case Bound::kCompute:
      return ComputeProxies();
    case Bound::kLatency:
      return LatencyProxies();
    case Bound::kOccupancy:
      return OccupancyProxies();
    case Bound::kUnknown:
      return UnknownProxies();
  }
  return UnknownProxies();
}

std::optional<ProxyValues> CompareProxy(const Proxy& proxy, const Profile& before,
                                        const Profile& after) {
  std::optional<ProxyValues> sum;
  if (before.source != after.source) {
    return sum;  // PTX against machine code
  }
  for (const MetricId& id : proxy.metrics) {
    const std::optional<double> one = before.Get(id);
    const std::optional<double> other = after.Get(id);
    if (one && other) {
      sum = ProxyValues{sum.value_or(ProxyValues{}).before + *one,
                        sum.value_or(ProxyValues{}).after + *other};
    }
  }
  return sum;
}

std::optional<ProxyScore> ScoreProxies(Bound bound, const Profile& root, const Profile& candidate) {
  struct Contribution {
    const Proxy* proxy;
    double before;
    double after;
    double change;  // in [-1, 1], positive is good
  };
  std::vector<Contribution> contributions;
  double weights = 0;
  for (const Proxy& proxy : ProxiesOf(bound)) {
    const std::optional<ProxyValues> values = CompareProxy(proxy, root, candidate);
    if (!values) {
      continue;
    }
    const auto [before, after] = *values;
    const double largest = std::max(std::abs(before), std::abs(after));
    double change = largest == 0 ? 0 : std::clamp((before - after) / largest, -1.0, 1.0);
    change = proxy.good == Direction::kDown ? change : -change;
    contributions.push_back({&proxy, before, after, change});
    weights += proxy.weight;
  }
  if (contributions.empty()) {
    return std::nullopt;
  }
  ProxyScore score;
  score.present = static_cast<int>(contributions.size());
  for (const Contribution& contribution : contributions) {
    score.value += contribution.proxy->weight / weights * contribution.change;
  }
  std::stable_sort(
      contributions.begin(), contributions.end(), [](const Contribution& a, const Contribution& b) {
        return a.proxy->weight * std::abs(a.change) > b.proxy->weight * std::abs(b.change);
      });
  score.reason = fmt::format("for a {}-bound root", BoundName(bound));
  if (contributions.front().change == 0) {
    score.reason += " no counter that matters changed";
  } else {
    for (size_t i = 0; i < std::min<size_t>(2, contributions.size()); ++i) {
      const Contribution& contribution = contributions[i];
      if (contribution.change != 0) {
        score.reason +=
            fmt::format("{} {} went from {:.4g} to {:.4g}", i == 0 ? "" : " and",
                        contribution.proxy->name, contribution.before, contribution.after);
      }
    }
  }
  return score;
}

}  // namespace optiml
