// Calls of every kind: functions, methods, operators, launches, constructions, lambdas.

#include "frontend/clang_converter.h"

namespace optiml::frontend {

namespace {

bool IsMathType(const ast::Type& type) {
  return type.kind == ast::TypeKind::kFloat || type.kind == ast::TypeKind::kVector;
}

// "+", "+=", "++x" ... of an overloaded operator, by its number of operands.
std::string OperatorText(clang::OverloadedOperatorKind kind) {
  return clang::getOperatorSpelling(kind);
}

}  // namespace

ast::ExprPtr Converter::FoldCall(const clang::CallExpr* expr) {
  // INFINITY is a call of a builtin, std::numeric_limits<float>::max() one of a constexpr function.
  const clang::FunctionDecl* callee = expr->getDirectCallee();
  if (callee == nullptr || IsOfUnit(callee) || expr->isValueDependent() ||
      !(callee->isConstexpr() || callee->getBuiltinID() != 0)) {
    return nullptr;
  }
  clang::Expr::EvalResult value;
  if (!expr->EvaluateAsRValue(value, context_) || value.HasSideEffects ||
      !(value.Val.isInt() || value.Val.isFloat())) {
    return nullptr;
  }
  return ConvertLiteralValue(expr, value.Val);
}

ast::ExprPtr Converter::ConvertCall(const clang::CallExpr* expr) {
  if (expr->getNumArgs() == 0) {
    if (ast::ExprPtr folded = FoldCall(expr)) {
      return folded;
    }
  } else if (const clang::FunctionDecl* callee = expr->getDirectCallee();
             callee != nullptr && callee->getName().starts_with("__builtin_")) {
    if (ast::ExprPtr folded = FoldCall(expr)) {
      return folded;
    }
  }
  auto made = NewExpr(ast::ExprKind::kCall, expr);
  if (const clang::FunctionDecl* callee = expr->getDirectCallee()) {
    made->name = QualifiedName(callee);
    made->function = FunctionId(callee);
    const clang::Expr* spelled = expr->getCallee()->IgnoreParenImpCasts();
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(spelled);
        reference != nullptr && reference->hasExplicitTemplateArgs()) {
      made->text = TemplateArguments(callee);
    }
  } else if (const auto* reference =
                 llvm::dyn_cast<clang::DeclRefExpr>(expr->getCallee()->IgnoreParenImpCasts());
             reference != nullptr && llvm::isa<clang::VarDecl>(reference->getDecl())) {
    made->variable = VariableId(llvm::cast<clang::VarDecl>(reference->getDecl()));
    made->name = reference->getDecl()->getNameAsString();
  } else {
    return Unsupported(expr, "call through a computed function");
  }
  for (const clang::Expr* argument : expr->arguments()) {
    made->operands.push_back(ConvertExpr(argument));
  }
  return Finish(made);
}

ast::ExprPtr Converter::ConvertMethodCall(const clang::CXXMemberCallExpr* expr) {
  const clang::CXXMethodDecl* method = expr->getMethodDecl();
  if (method == nullptr) {
    return Unsupported(expr, "call through a pointer to member");
  }
  const auto* spelled = llvm::dyn_cast<clang::MemberExpr>(expr->getCallee()->IgnoreParens());
  const bool is_arrow = spelled != nullptr && spelled->isArrow();
  ast::ExprPtr object = Dereferenced(expr->getImplicitObjectArgument(), is_arrow);
  if (llvm::isa<clang::CXXConversionDecl>(method)) {
    if (IsOfUnit(method)) {
      auto call = NewExpr(ast::ExprKind::kMethodCall, expr);
      call->name = method->getNameAsString();
      call->function = FunctionId(method);
      call->operands = {object};
      return Finish(call);
    }
    auto made = NewExpr(ast::ExprKind::kCast, expr);
    made->is_implicit = true;
    made->operands = {std::move(object)};
    return Finish(made);
  }
  auto made = NewExpr(ast::ExprKind::kMethodCall, expr);
  made->name = method->getNameAsString();
  made->function = FunctionId(method);
  made->operands.push_back(std::move(object));
  for (const clang::Expr* argument : expr->arguments()) {
    made->operands.push_back(ConvertExpr(argument));
  }
  return Finish(made);
}

ast::ExprPtr Converter::ConvertOperatorCall(const clang::CXXOperatorCallExpr* expr) {
  const clang::FunctionDecl* callee = expr->getDirectCallee();
  if (callee == nullptr) {
    return Unsupported(expr, "overloaded operator");
  }
  const clang::OverloadedOperatorKind op = expr->getOperator();
  auto made = NewExpr(ast::ExprKind::kCall, expr);
  for (const clang::Expr* argument : expr->arguments()) {
    made->operands.push_back(ConvertExpr(argument));
  }
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  const bool own = IsOfUnit(callee) && !callee->isDefaulted();
  if (op == clang::OO_Equal && !own && made->operands.size() == 2) {
    made->kind = ast::ExprKind::kAssign;
    made->op = "=";
    return Finish(made);
  }
  if (!own && IsMathType(*made->operands[0]->type) && op != clang::OO_Call &&
      op != clang::OO_Subscript) {
    // half, bfloat16 and their vectors: arithmetic like any other.
    made->op = OperatorText(op);
    if (made->operands.size() == 1) {
      made->kind = ast::ExprKind::kUnary;
    } else if (clang::BinaryOperator::isAssignmentOp(
                   clang::BinaryOperator::getOverloadedOpcode(op))) {
      made->kind = ast::ExprKind::kAssign;
    } else {
      made->kind = ast::ExprKind::kBinary;
    }
    return Finish(made);
  }
  made->function = FunctionId(callee);
  if (method != nullptr && !method->isStatic()) {
    made->kind = ast::ExprKind::kMethodCall;
    made->name = callee->getNameAsString();
  } else {
    made->name = QualifiedName(callee);
  }
  return Finish(made);
}

