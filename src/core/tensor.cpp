#include "core/tensor.h"

#include <cmath>

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

double RootMeanSquare(const Tensor& tensor) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const double value = tensor.At(i);
    if (std::isfinite(value)) {
      sum += value * value;
      ++count;
    }
  }
  const double rms = count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
  return std::isfinite(rms) ? rms : 0;
}

}  // namespace optiml
