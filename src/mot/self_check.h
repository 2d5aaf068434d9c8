#ifndef OPTIML_MOT_SELF_CHECK_H_
#define OPTIML_MOT_SELF_CHECK_H_

// SelfCheck: whether this llama.cpp lets us read and write a model's residual stream. No document
// of it promises that, so it is tried with each model when it is loaded.

#include <vector>

#include <ggml-backend.h>

#include "base/result.h"
#include "mot/expert.h"

namespace optiml::mot {

// Runs a few tokens through the model: as it is, observed, with every boundary's rows read and
// written back, and with them moved. The first three must agree in every bit of the logits, and the
// last one must not. Returns the device that each boundary's rows lie on. Fails with kUnavailable.
// Forgets all sequences of the expert and clears its hook.
Result<std::vector<ggml_backend_dev_t>> SelfCheck(Expert& expert, const std::vector<int>& layers);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_SELF_CHECK_H_
