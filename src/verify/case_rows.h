#ifndef OPTIML_VERIFY_CASE_ROWS_H_
#define OPTIML_VERIFY_CASE_ROWS_H_

// The rows of sizes that the checks have beside the task's own. Pure functions of the task.

#include <optional>
#include <vector>

#include "core/kernel_task.h"

namespace optiml {

// The task's buffer arguments, in its order; they point into the task.
std::vector<const ArgSpec*> BufferArgs(const KernelTask& task);

// Of all buffers together; 0 where an extent cannot be evaluated.
double Elements(const KernelTask& task, const SizeBindings& sizes);

// The timed row with each extent halved until every buffer is small; absent when it is no new row.
std::optional<SizeRow> AlignedRow(const KernelTask& task);

// One row for each size that is large when it is timed and nowhere else: that size long, all others
// short. Few elements then need many blocks, as at the timed shapes.
std::vector<SizeRow> LongRows(const KernelTask& task, const std::vector<SizeRow>& others);

}  // namespace optiml

#endif  // OPTIML_VERIFY_CASE_ROWS_H_
