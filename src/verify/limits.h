#ifndef OPTIML_VERIFY_LIMITS_H_
#define OPTIML_VERIFY_LIMITS_H_

// What can be known of a candidate before it runs: whether its launches fit the device, and whether
// every kernel that the timed shapes launch is launched by a checked shape too.

#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/launch_plan.h"
#include "device/device.h"

namespace optiml {

// The first launch that no device of this kind would accept, in one sentence. Spilled registers are
// slow, not wrong: they are no reason.
std::optional<std::string> LaunchBeyondLimits(const Artifact& artifact,
                                              const std::vector<LaunchPlan>& plans,
                                              const DeviceInfo& device);

// A kernel (without its template arguments) that `timed` launches and `checked` never does: nobody
// would know whether it is right. Absent when there is none.
std::optional<std::string> UncheckedKernel(const std::vector<LaunchPlan>& checked,
                                           const std::vector<LaunchPlan>& timed);

}  // namespace optiml

#endif  // OPTIML_VERIFY_LIMITS_H_
