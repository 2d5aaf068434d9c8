// Blanks what only the host needs, so that NVRTC, which knows no host functions, compiles the rest.
// Line numbers stay true; a constexpr function without annotation gets them, on its own line.

#include <algorithm>

#include "frontend/clang_converter.h"

namespace optiml::frontend {

namespace {

class DeviceTextMaker {
 public:
  DeviceTextMaker(clang::ASTContext& context, const std::string& text)
      : context_(context), sources_(context.getSourceManager()), text_(text) {}

  std::string Make() {
    Visit(context_.getTranslationUnitDecl());
    return Apply();
  }

 private:
  struct Blank {
    size_t begin;
    size_t end;
  };
  struct Insertion {
    size_t at;
    std::string text;
  };

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
        BlankDeclaration(variable->getSourceRange());
      }
    } else if (const auto* pattern_class = llvm::dyn_cast<clang::ClassTemplateDecl>(decl)) {
      VisitRecord(pattern_class->getTemplatedDecl(), pattern_class->getSourceRange());
    } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) {
      VisitRecord(record, record->getSourceRange());
    } else if (const auto* alias = llvm::dyn_cast<clang::TypedefNameDecl>(decl)) {
      if (IsHostType(alias->getUnderlyingType())) {
        BlankDeclaration(alias->getSourceRange());
      }
    } else if (const auto* use = llvm::dyn_cast<clang::UsingDecl>(decl)) {
      for (const clang::UsingShadowDecl* shadow : use->shadows()) {
        if (!llvm::isa<clang::FunctionDecl>(shadow->getTargetDecl()) &&
            !llvm::isa<clang::FunctionTemplateDecl>(shadow->getTargetDecl())) {
          BlankDeclaration(use->getSourceRange());
          break;
        }
      }
    }
  }

  void VisitFunction(const clang::FunctionDecl* function) {
    if (function->isDefaulted() || function->isDeleted()) {
      return;
    }
    const auto* device = function->getAttr<clang::CUDADeviceAttr>();
    if (device == nullptr && !function->hasAttr<clang::CUDAGlobalAttr>()) {
      BlankDeclaration(WholeFunction(function));
      return;
    }
    if (device != nullptr && device->isImplicit() && !function->getBeginLoc().isMacroID()) {
      insertions_.push_back(
          {sources_.getFileOffset(function->getBeginLoc()), "__host__ __device__ "});
    }
  }

  void VisitRecord(const clang::CXXRecordDecl* record, clang::SourceRange range) {
    if (!record->isThisDeclarationADefinition()) {
      return;
    }
    for (const clang::FieldDecl* field : record->fields()) {
      if (IsHostType(field->getType())) {
        BlankDeclaration(range);
        return;
      }
    }
    for (const clang::CXXBaseSpecifier& base : record->bases()) {
      if (IsHostType(base.getType())) {
        BlankDeclaration(range);
        return;
      }
    }
    Visit(record);
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
    if (record == nullptr || !record->isInStdNamespace()) {
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

  void BlankDeclaration(clang::SourceRange range) {
    const clang::CharSourceRange from = sources_.getExpansionRange(range.getBegin());
    const clang::CharSourceRange to = sources_.getExpansionRange(range.getEnd());
    size_t begin = sources_.getFileOffset(from.getBegin());
    size_t end = sources_.getFileOffset(to.getEnd());
    if (to.isTokenRange()) {
      end += clang::Lexer::MeasureTokenLength(to.getEnd(), sources_, context_.getLangOpts());
    }
    // The semicolon or comma that belongs to it.
    if (const auto next =
            clang::Lexer::findNextToken(to.getEnd(), sources_, context_.getLangOpts());
        next.has_value() && (next->is(clang::tok::semi) || next->is(clang::tok::comma))) {
      end = std::max<size_t>(end, sources_.getFileOffset(next->getLocation()) + 1);
    }
    blanks_.push_back({begin, std::min(end, text_.size())});
  }

  std::string Apply() {
    std::string result = text_;
    if (result.starts_with("\xEF\xBB\xBF")) {
      result.replace(0, 3, "   ");  // a byte order mark, which NVRTC takes for a token
    }
    for (const Blank& blank : blanks_) {
      size_t at = blank.begin;
      while (at < blank.end) {
        const size_t line_begin = result.rfind('\n', at) + 1;  // 0 when there is none
        size_t line_end = result.find('\n', at);
        line_end = std::min(line_end == std::string::npos ? blank.end : line_end, blank.end);
        if (!IsDirective(line_begin, line_end) || at != line_begin) {
          std::fill(result.begin() + static_cast<std::ptrdiff_t>(at),
                    result.begin() + static_cast<std::ptrdiff_t>(line_end), ' ');
        }
        at = line_end + 1;
      }
    }
    std::sort(insertions_.begin(), insertions_.end(),
              [](const Insertion& a, const Insertion& b) { return a.at > b.at; });
    for (const Insertion& insertion : insertions_) {
      result.insert(insertion.at, insertion.text);
    }
    return result;
  }

  // Whether the line before `begin` goes on in the one that begins there.
  bool IsContinued(size_t begin) const {
    const size_t back = begin >= 3 && text_[begin - 2] == '\r' ? 3 : 2;
    return begin >= back && text_[begin - 1] == '\n' && text_[begin - back] == '\\';
  }

  // Directives inside a function outlive it, but for pragmas. A continued line is one directive.
  bool IsDirective(size_t begin, size_t end) const {
    while (IsContinued(begin)) {
      begin = text_.rfind('\n', begin - 2) + 1;
    }
    const size_t first = text_.find_first_not_of(" \t", begin);
    if (first == std::string::npos || first >= end || text_[first] != '#') {
      return false;
    }
    const size_t word = text_.find_first_not_of(" \t", first + 1);
    return word == std::string::npos || text_.compare(word, 6, "pragma") != 0;
  }

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  const std::string& text_;
  std::vector<Blank> blanks_;
  std::vector<Insertion> insertions_;
};

}  // namespace

std::string MakeDeviceText(clang::ASTContext& context, const std::string& text) {
  return DeviceTextMaker(context, text).Make();
}

}  // namespace optiml::frontend
