#ifndef OPTIML_FRONTEND_LAUNCHER_CHECK_H_
#define OPTIML_FRONTEND_LAUNCHER_CHECK_H_

#include <optional>
#include <string_view>

#include "frontend/ast.h"
#include "frontend/frontend.h"

namespace optiml::frontend {

// Whether `later` does the same work as `fresh`, where memory that the launcher allocates may be
// another buffer, and a larger one. A refusal says what differs, and `when`.
std::optional<Refusal> CompareWork(const ast::SourceUnit& unit, const ast::Function& launcher,
                                   const LaunchPlan& fresh, const LaunchPlan& later,
                                   std::string_view when);

inline constexpr char kAfterOthers[] = "after calls with other arguments";
inline constexpr char kCalledAgain[] = "when it is called again";
inline constexpr char kElsewhere[] = "where addresses, free memory or versions are others";

// The refusal, with the circumstances in which it came: "... (when it is called again)".
Refusal Said(const Refusal& refusal, std::string_view when);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_LAUNCHER_CHECK_H_
