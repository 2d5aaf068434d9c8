// What a file makes happen without a statement that says so, and what makes a name of the source
// another one for the linker. A launcher is followed statement by statement: it must not be able to
// leave that path.

#include "frontend/clang_converter.h"

namespace optiml::frontend {

void Converter::NoteHiddenEffects(const clang::Decl* decl) {
  const auto note = [&](const std::string& what) {
    unit_.hidden_effects.push_back({what, Line(decl->getLocation())});
  };
  if (llvm::isa<clang::FileScopeAsmDecl>(decl)) {
    note("assembly outside of a function");
    return;
  }
  const auto* named = llvm::dyn_cast<clang::NamedDecl>(decl);
  if (named == nullptr) {
    return;
  }
  const std::string name = "\"" + named->getNameAsString() + "\"";
  if (decl->hasAttr<clang::ConstructorAttr>() || decl->hasAttr<clang::DestructorAttr>()) {
    note("function " + name + " runs when the program starts or ends");
  }
  if (decl->hasAttr<clang::AliasAttr>() || decl->hasAttr<clang::WeakRefAttr>() ||
      decl->hasAttr<clang::IFuncAttr>() || decl->hasAttr<clang::AsmLabelAttr>()) {
    note(name + " is another name for the linker");
  }
  if (decl->hasAttr<clang::SectionAttr>() || decl->hasAttr<clang::InitPriorityAttr>()) {
    note(name + " is put into a section or an order of initialisation of its own");
  }
  if (decl->hasAttr<clang::CleanupAttr>()) {
    note("a function runs when " + name + " goes out of scope");
  }
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
    if (function->isReplaceableGlobalAllocationFunction()) {
      note(name + " replaces that of the C++ library");
    }
  }
}

bool Converter::IsActive(const clang::CXXRecordDecl* record) {
  if (record == nullptr || record->isLambda() || record->isDependentContext()) {
    return false;
  }
  if (!record->hasTrivialDestructor() || !record->isTriviallyCopyable() ||
      record->isPolymorphic()) {
    return true;
  }
  // The constructor of a base is none of the statements of the derived class's.
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    const clang::CXXRecordDecl* of = base.getType()->getAsCXXRecordDecl();
    if (of != nullptr && of->hasUserDeclaredConstructor()) {
      return true;
    }
  }
  return false;
}

}  // namespace optiml::frontend
