#include "rewrite/lift/buffer_shapes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/size_expr.h"
#include "rewrite/lift/lift.h"
#include "rewrite/program/access.h"
#include "rewrite/program/affine.h"

namespace optiml::rewrite {
namespace {

using Extents = std::vector<std::string>;

// What a kernel's parameters are called where it is launched.
struct Names {
  std::map<std::string, size_t> buffers;    // kernel parameter -> launcher parameter
  std::map<std::string, ExprPtr> integers;  // kernel parameter -> launcher parameter or number
  std::set<std::string> launcher_integers;
};

// The extent in the launcher's names, as a task file writes it; nothing when it says more.
std::optional<std::string> TextOf(const Polynomial& extent, const Names& names) {
  const std::string text = Print(Substitute(extent.ToExpr(), names.integers));
  const Result<SizeExpr> parsed = SizeExpr::Parse(text);
  if (!parsed) {
    return std::nullopt;
  }
  for (const std::string& name : parsed->Names()) {
    if (!names.launcher_integers.contains(name)) {
      return std::nullopt;
    }
  }
  return text;
}

// The shape under which the index counts row by row: strides from 1 outwards, each reaching just
// beyond the dims inside of it.
std::optional<Extents> ShapeOf(const Access& access, const Names& names) {
  if (!access.affine || !access.affine->constant.IsZero()) {
    return std::nullopt;
  }
  std::map<std::string, Polynomial> left = access.affine->coefficients;
  Polynomial stride(1);
  std::vector<Polynomial> extents;  // innermost first
  while (!left.empty()) {
    auto next = std::find_if(left.begin(), left.end(),
                             [&](const auto& term) { return term.second == stride; });
    if (next == left.end()) {
      // An extent that no dim runs along ("x[r * cols]"): what all other strides are multiples of.
      next = std::find_if(left.begin(), left.end(), [&](const auto& term) {
        return std::all_of(left.begin(), left.end(), [&](const auto& other) {
          return other.second.DividedBy(term.second).has_value();
        });
      });
      if (next == left.end()) {
        return std::nullopt;
      }
      const std::optional<Polynomial> skipped = next->second.DividedBy(stride);
      if (!skipped) {
        return std::nullopt;
      }
      extents.push_back(*skipped);
      stride = next->second;
    }
    const auto dim = std::find_if(access.dims.begin(), access.dims.end(),
                                  [&](const Dim& one) { return one.name == next->first; });
    const std::optional<Polynomial> extent =
        dim == access.dims.end() ? std::nullopt : ToPolynomial(dim->extent);
    if (!extent) {
      return std::nullopt;
    }
    extents.push_back(*extent);
    stride = stride * *extent;
    left.erase(next);
  }
  Extents shape;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    const std::optional<std::string> text = TextOf(*extent, names);
    if (!text) {
      return std::nullopt;
    }
    shape.push_back(*text);
  }
  return shape.empty() ? std::optional<Extents>(Extents{"1"}) : shape;
}

const ast::Expr& WithoutImplicitCasts(const ast::Expr& expr) {
  const ast::Expr* inner = &expr;
  while (inner->kind == ast::ExprKind::kCast && !inner->operands.empty()) {
    inner = inner->operands[0].get();
  }
  return *inner;
}

void VisitLaunches(const ast::SourceUnit& unit, const ast::StmtPtr& stmt,
                   const std::function<void(const ast::Expr&)>& visit) {
  if (stmt == nullptr) {
    return;
  }
  if (stmt->expr != nullptr && stmt->expr->kind == ast::ExprKind::kLaunch) {
    visit(*stmt->expr);
  }
  for (const ast::StmtPtr& child : stmt->children) {
    VisitLaunches(unit, child, visit);
  }
}

class Shapes {
 public:
  Shapes(const ast::SourceUnit& unit, const ast::Function& launcher)
      : unit_(unit), launcher_(launcher), found_(launcher.parameters.size()) {}

  std::vector<Extents> Run() {
    VisitLaunches(unit_, launcher_.body, [&](const ast::Expr& launch) { Add(launch); });
    std::vector<Extents> shapes;
    for (const auto& candidates : found_) {
      const bool agreed = candidates.size() == 1 && candidates.begin()->has_value();
      shapes.push_back(agreed ? **candidates.begin() : Extents());
    }
    return shapes;
  }

 private:
  // The position among the launcher's parameters of a variable of its.
  std::optional<size_t> ParameterOf(const ast::Expr& expr) const {
    const auto found =
        std::find(launcher_.parameters.begin(), launcher_.parameters.end(), expr.variable);
    return expr.kind != ast::ExprKind::kVariable || found == launcher_.parameters.end()
               ? std::optional<size_t>()
               : std::optional<size_t>(found - launcher_.parameters.begin());
  }

  Names NamesOf(const ast::Expr& launch, const Program& program) const {
    Names names;
    for (const int id : launcher_.parameters) {
      const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
      if (variable.type->kind == ast::TypeKind::kInt) {
        names.launcher_integers.insert(variable.name);
      }
    }
    for (size_t i = 0; i < program.parameters.size() && i + 4 < launch.operands.size(); ++i) {
      const Parameter& parameter = program.parameters[i];
      const ast::Expr& argument = WithoutImplicitCasts(*launch.operands[i + 4]);
      const std::optional<size_t> own = ParameterOf(argument);
      if (own && parameter.is_buffer) {
        names.buffers[parameter.name] = *own;
      } else if (own) {
        names.integers[parameter.name] = Symbol(argument.name, parameter.type);
      } else if (argument.kind == ast::ExprKind::kIntLiteral) {
        names.integers[parameter.name] = Int(argument.int_value);
      } else if (!parameter.is_buffer) {
        names.integers[parameter.name] = Symbol("?", parameter.type);  // no name of a task file
      }
    }
    return names;
  }

  void Add(const ast::Expr& launch) {
    const ast::Function* kernel =
        launch.function >= 0 ? &unit_.functions[static_cast<size_t>(launch.function)] : nullptr;
    if (kernel == nullptr || kernel->body == nullptr) {
      return;
    }
    const LiftOutcome outcome = Lift(unit_, *kernel);
    const auto* program = std::get_if<Program>(&outcome);
    if (program == nullptr) {
      return;
    }
    const Names names = NamesOf(launch, *program);
    for (const Access& access : Accesses(*program)) {
      if (const auto buffer = names.buffers.find(access.buffer); buffer != names.buffers.end()) {
        found_[buffer->second].insert(ShapeOf(access, names));
      }
    }
  }

  const ast::SourceUnit& unit_;
  const ast::Function& launcher_;
  std::vector<std::set<std::optional<Extents>>> found_;  // of each parameter, by its accesses
};

}  // namespace

std::vector<std::vector<std::string>> BufferShapes(const ast::SourceUnit& unit,
                                                   const std::string& entry) {
  for (const ast::Function& function : unit.functions) {
    if (function.is_host && !function.is_template && function.method_of.empty() &&
        function.body != nullptr && function.name == entry) {
      return Shapes(unit, function).Run();
    }
  }
  return {};
}

}  // namespace optiml::rewrite
