#include "generate/formula_parser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "generate/characters.h"
#include "generate/formula_nodes.h"

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

// Few enough that the rewriting, which may look twice at each level, stays short.
constexpr int kDeepest = 24;
constexpr size_t kMostSigns = 160;  // tokens of one formula

class Parser {
 public:
  explicit Parser(const std::vector<Sign>& signs) : signs_(signs) {}

  // The longest formula from here; `end` is the sign after it.
  std::optional<FormulaNode> Statement(size_t begin, size_t& end) {
    at_ = begin;
    begin_ = begin;
    std::optional<FormulaNode> left = Ternary(0);
    if (!left) {
      return std::nullopt;
    }
    end = at_;
    static constexpr std::array<std::string_view, 7> kAssigns = {
        "=", "<-", ":=", "+=", "-=", "*=", "/="};
    const bool assigns = std::any_of(kAssigns.begin(), kAssigns.end(),
                                     [&](std::string_view sign) { return Is(sign); });
    if (!assigns || (left->kind != Kind::kName && left->kind != Kind::kIndex)) {
      return left;
    }
    const std::string sign = Text();
    ++at_;
    is_assigned_ = true;
    std::optional<FormulaNode> right = Ternary(0);
    is_assigned_ = false;
    if (!right) {
      return left;
    }
    end = at_;
    return MakeNode(Kind::kAssign, {*std::move(left), *std::move(right)},
                    sign == ":=" || sign == "<-" ? "=" : sign);
  }

 private:
  using Node = std::optional<FormulaNode>;

  const std::string& Text(size_t ahead = 0) const {
    static const std::string kNone;
    return at_ + ahead < signs_.size() ? signs_[at_ + ahead].text : kNone;
  }
  bool Is(std::string_view text) const {
    return at_ < signs_.size() && signs_[at_].kind == Sign::Kind::kSign && signs_[at_].text == text;
  }
  bool IsOf(Sign::Kind kind) const { return at_ < signs_.size() && signs_[at_].kind == kind; }
  bool Take(std::string_view text) {
    if (!Is(text)) {
      return false;
    }
    ++at_;
    return true;
  }
  bool SpaceBefore(size_t i) const { return i < signs_.size() && signs_[i].after_space; }

  Node Ternary(int depth) {
    Node condition = Compare(depth);
    if (!condition || !Is("?")) {
      return condition;
    }
    const size_t mark = at_++;
    Node then = Compare(depth + 1);
    if (!then || !Is(":")) {
      at_ = mark;
      return condition;
    }
    ++at_;
    Node otherwise = Ternary(depth + 1);
    if (!otherwise) {
      at_ = mark;
      return condition;
    }
    return MakeNode(Kind::kSelect,
                    {*std::move(condition), *std::move(then), *std::move(otherwise)});
  }

  Node Compare(int depth) {
    Node left = Sum(depth);
    if (!left) {
      return left;
    }
    for (const char* sign : {">", "<", ">=", "<=", "=="}) {
      if (!Is(sign)) {
        continue;
      }
      const size_t mark = at_++;
      Node right = Sum(depth + 1);
      if (!right) {
        at_ = mark;
        return left;
      }
      const bool swaps = sign[0] == '<';
      const std::string name = swaps ? (sign[1] == '=' ? ">=" : ">") : sign;
      std::vector<FormulaNode> kids = {*std::move(left), *std::move(right)};
      if (swaps) {
        std::swap(kids[0], kids[1]);
      }
      return MakeNode(Kind::kCompare, std::move(kids), name);
    }
    return left;
  }

