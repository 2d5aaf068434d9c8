#include "device/counter_metrics.h"

#include <algorithm>

namespace optiml {
namespace {

double D(uint64_t count) {
  return static_cast<double>(count);
}

class Metrics {
 public:
  explicit Metrics(Profile& profile) : profile_(profile) {}

  void Add(const char* id, double value, const char* unit) {
    profile_.metrics[id] = Metric{value, unit};
  }
  // Absent when there is nothing to divide by.
  void AddRatio(const char* id, double numerator, double denominator) {
    if (denominator > 0) {
      Add(id, numerator / denominator, "ratio");
    }
  }

 private:
  Profile& profile_;
};

// `l2_bytes`: what L2 holds. Sampled launches do not fill it, so what they leave dirty may be more.
void AddCounts(const ptx::Counters& c, uint64_t l2_bytes, Metrics& m) {
  using Class = ptx::InstructionClass;
  m.Add(metric::kThreadInstructions, D(c.thread_instructions), "inst");
  m.Add(metric::kWarpInstructions, D(c.warp_instructions), "inst");
  m.AddRatio(metric::kThreadsPerInstruction, D(c.thread_instructions), D(c.warp_instructions));
  m.Add(metric::kGlobalLoadRequests, D(c.global_load.requests), "request");
  m.Add(metric::kGlobalLoadSectors, D(c.global_load.sectors), "sector");
  m.Add(metric::kGlobalStoreRequests, D(c.global_store.requests), "request");
  m.Add(metric::kGlobalStoreSectors, D(c.global_store.sectors), "sector");
  m.AddRatio(metric::kGlobalLoadSectorsPerRequest, D(c.global_load.sectors),
             D(c.global_load.requests));
  m.AddRatio(metric::kGlobalStoreSectorsPerRequest, D(c.global_store.sectors),
             D(c.global_store.requests));
  m.Add(metric::kSharedLoadWavefronts, D(c.shared_load.wavefronts), "wavefront");
  m.Add(metric::kSharedStoreWavefronts, D(c.shared_store.wavefronts), "wavefront");
  m.Add(metric::kSharedLoadConflicts, D(c.shared_load.conflicts), "wavefront");
  m.Add(metric::kSharedStoreConflicts, D(c.shared_store.conflicts), "wavefront");
  m.Add(metric::kGlobalAtomicRequests, D(c.global_atomic.requests), "request");
  m.Add(metric::kGlobalAtomicLanes, D(c.global_atomic.lanes), "operation");
  m.Add(metric::kGlobalAtomicRounds, D(c.global_atomic.serialised), "round");
  m.Add(metric::kSharedAtomicRequests, D(c.shared_atomic.requests), "request");
  m.Add(metric::kSharedAtomicRounds, D(c.shared_atomic.serialised), "round");
  m.Add(metric::kLocalLoadSectors, D(c.local_load.sectors), "sector");
  m.Add(metric::kLocalStoreSectors, D(c.local_store.sectors), "sector");
  // The fast paths of correctly rounded operations, as ptxas writes them for sm_90 (measured on an
  // H200: bench/counters, softmax and layernorm): reciprocal and two steps of refinement for a
  // division, one for a reciprocal, and Heron's step for a root.
  constexpr double kFmasOfDivision = 5;
  constexpr double kFmasOfReciprocal = 2;
  constexpr double kFmasOfRoot = 2;
  constexpr double kMulsOfRoot = 2;
  m.Add(metric::kFaddInstructions, D(c.ByClass(Class::kFp32Add)), "inst");
  m.Add(metric::kFmulInstructions,
        D(c.ByClass(Class::kFp32Mul)) + kMulsOfRoot * D(c.ByClass(Class::kFp32Root)), "inst");
  m.Add(metric::kFfmaInstructions,
        D(c.ByClass(Class::kFp32Fma)) + kFmasOfDivision * D(c.ByClass(Class::kFp32Division)) +
            kFmasOfReciprocal * D(c.ByClass(Class::kFp32Reciprocal)) +
            kFmasOfRoot * D(c.ByClass(Class::kFp32Root)),
        "inst");
  m.Add(metric::kIntegerInstructions,
        D(c.ByClass(Class::kInteger)) + D(c.ByClass(Class::kInteger64)), "inst");
  m.Add(metric::kSpecialFunctionInstructions,
        D(c.warp_by_class[static_cast<size_t>(Class::kSpecialFunction)]), "inst");
  m.Add(metric::kBarriers, D(c.barriers), "inst");
  m.Add(metric::kDivergentBranches, D(c.divergent_branches), "inst");
  if (c.global_load_rounds > 0) {
    m.AddRatio(metric::kLoadsInFlight, D(c.global_load.requests), D(c.global_load_rounds));
  }
  if (c.cache_modelled) {
    m.Add(metric::kDramReadBytes, D(c.dram_read_bytes), "byte");
    const uint64_t dirty = std::min(c.l2_dirty_bytes_at_end, l2_bytes);
    m.Add(metric::kDramWriteBytes, D(c.dram_write_bytes + c.l2_dirty_bytes_at_end - dirty), "byte");
    m.Add(metric::kDramDirtyBytes, D(dirty), "byte");
    m.AddRatio(metric::kL1HitRatio, D(c.l1_load_hits), D(c.l1_load_sectors));
    m.AddRatio(metric::kL2HitRatio, D(c.l2_hits), D(c.l2_sectors));
  }
}

}  // namespace

Profile CountsOf(const ptx::Counters& counters) {
  Profile profile;
  profile.source = ProfileSource::kEmulator;
  Metrics m(profile);
  AddCounts(counters, counters.l2_dirty_bytes_at_end, m);
  return profile;
}

Profile ProfileOf(const PlanWork& work, const PlanTimes& times, const DeviceDescription& device) {
  Profile profile;
  profile.source = ProfileSource::kEmulator;
  Metrics m(profile);
  ptx::Counters sum;
  LaunchTimes parts;
  double sm = 0;
  double overhead = 0;
  double blocks = 0;
  double blocks_run = 0;
  const LaunchWork* longest = nullptr;
  const LaunchTimes* longest_times = nullptr;
  for (size_t i = 0; i < work.size(); ++i) {
    overhead += times.steps[i].overhead_s;
    if (!work[i].launch.has_value()) {
      continue;
    }
    const LaunchWork& launch = *work[i].launch;
    const LaunchTimes& t = times.steps[i].launch;
    sum += launch.counters;
    parts.l2 += t.l2;
    parts.global += t.global + t.shared;
    parts.issue += t.issue;
    parts.atomics += t.atomics;
    parts.latency += t.latency;
    sm += std::max({t.issue, t.fp32, t.fp64, t.fp16, t.integer, t.special, t.global + t.shared});
    blocks += D(launch.blocks);
    blocks_run += D(launch.blocks_run);
    if (longest == nullptr || t.total > longest_times->total) {
      longest = &launch;
      longest_times = &t;
    }
  }
  if (longest == nullptr) {
    return profile;
  }
  AddCounts(sum, device.l2_bytes, m);
  m.Add(metric::kTheoreticalOccupancy, longest_times->occupancy.ratio, "ratio");
  m.Add(metric::kRegisters, longest->block.registers_per_thread, "register");
  m.Add(metric::kSharedBytesPerBlock, D(longest->block.shared_bytes), "byte");
  m.Add(metric::kBlocks, D(longest->blocks), "block");
  m.Add(metric::kWaves, longest_times->waves, "ratio");
  const auto share = [&](const char* id, double part) {
    if (times.seconds > 0) {
      m.Add(id, std::min(1.0, part / times.seconds), "ratio");
    }
  };
  if (sum.cache_modelled) {
    share(metric::kDramUtilisation,
          D(sum.dram_read_bytes + sum.dram_write_bytes + sum.l2_dirty_bytes_at_end) /
              device.dram_bytes_per_s);
    share(metric::kL2Utilisation, parts.l2);
  }
  share(metric::kL1Utilisation, parts.global);
  share(metric::kIssueUtilisation, parts.issue);
  share(metric::kSmUtilisation, sm);
  share(metric::kLatencyShare, parts.latency);
  share(metric::kAtomicShare, parts.atomics);
  share(metric::kLaunchShare, overhead);
  profile.sampled_ratio = blocks > 0 ? std::min(1.0, blocks_run / blocks) : 1;
  return profile;
}

}  // namespace optiml
