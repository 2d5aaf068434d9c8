#ifndef OPTIML_CORE_TENSOR_H_
#define OPTIML_CORE_TENSOR_H_

// Tensor: a dense row-major array in host memory. Scalars have rank 0 and one element.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/dtype.h"

namespace optiml {

struct Tensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;    // extents, outermost first; every one >= 0
  std::vector<std::byte> bytes;  // element_count() * DTypeBytes(dtype)

  int64_t element_count() const;
  double At(int64_t i) const {
    return LoadElement(dtype, bytes.data() + static_cast<size_t>(i) * DTypeBytes(dtype));
  }
};

// Of the finite elements; 0 when there are none, or when it is not finite itself.
double RootMeanSquare(const Tensor& tensor);

// A zeroed tensor. REQUIRES: the byte count fits in size_t (checked: a task is validated before)
Tensor MakeTensor(DType dtype, std::vector<int64_t> shape);

}  // namespace optiml

#endif  // OPTIML_CORE_TENSOR_H_
