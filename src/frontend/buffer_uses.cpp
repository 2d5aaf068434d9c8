#include "frontend/buffer_uses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace optiml {
namespace {

using ast::Expr;
using ast::ExprKind;
using ast::ExprPtr;

// The launcher's parameters that a pointer may come from.
using Roots = std::set<size_t>;

// What is done with an lvalue.
enum class Use { kRead, kWrite, kUpdate, kNothing };

void Add(Roots* to, const Roots& from) {
  to->insert(from.begin(), from.end());
}

class Walker {
 public:
  Walker(const ast::SourceUnit& unit, std::vector<BufferUse>* uses) : unit_(unit), uses_(*uses) {}

  // Follows `function`, whose parameters point to `bound`.
  void Follow(const ast::Function& function, const std::vector<Roots>& bound) {
    if (!followed_.insert({function.id, bound}).second) {
      return;
    }
    if (function.body == nullptr) {
      for (const Roots& roots : bound) {
        Escape(roots);
      }
      return;
    }
    for (size_t i = 0; i < bound.size() && i < function.parameters.size(); ++i) {
      Add(&pointers_[function.parameters[i]], bound[i]);
    }
    // Pointer variables first, until nothing is added: a loop may use one above its assignment.
    for (size_t before = SIZE_MAX; before != Size();) {
      before = Size();
      CollectPointers(function.body);
    }
    Visit(function.body);
  }

 private:
  size_t Size() const {
    size_t size = 0;
    for (const auto& [variable, roots] : pointers_) {
      size += roots.size();
    }
    return size;
  }

  void Escape(const Roots& roots) {
    for (const size_t root : roots) {
      uses_[root].escapes = true;
    }
  }

  void Touch(const Roots& roots, Use use) {
    for (const size_t root : roots) {
      uses_[root].is_read |= use == Use::kRead || use == Use::kUpdate;
      uses_[root].is_written |= use == Use::kWrite || use == Use::kUpdate;
    }
  }

  static bool IsPointer(const ast::Type& type) {
    return type.kind == ast::TypeKind::kPointer || type.kind == ast::TypeKind::kArray;
  }

  Roots Of(int variable) const {
    const auto found = pointers_.find(variable);
    return found == pointers_.end() ? Roots() : found->second;
  }

  // The buffers that an lvalue lies in.
  Roots PlaceOf(const Expr& lvalue) const {
    switch (lvalue.kind) {
      case ExprKind::kSubscript:
      case ExprKind::kDereference:
        return PointerOf(*lvalue.operands[0]);
      case ExprKind::kMember:
        return PlaceOf(*lvalue.operands[0]);
      case ExprKind::kCast:
        return PlaceOf(*lvalue.operands[0]);
      case ExprKind::kVariable:
        return lvalue.variable >= 0 &&
                       unit_.variables[static_cast<size_t>(lvalue.variable)].type->is_reference
                   ? Of(lvalue.variable)
                   : Roots();
      default:
        return {};
    }
  }

  // The buffers that a pointer value points into.
  Roots PointerOf(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::kVariable:
        return Of(expr.variable);
      case ExprKind::kAddressOf:
        return PlaceOf(*expr.operands[0]);
      case ExprKind::kCast:
      case ExprKind::kIncrement:
      case ExprKind::kAssign:
        return PointerOf(*expr.operands[0]);
      case ExprKind::kBinary:
      case ExprKind::kConditional: {
        Roots roots;
        for (size_t i = expr.kind == ExprKind::kConditional ? 1 : 0; i < expr.operands.size();
             ++i) {
          if (IsPointer(*expr.operands[i]->type)) {
            Add(&roots, PointerOf(*expr.operands[i]));
          }
        }
        return roots;
      }
      default:
        return {};
    }
  }

