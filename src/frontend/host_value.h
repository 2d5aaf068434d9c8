#ifndef OPTIML_FRONTEND_HOST_VALUE_H_
#define OPTIML_FRONTEND_HOST_VALUE_H_

// HostValue: a value of an interpreted launcher, and the arithmetic of C++ on it: integers of each
// width wrap, float and double round as their type says, pointers are addresses of HostMemory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.h"

namespace optiml::frontend {

enum class ValueKind {
  kNone,     // void
  kInteger,  // bool, integers, enumerations, pointers, handles, closures: in `integer`
  kReal,     // half, bfloat16, float, double: in `real`, rounded to the type
  kBytes,    // structs, vectors, dim3, arrays: in `bytes`
};

struct HostValue {
  ast::TypePtr type;
  int64_t integer = 0;
  double real = 0;
  std::vector<std::byte> bytes;
};

// Whether values of the type are lambdas.
bool IsClosure(const ast::Type& type);
ValueKind KindOf(const ast::Type& type);

// The pointers inside of a value of the type: where they are, in bytes, and their types.
std::vector<std::pair<uint64_t, const ast::Type*>> PointerFields(const ast::Type& type);

// Bytes of a variable of this type.
uint64_t StorageBytes(const ast::Type& type);

// The low `bits` of `value`, extended as the type says.
int64_t WrapInteger(int64_t value, int bits, bool is_signed);
// To the precision of the type. REQUIRES: type.kind == kFloat
double RoundReal(double value, const ast::Type& type);
bool IsUnsigned(const ast::Type& type);  // pointers are

// The conversions of C++; empty when a real does not fit the integer type or the types do not
// convert.
std::optional<HostValue> ConvertValue(const HostValue& value, const ast::TypePtr& type);

// The type in which two arithmetic operands meet (usual arithmetic conversions).
ast::TypePtr CommonType(const ast::TypePtr& a, const ast::TypePtr& b);

// One binary operator on operands of one type (shifts: of the left's type); pointers are handled by
// the interpreter. Empty on division by zero and on quotients that overflow.
std::optional<HostValue> ApplyBinary(const std::string& op, const HostValue& left,
                                     const HostValue& right, const ast::TypePtr& type);

bool IsTrue(const HostValue& value);

HostValue IntegerValue(int64_t value, const ast::TypePtr& type);

// Little endian, as in memory. REQUIRES: size of `to` = StorageBytes(*value.type)
std::vector<std::byte> EncodeValue(const HostValue& value);
HostValue DecodeValue(const ast::TypePtr& type, const std::byte* bytes);

// The types that builtins return.
const ast::TypePtr& IntType();
const ast::TypePtr& DoubleType();
const ast::TypePtr& VoidType();

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_HOST_VALUE_H_
