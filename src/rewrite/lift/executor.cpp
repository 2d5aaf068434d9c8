#include "rewrite/lift/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/lift/intrinsics.h"
#include "rewrite/program/affine.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

// Nests are run twice a level; anything a person wrote stays far below.
constexpr size_t kMaxWork = 200'000;
constexpr size_t kMaxNodes = 4'000;
// Integer expressions up to this size are carried along without a let.
constexpr size_t kMaxCarriedNodes = 40;

bool MentionsCarried(const ExprPtr& expr) {
  bool carried = false;
  Visit(expr, [&](const Expr& node) {
    carried |= node.kind == ExprKind::kSymbol && node.name.starts_with("in#");
  });
  return carried;
}

bool IsVolatile(const ast::TypePtr& type) {
  return type != nullptr && type->text.find("volatile") != std::string::npos;
}

}  // namespace

size_t NodeCount(const ExprPtr& expr) {
  size_t count = 0;
  Visit(expr, [&](const Expr&) { ++count; });
  return count;
}

bool NeedsLet(const ExprPtr& expr) {
  bool needs = false;
  size_t nodes = 0;
  Visit(expr, [&](const Expr& node) {
    ++nodes;
    needs |= node.kind == ExprKind::kLoad ||
             (node.kind == ExprKind::kCall && node.name != "__mul24" && node.name != "__umul24");
    // A float that is computed, but not a literal, a symbol or its conversion or negation.
    needs |= IsFloatScalar(node.type) &&
             (node.kind == ExprKind::kBinary || node.kind == ExprKind::kSelect);
  });
  return needs || nodes > kMaxCarriedNodes;
}

Executor::Executor(const ast::SourceUnit& unit, const ast::Function& kernel)
    : unit_(unit), kernel_(kernel) {}

void Executor::Run() {
  BindParameters();
  frames_.push_back({&kernel_, 0, 0, {}});
  if (kernel_.body == nullptr) {
    Stop(kernel_.line, "the kernel has no body in this file");
  }
  Execute(*kernel_.body);
  frames_.pop_back();
}

void Executor::BindParameters() {
  std::set<std::string> names;
  for (const int id : kernel_.parameters) {
    const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
    Parameter parameter;
    parameter.name = variable.name;
    if (variable.name.empty()) {
      Stop(kernel_.line, "a parameter without a name");
    }
    if (variable.type->is_reference) {
      Stop(variable.line, fmt::format("parameter {} is a reference", variable.name));
    }
    if (IsVolatile(variable.type)) {
      Stop(variable.line, fmt::format("parameter {} is volatile", variable.name));
    }
    if (variable.type->kind == ast::TypeKind::kPointer) {
      const std::optional<Scalar> element = ScalarOf(variable.type->element);
      if (!element) {
        Stop(variable.line, fmt::format("parameter {} points to {}, which is no scalar",
                                        variable.name, variable.type->element->text));
      }
      parameter.type = *element;
      parameter.is_buffer = true;
      parameter.is_const = variable.type->element->is_const;
      parameter.is_restrict = variable.type->is_restrict;
      environment_[id] = Value::Pointer(variable.name, *element, Int(0));
    } else {
      const std::optional<Scalar> scalar = ScalarOf(variable.type);
      if (!scalar) {
        Stop(variable.line,
             fmt::format("parameter {} has type {}", variable.name, variable.type->text));
      }
      parameter.type = *scalar;
      environment_[id] = Value::Of(Symbol(variable.name, *scalar));
    }
    parameters_.push_back(parameter);
  }
}

std::string Executor::FreshName(const std::string& base) {
  return fmt::format("{}#{}", base, next_id_++);
}

bool Executor::IsNewSymbol(const std::string& name, int first_new_id) const {
  const size_t mark = name.find('#');
  return mark != std::string::npos && std::stoi(name.substr(mark + 1)) >= first_new_id;
}

std::vector<ExprPtr> Executor::PathConditions() const {
  std::vector<ExprPtr> conditions;
  for (const Condition& condition : path_) {
    conditions.push_back(condition.expr);
  }
  return conditions;
}

