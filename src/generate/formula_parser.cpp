// From text to trees; what one tree means is in formula.cpp.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "generate/formula.h"
#include "generate/tokens.h"

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

// Few enough that the rewriting, which may look twice at each level, stays short.
constexpr int kDeepest = 24;
constexpr size_t kMostSigns = 160;  // tokens of one formula

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

struct Sign {
  enum class Kind { kNumber, kName, kSign, kOther };
  Kind kind = Kind::kOther;
  std::string text;
  size_t begin = 0;
  size_t end = 0;
  bool after_space = false;
};

class Lexer {
 public:
  // Marks of names ("$a") are read in patterns alone.
  Lexer(std::string_view text, bool is_pattern) : text_(text), is_pattern_(is_pattern) {}

  std::vector<Sign> Read() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ') {
        ++at_;
        continue;
      }
      const size_t begin = at_;
      const Sign::Kind kind = One();
      signs_.push_back({kind, std::string(text_.substr(begin, at_ - begin)), begin, at_,
                        begin > 0 && text_[begin - 1] == ' '});
    }
    return std::move(signs_);
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : ' '; }

  Sign::Kind One() {
    const char c = text_[at_];
    if (IsDigit(c) || (c == '.' && IsDigit(At(at_ + 1)))) {
      return Number();
    }
    const bool is_marked =
        is_pattern_ && (c == '$' || c == '%' || c == '@' || c == '&') && IsLetter(At(at_ + 1));
    if (IsLetter(c) || is_marked) {
      ++at_;
      while (IsLetter(At(at_)) || IsDigit(At(at_)) ||
             (At(at_) == '_' && (IsLetter(At(at_ + 1)) || IsDigit(At(at_ + 1))))) {
        ++at_;
      }
      at_ += At(at_) == '_' && At(at_ + 1) == '(' ? 1 : 0;  // "mul_("
      return Sign::Kind::kName;
    }
    if (IsString(c)) {
      const size_t close = text_.find(c, at_ + 1);
      at_ = close == std::string_view::npos || close - at_ > 20 ? at_ + 1 : close + 1;
      return Sign::Kind::kOther;
    }
    static constexpr std::array<std::string_view, 20> kLong = {
        ".*", "./", ".^", ".'", "**", "+=", "-=", "*=", "/=", "<=",
        ">=", "==", "<<", "<-", "::", "||", "&&", "..", "->", ":="};
    for (const std::string_view sign : kLong) {
      if (text_.substr(at_, 2) == sign) {
        at_ += 2;
        return Sign::Kind::kSign;
      }
    }
    ++at_;
    return Sign::Kind::kSign;
  }

  bool IsString(char c) const {
    return c == '"' || (c == '\'' && (at_ == 0 || !(IsLetter(text_[at_ - 1]) ||
                                                    std::string_view(")].'").find(text_[at_ - 1]) !=
                                                        std::string_view::npos)));
  }

  // "1.0f", "1e-5", "1."; "16M", "3x3" and "2d" are words.
  Sign::Kind Number() {
    while (IsDigit(At(at_))) {
      ++at_;
    }
    const bool has_point = At(at_) == '.' && !IsLetter(At(at_ + 1)) && At(at_ + 1) != '.' &&
                           At(at_ + 1) != '*' && At(at_ + 1) != '/' && At(at_ + 1) != '^';
    at_ += has_point || (At(at_) == '.' && At(at_ + 1) == 'f' && !IsLetter(At(at_ + 2))) ? 1 : 0;
    while (IsDigit(At(at_))) {
      ++at_;
    }
    const size_t exponent = at_ + (At(at_ + 1) == '-' || At(at_ + 1) == '+' ? 2 : 1);
    if (At(at_) == 'e' && IsDigit(At(exponent))) {
      at_ = exponent;
      while (IsDigit(At(at_))) {
        ++at_;
      }
    }
    if (At(at_) == 'f' && !IsLetter(At(at_ + 1)) && !IsDigit(At(at_ + 1))) {
      ++at_;
    }
    const bool is_factor = std::string_view("xuyzr").find(At(at_)) != std::string_view::npos &&
                           !IsLetter(At(at_ + 1)) && !IsDigit(At(at_ + 1));
    if (!IsLetter(At(at_)) || is_factor) {
      return Sign::Kind::kNumber;
    }
    while (IsLetter(At(at_)) || IsDigit(At(at_))) {
      ++at_;
    }
    return Sign::Kind::kOther;
  }

  std::string_view text_;
  bool is_pattern_ = false;
  size_t at_ = 0;
  std::vector<Sign> signs_;
};

