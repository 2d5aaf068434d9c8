#include <optional>

#include "frontend/clang_converter.h"

namespace optiml::frontend {

namespace {

// What wraps an expression without changing its value: parentheses, temporaries, substituted
// template parameters.
const clang::Expr* StripWrappers(const clang::Expr* expr) {
  while (true) {
    if (const auto* paren = llvm::dyn_cast<clang::ParenExpr>(expr)) {
      expr = paren->getSubExpr();
    } else if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr)) {
      expr = full->getSubExpr();
    } else if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr)) {
      expr = temporary->getSubExpr();
    } else if (const auto* bind = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expr)) {
      expr = bind->getSubExpr();
    } else if (const auto* parameter = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr)) {
      expr = parameter->getReplacement();
    } else if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expr)) {
      expr = defaulted->getExpr();
    } else if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(expr);
               opaque != nullptr && opaque->getSourceExpr() != nullptr) {
      expr = opaque->getSourceExpr();
    } else if (const auto* generic = llvm::dyn_cast<clang::UnaryOperator>(expr);
               generic != nullptr && generic->getOpcode() == clang::UO_Extension) {
      expr = generic->getSubExpr();
    } else {
      return expr;
    }
  }
}

bool IsMathType(const ast::Type& type) {
  return type.kind == ast::TypeKind::kFloat || type.kind == ast::TypeKind::kVector;
}

// "+", "+=", "++x" ... of an overloaded operator, by its number of operands.
std::string OperatorText(clang::OverloadedOperatorKind kind) {
  return clang::getOperatorSpelling(kind);
}

}  // namespace

Converter::MutableExpr Converter::NewExpr(ast::ExprKind kind, const clang::Expr* expr) {
  auto made = std::make_shared<ast::Expr>();
  made->kind = kind;
  made->type = ConvertType(expr->getType());
  made->line = Line(expr->getBeginLoc());
  made->range = Range(expr->getSourceRange());
  return made;
}

ast::ExprPtr Converter::Finish(MutableExpr expr) const {
  for (const ast::ExprPtr& operand : expr->operands) {
    expr->range.in_macro = expr->range.in_macro || operand->range.in_macro;
  }
  return expr;
}

ast::ExprPtr Converter::Unsupported(const clang::Expr* expr, const std::string& what) {
  auto made = NewExpr(ast::ExprKind::kUnsupported, expr);
  made->name = what;
  made->text = Text(expr->getSourceRange());
  return made;
}

std::string Converter::BuiltinName(const clang::Expr* expr) {
  auto variable_name = [](const clang::Expr* base) -> std::string {
    base = base->IgnoreParenImpCasts();
    if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(base)) {
      base = opaque->getSourceExpr() != nullptr ? opaque->getSourceExpr()->IgnoreParenImpCasts()
                                                : base;
    }
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(base);
    if (reference == nullptr) {
      return "";
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable == nullptr ||
        !variable->getDeclContext()->getRedeclContext()->isTranslationUnit()) {
      return "";
    }
    const std::string name = variable->getNameAsString();
    const bool known = name == "threadIdx" || name == "blockIdx" || name == "blockDim" ||
                       name == "gridDim" || name == "warpSize";
    return known ? name : "";
  };
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    const std::string base = variable_name(member->getBase());
    return base.empty() ? "" : base + "." + member->getMemberDecl()->getNameAsString();
  }
  if (const auto* property = llvm::dyn_cast<clang::MSPropertyRefExpr>(expr)) {
    const std::string base = variable_name(property->getBaseExpr());
    return base.empty() ? "" : base + "." + property->getPropertyDecl()->getNameAsString();
  }
  return variable_name(expr);
}

ast::ExprPtr Converter::ConvertExpr(const clang::Expr* expr) {
  if (depth_ >= kMaxDepth) {
    return Unsupported(expr, "nesting beyond " + std::to_string(kMaxDepth) + " levels");
  }
  ++depth_;
  ast::ExprPtr made = ConvertNested(expr);
  --depth_;
  return made;
}

