#ifndef OPTIML_VERIFY_COMPARE_H_
#define OPTIML_VERIFY_COMPARE_H_

// One output of a run against its expected values: every element, integers exactly, floats within
// their budget, NaN and infinity by kind.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "verify/error_budget.h"

namespace optiml {

// What unwritten memory holds before a run. The first makes a NaN of every float type, with a
// payload that no arithmetic gives (CUDA's own is 0x7fffffff); the second is for integers, of which
// the first is a plausible -1.
inline constexpr std::array<uint8_t, 2> kPoisonBytes = {0xFF, 0xA5};

struct CompareOptions {
  std::optional<uint8_t> poison;  // what the output held before the run
  bool signed_zeros = false;      // whether +0 and -0 differ
  bool denormals = false;         // whether denormal values are more than almost zero
};

struct Comparison {
  int64_t mismatch_count = 0;
  std::optional<Mismatch> first;
  double max_absolute_error = 0;  // over finite pairs
  double max_relative_error = 0;  // over finite pairs whose expected value is not 0
  double max_budget_ratio = 0;    // error over allowance; floats only

  bool matches() const { return mismatch_count == 0; }
};

// `expected` is f64 for float outputs and in the output's dtype otherwise; `got` is in the output's
// dtype. `budget` is null for integers. REQUIRES: equal shapes
Comparison Compare(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
                   const ErrorBudget* budget, const CompareOptions& options);

// Where `got` is wrong, and how far: of an output that does not match.
ErrorMap DrawErrors(const ArgSpec& arg, const Tensor& expected, const Tensor& got,
                    const ErrorBudget* budget, const CompareOptions& options);

// "y[3,17]: expected 0.25, got 0.5" or "... is unwritten".
std::string MismatchText(const Mismatch& mismatch);

}  // namespace optiml

#endif  // OPTIML_VERIFY_COMPARE_H_
