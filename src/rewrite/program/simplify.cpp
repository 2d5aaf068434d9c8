#include "rewrite/program/simplify.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace optiml::rewrite {

namespace {

bool IsInt(const ExprPtr& expr, int64_t value) {
  return expr->kind == ExprKind::kInt && expr->int_value == value;
}

bool IsInteger(Scalar type) {
  return !IsFloatScalar(type) && type != Scalar::kBool;
}

bool Fits(int64_t value, Scalar type) {
  switch (type) {
    case Scalar::kBool:
      return value == 0 || value == 1;
    case Scalar::kI8:
      return value >= INT8_MIN && value <= INT8_MAX;
    case Scalar::kU8:
      return value >= 0 && value <= UINT8_MAX;
    case Scalar::kI16:
      return value >= INT16_MIN && value <= INT16_MAX;
    case Scalar::kU16:
      return value >= 0 && value <= UINT16_MAX;
    case Scalar::kI32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case Scalar::kU32:
      return value >= 0 && value <= UINT32_MAX;
    case Scalar::kI64:
      return true;
    case Scalar::kU64:
      return value >= 0;
    default:
      return false;
  }
}

// The value of `a op b` when it is a number that fits the type; overflow and division by zero are
// left to the code.
std::optional<ExprPtr> FoldConstants(const std::string& op, int64_t a, int64_t b, Scalar type) {
  int64_t value = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(a, b, &value);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(a, b, &value);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(a, b, &value);
  } else if (op == "/" && a >= 0 && b > 0) {
    value = a / b;
  } else if (op == "%" && a >= 0 && b > 0) {
    value = a % b;
  } else if (op == "<<" && a >= 0 && b >= 0 && b < 31 && a < (int64_t{1} << 31)) {
    value = a << b;
  } else if (op == ">>" && a >= 0 && b >= 0 && b < 63) {
    value = a >> b;
  } else if (op == "&" && a >= 0 && b >= 0) {
    value = a & b;
  } else if (op == "|" && a >= 0 && b >= 0) {
    value = a | b;
  } else if (op == "<") {
    value = a < b ? 1 : 0;
  } else if (op == "<=") {
    value = a <= b ? 1 : 0;
  } else if (op == ">") {
    value = a > b ? 1 : 0;
  } else if (op == ">=") {
    value = a >= b ? 1 : 0;
  } else if (op == "==") {
    value = a == b ? 1 : 0;
  } else if (op == "!=") {
    value = a != b ? 1 : 0;
  } else {
    return std::nullopt;
  }
  if (overflow || !Fits(value, type)) {
    return std::nullopt;
  }
  return Int(value, type);
}

// x and k when the expression is x + k or x - k with a number k of either sign.
struct Offset {
  ExprPtr base;
  int64_t offset = 0;
};

Offset SplitOffset(const ExprPtr& expr) {
  if (expr->kind == ExprKind::kBinary && IsInteger(expr->type)) {
    if (expr->op == "+" && expr->operands[1]->kind == ExprKind::kInt) {
      return {expr->operands[0], expr->operands[1]->int_value};
    }
    if (expr->op == "+" && expr->operands[0]->kind == ExprKind::kInt) {
      return {expr->operands[1], expr->operands[0]->int_value};
    }
    if (expr->op == "-" && expr->operands[1]->kind == ExprKind::kInt &&
        expr->operands[1]->int_value != INT64_MIN) {
      return {expr->operands[0], -expr->operands[1]->int_value};
    }
  }
  return {expr, 0};
}

ExprPtr WithOffset(const ExprPtr& base, int64_t offset, Scalar type) {
  if (offset == 0) {
    return base;
  }
  return offset > 0 ? Binary("+", base, Int(offset, type), type)
                    : Binary("-", base, Int(-offset, type), type);
}

