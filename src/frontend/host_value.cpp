#include "frontend/host_value.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "core/dtype.h"

namespace optiml::frontend {

namespace {

ast::TypePtr MakeInt(int bits, bool is_signed, const char* text) {
  auto type = std::make_shared<ast::Type>();
  type->kind = ast::TypeKind::kInt;
  type->bits = bits;
  type->is_signed = is_signed;
  type->size_bytes = static_cast<uint64_t>(bits) / 8;
  type->text = text;
  return type;
}

ast::TypePtr MakeReal(int bits, const char* text) {
  auto type = std::make_shared<ast::Type>();
  type->kind = ast::TypeKind::kFloat;
  type->bits = bits;
  type->is_signed = true;
  type->size_bytes = static_cast<uint64_t>(bits) / 8;
  type->text = text;
  return type;
}

DType HalfDType(const ast::Type& type) {
  return type.is_bfloat ? DType::kBf16 : DType::kF16;
}

int BitsOf(const ast::Type& type) {
  switch (type.kind) {
    case ast::TypeKind::kBool:
      return 8;
    case ast::TypeKind::kInt:
      return type.bits;
    case ast::TypeKind::kOther:
      return type.bits > 0 ? type.bits : 64;
    default:
      return 64;
  }
}

template <typename T>
bool Compare(const std::string& op, T a, T b) {
  if (op == "<") {
    return a < b;
  }
  if (op == "<=") {
    return a <= b;
  }
  if (op == ">") {
    return a > b;
  }
  if (op == ">=") {
    return a >= b;
  }
  return op == "==" ? a == b : a != b;
}

bool IsComparison(const std::string& op) {
  return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
}

std::optional<HostValue> ApplyReal(const std::string& op, double a, double b,
                                   const ast::TypePtr& type) {
  HostValue result;
  result.type = type;
  if (op == "+") {
    result.real = a + b;
  } else if (op == "-") {
    result.real = a - b;
  } else if (op == "*") {
    result.real = a * b;
  } else if (op == "/") {
    result.real = a / b;
  } else {
    return std::nullopt;
  }
  // Exact for float: 53 bits are enough for one operation on 24-bit operands to round once.
  result.real = RoundReal(result.real, *type);
  return result;
}

std::optional<int64_t> Divide(const std::string& op, int64_t a, int64_t b, bool is_signed) {
  if (b == 0) {
    return std::nullopt;
  }
  if (!is_signed) {
    const auto x = static_cast<uint64_t>(a);
    const auto y = static_cast<uint64_t>(b);
    return static_cast<int64_t>(op == "/" ? x / y : x % y);
  }
  if (b == -1) {
    if (op == "%") {
      return 0;
    }
    return a == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional<int64_t>(-a);
  }
  return op == "/" ? a / b : a % b;
}

}  // namespace

const ast::TypePtr& IntType() {
  static const ast::TypePtr type = MakeInt(32, true, "int");
  return type;
}

const ast::TypePtr& DoubleType() {
  static const ast::TypePtr type = MakeReal(64, "double");
  return type;
}

const ast::TypePtr& VoidType() {
  static const ast::TypePtr type = std::make_shared<ast::Type>();
  return type;
}

bool IsClosure(const ast::Type& type) {
  std::string_view text = type.text;
  constexpr std::string_view kConst = "const ";
  if (text.starts_with(kConst)) {
    text.remove_prefix(kConst.size());
  }
  return text.starts_with("(lambda");
}

std::vector<std::pair<uint64_t, const ast::Type*>> PointerFields(const ast::Type& type) {
  std::vector<std::pair<uint64_t, const ast::Type*>> found;
  const auto add = [&](const ast::Type& of, uint64_t offset) {
    for (const auto& [position, pointer] : PointerFields(of)) {
      if (std::find(found.begin(), found.end(), std::pair(offset + position, pointer)) ==
          found.end()) {
        found.emplace_back(offset + position, pointer);
      }
    }
  };
  if (type.kind == ast::TypeKind::kPointer) {
    found.emplace_back(0, &type);
  } else if (type.kind == ast::TypeKind::kArray) {
    for (int64_t i = 0; i < type.count; ++i) {
      add(*type.element, static_cast<uint64_t>(i) * type.element->size_bytes);
    }
  } else {
    for (const ast::Field& field : type.fields) {
      add(*field.type, field.offset_bytes);
    }
  }
  return found;
}

ValueKind KindOf(const ast::Type& type) {
  if (IsClosure(type)) {
    return ValueKind::kInteger;  // a closure's number
  }
  switch (type.kind) {
    case ast::TypeKind::kVoid:
      return ValueKind::kNone;
    case ast::TypeKind::kBool:
    case ast::TypeKind::kInt:
    case ast::TypeKind::kPointer:
    case ast::TypeKind::kOther:
      return ValueKind::kInteger;
    case ast::TypeKind::kFloat:
      return ValueKind::kReal;
    case ast::TypeKind::kArray:
    case ast::TypeKind::kVector:
    case ast::TypeKind::kDim3:
    case ast::TypeKind::kStruct:
      return ValueKind::kBytes;
  }
  return ValueKind::kNone;
}

uint64_t StorageBytes(const ast::Type& type) {
  if (IsClosure(type)) {
    return 8;
  }
  if (type.kind == ast::TypeKind::kOther && type.bits == 0) {
    return std::max<uint64_t>(type.size_bytes, 8);
  }
  return type.size_bytes;
}

int64_t WrapInteger(int64_t value, int bits, bool is_signed) {
  if (bits >= 64) {
    return value;
  }
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t low = static_cast<uint64_t>(value) & mask;
  if (is_signed && (low >> (bits - 1)) != 0) {
    low |= ~mask;
  }
  return static_cast<int64_t>(low);
}

double RoundReal(double value, const ast::Type& type) {
  if (type.bits == 64) {
    return value;
  }
  if (type.bits == 32) {
    return static_cast<double>(static_cast<float>(value));
  }
  if (type.bits == 16) {
    std::byte storage[2];
    StoreElement(HalfDType(type), value, storage);
    return LoadElement(HalfDType(type), storage);
  }
  return value;
}

bool IsUnsigned(const ast::Type& type) {
  return type.kind == ast::TypeKind::kPointer || type.kind == ast::TypeKind::kBool ||
         (type.kind == ast::TypeKind::kInt && !type.is_signed);
}

bool IsTrue(const HostValue& value) {
  return KindOf(*value.type) == ValueKind::kReal ? value.real != 0 : value.integer != 0;
}

HostValue IntegerValue(int64_t value, const ast::TypePtr& type) {
  HostValue result;
  result.type = type;
  result.integer = value;
  return result;
}

std::optional<HostValue> ConvertValue(const HostValue& value, const ast::TypePtr& type) {
  HostValue result;
  result.type = type;
  const ValueKind from = KindOf(*value.type);
  const ValueKind to = KindOf(*type);
  if (to == ValueKind::kNone) {
    return result;
  }
  if (from == ValueKind::kNone) {
    return std::nullopt;
  }
  if (to == ValueKind::kBytes || from == ValueKind::kBytes) {
    if (from != to || StorageBytes(*type) != value.bytes.size()) {
      return std::nullopt;
    }
    result.bytes = value.bytes;
    return result;
  }
  if (type->kind == ast::TypeKind::kBool) {
    result.integer = IsTrue(value) ? 1 : 0;
    return result;
  }
  if (to == ValueKind::kReal) {
    if (from == ValueKind::kReal) {
      result.real = RoundReal(value.real, *type);
      return result;
    }
    if (type->bits == 32) {
      result.real =
          IsUnsigned(*value.type)
              ? static_cast<double>(static_cast<float>(static_cast<uint64_t>(value.integer)))
              : static_cast<double>(static_cast<float>(value.integer));
      return result;
    }
    result.real = RoundReal(IsUnsigned(*value.type)
                                ? static_cast<double>(static_cast<uint64_t>(value.integer))
                                : static_cast<double>(value.integer),
                            *type);
    return result;
  }
  if (from == ValueKind::kInteger) {
    result.integer = WrapInteger(value.integer, BitsOf(*type), !IsUnsigned(*type));
    return result;
  }
  const double whole = std::trunc(value.real);
  const int bits = BitsOf(*type);
  const bool is_signed = !IsUnsigned(*type);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  if (!(whole >= low && whole < high)) {
    return std::nullopt;
  }
  result.integer = whole >= 9223372036854775808.0
                       ? static_cast<int64_t>(static_cast<uint64_t>(whole))
                       : static_cast<int64_t>(whole);
  return result;
}

ast::TypePtr CommonType(const ast::TypePtr& a, const ast::TypePtr& b) {
  if (a->kind == ast::TypeKind::kFloat || b->kind == ast::TypeKind::kFloat) {
    if (a->kind != ast::TypeKind::kFloat) {
      return b;
    }
    if (b->kind != ast::TypeKind::kFloat) {
      return a;
    }
    return a->bits >= b->bits ? a : b;
  }
  const int bits_a = a->kind == ast::TypeKind::kInt ? a->bits : 8;
  const int bits_b = b->kind == ast::TypeKind::kInt ? b->bits : 8;
  if (bits_a < 32 && bits_b < 32) {
    return IntType();
  }
  if (bits_a != bits_b) {
    return bits_a > bits_b ? a : b;
  }
  return IsUnsigned(*a) ? a : b;
}

std::optional<HostValue> ApplyBinary(const std::string& op, const HostValue& left,
                                     const HostValue& right, const ast::TypePtr& type) {
  if (KindOf(*left.type) == ValueKind::kReal) {
    if (IsComparison(op)) {
      return IntegerValue(Compare(op, left.real, right.real) ? 1 : 0, type);
    }
    return ApplyReal(op, left.real, right.real, type);
  }
  const bool is_unsigned = IsUnsigned(*left.type);
  const int64_t a = left.integer;
  const int64_t b = right.integer;
  if (IsComparison(op)) {
    const bool result = is_unsigned
                            ? Compare(op, static_cast<uint64_t>(a), static_cast<uint64_t>(b))
                            : Compare(op, a, b);
    return IntegerValue(result ? 1 : 0, type);
  }
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  int64_t result = 0;
  if (op == "+") {
    result = static_cast<int64_t>(ua + ub);
  } else if (op == "-") {
    result = static_cast<int64_t>(ua - ub);
  } else if (op == "*") {
    result = static_cast<int64_t>(ua * ub);
  } else if (op == "/" || op == "%") {
    const auto quotient = Divide(op, a, b, !is_unsigned);
    if (!quotient.has_value()) {
      return std::nullopt;
    }
    result = *quotient;
  } else if (op == "<<" || op == ">>") {
    if (b < 0 || b >= BitsOf(*type)) {
      return std::nullopt;
    }
    if (op == "<<") {
      result = static_cast<int64_t>(ua << b);
    } else {
      result = is_unsigned ? static_cast<int64_t>(ua >> b) : a >> b;
    }
  } else if (op == "&") {
    result = a & b;
  } else if (op == "|") {
    result = a | b;
  } else if (op == "^") {
    result = a ^ b;
  } else {
    return std::nullopt;
  }
  return IntegerValue(WrapInteger(result, BitsOf(*type), !IsUnsigned(*type)), type);
}

std::vector<std::byte> EncodeValue(const HostValue& value) {
  const ast::Type& type = *value.type;
  const ValueKind kind = KindOf(type);
  if (kind == ValueKind::kBytes) {
    return value.bytes;
  }
  std::vector<std::byte> bytes(StorageBytes(type));
  if (kind == ValueKind::kReal) {
    if (type.bits == 64) {
      std::memcpy(bytes.data(), &value.real, 8);
    } else if (type.bits == 32) {
      const auto narrow = static_cast<float>(value.real);
      std::memcpy(bytes.data(), &narrow, 4);
    } else if (type.bits == 16) {
      StoreElement(HalfDType(type), value.real, bytes.data());
    }
    return bytes;
  }
  std::memcpy(bytes.data(), &value.integer, std::min<size_t>(bytes.size(), 8));
  return bytes;
}

HostValue DecodeValue(const ast::TypePtr& type, const std::byte* bytes) {
  HostValue value;
  value.type = type;
  const uint64_t size = StorageBytes(*type);
  switch (KindOf(*type)) {
    case ValueKind::kNone:
      break;
    case ValueKind::kBytes:
      value.bytes.assign(bytes, bytes + size);
      break;
    case ValueKind::kReal:
      if (type->bits == 64) {
        std::memcpy(&value.real, bytes, 8);
      } else if (type->bits == 32) {
        float narrow = 0;
        std::memcpy(&narrow, bytes, 4);
        value.real = static_cast<double>(narrow);
      } else if (type->bits == 16) {
        value.real = LoadElement(HalfDType(*type), bytes);
      }
      break;
    case ValueKind::kInteger: {
      uint64_t raw = 0;
      std::memcpy(&raw, bytes, std::min<size_t>(size, 8));
      value.integer =
          WrapInteger(static_cast<int64_t>(raw), static_cast<int>(std::min<uint64_t>(size, 8)) * 8,
                      !IsUnsigned(*type));
      break;
    }
  }
  return value;
}

}  // namespace optiml::frontend
