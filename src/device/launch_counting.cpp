#include "device/launch_counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "device/block_sampling.h"
#include "device/occupancy.h"

namespace optiml {
namespace {

// A sample has at least this many blocks, however long they are: one cold and one warm.
constexpr uint64_t kMinSampleBlocks = 2;
// A launch is executed in full, without a look at one of its blocks first, when its text run
// through once by every thread stays below this many budgets; it may then take as many.
constexpr uint64_t kBudgetsBeforePilot = 2;
// The first halves of the sample's groups are run twice, the second halves once: Extrapolated().
constexpr uint64_t kRunsPerSample = 3;
constexpr uint64_t kSamplesPerRuns = 2;
// A sample of this many blocks leaves time for the two corners of the grid.
constexpr uint64_t kBlocksThatAffordCorners = 8;
// What a plan's launches leave in L2 for each other: the share of L2 that its buffers may take.
constexpr double kL2ShareKept = 0.7;

// One launch, executed as often as its counting needs.
class Counting {
 public:
  Counting(const PreparedLaunch& prepared, const DeviceDescription& device, PlanMemory& memory)
      : request_(prepared.request), memory_(memory) {
    const uint64_t blocks = prepared.request.grid.Count();
    request_.threads = 1;  // the cache model's hits, so the prediction, must not depend on timing
    request_.counters = true;
    request_.cache = CacheFor(prepared.block, blocks, device);
    counted_.work.block = prepared.block;
    counted_.work.blocks = blocks;
  }

  const ptx::LaunchRequest& request() const { return request_; }
  uint64_t blocks() const { return counted_.work.blocks; }
  CountedLaunch Take() { return std::move(counted_); }
  CountedLaunch& counted() { return counted_; }

  // Runs these blocks (none: all) and notes how it ended. Counters only with `count`.
  ptx::LaunchOutcome Run(std::vector<uint64_t> sample, uint64_t limit, bool count) {
    request_.block_sample = std::move(sample);
    request_.step_limit = limit;
    request_.counters = count;
    request_.cache.enabled = count;
    ptx::LaunchOutcome outcome = ptx::Launch(request_, memory_.memory());
    counted_.status = RunStatusOf(outcome.status);
    counted_.reason.clear();
    if (outcome.status != ptx::LaunchStatus::kCompleted) {
      counted_.reason = outcome.status == ptx::LaunchStatus::kFault && !outcome.findings.empty()
                            ? FindingText(outcome.findings.front())
                            : outcome.message;
    }
    return outcome;
  }
  bool completed() const { return counted_.status == RunStatus::kCompleted; }

  void Count(const ptx::Counters& whole, uint64_t blocks_run) {
    counted_.work.counters = whole;
    counted_.work.blocks_run = blocks_run;
  }

 private:
  ptx::LaunchRequest request_;
  PlanMemory& memory_;
  CountedLaunch counted_;
};

void CountInFull(Counting& counting, uint64_t limit, const BlockDependence& facts) {
  const ptx::LaunchOutcome outcome = counting.Run({}, limit, true);
  if (outcome.status == ptx::LaunchStatus::kStepLimit) {
    counting.counted().reason =
        fmt::format("{} thread instructions were not enough to count it, and it is not sampled{}",
                    limit, facts.blocks_depend ? ": " + facts.reason : "");
  }
  counting.Count(outcome.counters, outcome.counters.blocks_run);
}

void CountBySample(Counting& counting, uint64_t instructions_of_block, const BlockDependence& facts,
                   const CountingLimits& limits) {
  const uint64_t wanted =
      limits.sample_budget / kRunsPerSample * kSamplesPerRuns / instructions_of_block;
  const Dim3& grid = counting.request().grid;
  BlockSample sample = ChooseBlocks(grid, std::clamp(wanted, kMinSampleBlocks, counting.blocks()));
  if (facts.data_steers && !facts.steers_more_than_stores) {
    // Elements that a block has exchanged are in order when it is run again: nothing is stored.
    sample = WithHalvesBeside(std::move(sample), grid);
  }
  ptx::LaunchOutcome half;
  if (!sample.first_half.empty()) {
    half = counting.Run(sample.first_half, limits.step_limit, true);
    if (!counting.completed()) {
      return;
    }
  }
  const ptx::LaunchOutcome all = counting.Run(sample.all, limits.step_limit, true);
  ptx::Counters whole = Extrapolated(half.counters, all.counters);
  if (counting.completed() && sample.all.size() >= kBlocksThatAffordCorners) {
    // Borders lie in the first and the last blocks, which the sample leaves out: few, but the
    // launch waits for the longest.
    std::vector<uint64_t> corners = {0, counting.blocks() - 1};
    std::erase_if(corners, [&](uint64_t id) {
      return std::find(sample.all.begin(), sample.all.end(), id) != sample.all.end();
    });
    if (!corners.empty()) {
      const ptx::LaunchOutcome edge = counting.Run(corners, limits.step_limit, true);
      whole.longest_block_work =
          std::max(whole.longest_block_work, edge.counters.longest_block_work);
    }
  }
  counting.Count(whole, all.counters.blocks_run);
}

// Buffers that a launch is given.
std::vector<int> BuffersOf(const KernelLaunch& launch) {
  std::vector<int> buffers;
  for (const KernelArgument& argument : launch.arguments) {
    if (const auto* pointer = std::get_if<DevicePointer>(&argument)) {
      buffers.push_back(pointer->buffer);
    } else if (const auto* with = std::get_if<StructArgument>(&argument)) {
      for (const StructArgument::Pointer& held : with->pointers) {
        buffers.push_back(held.value.buffer);
      }
    } else if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      buffers.push_back(map->tensor.buffer);
    }
  }
  return buffers;
}

bool AnyIn(const std::vector<int>& buffers, const std::set<int>& set) {
  return std::any_of(buffers.begin(), buffers.end(),
                     [&](int buffer) { return set.count(buffer) != 0; });
}

void TakeFrom(uint64_t& left, uint64_t& bytes) {
  bytes = std::min(bytes, left);
  left -= bytes;
}

}  // namespace

