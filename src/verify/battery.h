#ifndef OPTIML_VERIFY_BATTERY_H_
#define OPTIML_VERIFY_BATTERY_H_

// The task battery: wrong answers that this task's checks must refuse, made from its own expected
// values. A task whose checks accept zeros cannot tell right from wrong, and is refused before a
// search could be misled by it.
//
// A mutant counts only where it is farther from the expected values than the derived budget: a copy
// of the input is right for a copy kernel, and 1 % hides in a sum that is nearly zero. Mutants that
// no kernel for a real task may equal (zeros, constants, another input's output, half of the work)
// make the task weak when every case accepts them.

#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "verify/case_library.h"
#include "verify/verifier.h"

namespace optiml {

// Judges every mutant over the declared cases, then, when they accept it, over the cases with other
// fills. REQUIRES: every case was resolved. Fails (kInvalidArgument) when a mutant is accepted: the
// reason and the fix.
Result<std::vector<BatteryVerdict>> RunBattery(const KernelTask& task, CaseLibrary& library,
                                               const PreparedSource& original);

// The rows alone, without the judgement of the whole.
Result<std::vector<BatteryVerdict>> BatteryRows(const KernelTask& task, CaseLibrary& library,
                                                const PreparedSource& original);

}  // namespace optiml

#endif  // OPTIML_VERIFY_BATTERY_H_
