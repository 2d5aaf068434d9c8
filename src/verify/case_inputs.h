#ifndef OPTIML_VERIFY_CASE_INPUTS_H_
#define OPTIML_VERIFY_CASE_INPUTS_H_

// What the case library makes of inputs and outputs. Pure functions.

#include <cstdint>

#include "base/content_hash.h"
#include "task/inputs.h"

namespace optiml {

ContentHash HashOf(const TaskInputs& inputs);

// Float outputs as doubles, so that kinds of reference look alike.
Tensor Widened(const Tensor& tensor);

// The absolute values of all floats.
TaskInputs MagnitudesOf(const TaskInputs& inputs);

// Every f32 and f64 input one unit in the last place up or down. Zeros stay: they are often exact
// by meaning (padding, masks).
TaskInputs MovedBy(const TaskInputs& inputs, uint64_t seed);

}  // namespace optiml

#endif  // OPTIML_VERIFY_CASE_INPUTS_H_