std::optional<bool> Executor::KnownOnPath(const ExprPtr& condition) const {
  std::vector<ExprPtr> parts;
  SplitConjunction(condition, &parts);
  if (parts.size() > 1) {
    bool all = true;
    for (const ExprPtr& part : parts) {
      const std::optional<bool> known = KnownOnPath(part);
      if (known == false) {
        return false;
      }
      all &= known == true;
    }
    return all ? std::optional(true) : std::nullopt;
  }
  const ExprPtr negated = Negate(condition);
  for (const Condition& known : path_) {
    if (Equal(known.expr, condition)) {
      return true;
    }
    if (Equal(known.expr, negated)) {
      return false;
    }
  }
  return std::nullopt;
}

void Executor::PushConditions(const ExprPtr& condition, bool is_kill) {
  std::vector<ExprPtr> parts;
  SplitConjunction(condition, &parts);
  for (const ExprPtr& part : parts) {
    if (KnownOnPath(part) != true) {
      path_.push_back({part, is_kill});
    }
  }
}

// Selects whose condition is decided by the path become the arm that is taken.
ExprPtr Executor::UnderPath(const ExprPtr& expr) const {
  if (path_.empty() || expr == nullptr || expr->operands.empty()) {
    return expr;
  }
  if (expr->kind == ExprKind::kSelect) {
    const std::optional<bool> known = KnownOnPath(expr->operands[0]);
    if (known) {
      return UnderPath(expr->operands[*known ? 1 : 2]);
    }
  }
  std::vector<ExprPtr> operands;
  bool changed = false;
  for (const ExprPtr& operand : expr->operands) {
    operands.push_back(UnderPath(operand));
    changed |= operands.back() != operand;
  }
  if (!changed) {
    return expr;
  }
  Expr copy = *expr;
  copy.operands = std::move(operands);
  return Simplify(std::make_shared<const Expr>(std::move(copy)));
}

ExprPtr Executor::Bind(const std::string& name, const ExprPtr& value, int line) {
  const ExprPtr simple = UnderPath(value);
  if (NodeCount(simple) > kMaxNodes) {
    Stop(line, fmt::format("the value of {} is too large an expression", name));
  }
  if (!NeedsLet(simple) || MentionsCarried(simple)) {
    return simple;
  }
  Event event;
  event.kind = Event::Kind::kLet;
  event.line = line;
  event.conditions = PathConditions();
  event.let = {FreshName(name), simple->type, simple};
  let_values_[event.let.name] = simple;
  ExprPtr symbol = Symbol(event.let.name, simple->type);
  events_.push_back(std::move(event));
  return symbol;
}

// Lets that were made since `event_begin` under more conditions than hold now are not defined here:
// their values take their place.
ExprPtr Executor::InlineConditionalLets(const ExprPtr& expr, size_t event_begin) {
  std::map<std::string, ExprPtr> values;
  std::set<std::string> stored;
  for (size_t i = events_.size(); i > event_begin; --i) {
    const Event& event = events_[i - 1];
    if (event.kind == Event::Kind::kStore) {
      stored.insert(event.store.buffer);
    }
    if (event.kind == Event::Kind::kLoop) {
      for (const Event& inner : event.loop->body) {
        if (inner.kind == Event::Kind::kStore) {
          stored.insert(inner.store.buffer);
        }
      }
    }
    if (event.kind != Event::Kind::kLet ||
        std::all_of(event.conditions.begin(), event.conditions.end(),
                    [&](const ExprPtr& known) { return KnownOnPath(known) == true; })) {
      continue;
    }
    for (const ExprPtr& load : Loads(event.let.value)) {
      if (stored.contains(load->name) && Mentions(expr, event.let.name)) {
        Stop(event.line, fmt::format("{} is read before {} is written and used after the branch",
                                     BaseName(event.let.name), load->name));
      }
    }
    values[event.let.name] = event.let.value;
  }
  ExprPtr result = expr;
  for (size_t round = 0; !values.empty() && round <= values.size(); ++round) {
    const ExprPtr next = Substitute(result, values);
    if (next == result) {
      break;
    }
    result = next;
    if (NodeCount(result) > kMaxNodes) {
      Stop(0, "an expression over several branches is too large");
    }
  }
  return result;
}

Executor::Flow Executor::ExecuteBlock(const std::vector<ast::StmtPtr>& children) {
  for (const ast::StmtPtr& child : children) {
    if (Execute(*child) == Flow::kEnded) {
      return Flow::kEnded;
    }
  }
  return Flow::kNext;
}

