#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "frontend/interpreter.h"

namespace optiml::frontend {

namespace {

// Host memory that a launcher may hold at a time; its data belongs on the device.
constexpr uint64_t kMaxHostBytes = uint64_t{256} << 20;

bool IsPointer(const ast::Type& type) {
  return type.kind == ast::TypeKind::kPointer;
}

}  // namespace

uint64_t Interpreter::Allocate(uint64_t size) {
  if (size > kMaxHostBytes || memory_.live_bytes() + size > kMaxHostBytes) {
    Refuse(fmt::format("launcher needs more than {} bytes of host memory", kMaxHostBytes));
  }
  return memory_.Allocate(size);
}

uint64_t Interpreter::Temporary(const HostValue& value) {
  const uint64_t address = Allocate(std::max<uint64_t>(StorageBytes(*value.type), 1));
  Store(address, value);
  frames_.back()->owned.push_back(address);
  return address;
}

HostValue Interpreter::Convert(const HostValue& value, const ast::TypePtr& type) {
  std::optional<HostValue> converted = ConvertValue(value, type);
  if (!converted.has_value()) {
    CannotFollow(
        fmt::format("a value of type {} cannot become {} here", value.type->text, type->text));
  }
  return *std::move(converted);
}

HostValue Interpreter::Load(uint64_t address, const ast::TypePtr& type) {
  const uint64_t size = StorageBytes(*type);
  HostObject* object = memory_.Find(address, size);
  if (object == nullptr) {
    const auto device = memory_.AsDevice(address);
    if (device.has_value() && device->buffer >= 0) {
      ReadsBack("launcher reads device memory on the host");
    }
    Refuse("launcher reads through an invalid host pointer");
  }
  const uint64_t offset = HostMemory::OffsetOf(address);
  const auto states = object->states.begin() + static_cast<std::ptrdiff_t>(offset);
  // Padding and unset members of structs are zero, which is one of their possible values.
  if (KindOf(*type) != ValueKind::kBytes &&
      std::find(states, states + static_cast<std::ptrdiff_t>(size), ByteState::kUnwritten) !=
          states + static_cast<std::ptrdiff_t>(size)) {
    Refuse("launcher reads a host variable before it was set");
  }
  return DecodeValue(type, object->bytes.data() + offset);
}

void Interpreter::MarkPointers(HostObject& object, uint64_t offset, const ast::Type& type) {
  if (IsPointer(type)) {
    std::fill_n(object.states.begin() + static_cast<std::ptrdiff_t>(offset), 8,
                ByteState::kPointer);
  } else if (type.kind == ast::TypeKind::kStruct) {
    for (const ast::Field& field : type.fields) {
      MarkPointers(object, offset + field.offset_bytes, *field.type);
    }
  } else if (type.kind == ast::TypeKind::kArray && type.element->size_bytes > 0) {
    for (int64_t i = 0; i < type.count; ++i) {
      MarkPointers(object, offset + static_cast<uint64_t>(i) * type.element->size_bytes,
                   *type.element);
    }
  }
}

void Interpreter::Store(uint64_t address, const HostValue& value) {
  const std::vector<std::byte> bytes = EncodeValue(value);
  HostObject* object = memory_.Find(address, bytes.size());
  if (object == nullptr) {
    const auto device = memory_.AsDevice(address);
    if (device.has_value() && device->buffer >= 0) {
      ReadsBack("launcher writes device memory on the host");
    }
    Refuse("launcher writes through an invalid host pointer");
  }
  const uint64_t offset = HostMemory::OffsetOf(address);
  std::copy(bytes.begin(), bytes.end(),
            object->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  std::fill_n(object->states.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(),
              ByteState::kPlain);
  MarkPointers(*object, offset, *value.type);
}

const ast::Field& Interpreter::FindField(const ast::Type& type, const std::string& name) const {
  for (const ast::Field& field : type.fields) {
    if (field.name == name) {
      return field;
    }
  }
  CannotFollow(
      fmt::format("launcher uses member \"{}\" of {}, which cannot be traced", name, type.text));
}

uint64_t Interpreter::Address(const ast::Expr& expr) {
  const Level level(*this);
  NoteEvaluated(expr);
  if (expr.line > 0) {
    line_ = expr.line;
  }
  switch (expr.kind) {
    case ast::ExprKind::kVariable:
      return VariableAddress(expr);
    case ast::ExprKind::kSubscript: {
      const ast::Expr& base = *expr.operands[0];
      const uint64_t start = base.type->kind == ast::TypeKind::kArray
                                 ? Address(base)
                                 : static_cast<uint64_t>(Evaluate(base).integer);
      const int64_t index = EvaluateInteger(*expr.operands[1]);
      return start + static_cast<uint64_t>(index) * StorageBytes(*expr.type);
    }
    case ast::ExprKind::kDereference:
      return static_cast<uint64_t>(Evaluate(*expr.operands[0]).integer);
    case ast::ExprKind::kMember: {
      const uint64_t base = Address(*expr.operands[0]);
      return base + FindField(*expr.operands[0]->type, expr.name).offset_bytes;
    }
    case ast::ExprKind::kAssign:
    case ast::ExprKind::kIncrement: {
      if (expr.kind == ast::ExprKind::kIncrement && expr.op[0] == 'x') {
        break;
      }
      Evaluate(expr);
      return Address(*expr.operands[0]);
    }
    case ast::ExprKind::kConditional:
      return Address(IsTrue(Evaluate(*expr.operands[0])) ? *expr.operands[1] : *expr.operands[2]);
    case ast::ExprKind::kStringLiteral: {
      HostValue text;
      text.type = expr.type;
      const size_t size = std::max<size_t>(expr.type->size_bytes, expr.text.size() + 1);
      const uint64_t address = Allocate(size);
      frames_.front()->owned.push_back(address);  // lives as long as the run
      HostObject* object = memory_.Find(address, size);
      std::memcpy(object->bytes.data(), expr.text.data(), expr.text.size());
      std::fill(object->states.begin(), object->states.end(), ByteState::kPlain);
      return address;
    }
    default:
      break;
  }
  return Temporary(Evaluate(expr));
}

HostValue Interpreter::Evaluate(const ast::Expr& expr) {
  const Level level(*this);
  NoteEvaluated(expr);
  if (expr.line > 0) {
    line_ = expr.line;
  }
  switch (expr.kind) {
    case ast::ExprKind::kIntLiteral:
    case ast::ExprKind::kBoolLiteral:
      return IntegerValue(expr.int_value, expr.type);
    case ast::ExprKind::kFloatLiteral: {
      HostValue value;
      value.type = expr.type;
      value.real = expr.float_value;
      return value;
    }
    case ast::ExprKind::kNull:
      return IntegerValue(0, expr.type);
    case ast::ExprKind::kStringLiteral:
      return IntegerValue(static_cast<int64_t>(Address(expr)), expr.type);
    case ast::ExprKind::kFunction:
      if (expr.function < 0) {
        CannotFollow(
            fmt::format("launcher uses the function {}, which cannot be traced", expr.name));
      }
      return IntegerValue(static_cast<int64_t>(HostMemory::FunctionAddress(expr.function)),
                          expr.type);
    case ast::ExprKind::kBuiltin:
      CannotFollow(fmt::format("launcher uses {}", expr.name));
    case ast::ExprKind::kVariable:
    case ast::ExprKind::kSubscript:
    case ast::ExprKind::kDereference:
      return Load(Address(expr), expr.type);
    case ast::ExprKind::kMember:
      return EvaluateMember(expr);
    case ast::ExprKind::kAddressOf:
      return IntegerValue(static_cast<int64_t>(Address(*expr.operands[0])), expr.type);
    case ast::ExprKind::kUnary:
      return EvaluateUnary(expr);
    case ast::ExprKind::kBinary:
      return EvaluateBinary(expr);
    case ast::ExprKind::kAssign:
      return EvaluateAssign(expr);
    case ast::ExprKind::kIncrement:
      return EvaluateIncrement(expr);
    case ast::ExprKind::kConditional: {
      const bool chosen = IsTrue(Evaluate(*expr.operands[0]));
      return Convert(Evaluate(chosen ? *expr.operands[1] : *expr.operands[2]), expr.type);
    }
    case ast::ExprKind::kCast:
      return EvaluateCast(expr);
    case ast::ExprKind::kCall:
      return EvaluateCall(expr);
    case ast::ExprKind::kMethodCall:
      return EvaluateMethod(expr);
    case ast::ExprKind::kConstruct:
      return EvaluateConstruct(expr);
    case ast::ExprKind::kInitList:
      return Initialise(expr.type, expr.operands);
    case ast::ExprKind::kLaunch: {
      Launch(expr);
      HostValue nothing;
      nothing.type = VoidType();
      return nothing;
    }
    case ast::ExprKind::kLambda:
      return EvaluateLambda(expr);
    case ast::ExprKind::kUnsupported:
      break;
  }
  if (expr.name == "CXXThrowExpr") {
    Refuse("launcher throws an exception");
  }
  CannotFollow(fmt::format("launcher uses {}, which cannot be traced: {}", expr.name,
                           expr.text.substr(0, 60)));
}

HostValue Interpreter::EvaluateMember(const ast::Expr& expr) {
  const ast::Expr& base = *expr.operands[0];
  const ast::Field& field = FindField(*base.type, expr.name);
  switch (base.kind) {
    case ast::ExprKind::kVariable:
    case ast::ExprKind::kMember:
    case ast::ExprKind::kSubscript:
    case ast::ExprKind::kDereference:
      return Load(Address(expr), expr.type);
    default:
      break;
  }
  const HostValue whole = Evaluate(base);
  return DecodeValue(field.type, whole.bytes.data() + field.offset_bytes);
}

HostValue Interpreter::EvaluateUnary(const ast::Expr& expr) {
  const HostValue value = Evaluate(*expr.operands[0]);
  if (expr.op == "!") {
    return IntegerValue(IsTrue(value) ? 0 : 1, expr.type);
  }
  if (expr.op == "+") {
    return Convert(value, expr.type);
  }
  if (KindOf(*value.type) == ValueKind::kReal && expr.op == "-") {
    HostValue result = value;
    result.real = -value.real;
    return result;
  }
  if (KindOf(*value.type) != ValueKind::kInteger) {
    CannotFollow(fmt::format("launcher applies {} to {}", expr.op, value.type->text));
  }
  const uint64_t raw = static_cast<uint64_t>(value.integer);
  return Convert(
      IntegerValue(static_cast<int64_t>(expr.op == "-" ? uint64_t{0} - raw : ~raw), value.type),
      expr.type);
}

HostValue Interpreter::PointerArithmetic(const ast::Expr& expr, const std::string& op,
                                         const HostValue& left, const HostValue& right) {
  const bool left_is_pointer = IsPointer(*left.type);
  const HostValue& pointer = left_is_pointer ? left : right;
  const uint64_t size = StorageBytes(*pointer.type->element);
  const auto a = static_cast<uint64_t>(left.integer);
  const auto b = static_cast<uint64_t>(right.integer);
  if (op == "-" && left_is_pointer && IsPointer(*right.type)) {
    if (size == 0) {
      CannotFollow("launcher subtracts pointers to a type without size");
    }
    return IntegerValue((left.integer - right.integer) / static_cast<int64_t>(size), expr.type);
  }
  if (op == "+" || op == "-") {
    const uint64_t step = (left_is_pointer ? b : a) * (size == 0 ? 1 : size);  // void*: GNU bytes
    const uint64_t start = static_cast<uint64_t>(pointer.integer);
    return IntegerValue(static_cast<int64_t>(op == "+" ? start + step : start - step),
                        pointer.type);
  }
  HostValue plain_left = left;
  HostValue plain_right = right;
  plain_left.type = pointer.type;
  plain_right.type = pointer.type;
  const auto result = ApplyBinary(op, plain_left, plain_right, expr.type);
  if (!result.has_value()) {
    CannotFollow(fmt::format("launcher applies {} to pointers", op));
  }
  return *result;
}

HostValue Interpreter::Binary(const ast::Expr& expr, const std::string& op, const HostValue& left,
                              const HostValue& right, const ast::TypePtr& type) {
  if (IsPointer(*left.type) || IsPointer(*right.type)) {
    return PointerArithmetic(expr, op, left, right);
  }
  if (KindOf(*left.type) == ValueKind::kBytes || KindOf(*right.type) == ValueKind::kBytes) {
    CannotFollow(fmt::format("launcher applies {} to {}", op, left.type->text));
  }
  const auto result = ApplyBinary(op, left, right, type);
  if (!result.has_value()) {
    Refuse(op == "/" || op == "%" ? "launcher divides by zero"
                                  : fmt::format("operator {} has no defined result here", op));
  }
  NoteOverflow(op, left, right, *type);
  return *result;
}

void Interpreter::NoteOverflow(const std::string& op, const HostValue& left, const HostValue& right,
                               const ast::Type& type) {
  if (!overflow_.empty() || KindOf(*left.type) != ValueKind::kInteger ||
      KindOf(*right.type) != ValueKind::kInteger || (op != "+" && op != "-" && op != "*")) {
    return;
  }
  const bool is_unsigned = IsUnsigned(type);
  if (is_unsigned && op == "-") {
    return;  // -x and x - 1 are meant
  }
  const auto wide = [&](const HostValue& value) {
    return is_unsigned ? static_cast<__int128>(static_cast<uint64_t>(value.integer))
                       : static_cast<__int128>(value.integer);
  };
  const __int128 a = wide(left);
  const __int128 b = wide(right);
  const __int128 exact = op == "+" ? a + b : (op == "-" ? a - b : a * b);
  const int bits = static_cast<int>(8 * StorageBytes(type)) - (is_unsigned ? 0 : 1);
  const __int128 end = static_cast<__int128>(1) << bits;
  if (exact >= end || (!is_unsigned && exact < -end)) {
    const auto shown = [&](const HostValue& value) {
      return is_unsigned ? std::to_string(static_cast<uint64_t>(value.integer))
                         : std::to_string(value.integer);
    };
    overflow_ = fmt::format("{} overflowed in line {}: {} {} {}", type.text, line_, shown(left), op,
                            shown(right));
  }
}

HostValue Interpreter::EvaluateBinary(const ast::Expr& expr) {
  if (expr.op == "&&" || expr.op == "||") {
    const bool left = IsTrue(Evaluate(*expr.operands[0]));
    if (left == (expr.op == "||")) {
      return IntegerValue(left ? 1 : 0, expr.type);
    }
    return IntegerValue(IsTrue(Evaluate(*expr.operands[1])) ? 1 : 0, expr.type);
  }
  if (expr.op == ",") {
    Evaluate(*expr.operands[0]);
    return Evaluate(*expr.operands[1]);
  }
  const HostValue left = Evaluate(*expr.operands[0]);
  const HostValue right = Evaluate(*expr.operands[1]);
  return Binary(expr, expr.op, left, right, expr.type);
}

HostValue Interpreter::EvaluateAssign(const ast::Expr& expr) {
  const ast::TypePtr& type = expr.operands[0]->type;
  if (expr.op == "=") {
    const HostValue value = Convert(Evaluate(*expr.operands[1]), type);
    Store(Address(*expr.operands[0]), value);
    return value;
  }
  const std::string op = expr.op.substr(0, expr.op.size() - 1);
  const HostValue right = Evaluate(*expr.operands[1]);
  const uint64_t address = Address(*expr.operands[0]);
  const HostValue old = Load(address, type);
  HostValue result;
  if (IsPointer(*type)) {
    result = PointerArithmetic(expr, op, old, right);
  } else {
    const bool is_shift = op == "<<" || op == ">>";
    const ast::TypePtr common =
        is_shift ? CommonType(type, IntType()) : CommonType(type, right.type);
    result =
        Binary(expr, op, Convert(old, common), is_shift ? right : Convert(right, common), common);
  }
  result = Convert(result, type);
  Store(address, result);
  return result;
}

HostValue Interpreter::EvaluateIncrement(const ast::Expr& expr) {
  const ast::TypePtr& type = expr.operands[0]->type;
  const uint64_t address = Address(*expr.operands[0]);
  const HostValue old = Load(address, type);
  const bool down = expr.op.find('-') != std::string::npos;
  HostValue next = old;
  if (IsPointer(*type)) {
    next = PointerArithmetic(expr, down ? "-" : "+", old, IntegerValue(1, IntType()));
  } else if (KindOf(*type) == ValueKind::kReal) {
    next.real = RoundReal(old.real + (down ? -1 : 1), *type);
  } else {
    next = Convert(IntegerValue(old.integer + (down ? -1 : 1), type), type);
  }
  next.type = type;
  Store(address, next);
  return expr.op[0] == 'x' ? old : next;
}

HostValue Interpreter::EvaluateCast(const ast::Expr& expr) {
  const ast::Expr& operand = *expr.operands[0];
  if (expr.type->kind == ast::TypeKind::kVoid) {
    // (void)x silences a warning; the value may be one that cannot be read.
    if (operand.kind != ast::ExprKind::kVariable) {
      Evaluate(operand);
    }
    HostValue nothing;
    nothing.type = VoidType();
    return nothing;
  }
  if (operand.type->kind == ast::TypeKind::kArray && IsPointer(*expr.type)) {
    return IntegerValue(static_cast<int64_t>(Address(operand)), expr.type);
  }
  if (expr.type->is_reference && operand.kind != ast::ExprKind::kInitList) {
    return Load(Address(operand), expr.type);
  }
  return Convert(Evaluate(operand), expr.type);
}

HostValue Interpreter::Initialise(const ast::TypePtr& type,
                                  const std::vector<ast::ExprPtr>& operands) {
  HostValue value;
  value.type = type;
  if (KindOf(*type) != ValueKind::kBytes) {
    return operands.empty() ? value : Convert(Evaluate(*operands[0]), type);
  }
  value.bytes.assign(StorageBytes(*type), std::byte{0});
  if (type->kind == ast::TypeKind::kArray && operands.size() == 1 &&
      operands[0]->kind == ast::ExprKind::kStringLiteral) {
    std::memcpy(value.bytes.data(), operands[0]->text.data(),
                std::min(operands[0]->text.size(), value.bytes.size()));
    return value;
  }
  if (type->kind != ast::TypeKind::kArray && type->fields.size() < operands.size()) {
    CannotFollow(fmt::format("launcher initialises {}, which cannot be traced", type->text));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const ast::TypePtr& part =
        type->kind == ast::TypeKind::kArray ? type->element : type->fields[i].type;
    const uint64_t offset = type->kind == ast::TypeKind::kArray ? i * StorageBytes(*part)
                                                                : type->fields[i].offset_bytes;
    const std::vector<std::byte> bytes = EncodeValue(
        operands[i]->kind == ast::ExprKind::kStringLiteral ? Initialise(part, {operands[i]})
                                                           : Convert(Evaluate(*operands[i]), part));
    if (offset + bytes.size() > value.bytes.size()) {
      CannotFollow(fmt::format("launcher initialises {} with too many values", type->text));
    }
    std::copy(bytes.begin(), bytes.end(),
              value.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  return value;
}

HostValue Interpreter::EvaluateConstruct(const ast::Expr& expr) {
  CheckPassive(*expr.type);
  if (expr.function >= 0) {
    HostValue empty;
    empty.type = expr.type;
    empty.bytes.assign(StorageBytes(*expr.type), std::byte{0});
    if (KindOf(*expr.type) != ValueKind::kBytes) {
      CannotFollow(fmt::format("launcher constructs {}, which cannot be traced", expr.type->text));
    }
    const uint64_t object = Temporary(empty);
    CallUser(unit_.functions[static_cast<size_t>(expr.function)], expr.operands, 0, object,
             nullptr);
    return Load(object, expr.type);
  }
  if (expr.type->kind == ast::TypeKind::kDim3) {
    HostValue value;
    value.type = expr.type;
    value.bytes.assign(StorageBytes(*expr.type), std::byte{0});
    for (size_t i = 0; i < expr.type->fields.size() && i < 3; ++i) {
      const ast::Field& field = expr.type->fields[i];
      const std::vector<std::byte> part =
          EncodeValue(i < expr.operands.size() ? Convert(Evaluate(*expr.operands[i]), field.type)
                                               : IntegerValue(1, field.type));
      std::copy(part.begin(), part.end(),
                value.bytes.begin() + static_cast<std::ptrdiff_t>(field.offset_bytes));
    }
    return value;
  }
  if (expr.type->kind == ast::TypeKind::kOther ||
      (KindOf(*expr.type) == ValueKind::kBytes && expr.type->fields.empty() &&
       expr.type->kind == ast::TypeKind::kStruct && expr.type->size_bytes > 1)) {
    CannotFollow(fmt::format("launcher constructs {}, which cannot be traced", expr.type->text));
  }
  return Initialise(expr.type, expr.operands);
}

HostValue Interpreter::EvaluateLambda(const ast::Expr& expr) {
  Closure closure;
  closure.function = expr.function;
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    const ast::Expr& captured = *expr.operands[i];
    const ast::Variable& variable = unit_.variables[static_cast<size_t>(captured.variable)];
    if (expr.op[i] == '&') {
      closure.captures[captured.variable] = VariableAddress(captured);
      continue;
    }
    const HostValue value = expr.op[i] == ':' ? Convert(Evaluate(*variable.init), variable.type)
                                              : Load(VariableAddress(captured), variable.type);
    // The copy lives as long as the run: closures may be returned.
    const uint64_t copy = Allocate(std::max<uint64_t>(StorageBytes(*variable.type), 1));
    Store(copy, value);
    closure.captures[captured.variable] = copy;
  }
  closures_.push_back(std::move(closure));
  return IntegerValue(static_cast<int64_t>(closures_.size()) - 1, expr.type);
}

HostValue Interpreter::EvaluateMethod(const ast::Expr& expr) {
  const ast::Expr& object = *expr.operands[0];
  if (IsClosure(*object.type)) {
    const int64_t number = Evaluate(object).integer;
    if (expr.function < 0 || number < 0 || number >= static_cast<int64_t>(closures_.size())) {
      CannotFollow("launcher calls a lambda that cannot be traced");
    }
    const Closure closure = closures_[static_cast<size_t>(number)];
    return CallUser(unit_.functions[static_cast<size_t>(expr.function)], expr.operands, 1, 0,
                    &closure);
  }
  if (expr.function >= 0) {
    const ast::Function& method = unit_.functions[static_cast<size_t>(expr.function)];
    return CallUser(method, expr.operands, 1, Address(object), nullptr);
  }
  if (expr.name == "operator<<" && object.type->text.find("ostream") != std::string::npos) {
    Print(expr, expr.name);
    HostValue stream;
    stream.type = VoidType();
    return stream;
  }
  CannotFollow(
      fmt::format("launcher uses {}::{}, which cannot be traced", object.type->text, expr.name));
}

}  // namespace optiml::frontend
