#ifndef OPTIML_FRONTEND_SIDE_EFFECTS_H_
#define OPTIML_FRONTEND_SIDE_EFFECTS_H_

#include "frontend/ast.h"

namespace optiml::frontend {

// Whether the evaluation of an expression may change anything: it assigns, launches, constructs by
// a constructor of the file, or calls what is not known to be a pure function. Errs on the side of
// yes.
bool ChangesSomething(const ast::Expr& expr);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_SIDE_EFFECTS_H_
