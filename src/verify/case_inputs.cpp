#include "verify/case_inputs.h"

#include <fmt/format.h>

#include <cmath>

#include "base/parallel.h"
#include "base/rng.h"

namespace optiml {

ContentHash HashOf(const TaskInputs& inputs) {
  ContentHasher hasher;
  hasher.Add(SizeRow{inputs.sizes, 0}.Text());
  for (const auto& [name, value] : inputs.scalars) {
    hasher.Add(fmt::format("{}={}", name, value));
  }
  for (const Tensor& tensor : inputs.buffers) {
    hasher.Add(
        std::string_view(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()));
  }
  return hasher.Finish();
}

Tensor Widened(const Tensor& tensor) {
  if (!IsFloat(tensor.dtype) || tensor.dtype == DType::kF64) {
    return tensor;
  }
  Tensor wide = MakeTensor(DType::kF64, tensor.shape);
  ForEachPiece(tensor.element_count(), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      StoreElement(DType::kF64, tensor.At(i), wide.bytes.data() + static_cast<size_t>(i) * 8);
    }
  });
  return wide;
}

TaskInputs MagnitudesOf(const TaskInputs& inputs) {
  TaskInputs result = inputs;
  for (Tensor& tensor : result.buffers) {
    if (!IsFloat(tensor.dtype)) {
      continue;
    }
    const size_t bytes = DTypeBytes(tensor.dtype);
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      StoreElement(tensor.dtype, std::fabs(tensor.At(i)),
                   tensor.bytes.data() + static_cast<size_t>(i) * bytes);
    }
  }
  result.text += ", magnitudes";
  return result;
}

TaskInputs MovedBy(const TaskInputs& inputs, uint64_t seed) {
  TaskInputs result = inputs;
  uint64_t argument = 0;
  for (Tensor& tensor : result.buffers) {
    ++argument;
    if (tensor.dtype != DType::kF32 && tensor.dtype != DType::kF64) {
      continue;
    }
    const size_t bytes = DTypeBytes(tensor.dtype);
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      const double value = tensor.At(i);
      if (value == 0 || !std::isfinite(value)) {
        continue;
      }
      const bool up = (RandomAt(seed + argument, static_cast<uint64_t>(i)) & 1) != 0;
      const double towards = up ? HUGE_VAL : -HUGE_VAL;
      const double moved = tensor.dtype == DType::kF64
                               ? std::nextafter(value, towards)
                               : static_cast<double>(std::nextafter(static_cast<float>(value),
                                                                    static_cast<float>(towards)));
      StoreElement(tensor.dtype, moved, tensor.bytes.data() + static_cast<size_t>(i) * bytes);
    }
  }
  result.text += ", moved";
  return result;
}

}  // namespace optiml
