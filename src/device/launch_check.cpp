#include "device/launch_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/occupancy.h"

namespace optiml {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (the same for 7.5
// to 9.0).
constexpr uint64_t kMaxThreads = 1024;
constexpr Dim3 kMaxBlock{1024, 1024, 64};
constexpr Dim3 kMaxGrid{0x7fffffff, 65535, 65535};
constexpr uint64_t kMaxClusterBlocks = 8;  // portable size

bool Beyond(const Dim3& dims, const Dim3& most) {
  return dims.x > most.x || dims.y > most.y || dims.z > most.z;
}

std::string Text(const Dim3& dims) {
  return fmt::format("{}x{}x{}", dims.x, dims.y, dims.z);
}

}  // namespace

std::optional<std::string> LaunchRefusal(const KernelLaunch& launch,
                                         const KernelResources& resources,
                                         const ptx::Function& function,
                                         uint64_t static_shared_bytes,
                                         const DynamicSharedLimits& limits,
                                         const DeviceDescription& device) {
  const uint64_t threads = launch.block.Count();
  if (threads == 0 || launch.grid.Count() == 0) {
    return fmt::format("grid {} with block {}: no dimension may be 0", Text(launch.grid),
                       Text(launch.block));
  }
  if (Beyond(launch.block, kMaxBlock) || threads > kMaxThreads) {
    return fmt::format("block {} has {} threads (at most {}, and {} in each dimension)",
                       Text(launch.block), threads, kMaxThreads, Text(kMaxBlock));
  }
  if (Beyond(launch.grid, kMaxGrid)) {
    return fmt::format("grid {} is too large (at most {})", Text(launch.grid), Text(kMaxGrid));
  }
  const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
  uint64_t most = 1;
  for (const uint32_t limit : function.maximum_threads) {
    most *= std::max(limit, 1U);
  }
  if (function.maximum_threads[0] > 0 && threads > most) {
    return fmt::format("block {} has {} threads, __launch_bounds__ allows {}", Text(launch.block),
                       threads, most);
  }
  for (int i = 0; i < 3; ++i) {
    if (function.required_threads[0] > 0 && block[i] != function.required_threads[i]) {
      return fmt::format("block {} is not the {}x{}x{} that the kernel requires",
                         Text(launch.block), function.required_threads[0],
                         function.required_threads[1], function.required_threads[2]);
    }
  }
  const auto opted_in = limits.find(launch.kernel);
  const uint64_t allowed =
      opted_in != limits.end()
          ? opted_in->second
          : kSharedBytesWithoutOptIn - std::min(kSharedBytesWithoutOptIn, static_shared_bytes);
  if (launch.dynamic_shared_bytes > allowed) {
    return fmt::format(
        "{} bytes of dynamic shared memory are more than the {} that are allowed (set "
        "cudaFuncAttributeMaxDynamicSharedMemorySize; the device's limit is {} with {} static)",
        launch.dynamic_shared_bytes, allowed, device.shared_bytes_per_block_limit,
        static_shared_bytes);
  }
  BlockShape shape;
  shape.threads = static_cast<uint32_t>(threads);
  shape.registers_per_thread = resources.registers;
  shape.shared_bytes = static_shared_bytes + launch.dynamic_shared_bytes;
  const Occupancy occupancy = OccupancyOf(shape, device);
  if (occupancy.blocks == 0) {
    return fmt::format(
        "a block of {} threads with {} registers each and {} bytes of shared memory does not fit "
        "on "
        "a multiprocessor ({})",
        threads, resources.registers, shape.shared_bytes, occupancy.limiter);
  }
  if (launch.cluster.Count() > kMaxClusterBlocks || launch.cluster.Count() == 0) {
    return fmt::format("cluster {} has {} blocks (1 to {} are possible)", Text(launch.cluster),
                       launch.cluster.Count(), kMaxClusterBlocks);
  }
  if (launch.grid.x % launch.cluster.x != 0 || launch.grid.y % launch.cluster.y != 0 ||
      launch.grid.z % launch.cluster.z != 0) {
    return fmt::format("grid {} is no multiple of cluster {}", Text(launch.grid),
                       Text(launch.cluster));
  }
  const uint64_t resident =
      static_cast<uint64_t>(occupancy.blocks) * static_cast<uint64_t>(device.multiprocessors);
  if (launch.cooperative && launch.grid.Count() > resident) {
    return fmt::format("a cooperative launch of {} blocks: {} are resident at once",
                       launch.grid.Count(), resident);
  }
  return std::nullopt;
}

std::optional<std::string> ApplyAttribute(const AttributeStep& step, uint64_t static_shared_bytes,
                                          const DeviceDescription& device,
                                          DynamicSharedLimits& limits) {
  if (step.attribute != "MaxDynamicSharedMemorySize") {
    return std::nullopt;  // carve-outs and cache preferences change nothing that is modelled
  }
  if (step.value < 0 || static_cast<uint64_t>(step.value) + static_shared_bytes >
                            device.shared_bytes_per_block_limit) {
    return fmt::format(
        "MaxDynamicSharedMemorySize {} with {} bytes of static shared memory is "
        "beyond the device's {}",
        step.value, static_shared_bytes, device.shared_bytes_per_block_limit);
  }
  limits[step.kernel] = static_cast<uint64_t>(step.value);
  return std::nullopt;
}

}  // namespace optiml
