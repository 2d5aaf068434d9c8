#include "verify/error_budget.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "task/inputs.h"

namespace optiml {
namespace {

// Of the finite elements; 0 when there are none.
double Median(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if (std::isfinite(tensor.At(i))) {
      values.push_back(tensor.At(i));
    }
  }
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double SmallestPositive(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-24;
    case DType::kBf16:
      return 0x1p-133;
    case DType::kF32:
      return 0x1p-149;
    case DType::kE4m3:
      return 0x1p-9;
    case DType::kE5m2:
      return 0x1p-16;
    default:
      return 0x1p-1074;
  }
}

double SmallestNormal(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kE5m2:
      return 0x1p-14;
    case DType::kBf16:
    case DType::kF32:
      return 0x1p-126;
    case DType::kE4m3:
      return 0x1p-6;
    default:
      return 0x1p-1022;
  }
}

ErrorBudget::ErrorBudget(const KernelTask& task, const ArgSpec& arg, double terms,
                         const Tensor& expected, const Conditioning& conditioning)
    : conditioning_(conditioning) {
  OPTIML_CHECK(IsFloat(arg.dtype), "integers have no error budget");
  const Tolerance& tolerance = task.tolerance;
  absolute_ = tolerance.absolute;
  relative_ = tolerance.relative;
  const auto own = tolerance.per_argument.find(arg.name);
  if (own != tolerance.per_argument.end()) {
    absolute_ = own->second.absolute;
    relative_ = own->second.relative;
  }
  // Whatever the output's type, an honest kernel sums in f32 at least (f64 for f64).
  const double arithmetic =
      arg.dtype == DType::kF64 ? UnitRoundoff(DType::kF64) : UnitRoundoff(DType::kF32);
  output_roundoff_ = 2 * UnitRoundoff(arg.dtype);
  arithmetic_roundoff_ = std::max(arithmetic, UnitRoundoff(arg.dtype));
  scale_factor_ = (kBase + kGrowth * std::sqrt(std::max(1.0, terms))) * arithmetic;
  if (tolerance.allow_reduced_precision) {
    scale_factor_ += kReducedPrecision;
  }
  tiny_ = 2 * SmallestPositive(arg.dtype);
  rms_ = RootMeanSquare(expected);
  if (conditioning.moved != nullptr) {
    median_moved_ = Median(*conditioning.moved);
  }
}

double ErrorBudget::ScaleOf(int64_t i, double magnitude) const {
  double scale = std::max(magnitude, rms_);
  if (conditioning_.magnitudes != nullptr) {
    const double terms = std::fabs(conditioning_.magnitudes->At(i));
    if (std::isfinite(terms)) {
      scale = std::max(scale, terms);
    }
  }
  return scale;
}

double ErrorBudget::MovedOf(int64_t i) const {
  double moved = median_moved_;
  if (conditioning_.moved != nullptr && std::isfinite(conditioning_.moved->At(i))) {
    moved = std::max(moved, conditioning_.moved->At(i));
  }
  return moved;
}

double ErrorBudget::Floor(int64_t i, double expected) const {
  const double magnitude = std::fabs(expected);
  return FloorOf(magnitude, ScaleOf(i, magnitude), MovedOf(i));
}

double ErrorBudget::Allowance(int64_t i, double expected) const {
  const double magnitude = std::fabs(expected);
  return Granted(magnitude, ScaleOf(i, magnitude), MovedOf(i));
}

double ErrorBudget::WorstRatio(const Tensor& expected, const Tensor& got) const {
  const int64_t elements = expected.element_count();
  std::vector<double> worst(static_cast<size_t>(PieceCount(elements)), 0.0);
  ForEachPiece(elements, [&](int64_t piece, int64_t begin, int64_t end) {
    double most = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double e = expected.At(i);
      const double g = got.At(i);
      if (std::isfinite(e) && std::isfinite(g)) {
        most = std::max(most, std::fabs(g - e) / Floor(i, e));
      }
    }
    worst[static_cast<size_t>(piece)] = most;
  });
  return worst.empty() ? 0 : *std::max_element(worst.begin(), worst.end());
}

double FollowedMultiplier(double ratio) {
  const double both = std::max(1.0, kOriginalFactor * ratio) + ratio;
  return std::isfinite(both) ? std::clamp(both, kFollowedFactor, kUnmeasuredFactor)
                             : kUnmeasuredFactor;
}

double ReductionTerms(const KernelTask& task, const SizeBindings& sizes) {
  if (task.tolerance.reduction_length) {
    const Result<int64_t> length = task.tolerance.reduction_length->Evaluate(sizes);
    return length ? static_cast<double>(std::max<int64_t>(1, *length)) : 1;
  }
  double terms = 0;
  for (const ArgSpec& arg : task.args) {
    if (!arg.is_buffer || !IsFloat(arg.dtype) ||
        (arg.role != ArgRole::kIn && arg.role != ArgRole::kInOut)) {
      continue;
    }
    const auto shape = ShapeOf(task, arg, sizes);
    double count = 1;
    for (const int64_t extent : shape ? *shape : std::vector<int64_t>{}) {
      count *= static_cast<double>(extent);
    }
    terms += count;
  }
  return std::max(1.0, terms);
}

}  // namespace optiml
