#include "frontend/clang_converter.h"

#include <clang/AST/Mangle.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace optiml::frontend {

namespace {

// The integer a constant expression has, if it has one.
std::optional<int> IntegerOf(const clang::Expr* expr, const clang::ASTContext& context) {
  clang::Expr::EvalResult result;
  if (expr == nullptr || expr->isValueDependent() || !expr->EvaluateAsInt(result, context)) {
    return std::nullopt;
  }
  return static_cast<int>(result.Val.getInt().getExtValue());
}

std::string LinkerName(const clang::VarDecl* variable, clang::ASTContext& context) {
  const std::unique_ptr<clang::MangleContext> names(context.createMangleContext());
  if (!names->shouldMangleDeclName(variable)) {
    return variable->getNameAsString();
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  names->mangleName(variable, out);
  return out.str();
}

bool IsLambdaOperator(const clang::FunctionDecl* function) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  return method != nullptr && method->getParent()->isLambda();
}

}  // namespace

clang::SourceRange WholeFunction(const clang::FunctionDecl* function) {
  clang::SourceRange range = function->getSourceRange();
  if (const auto* described = function->getDescribedFunctionTemplate()) {
    range.setBegin(described->getBeginLoc());
  } else if (function->getNumTemplateParameterLists() > 0) {
    range.setBegin(function->getTemplateParameterList(0)->getTemplateLoc());
  }
  if (const auto* linkage =
          llvm::dyn_cast<clang::LinkageSpecDecl>(function->getLexicalDeclContext());
      linkage != nullptr && !linkage->hasBraces()) {
    range.setBegin(linkage->getBeginLoc());
  }
  return range;
}

Converter::Converter(clang::ASTContext& context, ast::SourceUnit& unit)
    : context_(context),
      sources_(context.getSourceManager()),
      policy_(context.getLangOpts()),
      unit_(unit) {
  policy_.Bool = true;
  policy_.SuppressTagKeyword = true;
  policy_.SuppressUnwrittenScope = true;
  policy_.FullyQualifiedName = true;
  policy_.Restrict = false;
}

void Converter::Run() {
  CollectDeclarations(context_.getTranslationUnitDecl());
  ConvertPending();
  CollectKernelInstances();
  ConvertPending();
  unit_.device_text = MakeDeviceText(context_, unit_.text);
  unit_.host_text = MakeHostText(context_, unit_.text);
}

void Converter::ConvertPending() {
  while (!pending_.empty()) {
    const auto [id, function] = pending_.front();
    pending_.pop_front();
    ConvertFunction(id, function);
  }
}

// Instances that only code without a node of ours uses.
void Converter::CollectKernelInstances() {
  for (const clang::FunctionTemplateDecl* pattern : kernel_templates_) {
    for (const clang::FunctionDecl* instance : pattern->specializations()) {
      if (instance->isDefined() && !instance->isDependentContext()) {
        FunctionId(instance);
      }
    }
  }
}

void Converter::CollectDeclarations(const clang::DeclContext* declarations) {
  for (const clang::Decl* decl : declarations->noload_decls()) {
    if (decl->isImplicit() || decl->isInvalidDecl()) {
      continue;
    }
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl)) {
      CollectDeclarations(space);
      continue;
    }
    if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(decl)) {
      CollectDeclarations(linkage);
      continue;
    }
    if (!IsOfUnit(decl)) {
      continue;
    }
    NoteHiddenEffects(decl);
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
      CollectFunction(function);
    } else if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl)) {
      CollectTemplate(pattern);
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
      VariableId(variable);
    } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) {
      if (record->isCompleteDefinition()) {
        CollectDeclarations(record);
      }
    }
  }
}

void Converter::CollectFunction(const clang::FunctionDecl* function) {
  if (!function->isDependentContext() && !function->isDefaulted() && !function->isDeleted()) {
    FunctionId(function);
  }
}

void Converter::CollectTemplate(const clang::FunctionTemplateDecl* pattern) {
  const clang::FunctionDecl* function = pattern->getTemplatedDecl();
  if (!pattern->isThisDeclarationADefinition()) {
    return;
  }
  if (function->hasAttr<clang::CUDAGlobalAttr>()) {
    kernel_templates_.push_back(pattern);
  }
  ast::Function made;
  made.id = static_cast<int>(unit_.functions.size());
  made.name = function->getNameAsString();
  made.name_expression = QualifiedName(function);
  made.is_template = true;
  ReadAttributes(function, made);
  made.return_type = ConvertType(function->getReturnType());
  made.line = Line(function->getLocation());
  made.end_line = Line(function->getEndLoc());
  made.range = FunctionRange(function);
  for (const clang::NamedDecl* parameter : *pattern->getTemplateParameters()) {
    made.template_parameters.push_back(Text(parameter->getSourceRange()));
  }
  unit_.functions.push_back(std::move(made));
  for (const clang::FunctionDecl* instance : pattern->specializations()) {
    if (instance->getTemplateSpecializationKind() == clang::TSK_ExplicitInstantiationDefinition) {
      FunctionId(instance);
    }
  }
}

