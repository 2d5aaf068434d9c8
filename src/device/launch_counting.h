#ifndef OPTIML_DEVICE_LAUNCH_COUNTING_H_
#define OPTIML_DEVICE_LAUNCH_COUNTING_H_

// Counting a launch for its time: in full when it is small or must not be sampled, else by a sample
// of its blocks, with the cache model on.

#include <cstdint>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/launch_plan.h"
#include "device/device.h"
#include "device/device_description.h"
#include "device/plan_launch.h"
#include "device/plan_memory.h"
#include "device/time_model.h"
#include "ptx/module.h"

namespace optiml {

struct CountingLimits {
  bool may_sample = true;
  uint64_t sample_budget = 0;   // thread instructions of a sample
  uint64_t full_run_limit = 0;  // of a launch that must not be sampled
  uint64_t step_limit = 0;      // of the request; of each execution
};

struct CountedLaunch {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;  // when not completed; without the launch's name
  LaunchWork work;
  bool sampled = false;  // the memory does not hold the launch's results
};

// The caches that a launch sees. Blocks run one after another in the emulator but share L1 on a
// GPU: each gets its part of what shared memory leaves. REQUIRES: the block fits on a
// multiprocessor
ptx::CacheModel CacheFor(const BlockShape& block, uint64_t blocks, const DeviceDescription& device);

// REQUIRES: the launch was prepared without a refusal
CountedLaunch CountLaunch(const PreparedLaunch& prepared, const CountingLimits& limits,
                          const DeviceDescription& device, PlanMemory& memory);

// Whether data may decide about a launch although earlier launches were only sampled.
enum class Steering {
  kNothing,
  kStores  // only whether stores are done: BlockDependence::steers_more_than_stores is false
};

// Which launches of a plan write data that decide about a later one. Keeps nothing of what it is
// made from.
class PlanSteering {
 public:
  PlanSteering(const LaunchPlan& plan, const Artifact& artifact, const ptx::Module& module);

  // Whether data that the launch of `step` may write decides about more than `allowed` of a later
  // launch: then it must write all of it.
  bool Steers(size_t step, Steering allowed) const;
  // Thread instructions of all launches that steer a later one, when every thread runs through its
  // kernel's text once: about the least that it takes to execute them in full.
  uint64_t instructions() const { return instructions_; }

 private:
  std::vector<bool> steers_;                   // by step
  std::vector<bool> steers_more_than_stores_;  // by step
  uint64_t instructions_ = 0;
};

// Traffic with device memory of a plan whose buffers stay in L2 between its launches: what was
// fetched, or will be written back, once is not so again. Does nothing for plans whose buffers do
// not fit.
class TrafficLedger {
 public:
  TrafficLedger(const PlanMemory& memory, const DeviceDescription& device);
  void Settle(ptx::Counters& counters);

 private:
  bool applies_;
  uint64_t reads_left_;
  uint64_t writes_left_;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_LAUNCH_COUNTING_H_
