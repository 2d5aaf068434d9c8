#include "core/tensor.h"

#include <cmath>

#include "base/check.h"
#include "base/parallel.h"

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
  struct Sum {
    double squares = 0;
    int64_t count = 0;
  };
  const int64_t elements = tensor.element_count();
  std::vector<Sum> sums(static_cast<size_t>(PieceCount(elements)));
  ForEachPiece(elements, [&](int64_t piece, int64_t begin, int64_t end) {
    Sum sum;
    for (int64_t i = begin; i < end; ++i) {
      const double value = tensor.At(i);
      if (std::isfinite(value)) {
        sum.squares += value * value;
        ++sum.count;
      }
    }
    sums[static_cast<size_t>(piece)] = sum;
  });
  Sum all;
  for (const Sum& sum : sums) {
    all.squares += sum.squares;
    all.count += sum.count;
  }
  const double rms = all.count == 0 ? 0 : std::sqrt(all.squares / static_cast<double>(all.count));
  return std::isfinite(rms) ? rms : 0;
}

}  // namespace optiml