ExprPtr SimplifySum(const ExprPtr& expr) {
  const ExprPtr& a = expr->operands[0];
  const ExprPtr& b = expr->operands[1];
  const bool add = expr->op == "+";
  if (IsInt(b, 0)) {
    return a;
  }
  if (add && IsInt(a, 0)) {
    return b;
  }
  if (!add && Equal(a, b)) {
    return Int(0, expr->type);
  }
  // (x + 2) - 1, (x + 2) + (y - 1): one number at the end.
  const Offset left = SplitOffset(a);
  int64_t total = 0;
  if (b->kind == ExprKind::kInt && left.base != a &&
      !(add ? __builtin_add_overflow(left.offset, b->int_value, &total)
            : __builtin_sub_overflow(left.offset, b->int_value, &total)) &&
      Fits(total < 0 ? -total : total, expr->type)) {
    return WithOffset(left.base, total, expr->type);
  }
  // Numbers go to the end: -1 + x, a + (b - 1), (a - 1) + b.
  const Offset right = SplitOffset(b);
  if (add && a->kind == ExprKind::kInt) {
    return SimplifySum(Binary("+", b, a, expr->type));
  }
  if ((left.base != a || right.base != b) && b->kind != ExprKind::kInt &&
      !(add ? __builtin_add_overflow(left.offset, right.offset, &total)
            : __builtin_sub_overflow(left.offset, right.offset, &total)) &&
      Fits(total < 0 ? -total : total, expr->type)) {
    const ExprPtr base = SimplifySum(Binary(expr->op, left.base, right.base, expr->type));
    return total == 0 ? base : SimplifySum(WithOffset(base, total, expr->type));
  }
  if (b->kind == ExprKind::kInt && b->int_value < 0 && b->int_value > INT32_MIN) {
    return Binary(add ? "-" : "+", a, Int(-b->int_value, expr->type), expr->type);
  }
  if (add && b->kind == ExprKind::kUnary && b->op == "-") {
    return Binary("-", a, b->operands[0], expr->type);
  }
  return expr;
}

ExprPtr SimplifyLogic(const ExprPtr& expr) {
  const bool is_and = expr->op == "&&";
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ExprPtr& side = expr->operands[i];
    if (side->kind == ExprKind::kInt) {
      const bool value = side->int_value != 0;
      if (value == is_and) {
        return expr->operands[1 - i];
      }
      if (i == 0) {
        return Int(is_and ? 0 : 1, Scalar::kBool);
      }
    }
  }
  return Equal(expr->operands[0], expr->operands[1]) ? expr->operands[0] : expr;
}

ExprPtr SimplifyBinary(const ExprPtr& expr) {
  const ExprPtr& a = expr->operands[0];
  const ExprPtr& b = expr->operands[1];
  if (expr->op == "&&" || expr->op == "||") {
    return SimplifyLogic(expr);
  }
  if (IsFloatScalar(a->type) || IsFloatScalar(b->type) || IsFloatScalar(expr->type)) {
    return expr;
  }
  if (a->kind == ExprKind::kInt && b->kind == ExprKind::kInt) {
    if (const auto folded = FoldConstants(expr->op, a->int_value, b->int_value, expr->type)) {
      return *folded;
    }
    return expr;
  }
  if (!IsInteger(expr->type)) {
    return expr;
  }
  if (expr->op == "+" || expr->op == "-") {
    return SimplifySum(expr);
  }
  if (expr->op == "*") {
    if (IsInt(a, 0) || IsInt(b, 0)) {
      return Int(0, expr->type);
    }
    return IsInt(a, 1) ? b : IsInt(b, 1) ? a : expr;
  }
  if (expr->op == "/" && IsInt(b, 1)) {
    return a;
  }
  if (expr->op == "%" && IsInt(b, 1)) {
    return Int(0, expr->type);
  }
  if ((expr->op == "<<" || expr->op == ">>") && IsInt(b, 0)) {
    return a;
  }
  return expr;
}

