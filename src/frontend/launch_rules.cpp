#include "frontend/launch_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/host_value.h"

namespace optiml::frontend {

namespace {

// Of every architecture since compute capability 3.0 (CUDA C++ Programming Guide, technical
// specifications).
constexpr uint64_t kMaxThreads = 1024;
constexpr uint32_t kMaxBlockXY = 1024;
constexpr uint32_t kMaxBlockZ = 64;
constexpr uint32_t kMaxGridX = 2147483647;
constexpr uint32_t kMaxGridYZ = 65535;

constexpr int64_t kClockRate = 13;
constexpr int64_t kMemoryClockRate = 36;
constexpr int64_t kReservedBytes = int64_t{1} << 30;  // of a process that has done nothing yet

// cudaFuncAttribute (CUDA Runtime API 13.0).
struct FunctionAttribute {
  int64_t number;
  std::string_view name;
};
constexpr std::array<FunctionAttribute, 8> kFunctionAttributes = {{
    {8, "MaxDynamicSharedMemorySize"},
    {9, "PreferredSharedMemoryCarveout"},
    {10, "ClusterDimMustBeSet"},
    {11, "RequiredClusterWidth"},
    {12, "RequiredClusterHeight"},
    {13, "RequiredClusterDepth"},
    {14, "NonPortableClusterSizeAllowed"},
    {15, "ClusterSchedulingPolicyPreference"},
}};

std::string Text(const Dim3& dim) {
  return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z);
}

}  // namespace

std::optional<int64_t> DeviceAttributeValue(int64_t attribute, Surroundings surroundings) {
  for (const DeviceFact& fact : kDeviceFacts) {
    if (fact.attribute == attribute) {
      const bool is_clock = attribute == kClockRate || attribute == kMemoryClockRate;
      return is_clock && surroundings == Surroundings::kOther ? fact.value / 2 : fact.value;
    }
  }
  return std::nullopt;
}

int64_t FreeDeviceBytes(Surroundings surroundings) {
  return kDeviceBytes - (surroundings == Surroundings::kOther ? 3 : 1) * kReservedBytes;
}

int64_t DriverVersion(Surroundings surroundings) {
  return surroundings == Surroundings::kOther ? 12080 : 13000;
}

uint64_t StaticSharedBytes(const ast::SourceUnit& unit, const ast::Function& kernel) {
  uint64_t bytes = 0;
  for (const ast::Variable& variable : unit.variables) {
    if (variable.storage == ast::Storage::kShared && variable.line >= kernel.line &&
        variable.line <= kernel.end_line) {
      bytes += variable.type->size_bytes;
    }
  }
  return bytes;
}

std::string_view FunctionAttributeName(int64_t number) {
  const auto known =
      std::find_if(kFunctionAttributes.begin(), kFunctionAttributes.end(),
                   [&](const FunctionAttribute& candidate) { return candidate.number == number; });
  return known == kFunctionAttributes.end() ? std::string_view() : known->name;
}

void ApplyClusterDims(const ast::Function& kernel, KernelLaunch& launch) {
  const std::vector<int>& cluster = kernel.cluster_dims;
  if (launch.cluster == Dim3{} && !cluster.empty()) {
    uint32_t parts[3] = {1, 1, 1};
    for (size_t i = 0; i < cluster.size() && i < 3; ++i) {
      parts[i] = static_cast<uint32_t>(cluster[i]);
    }
    launch.cluster = {parts[0], parts[1], parts[2]};
  }
}

std::string LaunchShapeFault(const KernelLaunch& launch) {
  if (launch.grid.Count() == 0) {
    return fmt::format("launch of {} with an empty grid {}", launch.kernel, Text(launch.grid));
  }
  if (launch.block.Count() == 0 || launch.block.Count() > kMaxThreads ||
      launch.block.x > kMaxBlockXY || launch.block.y > kMaxBlockXY || launch.block.z > kMaxBlockZ) {
    return fmt::format("launch of {} with block {} (at most {} threads, 1024x1024x64)",
                       launch.kernel, Text(launch.block), kMaxThreads);
  }
  if (launch.grid.x > kMaxGridX || launch.grid.y > kMaxGridYZ || launch.grid.z > kMaxGridYZ) {
    return fmt::format("launch of {} with grid {} (at most 2147483647x65535x65535)", launch.kernel,
                       Text(launch.grid));
  }
  return "";
}

std::vector<StreamAccess> LaunchAccesses(const ast::SourceUnit& unit, const ast::Function& kernel,
                                         const KernelLaunch& launch) {
  std::vector<StreamAccess> accesses;
  for (size_t i = 0; i < launch.arguments.size() && i < kernel.parameters.size(); ++i) {
    const auto writes = [](const ast::Type& type) {
      return type.element == nullptr || !type.element->is_const;
    };
    const ast::Type& type = *unit.variables[static_cast<size_t>(kernel.parameters[i])].type;
    if (const auto* pointer = std::get_if<DevicePointer>(&launch.arguments[i])) {
      accesses.push_back({*pointer, 0, writes(type)});
    } else if (const auto* with = std::get_if<StructArgument>(&launch.arguments[i])) {
      for (const auto& [position, field] : PointerFields(type)) {
        for (const StructArgument::Pointer& held : with->pointers) {
          if (held.position == position) {
            accesses.push_back({held.value, 0, writes(*field)});
          }
        }
      }
    }
  }
  return accesses;
}

std::string ConflictText(const LaunchPlan& plan, const StreamOrder::Conflict& conflict) {
  return fmt::format(
      "nothing orders this work on buffer \"{}\" after that of line {}, which is "
      "on another stream",
      plan.buffers[static_cast<size_t>(conflict.buffer)].name, conflict.other_line);
}

std::string FreedText(const PlanBuffer& buffer, int freed_line, std::string_view what) {
  return fmt::format("{}: buffer \"{}\" ({} bytes) was freed in line {}", what, buffer.name,
                     buffer.size_bytes, freed_line);
}

std::string LeavesBufferText(const PlanBuffer& buffer, const DevicePointer& pointer,
                             uint64_t size_bytes, std::string_view what) {
  return fmt::format("{}: {} bytes at offset {} leave buffer \"{}\" ({} bytes)", what, size_bytes,
                     pointer.offset_bytes, buffer.name, buffer.size_bytes);
}

std::string NotFreedText(const PlanBuffer& buffer) {
  return fmt::format(
      "launcher allocates buffer \"{}\" ({} bytes) here, and ends without freeing it or keeping "
      "it for a later call",
      buffer.name, buffer.size_bytes);
}

bool MustBeFreed(const PlanBuffer& buffer) {
  return buffer.argument < 0 && buffer.symbol.empty() && buffer.size_bytes > 0;
}

std::string FreeBufferName(const LaunchPlan& plan, const std::string& stem) {
  std::string name = stem;
  for (int i = 2; std::any_of(plan.buffers.begin(), plan.buffers.end(),
                              [&](const PlanBuffer& buffer) { return buffer.name == name; });
       ++i) {
    name = fmt::format("{}#{}", stem, i);
  }
  return name;
}

}  // namespace optiml::frontend