ast::ExprPtr Converter::ConvertNested(const clang::Expr* written) {
  const clang::Expr* expr = StripWrappers(written);
  if (const auto* pseudo = llvm::dyn_cast<clang::PseudoObjectExpr>(expr)) {
    // threadIdx.x with CUDA's headers: a property with a getter.
    const clang::Expr* form = pseudo->getSyntacticForm()->IgnoreParenImpCasts();
    const std::string builtin = BuiltinName(form);
    if (builtin.empty()) {
      return Unsupported(expr, "property");
    }
    auto made = NewExpr(ast::ExprKind::kBuiltin, expr);
    made->name = builtin;
    return made;
  }
  if (const auto* literal = llvm::dyn_cast<clang::IntegerLiteral>(expr)) {
    auto made = NewExpr(ast::ExprKind::kIntLiteral, expr);
    made->int_value = static_cast<int64_t>(literal->getValue().getZExtValue());
    made->text = Spelling(literal->getLocation());
    return made;
  }
  if (const auto* literal = llvm::dyn_cast<clang::FloatingLiteral>(expr)) {
    auto made = NewExpr(ast::ExprKind::kFloatLiteral, expr);
    made->float_value = literal->getValueAsApproximateDouble();
    made->text = Spelling(literal->getLocation());
    return made;
  }
  if (const auto* literal = llvm::dyn_cast<clang::CharacterLiteral>(expr)) {
    auto made = NewExpr(ast::ExprKind::kIntLiteral, expr);
    made->int_value = literal->getValue();
    made->text = Spelling(literal->getLocation());
    return made;
  }
  if (const auto* literal = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(expr)) {
    auto made = NewExpr(ast::ExprKind::kBoolLiteral, expr);
    made->int_value = literal->getValue() ? 1 : 0;
    return made;
  }
  if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(expr)) {
    auto made = NewExpr(ast::ExprKind::kStringLiteral, expr);
    if (literal->getCharByteWidth() == 1) {
      made->text = literal->getString().str();
    }
    return made;
  }
  if (llvm::isa<clang::PredefinedExpr>(expr)) {
    auto made = NewExpr(ast::ExprKind::kStringLiteral, expr);
    made->text = llvm::cast<clang::PredefinedExpr>(expr)->getFunctionName()->getString().str();
    return made;
  }
  if (llvm::isa<clang::CXXNullPtrLiteralExpr>(expr) || llvm::isa<clang::GNUNullExpr>(expr)) {
    return NewExpr(ast::ExprKind::kNull, expr);
  }
  if (llvm::isa<clang::CXXThisExpr>(expr)) {
    if (current_method_ == nullptr) {
      return Unsupported(expr, "this in a lambda");
    }
    auto made = NewExpr(ast::ExprKind::kVariable, expr);
    made->name = "this";
    made->variable = ThisVariableId(current_method_);
    return made;
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
    return ConvertReference(reference);
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    return ConvertMember(member);
  }
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
    auto made = NewExpr(ast::ExprKind::kSubscript, expr);
    const clang::Expr* base = StripWrappers(subscript->getBase());
    if (const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(base);
        decay != nullptr && decay->getCastKind() == clang::CK_ArrayToPointerDecay) {
      base = decay->getSubExpr();  // the array itself is the base
    }
    made->operands = {ConvertExpr(base), ConvertExpr(subscript->getIdx())};
    return Finish(made);
  }
  if (const auto* call = llvm::dyn_cast<clang::CUDAKernelCallExpr>(expr)) {
    return ConvertLaunch(call);
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expr)) {
    return ConvertOperatorCall(call);
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr)) {
    return ConvertMethodCall(call);
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(expr)) {
    return ConvertCall(call);
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expr)) {
    return ConvertCast(cast);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expr)) {
    return ConvertUnary(unary);
  }
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
    return ConvertBinary(binary);
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(expr)) {
    auto made = NewExpr(ast::ExprKind::kConditional, expr);
    made->operands = {ConvertExpr(choice->getCond()), ConvertExpr(choice->getTrueExpr()),
                      ConvertExpr(choice->getFalseExpr())};
    return Finish(made);
  }
  if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(expr)) {
    return ConvertConstruct(construct);
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expr)) {
    return ConvertInitList(list);
  }
  if (const auto* defaulted = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expr)) {
    return ConvertExpr(defaulted->getExpr());
  }
  if (llvm::isa<clang::ImplicitValueInitExpr>(expr) ||
      llvm::isa<clang::CXXScalarValueInitExpr>(expr)) {
    return NewExpr(ast::ExprKind::kInitList, expr);  // zero of its type
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXNewExpr>(expr)) {
    return ConvertNew(made);
  }
  if (const auto* ended = llvm::dyn_cast<clang::CXXDeleteExpr>(expr)) {
    auto call = NewExpr(ast::ExprKind::kCall, expr);
    call->name = "operator delete";
    call->operands = {ConvertExpr(ended->getArgument())};
    return Finish(call);
  }
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expr)) {
    return ConvertExpr(list->getSubExpr());
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(expr)) {
    return ConvertLambda(lambda);
  }
  clang::Expr::EvalResult value;
  if (!expr->isValueDependent() && !expr->getType()->isDependentType() &&
      (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(expr) || llvm::isa<clang::TypeTraitExpr>(expr) ||
       llvm::isa<clang::OffsetOfExpr>(expr) || llvm::isa<clang::SizeOfPackExpr>(expr) ||
       llvm::isa<clang::CXXNoexceptExpr>(expr)) &&
      expr->EvaluateAsRValue(value, context_)) {
    return ConvertLiteralValue(expr, value.Val);
  }
  return Unsupported(expr, expr->getStmtClassName());
}

