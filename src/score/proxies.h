#ifndef OPTIML_SCORE_PROXIES_H_
#define OPTIML_SCORE_PROXIES_H_

// Proxies: counters that should move when a kernel with a given bottleneck gets better. They tell
// candidates of equal time apart, and show that a step which gains no time yet goes the right way.

#include <optional>
#include <string>
#include <vector>

#include "core/edit.h"
#include "core/metrics.h"

namespace optiml {

// One counter, or the sum of several of the same unit, with the direction that is good.
struct Proxy {
  std::string name;  // for people: "DRAM bytes"
  std::vector<MetricId> metrics;
  Direction good = Direction::kDown;
  double weight = 0;
};

// The proxies of a bound; their weights sum to 1. kUnknown has those that matter in most cases.
const std::vector<Proxy>& ProxiesOf(Bound bound);

// The proxy's value in two profiles: the sum of those of its metrics that both have, so that what
// one lacks is no gain; absent when they share none, or were counted by two sources.
struct ProxyValues {
  double before = 0;
  double after = 0;
};
std::optional<ProxyValues> CompareProxy(const Proxy& proxy, const Profile& before,
                                        const Profile& after);

struct ProxyScore {
  double value = 0;    // in [-1, 1]; 0: as the root
  std::string reason;  // one sentence with the two largest contributions
  int present = 0;     // proxies that both profiles have
};

// The weighted mean over the present proxies of each one's change against the root:
// (root - value) / max(root, value) for counters that should fall, its negative for those that
// should rise, so that halving and doubling weigh the same and nothing exceeds 1. Absent proxies
// drop out and the weights of the others are scaled up. Nothing when no proxy is present in both.
std::optional<ProxyScore> ScoreProxies(Bound bound, const Profile& root, const Profile& candidate);

}  // namespace optiml

#endif  // OPTIML_SCORE_PROXIES_H_
