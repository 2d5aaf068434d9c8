#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "frontend/clang_converter.h"

namespace optiml::frontend {

namespace {

struct VectorElement {
  const char* name;
  ast::TypeKind kind;
  int bits;
  bool is_signed;
};

// The element types of CUDA's built-in vectors (CUDA C++ Programming Guide 13.0, built-in vector
// types).
constexpr std::array<VectorElement, 12> kVectorElements = {{
    {"char", ast::TypeKind::kInt, 8, true},
    {"uchar", ast::TypeKind::kInt, 8, false},
    {"short", ast::TypeKind::kInt, 16, true},
    {"ushort", ast::TypeKind::kInt, 16, false},
    {"int", ast::TypeKind::kInt, 32, true},
    {"uint", ast::TypeKind::kInt, 32, false},
    {"long", ast::TypeKind::kInt, 64, true},
    {"ulong", ast::TypeKind::kInt, 64, false},
    {"longlong", ast::TypeKind::kInt, 64, true},
    {"ulonglong", ast::TypeKind::kInt, 64, false},
    {"float", ast::TypeKind::kFloat, 32, true},
    {"double", ast::TypeKind::kFloat, 64, true},
}};

bool IsVectorName(llvm::StringRef name) {
  if (name.size() < 4 || name.back() < '1' || name.back() > '4') {
    return false;
  }
  for (const VectorElement& element : kVectorElements) {
    if (name.drop_back() == element.name) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string Converter::TypeText(clang::QualType type) const {
  if (type->isDependentType()) {
    return type.getAsString(policy_);
  }
  return type.getCanonicalType().getAsString(policy_);
}

ast::TypePtr Converter::ConvertType(clang::QualType type) {
  const void* key = type.getAsOpaquePtr();
  const auto found = types_.find(key);
  if (found != types_.end()) {
    return found->second;
  }
  ast::TypePtr made = MakeType(type);
  if (open_records_.empty()) {  // types met while a record is open may lack its fields
    types_[key] = made;
  }
  return made;
}

ast::TypePtr Converter::MakeType(clang::QualType written) {
  auto type = std::make_shared<ast::Type>();
  clang::QualType canonical = written.getCanonicalType();
  if (canonical->isReferenceType()) {
    type->is_reference = true;
    canonical = canonical.getNonReferenceType().getCanonicalType();
    written = written.getNonReferenceType();
  }
  type->text = TypeText(written->isDependentType() ? written : canonical);
  type->is_const = canonical.isConstQualified();
  type->is_restrict = canonical.isRestrictQualified();
  // An `auto` whose value did not parse stays undeduced: it has no size.
  if (!canonical->isDependentType() && !canonical->isUndeducedType() &&
      !canonical->isIncompleteType() && !canonical->isFunctionType() &&
      !canonical->isVariableArrayType()) {
    type->size_bytes = static_cast<uint64_t>(context_.getTypeSizeInChars(canonical).getQuantity());
  }
  const clang::QualType plain = canonical.getUnqualifiedType();
  if (plain->isVoidType()) {
    type->kind = ast::TypeKind::kVoid;
  } else if (plain->isBooleanType()) {
    type->kind = ast::TypeKind::kBool;
    type->bits = 8;
  } else if (const auto* enumeration = plain->getAs<clang::EnumType>()) {
    type->kind = IsOfUnit(enumeration->getDecl()) ? ast::TypeKind::kInt : ast::TypeKind::kOther;
    const clang::QualType underlying = enumeration->getDecl()->getIntegerType();
    type->bits = underlying.isNull() ? 32 : static_cast<int>(context_.getTypeSize(underlying));
    type->is_signed = underlying.isNull() || underlying->isSignedIntegerType();
  } else if (plain->isIntegerType()) {
    type->kind = ast::TypeKind::kInt;
    type->bits = static_cast<int>(context_.getTypeSize(plain));
    type->is_signed = plain->isSignedIntegerType();
  } else if (plain->isRealFloatingType()) {
    type->kind = ast::TypeKind::kFloat;
    type->bits = static_cast<int>(context_.getTypeSize(plain));
    type->is_signed = true;
  } else if (plain->isNullPtrType()) {
    type->kind = ast::TypeKind::kPointer;
    type->element = ConvertType(context_.VoidTy);
  } else if (const auto* pointer = plain->getAs<clang::PointerType>()) {
    const clang::QualType pointee = pointer->getPointeeType();
    const auto* record = pointee->getAsRecordDecl();
    if (record != nullptr && !record->isCompleteDefinition() && !IsOfUnit(record)) {
      // cudaStream_t and its like: opaque handles.
      type->kind = ast::TypeKind::kOther;
      type->text = written.getUnqualifiedType().getAsString(policy_);
      if (record->getName() == "CUstream_st") {
        type->text = "cudaStream_t";
      } else if (record->getName() == "CUevent_st") {
        type->text = "cudaEvent_t";
      }
    } else {
      type->kind = ast::TypeKind::kPointer;
      type->element = ConvertType(pointee);
    }
  } else if (const auto* array = context_.getAsArrayType(plain)) {
    type->kind = ast::TypeKind::kArray;
    type->element = ConvertType(array->getElementType());
    type->count = -1;
    if (const auto* fixed = llvm::dyn_cast<clang::ConstantArrayType>(array)) {
      type->count = static_cast<int64_t>(fixed->getSize().getZExtValue());
    }
  } else if (const auto* record = plain->getAsRecordDecl()) {
    DescribeRecord(record, *type);
  } else {
    type->kind = ast::TypeKind::kOther;
  }
  return type;
}

void Converter::DescribeRecord(const clang::RecordDecl* record, ast::Type& type) {
  const llvm::StringRef name = record->getName();
  const bool of_unit = IsOfUnit(record);
  auto set_float = [&type](int bits, bool is_bfloat) {
    type.kind = ast::TypeKind::kFloat;
    type.bits = bits;
    type.is_signed = true;
    type.is_bfloat = is_bfloat;
  };
  if (!of_unit && name == "__half") {
    set_float(16, false);
    return;
  }
  if (!of_unit && name == "__nv_bfloat16") {
    set_float(16, true);
    return;
  }
  if (!of_unit && (name == "__nv_fp8_e4m3" || name == "__nv_fp8_e5m2")) {
    set_float(8, false);
    return;
  }
  if (!of_unit && (name == "__half2" || name == "__nv_bfloat162")) {
    type.kind = ast::TypeKind::kVector;
    type.count = 2;
    type.fields = FieldsOf(record);
    type.element = type.fields.empty() ? nullptr : type.fields.front().type;
    return;
  }
  if (!of_unit && name == "dim3") {
    type.kind = ast::TypeKind::kDim3;
    type.fields = FieldsOf(record);
    return;
  }
  if (!of_unit && IsVectorName(name)) {
    for (const VectorElement& element : kVectorElements) {
      if (name.drop_back() == element.name) {
        auto part = std::make_shared<ast::Type>();
        part->kind = element.kind;
        part->bits = element.bits;
        part->is_signed = element.is_signed;
        part->size_bytes = static_cast<uint64_t>(element.bits) / 8;
        type.kind = ast::TypeKind::kVector;
        type.count = name.back() - '0';
        type.fields = FieldsOf(record);
        if (!type.fields.empty()) {
          part->text = type.fields.front().type->text;
        }
        type.element = part;
      }
    }
    return;
  }
  const auto* enclosing = llvm::dyn_cast<clang::NamespaceDecl>(
      record->getDeclContext()->getEnclosingNamespaceContext());
  if (!of_unit && enclosing != nullptr) {  // std::, cooperative_groups:: ...
    type.kind = ast::TypeKind::kOther;
    return;
  }
  type.kind = ast::TypeKind::kStruct;
  type.fields = FieldsOf(record);
  if (const auto* cxx = llvm::dyn_cast<clang::CXXRecordDecl>(record)) {
    type.is_active = of_unit && IsActive(cxx->getDefinition());
  }
}

std::vector<ast::Field> Converter::FieldsOf(const clang::RecordDecl* record) {
  record = record->getDefinition();
  for (const clang::RecordDecl* open : open_records_) {
    if (open == record) {
      return {};
    }
  }
  if (record == nullptr || record->isDependentContext() || record->isInvalidDecl()) {
    return {};
  }
  const auto* cxx = llvm::dyn_cast<clang::CXXRecordDecl>(record);
  if (cxx != nullptr && (cxx->isPolymorphic() || cxx->getNumVBases() != 0 || cxx->isLambda())) {
    return {};
  }
  std::vector<ast::Field> fields;
  open_records_.push_back(record);
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  // Base classes are members without a name, in front of all others.
  for (const clang::CXXBaseSpecifier& base :
       cxx == nullptr ? clang::CXXRecordDecl::base_class_const_range(nullptr, nullptr)
                      : cxx->bases()) {
    fields.push_back(
        {"", ConvertType(base.getType()),
         static_cast<uint64_t>(
             layout.getBaseClassOffset(base.getType()->getAsCXXRecordDecl()).getQuantity())});
  }
  // Bytes that bit-fields share are one member, which has no name either.
  std::optional<ast::Field> bits;
  const auto end_bits = [&] {
    if (bits) {
      fields.push_back(*std::exchange(bits, std::nullopt));
    }
  };
  for (const clang::FieldDecl* field : record->fields()) {
    const uint64_t begin = layout.getFieldOffset(field->getFieldIndex());
    if (!field->isBitField()) {
      end_bits();
      fields.push_back({field->getNameAsString(), ConvertType(field->getType()), begin / 8});
      continue;
    }
    const uint64_t width = field->getBitWidthValue(context_);
    const uint64_t end = (begin + width + 7) / 8;
    if (width == 0) {
      continue;
    }
    if (bits && begin / 8 > bits->offset_bytes + bits->type->size_bytes) {
      end_bits();
    }
    auto shared = std::make_shared<ast::Type>();
    shared->kind = ast::TypeKind::kOther;
    shared->text = "bit-fields";
    const uint64_t first = bits ? bits->offset_bytes : begin / 8;
    shared->size_bytes = std::max(end, bits ? first + bits->type->size_bytes : end) - first;
    bits = ast::Field{"", shared, first};
  }
  end_bits();
  open_records_.pop_back();
  return fields;
}

}  // namespace optiml::frontend
