#ifndef OPTIML_FRONTEND_LAUNCH_RULES_H_
#define OPTIML_FRONTEND_LAUNCH_RULES_H_

// What a launcher may ask of the GPU, and what it is told of it, whoever follows the launcher: the
// interpreter and the recorder (recorded_plan.h).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch_plan.h"
#include "frontend/ast.h"
#include "frontend/host_memory.h"
#include "frontend/stream_order.h"

namespace optiml::frontend {

// Numbers of cudaDeviceAttr (CUDA Runtime API 13.0) and their values on an H200 SXM, compute
// capability 9.0 (CUDA C++ Programming Guide, technical specifications per compute capability; H200
// data sheet: 132 multiprocessors, 141 GB, 50 MB L2, 6144-bit memory bus).
struct DeviceFact {
  int attribute;
  std::string_view property;  // member of cudaDeviceProp; empty: none
  int64_t value;
};
inline constexpr std::array<DeviceFact, 27> kDeviceFacts = {{
    {1, "maxThreadsPerBlock", 1024},
    {2, "", 1024},
    {3, "", 1024},
    {4, "", 64},
    {5, "", 2147483647},
    {6, "", 65535},
    {7, "", 65535},
    {8, "sharedMemPerBlock", 49152},
    {9, "totalConstMem", 65536},
    {10, "warpSize", 32},
    {12, "regsPerBlock", 65536},
    {13, "", 1980000},
    {16, "multiProcessorCount", 132},
    {31, "concurrentKernels", 1},
    {36, "", 3201000},
    {37, "memoryBusWidth", 6144},
    {38, "l2CacheSize", 52428800},
    {39, "maxThreadsPerMultiProcessor", 2048},
    {75, "major", 9},
    {76, "minor", 0},
    {81, "sharedMemPerMultiprocessor", 233472},
    {82, "regsPerMultiprocessor", 65536},
    {95, "cooperativeLaunch", 1},
    {97, "sharedMemPerBlockOptin", 232448},
    {106, "maxBlocksPerMultiProcessor", 32},
    {111, "reservedSharedMemPerBlock", 1024},
    {120, "clusterLaunch", 1},
}};
inline constexpr int64_t kDeviceBytes = int64_t{141} * 1000 * 1000 * 1000;

// The value of a device attribute in these surroundings; empty when it is not known.
std::optional<int64_t> DeviceAttributeValue(int64_t attribute, Surroundings surroundings);
int64_t FreeDeviceBytes(Surroundings surroundings);
int64_t DriverVersion(Surroundings surroundings);

// Bytes of shared memory that the kernel declares with a size.
uint64_t StaticSharedBytes(const ast::SourceUnit& unit, const ast::Function& kernel);

// The name of a cudaFuncAttribute by its number; empty: none.
std::string_view FunctionAttributeName(int64_t number);

// Takes over what the kernel's declaration says of clusters.
void ApplyClusterDims(const ast::Function& kernel, KernelLaunch& launch);
// Why the shape is none that a GPU has; empty when it is one.
std::string LaunchShapeFault(const KernelLaunch& launch);

// Memory that the launch may touch, as far as its arguments say.
std::vector<StreamAccess> LaunchAccesses(const ast::SourceUnit& unit, const ast::Function& kernel,
                                         const KernelLaunch& launch);
std::string ConflictText(const LaunchPlan& plan, const StreamOrder::Conflict& conflict);
inline constexpr char kUnfinishedText[] =
    "launcher does not wait for this work, which is on a stream of its own: it may end after "
    "the launcher's (synchronise with the stream, or let the default stream wait for an "
    "event)";

// Faults of a launcher with memory of the device.
std::string FreedText(const PlanBuffer& buffer, int freed_line, std::string_view what);
std::string LeavesBufferText(const PlanBuffer& buffer, const DevicePointer& pointer,
                             uint64_t size_bytes, std::string_view what);
std::string NotFreedText(const PlanBuffer& buffer);
inline constexpr char kUploadChangedText[] =
    "launcher changes pinned memory while an upload from it may still run: nothing orders this "
    "work";
// With the bytes.
inline constexpr char kPinnedNotFreedText[] =
    "launcher allocates {} bytes of pinned host memory here, and ends without freeing them or "
    "keeping them for a later call";
inline constexpr char kNoAllocationText[] = "cudaFree of a pointer that cudaMalloc did not return";
// Whether the launcher allocates the buffer, and has to free it. To allocate no bytes gives null.
bool MustBeFreed(const PlanBuffer& buffer);

// `stem`, or "stem#2" and so on when the plan has a buffer of that name.
std::string FreeBufferName(const LaunchPlan& plan, const std::string& stem);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_LAUNCH_RULES_H_
