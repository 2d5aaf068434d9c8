#ifndef OPTIML_TASK_REFERENCE_RANGE_H_
#define OPTIML_TASK_REFERENCE_RANGE_H_

// Whether the range form of a host reference computes what the whole one does. The range form is
// what the big timed shapes are sampled with, where nobody computes the whole; so it is compared
// where both can be had.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "task/inputs.h"
#include "task/reference.h"

namespace optiml {

// The ranges that are compared, of outputs with at most `count` elements: one inside, whose ends
// are no multiples of anything, and the last element. Empty for empty outputs.
std::vector<std::pair<int64_t, int64_t>> ComparedRanges(int64_t count);

// Runs the range form on ComparedRanges and compares with `whole`, the outputs of Run on the same
// inputs: integers exactly, floats within what another order of a sum in double explains. Fails
// with file, line and the first element that differs. REQUIRES: reference.has_range()
Result<void> CheckReferenceRange(const KernelTask& task, HostReference& reference,
                                 const TaskInputs& inputs, const std::vector<Tensor>& whole);

}  // namespace optiml

#endif  // OPTIML_TASK_REFERENCE_RANGE_H_
