#include "verify/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

std::vector<BufferContents> ContentsFor(const KernelTask& task, const LaunchPlan& plan,
                                        const PassRun& pass) {
  const std::vector<int> indices = BufferIndices(task);
  std::vector<BufferContents> all;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument < 0) {
      continue;
    }
    const auto argument = static_cast<size_t>(buffer.argument);
    OPTIML_CHECK(argument < task.args.size() && task.args[argument].is_buffer,
                 "a plan's buffer belongs to a buffer argument");
    const ArgSpec& arg = task.args[argument];
    BufferContents contents;
    contents.poison = pass.poison;
    contents.element_bytes = static_cast<uint32_t>(DTypeBytes(arg.dtype));
    contents.read_only = arg.role == ArgRole::kIn;
    if (arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut) {
      contents.bytes = pass.inputs->buffers[static_cast<size_t>(indices[argument])].bytes;
    }
    all.push_back(std::move(contents));
  }
  return all;
}

namespace {

Tensor DoublesOf(const std::vector<double>& values, const std::vector<int64_t>& shape) {
  Tensor tensor = MakeTensor(DType::kF64, shape);
  OPTIML_CHECK(tensor.bytes.size() == values.size() * sizeof(double), "a value for each element");
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace

std::vector<Tensor> ByArgument(const KernelTask& task, const LaunchPlan& plan,
                               std::vector<std::vector<std::byte>> buffers,
                               const TaskInputs& inputs) {
  const std::vector<int> indices = BufferIndices(task);
  std::vector<Tensor> tensors;
  for (const Tensor& input : inputs.buffers) {
    tensors.push_back({input.dtype, input.shape, {}});
  }
  size_t next = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument >= 0) {
      const auto argument = static_cast<size_t>(buffer.argument);
      Tensor& tensor = tensors[static_cast<size_t>(indices[argument])];
      tensor.dtype = task.args[argument].dtype;
      tensor.bytes = std::move(buffers[next++]);
    }
  }
  return tensors;
}

bool CanFollow(const ArgSpec& arg) {
  const bool written = arg.role == ArgRole::kOut || arg.role == ArgRole::kInOut;
  return written && IsFloat(arg.dtype) && DTypeBytes(arg.dtype) > 1;
}

Result<PlanResult> RunPlan(const KernelTask& task, const PlanRun& run, Device& device) {
  const std::vector<int> indices = BufferIndices(task);
  RunRequest request;
  request.artifact = run.artifact;
  request.plan = run.plan;
  request.checks = run.checks;
  request.surroundings = run.surroundings;
  request.step_limit = run.step_limit;
  request.repeatable = run.repeatable;
  OPTIML_CHECK(!run.passes.empty(), "a run has a pass");
  request.order = run.passes.front().order;
  request.buffers = ContentsFor(task, *run.plan, run.passes.front());
  for (size_t i = 1; i < run.passes.size(); ++i) {
    request.more_passes.push_back(
        {ContentsFor(task, *run.plan, run.passes[i]), run.passes[i].order});
  }
  const TaskInputs& inputs = *run.passes.back().inputs;
  std::vector<size_t> owners;  // argument of each buffer of the request
  for (const PlanBuffer& buffer : run.plan->buffers) {
    if (buffer.argument >= 0) {
      owners.push_back(static_cast<size_t>(buffer.argument));
    }
  }
  for (size_t i = 0; run.follow && i < owners.size(); ++i) {
    if (CanFollow(task.args[owners[i]])) {
      request.buffers[i].shadow = task.args[owners[i]].dtype;
    }
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
  result.buffers = ByArgument(task, *run.plan, std::move(result.outcome.buffers), inputs);
  for (const size_t owner : owners) {
    const ArgSpec& arg = task.args[owner];
    const auto index = static_cast<size_t>(indices[owner]);
    const Tensor& tensor = result.buffers[index];
    const std::vector<std::byte>& before = inputs.buffers[index].bytes;
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
  for (size_t i = 0; i < result.outcome.shadows.size(); ++i) {
    const auto index = static_cast<size_t>(indices[owners[i]]);
    result.in_double.resize(inputs.buffers.size());
    if (!result.outcome.shadows[i].empty()) {
      result.in_double[index] = DoublesOf(result.outcome.shadows[i], inputs.buffers[index].shape);
    }
  }
  result.outcome.shadows.clear();
  result.outcome.buffers.clear();
  return result;
}

}  // namespace optiml
