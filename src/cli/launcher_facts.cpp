#include "cli/launcher_facts.h"

namespace optiml {

std::optional<DType> DTypeOf(const ast::Type& type) {
  switch (type.kind) {
    case ast::TypeKind::kBool:
      return DType::kBool;
    case ast::TypeKind::kInt:
      switch (type.bits) {
        case 8:
          return type.is_signed ? DType::kI8 : DType::kU8;
        case 16:
          return type.is_signed ? DType::kI16 : DType::kU16;
        case 32:
          return type.is_signed ? DType::kI32 : DType::kU32;
        case 64:
          return type.is_signed ? DType::kI64 : DType::kU64;
        default:
          return std::nullopt;
      }
    case ast::TypeKind::kFloat:
      switch (type.bits) {
        case 16:
          return type.is_bfloat ? DType::kBf16 : DType::kF16;
        case 32:
          return DType::kF32;
        case 64:
          return DType::kF64;
        default:
          return std::nullopt;
      }
    default:
      return std::nullopt;
  }
}

std::vector<LauncherFact> ToLauncherFacts(const std::vector<LauncherParameter>& parameters) {
  std::vector<LauncherFact> facts;
  for (const LauncherParameter& parameter : parameters) {
    LauncherFact fact;
    fact.name = parameter.name;
    fact.line = parameter.line;
    if (parameter.type != nullptr) {
      fact.is_pointer = parameter.type->kind == ast::TypeKind::kPointer;
      const ast::Type* scalar =
          fact.is_pointer ? parameter.type->element.get() : parameter.type.get();
      if (scalar != nullptr) {
        fact.points_to_const = fact.is_pointer && scalar->is_const;
        fact.dtype = DTypeOf(*scalar);
      }
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace optiml
