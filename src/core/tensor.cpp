#include "core/tensor.h"

#include "base/check.h"

namespace optiml {

int64_t Tensor::element_count() const {
  int64_t count = 1;
  for (const int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

Tensor MakeTensor(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) {
    OPTIML_CHECK(extent >= 0 && !__builtin_mul_overflow(count, extent, &count),
                 "tensor extents overflow");
  }
  tensor.bytes.resize(static_cast<size_t>(count) * DTypeBytes(dtype));
  return tensor;
}

}  // namespace optiml
