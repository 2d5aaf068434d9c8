#include "cli/ptx_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/file_system.h"
#include "cli/task_options.h"
#include "core/kernel_task.h"
#include "device/launch_check.h"
#include "ptx/module.h"
#include "task/inputs.h"
#include "task/task.h"
#include "task/task_file.h"
#include "verify/plan_runner.h"
#include "verify/timed_check.h"

namespace optiml {
namespace {

Result<Dim3> ToDim3(const char* flag, const std::vector<uint32_t>& extents) {
  if (extents.empty() || extents.size() > 3) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: {} extents (1 to 3 are allowed)", flag, extents.size()));
  }
  return Dim3{extents[0], extents.size() > 1 ? extents[1] : 1, extents.size() > 2 ? extents[2] : 1};
}

Result<const ptx::Function*> ChooseEntry(const ptx::Module& module, const std::string& entry) {
  const std::vector<std::string> names = module.KernelNames();
  if (entry.empty() && names.size() == 1) {
    return module.FindKernel(names.front());
  }
  const ptx::Function* kernel = module.FindKernel(entry);
  if (kernel == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 entry.empty() ? fmt::format("{} has {} kernels; choose one with --entry: {}",
                                             module.name, names.size(), fmt::join(names, ", "))
                               : fmt::format("--entry: {} has no kernel {} (it has: {})",
                                             module.name, entry, fmt::join(names, ", ")));
  }
  return kernel;
}

// A scalar in the parameter's own width.
Result<std::vector<std::byte>> ScalarBytes(const ArgSpec& arg, double value, uint64_t bytes) {
  DType dtype = arg.dtype;
  if (!IsFloat(dtype) && DTypeBytes(dtype) < bytes) {
    dtype = bytes == 8 ? DType::kI64 : DType::kI32;
  }
  if (DTypeBytes(dtype) != bytes) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("--arg: {} is a {}, but the kernel's parameter has {} bytes", arg.name,
                             DTypeName(arg.dtype), bytes));
  }
  std::vector<std::byte> out(bytes);
  if (IsFloat(dtype)) {
    StoreElement(dtype, value, out.data());
  } else {
    StoreInteger(dtype, static_cast<int64_t>(value), out.data());
  }
  return out;
}

}  // namespace

Result<PtxTarget> MakePtxTarget(const std::filesystem::path& file,
                                const PtxLaunchOptions& options) {
  OPTIML_ASSIGN(std::string text, ReadFile(file));
  OPTIML_ASSIGN(const ptx::Module module, ptx::ParsePtx(text, file.filename().string()));
  OPTIML_ASSIGN(const ptx::Function* kernel, ChooseEntry(module, options.entry));

  TaskOptions flags;
  flags.checked = options.sizes;
  flags.args = options.args;
  OPTIML_ASSIGN(const TaskOverrides overrides, MakeOverrides(flags));
  if (overrides.checked.size() > 1) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--checked: {} rows of sizes for one launch", overrides.checked.size()));
  }
  if (options.args.size() != kernel->parameters.size()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has {} parameters, --arg says {}; give one for each, in order",
                             kernel->name, kernel->parameters.size(), options.args.size()));
  }
  const SizeBindings sizes = overrides.checked.empty() ? SizeBindings() : overrides.checked[0];
  KernelTask task;
  task.name = kernel->name;
  for (const std::string& arg : options.args) {
    const size_t equals = arg.find('=');
    OPTIML_ASSIGN(ArgSpec spec,
                  ParseArgText(arg.substr(0, equals), arg.substr(equals + 1), "--arg"));
    if (spec.is_size && !sizes.contains(spec.name)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--arg: {} is a size, but --checked does not say it", spec.name));
    }
    task.args.push_back(std::move(spec));
  }
  task.checked.push_back({sizes, 0});
  OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(task, sizes, options.seed));

  PtxTarget target;
  target.title = fmt::format("{} in {} at {}", kernel->name, module.name, inputs.text);
  target.artifact.ptx_hash = ContentHash::Of(text);
  target.artifact.architecture = module.target;
  target.artifact.ptx = std::move(text);
  KernelResources resources;
  resources.name_expression = kernel->name;
  resources.lowered_name = kernel->name;
  target.artifact.kernels = {resources};

  KernelLaunch launch;
  launch.kernel = kernel->name;
  OPTIML_ASSIGN(launch.grid, ToDim3("--grid", options.grid));
  OPTIML_ASSIGN(launch.block, ToDim3("--block", options.block));
  launch.dynamic_shared_bytes = options.dynamic_shared_bytes;
  size_t next_buffer = 0;
  for (size_t i = 0; i < task.args.size(); ++i) {
    const ArgSpec& arg = task.args[i];
    const uint64_t parameter_bytes = kernel->parameters[i].bytes;
    if (arg.is_buffer) {
      if (parameter_bytes != sizeof(uint64_t)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("--arg: {} is a buffer, but the kernel's parameter has {} bytes",
                                 arg.name, parameter_bytes));
      }
      launch.arguments.emplace_back(DevicePointer{static_cast<int>(target.plan.buffers.size()), 0});
      target.plan.buffers.push_back(
          {arg.name, static_cast<int>(i), inputs.buffers[next_buffer++].bytes.size(), 0});
    } else {
      const double value =
          arg.is_size ? static_cast<double>(sizes.at(arg.name)) : inputs.scalars.at(arg.name);
      OPTIML_ASSIGN(std::vector<std::byte> bytes, ScalarBytes(arg, value, parameter_bytes));
      launch.arguments.emplace_back(std::move(bytes));
    }
  }
  if (launch.dynamic_shared_bytes > kSharedBytesWithoutOptIn) {
    target.plan.steps.emplace_back(AttributeStep{kernel->name, "MaxDynamicSharedMemorySize",
                                                 static_cast<int64_t>(launch.dynamic_shared_bytes),
                                                 0});
  }
  target.plan.steps.emplace_back(std::move(launch));
  target.plan.maker = PlanMaker::kTaskFile;
  target.buffers = ContentsFor(task, target.plan, {&inputs, PoisonFor(task)});
  target.args = std::move(task.args);
  return target;
}

}  // namespace optiml
