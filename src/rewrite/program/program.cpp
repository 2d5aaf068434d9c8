#include "rewrite/program/program.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "base/check.h"

namespace optiml::rewrite {

namespace {

ExprPtr Make(Expr expr) {
  return std::make_shared<const Expr>(std::move(expr));
}

int64_t IntegerLimit(Scalar type, bool lowest) {
  switch (type) {
    case Scalar::kI8:
      return lowest ? INT8_MIN : INT8_MAX;
    case Scalar::kI16:
      return lowest ? INT16_MIN : INT16_MAX;
    case Scalar::kI32:
      return lowest ? INT32_MIN : INT32_MAX;
    case Scalar::kI64:
      return lowest ? INT64_MIN : INT64_MAX;
    case Scalar::kU8:
      return lowest ? 0 : UINT8_MAX;
    case Scalar::kU16:
      return lowest ? 0 : UINT16_MAX;
    case Scalar::kU32:
      return lowest ? 0 : UINT32_MAX;
    case Scalar::kU64:
      return lowest ? 0 : -1;  // all bits set; printed as unsigned
    default:
      return lowest ? 0 : 1;
  }
}

}  // namespace

const char* ScalarCudaName(Scalar scalar) {
  switch (scalar) {
    case Scalar::kBool:
      return "bool";
    case Scalar::kI8:
      return "signed char";
    case Scalar::kU8:
      return "unsigned char";
    case Scalar::kI16:
      return "short";
    case Scalar::kU16:
      return "unsigned short";
    case Scalar::kI32:
      return "int";
    case Scalar::kU32:
      return "unsigned int";
    case Scalar::kI64:
      return "long long";
    case Scalar::kU64:
      return "unsigned long long";
    case Scalar::kF16:
      return "__half";
    case Scalar::kBf16:
      return "__nv_bfloat16";
    case Scalar::kF32:
      return "float";
    case Scalar::kF64:
      return "double";
  }
  return "";
}

int ScalarBytes(Scalar scalar) {
  switch (scalar) {
    case Scalar::kBool:
    case Scalar::kI8:
    case Scalar::kU8:
      return 1;
    case Scalar::kI16:
    case Scalar::kU16:
    case Scalar::kF16:
    case Scalar::kBf16:
      return 2;
    case Scalar::kI32:
    case Scalar::kU32:
    case Scalar::kF32:
      return 4;
    case Scalar::kI64:
    case Scalar::kU64:
    case Scalar::kF64:
      return 8;
  }
  return 0;
}

bool IsFloatScalar(Scalar scalar) {
  return scalar == Scalar::kF16 || scalar == Scalar::kBf16 || scalar == Scalar::kF32 ||
         scalar == Scalar::kF64;
}

ExprPtr Int(int64_t value, Scalar type) {
  Expr expr;
  expr.kind = ExprKind::kInt;
  expr.type = type;
  expr.int_value = value;
  return Make(std::move(expr));
}

ExprPtr Symbol(std::string name, Scalar type) {
  Expr expr;
  expr.kind = ExprKind::kSymbol;
  expr.type = type;
  expr.name = std::move(name);
  return Make(std::move(expr));
}

ExprPtr Load(std::string buffer, ExprPtr index, Scalar type) {
  Expr expr;
  expr.kind = ExprKind::kLoad;
  expr.type = type;
  expr.name = std::move(buffer);
  expr.operands = {std::move(index)};
  return Make(std::move(expr));
}

ExprPtr Unary(std::string op, ExprPtr operand) {
  Expr expr;
  expr.kind = ExprKind::kUnary;
  expr.type = op == "!" ? Scalar::kBool : operand->type;
  expr.op = std::move(op);
  expr.operands = {std::move(operand)};
  return Make(std::move(expr));
}

ExprPtr Binary(std::string op, ExprPtr left, ExprPtr right, Scalar type) {
  Expr expr;
  expr.kind = ExprKind::kBinary;
  expr.type = type;
  expr.op = std::move(op);
  expr.operands = {std::move(left), std::move(right)};
  return Make(std::move(expr));
}

ExprPtr Select(ExprPtr condition, ExprPtr then_value, ExprPtr else_value) {
  Expr expr;
  expr.kind = ExprKind::kSelect;
  expr.type = then_value->type;
  expr.operands = {std::move(condition), std::move(then_value), std::move(else_value)};
  return Make(std::move(expr));
}

ExprPtr Cast(Scalar type, ExprPtr operand) {
  Expr expr;
  expr.kind = ExprKind::kCast;
  expr.type = type;
  expr.operands = {std::move(operand)};
  return Make(std::move(expr));
}

ExprPtr Call(std::string name, std::vector<ExprPtr> arguments, Scalar type) {
  Expr expr;
  expr.kind = ExprKind::kCall;
  expr.type = type;
  expr.name = std::move(name);
  expr.operands = std::move(arguments);
  return Make(std::move(expr));
}

bool Equal(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) {
    return true;
  }
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->type != b->type || a->op != b->op ||
      a->name != b->name || a->int_value != b->int_value ||
      a->operands.size() != b->operands.size()) {
    return false;
  }
  // The spelling decides when both have one: "INFINITY" and "1.0f / 0" must not be compared as
  // numbers, and NaN equals itself here.
  if (a->kind == ExprKind::kFloat &&
      (a->text != b->text || (a->text.empty() && a->float_value != b->float_value))) {
    return false;
  }
  for (size_t i = 0; i < a->operands.size(); ++i) {
    if (!Equal(a->operands[i], b->operands[i])) {
      return false;
    }
  }
  return true;
}

