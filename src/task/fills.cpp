#include "task/fills.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"

namespace optiml {
namespace {

// Natural logarithm by IEEE basic operations alone: x = m 2^e with m in [sqrt(1/2), sqrt(2)), then
// 2 atanh((m-1)/(m+1)) as a series. |error| < 1e-15 relative to 1.
double Log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1);
  const double t2 = t * t;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) {
    sum = sum * t2 + 1.0 / k;
  }
  return 2 * t * sum + exponent * 0.69314718055994531;
}

// Open interval: a quantile of 0 would be infinite.
double OpenUnitAt(uint64_t seed, uint64_t i) {
  return (static_cast<double>(RandomAt(seed, i) >> 12) + 0.5) * 0x1p-52;
}

double NormalAt(uint64_t seed, uint64_t i) {
  return NormalQuantile(OpenUnitAt(seed, i));
}

constexpr std::array<double, 13> kPowersOfTen = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0,
                                                 1e1,  1e2,  1e3,  1e4,  1e5,  1e6};
constexpr double kHeavyTailLimit = 1e6;
constexpr int64_t kSmallIntLimit = 4;

int64_t IntegerAt(uint64_t seed, uint64_t i, int64_t min, int64_t max) {
  const auto span = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
  const auto below =
      static_cast<uint64_t>((static_cast<unsigned __int128>(RandomAt(seed, i)) * span) >> 64);
  return static_cast<int64_t>(static_cast<uint64_t>(min) + below);
}

// One in kSpecialEvery elements is none of the normal numbers.
constexpr uint64_t kSpecialEvery = 8;
double SpecialAt(DType dtype, uint64_t seed, uint64_t i) {
  const uint64_t choice = RandomAt(seed ^ 0x5bec1a1, i);
  if (choice % kSpecialEvery != 0) {
    return NormalAt(seed, i);
  }
  // Half of the smallest normal number of the type.
  const double denormal = dtype == DType::kF64    ? 0x1p-1023
                          : dtype == DType::kF16  ? 0x1p-15
                          : dtype == DType::kE4m3 ? 0x1p-7
                          : dtype == DType::kE5m2 ? 0x1p-15
                                                  : 0x1p-127;
  const std::array<double, 7> values = {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(),
                                        0.0,
                                        -0.0,
                                        denormal,
                                        -denormal};
  return values[(choice / kSpecialEvery) % values.size()];
}

double ElementAt(const ResolvedFill& fill, DType dtype, uint64_t seed, uint64_t i) {
  switch (fill.kind) {
    case FillKind::kNormal:
      return NormalAt(seed, i);
    case FillKind::kUniform: {
      const double value = fill.min + (fill.max - fill.min) * ToUnit(RandomAt(seed, i));
      return value < fill.max ? value : fill.min;  // rounding may reach the open end
    }
    case FillKind::kConstant:
      return fill.value;
    case FillKind::kMixedScale:
      return NormalAt(seed, i) * kPowersOfTen[RandomAt(seed ^ 0x5ca1e, i) % kPowersOfTen.size()];
    case FillKind::kHeavyTailed: {
      // The ratio of two normals is Cauchy.
      const double ratio = NormalAt(seed, i) / NormalAt(seed ^ 0xca0c47, i);
      return std::clamp(ratio, -kHeavyTailLimit, kHeavyTailLimit);
    }
    case FillKind::kSpecial:
      return SpecialAt(dtype, seed, i);
    case FillKind::kAllNegative:
      return -std::fabs(NormalAt(seed, i)) - 0.01;
    case FillKind::kSmallInts:
      return static_cast<double>(IntegerAt(seed, i, -kSmallIntLimit, kSmallIntLimit + 1));
    default:
      return 0;
  }
}

// Half of the largest finite number of a narrow float type: a draw that the type cannot hold would
// become an infinity, which only some tasks allow.
double LimitOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 32'752;
    case DType::kE4m3:
      return 224;
    case DType::kE5m2:
      return 28'672;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