ast::ExprPtr Converter::ConvertLaunch(const clang::CUDAKernelCallExpr* expr) {
  auto made = NewExpr(ast::ExprKind::kLaunch, expr);
  if (const clang::FunctionDecl* callee = expr->getDirectCallee()) {
    made->name = NameExpression(callee);
    made->function = FunctionId(callee);
  } else if (const auto* reference =
                 llvm::dyn_cast<clang::DeclRefExpr>(expr->getCallee()->IgnoreParenImpCasts());
             reference != nullptr && llvm::isa<clang::VarDecl>(reference->getDecl())) {
    made->variable = VariableId(llvm::cast<clang::VarDecl>(reference->getDecl()));
    made->name = reference->getDecl()->getNameAsString();
  } else {
    return Unsupported(expr, "launch of a computed kernel");
  }
  for (const clang::Expr* argument : expr->getConfig()->arguments()) {
    made->operands.push_back(ConvertExpr(argument));
  }
  for (const clang::Expr* argument : expr->arguments()) {
    made->operands.push_back(ConvertExpr(argument));
  }
  if (made->operands.size() < 4) {
    return Unsupported(expr, "launch with an incomplete configuration");
  }
  return Finish(made);
}

ast::ExprPtr Converter::ConvertConstruct(const clang::CXXConstructExpr* expr) {
  const clang::CXXConstructorDecl* constructor = expr->getConstructor();
  std::vector<const clang::Expr*> arguments;
  for (const clang::Expr* argument : expr->arguments()) {
    if (!llvm::isa<clang::CXXDefaultArgExpr>(argument)) {
      arguments.push_back(argument);
    }
  }
  if (constructor->isCopyOrMoveConstructor() && arguments.size() == 1) {
    return ConvertExpr(arguments[0]);
  }
  const bool own =
      IsOfUnit(constructor) && !constructor->isDefaulted() && !constructor->isImplicit();
  auto made = NewExpr(ast::ExprKind::kConstruct, expr);
  if (own) {
    // The defaults are part of the call of a constructor of the file.
    arguments.assign(expr->arg_begin(), expr->arg_end());
    made->function = FunctionId(constructor);
  }
  for (const clang::Expr* argument : arguments) {
    made->operands.push_back(ConvertExpr(argument));
  }
  if (!own && made->operands.size() == 1 &&
      (made->type->kind == ast::TypeKind::kFloat ||
       (made->type->kind == ast::TypeKind::kDim3 &&
        made->operands[0]->type->kind == ast::TypeKind::kVector))) {
    made->kind = ast::ExprKind::kCast;
  }
  made->is_implicit =
      !llvm::isa<clang::CXXTemporaryObjectExpr>(expr) && !expr->getParenOrBraceRange().isValid();
  return Finish(made);
}

ast::ExprPtr Converter::ConvertInitList(const clang::InitListExpr* expr) {
  if (const clang::InitListExpr* semantic = expr->getSemanticForm()) {
    expr = semantic;
  }
  if (!expr->getType()->isRecordType() && !expr->getType()->isArrayType() &&
      expr->getNumInits() == 1) {
    return ConvertExpr(expr->getInit(0));  // int x{5}
  }
  auto made = NewExpr(ast::ExprKind::kInitList, expr);
  for (const clang::Expr* init : expr->inits()) {
    made->operands.push_back(ConvertExpr(init));
  }
  return Finish(made);
}

ast::ExprPtr Converter::ConvertNew(const clang::CXXNewExpr* expr) {
  const bool is_scalar = expr->getAllocatedType()->isScalarType();
  const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(expr->getInitializer());
  const bool is_zeroed = expr->getInitializer() != nullptr &&
                         (llvm::isa<clang::ImplicitValueInitExpr>(expr->getInitializer()) ||
                          (list != nullptr && list->getNumInits() == 0));
  if (!is_scalar || expr->getNumPlacementArgs() != 0 || !expr->isArray() ||
      (expr->getInitializer() != nullptr && !is_zeroed)) {
    return Unsupported(expr, "new");
  }
  auto call = NewExpr(ast::ExprKind::kCall, expr);
  call->name = is_zeroed ? "operator new[]()" : "operator new[]";
  call->operands = {ConvertExpr(*expr->getArraySize())};
  return Finish(call);
}

ast::ExprPtr Converter::ConvertLambda(const clang::LambdaExpr* expr) {
  auto made = NewExpr(ast::ExprKind::kLambda, expr);
  for (const clang::LambdaCapture& capture : expr->captures()) {
    if (!capture.capturesVariable()) {
      return Unsupported(expr, "lambda that captures this");
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar());
    if (variable == nullptr) {
      return Unsupported(expr, "lambda that captures a binding");
    }
    auto captured = std::make_shared<ast::Expr>();
    captured->kind = ast::ExprKind::kVariable;
    captured->name = variable->getNameAsString();
    captured->variable = VariableId(variable);
    captured->type = unit_.variables[static_cast<size_t>(captured->variable)].type;
    captured->line = made->line;
    made->operands.push_back(captured);
    made->op += variable->isInitCapture()                      ? ':'
                : capture.getCaptureKind() == clang::LCK_ByRef ? '&'
                                                               : '=';
  }
  made->function = expr->isGenericLambda() ? -1 : FunctionId(expr->getCallOperator());
  return Finish(made);
}

}  // namespace optiml::frontend