int Converter::FunctionId(const clang::FunctionDecl* function) {
  const clang::FunctionDecl* key = function->getCanonicalDecl();
  const auto found = function_ids_.find(key);
  if (found != function_ids_.end()) {
    return found->second;
  }
  const clang::FunctionDecl* definition = function->getDefinition();
  if (definition == nullptr) {
    definition = function;
  }
  if (!IsOfUnit(definition) || definition->isDependentContext()) {
    return -1;
  }
  const int id = static_cast<int>(unit_.functions.size());
  function_ids_[key] = id;
  unit_.functions.emplace_back();
  unit_.functions.back().id = id;
  pending_.emplace_back(id, definition);
  return id;
}

void Converter::ReadAttributes(const clang::FunctionDecl* from, ast::Function& to) {
  to.is_kernel = from->hasAttr<clang::CUDAGlobalAttr>();
  to.is_device = from->hasAttr<clang::CUDADeviceAttr>() || to.is_kernel;
  to.is_host = !to.is_device || from->hasAttr<clang::CUDAHostAttr>();
  to.is_extern_c = from->isExternC();
  if (const auto* bounds = from->getAttr<clang::CUDALaunchBoundsAttr>()) {
    to.launch_bounds_threads = IntegerOf(bounds->getMaxThreads(), context_);
    to.launch_bounds_blocks = IntegerOf(bounds->getMinBlocks(), context_);
  }
  for (const auto* note : from->specific_attrs<clang::AnnotateAttr>()) {
    if (note->getAnnotation() == "cluster_dims") {
      for (const clang::Expr* value : note->args()) {
        if (const auto dim = IntegerOf(value, context_)) {
          to.cluster_dims.push_back(*dim);
        }
      }
    }
  }
}

void Converter::ConvertFunction(int id, const clang::FunctionDecl* function) {
  ast::Function made;
  made.id = id;
  made.name = IsLambdaOperator(function) ? "lambda" : function->getNameAsString();
  made.name_expression = NameExpression(function);
  ReadAttributes(function, made);
  made.template_arguments = TemplateArguments(function);
  made.is_template_instance =
      function->isTemplateInstantiation() || !made.template_arguments.empty();
  made.return_type = ConvertType(function->getReturnType());
  made.line = Line(function->getLocation());
  made.end_line = Line(function->getEndLoc());
  made.range = FunctionRange(function);
  const clang::CXXMethodDecl* outer_method = current_method_;
  current_method_ = nullptr;
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) {
    made.method_of = IsLambdaOperator(function) ? "lambda" : QualifiedName(method->getParent());
    if (!method->isStatic() && !IsLambdaOperator(function)) {
      current_method_ = method;
      made.parameters.push_back(ThisVariableId(method));
    }
  }
  for (const clang::ParmVarDecl* parameter : function->parameters()) {
    made.parameters.push_back(VariableId(parameter));
  }
  if (function->doesThisDeclarationHaveABody()) {
    const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function);
    const bool initialises =
        constructor != nullptr && std::any_of(constructor->init_begin(), constructor->init_end(),
                                              [](const clang::CXXCtorInitializer* init) {
                                                return init->isAnyMemberInitializer();
                                              });
    ast::StmtPtr body = ConvertStmt(function->getBody());
    if (initialises) {
      // Member initialisers become assignments in front of the body.
      auto block = NewStmt(ast::StmtKind::kBlock, function->getBody());
      for (const clang::CXXCtorInitializer* init : constructor->inits()) {
        if (!init->isAnyMemberInitializer()) {
          continue;
        }
        auto self = std::make_shared<ast::Expr>();
        self->kind = ast::ExprKind::kVariable;
        self->name = "this";
        self->variable = ThisVariableId(constructor);
        self->type = unit_.variables[static_cast<size_t>(self->variable)].type;
        self->line = Line(init->getSourceLocation());
        auto object = std::make_shared<ast::Expr>();
        object->kind = ast::ExprKind::kDereference;
        object->type = self->type->element;
        object->line = self->line;
        object->operands = {self};
        auto member = std::make_shared<ast::Expr>();
        member->kind = ast::ExprKind::kMember;
        member->name = init->getAnyMember()->getNameAsString();
        member->type = ConvertType(init->getAnyMember()->getType());
        member->line = self->line;
        member->operands = {object};
        auto assign = std::make_shared<ast::Expr>();
        assign->kind = ast::ExprKind::kAssign;
        assign->op = "=";
        assign->type = member->type;
        assign->line = self->line;
        assign->range = Range(init->getSourceRange());
        assign->operands = {member, ConvertExpr(init->getInit())};
        auto stmt = NewStmt(ast::StmtKind::kExpression, function->getBody());
        stmt->line = self->line;
        stmt->range = assign->range;
        stmt->expr = assign;
        block->children.push_back(stmt);
      }
      block->children.push_back(body);
      body = Finish(block);
    }
    made.body = body;
  }
  current_method_ = outer_method;
  unit_.functions[static_cast<size_t>(id)] = std::move(made);
}