Executor::Flow Executor::Execute(const ast::Stmt& stmt) {
  if (++work_ > kMaxWork) {
    Stop(stmt.line, "the kernel is too large to lift");
  }
  switch (stmt.kind) {
    case ast::StmtKind::kBlock:
      return ExecuteBlock(stmt.children);
    case ast::StmtKind::kDeclare:
      for (const int id : stmt.variables) {
        Declare(unit_.variables[static_cast<size_t>(id)]);
      }
      return Flow::kNext;
    case ast::StmtKind::kExpression:
      ExecuteEffect(*stmt.expr);
      return Flow::kNext;
    case ast::StmtKind::kIf:
      return ExecuteIf(stmt);
    case ast::StmtKind::kFor:
    case ast::StmtKind::kWhile:
    case ast::StmtKind::kDo:
      return ExecuteLoop(stmt);
    case ast::StmtKind::kReturn: {
      Frame& frame = frames_.back();
      if (loop_depth_ > frame.loop_depth) {
        Stop(stmt.line, "return inside a loop: its trip count depends on data");
      }
      Exit exit;
      if (stmt.expr != nullptr) {
        const Value value = Evaluate(*stmt.expr);
        exit.value = value;
      }
      exit.path = path_;
      exit.environment = environment_;
      exit.next_id = next_id_;
      frames_.back().returns.push_back(std::move(exit));
      return Flow::kEnded;
    }
    case ast::StmtKind::kContinue:
      if (continues_.empty()) {
        Stop(stmt.line, "continue outside a loop");
      }
      continues_.back().push_back({path_, environment_, {}, next_id_});
      return Flow::kEnded;
    case ast::StmtKind::kBreak:
      Stop(stmt.line, "break: the loop's trip count depends on data");
    case ast::StmtKind::kSwitch:
    case ast::StmtKind::kCase:
      Stop(stmt.line, "switch is not lifted");
    case ast::StmtKind::kAsm:
      Stop(stmt.line, "inline assembly is not lifted");
    case ast::StmtKind::kUnsupported:
      Stop(stmt.line, fmt::format("{} is not lifted", stmt.name));
  }
  return Flow::kNext;
}

void Executor::Declare(const ast::Variable& variable) {
  const int line = variable.line;
  if (variable.storage == ast::Storage::kShared ||
      variable.storage == ast::Storage::kExternShared) {
    Stop(line, fmt::format("{} is in shared memory: kernels with shared memory are not lifted",
                           variable.name));
  }
  if (variable.storage == ast::Storage::kStatic && !variable.constant) {
    Stop(line, fmt::format("{} is static", variable.name));
  }
  if (IsVolatile(variable.type)) {
    Stop(line, fmt::format("{} is volatile", variable.name));
  }
  if (variable.type->kind == ast::TypeKind::kArray) {
    Stop(line, fmt::format("{} is a local array", variable.name));
  }
  if (variable.type->kind == ast::TypeKind::kPointer) {
    const std::optional<Scalar> element = ScalarOf(variable.type->element);
    if (!element) {
      Stop(line, fmt::format("{} points to {}, which is no scalar", variable.name,
                             variable.type->element->text));
    }
  } else if (!ScalarOf(variable.type)) {
    Stop(line,
         fmt::format("{} has type {}, which is no scalar", variable.name, variable.type->text));
  }
  if (variable.type->is_reference && !variable.type->is_const) {
    if (variable.init != nullptr && variable.init->kind == ast::ExprKind::kVariable) {
      aliases_[variable.id] = Resolve(variable.init->variable);
      return;
    }
    Stop(line, fmt::format("{} is a reference to memory", variable.name));
  }
  aliases_.erase(variable.id);
  environment_[variable.id] = Value();
  if (variable.constant && ScalarOf(variable.type)) {
    environment_[variable.id] = Value::Of(Int(*variable.constant, *ScalarOf(variable.type)));
  } else if (variable.init != nullptr) {
    AssignVariable(variable.id, Evaluate(*variable.init), line);
  }
}

