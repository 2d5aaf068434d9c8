#ifndef OPTIML_VERIFY_ERROR_BUDGET_H_
#define OPTIML_VERIFY_ERROR_BUDGET_H_

// ErrorBudget: how far each element of one output may be from its expected value.
// docs/verification.md explains the formula to users; this is its source.
//
// With e the expected value, u the unit roundoff, n the terms that an output element sums:
//
//   floor = 2 u_out |e| + (kBase + kGrowth sqrt(n)) u_arith scale + 2 tiny
//   scale = max(|e|, rms of the output, |f(|inputs|)|)
//
// The worst case of a sum of n terms is n u sum|terms| (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed. 2002, section 4.2); for independent roundings it is a small multiple of
// sqrt(n) u sum|terms| with overwhelming probability (Higham and Mary, A New Approach to
// Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019), which is what is
// granted here: n u at big n would let half precision pass. f(|inputs|), the reference on the
// inputs' magnitudes, is sum|terms| for everything that is linear in its inputs; it is asked for
// only when an element would fail without it (a sum that cancels).
//
// What is ill-conditioned beyond that (a normalisation of nearly constant data divides by almost
// nothing) is measured: the reference runs on inputs that are one unit in the last place off, and
// an element may be kConditioning times as far off as it moved, or as the median element did:
//
//   floor += kConditioning max(moved_i, median of moved)
//
// Inputs of f16 and narrower are not moved: their last place is worth more than the precision that
// is to be told apart. Magnitudes and movements are asked for together.
//
// A candidate may also be kOriginalFactor times as far off as the original kernel is from the
// double reference: multiplier = max(1, kOriginalFactor max_i(error of original / floor)).
//
// Where the original is the reference, its error is that of its outputs against the same operations
// in double arithmetic, if the device follows them (the emulator does); see FollowedMultiplier.
//
// An explicit tolerance with both bounds replaces all of this by absolute + relative |e|; with one
// bound it is added to the floor.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/kernel_task.h"
#include "core/tensor.h"

namespace optiml {

inline constexpr double kBase = 16;   // 8 ulp for what is no sum: exp, division, a fast reciprocal
inline constexpr double kGrowth = 4;  // standard deviations of a random walk of roundings
inline constexpr double kOriginalFactor = 4;  // another order of summation may be this much worse
// Beyond this many floors the original is not inaccurate, but computes something else.
inline constexpr double kDisagreement = 256;
// With the original as the reference both sides carry its error. Where nobody has measured it, the
// first of these; where the device followed it in double arithmetic, between the two.
inline constexpr double kUnmeasuredFactor = 8;
inline constexpr double kFollowedFactor = 2;
// What tf32, f16 or bf16 products leave: rounding of each input by 2^-8 at worst, 4 deviations.
inline constexpr double kReducedPrecision = 4 * 0x1p-8;

// Of ErrorBudget::Tighten: what exact kernels may lose at another shape, by another order of the
// same few operations.
inline constexpr double kSamePrecision = 32;
// At another shape a kernel may use so many times the share of the budget that it used at the
// checked ones: these are few elements, and the worst of many is worse.
inline constexpr double kShareGrowth = 8;

// Movements in the last place of f32 inputs: another way to round the same sums moves an element by
// a few of them, half precision by thousands.
inline constexpr double kConditioning = 8;

// What more is known of one output of one case. Tensors may be null: not known.
struct Conditioning {
  const Tensor* magnitudes = nullptr;  // f(|inputs|)
  const Tensor* moved = nullptr;       // how far each element moved, f64
};

class ErrorBudget {
 public:
  // `terms`: n above, at least 1. `expected` is f64 for float outputs. What `conditioning` points
  // to must outlive the budget. REQUIRES: IsFloat(arg.dtype)
  ErrorBudget(const KernelTask& task, const ArgSpec& arg, double terms, const Tensor& expected,
              const Conditioning& conditioning);

  // Multiplies the floor; explicit bounds stay what they are.
  void Widen(double multiplier) { multiplier_ = multiplier; }

  // Demands the precision that the same kernel had elsewhere: beside kSamePrecision roundings of
  // the element's scale only `share` of the budget may be used, where that is less. An explicit
  // tolerance stays what it is.
  void Tighten(double share) { share_ = share; }

  // Of element i whose expected value is `expected`; infinite expectations are compared by kind.
  double Allowance(int64_t i, double expected) const;

  // Whether the allowance depends on the expected value alone: nothing is known of single elements.
  bool is_uniform() const {
    return conditioning_.magnitudes == nullptr && conditioning_.moved == nullptr;
  }
  // Allowance() of any element. REQUIRES: is_uniform()
  double UniformAllowance(double expected) const {
    const double magnitude = std::fabs(expected);
    return Granted(magnitude, std::max(magnitude, rms_), median_moved_);
  }

  // max over the elements of |got - expected| / floor, before any widening; what the original's
  // outputs are measured with. Elements that are not finite on both sides are left out.
  double WorstRatio(const Tensor& expected, const Tensor& got) const;

  bool is_explicit() const { return absolute_ && relative_; }

 private:
  double Floor(int64_t i, double expected) const;
  double FloorOf(double magnitude, double scale, double moved) const {
    return output_roundoff_ * magnitude + scale_factor_ * scale + tiny_ + kConditioning * moved;
  }
  double Granted(double magnitude, double scale, double moved) const {
    const double stated = absolute_.value_or(0) + relative_.value_or(0) * magnitude;
    if (is_explicit()) {
      return stated;
    }
    const double granted = multiplier_ * FloorOf(magnitude, scale, moved);
    if (!share_) {
      return stated + granted;
    }
    const double same = kSamePrecision * arithmetic_roundoff_ * std::max(magnitude, rms_) + tiny_;
    return stated + std::min(granted, same + *share_ * granted);
  }
  // What is known of element i: the magnitude of its terms, and how far it moved.
  double ScaleOf(int64_t i, double magnitude) const;
  double MovedOf(int64_t i) const;

  double output_roundoff_ = 0;
  double scale_factor_ = 0;
  double tiny_ = 0;
  double rms_ = 0;
  double multiplier_ = 1;
  double arithmetic_roundoff_ = 0;
  std::optional<double> share_;
  double median_moved_ = 0;
  Conditioning conditioning_;
  std::optional<double> absolute_;
  std::optional<double> relative_;
};

// The smallest positive number of a float type, and the smallest that is not denormal (IEEE
// 754-2019; OCP 8-bit Floating Point 1.0).
double SmallestPositive(DType dtype);
double SmallestNormal(DType dtype);

// The multiplier where the expected values are the original's own outputs, which are `ratio` floors
// off in double arithmetic: as far off as a candidate may be there, and as far as the original is.
double FollowedMultiplier(double ratio);

// Terms that one output element sums at these sizes: the task's reduction_length, or all float
// input elements together when it says nothing.
double ReductionTerms(const KernelTask& task, const SizeBindings& sizes);

}  // namespace optiml

#endif  // OPTIML_VERIFY_ERROR_BUDGET_H_
