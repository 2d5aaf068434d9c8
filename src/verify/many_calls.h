#ifndef OPTIML_VERIFY_MANY_CALLS_H_
#define OPTIML_VERIFY_MANY_CALLS_H_

// A kernel that counts its calls in a variable on the device may be right for the first of them
// only. Those that have such variables are called often in one process.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "task/inputs.h"

namespace optiml {

// Whether a PTX module has variables in global memory, strings apart. Variables in constant memory
// change only by what the launcher copies, out of buffers or of these.
bool HasDeviceVariables(std::string_view ptx);

// Calls in one process: as many as the work of one (thread instructions; 0: not known) and the
// memory of its buffers allow, up to 300; 0 when not even five are within `step_limit`.
size_t CallsInOneProcess(const TaskInputs& inputs, uint64_t work, uint64_t step_limit);

}  // namespace optiml

#endif  // OPTIML_VERIFY_MANY_CALLS_H_
