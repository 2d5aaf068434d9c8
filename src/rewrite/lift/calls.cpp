// Calls: atomics and cache-hinted accesses, pure functions of CUDA, and functions of the file,
// which are executed in place.

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/lift/executor.h"
#include "rewrite/lift/intrinsics.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

std::string WithoutNamespace(const std::string& name) {
  if (name.starts_with("std::")) {
    return name.substr(5);
  }
  return name.starts_with("::") ? name.substr(2) : name;
}

}  // namespace

bool HasSideEffects(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::kAssign || expr.kind == ast::ExprKind::kIncrement ||
      (expr.kind == ast::ExprKind::kCall && AtomicOf(WithoutNamespace(expr.name)))) {
    return true;
  }
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [](const ast::ExprPtr& operand) { return HasSideEffects(*operand); });
}

void Executor::ExecuteEffect(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::kCall && ExecuteMemoryCall(expr)) {
    return;
  }
  if (expr.kind == ast::ExprKind::kCast && expr.type->kind == ast::TypeKind::kVoid) {
    ExecuteEffect(*expr.operands[0]);
    return;
  }
  if (expr.kind == ast::ExprKind::kBinary && expr.op == ",") {
    ExecuteEffect(*expr.operands[0]);
    ExecuteEffect(*expr.operands[1]);
    return;
  }
  if (expr.kind == ast::ExprKind::kAssign) {
    EvaluateAssignment(expr, true);
    return;
  }
  if (expr.kind == ast::ExprKind::kIncrement) {
    EvaluateIncrement(expr, true);
    return;
  }
  // A value that nobody uses is not computed, unless computing it does something.
  if (HasSideEffects(expr) || expr.kind == ast::ExprKind::kCall ||
      expr.kind == ast::ExprKind::kUnsupported || expr.kind == ast::ExprKind::kMethodCall) {
    Evaluate(expr);
  }
}

bool Executor::ExecuteMemoryCall(const ast::Expr& expr) {
  const std::string name = WithoutNamespace(expr.name);
  if (expr.function >= 0) {
    return false;
  }
  if (const std::optional<AtomicFunction> atomic = AtomicOf(name);
      atomic && expr.operands.size() == 2) {
    const Value pointer = Evaluate(*expr.operands[0]);
    ExprPtr value = EvaluateScalar(*expr.operands[1]);
    if (pointer.kind == Value::Kind::kPointer) {
      value = Convert(pointer.element, value);
      if (atomic->negate) {
        value = value->kind == ExprKind::kInt ? Simplify(Unary("-", value)) : Unary("-", value);
      }
    }
    AddStore(pointer, value, StoreKind::kAtomic, atomic->op, expr.line);
    return true;
  }
  if (IsHintedStore(name) && expr.operands.size() == 2) {
    const Value pointer = Evaluate(*expr.operands[0]);
    ExprPtr value = EvaluateScalar(*expr.operands[1]);
    if (pointer.kind == Value::Kind::kPointer) {
      value = Bind(pointer.buffer + "_value", Convert(pointer.element, value), expr.line);
    }
    AddStore(pointer, value, StoreKind::kAssign, FoldOp::kSum, expr.line);
    return true;
  }
  return false;
}

Value Executor::EvaluateCall(const ast::Expr& expr) {
  const std::string name = WithoutNamespace(expr.name);
  if (expr.function >= 0) {
    const ast::Function& function = unit_.functions[static_cast<size_t>(expr.function)];
    if (function.body == nullptr) {
      Stop(expr.line, fmt::format("function {} has no body in this file", function.name));
    }
    return InlineCall(expr, function);
  }
  if (IsHintedLoad(name) && expr.operands.size() == 1) {
    return LoadFrom(Evaluate(*expr.operands[0]), expr.line);
  }
  if (AtomicOf(name)) {
    Stop(expr.line, fmt::format("the result of {} is used, so its order matters", name));
  }
  const std::optional<Scalar> type = ScalarOf(expr.type);
  std::optional<std::string> pure = type ? PureFunction(name, *type) : std::nullopt;
  if (!pure) {
    Stop(expr.line, WhyNotLifted(name));
  }
  std::vector<ExprPtr> arguments;
  bool same_types = true;
  for (const ast::ExprPtr& operand : expr.operands) {
    arguments.push_back(EvaluateScalar(*operand));
    same_types &= arguments.back()->type == *type;
  }
  if (expr.name.starts_with("std::") && (name == "max" || name == "min") && arguments.size() == 2 &&
      same_types && IsFloatScalar(*type)) {
    // std::max is (a < b) ? b : a, which is not fmaxf for NaN.
    const ExprPtr& a = arguments[0];
    const ExprPtr& b = arguments[1];
    return Value::Of(name == "max" ? Select(Binary("<", a, b, Scalar::kBool), b, a)
                                   : Select(Binary("<", b, a, Scalar::kBool), b, a));
  }
  if (!same_types && *pure != name) {
    pure = name;  // an overload of mixed types, pow(float, int): its name is all that is known
  }
  return Value::Of(Call(*pure, std::move(arguments), *type));
}

