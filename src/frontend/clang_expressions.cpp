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

}  // namespace optiml::frontend
