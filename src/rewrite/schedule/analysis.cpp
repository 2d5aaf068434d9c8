#include "rewrite/schedule/analysis.h"

#include <algorithm>
#include <utility>

namespace optiml::rewrite {
namespace {

class Collector {
 public:
  Collector(const Program& program, size_t stage, std::vector<AccessInfo>* out)
      : program_(program), stage_(stage), out_(out) {}

  void Expression(const ExprPtr& expr, bool conditional) {
    if (expr == nullptr) {
      return;
    }
    if (expr->kind == ExprKind::kLoad) {
      Add(expr->name, expr->operands[0], expr->type, conditional, false, false);
      Expression(expr->operands[0], conditional);
      return;
    }
    const bool lazy = expr->kind == ExprKind::kSelect ||
                      (expr->kind == ExprKind::kBinary && (expr->op == "&&" || expr->op == "||"));
    for (size_t i = 0; i < expr->operands.size(); ++i) {
      Expression(expr->operands[i], conditional || (lazy && i > 0));
    }
  }

  void StoreTo(const Store& store, bool conditional) {
    const Parameter* parameter = program_.FindParameter(store.buffer);
    Add(store.buffer, store.index, parameter == nullptr ? Scalar::kF32 : parameter->type,
        conditional, true, store.kind == StoreKind::kAtomic);
  }

 private:
  void Add(const std::string& buffer, const ExprPtr& index, Scalar type, bool conditional,
           bool is_store, bool is_atomic) {
    AccessInfo info;
    info.buffer = buffer;
    info.index = index;
    info.type = type;
    info.stage = stage_;
    info.is_store = is_store;
    info.is_atomic = is_atomic;
    info.is_conditional = conditional;
    info.affine = IndexForm(program_, stage_, index);
    out_->push_back(std::move(info));
  }

  const Program& program_;
  size_t stage_;
  std::vector<AccessInfo>* out_;
};

}  // namespace

std::vector<AccessInfo> CollectAccesses(const Program& program) {
  std::vector<AccessInfo> accesses;
  for (size_t i = 0; i < program.stages.size(); ++i) {
    const Stage& stage = program.stages[i];
    Collector collector(program, i, &accesses);
    const bool guarded = stage.guard != nullptr;
    for (const Let& let : stage.lets) {
      // Lets may be used by the guard; with a guard they are evaluated first and unguarded.
      collector.Expression(let.value, false);
    }
    collector.Expression(stage.guard, false);
    for (const Accumulator& accumulator : stage.accumulators) {
      const size_t first = accesses.size();
      collector.Expression(accumulator.init, false);
      for (size_t a = first; a < accesses.size(); ++a) {
        accesses[a].is_initial = true;
      }
      collector.Expression(accumulator.update, guarded);
    }
    for (const Store& store : stage.stores) {
      collector.Expression(store.index, guarded);
      collector.Expression(store.value, guarded);
      collector.StoreTo(store, guarded);
    }
  }
  return accesses;
}

std::vector<std::string> DimNames(const Program& program, const Stage& stage) {
  std::vector<std::string> names;
  for (const Dim& dim : program.dims) {
    names.push_back(dim.name);
  }
  for (const Dim& dim : stage.dims) {
    names.push_back(dim.name);
  }
  return names;
}

std::vector<Let> LetsUpTo(const Program& program, size_t stage) {
  std::vector<Let> lets;
  for (size_t i = 0; i <= stage && i < program.stages.size(); ++i) {
    if (i == stage || program.stages[i].dims.empty()) {
      lets.insert(lets.end(), program.stages[i].lets.begin(), program.stages[i].lets.end());
    }
  }
  return lets;
}

std::optional<Affine> IndexForm(const Program& program, size_t stage, const ExprPtr& index) {
  return ToAffine(index, DimNames(program, program.stages[stage]), LetsUpTo(program, stage));
}

ExprPtr RewriteExpr(const ExprPtr& expr, const std::function<ExprPtr(const ExprPtr&)>& replace) {
  if (expr == nullptr) {
    return nullptr;
  }
  if (ExprPtr replaced = replace(expr)) {
    return replaced;
  }
  bool changed = false;
  std::vector<ExprPtr> operands;
  for (const ExprPtr& operand : expr->operands) {
    operands.push_back(RewriteExpr(operand, replace));
    changed = changed || operands.back() != operand;
  }
  if (!changed) {
    return expr;
  }
  auto copy = std::make_shared<Expr>(*expr);
  copy->operands = std::move(operands);
  return copy;
}

void RewriteStage(Stage* stage, const std::function<ExprPtr(const ExprPtr&)>& rewrite) {
  const auto apply = [&](ExprPtr* expr) {
    if (*expr != nullptr) {
      *expr = rewrite(*expr);
    }
  };
  for (Dim& dim : stage->dims) {
    apply(&dim.extent);
  }
  for (Let& let : stage->lets) {
    apply(&let.value);
  }
  apply(&stage->guard);
  for (Accumulator& accumulator : stage->accumulators) {
    apply(&accumulator.init);
    apply(&accumulator.update);
  }
  for (Store& store : stage->stores) {
    apply(&store.index);
    apply(&store.value);
  }
}

bool StoresBetween(const std::vector<AccessInfo>& accesses, const std::string& buffer, size_t first,
                   size_t last) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const AccessInfo& access) {
    return access.is_store && access.buffer == buffer && first <= access.stage &&
           access.stage < last;
  });
}

