#ifndef OPTIML_REWRITE_PROGRAM_SIMPLIFY_H_
#define OPTIML_REWRITE_PROGRAM_SIMPLIFY_H_

// Simplify: shorter integer and logical expressions of the same value: constants are folded where
// they fit the type, x + 0, 1 * x, x * 0, x / 1, x % 1, (x + 2) - 1, casts to the same type, !(a <
// b) of integers, conditions with true and false. Float arithmetic is never touched: it would
// change results.

#include "rewrite/program/program.h"

namespace optiml::rewrite {

ExprPtr Simplify(const ExprPtr& expr);

// The condition's negation: comparisons of integers are turned around, && and || by De Morgan.
ExprPtr Negate(const ExprPtr& condition);

// a && b, without "true"; either may be null (always true).
ExprPtr Conjunction(const ExprPtr& a, const ExprPtr& b);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_PROGRAM_SIMPLIFY_H_
