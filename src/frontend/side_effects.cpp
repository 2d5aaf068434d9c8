#include "frontend/side_effects.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace optiml::frontend {

namespace {

// Without std:: and without the f of a float version.
constexpr std::array<std::string_view, 48> kPure = {"abs",
                                                    "acos",
                                                    "asin",
                                                    "atan",
                                                    "atan2",
                                                    "cbrt",
                                                    "ceil",
                                                    "clamp",
                                                    "cos",
                                                    "cosh",
                                                    "endl",
                                                    "erf",
                                                    "exp",
                                                    "exp2",
                                                    "fabs",
                                                    "fixed",
                                                    "floor",
                                                    "flush",
                                                    "fmax",
                                                    "fmin",
                                                    "fmod",
                                                    "hypot",
                                                    "log",
                                                    "log10",
                                                    "log1p",
                                                    "log2",
                                                    "lround",
                                                    "make_float2",
                                                    "max",
                                                    "min",
                                                    "move",
                                                    "pow",
                                                    "rint",
                                                    "round",
                                                    "rsqrt",
                                                    "setw",
                                                    "sin",
                                                    "sinh",
                                                    "sqrt",
                                                    "strlen",
                                                    "tan",
                                                    "tanh",
                                                    "trunc",
                                                    "to_string",
                                                    "setprecision",
                                                    "cudaGetErrorString",
                                                    "cudaGetErrorName",
                                                    "cudaGetLastError"};

bool IsPure(std::string_view name) {
  if (name.starts_with("std::")) {
    name.remove_prefix(5);
  }
  return std::any_of(kPure.begin(), kPure.end(), [&](std::string_view known) {
    return name == known ||
           (name.size() == known.size() + 1 && name.back() == 'f' && name.starts_with(known));
  });
}

}  // namespace

bool ChangesSomething(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::kAssign:
    case ast::ExprKind::kIncrement:
    case ast::ExprKind::kLaunch:
    case ast::ExprKind::kMethodCall:
    case ast::ExprKind::kUnsupported:
      return true;
    case ast::ExprKind::kCall:
      if (expr.function >= 0 || expr.variable >= 0 || !IsPure(expr.name)) {
        return true;
      }
      break;
    case ast::ExprKind::kConstruct:
      if (expr.function >= 0) {
        return true;
      }
      break;
    default:
      break;
  }
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [](const ast::ExprPtr& operand) { return ChangesSomething(*operand); });
}

}  // namespace optiml::frontend