void Executor::AssignVariable(int variable, Value value, int line) {
  const int id = Resolve(variable);
  const ast::Variable& declared = unit_.variables[static_cast<size_t>(id)];
  if (declared.storage != ast::Storage::kLocal && declared.storage != ast::Storage::kParameter) {
    Stop(line, fmt::format("{} is assigned, and is no local variable", declared.name));
  }
  if (value.kind == Value::Kind::kScalar) {
    const std::optional<Scalar> type = ScalarOf(declared.type);
    if (!type) {
      Stop(line, fmt::format("{} has type {}", declared.name, declared.type->text));
    }
    value.expr = Bind(declared.name, Convert(*type, value.expr), line);
    if (!IsFloatScalar(*type)) {
      hints_.push_back({declared.name, value.expr});
    }
  } else if (value.kind == Value::Kind::kPointer) {
    if (declared.type->kind != ast::TypeKind::kPointer) {
      Stop(line, fmt::format("{} keeps an address", declared.name));
    }
    value.expr = Bind(declared.name, value.expr, line);
  } else if (value.kind == Value::Kind::kUnknown) {
    Stop(line, fmt::format("{} is assigned {}", declared.name, value.why));
  }
  environment_[id] = std::move(value);
}

Executor::Flow Executor::ExecuteIf(const ast::Stmt& stmt) {
  for (const int id : stmt.variables) {
    Declare(unit_.variables[static_cast<size_t>(id)]);
  }
  const ExprPtr condition = UnderPath(EvaluateCondition(*stmt.expr));
  std::optional<bool> known = KnownOnPath(condition);
  if (condition->kind == ExprKind::kInt) {
    known = condition->int_value != 0;
  }
  const auto run = [&](size_t child) {
    return child < stmt.children.size() ? Execute(*stmt.children[child]) : Flow::kNext;
  };
  if (known) {
    return run(*known ? 0 : 1);
  }
  return Branch(
      BindCondition(condition, stmt.line), [&] { return run(0); }, [&] { return run(1); },
      stmt.line);
}

bool Executor::LoadsWritable(const ExprPtr& expr) const {
  const std::vector<ExprPtr> loads = Loads(expr);
  return std::any_of(loads.begin(), loads.end(), [&](const ExprPtr& load) {
    return std::any_of(parameters_.begin(), parameters_.end(), [&](const Parameter& parameter) {
      return parameter.name == load->name && !parameter.is_const;
    });
  });
}

// A condition is tested once, where the if stands: what it loads may be stored to in a branch.
ExprPtr Executor::BindCondition(const ExprPtr& condition, int line) {
  std::vector<ExprPtr> parts;
  SplitConjunction(condition, &parts);
  const size_t path_size = path_.size();
  for (ExprPtr& part : parts) {
    if (LoadsWritable(part)) {
      part = Bind("condition", part, line);
    }
    PushConditions(part);
  }
  path_.resize(path_size);
  return JoinConditions(parts);
}

Executor::Flow Executor::Branch(const ExprPtr& condition, const std::function<Flow()>& then_part,
                                const std::function<Flow()>& else_part, int line) {
  const Environment before = environment_;
  const size_t path_size = path_.size();
  const size_t event_begin = events_.size();
  const int first_id = next_id_;
  const size_t returns = frames_.back().returns.size();
  const size_t continues = continues_.empty() ? 0 : continues_.back().size();

  PushConditions(condition);
  const Flow then_flow = then_part();
  Environment then_environment = std::move(environment_);
  path_.resize(path_size);
  environment_ = before;
  PushConditions(Negate(condition));
  const Flow else_flow = else_part();
  path_.resize(path_size);
  Environment else_environment = std::move(environment_);

  // What still runs is what did not return or continue.
  const auto push_kills = [&](const std::vector<Exit>& exits, size_t begin) {
    for (size_t i = begin; i < exits.size(); ++i) {
      ExprPtr taken;
      for (size_t k = path_size; k < exits[i].path.size(); ++k) {
        taken = Conjunction(taken, exits[i].path[k].expr);
      }
      if (taken != nullptr) {
        PushConditions(Negate(taken), true);
      }
    }
  };
  const std::vector<Exit> returned(frames_.back().returns);
  push_kills(returned, returns);
  if (!continues_.empty()) {
    const std::vector<Exit> continued(continues_.back());
    push_kills(continued, continues);
  }

  if (then_flow == Flow::kEnded && else_flow == Flow::kEnded) {
    environment_ = before;
    return Flow::kEnded;
  }
  if (then_flow == Flow::kEnded || else_flow == Flow::kEnded) {
    environment_ =
        then_flow == Flow::kEnded ? std::move(else_environment) : std::move(then_environment);
    return Flow::kNext;
  }
  environment_ = std::move(else_environment);
  for (auto& [id, value] : environment_) {
    const auto other = then_environment.find(id);
    if (other == then_environment.end()) {
      continue;  // declared in one branch: out of scope here
    }
    Value merged = MergeValues(condition, other->second, value, id, {first_id, first_id});
    if ((merged.kind == Value::Kind::kScalar || merged.kind == Value::Kind::kPointer) &&
        merged.expr != value.expr) {
      const std::string& name = unit_.variables[static_cast<size_t>(id)].name;
      merged.expr = Bind(name, InlineConditionalLets(merged.expr, event_begin), line);
    }
    value = std::move(merged);
  }
  return Flow::kNext;
}

