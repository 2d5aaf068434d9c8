// Expressions of the kernel -> expressions of the IR.

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/lift/executor.h"
#include "rewrite/program/affine.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

// The addends of a sum of integers, seen through sums of the same type.
void SplitSum(const ExprPtr& expr, std::vector<ExprPtr>* addends) {
  if (expr->kind == ExprKind::kBinary && expr->op == "+") {
    SplitSum(expr->operands[0], addends);
    SplitSum(expr->operands[1], addends);
  } else if (expr->kind == ExprKind::kCast && expr->operands[0]->kind == ExprKind::kBinary &&
             expr->operands[0]->op == "+" && !IsFloatScalar(expr->operands[0]->type) &&
             ScalarBytes(expr->operands[0]->type) >= 4) {
    std::vector<ExprPtr> inner;
    SplitSum(expr->operands[0], &inner);
    for (const ExprPtr& addend : inner) {
      addends->push_back(Convert(expr->type, addend));
    }
  } else {
    addends->push_back(expr);
  }
}

}  // namespace

int Executor::Resolve(int variable) const {
  auto found = aliases_.find(variable);
  while (found != aliases_.end()) {
    variable = found->second;
    found = aliases_.find(variable);
  }
  return variable;
}

// blockIdx.a * blockDim.a + threadIdx.a within a sum becomes "@a".
ExprPtr Executor::JoinThreadIndex(const ExprPtr& sum) {
  for (const char axis : {'x', 'y', 'z'}) {
    const std::string thread = fmt::format("threadIdx.{}", axis);
    const std::string block = fmt::format("blockIdx.{}", axis);
    if (!Mentions(sum, thread) || !Mentions(sum, block)) {
      continue;
    }
    std::vector<ExprPtr> addends;
    SplitSum(sum, &addends);
    const Polynomial wanted_thread = Polynomial::Of(thread);
    const Polynomial wanted_block =
        Polynomial::Of(block) * Polynomial::Of(fmt::format("blockDim.{}", axis));
    std::optional<size_t> thread_at;
    std::optional<size_t> block_at;
    std::optional<int64_t> constant_width;
    for (size_t i = 0; i < addends.size(); ++i) {
      const std::optional<Polynomial> polynomial = ToPolynomial(addends[i]);
      if (!polynomial) {
        continue;
      }
      if (*polynomial == wanted_thread) {
        thread_at = i;
      } else if (*polynomial == wanted_block) {
        block_at = i;
      } else if (const auto width = polynomial->DividedBy(Polynomial::Of(block));
                 width && width->Constant() && *width->Constant() > 1) {
        block_at = i;
        constant_width = width->Constant();
      }
    }
    if (!thread_at || !block_at) {
      continue;
    }
    if (constant_width) {
      const ExprPtr assumption =
          Binary("==", Symbol(fmt::format("blockDim.{}", axis), Scalar::kU32),
                 Int(*constant_width, Scalar::kU32), Scalar::kBool);
      assumptions_.push_back(assumption);
    }
    // Threads are counted from 0 and dims are int wherever the source's sizes are.
    ExprPtr joined = Convert(sum->type, Symbol(fmt::format("@{}", axis), Scalar::kI32));
    for (size_t i = 0; i < addends.size(); ++i) {
      if (i != *thread_at && i != *block_at) {
        joined = Arithmetic("+", addends[i], joined);
      }
    }
    return JoinThreadIndex(Convert(sum->type, joined));
  }
  return sum;
}

ExprPtr Executor::EvaluateScalar(const ast::Expr& expr) {
  const Value value = Evaluate(expr);
  switch (value.kind) {
    case Value::Kind::kScalar:
      if (value.assumption != nullptr) {
        assumptions_.push_back(value.assumption);
      }
      return value.expr;
    case Value::Kind::kPointer:
      Stop(expr.line, fmt::format("the address of {} is used as a value", value.buffer));
    case Value::Kind::kUnset:
      Stop(expr.line, expr.kind == ast::ExprKind::kVariable
                          ? fmt::format("{} is used before it is set", expr.name)
                          : "a value that was never set is used");
    case Value::Kind::kUnknown:
      Stop(expr.line, fmt::format("{} is used", value.why));
  }
  return nullptr;
}

ExprPtr Executor::EvaluateCondition(const ast::Expr& expr) {
  return Convert(Scalar::kBool, EvaluateScalar(expr));
}

