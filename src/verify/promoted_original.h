#ifndef OPTIML_VERIFY_PROMOTED_ORIGINAL_H_
#define OPTIML_VERIFY_PROMOTED_ORIGINAL_H_

// PromotedOriginal: the task's own kernel with every `float` in its text made a `double`, on the
// device: a reference for shapes that no host computes in time, on devices that do not follow
// double arithmetic beside floats.
//
// The text is promoted by macros between its last #include and its first declaration: the type, its
// vectors, and the functions that have another name for doubles. What does not compile so, needs
// other launch parameters or more memory, or computes something else (bits of floats looked at as
// integers, tables of half the size) cannot be used; whoever asks compares the answer with the
// original's own outputs before it is believed.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "device/device.h"
#include "frontend/frontend.h"
#include "task/inputs.h"
#include "verify/prepare.h"

namespace optiml {

// Of all buffers of a shape, as floats.
inline constexpr uint64_t kMostPromotedBytes = uint64_t{1} << 30;

// The text with its floats promoted.
std::string PromoteFloats(const std::string& text);

class PromotedOriginal {
 public:
  struct Tools {
    Builder& builder;
    std::string architecture;
    RecorderOptions recorder;
  };

  // `requests`: the plans that are wanted. A task without float buffers, or whose kernel cannot be
  // promoted, gives the reason.
  static Result<std::variant<PromotedOriginal, std::string>> Make(const KernelTask& task,
                                                                  std::vector<PlanRequest> requests,
                                                                  const Tools& tools);

  // The outputs for these inputs of the task, by its buffer arguments: f64 where the task has f32,
  // empty for what is no output and for outputs of other types. Or the reason why there are none.
  Result<std::variant<std::vector<Tensor>, std::string>> Run(const TaskInputs& inputs,
                                                             size_t request, uint64_t step_limit,
                                                             Device& device) const;

 private:
  PromotedOriginal(KernelTask task, PreparedSource prepared)
      : task_(std::move(task)), prepared_(std::move(prepared)) {}

  KernelTask task_;  // its floats promoted
  PreparedSource prepared_;
};

}  // namespace optiml

#endif  // OPTIML_VERIFY_PROMOTED_ORIGINAL_H_
