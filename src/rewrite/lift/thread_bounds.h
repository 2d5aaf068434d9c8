#ifndef OPTIML_REWRITE_LIFT_THREAD_BOUNDS_H_
#define OPTIML_REWRITE_LIFT_THREAD_BOUNDS_H_

// What a guard says of one thread index: that it lies below or above a value, or is not one. Values
// are made of the kernel's parameters alone. Internal to lift/.

#include <optional>
#include <string>
#include <vector>

#include "rewrite/program/program.h"

namespace optiml::rewrite::lifting {

// Whether a value is made of the kernel's scalar parameters and integer constants alone.
bool OnlyParameters(const ExprPtr& expr);

struct Bound {
  std::string symbol;
  bool is_upper = true;
  ExprPtr value;  // upper: exclusive; lower: inclusive
};
// `symbols`: the thread indices. Absent for every other form of condition.
std::optional<Bound> BoundOf(const ExprPtr& condition, const std::vector<std::string>& symbols);

// symbol != value: an end of the symbol's range may be cut off.
struct Exclusion {
  std::string symbol;
  ExprPtr value;
};
std::optional<Exclusion> ExclusionOf(const ExprPtr& condition,
                                     const std::vector<std::string>& symbols);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_THREAD_BOUNDS_H_