  // Prose has hyphens and pluses too: "k-means", "bias + relu".
  bool JoinsFormulas(const FormulaNode& left, const FormulaNode& right, size_t sign) const {
    const bool before = SpaceBefore(sign);
    const bool after = SpaceBefore(sign + 1);
    const std::string& text = signs_[sign].text;
    if (IsWordLike(left) && IsWordLike(right)) {
      return is_assigned_ && text != "/" && before == after && (before || text != "-");
    }
    const auto is_long = [](const FormulaNode& node) {
      return node.kind == Kind::kName && node.name.size() > 1 &&
             node.name.find_first_of("_0123456789$%@&") == std::string::npos;
    };
    if (text == "/" && is_long(left) && is_long(right)) {
      return false;  // "gamma/beta"
    }
    if (text == "-" || text == "/") {
      const bool is_dimension = right.kind == Kind::kName &&
                                (right.name == "D" || right.name == "d") &&
                                left.kind == Kind::kNumber && !before;
      return before == after && !is_dimension &&
             (before || !(IsWordLike(left) || IsWordLike(right)) ||
              (text == "/" && left.kind == Kind::kNumber));
    }
    return true;
  }

  Node Sum(int depth) {
    Node left = Product(depth);
    while (left && (Is("+") || Is("-")) && at_ - begin_ < kMostSigns) {
      const size_t sign = at_++;
      Node right = Product(depth);
      if (!right || !JoinsFormulas(*left, *right, sign)) {
        at_ = sign;
        return left;
      }
      if (signs_[sign].text == "-") {
        right = MakeNode(Kind::kMultiply, {MakeNumber(-1), *std::move(right)});
      }
      left = MakeNode(Kind::kAdd, {*std::move(left), *std::move(right)});
    }
    return left;
  }

  Node Product(int depth) {
    Node left = Unary(depth);
    while (left && at_ - begin_ < kMostSigns) {
      const size_t sign = at_;
      const bool is_factor = Is("*") || Is(".*");
      const bool is_divisor = Is("/") || Is("./");
      const bool is_matmul = Is("@");
      if (!(is_factor || is_divisor || is_matmul) && !Juxtaposed(*left)) {
        return left;
      }
      const bool is_signed = is_factor || is_divisor || is_matmul;
      at_ += is_signed ? 1 : 0;
      Node right = Unary(depth);
      if (!right || (is_signed && !JoinsFormulas(*left, *right, sign))) {
        at_ = sign;
        return left;
      }
      if (is_signed && signs_[sign].text[0] == '.') {
        MarkArrays(*left);
        MarkArrays(*right);
      }
      if (is_divisor) {
        right = MakeNode(Kind::kInverse, {*std::move(right)});
      }
      left = MakeNode(is_matmul ? Kind::kMatmul : Kind::kMultiply,
                      {*std::move(left), *std::move(right)});
    }
    return left;
  }

  static void MarkArrays(FormulaNode& node) {
    if (node.kind == Kind::kName) {
      node.is_array = true;
    } else if (node.kind != Kind::kCall && node.kind != Kind::kOver) {
      std::for_each(node.kids.begin(), node.kids.end(), MarkArrays);
    }
  }

  // "A x" and "2x" in a formula: single letters one after the other.
  bool Juxtaposed(const FormulaNode& left) const {
    if (!IsOf(Sign::Kind::kName) || Text().size() != 1) {
      return false;
    }
    if (left.kind == Kind::kNumber) {
      return !SpaceBefore(at_) || left.value != std::floor(left.value);  // "0.299 R"
    }
    const bool is_letter = (left.kind == Kind::kName && left.name.size() == 1) ||
                           left.kind == Kind::kTranspose ||
                           (left.kind == Kind::kCall && left.name == "softmax");
    // "x y^T": no prose has it.
    const std::string& next = Text(1);
    if (left.kind == Kind::kName && left.name.size() == 1 && (next == "^" || next == "'") &&
        (Text(2) == "T" || next == "'")) {
      return true;
    }
    const bool before_word = at_ + 1 < signs_.size() && signs_[at_ + 1].kind == Sign::Kind::kName &&
                             signs_[at_ + 1].text.size() > 1;
    return is_letter && (is_assigned_ || parentheses_ > 0 || left.kind == Kind::kCall) &&
           (!before_word || IsUpper(Text()[0]));
  }

