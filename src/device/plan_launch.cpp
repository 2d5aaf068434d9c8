#include "device/plan_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ptx/tensor_map.h"

namespace optiml {
namespace {

// A run holds a few hundred variants; a module is about a megabyte.
constexpr size_t kMaxModules = 64;

std::vector<std::byte> BytesOf(uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  for (size_t i = 0; i < sizeof value; ++i) {
    bytes[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
  }
  return bytes;
}

// What the launcher described, with the tensor's address in this run.
ptx::TensorMap MapOf(const TensorMapArgument& from, uint64_t address) {
  ptx::TensorMap map;
  map.type = static_cast<ptx::TensorType>(from.data_type);
  map.rank = static_cast<uint32_t>(from.dimensions.size());
  map.address = address;
  for (size_t i = 0; i < std::min(from.dimensions.size(), ptx::kMaxTensorRank); ++i) {
    map.dimensions[i] = from.dimensions[i];
    map.box[i] = from.box[i];
    map.element_strides[i] = from.element_strides[i];
    map.strides[i] = i > 0 ? from.strides_bytes[i - 1] : 0;
  }
  map.interleave = static_cast<uint32_t>(from.interleave);
  map.swizzle = static_cast<ptx::TensorSwizzle>(from.swizzle);
  map.promotion = static_cast<uint32_t>(from.promotion);
  map.fill_nan = from.fill != 0;
  return map;
}

}  // namespace

Result<std::shared_ptr<const ptx::Module>> ModuleCache::Get(const Artifact& artifact) {
  // Not ptx_hash: two texts that differ in line numbers only must name their own lines.
  const ContentHash key = ContentHash::Of(artifact.ptx);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = modules_.find(key); found != modules_.end()) {
      return found->second;
    }
  }
  auto parsed = ptx::ParsePtx(artifact.ptx, "kernel.ptx");
  if (!parsed.has_value()) {
    return std::move(parsed).error();
  }
  auto module = std::make_shared<const ptx::Module>(*std::move(parsed));
  const std::lock_guard lock(mutex_);
  if (modules_.size() >= kMaxModules) {
    modules_.clear();
  }
  return modules_.emplace(key, std::move(module)).first->second;
}

Result<PreparedLaunch> PrepareLaunch(const KernelLaunch& launch, const Artifact& artifact,
                                     const ptx::Module& module, const PlanMemory& memory,
                                     const DynamicSharedLimits& limits,
                                     const DeviceDescription& device) {
  const KernelResources* resources = artifact.FindKernel(launch.kernel);
  const ptx::Function* function =
      resources == nullptr ? nullptr : module.FindKernel(resources->lowered_name);
  if (function == nullptr) {
    return Error(ErrorCode::kInternal,
                 fmt::format("the plan launches {}, which was not built", launch.kernel));
  }
  const uint64_t static_shared = module.StaticSharedBytes(resources->lowered_name);
  PreparedLaunch prepared;
  if (const auto refusal =
          LaunchRefusal(launch, *resources, *function, static_shared, limits, device)) {
    prepared.refusal =
        fmt::format("launch of {} at line {} is invalid: {}", launch.kernel, launch.line, *refusal);
    return prepared;
  }
  std::vector<std::vector<std::byte>> arguments;
  for (const KernelArgument& argument : launch.arguments) {
    if (const auto* pointer = std::get_if<DevicePointer>(&argument)) {
      arguments.push_back(BytesOf(memory.Address(*pointer)));
    } else if (const auto* with = std::get_if<StructArgument>(&argument)) {
      arguments.push_back(with->bytes);
      for (const StructArgument::Pointer& held : with->pointers) {
        const auto address = BytesOf(memory.Address(held.value));
        std::copy(address.begin(), address.end(),
                  arguments.back().begin() + static_cast<std::ptrdiff_t>(held.position));
      }
    } else if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      const auto encoded = ptx::EncodeTensorMap(MapOf(*map, memory.Address(map->tensor)));
      if (!encoded.has_value()) {
        prepared.refusal = fmt::format("launch of {} at line {} is invalid: {}", launch.kernel,
                                       launch.line, encoded.error().message());
        return prepared;
      }
      arguments.emplace_back(encoded->begin(), encoded->end());
    } else {
      arguments.push_back(std::get<std::vector<std::byte>>(argument));
    }
  }
  auto parameters = ptx::PackParameters(*function, arguments);
  if (!parameters.has_value()) {
    return Error(ErrorCode::kInternal, fmt::format("launch of {} at line {}: {}", launch.kernel,
                                                   launch.line, parameters.error().message()));
  }
  prepared.request.module = &module;
  prepared.request.kernel = resources->lowered_name;
  prepared.request.grid = launch.grid;
  prepared.request.block = launch.block;
  prepared.request.cluster = launch.cluster;
  prepared.request.cooperative = launch.cooperative;
  prepared.request.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  prepared.request.parameters = *std::move(parameters);
  prepared.request.limits.shared_bytes_per_block = device.shared_bytes_per_block_limit;
  prepared.block.threads = static_cast<uint32_t>(launch.block.Count());
  prepared.block.registers_per_thread = resources->registers;
  prepared.block.shared_bytes = static_shared + launch.dynamic_shared_bytes;
  return prepared;
}

RunStatus RunStatusOf(ptx::LaunchStatus status) {
  switch (status) {
    case ptx::LaunchStatus::kCompleted:
      return RunStatus::kCompleted;
    case ptx::LaunchStatus::kUnsupported:
      return RunStatus::kUnsupported;
    case ptx::LaunchStatus::kStepLimit:
      return RunStatus::kTimedOut;
    case ptx::LaunchStatus::kDeadlock:
      return RunStatus::kDeadlock;
    case ptx::LaunchStatus::kFault:
    case ptx::LaunchStatus::kRefused:
      return RunStatus::kFault;
  }
  return RunStatus::kFault;
}

std::string FindingText(const Finding& finding) {
  std::string where;
  if (!finding.kernel.empty()) {
    where += " in " + finding.kernel;
  }
  if (finding.line > 0) {
    where += fmt::format(" at line {}", finding.line);
  }
  return fmt::format("{}{}: {}", finding.kind, where, finding.detail);
}

}  // namespace optiml