ast::ExprPtr Converter::ConvertLiteralValue(const clang::Expr* expr, const clang::APValue& value) {
  if (value.isInt()) {
    auto made = NewExpr(
        expr->getType()->isBooleanType() ? ast::ExprKind::kBoolLiteral : ast::ExprKind::kIntLiteral,
        expr);
    made->int_value = value.getInt().isSigned()
                          ? value.getInt().getExtValue()
                          : static_cast<int64_t>(value.getInt().getZExtValue());
    made->text = Text(expr->getSourceRange());
    return made;
  }
  if (value.isFloat()) {
    auto made = NewExpr(ast::ExprKind::kFloatLiteral, expr);
    llvm::APFloat number = value.getFloat();
    bool lost = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    made->float_value = number.convertToDouble();
    made->text = Text(expr->getSourceRange());
    return made;
  }
  return Unsupported(expr, expr->getStmtClassName());
}

ast::ExprPtr Converter::ConvertReference(const clang::DeclRefExpr* expr) {
  const std::string builtin = BuiltinName(expr);
  if (!builtin.empty()) {
    auto made = NewExpr(ast::ExprKind::kBuiltin, expr);
    made->name = builtin;
    return made;
  }
  const clang::ValueDecl* decl = expr->getDecl();
  if (const auto* enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(decl)) {
    auto made = NewExpr(ast::ExprKind::kIntLiteral, expr);
    made->int_value = enumerator->getInitVal().getExtValue();
    made->text = Text(expr->getSourceRange());
    made->name = enumerator->getNameAsString();
    return made;
  }
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
    auto made = NewExpr(ast::ExprKind::kFunction, expr);
    made->function = FunctionId(function);
    made->name = NameExpression(function);
    return made;
  }
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
    if (!IsOfUnit(variable) || variable->isStaticDataMember()) {
      // std::is_same<T, float>::value and the like: a constant of a template.
      clang::Expr::EvalResult value;
      if (variable->isUsableInConstantExpressions(context_) && !expr->isValueDependent() &&
          expr->EvaluateAsRValue(value, context_)) {
        return ConvertLiteralValue(expr, value.Val);
      }
    }
    auto made = NewExpr(ast::ExprKind::kVariable, expr);
    made->name = variable->getNameAsString();
    made->variable = VariableId(variable);
    return made;
  }
  return Unsupported(expr, decl->getDeclKindName());
}

ast::ExprPtr Converter::Dereferenced(const clang::Expr* base, bool is_arrow) {
  ast::ExprPtr object = ConvertExpr(base);
  if (!is_arrow) {
    return object;
  }
  auto made = std::make_shared<ast::Expr>();
  made->kind = ast::ExprKind::kDereference;
  made->type = object->type->element != nullptr ? object->type->element : object->type;
  made->line = object->line;
  made->range = object->range;
  made->operands = {object};
  return made;
}

