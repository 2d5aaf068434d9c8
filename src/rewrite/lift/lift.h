#ifndef OPTIML_REWRITE_LIFT_LIFT_H_
#define OPTIML_REWRITE_LIFT_LIFT_H_

// Lift: the syntax tree of a kernel -> Program. Independent of spelling: early return or guard, row
// pointers or subscripts, "s = s + x" or "s += x", locals or none, macros, grid-stride loops,
// template parameters.
//
// Refuses, with reason and line, what is not a data-parallel kernel of this form: shared memory,
// barriers, shuffles, inline assembly, writes whose points may conflict, loops whose trip count
// depends on data, pointers that escape. A refused kernel is still optimised by local text edits.

#include <string>
#include <variant>

#include "frontend/ast.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

struct LiftRefusal {
  std::string reason;  // "line 14: __syncthreads: kernels with barriers are not lifted"
  int line = 0;
};

using LiftOutcome = std::variant<Program, LiftRefusal>;

LiftOutcome Lift(const ast::SourceUnit& unit, const ast::Function& kernel);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_LIFT_LIFT_H_