// An operand that C++ evaluates only when `condition` holds: lets made within are inlined.
ExprPtr Executor::EvaluateLazily(const ast::Expr& expr, const ExprPtr& condition) {
  const size_t path_size = path_.size();
  const size_t event_begin = events_.size();
  PushConditions(condition);
  ++lazy_depth_;
  const ExprPtr value = EvaluateScalar(expr);
  --lazy_depth_;
  path_.resize(path_size);
  return InlineConditionalLets(value, event_begin);
}

Value Executor::Evaluate(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::kIntLiteral:
    case ast::ExprKind::kBoolLiteral: {
      const std::optional<Scalar> type = ScalarOf(expr.type);
      if (!type) {
        Stop(expr.line, fmt::format("a literal of type {}", expr.type->text));
      }
      return Value::Of(Int(expr.int_value, *type));
    }
    case ast::ExprKind::kFloatLiteral: {
      const std::optional<Scalar> type = ScalarOf(expr.type);
      if (type != Scalar::kF32 && type != Scalar::kF64) {
        Stop(expr.line, fmt::format("a literal of type {}", expr.type->text));
      }
      return Value::Of(FloatLiteral(expr.float_value, expr.text, *type));
    }
    case ast::ExprKind::kVariable:
      return EvaluateVariable(expr);
    case ast::ExprKind::kBuiltin:
      if (expr.name == "warpSize") {
        return Value::Of(Int(32));
      }
      return Value::Of(Symbol(expr.name, Scalar::kU32));
    case ast::ExprKind::kSubscript:
    case ast::ExprKind::kDereference:
      return LoadFrom(AddressOf(expr), expr.line);
    case ast::ExprKind::kAddressOf:
      return AddressOf(*expr.operands[0]);
    case ast::ExprKind::kUnary: {
      const ExprPtr operand = EvaluateScalar(*expr.operands[0]);
      if (expr.op == "+") {
        return Value::Of(operand);
      }
      if (expr.op == "!") {
        return Value::Of(Negate(Convert(Scalar::kBool, operand)));
      }
      if (expr.op == "-" && operand->kind == ExprKind::kFloat) {
        return Value::Of(FloatLiteral(
            -operand->float_value,
            operand->text.empty() || operand->text.front() == '-' ? "" : "-" + operand->text,
            operand->type));
      }
      return Value::Of(Simplify(Unary(expr.op, operand)));
    }
    case ast::ExprKind::kBinary:
      return EvaluateBinary(expr);
    case ast::ExprKind::kAssign:
      return EvaluateAssignment(expr, false);
    case ast::ExprKind::kIncrement:
      return EvaluateIncrement(expr, false);
    case ast::ExprKind::kConditional:
      return EvaluateConditional(expr);
    case ast::ExprKind::kCast:
      return EvaluateCast(expr);
    case ast::ExprKind::kCall:
      return EvaluateCall(expr);
    case ast::ExprKind::kConstruct:
      if (expr.operands.size() == 1 && ScalarOf(expr.type) && expr.function < 0) {
        return Value::Of(Convert(*ScalarOf(expr.type), EvaluateScalar(*expr.operands[0])));
      }
      Stop(expr.line, fmt::format("construction of {}", expr.type->text));
    case ast::ExprKind::kInitList:
      if (expr.operands.empty() && ScalarOf(expr.type)) {
        return Value::Of(Identity(FoldOp::kSum, *ScalarOf(expr.type)));
      }
      Stop(expr.line, "an initialiser list");
    case ast::ExprKind::kMember:
      Stop(expr.line, fmt::format("member {} of a struct or vector", expr.name));
    case ast::ExprKind::kMethodCall:
      Stop(expr.line, fmt::format("call of method {}", expr.name));
    case ast::ExprKind::kNull:
      Stop(expr.line, "a null pointer");
    case ast::ExprKind::kStringLiteral:
      Stop(expr.line, "a string");
    case ast::ExprKind::kFunction:
      Stop(expr.line, fmt::format("the address of function {}", expr.name));
    case ast::ExprKind::kLaunch:
      Stop(expr.line, "a kernel launched from the device");
    case ast::ExprKind::kLambda:
      Stop(expr.line, "a lambda");
    case ast::ExprKind::kUnsupported:
      Stop(expr.line, fmt::format("{} is not lifted", expr.name));
  }
  return {};
}