void RewriteProgram(Program* program, const std::function<ExprPtr(const ExprPtr&)>& rewrite) {
  for (Dim& dim : program->dims) {
    dim.extent = rewrite(dim.extent);
  }
  for (Stage& stage : program->stages) {
    RewriteStage(&stage, rewrite);
  }
  for (ExprPtr& assumption : program->assumptions) {
    assumption = rewrite(assumption);
  }
}

bool StageMentions(const Stage& stage, const std::string& symbol) {
  bool found = false;
  Stage copy = stage;
  RewriteStage(&copy, [&](const ExprPtr& expr) {
    found = found || Mentions(expr, symbol);
    return expr;
  });
  return found;
}

bool RequireDivisible(const Affine& index, const std::string& dim, int64_t width,
                      std::set<std::string>* divisible) {
  if (!(index.Coefficient(dim) == Polynomial(1))) {
    return false;
  }
  // Monomials whose product must be a multiple of the width; those with few symbols first, so that
  // "cols" settles "rows*cols" too.
  std::vector<std::vector<std::string>> monomials;
  const auto collect = [&](const Polynomial& polynomial) {
    for (const auto& [symbols, coefficient] : polynomial.terms()) {
      if (coefficient % width != 0) {
        monomials.push_back(symbols);
      }
    }
  };
  for (const auto& [name, coefficient] : index.coefficients) {
    if (name != dim) {
      collect(coefficient);
    }
  }
  collect(index.constant);
  std::stable_sort(monomials.begin(), monomials.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (const std::vector<std::string>& symbols : monomials) {
    if (symbols.empty()) {
      return false;  // a constant offset that is not a multiple
    }
    const bool settled = std::any_of(symbols.begin(), symbols.end(), [&](const std::string& one) {
      return divisible->count(one) != 0;
    });
    if (!settled) {
      divisible->insert(symbols.back());
    }
  }
  return true;
}

ExprPtr AffineExpr(const Affine& form, const std::vector<std::string>& dims, Scalar type) {
  ExprPtr result;
  const auto add = [&](const ExprPtr& term) {
    result = result == nullptr ? term : Binary("+", result, term, type);
  };
  for (const std::string& dim : dims) {
    const Polynomial coefficient = form.Coefficient(dim);
    if (!coefficient.IsZero()) {
      add(coefficient == Polynomial(1)
              ? Symbol(dim, type)
              : Binary("*", Symbol(dim, type), coefficient.ToExpr(), type));
    }
  }
  if (!form.constant.IsZero() || result == nullptr) {
    add(form.constant.ToExpr());
  }
  return result;
}

void RemoveDeadLets(Program* program) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Stage& stage : program->stages) {
      for (size_t i = 0; i < stage.lets.size(); ++i) {
        const std::string name = stage.lets[i].name;
        const bool used =
            std::any_of(program->stages.begin(), program->stages.end(),
                        [&](const Stage& other) { return StageMentions(other, name); });
        if (!used) {
          stage.lets.erase(stage.lets.begin() + static_cast<std::ptrdiff_t>(i));
          changed = true;
          break;
        }
      }
    }
  }
  std::erase_if(program->stages, [](const Stage& stage) {
    return stage.lets.empty() && stage.stores.empty() && stage.accumulators.empty();
  });
}

