#include "verify/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace optiml {
namespace {

// Index of each argument among the buffer arguments; -1 for scalars.
std::vector<int> BufferIndices(const KernelTask& task) {
  std::vector<int> indices;
  int next = 0;
  for (const ArgSpec& arg : task.args) {
    indices.push_back(arg.is_buffer ? next++ : -1);
  }
  return indices;
}

}  // namespace

Result<PlanResult> RunPlan(const KernelTask& task, const PlanRun& run, Device& device) {
  const std::vector<int> indices = BufferIndices(task);
  RunRequest request;
  request.artifact = run.artifact;
  request.plan = run.plan;
  request.checks = run.checks;
  request.step_limit = run.step_limit;
  std::vector<size_t> owners;  // argument of each buffer of the request
  for (const PlanBuffer& buffer : run.plan->buffers) {
    if (buffer.argument < 0) {
      continue;
    }
    const auto argument = static_cast<size_t>(buffer.argument);
    OPTIML_CHECK(argument < task.args.size() && task.args[argument].is_buffer,
                 "a plan's buffer belongs to a buffer argument");
    const ArgSpec& arg = task.args[argument];
    BufferContents contents;
    contents.poison = run.poison;
    contents.element_bytes = static_cast<uint32_t>(DTypeBytes(arg.dtype));
    contents.read_only = arg.role == ArgRole::kIn;
    if (arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut) {
      contents.bytes = run.inputs->buffers[static_cast<size_t>(indices[argument])].bytes;
    }
    request.buffers.push_back(std::move(contents));
    owners.push_back(argument);
  }
  PlanResult result;
  OPTIML_ASSIGN(result.outcome, device.Run(request));
  if (result.outcome.status != RunStatus::kCompleted) {
    return result;
  }
  if (result.outcome.buffers.size() != owners.size()) {
    return Error(ErrorCode::kInternal,
                 fmt::format("{} returned {} buffers for {}", device.Info().name,
                             result.outcome.buffers.size(), owners.size()));
  }
  for (const Tensor& input : run.inputs->buffers) {
    result.buffers.push_back({input.dtype, input.shape, {}});
  }
  for (size_t i = 0; i < owners.size(); ++i) {
    const ArgSpec& arg = task.args[owners[i]];
    const auto index = static_cast<size_t>(indices[owners[i]]);
    Tensor& tensor = result.buffers[index];
    tensor.dtype = arg.dtype;
    tensor.bytes = std::move(result.outcome.buffers[i]);
    const std::vector<std::byte>& before = run.inputs->buffers[index].bytes;
    if (tensor.bytes.size() != before.size()) {
      return Error(ErrorCode::kInternal,
                   fmt::format("{} returned {} bytes of {}, which has {}", device.Info().name,
                               tensor.bytes.size(), arg.name, before.size()));
    }
    if (arg.role == ArgRole::kIn && result.changed_input.empty() && tensor.bytes != before) {
      const auto at = std::mismatch(before.begin(), before.end(), tensor.bytes.begin()).first;
      result.changed_input = fmt::format(
          "{}[{}]", arg.name, static_cast<size_t>(at - before.begin()) / DTypeBytes(arg.dtype));
    }
  }
  result.outcome.buffers.clear();
  return result;
}

LaunchPlan TwicePlan(const KernelTask& task, const LaunchPlan& plan, const TaskInputs& inputs,
                     uint8_t second_poison) {
  const std::vector<int> indices = BufferIndices(task);
  LaunchPlan twice = plan;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    if (buffer.argument < 0 || buffer.size_bytes == 0) {
      continue;
    }
    const auto argument = static_cast<size_t>(buffer.argument);
    const DevicePointer whole{static_cast<int>(i), 0};
    if (task.args[argument].role == ArgRole::kOut) {
      twice.steps.emplace_back(MemsetStep{whole, second_poison, buffer.size_bytes, buffer.line});
    } else if (task.args[argument].role == ArgRole::kInOut) {
      twice.steps.emplace_back(UploadStep{
          whole, inputs.buffers[static_cast<size_t>(indices[argument])].bytes, buffer.line});
    }
  }
  twice.steps.insert(twice.steps.end(), plan.steps.begin(), plan.steps.end());
  return twice;
}

}  // namespace optiml
