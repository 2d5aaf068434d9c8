// Validate: the invariants of program.h, so that a transformation that breaks one is caught where
// it was made.

#include <fmt/format.h>

#include <map>
#include <set>

#include "rewrite/program/program.h"

namespace optiml::rewrite {

namespace {

class Validator {
 public:
  explicit Validator(const Program& program) : program_(program) {}

  std::optional<std::string> Run() {
    for (const Parameter& parameter : program_.parameters) {
      Define(parameter.name, "parameter");
      if (!parameter.is_buffer) {
        scalars_.insert(parameter.name);
      }
    }
    visible_ = scalars_;
    for (const Dim& dim : program_.dims) {
      if (dim.kind != DimKind::kPar) {
        Fail(fmt::format("program dim {} is not parallel", dim.name));
      }
      Extent(dim);
      Define(dim.name, "dim");
      visible_.insert(dim.name);
    }
    for (const Stage& stage : program_.stages) {
      Check(stage);
    }
    for (const ExprPtr& assumption : program_.assumptions) {
      Visit(assumption, [&](const Expr& node) {
        if (node.kind == ExprKind::kSymbol && !scalars_.contains(node.name) &&
            !node.name.starts_with("blockDim.") && !node.name.starts_with("gridDim.")) {
          Fail(fmt::format("an assumption mentions {}", node.name));
        }
      });
    }
    return problem_;
  }

 private:
  void Fail(std::string what) {
    if (!problem_) {
      problem_ = std::move(what);
    }
  }

  void Define(const std::string& name, const char* what) {
    if (name.empty()) {
      Fail(fmt::format("a {} without a name", what));
    }
    if (!defined_.insert(name).second) {
      Fail(fmt::format("{} {} is defined twice", what, name));
    }
  }

  void Extent(const Dim& dim) {
    if (dim.extent == nullptr) {
      Fail(fmt::format("dim {} has no extent", dim.name));
      return;
    }
    Visit(dim.extent, [&](const Expr& node) {
      if (node.kind == ExprKind::kLoad) {
        Fail(fmt::format("the extent of {} loads {}", dim.name, node.name));
      }
      if (node.kind == ExprKind::kSymbol && !scalars_.contains(node.name)) {
        Fail(fmt::format("the extent of {} mentions {}, which is no scalar parameter", dim.name,
                         node.name));
      }
    });
  }

  void Use(const ExprPtr& expr, const std::set<std::string>& names, const char* where) {
    if (expr == nullptr) {
      Fail(fmt::format("{} is missing", where));
      return;
    }
    Visit(expr, [&](const Expr& node) {
      if (node.kind == ExprKind::kSymbol && !names.contains(node.name)) {
        Fail(fmt::format("{} uses {} before it is defined", where, node.name));
      }
      if (node.kind == ExprKind::kLoad) {
        Buffer(node.name, where);
      }
      const size_t wanted = node.kind == ExprKind::kSelect   ? 3
                            : node.kind == ExprKind::kBinary ? 2
                            : node.kind == ExprKind::kUnary || node.kind == ExprKind::kCast ||
                                    node.kind == ExprKind::kLoad
                                ? 1
                                : node.operands.size();
      if (node.operands.size() != wanted) {
        Fail(fmt::format("{} has a node with {} operands", where, node.operands.size()));
      }
    });
  }

  void Buffer(const std::string& name, const char* where) {
    const Parameter* parameter = program_.FindParameter(name);
    if (parameter == nullptr || !parameter->is_buffer) {
      Fail(fmt::format("{} uses {}, which is no buffer", where, name));
    }
  }

  void Check(const Stage& stage) {
    std::set<std::string> names = visible_;
    const bool is_fold = !stage.accumulators.empty();
    if (is_fold && stage.dims.empty()) {
      Fail(fmt::format("fold of {} without a dim", stage.accumulators[0].name));
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      Use(accumulator.init, names, "the start of an accumulator");
    }
    for (const Dim& dim : stage.dims) {
      Extent(dim);
      if (is_fold != (dim.kind == DimKind::kFold)) {
        Fail(fmt::format("dim {} has the wrong kind for its stage", dim.name));
      }
      const auto known = stage_dims_.find(dim.name);
      if (known == stage_dims_.end()) {
        Define(dim.name, "dim");
        stage_dims_[dim.name] = dim.extent;
      } else if (!Equal(known->second, dim.extent)) {
        Fail(fmt::format("dim {} has two extents", dim.name));
      }
      if (!names.insert(dim.name).second) {
        Fail(fmt::format("dim {} is defined twice", dim.name));
      }
    }
    for (const Let& let : stage.lets) {
      Use(let.value, names, "a let");
      Define(let.name, "let");
      names.insert(let.name);
    }
    if (stage.guard != nullptr) {
      Use(stage.guard, names, "a guard");
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      Use(accumulator.update, names, "the update of an accumulator");  // not its own result
    }
    for (const Store& store : stage.stores) {
      Buffer(store.buffer, "a store");
      Use(store.index, names, "the index of a store");
      Use(store.value, names, "the value of a store");
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      Define(accumulator.name, "accumulator");
      visible_.insert(accumulator.name);
    }
    if (stage.dims.empty()) {
      for (const Let& let : stage.lets) {
        visible_.insert(let.name);
      }
    }
  }

  const Program& program_;
  std::set<std::string> scalars_;
  std::set<std::string> defined_;
  std::set<std::string> visible_;
  std::map<std::string, ExprPtr> stage_dims_;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> Validate(const Program& program) {
  return Validator(program).Run();
}

}  // namespace optiml::rewrite