FormulaNode Make(Kind kind, std::vector<FormulaNode> kids, std::string name = "") {
  FormulaNode node;
  node.kind = kind;
  node.name = std::move(name);
  node.kids = std::move(kids);
  return node;
}
FormulaNode MakeNumber(double value) {
  FormulaNode node;
  node.value = value;
  return node;
}
FormulaNode MakeName(std::string name) {
  return Make(Kind::kName, {}, std::move(name));
}

// What takes many values to one.
bool IsReduction(const std::string& name) {
  static const std::set<std::string> kNames = {"sum",  "max",    "min",   "mean",
                                               "prod", "argmax", "argmin"};
  return kNames.contains(name);
}

bool IsFunction(const std::string& name) {
  static const std::set<std::string> kNames = {
      "exp",      "expf",   "log",   "logf",          "ln",         "sqrt",     "sqrtf",
      "rsqrt",    "rsqrtf", "abs",   "fabs",          "fabsf",      "sin",      "sinf",
      "cos",      "cosf",   "tanh",  "tanhf",         "max",        "min",      "fmax",
      "fmaxf",    "fmin",   "fminf", "sum",           "mean",       "pow",      "powf",
      "relu",     "gelu",   "silu",  "sigmoid",       "std",        "var",      "softmax",
      "sign",     "norm",   "floor", "erf",           "fma",        "fmaf",     "dot",
      "fft",      "inv",    "det",   "median",        "prod",       "argmax",   "argmin",
      "f",        "log1p",  "expm1", "atan2",         "maximum",    "minimum",  "logsumexp",
      "nrm2",     "norm2",  "sort",  "cumsum",        "cdist",      "pdist2",   "pdist",
      "count_if", "count",  "nnz",   "count_nonzero", "linear",     "flip",     "flipud",
      "fliplr",   "maxk",   "topk",  "conv",          "accumarray", "rms",      "relu6",
      "softplus", "swish",  "elu",   "leaky_relu",    "hardswish",  "atomicAdd"};
  return kNames.contains(name);
}

bool IsIndexLetter(char c) {
  return std::string_view("ijklmnrcbpqsht").find(c) != std::string_view::npos;
}

// A name that prose has as well: longer than a letter and its number, without underscore.
bool IsWordLike(const FormulaNode& node) {
  static const std::set<std::string> kSymbols = {"mu",  "eps", "alpha", "beta", "gamma", "sigma",
                                                 "psi", "phi", "dt",    "dx",   "lambda"};
  return node.kind == Kind::kName &&
         (node.name.size() > 8 ||
          (node.name.size() > 2 &&
           node.name.find_first_of("_0123456789$%@&") == std::string::npos &&
           !kSymbols.contains(node.name)));
}

// Calls whose operands tell operators apart: "dot(A, v)", "y.add_(x, alpha=a)".
bool IsArithmetic(const std::string& name) {
  static const std::set<std::string> kNames = {
      "select", "linear", "mm",  "matmul", "mv",    "dot",    "vdot", "inner",
      "outer",  "bmm",    "add", "add_",   "sub",   "sub_",   "mul",  "mul_",
      "div",    "div_",   "pow", "einsum", "where", "mtimes", "clip", "clamp"};
  return kNames.contains(name);
}

// A part that only a formula has.
bool HasForm(const FormulaNode& node) {
  switch (node.kind) {
    case Kind::kAdd:
    case Kind::kMultiply:
    case Kind::kInverse:
    case Kind::kPower:
    case Kind::kSelect:
    case Kind::kTranspose:
    case Kind::kMatmul:
    case Kind::kIndex:
    case Kind::kCompare:
      return true;
    case Kind::kCall:  // "sum(abs(x))"; one call alone is words, but for those of arithmetic
      if (IsArithmetic(node.name) && node.kids.size() >= 2) {
        return true;
      }
      if (IsFunction(node.name) &&
          std::any_of(node.kids.begin(), node.kids.end(), [](const FormulaNode& kid) {
            return kid.kind == Kind::kCall && IsFunction(kid.name);
          })) {
        return true;
      }
      break;
    case Kind::kAssign:  // "y = exp(x)"
      if (node.kids[1].kind == Kind::kCall && IsFunction(node.kids[1].name) &&
          node.kids[1].kids.size() == 1 && node.kids[1].kids[0].kind == Kind::kName) {
        return true;
      }
      break;
    default:
      break;
  }
  return std::any_of(node.kids.begin(), node.kids.end(), HasForm);
}

