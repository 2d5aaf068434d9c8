#include "frontend/clang_converter.h"

namespace optiml::frontend {

Converter::MutableStmt Converter::NewStmt(ast::StmtKind kind, const clang::Stmt* stmt) {
  auto made = std::make_shared<ast::Stmt>();
  made->kind = kind;
  made->line = Line(stmt->getBeginLoc());
  made->range = Range(stmt->getSourceRange());
  return made;
}

ast::StmtPtr Converter::Finish(MutableStmt stmt) const {
  bool in_macro = stmt->range.in_macro;
  for (const ast::ExprPtr& expr : {stmt->expr, stmt->step}) {
    in_macro = in_macro || (expr != nullptr && expr->range.in_macro);
  }
  for (const ast::StmtPtr& child : stmt->children) {
    in_macro = in_macro || child->range.in_macro;
  }
  for (const int id : stmt->variables) {
    const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
    in_macro = in_macro || (variable.init != nullptr && variable.init->range.in_macro);
  }
  stmt->range.in_macro = in_macro;
  return stmt;
}

ast::StmtPtr Converter::UnsupportedStmt(const clang::Stmt* stmt, const std::string& what) {
  auto made = NewStmt(ast::StmtKind::kUnsupported, stmt);
  made->name = what;
  made->text = Text(stmt->getSourceRange());
  return made;
}

ast::StmtPtr Converter::ConvertStmt(const clang::Stmt* stmt, int unroll) {
  if (depth_ >= kMaxDepth) {
    return UnsupportedStmt(stmt, "nesting beyond " + std::to_string(kMaxDepth) + " levels");
  }
  ++depth_;
  ast::StmtPtr made = ConvertNested(stmt, unroll);
  --depth_;
  return made;
}

ast::StmtPtr Converter::ConvertNested(const clang::Stmt* stmt, int unroll) {
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(stmt)) {
    auto made = NewStmt(ast::StmtKind::kBlock, stmt);
    for (const clang::Stmt* child : block->body()) {
      made->children.push_back(ConvertStmt(child));
    }
    return Finish(made);
  }
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(stmt)) {
    return ConvertDeclaration(declaration);
  }
  if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(stmt)) {
    return ConvertAttributed(attributed);
  }
  if (const auto* choice = llvm::dyn_cast<clang::IfStmt>(stmt)) {
    return ConvertIf(choice);
  }
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(stmt)) {
    return ConvertFor(loop, unroll);
  }
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(stmt)) {
    if (loop->getConditionVariable() != nullptr) {
      return UnsupportedStmt(stmt, "declaration in a while condition");
    }
    auto made = NewStmt(ast::StmtKind::kWhile, stmt);
    made->expr = ConvertExpr(loop->getCond());
    made->children = {ConvertStmt(loop->getBody())};
    made->unroll = unroll;
    return Finish(made);
  }
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(stmt)) {
    auto made = NewStmt(ast::StmtKind::kDo, stmt);
    made->expr = ConvertExpr(loop->getCond());
    made->children = {ConvertStmt(loop->getBody())};
    made->unroll = unroll;
    return Finish(made);
  }
  if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(stmt)) {
    return ConvertSwitch(choice);
  }
  if (const auto* result = llvm::dyn_cast<clang::ReturnStmt>(stmt)) {
    auto made = NewStmt(ast::StmtKind::kReturn, stmt);
    if (result->getRetValue() != nullptr) {
      made->expr = ConvertExpr(result->getRetValue());
    }
    return Finish(made);
  }
  if (llvm::isa<clang::BreakStmt>(stmt)) {
    return NewStmt(ast::StmtKind::kBreak, stmt);
  }
  if (llvm::isa<clang::ContinueStmt>(stmt)) {
    return NewStmt(ast::StmtKind::kContinue, stmt);
  }
  if (llvm::isa<clang::NullStmt>(stmt)) {
    return NewStmt(ast::StmtKind::kBlock, stmt);
  }
  if (llvm::isa<clang::AsmStmt>(stmt)) {
    auto made = NewStmt(ast::StmtKind::kAsm, stmt);
    made->text = Text(stmt->getSourceRange());
    return made;
  }
  if (const auto* expr = llvm::dyn_cast<clang::Expr>(stmt)) {
    auto made = NewStmt(ast::StmtKind::kExpression, stmt);
    made->expr = ConvertExpr(expr);
    return Finish(made);
  }
  if (llvm::isa<clang::CXXForRangeStmt>(stmt)) {
    return UnsupportedStmt(stmt, "range-based for");
  }
  if (llvm::isa<clang::GotoStmt>(stmt) || llvm::isa<clang::LabelStmt>(stmt)) {
    return UnsupportedStmt(stmt, "goto");
  }
  if (llvm::isa<clang::CXXTryStmt>(stmt)) {
    return UnsupportedStmt(stmt, "try");
  }
  return UnsupportedStmt(stmt, stmt->getStmtClassName());
}