  void CollectPointers(const ast::StmtPtr& stmt) {
    if (stmt == nullptr) {
      return;
    }
    for (const int id : stmt->variables) {
      const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
      if (variable.init != nullptr) {
        Add(&pointers_[id],
            variable.type->is_reference ? PlaceOf(*variable.init) : PointerOf(*variable.init));
        CollectAssigned(variable.init);
      }
    }
    CollectAssigned(stmt->expr);
    CollectAssigned(stmt->step);
    for (const ast::StmtPtr& child : stmt->children) {
      CollectPointers(child);
    }
  }

  void CollectAssigned(const ExprPtr& expr) {
    if (expr == nullptr) {
      return;
    }
    if (expr->kind == ExprKind::kAssign && expr->operands[0]->kind == ExprKind::kVariable &&
        IsPointer(*expr->operands[0]->type)) {
      Add(&pointers_[expr->operands[0]->variable], PointerOf(*expr->operands[1]));
    }
    for (const ExprPtr& operand : expr->operands) {
      CollectAssigned(operand);
    }
  }

  void Visit(const ast::StmtPtr& stmt) {
    if (stmt == nullptr) {
      return;
    }
    if (stmt->kind == ast::StmtKind::kAsm || stmt->kind == ast::StmtKind::kUnsupported) {
      for (const auto& [variable, roots] : pointers_) {
        Escape(roots);
      }
    }
    for (const int id : stmt->variables) {
      const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
      if (variable.init != nullptr) {
        Visit(*variable.init, variable.type->is_reference ? Use::kNothing : Use::kRead);
      }
    }
    for (const ExprPtr& expr : {stmt->expr, stmt->step}) {
      if (expr != nullptr) {
        Visit(*expr, Use::kRead);
      }
    }
    for (const ast::StmtPtr& child : stmt->children) {
      Visit(child);
    }
  }

  void VisitOperands(const Expr& expr, size_t first = 0) {
    for (size_t i = first; i < expr.operands.size(); ++i) {
      if (expr.operands[i] != nullptr) {
        Visit(*expr.operands[i], Use::kRead);
      }
    }
  }

  void Visit(const Expr& expr, Use use) {
    switch (expr.kind) {
      case ExprKind::kSubscript:
      case ExprKind::kDereference:
        Touch(PlaceOf(expr), use);
        VisitOperands(expr);
        return;
      case ExprKind::kVariable:
        Touch(PlaceOf(expr), use);
        return;
      case ExprKind::kMember:
      case ExprKind::kCast:
        Visit(*expr.operands[0], use);
        return;
      case ExprKind::kAddressOf:
        if (expr.operands[0]->kind == ExprKind::kVariable &&
            !unit_.variables[static_cast<size_t>(std::max(0, expr.operands[0]->variable))]
                 .type->is_reference) {
          Escape(PointerOf(*expr.operands[0]));  // whoever has it may do anything
          return;
        }
        Visit(*expr.operands[0], Use::kNothing);
        return;
      case ExprKind::kAssign:
        Visit(*expr.operands[0], expr.op == "=" ? Use::kWrite : Use::kUpdate);
        VisitOperands(expr, 1);
        return;
      case ExprKind::kIncrement:
        Visit(*expr.operands[0], Use::kUpdate);
        return;
      case ExprKind::kCall:
        VisitCall(expr);
        return;
      case ExprKind::kLaunch:
        VisitLaunch(expr);
        return;
      case ExprKind::kMethodCall:
      case ExprKind::kConstruct:
      case ExprKind::kInitList:
      case ExprKind::kLambda:
      case ExprKind::kUnsupported:
        for (const ExprPtr& operand : expr.operands) {
          if (operand != nullptr && operand->type != nullptr && IsPointer(*operand->type)) {
            Escape(PointerOf(*operand));
          }
        }
        VisitOperands(expr);
        return;
      default:
        VisitOperands(expr);
    }
  }

