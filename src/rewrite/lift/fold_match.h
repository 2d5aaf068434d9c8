#ifndef OPTIML_REWRITE_LIFT_FOLD_MATCH_H_
#define OPTIML_REWRITE_LIFT_FOLD_MATCH_H_

// Recognises one step of a fold: what an iteration made of the value `in` that it got.

#include <optional>
#include <string>

#include "rewrite/program/program.h"

namespace optiml::rewrite::lifting {

struct FoldStep {
  FoldOp op = FoldOp::kSum;
  ExprPtr update;  // does not mention the carried symbol
  ExprPtr guard;   // null: always
  std::string spelling;
};

// in + u, u + in, fmaxf(in, u), fmaf(a, b, in), u > in ? u : in, c ? in + u : in ...
std::optional<FoldStep> MatchFold(const ExprPtr& end, const std::string& in);

// Whether `expr` is the float `name` times something that all threads agree on ("s / n"): then it
// may be applied to the terms of a sum instead of the sum.
bool IsMultipleOf(const ExprPtr& expr, const std::string& name);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_FOLD_MATCH_H_
