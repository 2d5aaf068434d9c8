#ifndef OPTIML_TASK_FILLS_H_
#define OPTIML_TASK_FILLS_H_

// Numbers for tensors, by kind of fill.
//
// The same fill and seed give the same bits on every machine: only IEEE additions, multiplications,
// divisions and square roots are used (no libm function, no fused multiply-add: fills.cpp is
// compiled with -ffp-contract=off), and element i depends on (seed, i) alone where the kind allows.

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/rng.h"
#include "core/kernel_task.h"
#include "core/tensor.h"

namespace optiml {

// A fill whose range was computed for one row of sizes.
struct ResolvedFill {
  FillKind kind = FillKind::kNormal;
  bool has_range = false;
  double min = 0;  // of kUniform, kRandInt, kSorted and the like: [min, max)
  double max = 1;
  double value = 0;   // kConstant
  int64_t total = 0;  // kOffsets
};

// The declared fill of an argument, or the checks' `replacement` where the argument allows it:
// float inputs whose fill was not declared or has no range take any; a declared uniform range takes
// only kConstant (a point of the range) and kSorted (within the range); everything else keeps its
// own.
Result<ResolvedFill> ResolveFill(const ArgSpec& arg, const SizeBindings& sizes,
                                 std::optional<FillKind> replacement);

void FillTensor(const ResolvedFill& fill, uint64_t seed, Tensor& tensor);

// The normal distribution's quantile, |relative error| < 1.2e-9 (P. J. Acklam's rational
// approximation, 2003). REQUIRES: 0 < p < 1
double NormalQuantile(double p);

}  // namespace optiml

#endif  // OPTIML_TASK_FILLS_H_