  std::vector<Roots> ArgumentsOf(const Expr& expr, size_t first, const ast::Function* function) {
    std::vector<Roots> bound;
    for (size_t i = first; i < expr.operands.size(); ++i) {
      const size_t at = i - first;
      const bool by_reference =
          function != nullptr && at < function->parameters.size() &&
          unit_.variables[static_cast<size_t>(function->parameters[at])].type->is_reference;
      bound.push_back(by_reference ? PlaceOf(*expr.operands[i]) : PointerOf(*expr.operands[i]));
      Visit(*expr.operands[i], by_reference ? Use::kNothing : Use::kRead);
    }
    return bound;
  }

  void VisitCall(const Expr& expr) {
    const ast::Function* function =
        expr.function >= 0 ? &unit_.functions[static_cast<size_t>(expr.function)] : nullptr;
    const std::vector<BufferUse> before = uses_;
    const std::vector<Roots> bound = ArgumentsOf(expr, 0, function);
    if (function != nullptr) {
      Follow(*function, bound);
      return;
    }
    const auto touch = [&](size_t argument, Use use) {
      if (argument < bound.size()) {
        Touch(bound[argument], use);
      }
    };
    const std::string& name = expr.name;
    if (name.starts_with("atomic")) {
      touch(0, name == "atomicExch" ? Use::kWrite : Use::kUpdate);
    } else if (name.starts_with("__ld")) {
      touch(0, Use::kRead);
    } else if (name.starts_with("__st")) {
      touch(0, Use::kWrite);
    } else if (name.starts_with("cudaMemset")) {
      touch(0, Use::kWrite);
      NoteStart(before);
    } else if (name.starts_with("cudaMemcpy")) {
      touch(0, Use::kWrite);
      touch(name.starts_with("cudaMemcpy2D") ? 2 : 1, Use::kRead);
      NoteStart(before);
    } else {
      for (const Roots& roots : bound) {
        Escape(roots);
      }
    }
  }

  void VisitLaunch(const Expr& expr) {
    const std::vector<BufferUse> before = uses_;
    for (size_t i = 0; i < std::min<size_t>(4, expr.operands.size()); ++i) {
      if (expr.operands[i] != nullptr) {
        Visit(*expr.operands[i], Use::kRead);
      }
    }
    const ast::Function* kernel =
        expr.function >= 0 ? &unit_.functions[static_cast<size_t>(expr.function)] : nullptr;
    const std::vector<Roots> bound = ArgumentsOf(expr, 4, kernel);
    if (kernel == nullptr) {
      for (const Roots& roots : bound) {
        Escape(roots);
      }
      return;
    }
    Follow(*kernel, bound);
    NoteStart(before);
  }

  // What the step just visited was the first to touch.
  void NoteStart(const std::vector<BufferUse>& before) {
    for (size_t i = 0; i < uses_.size(); ++i) {
      const bool untouched = !before[i].is_read && !before[i].is_written;
      if (untouched && uses_[i].is_written && !uses_[i].is_read) {
        uses_[i].starts_written = true;
      }
    }
  }

  const ast::SourceUnit& unit_;
  std::vector<BufferUse>& uses_;
  std::map<int, Roots> pointers_;  // pointer or reference variable -> what it may point into
  std::set<std::pair<int, std::vector<Roots>>> followed_;
};

}  // namespace

std::vector<BufferUse> BufferUses(const ast::SourceUnit& unit, const std::string& entry) {
  for (const ast::Function& function : unit.functions) {
    const bool is_launcher = (function.is_host || function.is_kernel) && !function.is_template &&
                             function.method_of.empty() && function.body != nullptr;
    if (!is_launcher || function.name != entry) {
      continue;
    }
    std::vector<BufferUse> uses(function.parameters.size());
    std::vector<Roots> bound(uses.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      const ast::Variable& parameter = unit.variables[static_cast<size_t>(function.parameters[i])];
      if (parameter.type->kind == ast::TypeKind::kPointer) {
        bound[i] = {i};
      }
    }
    Walker(unit, &uses).Follow(function, bound);
    return uses;
  }
  return {};
}

}  // namespace optiml
