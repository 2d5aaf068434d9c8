#ifndef OPTIML_VERIFY_PLAN_RUNNER_H_
#define OPTIML_VERIFY_PLAN_RUNNER_H_

// A candidate's plan on the inputs of one case, once or several times in the same memory: buffers
// filled or poisoned by role before each pass, the plan executed, and what came back sorted by
// argument again.

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

// One execution among several in the same memory.
struct PassRun {
  const TaskInputs* inputs = nullptr;
  uint8_t poison = 0;
  BlockOrder order = BlockOrder::kFirstToLast;
};

struct PlanRun {
  const Artifact* artifact = nullptr;
  const LaunchPlan* plan = nullptr;
  std::vector<PassRun> passes;  // at least one, in order
  CheckLevel checks = CheckLevel::kBounds;
  Surroundings surroundings;
  uint64_t step_limit = 0;
  bool repeatable = false;  // as RunRequest's
  bool follow = false;      // asks what float outputs would be in double arithmetic
};

struct PlanResult {
  RunOutcome outcome;
  // After the last pass, by buffer argument, in the task's order; in the task's dtypes. Empty
  // unless it completed.
  std::vector<Tensor> buffers;
  // The first input that the run changed: "x[3]"; empty when none was.
  std::string changed_input;
  // What float outputs would be in double arithmetic, f64, by buffer argument; empty where nobody
  // asked or the device does not know.
  std::vector<Tensor> in_double;
};

// Whether double arithmetic is followed for it: a written buffer of floats of 16 bits or more.
bool CanFollow(const ArgSpec& arg);

// What the plan's argument buffers hold before a pass, in the plan's order.
std::vector<BufferContents> ContentsFor(const KernelTask& task, const LaunchPlan& plan,
                                        const PassRun& pass);

// What these buffers held (in the plan's order), by buffer argument in the task's order and dtypes;
// shapes are those of `inputs`. Buffers that the plan does not have, and empty ones, are empty.
std::vector<Tensor> ByArgument(const KernelTask& task, const LaunchPlan& plan,
                               std::vector<std::vector<std::byte>> buffers,
                               const TaskInputs& inputs);

Result<PlanResult> RunPlan(const KernelTask& task, const PlanRun& run, Device& device);

}  // namespace optiml

#endif  // OPTIML_VERIFY_PLAN_RUNNER_H_
