#ifndef OPTIML_FRONTEND_LAUNCHER_ENTRY_H_
#define OPTIML_FRONTEND_LAUNCHER_ENTRY_H_

#include <string>
#include <variant>

#include "frontend/ast.h"
#include "frontend/frontend.h"

namespace optiml::frontend {

// The host function `entry`; refused when there is none, or more than one.
std::variant<const ast::Function*, Refusal> FindEntry(const ast::SourceUnit& unit,
                                                      const std::string& entry);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_LAUNCHER_ENTRY_H_
