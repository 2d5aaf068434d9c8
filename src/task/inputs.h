#ifndef OPTIML_TASK_INPUTS_H_
#define OPTIML_TASK_INPUTS_H_

// Inputs of one run: host tensors for every buffer argument and values for every scalar, from a
// task, a row of sizes, a seed and (for the checks' own cases) a fill that replaces the declared
// ones. The same arguments give the same bits on every machine.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/tensor.h"

namespace optiml {

struct TaskInputs {
  SizeBindings sizes;
  std::vector<Tensor>
      buffers;  // one for each buffer argument, in order; out and workspace are zeroed
  std::map<std::string, double> scalars;  // every scalar argument that is no size
  std::string text;                       // "rows=33 cols=1000, fill normal, seed 2"
};

// Replaces the fill of every float input whose fill allows it; integers keep their declared fill.
// Absent: the task's own.
Result<TaskInputs> MakeInputs(const KernelTask& task, const SizeBindings& sizes, uint64_t seed,
                              std::optional<FillKind> fill = std::nullopt);

// Extents of an argument; fails on negative extents and on overflow of elements or bytes, naming
// argument and line.
Result<std::vector<int64_t>> ShapeOf(const KernelTask& task, const ArgSpec& arg,
                                     const SizeBindings& sizes);

}  // namespace optiml

#endif  // OPTIML_TASK_INPUTS_H_