ast::StmtPtr Converter::ConvertDeclaration(const clang::DeclStmt* stmt) {
  auto made = NewStmt(ast::StmtKind::kDeclare, stmt);
  for (const clang::Decl* decl : stmt->decls()) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
      if (llvm::isa<clang::DecompositionDecl>(variable)) {
        return UnsupportedStmt(stmt, "structured binding");
      }
      made->variables.push_back(VariableId(variable));
    }
    // Types, aliases and static assertions execute nothing.
  }
  return Finish(made);
}

ast::StmtPtr Converter::ConvertAttributed(const clang::AttributedStmt* stmt) {
  int unroll = 0;
  for (const clang::Attr* attribute : stmt->getAttrs()) {
    const auto* hint = llvm::dyn_cast<clang::LoopHintAttr>(attribute);
    if (hint == nullptr) {
      continue;
    }
    const auto option = hint->getOption();
    const auto state = hint->getState();
    if (option == clang::LoopHintAttr::UnrollCount && state == clang::LoopHintAttr::Numeric) {
      clang::Expr::EvalResult value;
      if (hint->getValue() != nullptr && !hint->getValue()->isValueDependent() &&
          hint->getValue()->EvaluateAsInt(value, context_)) {
        unroll = static_cast<int>(value.Val.getInt().getExtValue());
      }
    } else if (option == clang::LoopHintAttr::Unroll) {
      unroll = state == clang::LoopHintAttr::Disable ? 1 : -1;
    }
  }
  return ConvertStmt(stmt->getSubStmt(), unroll);
}

ast::StmtPtr Converter::ConvertIf(const clang::IfStmt* stmt) {
  if (stmt->isConstexpr()) {
    // Only the branch that exists in this instance.
    if (const auto branch = stmt->getNondiscardedCase(context_)) {
      if (*branch == nullptr) {
        return NewStmt(ast::StmtKind::kBlock, stmt);
      }
      return ConvertStmt(*branch);
    }
  }
  auto made = NewStmt(ast::StmtKind::kIf, stmt);
  if (const clang::VarDecl* variable = stmt->getConditionVariable()) {
    made->variables.push_back(VariableId(variable));
  }
  if (stmt->getCond() == nullptr) {
    return UnsupportedStmt(stmt, "if consteval");
  }
  made->expr = ConvertExpr(stmt->getCond());
  made->children.push_back(ConvertStmt(stmt->getThen()));
  if (stmt->getElse() != nullptr) {
    made->children.push_back(ConvertStmt(stmt->getElse()));
  }
  ast::StmtPtr choice = Finish(made);
  if (stmt->getInit() == nullptr) {
    return choice;
  }
  auto block = NewStmt(ast::StmtKind::kBlock, stmt);
  block->children = {ConvertStmt(stmt->getInit()), choice};
  return Finish(block);
}

ast::StmtPtr Converter::ConvertFor(const clang::ForStmt* stmt, int unroll) {
  if (stmt->getConditionVariable() != nullptr) {
    return UnsupportedStmt(stmt, "declaration in a for condition");
  }
  auto made = NewStmt(ast::StmtKind::kFor, stmt);
  if (stmt->getInit() != nullptr) {
    made->children.push_back(ConvertStmt(stmt->getInit()));
  } else {
    auto nothing = std::make_shared<ast::Stmt>();
    nothing->kind = ast::StmtKind::kBlock;
    nothing->line = made->line;
    made->children.push_back(nothing);
  }
  if (stmt->getCond() != nullptr) {
    made->expr = ConvertExpr(stmt->getCond());
  }
  if (stmt->getInc() != nullptr) {
    made->step = ConvertExpr(stmt->getInc());
  }
  made->children.push_back(ConvertStmt(stmt->getBody()));
  made->unroll = unroll;
  return Finish(made);
}

ast::StmtPtr Converter::ConvertSwitch(const clang::SwitchStmt* stmt) {
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(stmt->getBody());
  if (body == nullptr || stmt->getConditionVariable() != nullptr || stmt->getInit() != nullptr) {
    return UnsupportedStmt(stmt, "switch of this form");
  }
  auto made = NewStmt(ast::StmtKind::kSwitch, stmt);
  made->expr = ConvertExpr(stmt->getCond());
  std::vector<MutableStmt> groups;
  for (const clang::Stmt* child : body->body()) {
    bool opened = false;
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(child)) {
      if (!opened) {
        groups.push_back(NewStmt(ast::StmtKind::kCase, child));
        opened = true;
      }
      if (const auto* one = llvm::dyn_cast<clang::CaseStmt>(label)) {
        clang::Expr::EvalResult value;
        if (one->caseStmtIsGNURange() || one->getLHS()->isValueDependent() ||
            !one->getLHS()->EvaluateAsInt(value, context_)) {
          return UnsupportedStmt(stmt, "case range");
        }
        groups.back()->int_values.push_back(value.Val.getInt().getExtValue());
      } else {
        groups.back()->is_default = true;
      }
      child = label->getSubStmt();
    }
    if (groups.empty()) {
      return UnsupportedStmt(stmt, "statement before the first case");
    }
    groups.back()->children.push_back(ConvertStmt(child));
  }
  for (const MutableStmt& group : groups) {
    made->children.push_back(Finish(group));
  }
  return Finish(made);
}

}  // namespace optiml::frontend