ExprPtr ProductOf(const std::vector<Dim>& dims) {
  ExprPtr product;
  for (const Dim& dim : dims) {
    if (product == nullptr) {
      product = dim.extent;
    } else {
      const Scalar type = ScalarBytes(dim.extent->type) > ScalarBytes(product->type)
                              ? dim.extent->type
                              : product->type;
      product = Binary("*", product, dim.extent, type);
    }
  }
  return product == nullptr ? Int(1) : product;
}

std::optional<int64_t> Evaluate(const ExprPtr& expr,
                                const std::map<std::string, int64_t>& scalars) {
  std::vector<int64_t> values;
  switch (expr->kind) {
    case ExprKind::kInt:
      return expr->int_value;
    case ExprKind::kSymbol: {
      const auto found = scalars.find(expr->name);
      return found == scalars.end() ? std::nullopt : std::optional<int64_t>(found->second);
    }
    case ExprKind::kCast:
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kSelect:
    case ExprKind::kCall:
      for (const ExprPtr& operand : expr->operands) {
        const std::optional<int64_t> value = Evaluate(operand, scalars);
        if (!value) {
          return std::nullopt;
        }
        values.push_back(*value);
      }
      break;
    default:
      return std::nullopt;
  }
  if (expr->kind == ExprKind::kCast) {
    return IsFloatScalar(expr->type) ? std::nullopt : std::optional<int64_t>(values[0]);
  }
  if (expr->kind == ExprKind::kUnary) {
    return expr->op == "-"   ? std::optional<int64_t>(-values[0])
           : expr->op == "!" ? std::optional<int64_t>(values[0] == 0)
                             : std::optional<int64_t>(~values[0]);
  }
  if (expr->kind == ExprKind::kSelect) {
    return values[0] != 0 ? values[1] : values[2];
  }
  if (expr->kind == ExprKind::kCall) {
    if (values.size() != 2) {
      return std::nullopt;
    }
    return expr->name == "min"   ? std::optional<int64_t>(std::min(values[0], values[1]))
           : expr->name == "max" ? std::optional<int64_t>(std::max(values[0], values[1]))
                                 : std::nullopt;
  }
  const int64_t a = values[0];
  const int64_t b = values[1];
  const std::string& op = expr->op;
  int64_t result = 0;
  if (op == "+") {
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional<int64_t>(result);
  }
  if (op == "-") {
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional<int64_t>(result);
  }
  if (op == "*") {
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional<int64_t>(result);
  }
  if ((op == "/" || op == "%") && b > 0) {
    return op == "/" ? a / b : a % b;
  }
  if (op == "<<" && b >= 0 && b < 62) {
    return __builtin_mul_overflow(a, int64_t{1} << b, &result) ? std::nullopt
                                                               : std::optional<int64_t>(result);
  }
  if (op == ">>" && b >= 0 && b < 63) {
    return a >> b;
  }
  if (op == "<") {
    return a < b;
  }
  if (op == "<=") {
    return a <= b;
  }
  if (op == ">") {
    return a > b;
  }
  if (op == ">=") {
    return a >= b;
  }
  if (op == "==") {
    return a == b;
  }
  if (op == "!=") {
    return a != b;
  }
  return std::nullopt;
}

bool IsConstantZero(const ExprPtr& expr) {
  return (expr->kind == ExprKind::kInt && expr->int_value == 0) ||
         (expr->kind == ExprKind::kFloat && expr->float_value == 0) ||
         (expr->kind == ExprKind::kCast && IsConstantZero(expr->operands[0]));
}

bool IsConstantOne(const ExprPtr& expr) {
  return (expr->kind == ExprKind::kInt && expr->int_value == 1) ||
         (expr->kind == ExprKind::kFloat && expr->float_value == 1) ||
         (expr->kind == ExprKind::kCast && IsConstantOne(expr->operands[0]));
}

}  // namespace optiml::rewrite
