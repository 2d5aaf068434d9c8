#ifndef OPTIML_DEVICE_PLAN_LAUNCH_H_
#define OPTIML_DEVICE_PLAN_LAUNCH_H_

// PreparedLaunch: a launch of a plan in the form that the PTX machine takes, or the reason why a
// driver would refuse it.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/content_hash.h"
#include "base/result.h"
#include "core/artifact.h"
#include "device/launch_check.h"
#include "device/occupancy.h"
#include "device/plan_memory.h"
#include "ptx/machine.h"
#include "ptx/module.h"

namespace optiml {

// Parsed modules by their text. Thread safe.
class ModuleCache {
 public:
  // Fails with kParse when the PTX is not what the emulator reads.
  Result<std::shared_ptr<const ptx::Module>> Get(const Artifact& artifact);

 private:
  std::mutex mutex_;
  std::map<ContentHash, std::shared_ptr<const ptx::Module>> modules_;
};

struct PreparedLaunch {
  ptx::LaunchRequest request;  // without checks, counters and limits
  BlockShape block;
  std::string refusal;  // not empty: the launch is invalid, `request` is not complete
  RunStatus refusal_status = RunStatus::kFault;
};

// Fails with kInternal when the plan does not fit the artifact: no such kernel, other parameters.
Result<PreparedLaunch> PrepareLaunch(const KernelLaunch& launch, const Artifact& artifact,
                                     const ptx::Module& module, const PlanMemory& memory,
                                     const DynamicSharedLimits& limits,
                                     const DeviceDescription& device);

// How a machine's outcome reads as a run's.
RunStatus RunStatusOf(ptx::LaunchStatus status);

// "out of bounds in softmax, line 12: ...": a finding as one sentence.
std::string FindingText(const Finding& finding);

}  // namespace optiml

#endif  // OPTIML_DEVICE_PLAN_LAUNCH_H_
