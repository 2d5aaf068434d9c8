#ifndef OPTIML_FRONTEND_AST_FORMAT_H_
#define OPTIML_FRONTEND_AST_FORMAT_H_

// Format: readable text of a tree, for golden tests and messages.
//
// Expressions are fully parenthesised; implicit casts are <type>(x), explicit ones (type)(x), macro
// ranges are marked where a function's text is asked for. The text is not C++ and is never
// compiled.

#include <string>

#include "frontend/ast.h"

namespace optiml::ast {

std::string Format(const Expr& expr);
// One line each, two spaces of indentation a level.
std::string Format(const SourceUnit& unit, const Stmt& stmt, int indent = 0);
// Attributes, name expression, parameters and body.
std::string Format(const SourceUnit& unit, const Function& function);

}  // namespace optiml::ast

#endif  // OPTIML_FRONTEND_AST_FORMAT_H_