  Node Unary(int depth) {
    if (depth > kDeepest) {
      return std::nullopt;
    }
    if (Is("-")) {
      ++at_;
      Node operand = Unary(depth + 1);
      if (!operand) {
        return operand;
      }
      if (operand->kind == Kind::kNumber) {
        return MakeNumber(-operand->value);
      }
      return MakeNode(Kind::kMultiply, {MakeNumber(-1), *std::move(operand)});
    }
    if (Is("&") || Is("+")) {
      ++at_;
      return Unary(depth + 1);
    }
    return Postfix(depth + 1);
  }

  Node Postfix(int depth) {
    Node base = Primary(depth);
    while (base && at_ < signs_.size() && at_ - begin_ < kMostSigns) {
      const bool close = !SpaceBefore(at_);
      const size_t mark = at_;
      Node next;
      if (Is("^") || Is("**") || Is(".^")) {
        next = Power(*base, depth);
      } else if (close && (Is("'") || Is(".'"))) {
        ++at_;
        next = MakeNode(Kind::kTranspose, {*base});
      } else if (close && Is("[")) {
        next = Bracket(*base, depth);
      } else if (close && Is(".") && at_ + 1 < signs_.size() &&
                 signs_[at_ + 1].kind == Sign::Kind::kName && !SpaceBefore(at_ + 1)) {
        next = Member(*base, depth);
      }
      if (!next) {
        at_ = mark;
        return base;
      }
      base = std::move(next);
    }
    return base;
  }

  Node Power(const FormulaNode& base, int depth) {
    const bool by_element = Is(".^");
    ++at_;
    if (IsOf(Sign::Kind::kName) && (Text() == "T" || Text() == "t")) {
      ++at_;
      return MakeNode(Kind::kTranspose, {base});
    }
    const bool is_number_alone = base.kind == Kind::kNumber;
    Node exponent = Unary(depth + 1);
    if (!exponent || is_number_alone) {
      return std::nullopt;
    }
    FormulaNode of = base;
    if (by_element) {
      MarkArrays(of);
    }
    return MakeNode(Kind::kPower, {std::move(of), *std::move(exponent)});
  }

  Node Bracket(const FormulaNode& base, int depth) {
    ++at_;
    std::vector<FormulaNode> kids;
    if (base.kind == Kind::kIndex) {
      kids = base.kids;
    } else {
      kids = {base};
    }
    if (!Arguments("]", depth, kids) || kids.size() < 2) {
      return std::nullopt;
    }
    return MakeNode(Kind::kIndex, std::move(kids));
  }

  // "x.sum(dim=-1)", "A.T".
  Node Member(const FormulaNode& base, int depth) {
    ++at_;
    const std::string name = Text();
    ++at_;
    if (name == "T" || name == "mT") {
      return MakeNode(Kind::kTranspose, {base});
    }
    if (!Is("(") || SpaceBefore(at_)) {
      return std::nullopt;
    }
    ++at_;
    std::vector<FormulaNode> kids = {base};
    if (!Arguments(")", depth, kids)) {
      return std::nullopt;
    }
    if (name == "t" && kids.size() == 1) {
      return MakeNode(Kind::kTranspose, std::move(kids));
    }
    return MakeNode(Kind::kCall, std::move(kids), name);
  }

  // Up to the closing sign, which is taken as well. ":" is an argument of its own.
  bool Arguments(std::string_view close, int depth, std::vector<FormulaNode>& kids) {
    ++parentheses_;
    const bool is_read = ArgumentList(close, depth, kids);
    --parentheses_;
    return is_read;
  }
  bool ArgumentList(std::string_view close, int depth, std::vector<FormulaNode>& kids) {
    while (!Is(close)) {
      if (Is(":")) {
        kids.push_back(MakeName(":"));
        ++at_;
      } else if (Is("[") && at_ + 1 < signs_.size() && signs_[at_ + 1].text == "]") {
        at_ += 2;
      } else {
        if (IsOf(Sign::Kind::kOther) && !Text().empty() && Text()[0] == '\'') {
          kids.push_back(MakeName(Text()));
          ++at_;
          if (Is(",")) {
            ++at_;
          }
          continue;
        }
        const bool is_keyword = IsOf(Sign::Kind::kName) && Text(1) == "=";
        const std::string key = is_keyword ? Text() : "";
        at_ += is_keyword ? 2 : 0;
        if (is_keyword && IsOf(Sign::Kind::kOther)) {
          kids.push_back(MakeNode(Kind::kKeyword, {MakeName(Text())}, key));
          ++at_;
        } else {
          Node kid = Ternary(depth + 1);
          if (!kid) {
            return false;
          }
          kids.push_back(is_keyword ? MakeNode(Kind::kKeyword, {*std::move(kid)}, key)
                                    : *std::move(kid));
        }
      }
      if (Is(",")) {
        ++at_;
      } else if (!Is(close)) {
        return false;
      }
    }
    ++at_;
    return true;
  }

