#include "rewrite/lift/thread_bounds.h"

#include <algorithm>

#include "rewrite/lift/cleanup.h"
#include "rewrite/program/affine.h"

namespace optiml::rewrite::lifting {
namespace {

ExprPtr StripSizeCasts(ExprPtr expr) {
  while (expr->kind == ExprKind::kCast && !IsFloatScalar(expr->operands[0]->type) &&
         expr->operands[0]->type != Scalar::kBool &&
         ScalarBytes(expr->type) >= ScalarBytes(expr->operands[0]->type)) {
    expr = expr->operands[0];
  }
  return expr;
}

}  // namespace

bool OnlyParameters(const ExprPtr& expr) {
  bool only = true;
  Visit(expr, [&](const Expr& node) {
    only &= node.kind != ExprKind::kLoad && node.kind != ExprKind::kFloat;
    only &= node.kind != ExprKind::kSymbol || node.name.find_first_of("#@.") == std::string::npos;
  });
  return only;
}

std::optional<Bound> BoundOf(const ExprPtr& condition, const std::vector<std::string>& symbols) {
  if (condition->kind != ExprKind::kBinary ||
      (condition->op[0] != '<' && condition->op[0] != '>') ||
      IsFloatScalar(condition->operands[0]->type)) {
    return std::nullopt;
  }
  if (MayWrapBelowZero(condition, symbols)) {
    return std::nullopt;
  }
  const std::optional<Affine> left = ToAffine(condition->operands[0], symbols);
  const std::optional<Affine> right = ToAffine(condition->operands[1], symbols);
  if (!left || !right) {
    return std::nullopt;
  }
  const Affine difference = *left - *right;
  if (difference.coefficients.size() != 1) {
    return std::nullopt;
  }
  const auto& [symbol, coefficient] = *difference.coefficients.begin();
  const std::optional<int64_t> sign = coefficient.Constant();
  if (!sign || (*sign != 1 && *sign != -1)) {
    return std::nullopt;
  }
  const bool less = (condition->op[0] == '<') == (*sign == 1);
  const bool or_equal = condition->op.size() == 2;
  const ExprPtr& symbol_side = condition->operands[*sign == 1 ? 0 : 1];
  const ExprPtr& other_side = condition->operands[*sign == 1 ? 1 : 0];
  const Polynomial bound = *sign == 1 ? Polynomial() - difference.constant : difference.constant;
  ExprPtr value = StripSizeCasts(symbol_side)->kind == ExprKind::kSymbol
                      ? StripSizeCasts(other_side)
                      : bound.ToExpr();
  if (less == or_equal) {  // s <= b is s < b + 1; s > b is s >= b + 1
    value = Arithmetic("+", value, Int(1));
  }
  if (!OnlyParameters(value)) {
    return std::nullopt;
  }
  return Bound{symbol, less, value};
}

std::optional<Exclusion> ExclusionOf(const ExprPtr& condition,
                                     const std::vector<std::string>& symbols) {
  if (condition->kind != ExprKind::kBinary || condition->op != "!=" ||
      IsFloatScalar(condition->operands[0]->type)) {
    return std::nullopt;
  }
  for (const int side : {0, 1}) {
    const ExprPtr symbol = StripSizeCasts(condition->operands[static_cast<size_t>(side)]);
    const ExprPtr value = StripSizeCasts(condition->operands[static_cast<size_t>(1 - side)]);
    const bool is_index = symbol->kind == ExprKind::kSymbol &&
                          std::ranges::find(symbols, symbol->name) != symbols.end();
    if (is_index && OnlyParameters(value)) {
      return Exclusion{symbol->name, value};
    }
  }
  return std::nullopt;
}

}  // namespace optiml::rewrite::lifting
