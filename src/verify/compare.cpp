#include "verify/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"

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

// No float type has a largest value below it (e4m3: 448).
constexpr double kFarFromOverflow = 100;

// What rounding of denormal values leaves, in steps between them.
constexpr double kDenormalSteps = 4;

// One element against its expected value.
struct ElementVerdict {
  bool matches = true;
  bool poisoned = false;
  double expected = 0;
  double got = 0;
  std::optional<double> error;  // absolute; where both are finite
  double ratio = 0;             // of the error to what is allowed; to 1 where values are exact
};

class ElementJudge {
 public:
  ElementJudge(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
               const ErrorBudget* budget, const CompareOptions& options)
      : arg_(arg), expected_(expected), got_(got), budget_(budget), options_(options) {
    OPTIML_CHECK(expected.shape == got.shape, "outputs of different shapes cannot be compared");
    OPTIML_CHECK(!IsFloat(arg.dtype) || budget != nullptr, "floats are compared within a budget");
    // Only the pattern of a wide float NaN is never computed; others may be values.
    poison_is_decisive_ =
        IsFloat(arg.dtype) && element_bytes_ > 1 && options.poison == kPoisonBytes[0];
  }

  ElementVerdict Judge(int64_t i) const {
    const std::byte* at = got_.bytes.data() + static_cast<size_t>(i) * element_bytes_;
    ElementVerdict verdict;
    verdict.poisoned = options_.poison && HoldsPoison(at, element_bytes_, *options_.poison);
    verdict.expected = expected_.At(i);
    verdict.got = got_.At(i);
    if (!IsFloat(arg_.dtype)) {
      JudgeInteger(i, at, verdict);
    } else if (verdict.poisoned && poison_is_decisive_) {
      verdict.matches = false;
    } else {
      JudgeFloat(i, verdict);
    }
    return verdict;
  }

 private:
  void JudgeInteger(int64_t i, const std::byte* at, ElementVerdict& verdict) const {
    const std::byte* expected =
        expected_.bytes.data() + static_cast<size_t>(i) * DTypeBytes(expected_.dtype);
    verdict.matches = LoadInteger(expected_.dtype, expected) == LoadInteger(arg_.dtype, at);
    verdict.error = verdict.matches ? 0 : std::fabs(verdict.got - verdict.expected);
    verdict.ratio = *verdict.error;
  }

  void JudgeFloat(int64_t i, ElementVerdict& verdict) const {
    const double e = verdict.expected;
    const double g = verdict.got;
    if (std::isnan(e)) {
      verdict.matches = std::isnan(g);
    } else if (!std::isfinite(e) ||
               (std::fabs(e) > kFarFromOverflow && !std::isfinite(RoundedTo(arg_.dtype, e)))) {
      const double rounded = RoundedTo(arg_.dtype, e);
      // A finite value beyond the type's range may round to its largest number or overflow.
      const bool is_overflow = std::isfinite(e);
      verdict.matches =
          g == rounded || (std::isnan(rounded) && std::isnan(g)) ||
          (is_overflow && std::isfinite(g) && std::fabs(g - e) <= budget_->Allowance(i, e));
    } else if (!std::isfinite(g)) {
      // Rounding may overflow just below the type's limit.
      const double allowance = budget_->Allowance(i, e);
      verdict.matches = std::isinf(g) && g * e > 0 &&
                        !std::isfinite(RoundedTo(arg_.dtype, e + std::copysign(allowance, e)));
    } else {
      const double error = std::fabs(g - e);
      double allowance = budget_->Allowance(i, e);
      if (options_.denormals && e != 0 && std::fabs(e) < SmallestNormal(arg_.dtype)) {
        allowance = std::min(allowance, kDenormalSteps * SmallestPositive(arg_.dtype));
      }
      verdict.error = error;
      verdict.matches = error <= allowance;
      if (options_.signed_zeros && e == 0 && g == 0) {
        verdict.matches = std::signbit(e) == std::signbit(g);
      }
      if (error > 0) {
        verdict.ratio = allowance > 0 ? error / allowance : std::numeric_limits<double>::infinity();
      }
    }
  }

  const ArgSpec& arg_;
  const Tensor& expected_;
  const Tensor& got_;
  const ErrorBudget* budget_;
  const CompareOptions& options_;
  size_t element_bytes_ = DTypeBytes(arg_.dtype);
  bool poison_is_decisive_ = false;
};

char MapCell(const ElementVerdict& verdict) {
  if (verdict.matches) {
    return kMapRight;
  }
  if (verdict.poisoned) {
    return kMapUnwritten;
  }
  return verdict.error ? MapLevel(verdict.ratio) : kMapKind;
}

}  // namespace

