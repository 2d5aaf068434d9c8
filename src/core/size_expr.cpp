#include "core/size_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

namespace optiml {

enum class SizeOp {
  kConstant,
  kName,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kMin,
  kMax,
  kCeilDiv
};

struct SizeExpr::Node {
  SizeOp op = SizeOp::kConstant;
  int64_t constant = 0;
  std::string name;
  std::shared_ptr<const Node> left;
  std::shared_ptr<const Node> right;
};

namespace {

using NodePtr = std::shared_ptr<const SizeExpr::Node>;
constexpr int kMaxDepth =
    64;  // deeper nesting is no size: it protects the stack from mangled files

NodePtr MakeNode(SizeOp op, NodePtr left, NodePtr right) {
  return std::make_shared<const SizeExpr::Node>(
      SizeExpr::Node{op, 0, "", std::move(left), std::move(right)});
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<NodePtr> Parse() {
    OPTIML_ASSIGN(NodePtr node, Sum());
    Skip();
    if (at_ != text_.size()) {
      return Expected("an operator");
    }
    return node;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }

  bool Take(char c) {
    Skip();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  Error Expected(const std::string& what) const {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
    return Error(ErrorCode::kParse,
                 fmt::format("size expression \"{}\": column {}: expected {}, found {}", text_,
                             at_ + 1, what, found));
  }

  Result<NodePtr> Sum() {
    OPTIML_ASSIGN(NodePtr left, Product());
    while (true) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) {
        return left;
      }
      OPTIML_ASSIGN(NodePtr right, Product());
      left = MakeNode(plus ? SizeOp::kAdd : SizeOp::kSubtract, left, right);
    }
  }

  Result<NodePtr> Product() {
    OPTIML_ASSIGN(NodePtr left, Factor());
    while (true) {
      SizeOp op = SizeOp::kMultiply;
      if (Take('/')) {
        op = SizeOp::kDivide;
      } else if (Take('%')) {
        op = SizeOp::kModulo;
      } else if (!Take('*')) {
        return left;
      }
      OPTIML_ASSIGN(NodePtr right, Factor());
      left = MakeNode(op, left, right);
    }
  }

  Result<NodePtr> Factor() {
    if (++depth_ > kMaxDepth) {
      return Error(ErrorCode::kParse,
                   "size expression nested deeper than " + std::to_string(kMaxDepth));
    }
    Result<NodePtr> node = FactorBody();
    --depth_;
    return node;
  }

  Result<NodePtr> FactorBody() {
    if (Take('-')) {
      OPTIML_ASSIGN(NodePtr operand, Factor());
      return MakeNode(SizeOp::kNegate, operand, nullptr);
    }
    if (Take('(')) {
      OPTIML_ASSIGN(NodePtr inner, Sum());
      if (!Take(')')) {
        return Expected("')'");
      }
      return inner;
    }
    Skip();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      return Number();
    }
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      return NameOrCall();
    }
    return Expected("a number, a size name or '('");
  }

  Result<NodePtr> Number() {
    int64_t value = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<int64_t>(text_[at_] - '0'), &value)) {
        at_ = begin;
        return Expected("a number below 2^63");
      }
      ++at_;
    }
    return std::make_shared<const SizeExpr::Node>(
        SizeExpr::Node{SizeOp::kConstant, value, "", nullptr, nullptr});
  }

  Result<NodePtr> NameOrCall() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string name(text_.substr(begin, at_ - begin));
    static const std::map<std::string, SizeOp> kFunctions = {
        {"min", SizeOp::kMin}, {"max", SizeOp::kMax}, {"ceil_div", SizeOp::kCeilDiv}};
    const auto function = kFunctions.find(name);
    if (function == kFunctions.end() || !Take('(')) {
      return std::make_shared<const SizeExpr::Node>(
          SizeExpr::Node{SizeOp::kName, 0, name, nullptr, nullptr});
    }
    OPTIML_ASSIGN(NodePtr left, Sum());
    if (!Take(',')) {
      return Expected("','");
    }
    OPTIML_ASSIGN(NodePtr right, Sum());
    if (!Take(')')) {
      return Expected("')'");
    }
    return MakeNode(function->second, left, right);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

Error Overflow() {
  return Error(ErrorCode::kInvalidArgument, "the value does not fit in 64 bits");
}

Result<int64_t> Combine(SizeOp op, int64_t a, int64_t b) {
  int64_t value = 0;
  switch (op) {
    case SizeOp::kAdd:
      return __builtin_add_overflow(a, b, &value) ? Result<int64_t>(Overflow()) : value;
    case SizeOp::kSubtract:
      return __builtin_sub_overflow(a, b, &value) ? Result<int64_t>(Overflow()) : value;
    case SizeOp::kMultiply:
      return __builtin_mul_overflow(a, b, &value) ? Result<int64_t>(Overflow()) : value;
    case SizeOp::kMin:
      return std::min(a, b);
    case SizeOp::kMax:
      return std::max(a, b);
    default:
      break;
  }
  if (b == 0) {
    return Error(ErrorCode::kInvalidArgument, "division by zero");
  }
  if (a == std::numeric_limits<int64_t>::min() && b == -1) {
    return Overflow();
  }
  if (op == SizeOp::kDivide) {
    return a / b;
  }
  if (op == SizeOp::kModulo) {
    return a % b;
  }
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);  // kCeilDiv
}

Result<int64_t> EvaluateNode(const SizeExpr::Node& node, const SizeBindings& sizes) {
  switch (node.op) {
    case SizeOp::kConstant:
      return node.constant;
    case SizeOp::kName: {
      const auto found = sizes.find(node.name);
      if (found == sizes.end()) {
        return Error(ErrorCode::kInvalidArgument, "unknown size \"" + node.name + "\"");
      }
      return found->second;
    }
    case SizeOp::kNegate: {
      OPTIML_ASSIGN(const int64_t value, EvaluateNode(*node.left, sizes));
      return Combine(SizeOp::kSubtract, 0, value);
    }
    default: {
      OPTIML_ASSIGN(const int64_t left, EvaluateNode(*node.left, sizes));
      OPTIML_ASSIGN(const int64_t right, EvaluateNode(*node.right, sizes));
      return Combine(node.op, left, right);
    }
  }
}

void CollectNames(const SizeExpr::Node& node, std::vector<std::string>& names) {
  if (node.op == SizeOp::kName && std::find(names.begin(), names.end(), node.name) == names.end()) {
    names.push_back(node.name);
  }
  for (const NodePtr& child : {node.left, node.right}) {
    if (child != nullptr) {
      CollectNames(*child, names);
    }
  }
}

}  // namespace

SizeExpr::SizeExpr(int64_t constant)
    : text_(std::to_string(constant)),
      root_(std::make_shared<const Node>(Node{SizeOp::kConstant, constant, "", nullptr, nullptr})) {
}

Result<SizeExpr> SizeExpr::Parse(std::string_view text) {
  OPTIML_ASSIGN(NodePtr root, Parser(text).Parse());
  SizeExpr expr;
  expr.text_ = std::string(text);
  expr.root_ = std::move(root);
  return expr;
}

Result<int64_t> SizeExpr::Evaluate(const SizeBindings& sizes) const {
  Result<int64_t> value = EvaluateNode(*root_, sizes);
  if (!value) {
    return std::move(value).error().WithContext("size expression \"" + text_ + "\"");
  }
  return value;
}

std::vector<std::string> SizeExpr::Names() const {
  std::vector<std::string> names;
  CollectNames(*root_, names);
  return names;
}

}  // namespace optiml
