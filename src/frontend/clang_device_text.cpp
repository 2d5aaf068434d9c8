// Blanks what only the host needs, so that NVRTC, which knows no host functions, compiles the rest.
// Line numbers stay true; a constexpr function without annotation gets them, on its own line.

#include <algorithm>

#include "frontend/clang_converter.h"
#include "frontend/clang_text_edits.h"

namespace optiml::frontend {

namespace {

class DeviceTextMaker {
 public:
  DeviceTextMaker(clang::ASTContext& context, const std::string& text)
      : context_(context), sources_(context.getSourceManager()), edits_(context, text) {}

  std::string Make() {
    Visit(context_.getTranslationUnitDecl());
    return edits_.Apply();
  }

 private:
  void Visit(const clang::DeclContext* declarations) {
    for (const clang::Decl* decl : declarations->noload_decls()) {
      if (decl->isImplicit()) {
        continue;
      }
      if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl)) {
        Visit(space);
        continue;
      }
      if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(decl)) {
        Visit(linkage);
        continue;
      }
      if (sources_.getFileID(sources_.getExpansionLoc(decl->getLocation())) !=
          sources_.getMainFileID()) {
        continue;
      }
      VisitOwn(decl);
    }
  }

  void VisitOwn(const clang::Decl* decl) {
    if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl)) {
      VisitFunction(pattern->getTemplatedDecl());
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
      VisitFunction(function);
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
      if (IsHostVariable(variable)) {
        edits_.BlankDeclaration(variable->getSourceRange());
      }
    } else if (const auto* pattern_class = llvm::dyn_cast<clang::ClassTemplateDecl>(decl)) {
      VisitRecord(pattern_class->getTemplatedDecl(), pattern_class->getSourceRange());
    } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) {
      VisitRecord(record, record->getSourceRange());
    } else if (const auto* alias = llvm::dyn_cast<clang::TypedefNameDecl>(decl)) {
      if (IsHostType(alias->getUnderlyingType())) {
        edits_.BlankDeclaration(alias->getSourceRange());
      }
    } else if (const auto* directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(decl)) {
      // std itself has a place there, std::chrono has none.
      const clang::NamespaceDecl* space = directive->getNominatedNamespace();
      if (IsInStd(space)) {
        edits_.BlankDeclaration(directive->getSourceRange());
      }
    } else if (const auto* friendly = llvm::dyn_cast<clang::FriendDecl>(decl)) {
      VisitFriend(*friendly);
    } else if (const auto* use = llvm::dyn_cast<clang::UsingDecl>(decl)) {
      for (const clang::UsingShadowDecl* shadow : use->shadows()) {
        if (!llvm::isa<clang::FunctionDecl>(shadow->getTargetDecl()) &&
            !llvm::isa<clang::FunctionTemplateDecl>(shadow->getTargetDecl())) {
          edits_.BlankDeclaration(use->getSourceRange());
          break;
        }
      }
    }
  }

  void VisitFunction(const clang::FunctionDecl* function) {
    if (function->isDefaulted() || function->isDeleted()) {
      // NVRTC takes a virtual one, such as a destructor, for a host function.
      const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
      if (method != nullptr && method->isVirtual() && !IsForDevice(function)) {
        edits_.BlankDeclaration(WholeFunction(function));
      }
      return;
    }
    const auto* device = function->getAttr<clang::CUDADeviceAttr>();
    if (device == nullptr && !function->hasAttr<clang::CUDAGlobalAttr>()) {
      edits_.BlankDeclaration(WholeFunction(function));
      return;
    }
    if (device != nullptr && device->isImplicit() && !function->getBeginLoc().isMacroID()) {
      edits_.Insert(sources_.getFileOffset(function->getBeginLoc()), "__host__ __device__ ");
    }
  }

  // A function that is defined in the class that it is a friend of.
  void VisitFriend(const clang::FriendDecl& decl) {
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl.getFriendDecl());
    if (function == nullptr || !function->isThisDeclarationADefinition()) {
      return;
    }
    if (!function->hasAttr<clang::CUDADeviceAttr>()) {
      edits_.BlankDeclaration(decl.getSourceRange());
    } else {
      VisitFunction(function);
    }
  }

  void VisitRecord(const clang::CXXRecordDecl* record, clang::SourceRange range) {
    if (!record->isThisDeclarationADefinition()) {
      return;
    }
    for (const clang::FieldDecl* field : record->fields()) {
      if (IsHostType(field->getType())) {
        edits_.BlankDeclaration(range);
        return;
      }
    }
    for (const clang::CXXBaseSpecifier& base : record->bases()) {
      if (IsHostType(base.getType())) {
        edits_.BlankDeclaration(range);
        return;
      }
    }
    Visit(record);
  }

  static bool IsForDevice(const clang::FunctionDecl* function) {
    const auto* device = function->getAttr<clang::CUDADeviceAttr>();
    return device != nullptr && !device->isImplicit();
  }

  bool IsHostVariable(const clang::VarDecl* variable) const {
    for (const clang::Attr* attribute : variable->attrs()) {
      if (!attribute->isImplicit() && (llvm::isa<clang::CUDADeviceAttr>(attribute) ||
                                       llvm::isa<clang::CUDAConstantAttr>(attribute) ||
                                       llvm::isa<clang::CUDASharedAttr>(attribute) ||
                                       llvm::isa<clang::HIPManagedAttr>(attribute))) {
        return false;
      }
    }
    if (variable->isStaticDataMember() || variable->isTemplated()) {
      return false;
    }
    const clang::QualType type = variable->getType();
    if (variable->isConstexpr()) {
      return IsHostType(type);
    }
    // A constant whose value is known may be used by device code.
    return !(type.isConstQualified() && type->isArithmeticType() && variable->hasInit() &&
             variable->hasConstantInitialization());
  }

  // Inside of std, at any depth.
  static bool IsInStd(const clang::Decl* decl) {
    for (const clang::DeclContext* at = decl->getDeclContext(); at != nullptr;
         at = at->getParent()) {
      if (at->isStdNamespace()) {
        return true;
      }
    }
    return false;
  }

  // A class of namespace std that has no place in device code.
  bool IsHostType(clang::QualType type) const {
    type = type.getCanonicalType().getNonReferenceType();
    while (true) {
      if (const auto* array = context_.getAsArrayType(type)) {
        type = array->getElementType();
      } else if (type->isPointerType()) {
        type = type->getPointeeType();
      } else {
        break;
      }
    }
    const auto* record = type->getAsCXXRecordDecl();
    if (record == nullptr || !IsInStd(record)) {
      return false;
    }
    // Traits and arrays are fine on the device.
    const llvm::StringRef name = record->getName();
    static constexpr const char* kDeviceNames[] = {"integral_constant", "is_same", "conditional",
                                                   "enable_if",         "array",   "pair",
                                                   "numeric_limits",    "decay",   "remove_cv"};
    return std::none_of(std::begin(kDeviceNames), std::end(kDeviceNames),
                        [&](const char* known) { return name == known; });
  }

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  TextEdits edits_;
};

}  // namespace

std::string MakeDeviceText(clang::ASTContext& context, const std::string& text) {
  return DeviceTextMaker(context, text).Make();
}

}  // namespace optiml::frontend
