#include "frontend/ast_format.h"

#include <fmt/format.h>

namespace optiml::ast {

namespace {

std::string List(const std::vector<ExprPtr>& operands, size_t from, size_t to) {
  std::string text;
  for (size_t i = from; i < to && i < operands.size(); ++i) {
    text += (i == from ? "" : ", ") + Format(*operands[i]);
  }
  return text;
}

std::string FormatLaunch(const Expr& expr) {
  return expr.name + "<<<" + List(expr.operands, 0, 4) + ">>>(" +
         List(expr.operands, 4, expr.operands.size()) + ")";
}

std::string Indent(int indent) {
  return std::string(static_cast<size_t>(indent) * 2, ' ');
}

std::string UnrollText(int unroll) {
  if (unroll == 0) {
    return "";
  }
  return unroll < 0 ? "unroll " : fmt::format("unroll({}) ", unroll);
}

const char* StorageText(Storage storage) {
  switch (storage) {
    case Storage::kShared:
      return "shared ";
    case Storage::kExternShared:
      return "extern shared ";
    case Storage::kConstant:
      return "constant ";
    case Storage::kDeviceGlobal:
      return "device ";
    case Storage::kStatic:
      return "static ";
    case Storage::kParameter:
    case Storage::kLocal:
    case Storage::kHostGlobal:
      return "";
  }
  return "";
}

std::string FormatVariable(const SourceUnit& unit, int id) {
  const Variable& variable = unit.variables[static_cast<size_t>(id)];
  std::string text = StorageText(variable.storage);
  text += variable.type->text + (variable.type->is_reference ? " &" : " ") + variable.name;
  if (variable.init != nullptr) {
    text += " = " + Format(*variable.init);
  }
  if (variable.constant.has_value()) {
    text += fmt::format(" [{}]", *variable.constant);
  }
  return text;
}

}  // namespace

std::string Format(const Expr& expr) {
  const auto operand = [&](size_t i) { return Format(*expr.operands[i]); };
  switch (expr.kind) {
    case ExprKind::kIntLiteral:
      return fmt::format("{}", expr.int_value);
    case ExprKind::kFloatLiteral:
      return expr.text;
    case ExprKind::kBoolLiteral:
      return expr.int_value != 0 ? "true" : "false";
    case ExprKind::kStringLiteral:
      return "\"" + expr.text + "\"";
    case ExprKind::kNull:
      return "null";
    case ExprKind::kVariable:
    case ExprKind::kFunction:
    case ExprKind::kBuiltin:
      return expr.name;
    case ExprKind::kSubscript:
      return operand(0) + "[" + operand(1) + "]";
    case ExprKind::kDereference:
      return "(*" + operand(0) + ")";
    case ExprKind::kAddressOf:
      return "&" + operand(0);
    case ExprKind::kMember:
      return operand(0) + "." + expr.name;
    case ExprKind::kUnary:
      return expr.op + operand(0);
    case ExprKind::kBinary:
      return "(" + operand(0) + " " + expr.op + " " + operand(1) + ")";
    case ExprKind::kAssign:
      return operand(0) + " " + expr.op + " " + operand(1);
    case ExprKind::kIncrement: {
      std::string text = expr.op;
      text.replace(text.find('x'), 1, operand(0));
      return text;
    }
    case ExprKind::kConditional:
      return "(" + operand(0) + " ? " + operand(1) + " : " + operand(2) + ")";
    case ExprKind::kCast:
      return (expr.is_implicit ? "<" + expr.type->text + ">(" : "(" + expr.type->text + ")(") +
             operand(0) + ")";
    case ExprKind::kCall:
      return expr.name + expr.text + "(" + List(expr.operands, 0, expr.operands.size()) + ")";
    case ExprKind::kMethodCall:
      return operand(0) + "." + expr.name + "(" + List(expr.operands, 1, expr.operands.size()) +
             ")";
    case ExprKind::kConstruct:
      return expr.type->text + "(" + List(expr.operands, 0, expr.operands.size()) + ")";
    case ExprKind::kInitList:
      return "{" + List(expr.operands, 0, expr.operands.size()) + "}";
    case ExprKind::kLaunch:
      return FormatLaunch(expr);
    case ExprKind::kLambda:
      return "lambda[" + List(expr.operands, 0, expr.operands.size()) + "]";
    case ExprKind::kUnsupported:
      return "unsupported<" + expr.name + ">";
  }
  return "";
}

std::string Format(const SourceUnit& unit, const Stmt& stmt, int indent) {
  const std::string pad = Indent(indent);
  const auto child = [&](size_t i, int more) {
    return Format(unit, *stmt.children[i], indent + more);
  };
  std::string text;
  switch (stmt.kind) {
    case StmtKind::kBlock:
      text = pad + "{\n";
      for (size_t i = 0; i < stmt.children.size(); ++i) {
        text += child(i, 1);
      }
      return text + pad + "}\n";
    case StmtKind::kDeclare:
      for (const int id : stmt.variables) {
        text += pad + FormatVariable(unit, id) + "\n";
      }
      return text;
    case StmtKind::kExpression:
      return pad + Format(*stmt.expr) + "\n";
    case StmtKind::kIf:
      text = pad + "if ";
      for (const int id : stmt.variables) {
        text += FormatVariable(unit, id) + "; ";
      }
      text += Format(*stmt.expr) + "\n" + child(0, 1);
      if (stmt.children.size() > 1) {
        text += pad + "else\n" + child(1, 1);
      }
      return text;
    case StmtKind::kFor: {
      text = pad + UnrollText(stmt.unroll) + "for ";
      std::string init = child(0, 0);
      text += "(" + (stmt.children[0]->kind == StmtKind::kBlock
                         ? std::string()
                         : init.substr(pad.size(), init.size() - pad.size() - 1));
      text += "; " + (stmt.expr != nullptr ? Format(*stmt.expr) : std::string());
      text += "; " + (stmt.step != nullptr ? Format(*stmt.step) : std::string()) + ")\n";
      return text + child(1, 1);
    }
    case StmtKind::kWhile:
      return pad + UnrollText(stmt.unroll) + "while " + Format(*stmt.expr) + "\n" + child(0, 1);
    case StmtKind::kDo:
      return pad + UnrollText(stmt.unroll) + "do\n" + child(0, 1) + pad + "while " +
             Format(*stmt.expr) + "\n";
    case StmtKind::kSwitch:
      text = pad + "switch " + Format(*stmt.expr) + "\n";
      for (size_t i = 0; i < stmt.children.size(); ++i) {
        text += child(i, 1);
      }
      return text;
    case StmtKind::kCase:
      text = pad + "case";
      for (const int64_t value : stmt.int_values) {
        text += fmt::format(" {}", value);
      }
      text += stmt.is_default ? " default\n" : "\n";
      for (size_t i = 0; i < stmt.children.size(); ++i) {
        text += child(i, 1);
      }
      return text;
    case StmtKind::kReturn:
      return pad + (stmt.expr != nullptr ? "return " + Format(*stmt.expr) : "return") + "\n";
    case StmtKind::kBreak:
      return pad + "break\n";
    case StmtKind::kContinue:
      return pad + "continue\n";
    case StmtKind::kAsm:
      return pad + "asm\n";
    case StmtKind::kUnsupported:
      return pad + "unsupported<" + stmt.name + ">\n";
  }
  return text;
}

std::string Format(const SourceUnit& unit, const Function& function) {
  std::string text;
  for (const std::string& parameter : function.template_parameters) {
    text += (text.empty() ? "template " : ", ") + parameter;
  }
  if (!text.empty()) {
    text += "\n";
  }
  text += function.is_extern_c ? "extern C " : "";
  text += function.is_kernel ? "kernel " : "";
  text += function.is_host && !function.is_kernel ? "host " : "";
  text += function.is_device && !function.is_kernel ? "device " : "";
  if (function.launch_bounds_threads.has_value()) {
    text += fmt::format("bounds({}", *function.launch_bounds_threads);
    text += function.launch_bounds_blocks.has_value()
                ? fmt::format(", {}) ", *function.launch_bounds_blocks)
                : ") ";
  }
  text += function.return_type->text + " " + function.name_expression + "(";
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ") + FormatVariable(unit, function.parameters[i]);
  }
  text += ")\n";
  if (function.body != nullptr) {
    text += Format(unit, *function.body, 0);
  }
  return text;
}

}  // namespace optiml::ast
