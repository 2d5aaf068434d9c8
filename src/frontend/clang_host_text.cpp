// The text for a host compiler that knows no CUDA: device functions are blanked, kernels become
// stubs that hand their arguments over, launches become calls (recorder/launcher.h). Line numbers
// stay true.
//
//   k<<<grid, block>>>(x, n)   ->   (::SPACE::Configure(__LINE__, grid, block), k(x, n))
//   cudaMalloc(&p, n)          ->   (::SPACE::At(__LINE__), cudaMalloc(&p, n))
//   __global__ void k(...) {.} ->   __global__ void k(...) { static char optiml_tag; ... }

#include <algorithm>
#include <optional>

#include "frontend/clang_converter.h"
#include "frontend/clang_text_edits.h"
#include "frontend/recorder_text.h"

namespace optiml::frontend {

namespace {

class HostTextMaker : public clang::RecursiveASTVisitor<HostTextMaker> {
 public:
  HostTextMaker(clang::ASTContext& context, const std::string& text)
      : context_(context),
        sources_(context.getSourceManager()),
        text_(text),
        space_("::" + RecorderNamespace(text)),
        edits_(context, text) {}

  ast::HostText Make() {
    VisitAll(context_.getTranslationUnitDecl());
    made_.text = edits_.Apply();
    return std::move(made_);
  }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr* call) {
    const clang::CallExpr* shape = call->getConfig();
    if (shape == nullptr) {
      return true;
    }
    const clang::SourceLocation open = shape->getBeginLoc();
    const auto callee = Offset(call->getCallee()->getBeginLoc(), open, false);
    const auto begin = Offset(open, open, false);
    const auto end = Offset(shape->getRParenLoc(), open, true);
    const auto close = Offset(call->getRParenLoc(), open, true);
    if (!callee || !begin || !end || !close || *begin < *callee || *end < *begin + kMark ||
        *close < *end + kMark || text_.compare(*begin, kMark, "<<<") != 0 ||
        text_.compare(*end, kMark, ">>>") != 0) {
      return Give("a launch that is put together by macros", call->getBeginLoc());
    }
    std::string inner = text_.substr(*begin + kMark, *end - *begin - kMark);
    if (inner.find("//") != std::string::npos || inner.find('#') != std::string::npos) {
      return Give("a comment or a directive between <<< and >>>", call->getBeginLoc());
    }
    std::replace(inner.begin(), inner.end(), '\n', ' ');
    for (size_t at = 0; (at = inner.find("\\ ", at)) != std::string::npos;) {
      inner[at] = ' ';  // of a line that went on
    }
    edits_.Insert(*callee, "(" + space_ + "::Configure(__LINE__, " + inner + "), ");
    edits_.Blank(*begin, *end + kMark);
    edits_.Insert(*close + 1, ")");
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    if (llvm::isa<clang::CUDAKernelCallExpr>(call)) {
      return true;
    }
    std::string name;
    const clang::Expr* callee = call->getCallee()->IgnoreParenImpCasts();
    if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(callee)) {
      name = named->getNameInfo().getAsString();
    } else if (const auto* found = llvm::dyn_cast<clang::OverloadExpr>(callee)) {
      name = found->getName().getAsString();
    }
    const auto begin = Offset(call->getBeginLoc(), call->getBeginLoc(), false);
    const auto close = Offset(call->getRParenLoc(), call->getBeginLoc(), true);
    // Without its line a call is traced all the same.
    if (name.starts_with("cuda") && begin && close && *begin < *close && text_[*close] == ')') {
      edits_.Insert(*begin, "(" + space_ + "::At(__LINE__), ");
      edits_.Insert(*close + 1, ")");
    }
    return true;
  }

  // Processor state is memory that no comparison sees: control registers, segment bases, random
  // numbers. The time-stamp counter traps.
  bool VisitDeclRefExpr(clang::DeclRefExpr* expr) {
    const std::string name = expr->getNameInfo().getAsString();
    for (const char* prefix : {"__builtin_ia32_", "_mm", "_rd", "__rd", "_wr", "_x"}) {
      if (name.starts_with(prefix) && name.find("rdtsc") == std::string::npos) {
        return Give("a processor's own instruction, " + name, expr->getBeginLoc());
      }
    }
    return true;
  }

  bool VisitAsmStmt(clang::AsmStmt* stmt) { return Give("inline assembly", stmt->getBeginLoc()); }

