#include "rewrite/lift/fold_match.h"

#include <fmt/format.h>

#include "rewrite/lift/events.h"
#include "rewrite/lift/intrinsics.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

bool Is(const ExprPtr& expr, const std::string& in) {
  return expr->kind == ExprKind::kSymbol && expr->name == in;
}

std::optional<FoldStep> MatchBinary(const Expr& end, const std::string& in) {
  const ExprPtr& a = end.operands[0];
  const ExprPtr& b = end.operands[1];
  const bool left = Is(a, in);
  const bool right = Is(b, in);
  const bool is_integer = !IsFloatScalar(end.type);
  if (left == right) {
    // Integers may be regrouped: (in + a) + b is in + (a + b), also when they wrap.
    if (is_integer && (end.op == "+" || end.op == "-") && !Mentions(b, in)) {
      std::optional<FoldStep> inner = MatchFold(a, in);
      if (inner && inner->op == FoldOp::kSum && inner->guard == nullptr) {
        inner->update = Simplify(Binary(end.op, inner->update, b, end.type));
        return inner;
      }
    }
    return std::nullopt;
  }
  const ExprPtr& update = left ? b : a;
  if (Mentions(update, in)) {
    return std::nullopt;
  }
  FoldStep step;
  step.update = update;
  step.spelling = end.op;
  if (end.op == "+") {
    step.op = FoldOp::kSum;
  } else if (end.op == "-" && left) {
    step.op = FoldOp::kSum;
    step.update = Simplify(Unary("-", update));
    step.spelling = "+";
  } else if (end.op == "*") {
    step.op = FoldOp::kProduct;
  } else if (end.op == "&" || end.op == "&&") {
    step.op = FoldOp::kAnd;
  } else if (end.op == "|" || end.op == "||") {
    step.op = FoldOp::kOr;
  } else if (end.op == "^") {
    step.op = FoldOp::kXor;
  } else {
    return std::nullopt;
  }
  return step;
}

std::optional<FoldStep> MatchCall(const Expr& end, const std::string& in) {
  FoldStep step;
  step.spelling = end.name;
  const bool is_fma = end.name == "fmaf" || end.name == "fma" || end.name == "__fmaf_rn" ||
                      end.name == "__fma_rn" || end.name == "__hfma";
  if (is_fma && end.operands.size() == 3 && Is(end.operands[2], in) &&
      !Mentions(end.operands[0], in) && !Mentions(end.operands[1], in)) {
    step.op = FoldOp::kSum;
    step.update = Binary("*", end.operands[0], end.operands[1], end.type);
    return step;
  }
  const std::optional<FoldOp> op = FoldOfFunction(end.name);
  if (!op || end.operands.size() != 2) {
    return std::nullopt;
  }
  if (end.name == "__hadd" && !IsFloatScalar(end.type)) {
    return std::nullopt;  // of integers it is the average
  }
  const bool left = Is(end.operands[0], in);
  const bool right = Is(end.operands[1], in);
  const ExprPtr& update = end.operands[left ? 1 : 0];
  if (left == right || Mentions(update, in)) {
    return std::nullopt;
  }
  step.op = *op;
  step.update = update;
  return step;
}

// u > in ? u : in and the like: a maximum or minimum, spelled as Accumulator::spelling says.
std::optional<FoldStep> MatchComparison(const ExprPtr& condition, const ExprPtr& then_value,
                                        const ExprPtr& else_value, const std::string& in) {
  if (condition->kind != ExprKind::kBinary || condition->op.empty() ||
      (condition->op[0] != '<' && condition->op[0] != '>') || condition->op.size() > 2 ||
      condition->op == "<<" || condition->op == ">>") {
    return std::nullopt;
  }
  ExprPtr left = condition->operands[0];
  ExprPtr right = condition->operands[1];
  const bool in_left = Is(left, in);
  if (in_left == Is(right, in)) {
    return std::nullopt;
  }
  const ExprPtr& update = in_left ? right : left;
  const bool then_is_in = Is(then_value, in);
  if (Mentions(update, in) || then_is_in == Is(else_value, in) ||
      !Equal(then_is_in ? else_value : then_value, update)) {
    return std::nullopt;
  }
  // The winner of the comparison is on its left for ">" and on its right for "<".
  const bool then_is_left = then_is_in == in_left;
  const bool greater = condition->op[0] == '>';
  const bool is_max = greater == then_is_left;
  const bool or_equal = condition->op.size() == 2;
  FoldStep step;
  step.op = is_max ? FoldOp::kMax : FoldOp::kMin;
  step.update = update;
  if (!IsFloatScalar(update->type)) {
    step.spelling = is_max ? "max" : "min";
    return step;
  }
  // Rewritten so that the value kept when the comparison holds comes first.
  const std::string op = std::string(is_max ? ">" : "<") + (or_equal ? "=" : "");
  const char winner = then_is_in ? 'a' : 'u';
  const char other = then_is_in ? 'u' : 'a';
  step.spelling = fmt::format("{} {} {} ? {} : {}", winner, op, other, winner, other);
  return step;
}

bool SameForAllThreads(const ExprPtr& expr) {
  bool same = true;
  Visit(expr, [&](const Expr& node) {
    same &= node.kind != ExprKind::kLoad && node.kind != ExprKind::kCall;
    same &= node.kind != ExprKind::kSymbol || node.name.find_first_of("#@.") == std::string::npos;
  });
  return same;
}

}  // namespace

std::optional<FoldStep> MatchFold(const ExprPtr& end, const std::string& in) {
  switch (end->kind) {
    case ExprKind::kBinary:
      return MatchBinary(*end, in);
    case ExprKind::kCall:
      return MatchCall(*end, in);
    case ExprKind::kSelect: {
      const ExprPtr& condition = end->operands[0];
      const ExprPtr& then_value = end->operands[1];
      const ExprPtr& else_value = end->operands[2];
      if (auto step = MatchComparison(condition, then_value, else_value, in)) {
        return step;
      }
      if (Mentions(condition, in)) {
        return std::nullopt;
      }
      const bool then_is_in = Is(then_value, in);
      if (!then_is_in && !Is(else_value, in)) {
        return std::nullopt;
      }
      std::optional<FoldStep> step = MatchFold(then_is_in ? else_value : then_value, in);
      if (step) {
        step->guard = Conjunction(then_is_in ? Negate(condition) : condition, step->guard);
      }
      return step;
    }
    default:
      return std::nullopt;
  }
}

bool IsMultipleOf(const ExprPtr& expr, const std::string& name) {
  if (expr->kind == ExprKind::kSymbol) {
    return expr->name == name;
  }
  if (!IsFloatScalar(expr->type)) {
    return false;
  }
  if (expr->kind == ExprKind::kUnary) {
    return expr->op == "-" && IsMultipleOf(expr->operands[0], name);
  }
  if (expr->kind != ExprKind::kBinary || (expr->op != "*" && expr->op != "/")) {
    return false;
  }
  const ExprPtr& left = expr->operands[0];
  const ExprPtr& right = expr->operands[1];
  return (IsMultipleOf(left, name) && SameForAllThreads(right)) ||
         (expr->op == "*" && IsMultipleOf(right, name) && SameForAllThreads(left));
}

}  // namespace optiml::rewrite::lifting