ExprPtr Substitute(const ExprPtr& expr, const std::map<std::string, ExprPtr>& replacements) {
  if (expr == nullptr) {
    return expr;
  }
  if (expr->kind == ExprKind::kSymbol) {
    const auto found = replacements.find(expr->name);
    return found == replacements.end() ? expr : found->second;
  }
  std::vector<ExprPtr> operands;
  operands.reserve(expr->operands.size());
  bool changed = false;
  for (const ExprPtr& operand : expr->operands) {
    operands.push_back(Substitute(operand, replacements));
    changed |= operands.back() != operand;
  }
  if (!changed) {
    return expr;
  }
  Expr copy = *expr;
  copy.operands = std::move(operands);
  return Make(std::move(copy));
}

void Visit(const ExprPtr& expr, const std::function<void(const Expr&)>& visit) {
  if (expr == nullptr) {
    return;
  }
  visit(*expr);
  for (const ExprPtr& operand : expr->operands) {
    Visit(operand, visit);
  }
}

bool Mentions(const ExprPtr& expr, const std::string& symbol) {
  if (expr == nullptr) {
    return false;
  }
  if (expr->kind == ExprKind::kSymbol && expr->name == symbol) {
    return true;
  }
  for (const ExprPtr& operand : expr->operands) {
    if (Mentions(operand, symbol)) {
      return true;
    }
  }
  return false;
}

namespace {

void CollectLoads(const ExprPtr& expr, std::vector<ExprPtr>* loads) {
  if (expr == nullptr) {
    return;
  }
  if (expr->kind == ExprKind::kLoad) {
    loads->push_back(expr);
  }
  for (const ExprPtr& operand : expr->operands) {
    CollectLoads(operand, loads);
  }
}

}  // namespace

std::vector<ExprPtr> Loads(const ExprPtr& expr) {
  std::vector<ExprPtr> loads;
  CollectLoads(expr, &loads);
  return loads;
}

const char* FoldOpName(FoldOp op) {
  switch (op) {
    case FoldOp::kSum:
      return "sum";
    case FoldOp::kProduct:
      return "product";
    case FoldOp::kMax:
      return "max";
    case FoldOp::kMin:
      return "min";
    case FoldOp::kAnd:
      return "and";
    case FoldOp::kOr:
      return "or";
    case FoldOp::kXor:
      return "xor";
  }
  return "";
}