Value Executor::InlineCall(const ast::Expr& expr, const ast::Function& function) {
  constexpr size_t kMaxDepth = 12;
  if (frames_.size() > kMaxDepth) {
    Stop(expr.line, fmt::format("function {} is nested too deeply", function.name));
  }
  for (const Frame& frame : frames_) {
    if (frame.function == &function) {
      Stop(expr.line, fmt::format("function {} is recursive", function.name));
    }
  }
  if (!function.method_of.empty() || function.parameters.size() != expr.operands.size()) {
    Stop(expr.line, fmt::format("call of {}, a method or of variable arguments", function.name));
  }
  bool has_references = false;
  std::vector<std::pair<int, Value>> bound;
  std::vector<std::pair<int, int>> references;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const int id = function.parameters[i];
    const ast::Variable& parameter = unit_.variables[static_cast<size_t>(id)];
    if (parameter.type->is_reference && !parameter.type->is_const) {
      if (expr.operands[i]->kind != ast::ExprKind::kVariable) {
        Stop(expr.line, fmt::format("{} takes a reference to memory", function.name));
      }
      references.emplace_back(id, Resolve(expr.operands[i]->variable));
      has_references = true;
    } else {
      bound.emplace_back(id, Evaluate(*expr.operands[i]));
    }
  }
  if (has_references && lazy_depth_ > 0) {
    Stop(expr.line, fmt::format("{} may change a variable, and may not be called", function.name));
  }
  for (const auto& [id, target] : references) {
    aliases_[id] = target;
  }
  for (auto& [id, value] : bound) {
    aliases_.erase(id);
    if (value.kind == Value::Kind::kUnset) {
      Stop(expr.line, fmt::format("{} gets a value that was never set", function.name));
    }
    AssignVariable(id, value, expr.line);
  }
  const size_t path_size = path_.size();
  const size_t event_begin = events_.size();
  frames_.push_back({&function, path_size, loop_depth_, {}});
  Execute(*function.body);
  const std::vector<Exit> returns = std::move(frames_.back().returns);
  frames_.pop_back();
  path_.resize(path_size);
  const bool is_void =
      function.return_type == nullptr || function.return_type->kind == ast::TypeKind::kVoid;
  for (size_t i = event_begin; i < events_.size() && !is_void; ++i) {
    if (events_[i].kind == Event::Kind::kStore) {
      Stop(events_[i].line, fmt::format("{} stores and returns a value", function.name));
    }
  }
  for (const Exit& exit : returns) {
    if (has_references && exit.path.size() > path_size) {
      Stop(expr.line, fmt::format("{} returns early and writes through references", function.name));
    }
  }
  if (is_void || returns.empty()) {
    return {};
  }
  // The first return whose own conditions hold, in order; the last one needs none.
  Value result = returns.back().value;
  if (result.kind == Value::Kind::kUnset) {
    return {};
  }
  for (size_t i = returns.size() - 1; i > 0; --i) {
    const Exit& exit = returns[i - 1];
    ExprPtr taken;
    for (size_t k = path_size; k < exit.path.size(); ++k) {
      if (!exit.path[k].is_kill) {
        taken = Conjunction(taken, exit.path[k].expr);
      }
    }
    if (taken == nullptr || exit.value.kind != Value::Kind::kScalar ||
        result.kind != Value::Kind::kScalar) {
      Stop(expr.line, fmt::format("the returns of {} are not understood", function.name));
    }
    result.expr = Simplify(Select(taken, exit.value.expr, result.expr));
  }
  if (result.kind == Value::Kind::kScalar || result.kind == Value::Kind::kPointer) {
    result.expr = InlineConditionalLets(result.expr, event_begin);
    if (returns.size() > 1 && result.kind == Value::Kind::kScalar) {
      result.expr = Bind(function.name, result.expr, expr.line);
    }
  }
  return result;
}

}  // namespace optiml::rewrite::lifting
