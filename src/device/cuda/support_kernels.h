#ifndef OPTIML_DEVICE_CUDA_SUPPORT_KERNELS_H_
#define OPTIML_DEVICE_CUDA_SUPPORT_KERNELS_H_

// The PTX of the worker's own kernels (support.ptx), compiled into the program.

#include <span>

#include "base/embedded_text.h"

namespace optiml {

std::span<const EmbeddedText> SupportKernels();

}  // namespace optiml

#endif  // OPTIML_DEVICE_CUDA_SUPPORT_KERNELS_H_