namespace {

// Elements [begin, end).
Comparison CompareRange(const ElementJudge& judge, const ArgSpec& arg,
                        const std::vector<int64_t>& shape, int64_t begin, int64_t end) {
  const bool is_float = IsFloat(arg.dtype);
  Comparison result;
  for (int64_t i = begin; i < end; ++i) {
    const ElementVerdict verdict = judge.Judge(i);
    if (verdict.error) {
      result.max_absolute_error = std::max(result.max_absolute_error, *verdict.error);
      if (is_float && verdict.expected != 0) {
        result.max_relative_error =
            std::max(result.max_relative_error, *verdict.error / std::fabs(verdict.expected));
      }
      if (is_float) {
        result.max_budget_ratio = std::max(result.max_budget_ratio, verdict.ratio);
      }
    }
    if (!verdict.matches && result.mismatch_count++ == 0) {
      Mismatch& first = result.first.emplace();
      first.argument = arg.name;
      first.index = i;
      first.coordinates = CoordinatesOf(i, shape);
      first.expected = verdict.expected;
      first.got = verdict.got;
      first.unwritten = verdict.poisoned;
    }
  }
  return result;
}

// Most outputs are f32, and nearly all of their elements are finite and near what was expected:
// they are judged here, by the same arithmetic as ElementJudge's. What is anything else is left to
// it.
class QuickJudge {
 public:
  QuickJudge(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
             const ErrorBudget* budget, const CompareOptions& options)
      : expected_(expected), got_(got), budget_(budget) {
    is_of_use_ = arg.dtype == DType::kF32 && expected.dtype == DType::kF64 && budget != nullptr &&
                 budget->is_uniform() && !options.signed_zeros && !options.denormals &&
                 (!options.poison || options.poison == kPoisonBytes[0]);  // a NaN
  }
  bool is_of_use() const { return is_of_use_; }

  // Whether all of [begin, end) are such elements; `result` counts nothing else.
  bool Judge(int64_t begin, int64_t end, Comparison& result) const {
    double most_absolute = 0;
    double most_relative = 0;
    double most_ratio = 0;
    bool all = true;
    for (int64_t i = begin; i < end; ++i) {
      double e = 0;
      float g = 0;
      std::memcpy(&e, expected_.bytes.data() + static_cast<size_t>(i) * sizeof(e), sizeof(e));
      std::memcpy(&g, got_.bytes.data() + static_cast<size_t>(i) * sizeof(g), sizeof(g));
      const double error = std::fabs(static_cast<double>(g) - e);
      const double allowance = budget_->UniformAllowance(e);
      all &= error <= allowance && std::fabs(e) < kFarFromF32Limit;
      most_absolute = std::max(most_absolute, error);
      most_relative = std::max(most_relative, e == 0 ? 0 : error / std::fabs(e));
      most_ratio = std::max(most_ratio, error == 0 ? 0 : error / allowance);
    }
    if (all) {
      result.max_absolute_error = most_absolute;
      result.max_relative_error = most_relative;
      result.max_budget_ratio = most_ratio;
    }
    return all;
  }

 private:
  // Below it nothing overflows, and nothing that is not finite is near.
  static constexpr double kFarFromF32Limit = 0x1p126;
  const Tensor& expected_;
  const Tensor& got_;
  const ErrorBudget* budget_;
  bool is_of_use_ = false;
};

// `next` lies behind what `all` is of.
void Add(const Comparison& next, Comparison& all) {
  all.mismatch_count += next.mismatch_count;
  if (!all.first) {
    all.first = next.first;
  }
  all.max_absolute_error = std::max(all.max_absolute_error, next.max_absolute_error);
  all.max_relative_error = std::max(all.max_relative_error, next.max_relative_error);
  all.max_budget_ratio = std::max(all.max_budget_ratio, next.max_budget_ratio);
}

}  // namespace

Comparison Compare(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
                   const ErrorBudget* budget, const CompareOptions& options) {
  const ElementJudge judge(arg, expected, got, budget, options);
  const int64_t count = expected.element_count();
  const QuickJudge quick(arg, expected, got, budget, options);
  std::vector<Comparison> parts(static_cast<size_t>(PieceCount(count)));
  ForEachPiece(count, [&](int64_t piece, int64_t begin, int64_t end) {
    Comparison& part = parts[static_cast<size_t>(piece)];
    constexpr int64_t kBlock = 4096;
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t stop = std::min(end, at + kBlock);
      Comparison block;
      if (!quick.is_of_use() || !quick.Judge(at, stop, block)) {
        block = CompareRange(judge, arg, expected.shape, at, stop);
      }
      Add(block, part);
    }
  });
  Comparison result;
  for (const Comparison& part : parts) {
    Add(part, result);
  }
  return result;
}

ErrorMap DrawErrors(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
                    const ErrorBudget* budget, const CompareOptions& options) {
  const ElementJudge judge(arg, expected, got, budget, options);
  ErrorMap map = MakeErrorMap(expected.shape);
  map.argument = arg.name;
  map.is_exact = !IsFloat(arg.dtype);
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    Mark(map, i, MapCell(judge.Judge(i)));
  }
  return map;
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
