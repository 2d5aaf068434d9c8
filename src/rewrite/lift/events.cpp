#include "rewrite/lift/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

void Stop(int line, const std::string& reason) {
  throw LiftStop{fmt::format("line {}: {}", line, reason), line};
}

std::optional<Scalar> ScalarOf(const ast::TypePtr& type) {
  if (type == nullptr) {
    return std::nullopt;
  }
  switch (type->kind) {
    case ast::TypeKind::kBool:
      return Scalar::kBool;
    case ast::TypeKind::kInt:
      switch (type->bits) {
        case 8:
          return type->is_signed ? Scalar::kI8 : Scalar::kU8;
        case 16:
          return type->is_signed ? Scalar::kI16 : Scalar::kU16;
        case 32:
          return type->is_signed ? Scalar::kI32 : Scalar::kU32;
        case 64:
          return type->is_signed ? Scalar::kI64 : Scalar::kU64;
        default:
          return std::nullopt;
      }
    case ast::TypeKind::kFloat:
      switch (type->bits) {
        case 16:
          return type->is_bfloat ? Scalar::kBf16 : Scalar::kF16;
        case 32:
          return Scalar::kF32;
        case 64:
          return Scalar::kF64;
        default:
          return std::nullopt;
      }
    default:
      return std::nullopt;
  }
}

Scalar ArithmeticType(Scalar a, Scalar b) {
  const auto promoted = [](Scalar type) {
    return ScalarBytes(type) < 4 && !IsFloatScalar(type) ? Scalar::kI32 : type;
  };
  a = promoted(a);
  b = promoted(b);
  for (const Scalar type : {Scalar::kF64, Scalar::kF32, Scalar::kF16, Scalar::kBf16, Scalar::kU64,
                            Scalar::kI64, Scalar::kU32}) {
    if (a == type || b == type) {
      return type;
    }
  }
  return Scalar::kI32;
}

ExprPtr Arithmetic(const std::string& op, const ExprPtr& a, const ExprPtr& b) {
  const Scalar type = ArithmeticType(a->type, b->type);
  return Simplify(Binary(op, Convert(type, a), Convert(type, b), type));
}

ExprPtr FloatLiteral(double value, const std::string& text, Scalar type) {
  Expr expr;
  expr.kind = ExprKind::kFloat;
  expr.type = type;
  expr.float_value = value;
  constexpr double kPlain = 1e6;  // larger integers read better as the source wrote them (1e30f)
  if (std::isinf(value)) {
    expr.text = value < 0 ? "-INFINITY" : "INFINITY";
  } else if (std::isnan(value)) {
    expr.text = "NAN";
  } else if (value != std::floor(value) || std::fabs(value) > kPlain) {
    const bool is_number =
        !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
                          text[0] == '.' || text[0] == '-');
    const bool has_suffix = !text.empty() && (text.back() == 'f' || text.back() == 'F');
    if (is_number && has_suffix == (type == Scalar::kF32) &&
        text.find_first_of("xX") == std::string::npos) {
      expr.text = text;
    }
  }
  return std::make_shared<const Expr>(std::move(expr));
}

ExprPtr Convert(Scalar type, const ExprPtr& value) {
  if (value->type == type) {
    return value;
  }
  if (type == Scalar::kBool) {
    return Simplify(
        Binary("!=", value,
               IsFloatScalar(value->type) ? FloatLiteral(0, "", value->type) : Int(0, value->type),
               Scalar::kBool));
  }
  const bool to_plain_float = type == Scalar::kF32 || type == Scalar::kF64;
  if (to_plain_float && value->kind == ExprKind::kInt) {
    const double number = value->type == Scalar::kU64
                              ? static_cast<double>(static_cast<uint64_t>(value->int_value))
                              : static_cast<double>(value->int_value);
    constexpr double kExact = 1 << 24;
    if (std::fabs(number) <= kExact) {
      return FloatLiteral(number, "", type);
    }
  }
  if (to_plain_float && value->kind == ExprKind::kFloat &&
      (type == Scalar::kF64 ||
       static_cast<double>(static_cast<float>(value->float_value)) == value->float_value ||
       !std::isfinite(value->float_value))) {
    return FloatLiteral(value->float_value, "", type);
  }
  return Simplify(Cast(type, value));
}

