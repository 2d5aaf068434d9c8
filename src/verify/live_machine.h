#ifndef OPTIML_VERIFY_LIVE_MACHINE_H_
#define OPTIML_VERIFY_LIVE_MACHINE_H_

// LiveMachine: a Device as a live launcher sees it (frontend/live_plan.h). Work between two looks
// at the device is a plan of its own; what memory and module variables held after it is what the
// next one begins with. Nothing is checked here but bounds: the whole trace is executed once more,
// with every check.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "frontend/live_plan.h"
#include "ptx/module.h"
#include "verify/plan_runner.h"

namespace optiml {

class LiveMachine : public LiveDevice {
 public:
  // Borrowed.
  struct Of {
    const KernelTask& task;
    const Artifact& artifact;
    const ptx::Module& module;
    Device& device;
    Surroundings surroundings;
    uint64_t step_limit = 0;  // thread instructions of all calls
    bool repeatable = true;   // as RunRequest's
  };
  // `calls`: what each call finds in its argument buffers.
  LiveMachine(const Of& of, std::vector<PassRun> calls);

  Result<bool> Begin(size_t call) override;
  Result<std::optional<std::vector<std::byte>>> Read(const LaunchPlan& plan,
                                                     const DevicePointer& source,
                                                     uint64_t size_bytes) override;
  Result<bool> End(const LaunchPlan& plan) override;

  // Why it could not go on; null: it could.
  const RunOutcome* failure() const { return failure_ ? &*failure_ : nullptr; }
  // By call that ended: the buffer arguments, in the task's order and dtypes.
  std::vector<std::vector<Tensor>> TakeOutputs() { return std::move(outputs_); }

 private:
  // A module variable; its bytes once they were taken from the device.
  struct Kept {
    std::string symbol;  // the module's name of it
    std::vector<std::byte> bytes;
    uint64_t size_bytes = 0;
  };
  // What a request has beside the plan's own buffers and steps.
  struct Segment {
    LaunchPlan plan;
    RunRequest request;
    std::vector<size_t> slots;  // whose contents the request's first buffers are
  };

  // The buffer's contents; poison where nothing was there yet.
  BufferContents& Slot(const LaunchPlan& plan, size_t buffer);
  Kept* KeptOf(const PlanBuffer& buffer);
  Segment Begun(const LaunchPlan& plan);
  void AddKept(Segment& segment) const;
  Result<bool> Execute(const LaunchPlan& plan, bool in_any_case = false);

  const Of of_;
  std::vector<PassRun> calls_;
  size_t call_ = 0;
  std::vector<BufferContents> slots_;  // by buffer of the plan
  std::vector<Kept> kept_;
  std::vector<AttributeStep> attributes_;  // that were set so far
  size_t executed_ = 0;                    // steps of this call
  uint64_t steps_left_;
  std::vector<std::vector<Tensor>> outputs_;
  std::optional<RunOutcome> failure_;
};

}  // namespace optiml

#endif  // OPTIML_VERIFY_LIVE_MACHINE_H_
