#ifndef OPTIML_PTX_SHADOW_MATH_H_
#define OPTIML_PTX_SHADOW_MATH_H_

// How a shadow and its births follow from those of the operands. Internal to ptx/.

#include <cstdint>

#include "ptx/alu.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {

// A number that an operation takes.
struct ShadowOperand {
  double value = 0;
  const ShadowValue* shadow = nullptr;  // null: exact

  double exact() const { return shadow != nullptr ? shadow->shadow : value; }
};

// Collects what contributes to the error of one result.
class Births {
 public:
  // An operand's contributions, times the derivative of the result by it.
  void Take(const ShadowOperand& operand, double gain);
  // What the operation itself adds.
  void Add(int32_t line, double amount);
  // Terms of a sum as large as `largest` left `result`.
  void Cancel(int32_t line, double largest, double result);
  void Write(ShadowValue& value) const;

 private:
  static constexpr int kMost = 12;
  struct Part {
    int32_t line = 0;
    double amount = 0;
  };
  Part parts_[kMost];
  int count_ = 0;
  double most_taken_ = -1;
  int32_t cancelled_line_ = 0;
  double cancelled_bits_ = 0;
};

// Whether the operation is one of numbers that has an exact counterpart here.
bool HasShadow(AluOp operation);
// The operation in double arithmetic; operands beyond its own are not looked at.
double Evaluate(AluOp operation, const double (&x)[3]);
// Derivatives of Evaluate(x) = y.
void Derivatives(AluOp operation, const double (&x)[3], double y, double (&gains)[3]);
// a - b; zero for the same infinity and for NaN on both sides, infinite for NaN on one.
double Difference(double a, double b);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_SHADOW_MATH_H_
