// Internal names -> the names that the source used.

#include <fmt/format.h>

#include <map>

#include "rewrite/lift/stages.h"

namespace optiml::rewrite::lifting {

namespace {

class Namer {
 public:
  Namer(Program* program, std::set<std::string> taken)
      : program_(*program), taken_(std::move(taken)) {}

  void Run() {
    for (Dim& dim : program_.dims) {
      Rename(&dim.name, Unique(dim.name));
    }
    for (Stage& stage : program_.stages) {
      NameDims(&stage);
    }
    for (Stage& stage : program_.stages) {
      for (Accumulator& accumulator : stage.accumulators) {
        Rename(&accumulator.name, Unique(accumulator.name));
      }
    }
    for (Stage& stage : program_.stages) {
      RewriteStage(&stage);
    }
  }

 private:
  std::string Unique(const std::string& internal) {
    const std::string base = BaseName(internal);
    std::string name = base;
    for (int number = 2; taken_.contains(name); ++number) {
      name = fmt::format("{}_{}", base, number);
    }
    taken_.insert(name);
    return name;
  }

  void Rename(std::string* internal, const std::string& name) {
    names_[*internal] = name;
    *internal = name;
  }

  // Two loops over c may both call their dim c when they have the same extent.
  void NameDims(Stage* stage) {
    std::set<std::string> own;
    for (Dim& dim : stage->dims) {
      const auto known = names_.find(dim.name);
      if (known != names_.end()) {  // a loop that became several stages
        dim.name = known->second;
        own.insert(dim.name);
        continue;
      }
      const std::string base = BaseName(dim.name);
      std::string name;
      for (const auto& [used, extent] : stage_dims_) {
        if (BaseName(used) == base && Equal(extent, dim.extent)) {
          const std::string display = names_[used];
          if (!own.contains(display)) {
            name = display;
            break;
          }
        }
      }
      stage_dims_.emplace_back(dim.name, dim.extent);
      if (name.empty()) {
        name = Unique(dim.name);
      }
      own.insert(name);
      Rename(&dim.name, name);
    }
  }

  ExprPtr Rewritten(const ExprPtr& expr) const {
    if (expr == nullptr) {
      return expr;
    }
    if (expr->kind == ExprKind::kSymbol) {
      const auto found = names_.find(expr->name);
      return found == names_.end() ? expr : Symbol(found->second, expr->type);
    }
    Expr copy = *expr;
    for (ExprPtr& operand : copy.operands) {
      operand = Rewritten(operand);
    }
    return std::make_shared<const Expr>(std::move(copy));
  }

  void RewriteStage(Stage* stage) {
    for (Accumulator& accumulator : stage->accumulators) {
      accumulator.init = Rewritten(accumulator.init);
    }
    for (Let& let : stage->lets) {
      let.value = Rewritten(let.value);
      Rename(&let.name, Unique(let.name));  // a stage's own, also when two stages share the let
    }
    stage->guard = Rewritten(stage->guard);
    for (Accumulator& accumulator : stage->accumulators) {
      accumulator.update = Rewritten(accumulator.update);
    }
    for (Store& store : stage->stores) {
      store.index = Rewritten(store.index);
      store.value = Rewritten(store.value);
    }
  }

  Program& program_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> names_;
  std::vector<std::pair<std::string, ExprPtr>> stage_dims_;
};

}  // namespace

void NameEverything(Program* program, std::set<std::string> taken) {
  Namer(program, std::move(taken)).Run();
}

}  // namespace optiml::rewrite::lifting
