#include "rewrite/schedule/fusion.h"

#include <map>

#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

// The stage's lets put into the expression.
ExprPtr Expanded(const Stage& stage, const ExprPtr& expr) {
  std::map<std::string, ExprPtr> lets;
  for (const Let& let : stage.lets) {
    lets[let.name] = Substitute(let.value, lets);
  }
  return Substitute(expr, lets);
}

bool IsLoneFold(const Stage& stage) {
  return stage.accumulators.size() == 1 && stage.dims.size() == 1 && stage.guard == nullptr &&
         stage.stores.empty();
}

bool IsSymbol(const ExprPtr& expr, const std::string& name) {
  return expr->kind == ExprKind::kSymbol && expr->name == name;
}

// Takes update = exp(value - m) [* weight] apart.
bool MatchExp(const ExprPtr& update, const std::string& m, Fusion* fusion) {
  if (update->kind == ExprKind::kCall && update->operands.size() == 1 &&
      (update->name == "expf" || update->name == "__expf" || update->name == "exp")) {
    const ExprPtr& argument = update->operands[0];
    if (argument->kind == ExprKind::kBinary && argument->op == "-" &&
        IsSymbol(argument->operands[1], m) && !Mentions(argument->operands[0], m)) {
      fusion->exp_name = update->name;
      fusion->value = argument->operands[0];
      return true;
    }
    return false;
  }
  if (update->kind == ExprKind::kBinary && update->op == "*") {
    for (int side = 0; side < 2; ++side) {
      const ExprPtr& factor = update->operands[static_cast<size_t>(side)];
      const ExprPtr& other = update->operands[static_cast<size_t>(1 - side)];
      if (!Mentions(other, m) && MatchExp(factor, m, fusion)) {
        fusion->weight =
            fusion->weight == nullptr ? other : Binary("*", fusion->weight, other, other->type);
        return true;
      }
    }
  }
  return false;
}

std::optional<Fusion> MatchOnline(const Program& program, size_t first, size_t second) {
  const Accumulator& maximum = program.stages[first].accumulators[0];
  const Accumulator& sum = program.stages[second].accumulators[0];
  if (maximum.op != FoldOp::kMax || sum.op != FoldOp::kSum || !IsFloatScalar(maximum.type) ||
      !IsFloatScalar(sum.type) || !IsConstantZero(sum.init)) {
    return std::nullopt;
  }
  Fusion fusion;
  fusion.kind = FusionKind::kOnlineExp;
  fusion.first = first;
  fusion.second = second;
  const ExprPtr update = Expanded(program.stages[second], sum.update);
  if (!MatchExp(update, maximum.name, &fusion) ||
      !Equal(fusion.value, Expanded(program.stages[first], maximum.update))) {
    return std::nullopt;
  }
  return fusion;
}

// update = (f - mean) * (f - mean), mean = a / n with n the number of points.
std::optional<Fusion> MatchMoments(const Program& program, size_t first, size_t second) {
  const Accumulator& sum = program.stages[first].accumulators[0];
  const Accumulator& squares = program.stages[second].accumulators[0];
  if (sum.op != FoldOp::kSum || squares.op != FoldOp::kSum || sum.type != Scalar::kF32 ||
      squares.type != Scalar::kF32 || !IsConstantZero(sum.init) || !IsConstantZero(squares.init)) {
    return std::nullopt;
  }
  const ExprPtr update = Expanded(program.stages[second], squares.update);
  if (update->kind != ExprKind::kBinary || update->op != "*" ||
      !Equal(update->operands[0], update->operands[1])) {
    return std::nullopt;
  }
  const ExprPtr& difference = update->operands[0];
  if (difference->kind != ExprKind::kBinary || difference->op != "-" ||
      difference->operands[1]->kind != ExprKind::kSymbol ||
      !Equal(difference->operands[0], Expanded(program.stages[first], sum.update))) {
    return std::nullopt;
  }
  Fusion fusion;
  fusion.kind = FusionKind::kMoments;
  fusion.first = first;
  fusion.second = second;
  fusion.value = difference->operands[0];
  fusion.mean = difference->operands[1]->name;
  const std::string extent = Print(program.stages[first].dims[0].extent);
  for (size_t i = first + 1; i < second; ++i) {
    for (const Let& let : program.stages[i].lets) {
      if (let.name != fusion.mean) {
        continue;
      }
      const ExprPtr& value = let.value;
      if (value->kind == ExprKind::kBinary && value->op == "/" &&
          IsSymbol(value->operands[0], sum.name)) {
        ExprPtr count = value->operands[1];
        while (count->kind == ExprKind::kCast) {
          count = count->operands[0];
        }
        if (Print(count) == extent) {
          return fusion;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fusion> FindFusion(const Program& program) {
  for (size_t first = 0; first < program.stages.size(); ++first) {
    if (!IsLoneFold(program.stages[first])) {
      continue;
    }
    for (size_t second = first + 1; second < program.stages.size(); ++second) {
      const Stage& stage = program.stages[second];
      if (stage.accumulators.empty() && stage.stores.empty() && stage.dims.empty()) {
        continue;  // lets between the two
      }
      if (!IsLoneFold(stage) ||
          !Equal(stage.dims[0].extent, program.stages[first].dims[0].extent)) {
        break;
      }
      if (std::optional<Fusion> online = MatchOnline(program, first, second)) {
        // Lets between the two must not feed the sum.
        bool independent = true;
        for (size_t i = first + 1; i < second; ++i) {
          for (const Let& let : program.stages[i].lets) {
            independent = independent && !StageMentions(stage, let.name);
          }
        }
        if (independent) {
          return online;
        }
      }
      if (std::optional<Fusion> moments = MatchMoments(program, first, second)) {
        return moments;
      }
      break;
    }
  }
  return std::nullopt;
}

}  // namespace optiml::rewrite