 private:
  static constexpr size_t kMark = 3;  // characters of <<< and >>>

  bool Give(const std::string& what, clang::SourceLocation at) {
    if (made_.problem.empty()) {
      made_.problem = what;
      made_.problem_line = static_cast<int>(sources_.getExpansionLineNumber(at));
    }
    return true;
  }

  // Where a token of an expression is written, at the level of macros on which `level` is: in the
  // file, in a macro's body, or in a macro's argument. Empty when it is not in this file.
  std::optional<size_t> Offset(clang::SourceLocation token, clang::SourceLocation level,
                               bool last) const {
    const clang::FileID file = sources_.getFileID(level);
    while (token.isMacroID() && sources_.getFileID(token) != file) {
      const clang::CharSourceRange range = sources_.getImmediateExpansionRange(token);
      token = last ? range.getEnd() : range.getBegin();
    }
    if (token.isInvalid() || sources_.getFileID(token) != file) {
      return std::nullopt;
    }
    const clang::SourceLocation spelled = sources_.getSpellingLoc(token);
    if (sources_.getFileID(spelled) != sources_.getMainFileID()) {
      return std::nullopt;
    }
    return sources_.getFileOffset(spelled);
  }

  void VisitAll(clang::DeclContext* declarations) {
    for (clang::Decl* decl : declarations->noload_decls()) {
      if (decl->isImplicit()) {
        continue;
      }
      if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl)) {
        VisitAll(space);
      } else if (auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(decl)) {
        VisitAll(linkage);
      } else if (sources_.getFileID(sources_.getExpansionLoc(decl->getLocation())) ==
                 sources_.getMainFileID()) {
        VisitOwn(decl);
      }
    }
  }

  void VisitOwn(clang::Decl* decl) {
    if (auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl)) {
      VisitFunction(pattern->getTemplatedDecl());
    } else if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
      VisitFunction(function);
    } else if (auto* of_class = llvm::dyn_cast<clang::ClassTemplateDecl>(decl)) {
      VisitAll(of_class->getTemplatedDecl());
    } else if (auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) {
      if (record->isThisDeclarationADefinition()) {
        VisitAll(record);
      }
    } else if (!decl->hasAttr<clang::CUDADeviceAttr>()) {
      TraverseDecl(decl);
    }
  }

  void VisitFunction(clang::FunctionDecl* function) {
    if (function->hasAttr<clang::CUDAGlobalAttr>()) {
      if (function->doesThisDeclarationHaveABody()) {
        MakeStub(function);
      }
      return;
    }
    if (function->hasAttr<clang::CUDADeviceAttr>() && !function->hasAttr<clang::CUDAHostAttr>()) {
      if (!function->isDefaulted() && !function->isDeleted()) {
        edits_.BlankDeclaration(WholeFunction(function));
      }
      return;
    }
    if (function->doesThisDeclarationHaveABody()) {
      TraverseDecl(function);
    }
  }

  void MakeStub(const clang::FunctionDecl* kernel) {
    const clang::SourceRange body = kernel->getBody()->getSourceRange();
    const auto begin = Offset(body.getBegin(), body.getBegin(), false);
    const auto end = Offset(body.getEnd(), body.getBegin(), true);
    if (!begin || !end || *end <= *begin || text_[*begin] != '{' || text_[*end] != '}') {
      Give("a kernel that is put together by macros", kernel->getLocation());
      return;
    }
    std::string names;
    for (const clang::ParmVarDecl* parameter : kernel->parameters()) {
      std::string name = parameter->getNameAsString();
      const auto at = Offset(parameter->getLocation(), body.getBegin(), false);
      if (name.empty()) {
        if (!at) {
          Give("a kernel that is put together by macros", kernel->getLocation());
          return;
        }
        name = "optiml_parameter" + std::to_string(parameter->getFunctionScopeIndex());
        edits_.Insert(*at, " " + name);
      }
      names += ", " + name + (parameter->isParameterPack() ? "..." : "");
    }
    edits_.Blank(*begin + 1, *end);
    edits_.Insert(*begin + 1,
                  " static char optiml_tag; " + space_ + "::Hand(&optiml_tag" + names + "); ");
  }

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  const std::string& text_;
  std::string space_;
  TextEdits edits_;
  ast::HostText made_;
};

}  // namespace

ast::HostText MakeHostText(clang::ASTContext& context, const std::string& text) {
  return HostTextMaker(context, text).Make();
}

}  // namespace optiml::frontend