Value Executor::EvaluateVariable(const ast::Expr& expr) {
  const int id = Resolve(expr.variable);
  const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
  const auto found = environment_.find(id);
  if (found != environment_.end()) {
    return found->second;
  }
  const std::optional<Scalar> type = ScalarOf(variable.type);
  if (variable.constant && type) {
    return Value::Of(Int(*variable.constant, *type));
  }
  if (variable.is_constexpr && variable.init != nullptr && type) {
    return Value::Of(Convert(*type, EvaluateScalar(*variable.init)));
  }
  switch (variable.storage) {
    case ast::Storage::kShared:
    case ast::Storage::kExternShared:
      Stop(expr.line, fmt::format("{} is in shared memory", expr.name));
    case ast::Storage::kConstant:
      Stop(expr.line, fmt::format("{} is in constant memory, which is not lifted", expr.name));
    case ast::Storage::kDeviceGlobal:
      Stop(expr.line, fmt::format("{} is a device variable, which is not lifted", expr.name));
    default:
      Stop(expr.line, fmt::format("{} has no known value", expr.name));
  }
}

Value Executor::EvaluateBinary(const ast::Expr& expr) {
  const std::string& op = expr.op;
  if (op == ",") {
    ExecuteEffect(*expr.operands[0]);
    return Evaluate(*expr.operands[1]);
  }
  if (op == "&&" || op == "||") {
    if (HasSideEffects(*expr.operands[1])) {
      Stop(expr.line, fmt::format("an assignment on the right of {}", op));
    }
    const ExprPtr left = EvaluateCondition(*expr.operands[0]);
    const ExprPtr taken = op == "&&" ? left : Negate(left);
    const ExprPtr right = Convert(Scalar::kBool, EvaluateLazily(*expr.operands[1], taken));
    return Value::Of(Simplify(Binary(op, left, right, Scalar::kBool)));
  }
  const Value left = Evaluate(*expr.operands[0]);
  const Value right = Evaluate(*expr.operands[1]);
  if (left.kind == Value::Kind::kPointer || right.kind == Value::Kind::kPointer) {
    return EvaluatePointerBinary(expr, left, right);
  }
  for (size_t i = 0; i < 2; ++i) {
    const Value& value = i == 0 ? left : right;
    const ast::Expr& operand = *expr.operands[i];
    if (value.kind == Value::Kind::kUnset) {
      Stop(operand.line, fmt::format("{} is used before it is set", operand.name));
    }
    if (value.kind == Value::Kind::kUnknown) {
      Stop(operand.line, fmt::format("{} is used", value.why));
    }
    if (value.assumption != nullptr) {
      assumptions_.push_back(value.assumption);
    }
  }
  const std::optional<Scalar> type = ScalarOf(expr.type);
  if (!type) {
    Stop(expr.line, fmt::format("arithmetic of type {}", expr.type->text));
  }
  ExprPtr result = Simplify(Binary(op, left.expr, right.expr, *type));
  if (op == "+" && !IsFloatScalar(*type)) {
    result = JoinThreadIndex(result);
  }
  return Value::Of(result);
}

Value Executor::EvaluatePointerBinary(const ast::Expr& expr, const Value& left,
                                      const Value& right) {
  const auto require_scalar = [&](const Value& value) {
    if (value.kind != Value::Kind::kScalar) {
      Stop(expr.line, "arithmetic on a pointer that is not known");
    }
  };
  if (left.kind == Value::Kind::kPointer && right.kind == Value::Kind::kPointer) {
    if (left.buffer != right.buffer || left.element != right.element) {
      Stop(expr.line, "two pointers to different buffers are compared or subtracted");
    }
    const ExprPtr a = Convert(Scalar::kI64, left.expr);
    const ExprPtr b = Convert(Scalar::kI64, right.expr);
    const Scalar type = expr.op == "-" ? Scalar::kI64 : Scalar::kBool;
    return Value::Of(Simplify(Binary(expr.op, a, b, type)));
  }
  Value pointer = left.kind == Value::Kind::kPointer ? left : right;
  const Value& offset = left.kind == Value::Kind::kPointer ? right : left;
  require_scalar(offset);
  if (offset.assumption != nullptr) {
    assumptions_.push_back(offset.assumption);
  }
  if (expr.op == "+") {
    pointer.expr = JoinThreadIndex(Arithmetic("+", pointer.expr, offset.expr));
  } else if (expr.op == "-" && left.kind == Value::Kind::kPointer) {
    pointer.expr = Arithmetic("-", pointer.expr, offset.expr);
  } else {
    Stop(expr.line, fmt::format("operator {} on a pointer", expr.op));
  }
  return pointer;
}