void Store(Tensor& tensor, uint64_t i, double value) {
  if (std::isfinite(value)) {
    value = std::clamp(value, -LimitOf(tensor.dtype), LimitOf(tensor.dtype));
  }
  StoreElement(tensor.dtype, value, tensor.bytes.data() + i * DTypeBytes(tensor.dtype));
}

void StoreWhole(Tensor& tensor, uint64_t i, int64_t value) {
  if (IsFloat(tensor.dtype)) {
    Store(tensor, i, static_cast<double>(value));
  } else {
    StoreInteger(tensor.dtype, value, tensor.bytes.data() + i * DTypeBytes(tensor.dtype));
  }
}

void FillIntegers(uint64_t seed, Tensor& tensor, int64_t min, int64_t max) {
  ForEachPiece(tensor.element_count(), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<uint64_t>(i);
      StoreWhole(tensor, at, IntegerAt(seed, at, min, max));
    }
  });
}

void FillSorted(const ResolvedFill& fill, uint64_t seed, Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.element_count()));
  const bool whole = !IsFloat(tensor.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (whole) {
      values[i] = static_cast<double>(
          IntegerAt(seed, i, static_cast<int64_t>(fill.min), static_cast<int64_t>(fill.max)));
    } else {
      values[i] = fill.has_range ? fill.min + (fill.max - fill.min) * ToUnit(RandomAt(seed, i))
                                 : NormalAt(seed, i);
    }
  }
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i) {
    Store(tensor, i, values[i]);
  }
}

void FillPermutation(uint64_t seed, Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.element_count()));
  std::iota(values.begin(), values.end(), 0);
  Rng rng(seed);
  for (size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[rng.NextBelow(i)]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    StoreWhole(tensor, i, values[i]);
  }
}

void FillOffsets(int64_t total, uint64_t seed, Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.element_count()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = IntegerAt(seed, i, 0, total + 1);
  }
  std::sort(values.begin(), values.end());
  if (!values.empty()) {
    values.back() = total;
    values.front() = values.size() > 1 ? 0 : total;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    StoreWhole(tensor, i, values[i]);
  }
}

void FillOneHot(uint64_t seed, Tensor& tensor) {
  const int64_t width = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (width == 0) {
    return;
  }
  const int64_t rows = tensor.element_count() / width;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t hot = IntegerAt(seed, static_cast<uint64_t>(row), 0, width);
    StoreWhole(tensor, static_cast<uint64_t>(row * width + hot), 1);
  }
}

// Kinds that an unranged float input takes in place of its own.
bool IsFreeFill(const Fill& fill) {
  switch (fill.kind) {
    case FillKind::kNormal:
    case FillKind::kMixedScale:
    case FillKind::kHeavyTailed:
    case FillKind::kSpecial:
      return true;
    case FillKind::kUniform:
      return !fill.min && !fill.max && !fill.min_value && !fill.max_value;
    default:
      return !fill.declared;  // sorted, one_hot, zeros ...: the declaration is a promise
  }
}

// A point inside [min, max) that is neither an end nor the middle.
double InnerPoint(double min, double max) {
  return min + 0.375 * (max - min);
}

constexpr double kConstantFill = 0.75;  // exact in every float type, neither 0 nor 1

}  // namespace

