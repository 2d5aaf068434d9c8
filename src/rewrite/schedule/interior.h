#ifndef OPTIML_REWRITE_SCHEDULE_INTERIOR_H_
#define OPTIML_REWRITE_SCHEDULE_INTERIOR_H_

// Interior: the points of a stencil at which its border conditions have a known outcome (A6). A
// block of points is interior when all of them are; then the conditions need not be evaluated.
//
// Conditions are comparisons of affine forms of the dims, so the outcome over a block is decided at
// two of its corners. What cannot be decided so stays in the code.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/program/program.h"

namespace optiml::rewrite {

struct Interior {
  // Must hold at run time for the block to be interior; over the symbols of `low` and `high`.
  std::vector<ExprPtr> checks;
  // Conditions, by their printed text, and their value in the interior.
  std::map<std::string, bool> outcomes;

  // The expression with selects and conditions decided; the unchanged one where nothing is known.
  ExprPtr Simplify(const ExprPtr& expr) const;
  // The outcome of a condition, if it is known.
  std::optional<bool> Outcome(const ExprPtr& condition) const;
};

// `low` and `high`: for each program dim that a block spans, expressions of its first and last
// point. Fold dims span their extents.
Interior FindInterior(const Program& program, const std::map<std::string, ExprPtr>& low,
                      const std::map<std::string, ExprPtr>& high);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_INTERIOR_H_
