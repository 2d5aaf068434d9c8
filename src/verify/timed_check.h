#ifndef OPTIML_VERIFY_TIMED_CHECK_H_
#define OPTIML_VERIFY_TIMED_CHECK_H_

// L2: the whole plan of a timed shape, executed and compared like the checked ones. Code that takes
// another path at the timed size alone, a grid that leaves elements out there, an index that
// overflows there: none of them shows anywhere else.
//
// It costs what the shape costs, so it is done where one kernel is judged for good: by `optiml
// check`, and for the file that is delivered. A shape that is too big, or that the original kernel
// does not compute within its budget either, is left out, and a note says so.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "task/reference.h"
#include "verify/case_library.h"
#include "verify/prepare.h"

namespace optiml {

// Thread instructions of one plan: about 10 s of the emulator.
inline constexpr uint64_t kMostTimedWork = 2'000'000'000;
// Of all buffers of a shape. Expected values are doubles, and the device and the comparison have
// copies of their own.
inline constexpr uint64_t kMostTimedBytes = uint64_t{256} << 20;

// What outputs are poisoned with at timed shapes: a NaN that no arithmetic gives where the task's
// outputs are floats, else the pattern that is no plausible integer.
uint8_t PoisonFor(const KernelTask& task);

struct TimedCheck {
  const KernelTask& task;
  const PreparedSource& original;
  const Artifact& artifact;
  const std::vector<LaunchPlan>& plans;  // of the candidate, by timed row
  uint64_t seed = 1;
  std::optional<double> share;  // see PrecisionElsewhere
};

// The share of its budget that a kernel may use at a timed shape, from what it used at the checked
// ones: budgets grow with all that a task reads where it does not say how long its sums are, and a
// kernel that computes in half precision there alone would fit in. Absent where the original is the
// reference: what is bit for bit the same at small shapes may sum in another order at large ones.
std::optional<double> PrecisionElsewhere(const KernelTask& task, const VerifyReport& checked);

// Where the original is what timed buffers are compared with: a few elements of it against the
// range form of the host reference. `c` was resolved. Fails (kInvalidArgument) when they disagree
// beyond what Resolve grants at checked shapes. Shapes whose buffers are above kMostSampledBytes
// are left out: the reference gets and gives whole buffers. REQUIRES: reference.has_range()
inline constexpr uint64_t kMostSampledBytes = uint64_t{256} << 20;
Result<void> CheckSampledReference(const KernelTask& task, HostReference& reference,
                                   const VerifyCase& c);

// Runs and compares every timed row; the first that fails is the Rejection (kL2), with what it saw
// in `report`. Rows that are left out are named in `notes`. Error as CaseLibrary::Resolve.
Result<std::optional<Rejection>> JudgeTimedShapes(const TimedCheck& check, CaseLibrary& library,
                                                  Device& device, VerifyReport& report,
                                                  std::vector<std::string>& notes);

}  // namespace optiml

#endif  // OPTIML_VERIFY_TIMED_CHECK_H_
