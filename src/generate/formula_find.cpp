#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "generate/characters.h"
#include "generate/formula.h"
#include "generate/formula_nodes.h"
#include "generate/formula_parser.h"

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

// "B*T" in a list, "M/N": extents.
bool IsExtents(const FormulaNode& node) {
  if (node.kind == Kind::kName) {
    return node.name.size() <= 3 && IsUpper(node.name[0]);
  }
  if (node.kind == Kind::kNumber && node.value != std::floor(node.value)) {
    return false;
  }
  const bool passes = node.kind == Kind::kMultiply || node.kind == Kind::kInverse ||
                      node.kind == Kind::kAdd || node.kind == Kind::kNumber;
  return passes && std::all_of(node.kids.begin(), node.kids.end(), IsExtents);
}

bool IsFormula(const FormulaNode& node, std::string_view text, size_t begin, size_t end) {
  const bool is_set = node.kind == Kind::kAssign && node.name == "=" &&
                      (node.kids[1].kind == Kind::kNumber ||
                       (node.kids[1].kind == Kind::kName && node.kids[0].kind == Kind::kName));
  const bool is_negative = node.kind == Kind::kMultiply && node.kids[0].kind == Kind::kNumber &&
                           node.kids[0].value == -1 && node.kids[1].kind == Kind::kName;
  if (node.kind == Kind::kCompare || node.kind == Kind::kIndex || is_set || is_negative ||
      !HasForm(node) || !HasName(node) || IsValue(node)) {
    return false;
  }
  const auto near = [&](size_t i) { return i < text.size() ? text[i] : ' '; };
  const bool in_list = near(end) == ',' || near(end) == ']' ||
                       (begin > 1 && (near(begin - 1) == ',' || near(begin - 2) == ','));
  if (IsExtents(node)) {
    const bool divides = node.kind == Kind::kMultiply && node.kids[1].kind == Kind::kInverse;
    return !in_list && !divides;
  }
  return true;
}

// "a*x + b*(the six neighbours)": what was read is only a part, and means nothing.
bool GoesOn(const std::vector<Sign>& signs, size_t end) {
  static const std::set<std::string> kSigns = {"*", "/", "^", "**", ".*", "./",
                                               "@", "%", "&", "|",  "\\", "<<"};
  return signs[end].kind == Sign::Kind::kSign && kSigns.contains(signs[end].text) &&
         end + 1 < signs.size();
}

// What is indexed in a pattern may have any name.
void LowerBases(FormulaNode& node) {
  if (node.kind == Kind::kIndex && node.kids[0].kind == Kind::kName) {
    node.kids[0].name = "base " + node.kids[0].name;
  }
  std::for_each(node.kids.begin(), node.kids.end(), LowerBases);
}

}  // namespace

std::vector<Formula> FindFormulas(std::string_view text) {
  text = text.substr(0, kMostFormulaText);
  const std::vector<Sign> signs = ReadSigns(text, false);
  std::vector<Formula> formulas;
  for (size_t i = 0; i < signs.size();) {
    size_t end = i;
    const std::optional<FormulaNode> node = ParseFormula(signs, i, end);
    const bool is_order = node && (node->kind == Kind::kCall || node->kind == Kind::kIndex) &&
                          signs[i].text == "O";  // "O(n^2)"
    if (is_order) {
      i = end;
      continue;
    }
    // "row-wise": a sign inside of a word begins nothing.
    const bool inside_word = i > 0 && signs[i].text == "-" && !signs[i].after_space &&
                             signs[i - 1].kind != Sign::Kind::kSign;
    if (node && !HasForm(*node)) {
      i = std::max(end, i + 1);  // a call alone: its parts are no formulas
      continue;
    }
    if (!node || end == i || inside_word ||
        !IsFormula(*node, text, signs[i].begin, signs[end - 1].end)) {
      ++i;
      continue;
    }
    FormulaNode root = Canonical(*node);
    if (end < signs.size() && GoesOn(signs, end)) {
      root = MakeNode(Kind::kCall, {}, "?");
    }
    formulas.push_back({signs[i].begin, signs[end - 1].end, std::move(root)});
    i = end;
  }
  return formulas;
}

std::vector<FormulaNode> ParsePattern(std::string_view text) {
  const std::vector<Sign> signs = ReadSigns(text, true);
  size_t end = 0;
  const std::optional<FormulaNode> node =
      signs.empty() ? std::nullopt : ParseFormula(signs, 0, end);
  if (!node || end != signs.size()) {
    return {};
  }
  FormulaNode pattern = Canonical(*node);
  LowerBases(pattern);
  return {std::move(pattern)};
}

}  // namespace optiml
