#include "verify/limits.h"

#include <fmt/format.h>

#include <set>

namespace optiml {
namespace {

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability", the same for
// every architecture since 3.5.
constexpr uint64_t kThreadsPerBlock = 1024;
constexpr uint64_t kRegistersPerBlock = 65'536;
constexpr uint64_t kGridX = (uint64_t{1} << 31) - 1;
constexpr uint64_t kGridYz = 65'535;
constexpr uint64_t kBlockZ = 64;
// Registers are given to warps in units of 256.
constexpr uint64_t kRegisterUnit = 256;
constexpr uint64_t kWarp = 32;

std::optional<std::string> Problem(const KernelLaunch& launch, const KernelResources* resources,
                                   const DeviceInfo& device) {
  const Dim3& grid = launch.grid;
  const Dim3& block = launch.block;
  if (grid.Count() == 0 || block.Count() == 0) {
    return fmt::format("grid {}x{}x{} with block {}x{}x{} is empty", grid.x, grid.y, grid.z,
                       block.x, block.y, block.z);
  }
  const uint64_t threads = block.Count();
  if (threads > kThreadsPerBlock || block.z > kBlockZ) {
    return fmt::format("block {}x{}x{} has {} threads, at most {} (z at most {})", block.x, block.y,
                       block.z, threads, kThreadsPerBlock, kBlockZ);
  }
  if (grid.x > kGridX || grid.y > kGridYz || grid.z > kGridYz) {
    return fmt::format("grid {}x{}x{} is beyond {}x{}x{}", grid.x, grid.y, grid.z, kGridX, kGridYz,
                       kGridYz);
  }
  if (resources == nullptr) {
    return std::nullopt;
  }
  const uint64_t shared = resources->static_shared_bytes + launch.dynamic_shared_bytes;
  if (device.shared_bytes_per_block_limit != 0 && shared > device.shared_bytes_per_block_limit) {
    return fmt::format("{} bytes of shared memory a block, at most {}", shared,
                       device.shared_bytes_per_block_limit);
  }
  const uint64_t warps = (threads + kWarp - 1) / kWarp;
  const uint64_t of_warp =
      (static_cast<uint64_t>(resources->registers) * kWarp + kRegisterUnit - 1) / kRegisterUnit *
      kRegisterUnit;
  if (warps * of_warp > kRegistersPerBlock) {
    return fmt::format("{} registers a thread for {} threads a block, at most {} a block",
                       resources->registers, threads, kRegistersPerBlock);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> LaunchBeyondLimits(const Artifact& artifact,
                                              const std::vector<LaunchPlan>& plans,
                                              const DeviceInfo& device) {
  for (const LaunchPlan& plan : plans) {
    for (const LaunchStep& step : plan.steps) {
      const auto* launch = std::get_if<KernelLaunch>(&step);
      if (launch == nullptr) {
        continue;
      }
      if (const auto problem = Problem(*launch, artifact.FindKernel(launch->kernel), device)) {
        return fmt::format("the launch of {} at line {} cannot run: {}", launch->kernel,
                           launch->line, *problem);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> UncheckedKernel(const std::vector<LaunchPlan>& checked,
                                           const std::vector<LaunchPlan>& timed) {
  std::set<std::string> seen;
  for (const LaunchPlan& plan : checked) {
    for (const std::string& kernel : plan.Kernels()) {
      seen.insert(kernel);
    }
  }
  for (const LaunchPlan& plan : timed) {
    for (const std::string& kernel : plan.Kernels()) {
      if (!seen.contains(kernel)) {
        return kernel;
      }
    }
  }
  return std::nullopt;
}

}  // namespace optiml
