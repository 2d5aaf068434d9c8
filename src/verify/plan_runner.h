#ifndef OPTIML_VERIFY_PLAN_RUNNER_H_
#define OPTIML_VERIFY_PLAN_RUNNER_H_

// One run of a candidate's plan on the inputs of one case: buffers filled or poisoned by role, the
// plan executed, and what came back sorted by argument again.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/launch_plan.h"
#include "core/tensor.h"
#include "device/device.h"
#include "task/inputs.h"

namespace optiml {

struct PlanRun {
  const Artifact* artifact = nullptr;
  const LaunchPlan* plan = nullptr;
  const TaskInputs* inputs = nullptr;
  CheckLevel checks = CheckLevel::kBounds;
  uint8_t poison = 0;
  uint64_t step_limit = 0;
};

struct PlanResult {
  RunOutcome outcome;
  // By buffer argument, in the task's order; in the task's dtypes. Empty unless it completed.
  std::vector<Tensor> buffers;
  // The first input that the run changed: "x[3]"; empty when none was.
  std::string changed_input;
};

Result<PlanResult> RunPlan(const KernelTask& task, const PlanRun& run, Device& device);

// The plan twice in a row in the same memory: after the first pass outputs are filled with
// `second_poison` and inout buffers restored, then every step is executed again. What is left over
// from the first pass (device variables, scratch memory, results) must not show in the second.
LaunchPlan TwicePlan(const KernelTask& task, const LaunchPlan& plan, const TaskInputs& inputs,
                     uint8_t second_poison);

}  // namespace optiml

#endif  // OPTIML_VERIFY_PLAN_RUNNER_H_