int Converter::VariableId(const clang::VarDecl* variable) {
  const clang::VarDecl* key = variable->getCanonicalDecl();
  const auto found = variable_ids_.find(key);
  if (found != variable_ids_.end()) {
    return found->second;
  }
  const int id = static_cast<int>(unit_.variables.size());
  variable_ids_[key] = id;
  unit_.variables.emplace_back();
  if (const clang::VarDecl* definition = variable->getDefinition()) {
    variable = definition;
  }
  if (!variable->isFileVarDecl()) {
    NoteHiddenEffects(variable);
  }
  ast::Variable made;
  made.id = id;
  made.name = variable->getNameAsString();
  made.type = ConvertType(variable->getType());
  made.line = Line(variable->getLocation());
  made.range = Range(variable->getSourceRange());
  made.is_constexpr = variable->isConstexpr();
  if (llvm::isa<clang::ParmVarDecl>(variable)) {
    made.storage = ast::Storage::kParameter;
  } else if (variable->hasAttr<clang::CUDASharedAttr>()) {
    made.storage =
        variable->hasExternalStorage() ? ast::Storage::kExternShared : ast::Storage::kShared;
  } else if (variable->hasAttr<clang::CUDAConstantAttr>()) {
    // Clang also marks constexpr globals; those are folded, not in constant memory.
    const auto* attribute = variable->getAttr<clang::CUDAConstantAttr>();
    made.storage = attribute->isImplicit() ? ast::Storage::kHostGlobal : ast::Storage::kConstant;
  } else if (variable->hasAttr<clang::CUDADeviceAttr>() ||
             variable->hasAttr<clang::HIPManagedAttr>()) {
    made.storage = ast::Storage::kDeviceGlobal;
  } else if (variable->isFileVarDecl()) {
    made.storage = ast::Storage::kHostGlobal;
  } else if (variable->isStaticLocal()) {
    made.storage = ast::Storage::kStatic;
  }
  if (made.storage == ast::Storage::kConstant || made.storage == ast::Storage::kDeviceGlobal) {
    made.symbol = LinkerName(variable, context_);
    if (variable->isFileVarDecl() && !variable->isStaticDataMember() &&
        !llvm::isa<clang::VarTemplateSpecializationDecl>(variable)) {
      made.name_expression = QualifiedName(variable);
    }
  }
  if (!variable->getType()->isDependentType()) {
    const clang::VarDecl* initialised = nullptr;
    if (const clang::Expr* init = variable->getAnyInitializer(initialised);
        init != nullptr && !init->isValueDependent() && !llvm::isa<clang::ParmVarDecl>(variable)) {
      made.init = ConvertExpr(init);
      if (initialised->isUsableInConstantExpressions(context_) &&
          variable->getType()->isIntegralOrEnumerationType()) {
        const clang::APValue* value = initialised->evaluateValue();
        if (value != nullptr && value->isInt()) {
          made.constant = value->getInt().isSigned()
                              ? value->getInt().getExtValue()
                              : static_cast<int64_t>(value->getInt().getZExtValue());
        }
      }
    }
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable)) {
      if (parameter->hasDefaultArg() && !parameter->hasUnparsedDefaultArg() &&
          !parameter->hasUninstantiatedDefaultArg() &&
          !parameter->getDefaultArg()->isValueDependent()) {
        made.init = ConvertExpr(parameter->getDefaultArg());
      }
    }
  }
  unit_.variables[static_cast<size_t>(id)] = std::move(made);
  return id;
}

