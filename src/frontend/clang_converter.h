#ifndef OPTIML_FRONTEND_CLANG_CONVERTER_H_
#define OPTIML_FRONTEND_CLANG_CONVERTER_H_

// Converter: Clang's tree of one translation unit -> ast::SourceUnit.
//
// Functions get their ids in source order; instances of templates follow in the order in which
// something uses them. Bodies are converted from a work list, so that a body may name functions
// that were not met before. One converter serves one unit; it lives as long as Clang's context.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/clang_includes.h"

namespace optiml::frontend {

class Converter {
 public:
  Converter(clang::ASTContext& context, ast::SourceUnit& unit);

  // Fills the unit's functions, variables and device text; its path and text are set before.
  void Run();

 private:
  using MutableExpr = std::shared_ptr<ast::Expr>;
  using MutableStmt = std::shared_ptr<ast::Stmt>;

  // clang_types.cpp
  ast::TypePtr ConvertType(clang::QualType type);
  ast::TypePtr MakeType(clang::QualType type);
  void DescribeRecord(const clang::RecordDecl* record, ast::Type& type);
  std::vector<ast::Field> FieldsOf(const clang::RecordDecl* record);
  std::string TypeText(clang::QualType type) const;

  // clang_expressions.cpp. What is nested deeper than kMaxDepth becomes kUnsupported, so that
  // whoever walks the tree needs no more stack than ordinary code does.
  static constexpr int kMaxDepth = 1000;
  ast::ExprPtr ConvertExpr(const clang::Expr* expr);
  ast::ExprPtr ConvertNested(const clang::Expr* expr);
  ast::ExprPtr ConvertReference(const clang::DeclRefExpr* expr);
  ast::ExprPtr ConvertLiteralValue(const clang::Expr* expr, const clang::APValue& value);
  ast::ExprPtr ConvertMember(const clang::MemberExpr* expr);
  ast::ExprPtr ConvertCast(const clang::CastExpr* expr);
  ast::ExprPtr ConvertUnary(const clang::UnaryOperator* expr);
  ast::ExprPtr ConvertBinary(const clang::BinaryOperator* expr);
  ast::ExprPtr ConvertCall(const clang::CallExpr* expr);
  ast::ExprPtr ConvertMethodCall(const clang::CXXMemberCallExpr* expr);
  ast::ExprPtr ConvertOperatorCall(const clang::CXXOperatorCallExpr* expr);
  ast::ExprPtr ConvertLaunch(const clang::CUDAKernelCallExpr* expr);
  ast::ExprPtr ConvertConstruct(const clang::CXXConstructExpr* expr);
  ast::ExprPtr ConvertInitList(const clang::InitListExpr* expr);
  ast::ExprPtr ConvertNew(const clang::CXXNewExpr* expr);
  ast::ExprPtr ConvertLambda(const clang::LambdaExpr* expr);
  ast::ExprPtr Unsupported(const clang::Expr* expr, const std::string& what);
  ast::ExprPtr FoldCall(const clang::CallExpr* expr);
  MutableExpr NewExpr(ast::ExprKind kind, const clang::Expr* expr);
  ast::ExprPtr Finish(MutableExpr expr) const;  // widens in_macro over the operands
  ast::ExprPtr Dereferenced(const clang::Expr* base, bool is_arrow);
  // "threadIdx.x", "warpSize" or "".
  static std::string BuiltinName(const clang::Expr* expr);

  // clang_statements.cpp
  ast::StmtPtr ConvertStmt(const clang::Stmt* stmt, int unroll = 0);
  ast::StmtPtr ConvertNested(const clang::Stmt* stmt, int unroll);
  ast::StmtPtr ConvertIf(const clang::IfStmt* stmt);
  ast::StmtPtr ConvertFor(const clang::ForStmt* stmt, int unroll);
  ast::StmtPtr ConvertSwitch(const clang::SwitchStmt* stmt);
  ast::StmtPtr ConvertDeclaration(const clang::DeclStmt* stmt);
  ast::StmtPtr ConvertAttributed(const clang::AttributedStmt* stmt);
  ast::StmtPtr UnsupportedStmt(const clang::Stmt* stmt, const std::string& what);
  MutableStmt NewStmt(ast::StmtKind kind, const clang::Stmt* stmt);
  ast::StmtPtr Finish(MutableStmt stmt) const;

  // clang_hidden.cpp
  void NoteHiddenEffects(const clang::Decl* decl);
  static bool IsActive(const clang::CXXRecordDecl* record);

  // clang_converter.cpp
  void CollectDeclarations(const clang::DeclContext* context);
  void CollectFunction(const clang::FunctionDecl* function);
  void CollectTemplate(const clang::FunctionTemplateDecl* pattern);
  void ConvertPending();
  void CollectKernelInstances();
  int FunctionId(const clang::FunctionDecl* function);  // -1: not of this file
  int VariableId(const clang::VarDecl* variable);
  int ThisVariableId(const clang::CXXMethodDecl* method);
  void ConvertFunction(int id, const clang::FunctionDecl* function);
  std::string NameExpression(const clang::FunctionDecl* function) const;
  std::string QualifiedName(const clang::NamedDecl* decl) const;
  std::string TemplateArguments(const clang::FunctionDecl* function) const;
  void ReadAttributes(const clang::FunctionDecl* from, ast::Function& to);

  bool InMainFile(clang::SourceLocation location) const;
  bool IsOfUnit(const clang::Decl* decl) const;
  int Line(clang::SourceLocation location) const;
  ast::TextRange Range(clang::SourceRange range) const;
  ast::TextRange FunctionRange(const clang::FunctionDecl* function) const;
  std::string Text(clang::SourceRange range) const;
  std::string Spelling(clang::SourceLocation location) const;

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  clang::PrintingPolicy policy_;
  ast::SourceUnit& unit_;
  std::map<const void*, ast::TypePtr> types_;
  std::vector<const clang::RecordDecl*> open_records_;  // whose fields are being listed
  std::map<const clang::VarDecl*, int> variable_ids_;
  std::map<const clang::FunctionDecl*, int> function_ids_;
  std::map<const clang::CXXMethodDecl*, int> this_ids_;
  int depth_ = 0;  // of expressions and statements
  const clang::CXXMethodDecl* current_method_ = nullptr;
  std::vector<const clang::FunctionTemplateDecl*> kernel_templates_;
  std::deque<std::pair<int, const clang::FunctionDecl*>> pending_;
};

// From the template header or extern "C" to the closing brace.
clang::SourceRange WholeFunction(const clang::FunctionDecl* function);

// clang_device_text.cpp. The text for NVRTC: `text` without what only the host needs (ast.h says
// more).
std::string MakeDeviceText(clang::ASTContext& context, const std::string& text);

// clang_host_text.cpp. The text for a host compiler.
ast::HostText MakeHostText(clang::ASTContext& context, const std::string& text);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_CLANG_CONVERTER_H_
