#include "verify/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace optiml {
namespace {

std::vector<int64_t> CoordinatesOf(int64_t index, const std::vector<int64_t>& shape) {
  std::vector<int64_t> coordinates(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = index % shape[d];
    index /= shape[d];
  }
  return coordinates;
}

bool HoldsPoison(const std::byte* at, size_t bytes, uint8_t poison) {
  return std::all_of(at, at + bytes, [&](std::byte b) { return b == std::byte{poison}; });
}

// The expected value as the output's type can hold it: beyond its range that is an infinity (or NaN
// for e4m3, which has none).
double RoundedTo(DType dtype, double value) {
  std::byte bytes[8];
  StoreElement(dtype, value, bytes);
  return LoadElement(dtype, bytes);
}

}  // namespace

Comparison Compare(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
                   const ErrorBudget* budget, const CompareOptions& options) {
  OPTIML_CHECK(expected.shape == got.shape, "outputs of different shapes cannot be compared");
  const bool is_float = IsFloat(arg.dtype);
  OPTIML_CHECK(!is_float || budget != nullptr, "floats are compared within a budget");
  const size_t element_bytes = DTypeBytes(arg.dtype);
  // Only the pattern of a wide float NaN is never computed; others may be values.
  const bool poison_is_decisive =
      is_float && element_bytes > 1 && options.poison == kPoisonBytes[0];
  Comparison result;
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    const std::byte* at = got.bytes.data() + static_cast<size_t>(i) * element_bytes;
    const bool poisoned = options.poison && HoldsPoison(at, element_bytes, *options.poison);
    const double e = expected.At(i);
    const double g = got.At(i);
    bool matches = true;
    if (!is_float) {
      matches =
          LoadInteger(expected.dtype, expected.bytes.data() +
                                          static_cast<size_t>(i) * DTypeBytes(expected.dtype)) ==
          LoadInteger(arg.dtype, at);
      if (!matches) {
        result.max_absolute_error = std::max(result.max_absolute_error, std::fabs(g - e));
      }
    } else if (poisoned && poison_is_decisive) {
      matches = false;
    } else if (std::isnan(e)) {
      matches = std::isnan(g);
    } else if (!std::isfinite(e) || !std::isfinite(RoundedTo(arg.dtype, e))) {
      const double rounded = RoundedTo(arg.dtype, e);
      // A finite value beyond the type's range may round to its largest number or overflow.
      const bool is_overflow = std::isfinite(e);
      matches = g == rounded || (std::isnan(rounded) && std::isnan(g)) ||
                (is_overflow && std::isfinite(g) && std::fabs(g - e) <= budget->Allowance(i, e));
    } else if (!std::isfinite(g)) {
      // Rounding may overflow just below the type's limit.
      const double allowance = budget->Allowance(i, e);
      matches = std::isinf(g) && g * e > 0 &&
                !std::isfinite(RoundedTo(arg.dtype, e + std::copysign(allowance, e)));
    } else {
      const double error = std::fabs(g - e);
      const double allowance = budget->Allowance(i, e);
      matches = error <= allowance;
      if (options.signed_zeros && e == 0 && g == 0) {
        matches = std::signbit(e) == std::signbit(g);
      }
      result.max_absolute_error = std::max(result.max_absolute_error, error);
      if (e != 0) {
        result.max_relative_error = std::max(result.max_relative_error, error / std::fabs(e));
      }
      if (error > 0) {
        result.max_budget_ratio =
            std::max(result.max_budget_ratio,
                     allowance > 0 ? error / allowance : std::numeric_limits<double>::infinity());
      }
    }
    if (matches) {
      continue;
    }
    if (result.mismatch_count++ == 0) {
      Mismatch& first = result.first.emplace();
      first.argument = arg.name;
      first.index = i;
      first.coordinates = CoordinatesOf(i, expected.shape);
      first.expected = e;
      first.got = g;
      first.unwritten = poisoned;
    }
  }
  return result;
}

std::string MismatchText(const Mismatch& mismatch) {
  const std::string element =
      fmt::format("{}[{}]", mismatch.argument, fmt::join(mismatch.coordinates, ","));
  if (mismatch.unwritten) {
    return fmt::format("{} is unwritten, expected {:.9g}", element, mismatch.expected);
  }
  return fmt::format("{}: expected {:.9g}, got {:.9g}", element, mismatch.expected, mismatch.got);
}

}  // namespace optiml