ast::ExprPtr Converter::ConvertMember(const clang::MemberExpr* expr) {
  const std::string builtin = BuiltinName(expr);
  if (!builtin.empty()) {
    auto made = NewExpr(ast::ExprKind::kBuiltin, expr);
    made->name = builtin;
    return made;
  }
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(expr->getMemberDecl())) {
    auto made = NewExpr(ast::ExprKind::kVariable, expr);
    made->name = variable->getNameAsString();
    made->variable = VariableId(variable);
    return made;
  }
  auto made = NewExpr(ast::ExprKind::kMember, expr);
  made->name = expr->getMemberDecl()->getNameAsString();
  made->operands = {Dereferenced(expr->getBase(), expr->isArrow())};
  if (made->line == 0) {  // an implicit this
    made->line = Line(expr->getMemberLoc());
  }
  return Finish(made);
}

ast::ExprPtr Converter::ConvertCast(const clang::CastExpr* expr) {
  const bool implicit = llvm::isa<clang::ImplicitCastExpr>(expr);
  const clang::Expr* inner = expr->getSubExpr();
  switch (expr->getCastKind()) {
    case clang::CK_LValueToRValue:
    case clang::CK_FunctionToPointerDecay:
    case clang::CK_BuiltinFnToFnPtr:
    case clang::CK_UncheckedDerivedToBase:
    case clang::CK_DerivedToBase:
      return ConvertExpr(inner);
    case clang::CK_NoOp:
    case clang::CK_ConstructorConversion:
    case clang::CK_UserDefinedConversion:
      if (implicit) {
        return ConvertExpr(inner);
      }
      break;
    case clang::CK_NullToPointer: {
      auto made = NewExpr(ast::ExprKind::kNull, expr);
      return made;
    }
    default:
      break;
  }
  if (!implicit) {
    // Clang splits "(float)n" into the written cast and an implicit one that does the work.
    const auto* part = llvm::dyn_cast<clang::ImplicitCastExpr>(inner);
    while (part != nullptr && part->isPartOfExplicitCast() &&
           part->getCastKind() != clang::CK_UserDefinedConversion) {
      inner = part->getSubExpr();
      part = llvm::dyn_cast<clang::ImplicitCastExpr>(inner);
    }
  }
  ast::ExprPtr value = ConvertExpr(inner);
  if (!implicit && expr->getCastKind() == clang::CK_ConstructorConversion &&
      (value->kind == ast::ExprKind::kConstruct || value->kind == ast::ExprKind::kCast)) {
    return value;  // dim3(n): the construction says it all
  }
  auto made = NewExpr(ast::ExprKind::kCast, expr);
  made->is_implicit = implicit;
  made->operands = {std::move(value)};
  return Finish(made);
}

ast::ExprPtr Converter::ConvertUnary(const clang::UnaryOperator* expr) {
  const clang::UnaryOperatorKind op = expr->getOpcode();
  auto made = NewExpr(ast::ExprKind::kUnary, expr);
  switch (op) {
    case clang::UO_Deref:
      made->kind = ast::ExprKind::kDereference;
      break;
    case clang::UO_AddrOf:
      made->kind = ast::ExprKind::kAddressOf;
      break;
    case clang::UO_PreInc:
    case clang::UO_PreDec:
    case clang::UO_PostInc:
    case clang::UO_PostDec: {
      made->kind = ast::ExprKind::kIncrement;
      const std::string sign = clang::UnaryOperator::getOpcodeStr(op).str();
      made->op = expr->isPrefix() ? sign + "x" : "x" + sign;
      break;
    }
    case clang::UO_Plus:
    case clang::UO_Minus:
    case clang::UO_Not:
    case clang::UO_LNot:
      made->op = clang::UnaryOperator::getOpcodeStr(op).str();
      break;
    default:
      return Unsupported(expr, "operator " + clang::UnaryOperator::getOpcodeStr(op).str());
  }
  made->operands = {ConvertExpr(expr->getSubExpr())};
  return Finish(made);
}

ast::ExprPtr Converter::ConvertBinary(const clang::BinaryOperator* expr) {
  if (expr->isPtrMemOp() || expr->getOpcode() == clang::BO_Cmp) {
    return Unsupported(expr, "operator " + expr->getOpcodeStr().str());
  }
  auto made =
      NewExpr(expr->isAssignmentOp() ? ast::ExprKind::kAssign : ast::ExprKind::kBinary, expr);
  made->op = expr->getOpcodeStr().str();
  made->operands = {ConvertExpr(expr->getLHS()), ConvertExpr(expr->getRHS())};
  return Finish(made);
}

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
