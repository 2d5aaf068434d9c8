#include "generate/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "generate/characters.h"
#include "generate/formula_nodes.h"

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

class Unifier {
 public:
  bool Unify(const FormulaNode& pattern, const FormulaNode& node) {
    if (pattern.kind == Kind::kName) {
      return Bind(pattern, node);
    }
    if (pattern.kind != node.kind) {
      return false;
    }
    switch (pattern.kind) {
      case Kind::kNumber:
        return std::abs(pattern.value - node.value) <= 1e-6 * std::abs(pattern.value);
      case Kind::kAdd:
        return UnifyBag(pattern, node);
      case Kind::kMultiply:
        return IsOrdered(pattern) ? UnifyList(pattern, node) : UnifyBag(pattern, node);
      case Kind::kCall:
        return pattern.name == node.name &&
               (pattern.name == "max" || pattern.name == "min" ? UnifyBag(pattern, node)
                                                               : UnifyList(pattern, node));
      default:
        return pattern.name == node.name && UnifyList(pattern, node);
    }
  }

 private:
  static bool IsOrdered(const FormulaNode& pattern) {
    return std::any_of(pattern.kids.begin(), pattern.kids.end(),
                       [](const FormulaNode& kid) { return kid.kind == Kind::kTranspose; });
  }
  static bool Absorbs(const FormulaNode& pattern) {
    return pattern.kind == Kind::kName && (pattern.name[0] == '$' || pattern.name[0] == '%');
  }

  bool Accepts(const FormulaNode& pattern, const FormulaNode& node) const {
    const char mark = pattern.name[0];
    if (mark == '$' || mark == '%') {
      return IsScalar(node, mark == '%');
    }
    if (node.kind != Kind::kName) {
      return false;
    }
    if (mark == '@' || pattern.is_array) {
      return node.is_array;
    }
    if (mark == '&') {
      return node.is_array || IsLower(node.name[0]);
    }
    if (mark == ':' || mark == '\'') {
      return node.name == pattern.name;
    }
    return !IsUpper(mark) || (IsUpper(node.name[0]) && !node.is_array);
  }

  bool Bind(const FormulaNode& pattern, const FormulaNode& node) {
    if (!Accepts(pattern, node)) {
      return false;
    }
    const auto found = bound_.find(pattern.name);
    if (found != bound_.end()) {
      return found->second == node;
    }
    for (const auto& [name, other] : bound_) {
      if (node.kind == Kind::kName && other.kind == Kind::kName && other.name == node.name) {
        return false;
      }
    }
    bound_.emplace(pattern.name, node);
    return true;
  }

  bool UnifyList(const FormulaNode& pattern, const FormulaNode& node) {
    if (pattern.kids.size() != node.kids.size()) {
      return false;
    }
    for (size_t i = 0; i < pattern.kids.size(); ++i) {
      if (!Unify(pattern.kids[i], node.kids[i])) {
        return false;
      }
    }
    return true;
  }

  // In any order; a scalar of a product takes all factors that are left over.
  bool UnifyBag(const FormulaNode& pattern, const FormulaNode& node) {
    if (node.kids.size() > 8 || pattern.kids.size() > node.kids.size()) {
      return false;
    }
    std::vector<const FormulaNode*> order;
    const FormulaNode* rest = nullptr;
    for (const FormulaNode& kid : pattern.kids) {
      if (pattern.kind == Kind::kMultiply && rest == nullptr && Absorbs(kid)) {
        rest = &kid;
      } else {
        order.push_back(&kid);
      }
    }
    // Names last: what has a form is found without trying.
    std::stable_sort(order.begin(), order.end(), [](const FormulaNode* a, const FormulaNode* b) {
      return (a->kind == Kind::kName) < (b->kind == Kind::kName);
    });
    std::vector<bool> used(node.kids.size());
    return UnifyFrom(order, 0, rest, node, used);
  }

