#ifndef OPTIML_DEVICE_EMULATOR_DEVICE_H_
#define OPTIML_DEVICE_EMULATOR_DEVICE_H_

// The emulator as a device: executes plans on ptx::Launch with its checks, counts, and predicts
// times for a GPU model that is described by data (device_description.h).
//
// Run executes everything. Time executes what it needs: launches that are too big are sampled by
// blocks (block_sampling.h), so their results are not the kernel's. Where sampling is refused the
// launch runs in full, up to EmulatorOptions::full_run_limit. What is executed in full only because
// a later launch's stores depend on it is sampled when the plan as a whole is beyond that limit.
//
// Thread safe: calls may be made concurrently (Capabilities::concurrent_calls).

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/device_description.h"
#include "device/launch_counting.h"
#include "device/plan_launch.h"
#include "device/time_model.h"
#include "ptx/float_shadow.h"

namespace optiml {

struct EmulatorOptions {
  // Behaviour.
  std::string model = "h200";  // a built-in description or the path of a .toml file
  bool sampling = true;        // false: Time() executes every block
  // Thread instructions that Time() spends on one launch when it may sample: about 0.1 s. Plans of
  // very many launches share a budget (emulator_device.cpp).
  uint64_t sample_budget = 24'000'000;
  // Thread instructions up to which a launch that must not be sampled is executed by Time().
  uint64_t full_run_limit = 2'000'000'000;

  // Set when the user wants the end: what runs then, and what is asked for later, is an Error
  // (kInterrupted). Borrowed; may be null.
  const std::atomic<bool>* stop = nullptr;

  // Performance.
  int threads = 1;  // host threads of one launch of Run(); Time() uses one, so that it repeats
};

// What Time() counts before it predicts; for fitting the time model.
struct CountOutcome {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;  // when not completed
  PlanWork work;
};

// One launch of a plan as it was executed, with every check and all counters.
struct LaunchTrace {
  KernelLaunch launch;
  Occupancy occupancy;         // zero where the artifact does not say registers
  ptx::LaunchOutcome outcome;  // with counts by source line and a cache model
};

// How far an argument's buffer is from double arithmetic.
struct ShadowTrace {
  std::string buffer;
  ptx::BufferError error;
};

struct TraceOutcome {
  RunOutcome run;                     // as Run() says it, with CheckLevel::kFull
  std::vector<LaunchTrace> launches;  // those that were executed, in order
  // Of the buffers with BufferContents::shadow; empty after a fault.
  std::vector<ShadowTrace> shadows;
  std::set<int32_t> unfollowed_lines;  // see ptx::FloatShadow
};

class EmulatorDevice : public Device {
 public:
  // Fails with kNotFound or kParse when the description is not there or not valid.
  static Result<std::unique_ptr<EmulatorDevice>> Make(EmulatorOptions options);

  const DeviceInfo& Info() const override { return info_; }
  const DeviceDescription& description() const { return description_; }

  Result<RunOutcome> Run(const RunRequest& request) override;
  Result<TimeOutcome> Time(const RunRequest& request) override;
  Result<CountOutcome> Count(const RunRequest& request);
  // Executes the plan once, all of it, on one host thread.
  Result<TraceOutcome> Trace(const RunRequest& request);

 private:
  // Executes the plan; `each` may add to a launch's request and sees its outcome.
  struct LaunchVisitor {
    std::function<void(PreparedLaunch&)> before;
    std::function<void(const KernelLaunch&, const PreparedLaunch&, ptx::LaunchOutcome)> after;
    // With shadows: after the last pass, unless it faulted.
    std::function<void(const PlanMemory&, const ptx::FloatShadow&)> compare;
  };
  struct Execution;
  Result<RunOutcome> Execute(const RunRequest& request, const LaunchVisitor& each);
  Result<void> ExecutePass(Execution& execution, const LaunchVisitor& each, BlockOrder order);
  EmulatorDevice(EmulatorOptions options, DeviceDescription description);
  struct Sampling {
    bool allowed = true;
    Steering steering = Steering::kNothing;
  };
  Result<CountOutcome> CountPlan(const RunRequest& request, const PlanSteering& steering,
                                 const Sampling& sampling, bool& sampled);

  EmulatorOptions options_;
  DeviceDescription description_;
  DeviceInfo info_;
  ModuleCache modules_;
};

Result<std::unique_ptr<Device>> MakeEmulatorDevice(EmulatorOptions options);

}  // namespace optiml

#endif  // OPTIML_DEVICE_EMULATOR_DEVICE_H_
