#ifndef OPTIML_TASK_NPY_H_
#define OPTIML_TASK_NPY_H_

// NumPy's .npy files, versions 1.0 to 3.0, little endian, C order: recorded inputs and outputs.

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/tensor.h"

namespace optiml {

// Fails with the file's name and what is wrong with it. The array is data from outside: every
// length is checked before it is used.
Result<Tensor> LoadNpy(const std::filesystem::path& file);
// bf16 and the 8-bit floats have no type of their own in .npy: they are written as the unsigned
// words that hold them.
Result<void> SaveNpy(const std::filesystem::path& file, const Tensor& tensor);

// Whether a recorded tensor is what the argument says, and makes it so where only the name of the
// type differs (raw words of bf16 and 8-bit floats). A float output may also be recorded in f64 or
// f32, which is more exact than the kernel's own type.
Result<void> CheckRecorded(Tensor& tensor, const ArgSpec& arg, const std::vector<int64_t>& shape,
                           const std::filesystem::path& file);

}  // namespace optiml

#endif  // OPTIML_TASK_NPY_H_
