#ifndef OPTIML_REWRITE_SCHEDULE_FUSION_H_
#define OPTIML_REWRITE_SCHEDULE_FUSION_H_

// Fusion of two folds over the same points into one fold with a tuple monoid (A2):
//   online: m = max f(c);  s = sum expf(f(c) - m) * w(c)      -> (m, s) in one pass
//   moments: a = sum f(c); q = sum (f(c) - a / n)^2           -> (mean, q) in one pass
// Both regroup floating point sums.

#include <optional>
#include <string>

#include "rewrite/program/program.h"

namespace optiml::rewrite {

enum class FusionKind { kOnlineExp, kMoments };

struct Fusion {
  FusionKind kind = FusionKind::kOnlineExp;
  size_t first = 0;   // stage of the first fold
  size_t second = 0;  // stage of the fold that joins it
  // kOnlineExp: update of the sum is exp_name(value - m) * weight
  std::string exp_name;  // "expf", "__expf", "exp"
  ExprPtr value;         // f(c)
  ExprPtr weight;        // may be null
  // kMoments: the let that holds the mean, and the divisor's text
  std::string mean;
};

// The first pair of folds that can be fused.
std::optional<Fusion> FindFusion(const Program& normalised);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_FUSION_H_
