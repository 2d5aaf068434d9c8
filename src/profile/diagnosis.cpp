#include "profile/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/hardware_metrics.h"

namespace optiml {
namespace {

// A resource counts as the limit from this share of what can be reached on; below 0.6 there has
// always been something else to repair first (NVIDIA's profiling guide uses the same 0.6).
constexpr double kNearLimit = 0.6;
// Streaming kernels reach this share of the pin bandwidth and stop getting faster.
constexpr double kReachableDram = 0.87;
// Half of the time in launches: no change inside a kernel can matter as much as one launch less.
constexpr double kLaunchBound = 0.5;
// Atomics overlap with everything else, so they bound when they alone need this share.
constexpr double kAtomicBound = 0.6;
// A warp's load of 4-byte elements touches 4 sectors when coalesced, of 16-byte ones 16. More than
// twice what its lanes could use at 4 bytes is called uncoalesced if the requests are not vectors.
constexpr double kCoalescedSectors = 4;
constexpr double kUncoalescedSectors = 8;
// Conflicts above this share of all wavefronts are worth naming.
constexpr double kConflictShare = 0.2;
// Half of the warp slots, and one whole wave, are what is needed to hide latencies in simple
// kernels.
constexpr double kLowOccupancy = 0.5;
constexpr double kFullWave = 1;
// Below this many active lanes of 32, divergence is worth naming.
constexpr double kDivergentLanes = 24;
// Below this L1 helps little: data is fetched again.
constexpr double kLowL1Hits = 0.5;
// Confidence: predicted counters are of PTX, not of machine code, and their time is a model's.
constexpr double kPredictedConfidence = 0.75;
// When the runner-up is as near, the choice is a coin toss.
constexpr double kTieConfidence = 0.5;

double Or0(const std::optional<double>& value) {
  return value.value_or(0);
}

class Evidence {
 public:
  Evidence(const Profile& profile, Diagnosis& diagnosis)
      : profile_(profile), diagnosis_(diagnosis) {}

  // "l1tex__... is 31.2 sector: each load ..." when the metric is there.
  void Quote(const char* id, const std::string& meaning) {
    const auto found = profile_.metrics.find(id);
    if (found != profile_.metrics.end()) {
      diagnosis_.evidence.push_back(
          fmt::format("{} is {:.4g} {}: {}", id, found->second.value, found->second.unit, meaning));
    }
  }
  void Say(std::string sentence) { diagnosis_.evidence.push_back(std::move(sentence)); }

