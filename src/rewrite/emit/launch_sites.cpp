#include "rewrite/emit/launch_sites.h"

#include <functional>

namespace optiml::rewrite {
namespace {

using ExprVisitor = std::function<void(const ast::Expr&)>;

void VisitExpr(const ast::ExprPtr& expr, const ExprVisitor& visit) {
  if (expr == nullptr) {
    return;
  }
  visit(*expr);
  for (const ast::ExprPtr& operand : expr->operands) {
    VisitExpr(operand, visit);
  }
}

void VisitStmt(const ast::SourceUnit& unit, const ast::StmtPtr& stmt, const ExprVisitor& visit) {
  if (stmt == nullptr) {
    return;
  }
  VisitExpr(stmt->expr, visit);
  VisitExpr(stmt->step, visit);
  for (const int id : stmt->variables) {
    VisitExpr(unit.variables[static_cast<size_t>(id)].init, visit);
  }
  for (const ast::StmtPtr& child : stmt->children) {
    VisitStmt(unit, child, visit);
  }
}

std::string TextOf(const ast::SourceUnit& unit, const ast::Expr& expr) {
  return unit.text.substr(expr.range.begin, expr.range.end - expr.range.begin);
}

}  // namespace

std::vector<LaunchSite> LaunchSitesOf(const ast::SourceUnit& unit, const ast::Function& kernel) {
  std::vector<LaunchSite> sites;
  for (const ast::Function& function : unit.functions) {
    if (function.is_kernel || function.body == nullptr) {
      continue;
    }
    VisitStmt(unit, function.body, [&](const ast::Expr& expr) {
      if (expr.kind != ast::ExprKind::kLaunch || expr.function != kernel.id ||
          expr.operands.size() < 4) {
        return;
      }
      LaunchSite site;
      site.range = expr.range;
      site.line = expr.line;
      site.configuration = {expr.operands[0]->range, expr.operands[1]->range};
      const ast::Expr* stream = expr.operands[3].get();
      while (stream != nullptr && stream->kind == ast::ExprKind::kCast && stream->is_implicit &&
             !stream->operands.empty()) {
        stream = stream->operands[0].get();
      }
      // A default stream has no text of its own.
      if (stream != nullptr && stream->kind != ast::ExprKind::kNull &&
          stream->kind != ast::ExprKind::kIntLiteral && stream->range.end > stream->range.begin) {
        site.stream = TextOf(unit, *stream);
      }
      for (size_t i = 4; i < expr.operands.size(); ++i) {
        site.arguments.push_back(TextOf(unit, *expr.operands[i]));
      }
      sites.push_back(std::move(site));
    });
  }
  return sites;
}

}  // namespace optiml::rewrite
