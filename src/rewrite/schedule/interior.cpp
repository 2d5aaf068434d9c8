#include "rewrite/schedule/interior.h"

#include <algorithm>

#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

bool IsComparison(const Expr& expr) {
  return expr.kind == ExprKind::kBinary && (expr.op == "<" || expr.op == "<=" || expr.op == ">" ||
                                            expr.op == ">=" || expr.op == "==" || expr.op == "!=");
}

std::string Negated(const std::string& op) {
  if (op == "<") {
    return ">=";
  }
  if (op == "<=") {
    return ">";
  }
  if (op == ">") {
    return "<=";
  }
  if (op == ">=") {
    return "<";
  }
  return op == "==" ? "!=" : "==";
}

class Finder {
 public:
  Finder(const Program& program, const std::map<std::string, ExprPtr>& low,
         const std::map<std::string, ExprPtr>& high, Interior* out)
      : program_(program), low_(low), high_(high), out_(out) {}

  void EnterStage(size_t index) {
    const Stage& stage = program_.stages[index];
    dims_ = DimNames(program_, stage);
    stage_low_ = low_;
    stage_high_ = high_;
    for (const Dim& dim : stage.dims) {
      stage_low_[dim.name] = Int(0, dim.extent->type);
      stage_high_[dim.name] = dim.extent->kind == ExprKind::kInt
                                  ? Int(dim.extent->int_value - 1, dim.extent->type)
                                  : Binary("-", dim.extent, Int(1), dim.extent->type);
    }
    lets_.clear();
    for (const Let& let : LetsUpTo(program_, index)) {
      if (!IsFloatScalar(let.type) && Loads(let.value).empty()) {
        lets_[let.name] = Substitute(let.value, lets_);
      }
    }
  }

  // Makes the condition have the value `wanted` over the block; false when that cannot be checked.
  bool Want(const ExprPtr& condition, bool wanted) {
    std::vector<ExprPtr> checks;
    if (!Collect(condition, wanted, &checks)) {
      return false;
    }
    for (const ExprPtr& check : checks) {
      const bool known = std::any_of(out_->checks.begin(), out_->checks.end(),
                                     [&](const ExprPtr& one) { return Equal(one, check); });
      if (!known) {
        out_->checks.push_back(check);
      }
    }
    out_->outcomes[Print(condition)] = wanted;
    return true;
  }

 private:
  bool Collect(const ExprPtr& condition, bool wanted, std::vector<ExprPtr>* checks) {
    if (condition->kind == ExprKind::kSymbol) {
      const auto let = lets_.find(condition->name);
      return let != lets_.end() && Collect(let->second, wanted, checks);
    }
    if (condition->kind == ExprKind::kCast) {
      return Collect(condition->operands[0], wanted, checks);
    }
    if (condition->kind == ExprKind::kUnary && condition->op == "!") {
      return Collect(condition->operands[0], !wanted, checks);
    }
    if (condition->kind == ExprKind::kBinary &&
        ((condition->op == "&&" && wanted) || (condition->op == "||" && !wanted))) {
      return Collect(condition->operands[0], wanted, checks) &&
             Collect(condition->operands[1], wanted, checks);
    }
    if (!IsComparison(*condition)) {
      return false;
    }
    return Compare(condition, wanted ? condition->op : Negated(condition->op), checks);
  }