ExprPtr SimplifyNode(const ExprPtr& expr) {
  switch (expr->kind) {
    case ExprKind::kBinary:
      return SimplifyBinary(expr);
    case ExprKind::kUnary: {
      const ExprPtr& operand = expr->operands[0];
      if (expr->op == "!") {
        return Negate(operand);
      }
      if (expr->op == "-" && operand->kind == ExprKind::kInt && operand->int_value != INT64_MIN &&
          Fits(-operand->int_value, expr->type)) {
        return Int(-operand->int_value, expr->type);
      }
      return expr;
    }
    case ExprKind::kCast: {
      const ExprPtr& operand = expr->operands[0];
      if (operand->type == expr->type) {
        return operand;
      }
      // A detour over an integer type that is as wide changes nothing: (int)(unsigned)x.
      if (operand->kind == ExprKind::kCast && IsInteger(expr->type) && IsInteger(operand->type) &&
          IsInteger(operand->operands[0]->type) &&
          ScalarBytes(operand->type) >= ScalarBytes(expr->type)) {
        const ExprPtr& inner = operand->operands[0];
        return inner->type == expr->type ? inner : Cast(expr->type, inner);
      }
      if (operand->kind == ExprKind::kInt && Fits(operand->int_value, expr->type) &&
          operand->type != Scalar::kU64) {
        return Int(operand->int_value, expr->type);
      }
      return expr;
    }
    case ExprKind::kSelect: {
      const ExprPtr& condition = expr->operands[0];
      if (condition->kind == ExprKind::kInt) {
        return expr->operands[condition->int_value != 0 ? 1 : 2];
      }
      return Equal(expr->operands[1], expr->operands[2]) ? expr->operands[1] : expr;
    }
    default:
      return expr;
  }
}

}  // namespace

ExprPtr Simplify(const ExprPtr& expr) {
  if (expr == nullptr || expr->operands.empty()) {
    return expr;
  }
  std::vector<ExprPtr> operands;
  bool changed = false;
  for (const ExprPtr& operand : expr->operands) {
    operands.push_back(Simplify(operand));
    changed |= operands.back() != operand;
  }
  ExprPtr rebuilt = expr;
  if (changed) {
    Expr copy = *expr;
    copy.operands = std::move(operands);
    rebuilt = std::make_shared<const Expr>(std::move(copy));
  }
  return SimplifyNode(rebuilt);
}

ExprPtr Negate(const ExprPtr& condition) {
  static constexpr std::array<std::array<std::string_view, 2>, 6> kOpposites = {
      {{"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}, {"==", "!="}, {"!=", "=="}}};
  if (condition->kind == ExprKind::kInt) {
    return Int(condition->int_value == 0 ? 1 : 0, Scalar::kBool);
  }
  if (condition->kind == ExprKind::kUnary && condition->op == "!" &&
      condition->operands[0]->type == Scalar::kBool) {
    return condition->operands[0];
  }
  if (condition->kind == ExprKind::kBinary) {
    if (condition->op == "&&" || condition->op == "||") {
      return Binary(condition->op == "&&" ? "||" : "&&", Negate(condition->operands[0]),
                    Negate(condition->operands[1]), Scalar::kBool);
    }
    for (const auto& [op, opposite] : kOpposites) {
      // !(a < b) is not a >= b for NaN; == and != are each other's negation for floats too.
      const bool is_float = IsFloatScalar(condition->operands[0]->type);
      if (condition->op == op && (!is_float || op == "==" || op == "!=")) {
        return Binary(std::string(opposite), condition->operands[0], condition->operands[1],
                      Scalar::kBool);
      }
    }
  }
  return Unary("!", condition);
}

ExprPtr Conjunction(const ExprPtr& a, const ExprPtr& b) {
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? b : a;
  }
  return Simplify(Binary("&&", a, b, Scalar::kBool));
}

}  // namespace optiml::rewrite
