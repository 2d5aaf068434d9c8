// Print and Format: expressions as CUDA text, programs as the dump of the golden tests.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "rewrite/program/affine.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

namespace {

// C++ operator precedence, higher binds tighter.
constexpr int kPrimary = 16;
constexpr int kUnaryLevel = 14;
constexpr int kConditionalLevel = 2;

int BinaryLevel(std::string_view op) {
  struct Row {
    std::string_view op;
    int level;
  };
  static constexpr std::array<Row, 18> kRows = {{{"*", 13},
                                                 {"/", 13},
                                                 {"%", 13},
                                                 {"+", 12},
                                                 {"-", 12},
                                                 {"<<", 11},
                                                 {">>", 11},
                                                 {"<", 9},
                                                 {"<=", 9},
                                                 {">", 9},
                                                 {">=", 9},
                                                 {"==", 8},
                                                 {"!=", 8},
                                                 {"&", 7},
                                                 {"^", 6},
                                                 {"|", 5},
                                                 {"&&", 4},
                                                 {"||", 3}}};
  for (const Row& row : kRows) {
    if (row.op == op) {
      return row.level;
    }
  }
  return 1;
}

struct Printed {
  std::string text;
  int level = kPrimary;
};

std::string Wrapped(const Printed& printed, int least) {
  return printed.level < least ? "(" + printed.text + ")" : printed.text;
}

// The integer conversion rank order that the usual arithmetic conversions use; bool and short types
// promote to int.
Scalar Promoted(Scalar type) {
  switch (type) {
    case Scalar::kBool:
    case Scalar::kI8:
    case Scalar::kU8:
    case Scalar::kI16:
    case Scalar::kU16:
      return Scalar::kI32;
    default:
      return type;
  }
}

// The common type of two operands, or nothing where C++ has none of its own (halves).
std::optional<Scalar> CommonType(Scalar a, Scalar b) {
  a = Promoted(a);
  b = Promoted(b);
  if (a == b) {
    return a;
  }
  for (const Scalar half : {Scalar::kF16, Scalar::kBf16}) {
    if (a == half || b == half) {
      return std::nullopt;
    }
  }
  for (const Scalar type : {Scalar::kF64, Scalar::kF32, Scalar::kU64, Scalar::kI64, Scalar::kU32}) {
    if (a == type || b == type) {
      return type;
    }
  }
  return Scalar::kI32;
}

// What `expr` is without a conversion that the context may make by itself.
ExprPtr WithoutConversion(const ExprPtr& expr) {
  if (expr->kind == ExprKind::kCast) {
    return expr->operands[0];
  }
  if (expr->kind == ExprKind::kInt && expr->type != Scalar::kI32 && expr->type != Scalar::kBool &&
      expr->int_value >= INT32_MIN && expr->int_value <= INT32_MAX) {
    return Int(expr->int_value);
  }
  return expr;
}

Printed PrintNode(const ExprPtr& expr);

// Drops from the two operands of an arithmetic operator the casts that the usual arithmetic
// conversions make anyway.
void DropImplied(ExprPtr* left, ExprPtr* right) {
  if ((*left)->type != (*right)->type) {
    return;
  }
  const Scalar type = (*left)->type;
  const ExprPtr bare_left = WithoutConversion(*left);
  const ExprPtr bare_right = WithoutConversion(*right);
  if (CommonType(bare_left->type, bare_right->type) == type) {
    *left = bare_left;
    *right = bare_right;
  } else if (CommonType((*left)->type, bare_right->type) == type) {
    *right = bare_right;
  } else if (CommonType(bare_left->type, (*right)->type) == type) {
    *left = bare_left;
  }
}

// An index of a small integer type is promoted to int by itself.
const ExprPtr& WithoutPromotion(const ExprPtr& index) {
  const bool promoted = index->kind == ExprKind::kCast && index->type == Scalar::kI32 &&
                        !IsFloatScalar(index->operands[0]->type) &&
                        Promoted(index->operands[0]->type) == Scalar::kI32;
  return promoted ? index->operands[0] : index;
}

Printed PrintInt(const Expr& expr) {
  if (expr.type == Scalar::kBool) {
    return {expr.int_value != 0 ? "true" : "false"};
  }
  if (expr.type == Scalar::kU64) {
    return {fmt::format("{}ull", static_cast<uint64_t>(expr.int_value))};
  }
  if (expr.type == Scalar::kU32) {
    return {fmt::format("{}u", static_cast<uint32_t>(expr.int_value))};
  }
  if (expr.int_value == INT32_MIN && expr.type != Scalar::kI64) {
    return {"-2147483647 - 1", BinaryLevel("-")};
  }
  if (expr.int_value == INT64_MIN) {
    return {"-9223372036854775807ll - 1", BinaryLevel("-")};
  }
  const char* suffix = expr.type == Scalar::kI64 ? "ll" : "";
  return {fmt::format("{}{}", expr.int_value, suffix), expr.int_value < 0 ? kUnaryLevel : kPrimary};
}

Printed PrintFloat(const Expr& expr) {
  if (!expr.text.empty()) {
    return {expr.text, expr.text.front() == '-' ? kUnaryLevel : kPrimary};
  }
  const int level = std::signbit(expr.float_value) ? kUnaryLevel : kPrimary;
  if (std::isinf(expr.float_value)) {
    return {level == kPrimary ? "INFINITY" : "-INFINITY", level};
  }
  if (std::isnan(expr.float_value)) {
    return {"NAN"};
  }
  // The shortest text that reads back as the same value of the type.
  std::string text = expr.type == Scalar::kF32
                         ? fmt::format("{}", static_cast<float>(expr.float_value))
                         : fmt::format("{}", expr.float_value);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  if (expr.type == Scalar::kF32) {
    text += "f";
  }
  return {text, level};
}

Printed PrintNode(const ExprPtr& node) {
  const Expr& expr = *node;
  switch (expr.kind) {
    case ExprKind::kInt:
      return PrintInt(expr);
    case ExprKind::kFloat:
      return PrintFloat(expr);
    case ExprKind::kSymbol:
      return {expr.name};
    case ExprKind::kLoad:
      return {fmt::format("{}[{}]", expr.name, PrintNode(WithoutPromotion(expr.operands[0])).text)};
    case ExprKind::kUnary: {
      const Printed operand = PrintNode(expr.operands[0]);
      std::string text = Wrapped(operand, kUnaryLevel);
      if (!text.empty() && text.front() == expr.op.front()) {
        text = "(" + text + ")";  // - -x, never --x
      }
      return {expr.op + text, kUnaryLevel};
    }
    case ExprKind::kBinary: {
      const int level = BinaryLevel(expr.op);
      ExprPtr left = expr.operands[0];
      ExprPtr right = expr.operands[1];
      if (expr.op != "&&" && expr.op != "||" && expr.op != "<<" && expr.op != ">>") {
        DropImplied(&left, &right);
      }
      const Printed a = PrintNode(left);
      const Printed b = PrintNode(right);
      return {fmt::format("{} {} {}", Wrapped(a, level), expr.op, Wrapped(b, level + 1)), level};
    }
    case ExprKind::kSelect: {
      ExprPtr then_value = expr.operands[1];
      ExprPtr else_value = expr.operands[2];
      DropImplied(&then_value, &else_value);
      return {
          fmt::format("{} ? {} : {}", Wrapped(PrintNode(expr.operands[0]), kConditionalLevel + 1),
                      Wrapped(PrintNode(then_value), kConditionalLevel),
                      Wrapped(PrintNode(else_value), kConditionalLevel)),
          kConditionalLevel};
    }
    case ExprKind::kCast: {
      const char* name = expr.type == Scalar::kU64 ? "size_t" : ScalarCudaName(expr.type);
      return {fmt::format("({}){}", name, Wrapped(PrintNode(expr.operands[0]), kUnaryLevel)),
              kUnaryLevel};
    }
    case ExprKind::kCall: {
      std::string text = expr.name + "(";
      for (size_t i = 0; i < expr.operands.size(); ++i) {
        text += (i == 0 ? "" : ", ") + PrintNode(expr.operands[i]).text;
      }
      return {text + ")"};
    }
  }
  return {};
}

// Indices in the dump are shown in their affine form, without integer casts: that is what
// transformations see, and it does not depend on the order in which the source added its terms.
ExprPtr ForDump(const ExprPtr& expr, const std::vector<std::string>& dims) {
  if (expr == nullptr) {
    return expr;
  }
  Expr copy = *expr;
  for (ExprPtr& operand : copy.operands) {
    operand = ForDump(operand, dims);
  }
  if (copy.kind == ExprKind::kLoad) {
    const std::optional<Affine> affine = ToAffine(expr->operands[0], dims);
    if (affine) {
      copy.operands[0] = Symbol(FormatAffine(*affine, dims), Scalar::kI32);
    }
  }
  return std::make_shared<const Expr>(std::move(copy));
}

class Dumper {
 public:
  explicit Dumper(const Program& program) : program_(program) {
    for (const Dim& dim : program.dims) {
      dims_.push_back(dim.name);
    }
  }