bool HasName(const FormulaNode& node) {
  return node.kind == Kind::kName || std::any_of(node.kids.begin(), node.kids.end(), HasName);
}

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
    return Make(Kind::kAssign, {*std::move(left), *std::move(right)},
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
    at_ += Is(text) ? 1 : 0;
    return at_ > 0 && signs_[at_ - 1].text == text;
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
    return Make(Kind::kSelect, {*std::move(condition), *std::move(then), *std::move(otherwise)});
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
      return Make(Kind::kCompare, std::move(kids), name);
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
      return node.kind == Kind::kName && node.name.size() > 2;
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
        right = Make(Kind::kMultiply, {MakeNumber(-1), *std::move(right)});
      }
      left = Make(Kind::kAdd, {*std::move(left), *std::move(right)});
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
        right = Make(Kind::kInverse, {*std::move(right)});
      }
      left =
          Make(is_matmul ? Kind::kMatmul : Kind::kMultiply, {*std::move(left), *std::move(right)});
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
      return Make(Kind::kMultiply, {MakeNumber(-1), *std::move(operand)});
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
        next = Make(Kind::kTranspose, {*base});
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
      return Make(Kind::kTranspose, {base});
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
    return Make(Kind::kPower, {std::move(of), *std::move(exponent)});
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
    return Make(Kind::kIndex, std::move(kids));
  }

  // "x.sum(dim=-1)", "A.T".
  Node Member(const FormulaNode& base, int depth) {
    ++at_;
    const std::string name = Text();
    ++at_;
    if (name == "T" || name == "mT") {
      return Make(Kind::kTranspose, {base});
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
      return Make(Kind::kTranspose, std::move(kids));
    }
    return Make(Kind::kCall, std::move(kids), name);
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
          kids.push_back(Make(Kind::kKeyword, {MakeName(Text())}, key));
          ++at_;
        } else {
          Node kid = Ternary(depth + 1);
          if (!kid) {
            return false;
          }
          kids.push_back(is_keyword ? Make(Kind::kKeyword, {*std::move(kid)}, key)
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
    return Make(Kind::kCall, {*std::move(inside)}, close == "|" ? "abs" : "norm");
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
      return Make(Kind::kCall, std::move(kids), name);
    }
    kids.insert(kids.begin(), MakeName(name));
    return Make(Kind::kIndex, std::move(kids));
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
    return Make(Kind::kIndex, std::move(kids));
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
    return Make(Kind::kOver, std::move(indices), name);
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
    return Make(Kind::kOver, std::move(indices), name);
  }

  const std::vector<Sign>& signs_;
  size_t at_ = 0;
  size_t begin_ = 0;
  int parentheses_ = 0;
  bool is_assigned_ = false;
};

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
  const std::vector<Sign> signs = Lexer(text, false).Read();
  std::vector<Formula> formulas;
  for (size_t i = 0; i < signs.size();) {
    size_t end = i;
    const std::optional<FormulaNode> node = Parser(signs).Statement(i, end);
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
      root = Make(Kind::kCall, {}, "?");
    }
    formulas.push_back({signs[i].begin, signs[end - 1].end, std::move(root)});
    i = end;
  }
  return formulas;
}

std::vector<FormulaNode> ParsePattern(std::string_view text) {
  const std::vector<Sign> signs = Lexer(text, true).Read();
  size_t end = 0;
  const std::optional<FormulaNode> node =
      signs.empty() ? std::nullopt : Parser(signs).Statement(0, end);
  if (!node || end != signs.size()) {
    return {};
  }
  FormulaNode pattern = Canonical(*node);
  LowerBases(pattern);
  return {std::move(pattern)};
}

}  // namespace optiml