int Converter::ThisVariableId(const clang::CXXMethodDecl* method) {
  const auto* key = llvm::cast<clang::CXXMethodDecl>(method->getCanonicalDecl());
  const auto found = this_ids_.find(key);
  if (found != this_ids_.end()) {
    return found->second;
  }
  ast::Variable made;
  made.id = static_cast<int>(unit_.variables.size());
  made.name = "this";
  made.type = ConvertType(method->getThisType());
  made.storage = ast::Storage::kParameter;
  made.line = Line(method->getLocation());
  this_ids_[key] = made.id;
  unit_.variables.push_back(std::move(made));
  return unit_.variables.back().id;
}

std::string Converter::QualifiedName(const clang::NamedDecl* decl) const {
  std::string name;
  llvm::raw_string_ostream stream(name);
  decl->printQualifiedName(stream, policy_);
  return name;
}

std::string Converter::TemplateArguments(const clang::FunctionDecl* function) const {
  const clang::TemplateArgumentList* arguments = function->getTemplateSpecializationArgs();
  if (arguments == nullptr) {
    return "";
  }
  std::string text;
  auto add = [&](const clang::TemplateArgument& argument, auto& self) -> void {
    if (argument.getKind() == clang::TemplateArgument::Pack) {
      for (const clang::TemplateArgument& element : argument.pack_elements()) {
        self(element, self);
      }
      return;
    }
    std::string one;
    if (argument.getKind() == clang::TemplateArgument::Type) {
      one = TypeText(argument.getAsType());
    } else {
      llvm::raw_string_ostream stream(one);
      argument.print(policy_, stream, /*IncludeType=*/false);
    }
    text += (text.empty() ? "" : ", ") + one;
  };
  for (const clang::TemplateArgument& argument : arguments->asArray()) {
    add(argument, add);
  }
  return "<" + text + ">";
}

std::string Converter::NameExpression(const clang::FunctionDecl* function) const {
  return QualifiedName(function) + TemplateArguments(function);
}

bool Converter::InMainFile(clang::SourceLocation location) const {
  return location.isValid() &&
         sources_.getFileID(sources_.getExpansionLoc(location)) == sources_.getMainFileID();
}

bool Converter::IsOfUnit(const clang::Decl* decl) const {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
  if (function != nullptr && function->isImplicit()) {
    return false;  // a builtin is declared where it is first used
  }
  return InMainFile(decl->getLocation());
}

int Converter::Line(clang::SourceLocation location) const {
  if (!InMainFile(location)) {
    return 0;
  }
  return static_cast<int>(sources_.getExpansionLineNumber(location));
}

ast::TextRange Converter::Range(clang::SourceRange range) const {
  ast::TextRange result;
  if (!InMainFile(range.getBegin()) || !InMainFile(range.getEnd())) {
    return result;
  }
  result.in_macro = range.getBegin().isMacroID() || range.getEnd().isMacroID();
  const clang::CharSourceRange begin = sources_.getExpansionRange(range.getBegin());
  const clang::CharSourceRange end = sources_.getExpansionRange(range.getEnd());
  result.begin = sources_.getFileOffset(begin.getBegin());
  result.end = sources_.getFileOffset(end.getEnd());
  if (end.isTokenRange()) {
    result.end += clang::Lexer::MeasureTokenLength(end.getEnd(), sources_, context_.getLangOpts());
  }
  return result;
}

ast::TextRange Converter::FunctionRange(const clang::FunctionDecl* function) const {
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern()) {
    function = pattern;
  }
  ast::TextRange result = Range(WholeFunction(function));
  // Attributes such as __global__ are macros too; what matters is who wrote the name and the body.
  result.in_macro = function->getLocation().isMacroID() || function->getEndLoc().isMacroID();
  return result;
}

std::string Converter::Text(clang::SourceRange range) const {
  const ast::TextRange at = Range(range);
  if (at.end > unit_.text.size() || at.begin > at.end) {
    return "";
  }
  return unit_.text.substr(at.begin, at.end - at.begin);
}

std::string Converter::Spelling(clang::SourceLocation location) const {
  llvm::SmallString<32> buffer;
  return clang::Lexer::getSpelling(sources_.getSpellingLoc(location), buffer, sources_,
                                   context_.getLangOpts())
      .str();
}

}  // namespace optiml::frontend