  std::string Dump() {
    std::string text = fmt::format("Program  {}(", program_.kernel);
    for (size_t i = 0; i < program_.parameters.size(); ++i) {
      text += (i == 0 ? "" : ", ") + program_.parameters[i].name;
    }
    text += ")";
    if (!program_.dims.empty()) {
      text += "  par: " + Ranges(program_.dims);
    }
    text += "\n";
    for (const Stage& stage : program_.stages) {
      text += "  Stage  " + StageText(stage) + "\n";
    }
    for (const ExprPtr& assumption : program_.assumptions) {
      text += "  Assumes  " + Print(assumption) + "\n";
    }
    return text;
  }

 private:
  static std::string Ranges(const std::vector<Dim>& dims) {
    std::string text;
    for (const Dim& dim : dims) {
      const std::optional<Affine> affine = ToAffine(dim.extent, {});
      text += fmt::format("{}{} in [0, {})", text.empty() ? "" : ", ", dim.name,
                          affine ? affine->constant.Format() : Print(dim.extent));
    }
    return text;
  }

  std::string StageText(const Stage& stage) {
    stage_dims_ = dims_;
    for (const Dim& dim : stage.dims) {
      stage_dims_.push_back(dim.name);
    }
    const bool is_fold = !stage.accumulators.empty();
    const std::string over = Ranges(stage.dims);
    std::vector<std::string> parts;
    for (const Accumulator& accumulator : stage.accumulators) {
      parts.push_back(fmt::format("{} = {} over {} of {}, from {}", accumulator.name,
                                  FoldOpName(accumulator.op), over, Text(accumulator.update),
                                  Text(accumulator.init)));
    }
    for (const Store& store : stage.stores) {
      const std::string target = Text(Load(store.buffer, store.index, Scalar::kI32));
      parts.push_back(store.kind == StoreKind::kAssign
                          ? fmt::format("{} = {}", target, Text(store.value))
                          : fmt::format("{} atomic {} {}", target, FoldOpName(store.atomic_op),
                                        Text(store.value)));
    }
    std::string lets;
    for (const Let& let : stage.lets) {
      lets += fmt::format("{}{} = {}", lets.empty() ? "" : "; ", let.name, Text(let.value));
    }
    std::string text = is_fold ? "fold  " : stage.dims.empty() ? "" : "par " + over + ":  ";
    for (size_t i = 0; i < parts.size(); ++i) {
      text += (i == 0 ? "" : "; ") + parts[i];
    }
    if (!lets.empty()) {
      text += (parts.empty() ? "let " : ", where ") + lets;
    }
    if (stage.guard != nullptr) {
      text += ", if " + Text(stage.guard);
    }
    return text;
  }

  std::string Text(const ExprPtr& expr) const { return Print(ForDump(expr, stage_dims_)); }

  const Program& program_;
  std::vector<std::string> dims_;
  std::vector<std::string> stage_dims_;
};

}  // namespace

std::string Print(const ExprPtr& expr) {
  return expr == nullptr ? "" : PrintNode(expr).text;
}

std::string Format(const Program& program) {
  return Dumper(program).Dump();
}

}  // namespace optiml::rewrite
