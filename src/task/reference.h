#ifndef OPTIML_TASK_REFERENCE_H_
#define OPTIML_TASK_REFERENCE_H_

// HostReference: the task's reference.cpp, compiled once per content and run in a confined child
// process. The child gets the inputs and returns the outputs as doubles or exact integers; it never
// sees a candidate.
//
// The function is ENTRY_reference with the launcher's arguments: buffers as pointers to the host
// type of their dtype (f16 and bf16 as uint16_t, 8-bit floats as uint8_t) or, for any float buffer,
// to double; float outputs should be double*. Scalars are any arithmetic type. The child checks the
// types before the first call. An optional ENTRY_reference_range(int64_t begin, int64_t end, ...)
// computes only the elements [begin, end) of every output, as far as it has them;
// task/reference_range.h compares it with the whole.
//
// Threads: one call at a time.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "task/inputs.h"
#include "task/npy.h"

namespace optiml {

struct ReferenceOptions {
  // Compiled references by content hash. Empty, or a folder that cannot be written: a temporary one
  // of this reference.
  std::filesystem::path cache_directory;
  bool confined = true;  // false only after the user's explicit --unconfined
  double time_limit_s = 60;
  uint64_t memory_bytes = uint64_t{4} << 30;
  // Set when the user wants the end: what runs is killed, and the call fails with kInterrupted.
  // Borrowed; may be null.
  const std::atomic<bool>* stop = nullptr;
};

class HostReference {
 public:
  virtual ~HostReference() = default;
  // All buffer arguments after the reference ran, in order, in the task's dtypes except that float
  // outputs are f64. A reference that crashes, hangs, writes outside its buffers or leaves an
  // output element unwritten gives an Error that says so and names the file.
  virtual Result<std::vector<Tensor>> Run(const TaskInputs& inputs) = 0;

  virtual bool has_range() const = 0;
  // As Run, but only elements [begin, end) of the outputs mean anything; an `out` element among
  // them that was left unwritten is an Error. REQUIRES: has_range(), 0 <= begin <= end
  virtual Result<std::vector<Tensor>> RunRange(const TaskInputs& inputs, int64_t begin,
                                               int64_t end) = 0;
};

// Compiles when needed. Fails with the compiler's first error, with file and line.
Result<std::unique_ptr<HostReference>> MakeHostReference(const KernelTask& task,
                                                         const ReferenceOptions& options);

}  // namespace optiml

#endif  // OPTIML_TASK_REFERENCE_H_