double NormalQuantile(double p) {
  OPTIML_CHECK(p > 0 && p < 1, "a quantile needs a probability inside (0, 1)");
  constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                           6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  if (p < kTail || p > 1 - kTail) {
    const double q = std::sqrt(-2 * Log(p < kTail ? p : 1 - p));
    const double x = (((((kC[0] * q + kC[1]) * q + kC[2]) * q + kC[3]) * q + kC[4]) * q + kC[5]) /
                     ((((kD[0] * q + kD[1]) * q + kD[2]) * q + kD[3]) * q + 1);
    return p < kTail ? x : -x;
  }
  const double q = p - 0.5;
  const double r = q * q;
  return (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q /
         (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1);
}

Result<ResolvedFill> ResolveFill(const ArgSpec& arg, const SizeBindings& sizes,
                                 std::optional<FillKind> replacement) {
  const Fill& fill = arg.fill;
  ResolvedFill resolved;
  resolved.kind = fill.kind;
  resolved.value = fill.value;
  resolved.has_range = fill.min || fill.max || fill.min_value || fill.max_value;
  resolved.min = fill.min_value.value_or(0);
  resolved.max = fill.max_value.value_or(1);
  if (fill.min) {
    OPTIML_ASSIGN(const int64_t min, fill.min->Evaluate(sizes));
    resolved.min = static_cast<double>(min);
  }
  if (fill.max) {
    OPTIML_ASSIGN(const int64_t max, fill.max->Evaluate(sizes));
    resolved.max = static_cast<double>(max);
  }
  if (fill.total) {
    OPTIML_ASSIGN(resolved.total, fill.total->Evaluate(sizes));
  }
  if (!IsFloat(arg.dtype) && !resolved.has_range) {
    // Integers without a range: small ones, so that sums of them stay exact.
    resolved.min = IsSignedInteger(arg.dtype) ? -100 : 0;
    resolved.max = arg.dtype == DType::kBool ? 2 : 100;
  }
  if (!replacement || !IsFloat(arg.dtype)) {
    return resolved;
  }
  if (*replacement == FillKind::kSpecial && !arg.allow_special) {
    return resolved;
  }
  if (IsFreeFill(fill)) {
    ResolvedFill other;
    other.kind = *replacement;
    other.value = kConstantFill;
    return other;
  }
  if (fill.kind == FillKind::kUniform) {
    if (*replacement == FillKind::kConstant) {
      resolved.kind = FillKind::kConstant;
      resolved.value = InnerPoint(resolved.min, resolved.max);
    } else if (*replacement == FillKind::kSorted) {
      resolved.kind = FillKind::kSorted;
    } else if (*replacement == FillKind::kSmallInts) {
      // Whole numbers of the range: the bounds of intervals, where comparisons are decided.
      const double first = std::ceil(resolved.min);
      const double end = std::ceil(resolved.max);  // not reached
      if (end - first >= 2) {
        resolved.kind = FillKind::kRandInt;
        resolved.min = first;
        resolved.max = end;
      }
    }
  }
  return resolved;
}

void FillTensor(const ResolvedFill& fill, uint64_t seed, Tensor& tensor) {
  switch (fill.kind) {
    case FillKind::kZeros:
      std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
      return;
    case FillKind::kRandInt:
      return FillIntegers(seed, tensor, static_cast<int64_t>(fill.min),
                          static_cast<int64_t>(fill.max));
    case FillKind::kSorted:
      return FillSorted(fill, seed, tensor);
    case FillKind::kPermutation:
      return FillPermutation(seed, tensor);
    case FillKind::kOffsets:
      return FillOffsets(fill.total, seed, tensor);
    case FillKind::kOneHot:
      return FillOneHot(seed, tensor);
    default:
      break;
  }
  if (!IsFloat(tensor.dtype)) {
    // A float distribution for an integer argument: its values truncated would be mostly zeros.
    if (fill.kind == FillKind::kConstant || fill.kind == FillKind::kUniform) {
      const auto count = static_cast<uint64_t>(tensor.element_count());
      for (uint64_t i = 0; i < count; ++i) {
        Store(tensor, i, ElementAt(fill, tensor.dtype, seed, i));
      }
      return;
    }
    return FillIntegers(seed, tensor, static_cast<int64_t>(fill.min),
                        static_cast<int64_t>(fill.max));
  }
  ForEachPiece(tensor.element_count(), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<uint64_t>(i);
      Store(tensor, at, ElementAt(fill, tensor.dtype, seed, at));
    }
  });
}

}  // namespace optiml