ptx::CacheModel CacheFor(const BlockShape& block, uint64_t blocks,
                         const DeviceDescription& device) {
  const auto fit = static_cast<uint64_t>(OccupancyOf(block, device).blocks);
  const auto sms = static_cast<uint64_t>(device.multiprocessors);
  const uint64_t resident = std::clamp<uint64_t>((blocks + sms - 1) / sms, 1, fit);
  const uint64_t shared = resident * (block.shared_bytes + device.shared_bytes_reserved);
  ptx::CacheModel cache;
  cache.enabled = true;
  cache.sms = static_cast<uint32_t>(sms);
  cache.l1_bytes = (device.l1_bytes - std::min(shared, device.l1_bytes)) / resident;
  cache.l2_bytes = device.l2_bytes;
  return cache;
}

CountedLaunch CountLaunch(const PreparedLaunch& prepared, const CountingLimits& limits,
                          const DeviceDescription& device, PlanMemory& memory) {
  Counting counting(prepared, device, memory);
  const BlockDependence facts =
      AnalyseDependence(*prepared.request.module, prepared.request.kernel);
  if (!limits.may_sample || facts.blocks_depend || counting.blocks() <= kMinSampleBlocks) {
    CountInFull(counting, std::min(limits.step_limit, limits.full_run_limit), facts);
    return counting.Take();
  }
  uint64_t instructions_of_block = 0;
  const uint64_t text_once = facts.instructions * prepared.block.threads;
  if (text_once < kBudgetsBeforePilot * limits.sample_budget / counting.blocks()) {
    const ptx::LaunchOutcome outcome = counting.Run(
        {}, std::min(limits.step_limit, kBudgetsBeforePilot * limits.sample_budget), true);
    if (outcome.status != ptx::LaunchStatus::kStepLimit) {
      counting.Count(outcome.counters, outcome.counters.blocks_run);
      return counting.Take();
    }
    if (outcome.counters.blocks_run > 0) {
      instructions_of_block = outcome.counters.thread_instructions / outcome.counters.blocks_run;
    }
  }
  counting.counted().sampled = true;
  if (instructions_of_block == 0) {
    const ptx::LaunchOutcome pilot =
        counting.Run({counting.blocks() / 2}, limits.step_limit, false);
    if (!counting.completed()) {
      return counting.Take();
    }
    instructions_of_block = std::max<uint64_t>(pilot.counters.thread_instructions, 1);
  }
  CountBySample(counting, instructions_of_block, facts, limits);
  return counting.Take();
}

PlanSteering::PlanSteering(const LaunchPlan& plan, const Artifact& artifact,
                           const ptx::Module& module)
    : steers_(plan.steps.size(), false), steers_more_than_stores_(plan.steps.size(), false) {
  std::map<std::string, BlockDependence> facts_of;
  // Buffers of the launches that come later and are steered.
  std::set<int> steering;
  std::set<int> steering_more;
  for (size_t i = plan.steps.size(); i-- > 0;) {
    const auto* launch = std::get_if<KernelLaunch>(&plan.steps[i]);
    if (launch == nullptr) {
      continue;
    }
    const std::vector<int> buffers = BuffersOf(*launch);
    steers_[i] = AnyIn(buffers, steering);
    steers_more_than_stores_[i] = AnyIn(buffers, steering_more);
    const KernelResources* resources = artifact.FindKernel(launch->kernel);
    if (resources == nullptr || module.FindKernel(resources->lowered_name) == nullptr) {
      continue;
    }
    auto facts = facts_of.find(launch->kernel);
    if (facts == facts_of.end()) {
      facts = facts_of.emplace(launch->kernel, AnalyseDependence(module, resources->lowered_name))
                  .first;
    }
    if (steers_[i]) {
      instructions_ += facts->second.instructions * launch->grid.Count() * launch->block.Count();
    }
    if (facts->second.data_steers) {
      steering.insert(buffers.begin(), buffers.end());
    }
    if (facts->second.steers_more_than_stores) {
      steering_more.insert(buffers.begin(), buffers.end());
    }
  }
}

bool PlanSteering::Steers(size_t step, Steering allowed) const {
  return allowed == Steering::kStores ? steers_more_than_stores_[step] : steers_[step];
}

TrafficLedger::TrafficLedger(const PlanMemory& memory, const DeviceDescription& device)
    : applies_(static_cast<double>(memory.total_bytes()) <=
               kL2ShareKept * static_cast<double>(device.l2_bytes)),
      reads_left_(memory.total_bytes()),
      writes_left_(memory.writable_bytes()) {}

void TrafficLedger::Settle(ptx::Counters& counters) {
  if (applies_) {
    TakeFrom(reads_left_, counters.dram_read_bytes);
    TakeFrom(writes_left_, counters.dram_write_bytes);
    TakeFrom(writes_left_, counters.l2_dirty_bytes_at_end);
  }
}

}  // namespace optiml