void SplitConjunction(const ExprPtr& condition, std::vector<ExprPtr>* parts) {
  if (condition->kind == ExprKind::kBinary && condition->op == "&&") {
    SplitConjunction(condition->operands[0], parts);
    SplitConjunction(condition->operands[1], parts);
  } else {
    parts->push_back(condition);
  }
}

ExprPtr JoinConditions(const std::vector<ExprPtr>& conditions) {
  ExprPtr joined;
  for (const ExprPtr& condition : conditions) {
    joined = Conjunction(joined, condition);
  }
  return joined;
}

Value Value::Of(ExprPtr expr) {
  Value value;
  value.kind = Kind::kScalar;
  value.expr = std::move(expr);
  return value;
}

Value Value::Pointer(std::string buffer, Scalar element, ExprPtr offset) {
  Value value;
  value.kind = Kind::kPointer;
  value.buffer = std::move(buffer);
  value.element = element;
  value.expr = std::move(offset);
  return value;
}

Value Value::Unknown(std::string why) {
  Value value;
  value.kind = Kind::kUnknown;
  value.why = std::move(why);
  return value;
}

bool MayWrapBelowZero(const ExprPtr& expr, const std::vector<std::string>& symbols) {
  const auto subtracts = [](const ExprPtr& part) {
    bool found = false;
    Visit(part, [&](const Expr& node) {
      found |= (node.kind == ExprKind::kBinary || node.kind == ExprKind::kUnary) && node.op == "-";
      found |= node.kind == ExprKind::kInt && node.int_value < 0;
    });
    return found;
  };
  const bool is_unsigned = expr->type == Scalar::kU32 || expr->type == Scalar::kU64;
  const bool mentions = std::any_of(symbols.begin(), symbols.end(),
                                    [&](const std::string& name) { return Mentions(expr, name); });
  if (mentions && is_unsigned && subtracts(expr)) {
    return true;
  }
  return std::any_of(expr->operands.begin(), expr->operands.end(),
                     [&](const ExprPtr& operand) { return MayWrapBelowZero(operand, symbols); });
}

std::string BaseName(const std::string& internal) {
  return internal.substr(0, internal.find('#'));
}

void RewriteEvents(std::vector<Event>* events,
                   const std::function<ExprPtr(const ExprPtr&)>& rewrite) {
  for (Event& event : *events) {
    for (ExprPtr& condition : event.conditions) {
      condition = rewrite(condition);
    }
    switch (event.kind) {
      case Event::Kind::kLet:
        event.let.value = rewrite(event.let.value);
        break;
      case Event::Kind::kStore:
        event.store.index = rewrite(event.store.index);
        event.store.value = rewrite(event.store.value);
        break;
      case Event::Kind::kLoop:
        event.loop->dim.extent = rewrite(event.loop->dim.extent);
        for (LoopAccumulator& entry : event.loop->accumulators) {
          entry.accumulator.init = rewrite(entry.accumulator.init);
          entry.accumulator.update = rewrite(entry.accumulator.update);
          if (entry.guard != nullptr) {
            entry.guard = rewrite(entry.guard);
          }
        }
        RewriteEvents(&event.loop->body, rewrite);
        break;
    }
  }
}

void VisitEvents(const std::vector<Event>& events,
                 const std::function<void(const ExprPtr&)>& visit) {
  for (const Event& event : events) {
    for (const ExprPtr& condition : event.conditions) {
      visit(condition);
    }
    switch (event.kind) {
      case Event::Kind::kLet:
        visit(event.let.value);
        break;
      case Event::Kind::kStore:
        visit(event.store.index);
        visit(event.store.value);
        break;
      case Event::Kind::kLoop:
        visit(event.loop->dim.extent);
        for (const LoopAccumulator& entry : event.loop->accumulators) {
          visit(entry.accumulator.init);
          visit(entry.accumulator.update);
          if (entry.guard != nullptr) {
            visit(entry.guard);
          }
        }
        VisitEvents(event.loop->body, visit);
        break;
    }
  }
}

}  // namespace optiml::rewrite::lifting
