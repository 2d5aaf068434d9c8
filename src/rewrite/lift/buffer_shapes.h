#ifndef OPTIML_REWRITE_LIFT_BUFFER_SHAPES_H_
#define OPTIML_REWRITE_LIFT_BUFFER_SHAPES_H_

// BufferShapes: the extents of a launcher's buffers in terms of its integer parameters, from the
// lifted kernels' index expressions and the guards that bound them: "x[r * cols + c]" with r below
// rows and c below cols is rows x cols. Only what all accesses of a buffer agree on is said.

#include <string>
#include <vector>

#include "frontend/ast.h"

namespace optiml::rewrite {

// One entry a parameter of the host function `entry`: extents, outermost first, as expressions of
// a task file; empty where nothing is known. Empty as a whole without such a function.
std::vector<std::vector<std::string>> BufferShapes(const ast::SourceUnit& unit,
                                                   const std::string& entry);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_LIFT_BUFFER_SHAPES_H_