Value Executor::EvaluateConditional(const ast::Expr& expr) {
  if (HasSideEffects(*expr.operands[1]) || HasSideEffects(*expr.operands[2])) {
    Stop(expr.line, "an assignment within ?:");
  }
  const ExprPtr condition = EvaluateCondition(*expr.operands[0]);
  if (condition->kind == ExprKind::kInt) {
    return Evaluate(*expr.operands[condition->int_value != 0 ? 1 : 2]);
  }
  if (expr.type->kind == ast::TypeKind::kPointer) {
    const Value a = Evaluate(*expr.operands[1]);
    const Value b = Evaluate(*expr.operands[2]);
    if (a.kind != Value::Kind::kPointer || b.kind != Value::Kind::kPointer ||
        a.buffer != b.buffer) {
      Stop(expr.line, "?: chooses between pointers to different buffers");
    }
    Value chosen = a;
    if (b.assumption != nullptr) {
      assumptions_.push_back(b.assumption);
    }
    const Scalar type = ArithmeticType(a.expr->type, b.expr->type);
    chosen.expr = Simplify(Select(condition, Convert(type, a.expr), Convert(type, b.expr)));
    return chosen;
  }
  const std::optional<Scalar> type = ScalarOf(expr.type);
  if (!type) {
    Stop(expr.line, fmt::format("?: of type {}", expr.type->text));
  }
  const ExprPtr then_value = Convert(*type, EvaluateLazily(*expr.operands[1], condition));
  const ExprPtr else_value = Convert(*type, EvaluateLazily(*expr.operands[2], Negate(condition)));
  return Value::Of(Simplify(Select(condition, then_value, else_value)));
}

Value Executor::EvaluateCast(const ast::Expr& expr) {
  const Value value = Evaluate(*expr.operands[0]);
  if (value.kind == Value::Kind::kPointer) {
    const std::optional<Scalar> element =
        expr.type->kind == ast::TypeKind::kPointer ? ScalarOf(expr.type->element) : std::nullopt;
    if (expr.type->kind == ast::TypeKind::kBool) {
      Stop(expr.line, fmt::format("{} is compared with null", value.buffer));
    }
    if (!element || *element != value.element) {
      Stop(expr.line, fmt::format("{}, a pointer to {}, is used as {}", value.buffer,
                                  ScalarCudaName(value.element), expr.type->text));
    }
    return value;
  }
  if (value.kind != Value::Kind::kScalar) {
    return value;
  }
  const std::optional<Scalar> type = ScalarOf(expr.type);
  if (!type) {
    if (expr.type->kind == ast::TypeKind::kVoid) {
      return value;
    }
    Stop(expr.line, fmt::format("a conversion to {}", expr.type->text));
  }
  Value converted = value;
  converted.expr = Convert(*type, value.expr);
  return converted;
}

Value Executor::AddressOf(const ast::Expr& lvalue) {
  switch (lvalue.kind) {
    case ast::ExprKind::kSubscript: {
      Value base = Evaluate(*lvalue.operands[0]);
      if (base.kind == Value::Kind::kScalar) {  // 3[x]
        Stop(lvalue.line, "a subscript of something that is no pointer");
      }
      const ExprPtr index = EvaluateScalar(*lvalue.operands[1]);
      if (base.kind == Value::Kind::kPointer) {
        base.expr = JoinThreadIndex(Arithmetic("+", base.expr, index));
      }
      return base;
    }
    case ast::ExprKind::kDereference:
      return Evaluate(*lvalue.operands[0]);
    case ast::ExprKind::kVariable:
      Stop(lvalue.line, fmt::format("the address of {} is taken", lvalue.name));
    case ast::ExprKind::kCast:
      if (lvalue.is_implicit) {
        return AddressOf(*lvalue.operands[0]);
      }
      [[fallthrough]];
    default:
      Stop(lvalue.line, "the address of an expression is taken");
  }
}

Value Executor::LoadFrom(const Value& pointer, int line) {
  if (pointer.kind != Value::Kind::kPointer) {
    Stop(line, pointer.kind == Value::Kind::kUnknown
                   ? fmt::format("a load through {}", pointer.why)
                   : "a load through something that is no known pointer");
  }
  if (pointer.assumption != nullptr) {
    assumptions_.push_back(pointer.assumption);
  }
  for (Parameter& parameter : parameters_) {
    if (parameter.name == pointer.buffer) {
      parameter.is_read = true;
    }
  }
  // What this point itself stored a moment ago is known.
  const ExprPtr index = Simplify(UnderPath(pointer.expr));
  for (size_t i = events_.size(); i > 0; --i) {
    const Event& event = events_[i - 1];
    if (event.kind == Event::Kind::kLoop) {
      break;
    }
    if (event.kind != Event::Kind::kStore || event.store.buffer != pointer.buffer) {
      continue;
    }
    const bool still_holds =
        std::all_of(event.conditions.begin(), event.conditions.end(),
                    [&](const ExprPtr& known) { return KnownOnPath(known) == true; });
    if (event.store.kind != StoreKind::kAssign || !Equal(event.store.index, index) ||
        !still_holds) {
      break;
    }
    if (Loads(event.store.value).empty()) {
      return Value::Of(event.store.value);  // a store's value is bound before it
    }
    break;
  }
  return Value::Of(Load(pointer.buffer, index, pointer.element));
}