  bool UnifyFrom(const std::vector<const FormulaNode*>& order, size_t at, const FormulaNode* rest,
                 const FormulaNode& node, std::vector<bool>& used) {
    if (at == order.size()) {
      return UnifyRest(rest, node, used);
    }
    for (size_t i = 0; i < node.kids.size(); ++i) {
      if (used[i]) {
        continue;
      }
      const std::map<std::string, FormulaNode> saved = bound_;
      used[i] = true;
      if (Unify(*order[at], node.kids[i]) && UnifyFrom(order, at + 1, rest, node, used)) {
        return true;
      }
      used[i] = false;
      bound_ = saved;
    }
    return false;
  }

  bool UnifyRest(const FormulaNode* rest, const FormulaNode& node, const std::vector<bool>& used) {
    FormulaNode left = MakeNode(Kind::kMultiply, {});
    for (size_t i = 0; i < node.kids.size(); ++i) {
      if (!used[i]) {
        left.kids.push_back(node.kids[i]);
      }
    }
    if (rest == nullptr || left.kids.empty()) {
      return rest == nullptr && left.kids.empty();
    }
    if (left.kids.size() == 1 && IsNumber(left.kids[0], -1)) {
      return false;  // -x is no scaled x
    }
    return Bind(*rest, left.kids.size() == 1 ? left.kids[0] : left);
  }

  std::map<std::string, FormulaNode> bound_;
};

bool Contains(const FormulaNode& node, const FormulaNode& part) {
  return node == part || std::any_of(node.kids.begin(), node.kids.end(),
                                     [&](const FormulaNode& kid) { return Contains(kid, part); });
}

// "y[i][j] = f(x[i][j], b[j])": something on the right has the index of the left.
bool KeepsIndex(const FormulaNode& assign) {
  const FormulaNode& left = assign.kids[0];
  std::vector<const FormulaNode*> indexed;
  Collect(assign.kids[1], Kind::kIndex, indexed);
  return std::any_of(indexed.begin(), indexed.end(), [&](const FormulaNode* one) {
    return one->kids.size() == left.kids.size() &&
           std::equal(one->kids.begin() + 1, one->kids.end(), left.kids.begin() + 1);
  });
}

}  // namespace

bool IsValue(const FormulaNode& node) {
  std::vector<const FormulaNode*> numbers;
  Collect(node, Kind::kNumber, numbers);
  if (node.kind == Kind::kAdd) {
    return !numbers.empty() && std::all_of(node.kids.begin(), node.kids.end(),
                                           [](const auto& kid) { return IsScalar(kid, false); });
  }
  return node.kind != Kind::kAssign && IsScalar(node, false) &&
         (!numbers.empty() || node.kind == Kind::kInverse);
}

bool Fits(const FormulaNode& pattern, const FormulaNode& formula) {
  if (Unifier().Unify(pattern, formula)) {
    return true;
  }
  if (pattern.kind == Kind::kAssign || formula.kind != Kind::kAssign) {
    return false;
  }
  // What is assigned to itself is an array, not the scalar that its small letter may be.
  FormulaNode right = formula.kids[1];
  if (formula.kids[0].kind == Kind::kName && IsLower(formula.kids[0].name[0]) &&
      Contains(right, formula.kids[0])) {
    MarkAll(right, {formula.kids[0].name});
  }
  return (formula.kids[0].kind == Kind::kName || KeepsIndex(formula)) &&
         Unifier().Unify(pattern, right);
}

std::string FormatFormula(const FormulaNode& node) {
  static const std::map<Kind, std::string> kSigns = {{Kind::kIndex, "[]"},
                                                     {Kind::kAdd, "+"},
                                                     {Kind::kMultiply, "*"},
                                                     {Kind::kInverse, "inverse"},
                                                     {Kind::kPower, "^"},
                                                     {Kind::kSelect, "?"},
                                                     {Kind::kTranspose, "transpose"},
                                                     {Kind::kMatmul, "@"},
                                                     {Kind::kAssign, "="}};
  if (node.kind == Kind::kNumber) {
    return fmt::format("{}", node.value);
  }
  if (node.kind == Kind::kName) {
    return node.name;
  }
  const auto sign = kSigns.find(node.kind);
  std::string text = "(" + (sign == kSigns.end() ? node.name : sign->second);
  for (const FormulaNode& kid : node.kids) {
    text += " " + FormatFormula(kid);
  }
  return text + ")";
}

}  // namespace optiml