  Node Primary(int depth) {
    if (depth > kDeepest || at_ >= signs_.size()) {
      return std::nullopt;
    }
    if (IsOf(Sign::Kind::kNumber)) {
      return MakeNumber(std::strtod(signs_[at_++].text.c_str(), nullptr));
    }
    if (IsOf(Sign::Kind::kName)) {
      return Named(depth);
    }
    const bool is_bar = Is("|") || Is("||");
    if (!Is("(") && !is_bar) {
      return std::nullopt;
    }
    const std::string close = Is("(") ? ")" : Text();
    ++at_;
    ++parentheses_;
    Node inside = Ternary(depth + 1);
    --parentheses_;
    if (!inside || !Is(close)) {
      return std::nullopt;
    }
    ++at_;
    if (!is_bar) {
      return inside;
    }
    return MakeNode(Kind::kCall, {*std::move(inside)}, close == "|" ? "abs" : "norm");
  }

  // A name with what belongs to it: a path, subscripts, arguments.
  Node Named(int depth) {
    std::string name = Text();
    const size_t first = at_++;
    while ((Is(".") || Is("::")) && at_ + 1 < signs_.size() && !SpaceBefore(at_) &&
           !SpaceBefore(at_ + 1) && signs_[at_ + 1].kind == Sign::Kind::kName && IsPath(name)) {
      name = signs_[at_ + 1].text;
      at_ += 2;
    }
    const size_t underscore = name.find('_');
    const std::string stem = name.substr(0, underscore);
    if (IsReduction(stem) && (name.size() > stem.size() || Is("_")) && !Is("+") && !Is("-")) {
      if (Node over = Over(stem, name.substr(std::min(name.size(), stem.size() + 1)), depth)) {
        return over;
      }
    }
    if (IsReduction(name)) {
      if (Node over = OverPhrase(name, depth)) {
        return over;
      }
    }
    if (Is("(") && !SpaceBefore(at_)) {
      const size_t mark = at_++;
      std::vector<FormulaNode> kids;
      if (Arguments(")", depth, kids)) {
        return Called(name, std::move(kids), mark > first + 1);
      }
      at_ = mark;
      return std::nullopt;
    }
    return Subscripted(name, stem, underscore);
  }

  static bool IsPath(const std::string& name) {
    static const std::set<std::string> kPaths = {
        "np",  "numpy",      "torch", "jnp",    "jax", "lax",   "nn",      "F",
        "std", "functional", "cp",    "linalg", "tf",  "scipy", "special", "math"};
    return kPaths.contains(name);
  }

  // "x(i)" is an index, "f(x)" a call.
  static FormulaNode Called(const std::string& name, std::vector<FormulaNode> kids, bool has_path) {
    const bool all_indices = std::all_of(kids.begin(), kids.end(), IsIndex);
    if (!all_indices || kids.empty() || has_path || IsFunction(name) || IsArithmetic(name) ||
        name.starts_with("einsum")) {
      return MakeNode(Kind::kCall, std::move(kids), name);
    }
    kids.insert(kids.begin(), MakeName(name));
    return MakeNode(Kind::kIndex, std::move(kids));
  }