Value Executor::MergeValues(const ExprPtr& condition, const Value& then_value,
                            const Value& else_value, int variable, const FoldsOf& folds) {
  using Kind = Value::Kind;
  const std::string& name = unit_.variables[static_cast<size_t>(variable)].name;
  if (then_value.kind == Kind::kUnknown || else_value.kind == Kind::kUnknown) {
    return then_value.kind == Kind::kUnknown ? then_value : else_value;
  }
  if (then_value.kind == Kind::kUnset && else_value.kind == Kind::kUnset) {
    return else_value;
  }
  if (then_value.kind == Kind::kUnset || else_value.kind == Kind::kUnset) {
    const Value& known = then_value.kind == Kind::kUnset ? else_value : then_value;
    if (known.kind == Kind::kPointer) {
      return Value::Unknown(fmt::format("{}, which only one branch sets", name));
    }
    // Nobody may read it on the other path; a zero there keeps the loads on their own path.
    const Scalar type = known.expr->type;
    const ExprPtr zero = Identity(FoldOp::kSum, type);
    return Value::Of(Simplify(then_value.kind == Kind::kUnset
                                  ? Select(condition, zero, known.expr)
                                  : Select(condition, known.expr, zero)));
  }
  if (then_value.kind != else_value.kind ||
      (then_value.kind == Kind::kPointer && then_value.buffer != else_value.buffer)) {
    return Value::Unknown(fmt::format("{}, which points to different buffers", name));
  }
  if (Equal(then_value.expr, else_value.expr)) {
    return else_value;
  }
  Value merged = else_value;
  // A fold that did not run leaves its accumulator at its start: no select is needed.
  const auto is_start = [&](const ExprPtr& result, const ExprPtr& start, int from) {
    if (result->kind != ExprKind::kSymbol || from < 0 || !IsNewSymbol(result->name, from)) {
      return false;
    }
    const auto init = accumulator_inits_.find(result->name);
    return init != accumulator_inits_.end() && Equal(init->second, start);
  };
  if (is_start(then_value.expr, else_value.expr, folds.then_from)) {
    merged.expr = then_value.expr;
  } else if (is_start(else_value.expr, then_value.expr, folds.else_from)) {
    merged.expr = else_value.expr;
  } else if (then_value.expr->type != else_value.expr->type) {
    merged.expr =
        Select(condition, Convert(else_value.expr->type, then_value.expr), else_value.expr);
  } else {
    merged.expr = Simplify(Select(condition, then_value.expr, else_value.expr));
  }
  if (then_value.assumption != nullptr) {
    merged.assumption = Conjunction(merged.assumption, then_value.assumption);
  }
  return merged;
}

void Executor::AddStore(const Value& pointer, const ExprPtr& value, StoreKind kind, FoldOp op,
                        int line) {
  if (pointer.kind != Value::Kind::kPointer) {
    Stop(line, pointer.kind == Value::Kind::kUnknown
                   ? fmt::format("a store through {}", pointer.why)
                   : "a store through something that is no pointer");
  }
  if (pointer.assumption != nullptr) {
    assumptions_.push_back(pointer.assumption);
  }
  for (Parameter& parameter : parameters_) {
    if (parameter.name == pointer.buffer) {
      if (parameter.is_const) {
        Stop(line, fmt::format("a store to {}, which points to const", parameter.name));
      }
      parameter.is_written = true;
    }
  }
  Event event;
  event.kind = Event::Kind::kStore;
  event.line = line;
  event.conditions = PathConditions();
  event.store = {pointer.buffer, Simplify(UnderPath(pointer.expr)),
                 UnderPath(Convert(pointer.element, value)), kind, op};
  if (NodeCount(event.store.value) > kMaxNodes) {
    Stop(line, "the stored value is too large an expression");
  }
  events_.push_back(std::move(event));
}

}  // namespace optiml::rewrite::lifting