  // `left op right` at the corners of the block where the difference is least and greatest.
  bool Compare(const ExprPtr& condition, const std::string& op, std::vector<ExprPtr>* checks) {
    const ExprPtr left = Substitute(condition->operands[0], lets_);
    const ExprPtr right = Substitute(condition->operands[1], lets_);
    const std::optional<Affine> a = ToAffine(left, dims_);
    const std::optional<Affine> b = ToAffine(right, dims_);
    if (!a || !b) {
      return false;
    }
    std::map<std::string, ExprPtr> least;
    std::map<std::string, ExprPtr> greatest;
    for (const std::string& dim : dims_) {
      const std::optional<int64_t> slope = (a->Coefficient(dim) - b->Coefficient(dim)).Constant();
      if (!slope) {
        return false;
      }
      const auto low = stage_low_.find(dim);
      const auto high = stage_high_.find(dim);
      if (*slope == 0 || low == stage_low_.end() || high == stage_high_.end()) {
        continue;
      }
      least[dim] = *slope > 0 ? low->second : high->second;
      greatest[dim] = *slope > 0 ? high->second : low->second;
    }
    const auto at = [&](const std::map<std::string, ExprPtr>& corner, const std::string& how) {
      return Binary(how, Substitute(left, corner), Substitute(right, corner), Scalar::kBool);
    };
    // An unsigned comparison hides a second bound: it must hold at both ends.
    bool is_unsigned = false;
    for (const ExprPtr& side : {left, right}) {
      is_unsigned = is_unsigned || side->type == Scalar::kU32 || side->type == Scalar::kU64;
    }
    if (op == "==") {
      checks->push_back(at(least, "=="));
      checks->push_back(at(greatest, "=="));
    } else if (op == "!=") {
      // One side is enough: above a lower border (0), below an upper one. Points are >= 0.
      if (is_unsigned) {
        return false;
      }
      const bool lower = right->kind == ExprKind::kInt && right->int_value <= 0;
      checks->push_back(lower ? at(least, ">") : at(greatest, "<"));
    } else {
      const bool upper = op == "<" || op == "<=";
      checks->push_back(at(upper ? greatest : least, op));
      if (is_unsigned) {
        checks->push_back(at(upper ? least : greatest, op));
      }
    }
    return true;
  }

  const Program& program_;
  const std::map<std::string, ExprPtr>& low_;
  const std::map<std::string, ExprPtr>& high_;
  Interior* out_;
  std::vector<std::string> dims_;
  std::map<std::string, ExprPtr> stage_low_;
  std::map<std::string, ExprPtr> stage_high_;
  std::map<std::string, ExprPtr> lets_;
};

void VisitSelects(const ExprPtr& expr, Finder* finder) {
  if (expr == nullptr) {
    return;
  }
  if (expr->kind == ExprKind::kSelect) {
    // The branch with more loads is the interior.
    const bool then_side = Loads(expr->operands[1]).size() >= Loads(expr->operands[2]).size();
    finder->Want(expr->operands[0], then_side);
    VisitSelects(expr->operands[then_side ? 1 : 2], finder);
    return;
  }
  for (const ExprPtr& operand : expr->operands) {
    VisitSelects(operand, finder);
  }
}

}  // namespace

std::optional<bool> Interior::Outcome(const ExprPtr& condition) const {
  const auto found = outcomes.find(Print(condition));
  if (found != outcomes.end()) {
    return found->second;
  }
  if (condition->kind == ExprKind::kUnary && condition->op == "!") {
    if (const std::optional<bool> inner = Outcome(condition->operands[0])) {
      return !*inner;
    }
  }
  return std::nullopt;
}

ExprPtr Interior::Simplify(const ExprPtr& expr) const {
  return RewriteExpr(expr, [&](const ExprPtr& node) -> ExprPtr {
    if (node->kind != ExprKind::kSelect) {
      return nullptr;
    }
    const std::optional<bool> outcome = Outcome(node->operands[0]);
    return outcome ? Simplify(node->operands[*outcome ? 1 : 2]) : nullptr;
  });
}

Interior FindInterior(const Program& program, const std::map<std::string, ExprPtr>& low,
                      const std::map<std::string, ExprPtr>& high) {
  Interior interior;
  Finder finder(program, low, high, &interior);
  for (size_t i = 0; i < program.stages.size(); ++i) {
    const Stage& stage = program.stages[i];
    finder.EnterStage(i);
    if (stage.guard != nullptr && !interior.Outcome(stage.guard)) {
      finder.Want(stage.guard, true);
    }
    if (stage.guard != nullptr && interior.Outcome(stage.guard) == std::optional<bool>(false)) {
      continue;
    }
    for (const Let& let : stage.lets) {
      VisitSelects(let.value, &finder);
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      VisitSelects(accumulator.update, &finder);
    }
    for (const Store& store : stage.stores) {
      VisitSelects(store.value, &finder);
    }
  }
  return interior;
}

}  // namespace optiml::rewrite
