#ifndef OPTIML_TASK_REFERENCE_H_
#define OPTIML_TASK_REFERENCE_H_

// HostReference: the task's reference.cpp, compiled once per content and run in a confined child
// process. The child gets the inputs and returns the outputs as doubles or exact integers; it never
// sees a candidate.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "task/inputs.h"

namespace optiml {

struct ReferenceOptions {
  std::filesystem::path cache_directory;  // compiled references by content hash
  bool confined = true;                   // false only after the user's explicit --unconfined
  double time_limit_s = 60;
  uint64_t memory_bytes = uint64_t{4} << 30;
};

class HostReference {
 public:
  virtual ~HostReference() = default;
  // All buffer arguments after the reference ran, in order, in the task's dtypes except that float
  // outputs are f64. A reference that crashes, hangs or writes outside its buffers gives an Error
  // that says so and names the file.
  virtual Result<std::vector<Tensor>> Run(const TaskInputs& inputs) = 0;
};

// Compiles when needed. Fails with the compiler's first error, with file and line.
Result<std::unique_ptr<HostReference>> MakeHostReference(const KernelTask& task,
                                                         const ReferenceOptions& options);

// Recorded tensors, checked against the task's dtypes and shapes. Only .npy of version 1.0 to 3.0,
// C order.
Result<Tensor> LoadNpy(const std::filesystem::path& file);
Result<void> SaveNpy(const std::filesystem::path& file, const Tensor& tensor);

}  // namespace optiml

#endif  // OPTIML_TASK_REFERENCE_H_
