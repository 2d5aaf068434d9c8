// Which variables a loop may change.

#include "rewrite/lift/executor.h"

namespace optiml::rewrite::lifting {

void Executor::CollectAssigned(const ast::Expr& expr, std::set<int>* assigned) const {
  if ((expr.kind == ast::ExprKind::kAssign || expr.kind == ast::ExprKind::kIncrement) &&
      expr.operands[0]->kind == ast::ExprKind::kVariable) {
    assigned->insert(Resolve(expr.operands[0]->variable));
  }
  if (expr.kind == ast::ExprKind::kCall && expr.function >= 0) {
    const ast::Function& function = unit_.functions[static_cast<size_t>(expr.function)];
    for (size_t i = 0; i < function.parameters.size() && i < expr.operands.size(); ++i) {
      const ast::Variable& parameter = unit_.variables[static_cast<size_t>(function.parameters[i])];
      if (parameter.type->is_reference && !parameter.type->is_const &&
          expr.operands[i]->kind == ast::ExprKind::kVariable) {
        assigned->insert(Resolve(expr.operands[i]->variable));
      }
    }
  }
  for (const ast::ExprPtr& operand : expr.operands) {
    CollectAssigned(*operand, assigned);
  }
}

void Executor::CollectAssigned(const ast::Stmt& stmt, std::set<int>* assigned) const {
  for (const ast::ExprPtr& expr : {stmt.expr, stmt.step}) {
    if (expr != nullptr) {
      CollectAssigned(*expr, assigned);
    }
  }
  for (const int id : stmt.variables) {
    const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
    assigned->insert(id);
    if (variable.init != nullptr) {
      CollectAssigned(*variable.init, assigned);
    }
    if (variable.type->is_reference && !variable.type->is_const && variable.init != nullptr &&
        variable.init->kind == ast::ExprKind::kVariable) {
      assigned->insert(Resolve(variable.init->variable));  // may be written through the reference
    }
  }
  for (const ast::StmtPtr& child : stmt.children) {
    CollectAssigned(*child, assigned);
  }
}

std::set<int> Executor::AssignedIn(const ast::Stmt& stmt) const {
  std::set<int> assigned;
  if (stmt.kind == ast::StmtKind::kFor) {
    CollectAssigned(*stmt.children[1], &assigned);
    for (const ast::ExprPtr& expr : {stmt.expr, stmt.step}) {
      if (expr != nullptr) {
        CollectAssigned(*expr, &assigned);
      }
    }
  } else {
    CollectAssigned(stmt, &assigned);
  }
  return assigned;
}

}  // namespace optiml::rewrite::lifting