Value Executor::EvaluateAssignment(const ast::Expr& expr, bool is_statement) {
  const ast::Expr& target = *expr.operands[0];
  const ast::Expr& source = *expr.operands[1];
  const auto evaluate_source = [&] {
    // a[i] = b[i] = v: the inner store has happened when the outer one does.
    return source.kind == ast::ExprKind::kAssign ? EvaluateAssignment(source, true)
                                                 : Evaluate(source);
  };
  if (!is_statement && target.kind != ast::ExprKind::kVariable) {
    Stop(expr.line, "a store inside an expression");
  }
  const bool is_compound = expr.op != "=";
  const std::string op = is_compound ? expr.op.substr(0, expr.op.size() - 1) : "";
  const auto combine = [&](const ExprPtr& old, const ExprPtr& value, Scalar type) {
    ExprPtr result;
    if (op == "<<" || op == ">>") {
      result = Simplify(Binary(op, old, value, old->type));
    } else {
      result = Arithmetic(op, old, value);
    }
    return Convert(type, result);
  };
  if (target.kind == ast::ExprKind::kVariable) {
    Value value = evaluate_source();
    if (is_compound) {
      const Value old = EvaluateVariable(target);
      if (old.kind == Value::Kind::kPointer) {
        if (op != "+" && op != "-") {
          Stop(expr.line, fmt::format("operator {} on a pointer", expr.op));
        }
        if (value.kind != Value::Kind::kScalar) {
          Stop(expr.line, "a pointer is moved by an unknown amount");
        }
        const ExprPtr offset = value.expr;
        value = old;
        value.expr = Arithmetic(op, old.expr, offset);
      } else {
        const ExprPtr before = EvaluateScalar(target);
        if (value.kind != Value::Kind::kScalar) {
          EvaluateScalar(source);  // says what is wrong with it
        }
        value = Value::Of(combine(before, value.expr, before->type));
      }
    }
    AssignVariable(target.variable, value, expr.line);
    return environment_[Resolve(target.variable)];
  }
  const Value pointer = AddressOf(target);
  const Value assigned = evaluate_source();
  ExprPtr value = assigned.kind == Value::Kind::kScalar ? assigned.expr : EvaluateScalar(source);
  if (is_compound) {
    const Value old = LoadFrom(pointer, expr.line);
    value = combine(old.expr, value, pointer.element);
  }
  if (pointer.kind == Value::Kind::kPointer) {
    value = Bind(pointer.buffer + "_value", Convert(pointer.element, value), expr.line);
  }
  AddStore(pointer, value, StoreKind::kAssign, FoldOp::kSum, expr.line);
  return Value::Of(value);
}

Value Executor::EvaluateIncrement(const ast::Expr& expr, bool is_statement) {
  const ast::Expr& target = *expr.operands[0];
  const std::string op = expr.op.find('+') != std::string::npos ? "+" : "-";
  const bool is_prefix = expr.op.back() == 'x';
  if (target.kind != ast::ExprKind::kVariable) {
    if (!is_statement) {
      Stop(expr.line, "a store inside an expression");
    }
    const Value pointer = AddressOf(target);
    const Value old = LoadFrom(pointer, expr.line);
    AddStore(pointer, Convert(pointer.element, Arithmetic(op, old.expr, Int(1))),
             StoreKind::kAssign, FoldOp::kSum, expr.line);
    return old;
  }
  const Value old = EvaluateVariable(target);
  Value next = old;
  if (old.kind == Value::Kind::kPointer) {
    next.expr = Arithmetic(op, old.expr, Int(1));
  } else {
    const ExprPtr before = EvaluateScalar(target);
    next = Value::Of(Convert(before->type, Arithmetic(op, before, Int(1))));
  }
  AssignVariable(target.variable, next, expr.line);
  return is_prefix ? next : old;
}

}  // namespace optiml::rewrite::lifting