 private:
  const Profile& profile_;
  Diagnosis& diagnosis_;
};

// What memory reaches when it was measured, else the pin rate.
double DramRate(const DeviceInfo& device) {
  const double measured = device.peaks ? device.peaks->dram_bytes_per_s() : 0;
  return measured > 0 ? measured : device.dram_bytes_per_s;
}

double Fp32Rate(const DeviceInfo& device) {
  const double measured = device.peaks ? device.peaks->fp32_flops_per_s : 0;
  return measured > 0 ? measured : device.fp32_flops_per_s;
}

// The metric, or the largest of its parts where only they were counted.
std::optional<double> OrParts(const Profile& profile, const char* whole,
                              std::initializer_list<const char*> parts) {
  std::optional<double> value = profile.Get(whole);
  if (value.has_value()) {
    return value;
  }
  for (const char* part : parts) {
    const auto one = profile.Get(part);
    if (one.has_value()) {
      value = std::max(Or0(value), *one);
    }
  }
  return value;
}

// Fractions of the limits, from utilisation metrics or else from counts over time.
std::map<std::string, double> SpeedOfLight(const Profile& profile, const Timing& timing,
                                           const DeviceInfo& device) {
  const double seconds = timing.median_s;
  std::map<std::string, double> fractions;
  const auto put = [&](const char* name, std::optional<double> value) {
    if (value.has_value()) {
      fractions[name] = std::clamp(*value, 0.0, 1.0);
    }
  };
  const auto read = profile.Get(metric::kDramReadBytes);
  const auto written = profile.Get(metric::kDramWriteBytes);
  const auto dirty = profile.Get(metric::kDramDirtyBytes);
  const double bandwidth = DramRate(device);
  std::optional<double> dram = profile.Get(metric::kDramUtilisation);
  if (dram.has_value() && bandwidth > 0) {
    *dram *= device.dram_bytes_per_s / bandwidth;  // counters are shares of the pin rate
  }
  // The emulator's share is of the time that it predicts.
  const bool is_predicted = profile.source == ProfileSource::kEmulator;
  if ((!dram.has_value() || (is_predicted && timing.kind == TimingKind::kMeasured)) &&
      (read.has_value() || written.has_value()) && seconds > 0 && bandwidth > 0) {
    dram = (Or0(read) + Or0(written) + Or0(dirty)) / seconds / bandwidth;
  }
  put("dram", dram);
  put("l2", profile.Get(metric::kL2Utilisation));
  put("load_store", OrParts(profile, metric::kL1Utilisation,
                            {metric::kLsuRequestUtilisation, metric::kLsuDataUtilisation}));
  put("issue", profile.Get(metric::kIssueUtilisation));
  const auto add = profile.Get(metric::kFaddInstructions);
  const auto mul = profile.Get(metric::kFmulInstructions);
  const auto fma = profile.Get(metric::kFfmaInstructions);
  if ((add.has_value() || mul.has_value() || fma.has_value()) && seconds > 0 &&
      Fp32Rate(device) > 0) {
    // A pipe slot is a pipe slot: an addition keeps it as long as a multiply-add does.
    put("fp32", 2 * (Or0(add) + Or0(mul) + Or0(fma)) / seconds / Fp32Rate(device));
  }
  put("sm", OrParts(profile, metric::kSmUtilisation,
                    {metric::kFmaUtilisation, metric::kAluUtilisation, metric::kFp64Utilisation,
                     metric::kTensorUtilisation, metric::kXuUtilisation}));
  return fractions;
}

double At(const std::map<std::string, double>& fractions, const char* name) {
  const auto found = fractions.find(name);
  return found == fractions.end() ? 0 : found->second;
}

bool Uncoalesced(const Profile& profile, const char* sectors_per_request) {
  return Or0(profile.Get(sectors_per_request)) > kUncoalescedSectors;
}

// Sentences about memory accesses that explain a memory bound; returns the cause.
std::string MemoryCause(const Profile& profile, const std::string& where, Evidence& evidence) {
  std::string cause = where + " is near its limit";
  if (Uncoalesced(profile, metric::kGlobalLoadSectorsPerRequest)) {
    evidence.Quote(
        metric::kGlobalLoadSectorsPerRequest,
        fmt::format("a coalesced load of 4-byte elements touches {}", kCoalescedSectors));
    cause = "the lanes of a warp load from addresses far apart";
  }
  if (Uncoalesced(profile, metric::kGlobalStoreSectorsPerRequest)) {
    evidence.Quote(
        metric::kGlobalStoreSectorsPerRequest,
        fmt::format("a coalesced store of 4-byte elements touches {}", kCoalescedSectors));
    cause = "the lanes of a warp store to addresses far apart";
  }
  const double conflicts = Or0(profile.Get(metric::kSharedLoadConflicts)) +
                           Or0(profile.Get(metric::kSharedStoreConflicts));
  const double wavefronts = Or0(profile.Get(metric::kSharedLoadWavefronts)) +
                            Or0(profile.Get(metric::kSharedStoreWavefronts));
  if (wavefronts > 0 && conflicts / wavefronts > kConflictShare) {
    evidence.Quote(metric::kSharedLoadConflicts, "wavefronts lost to bank conflicts");
    evidence.Quote(metric::kSharedStoreConflicts, "wavefronts lost to bank conflicts");
    cause = "lanes of a warp meet in the same banks of shared memory";
  }
  return cause;
}

void SayAboutSpills(const std::vector<KernelResources>& resources, Evidence& evidence) {
  for (const KernelResources& kernel : resources) {
    if (kernel.spill_load_bytes + kernel.spill_store_bytes > 0) {
      evidence.Say(fmt::format("{} spills registers: {} bytes stored, {} loaded in its text",
                               kernel.name_expression, kernel.spill_store_bytes,
                               kernel.spill_load_bytes));
    }
  }
}

struct Limit {
  const char* name;
  const char* id;  // the metric to quote; empty: none
  const char* what;
  Bound bound;
  double reachable = 1;  // share of the peak
};
constexpr Limit kLimits[] = {
    {"dram", metric::kDramUtilisation, "device memory", Bound::kMemory, kReachableDram},
    {"l2", metric::kL2Utilisation, "L2", Bound::kMemory},
    {"load_store", metric::kL1Utilisation, "the load-store path", Bound::kMemory},
    {"issue", metric::kIssueUtilisation, "instruction issue", Bound::kCompute},
    {"fp32", "", "the fp32 pipe", Bound::kCompute},
    {"sm", metric::kSmUtilisation, "a pipe of the multiprocessors", Bound::kCompute},
};

// A measured peak is what can be reached.
double Reachable(const Limit& limit, const DeviceInfo& device) {
  const bool is_measured =
      limit.reachable < 1 && device.peaks && device.peaks->dram_bytes_per_s() > 0;
  return is_measured ? 1 : limit.reachable;
}

// How near the resource is to what can be reached of it, 0 to 1.
double Nearness(const std::map<std::string, double>& fractions, const Limit& limit,
                const DeviceInfo& device) {
  return std::min(1.0, At(fractions, limit.name) / Reachable(limit, device));
}

struct Stall {
  const char* id;
  const char* cause;
};
constexpr Stall kStalls[] = {
    {metric::kStallLongScoreboard, "warps wait for global or local memory"},
    {metric::kStallShortScoreboard, "warps wait for shared memory or special functions"},
    {metric::kStallBarrier, "warps wait for each other at barriers"},
    {metric::kStallWait, "warps wait for arithmetic of their own"},
    {metric::kStallMathPipe, "warps wait for an arithmetic pipe"},
    {metric::kStallLgThrottle, "warps wait because the queue of memory accesses is full"},
    {metric::kStallMioThrottle, "warps wait because the queue of shared memory is full"},
};

// What most warps wait for, where that was counted.
const Stall* WorstStall(const Profile& profile) {
  const Stall* worst = nullptr;
  for (const Stall& stall : kStalls) {
    const double warps = Or0(profile.Get(stall.id));
    if (warps > 0 && (worst == nullptr || warps > *profile.Get(worst->id))) {
      worst = &stall;
    }
  }
  return worst;
}

// The latency side of the table: nothing is near its limit.
void DiagnoseLatency(const Profile& profile, Evidence& evidence, Diagnosis& diagnosis) {
  const auto waves = profile.Get(metric::kWaves);
  const auto occupancy = profile.Get(metric::kTheoreticalOccupancy);
  diagnosis.bound = Bound::kLatency;
  diagnosis.cause = "no resource is near its limit: warps wait for loads and for each other";
  if (const Stall* stall = WorstStall(profile)) {
    diagnosis.cause = fmt::format("no resource is near its limit: {}", stall->cause);
    evidence.Quote(stall->id, "that wait for this while one issues; more than for anything else");
  }
  evidence.Quote(metric::kLatencyShare, "dependent instructions and loads alone take this share");
  evidence.Quote(metric::kLoadsInFlight, "loads that a warp has in flight together");
  evidence.Quote(metric::kBarriers, "arrivals at barriers");
  if (Or0(profile.Get(metric::kThreadsPerInstruction)) > 0 &&
      Or0(profile.Get(metric::kThreadsPerInstruction)) < kDivergentLanes) {
    evidence.Quote(metric::kThreadsPerInstruction, "of 32 lanes; the others idle");
    diagnosis.cause = "few lanes of a warp are active: its branches diverge";
  }
  if (Uncoalesced(profile, metric::kGlobalLoadSectorsPerRequest)) {
    evidence.Quote(metric::kGlobalLoadSectorsPerRequest, "each request waits for many sectors");
    if (Or0(profile.Get(metric::kL1HitRatio)) < kLowL1Hits) {
      evidence.Quote(metric::kL1HitRatio, "few of them are in L1");
    }
  }
  if (waves.has_value() && *waves < kFullWave) {
    evidence.Quote(metric::kWaves, "the grid does not fill the device once");
    diagnosis.bound = Bound::kOccupancy;
    diagnosis.cause = "there are too few blocks to use all multiprocessors";
  } else if (occupancy.has_value() && *occupancy < kLowOccupancy) {
    evidence.Quote(metric::kTheoreticalOccupancy, "share of the warp slots that can be used");
    evidence.Quote(metric::kRegisters, "registers of a thread");
    evidence.Quote(metric::kSharedBytesPerBlock, "shared memory of a block");
    diagnosis.bound = Bound::kOccupancy;
    diagnosis.cause = "registers, shared memory or block size leave warp slots empty";
  }
}

}  // namespace

Diagnosis Diagnose(const Profile& profile, const Timing& timing, const DeviceInfo& device,
                   const std::vector<KernelResources>& resources) {
  Diagnosis diagnosis;
  Evidence evidence(profile, diagnosis);
  diagnosis.speed_of_light = SpeedOfLight(profile, timing, device);
  const auto& fractions = diagnosis.speed_of_light;
  if (fractions.empty()) {
    diagnosis.cause = "nothing was counted";
    return diagnosis;
  }
  const double certainty = timing.kind == TimingKind::kPredicted ? kPredictedConfidence : 1;

  const double launches = Or0(profile.Get(metric::kLaunchShare));
  if (launches >= kLaunchBound) {
    diagnosis.bound = Bound::kLatency;
    diagnosis.cause = "most of the time goes into starting kernels";
    evidence.Quote(metric::kLaunchShare, "share of the time that launches take");
    diagnosis.confidence_ratio = certainty * launches;
    return diagnosis;
  }

  // The nearest limit and the second of another bound. "sm" is the maximum over pipes that include
  // the load-store path, so it only speaks when nothing more exact is as near.
  const Limit* nearest = nullptr;
  double best = 0;
  for (const Limit& limit : kLimits) {
    const double fraction = Nearness(fractions, limit, device);
    if (fraction > best + 1e-9) {
      nearest = &limit;
      best = fraction;
    }
  }
  double second = 0;
  for (const Limit& limit : kLimits) {
    if (nearest != nullptr && limit.bound != nearest->bound &&
        std::string_view(limit.name) != "sm") {
      second = std::max(second, Nearness(fractions, limit, device));
    }
  }

  const double atomics = Or0(profile.Get(metric::kAtomicShare));
  if (atomics >= kAtomicBound && atomics >= best) {
    diagnosis.bound = Bound::kLatency;
    diagnosis.cause = "atomics on few addresses are executed one after another";
    evidence.Quote(metric::kAtomicShare, "share of the time that atomics alone take");
    evidence.Quote(metric::kGlobalAtomicLanes, "atomic operations on global memory");
    evidence.Quote(metric::kGlobalAtomicRounds, "rounds in which lanes of one request met");
    diagnosis.confidence_ratio = certainty * atomics;
    return diagnosis;
  }
  if (nearest != nullptr && best >= kNearLimit) {
    diagnosis.bound = nearest->bound;
    evidence.Say(fmt::format("{} is at {:.2f} of {}", nearest->what, best,
                             nearest->reachable >= 1           ? "its limit"
                             : Reachable(*nearest, device) < 1 ? "what streaming kernels reach"
                                                               : "its measured peak"));
    if (*nearest->id != '\0') {
      evidence.Quote(nearest->id, "share of the peak");
    }
    if (nearest->bound == Bound::kMemory) {
      diagnosis.cause = MemoryCause(profile, nearest->what, evidence);
    } else {
      diagnosis.cause = std::string(nearest->what) + " is near its limit";
      evidence.Quote(metric::kWarpInstructions, "warp instructions executed");
    }
    SayAboutSpills(resources, evidence);
    diagnosis.confidence_ratio =
        certainty *
        (kTieConfidence + (1 - kTieConfidence) * (best - std::min(second, best)) / best);
    return diagnosis;
  }
  DiagnoseLatency(profile, evidence, diagnosis);
  SayAboutSpills(resources, evidence);
  if (nearest != nullptr) {
    evidence.Say(fmt::format("the nearest limit is {}, at {:.2f}", nearest->what, best));
  }
  // The further all limits are, the surer.
  diagnosis.confidence_ratio =
      certainty * (kTieConfidence + (1 - kTieConfidence) * (kNearLimit - best) / kNearLimit);
  return diagnosis;
}

}  // namespace optiml