ExprPtr Combine(const Accumulator& accumulator, const ExprPtr& current, const ExprPtr& update) {
  const std::string& spelling = accumulator.spelling;
  const Scalar type = accumulator.type;
  const size_t question = spelling.find(" ? ");
  if (question != std::string::npos) {
    const auto value = [&](char letter) { return letter == 'a' ? current : update; };
    OPTIML_CHECK(spelling.size() >= question + 8, "comparing form of a fold");
    const std::string op = spelling.substr(2, question - 4);
    return Select(Binary(op, value(spelling.front()), value(spelling[question - 1]), Scalar::kBool),
                  value(spelling[question + 3]), value(spelling.back()));
  }
  if (spelling == "fmaf" || spelling == "fma" || spelling.starts_with("__fma")) {
    if (update->kind == ExprKind::kBinary && update->op == "*") {
      return Call(spelling, {update->operands[0], update->operands[1], current}, type);
    }
    return Binary("+", current, update, type);  // a partial result: plain addition joins it
  }
  if (!spelling.empty() &&
      (isalpha(static_cast<unsigned char>(spelling.front())) != 0 || spelling.front() == '_')) {
    return Call(spelling, {current, update}, type);
  }
  switch (accumulator.op) {
    case FoldOp::kSum:
      return Binary("+", current, update, type);
    case FoldOp::kProduct:
      return Binary("*", current, update, type);
    case FoldOp::kAnd:
      return Binary(spelling == "&&" ? "&&" : "&", current, update, type);
    case FoldOp::kOr:
      return Binary(spelling == "||" ? "||" : "|", current, update, type);
    case FoldOp::kXor:
      return Binary("^", current, update, type);
    case FoldOp::kMax:
    case FoldOp::kMin:
      break;
  }
  const bool is_max = accumulator.op == FoldOp::kMax;
  if (type == Scalar::kF32) {
    return Call(is_max ? "fmaxf" : "fminf", {current, update}, type);
  }
  if (type == Scalar::kF64) {
    return Call(is_max ? "fmax" : "fmin", {current, update}, type);
  }
  return Call(is_max ? "max" : "min", {current, update}, type);
}

ExprPtr Identity(FoldOp op, Scalar type) {
  const auto number = [&](double value, const char* f32, const char* f64) {
    Expr expr;
    expr.kind = ExprKind::kFloat;
    expr.type = type == Scalar::kF64 ? Scalar::kF64 : Scalar::kF32;
    expr.float_value = value;
    expr.text = type == Scalar::kF64 ? f64 : f32;
    ExprPtr made = Make(std::move(expr));
    return type == Scalar::kF16 || type == Scalar::kBf16 ? Cast(type, made) : made;
  };
  const bool is_float = IsFloatScalar(type);
  switch (op) {
    case FoldOp::kSum:
      return is_float ? number(0, "0.0f", "0.0") : Int(0, type);
    case FoldOp::kProduct:
      return is_float ? number(1, "1.0f", "1.0") : Int(1, type);
    case FoldOp::kMax:
      return is_float ? number(-std::numeric_limits<double>::infinity(), "-INFINITY", "-INFINITY")
                      : Int(IntegerLimit(type, true), type);
    case FoldOp::kMin:
      return is_float ? number(std::numeric_limits<double>::infinity(), "INFINITY", "INFINITY")
                      : Int(IntegerLimit(type, false), type);
    case FoldOp::kAnd:
      return Int(type == Scalar::kBool ? 1 : -1, type);
    case FoldOp::kOr:
    case FoldOp::kXor:
      return Int(0, type);
  }
  return Int(0, type);
}

const Parameter* Program::FindParameter(const std::string& parameter_name) const {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == parameter_name) {
      return &parameter;
    }
  }
  return nullptr;
}

}  // namespace optiml::rewrite
