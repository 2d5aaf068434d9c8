#ifndef OPTIML_DEVICE_LAUNCH_CHECK_H_
#define OPTIML_DEVICE_LAUNCH_CHECK_H_

// What a CUDA driver refuses before a kernel starts: sizes beyond the architecture's limits,
// dynamic shared memory that was not opted in to, registers that do not fit, a cooperative launch
// that cannot be resident at once. The emulator refuses the same.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/artifact.h"
#include "core/launch_plan.h"
#include "device/device_description.h"
#include "ptx/module.h"

namespace optiml {

// Dynamic shared memory that a kernel may use without cudaFuncSetAttribute, its static share
// included (CUDA C++ Programming Guide, "Shared Memory").
inline constexpr uint64_t kSharedBytesWithoutOptIn = 48 * 1024;

// Kernel name expression -> MaxDynamicSharedMemorySize that the plan has set so far.
using DynamicSharedLimits = std::map<std::string, uint64_t>;

// One sentence that says why the launch is refused; nothing when it may start. `function` is the
// kernel's PTX entry, `static_shared_bytes` what the module gives it.
std::optional<std::string> LaunchRefusal(const KernelLaunch& launch,
                                         const KernelResources& resources,
                                         const ptx::Function& function,
                                         uint64_t static_shared_bytes,
                                         const DynamicSharedLimits& limits,
                                         const DeviceDescription& device);

// The same for cudaFuncSetAttribute; a valid step is entered in `limits`.
std::optional<std::string> ApplyAttribute(const AttributeStep& step, uint64_t static_shared_bytes,
                                          const DeviceDescription& device,
                                          DynamicSharedLimits& limits);

}  // namespace optiml

#endif  // OPTIML_DEVICE_LAUNCH_CHECK_H_