  static bool IsIndex(const FormulaNode& node) {
    switch (node.kind) {
      case Kind::kName:
        return node.name == ":" || node.name.size() == 1 ||
               (node.name.size() == 2 && IsDigit(node.name[1])) || node.name == "idx" ||
               node.name == "ids";
      case Kind::kNumber:
        return true;
      case Kind::kAdd:
      case Kind::kMultiply:
        return std::all_of(node.kids.begin(), node.kids.end(), IsIndex);
      case Kind::kIndex:
        return true;
      default:
        return false;
    }
  }

  // "x_i", "E_ij".
  static FormulaNode Subscripted(const std::string& name, const std::string& stem,
                                 size_t underscore) {
    if (underscore == std::string::npos || stem.empty()) {
      return MakeName(name);
    }
    const std::string subscript = name.substr(underscore + 1);
    if (subscript.empty() || subscript.size() > 3 ||
        !std::all_of(subscript.begin(), subscript.end(), IsIndexLetter)) {
      return MakeName(name);
    }
    std::vector<FormulaNode> kids = {MakeName(stem)};
    for (const char c : subscript) {
      kids.push_back(MakeName(std::string(1, c)));
    }
    return MakeNode(Kind::kIndex, std::move(kids));
  }

  // "sum |x[i]|", "sum of x[i]*y[i]", "sum over k from a to b of x(k)*y(k)".
  Node OverPhrase(const std::string& name, int depth) {
    const size_t mark = at_;
    std::vector<FormulaNode> indices;
    if (Text() == "over") {
      ++at_;
      bool is_range = false;
      while (at_ < signs_.size() && Text() != "of" && at_ - mark < 24) {
        is_range = is_range || Text() == "from" || Text() == "in" || Text() == "=";
        if (!is_range && IsOf(Sign::Kind::kName) && Text().size() == 1) {
          indices.push_back(MakeName(Text()));
        }
        ++at_;
      }
    }
    const bool has_of = Text() == "of";
    at_ += has_of ? 1 : 0;
    const bool begins = has_of || (SpaceBefore(at_) && (IsOf(Sign::Kind::kName) || Is("|")));
    Node body = begins && depth < kDeepest ? Product(depth + 1) : std::nullopt;
    if (!body || !HasForm(*body)) {
      at_ = mark;
      return std::nullopt;
    }
    indices.insert(indices.begin(), *std::move(body));
    return MakeNode(Kind::kOver, std::move(indices), name);
  }

  // "sum_k A[i][k]", "sum_{r,s} ...".
  Node Over(const std::string& name, const std::string& subscript, int depth) {
    const size_t mark = at_;
    std::vector<FormulaNode> indices;
    for (const char c : subscript) {
      if (!IsIndexLetter(c)) {
        return std::nullopt;
      }
      indices.push_back(MakeName(std::string(1, c)));
    }
    if (indices.empty()) {
      ++at_;  // "_"
      if (Is("{")) {
        ++at_;
        while (!Is("}") && at_ < signs_.size() && at_ - mark < 20) {
          if (IsOf(Sign::Kind::kName) && Text().size() == 1) {
            indices.push_back(MakeName(Text()));
          }
          ++at_;
        }
      } else if (IsOf(Sign::Kind::kName)) {
        indices.push_back(MakeName(Text()));
      }
      ++at_;
    }
    Node body = at_ < signs_.size() && !indices.empty() ? Product(depth + 1) : std::nullopt;
    if (!body) {
      at_ = mark;
      return std::nullopt;
    }
    indices.insert(indices.begin(), *std::move(body));
    return MakeNode(Kind::kOver, std::move(indices), name);
  }

  const std::vector<Sign>& signs_;
  size_t at_ = 0;
  size_t begin_ = 0;
  int parentheses_ = 0;
  bool is_assigned_ = false;
};

}  // namespace

std::optional<FormulaNode> ParseFormula(const std::vector<Sign>& signs, size_t begin, size_t& end) {
  return Parser(signs).Statement(begin, end);
}

}  // namespace optiml
