#include "generate/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

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
bool IsNumber(const FormulaNode& node, double value) {
  return node.kind == Kind::kNumber && node.value == value;
}

FormulaNode Rewritten(FormulaNode node);

// One name for a function of every library.
std::string FunctionName(const std::string& name) {
  static const std::map<std::string, std::string> kNames = {
      {"fmaxf", "max"},        {"fmax", "max"},      {"maximum", "max"},
      {"amax", "max"},         {"fminf", "min"},     {"fmin", "min"},
      {"minimum", "min"},      {"amin", "min"},      {"fabsf", "abs"},
      {"fabs", "abs"},         {"absolute", "abs"},  {"expf", "exp"},
      {"__expf", "exp"},       {"exp_", "exp"},      {"logf", "log"},
      {"ln", "log"},           {"__logf", "log"},    {"sqrtf", "sqrt"},
      {"rsqrtf", "rsqrt"},     {"sinf", "sin"},      {"cosf", "cos"},
      {"tanhf", "tanh"},       {"powf", "pow"},      {"power", "pow"},
      {"average", "mean"},     {"E", "mean"},        {"fmaf", "fma"},
      {"vdot", "dot"},         {"inner", "dot"},     {"nrm2", "norm"},
      {"norm2", "norm"},       {"swish", "silu"},    {"mul", "multiply"},
      {"mul_", "multiply"},    {"add_", "add"},      {"sub_", "subtract"},
      {"sub", "subtract"},     {"div_", "divide"},   {"div", "divide"},
      {"outer", "outer"},      {"clamp", "clip"},    {"logsoftmax", "log_softmax"},
      {"vector_norm", "norm"}, {"expit", "sigmoid"}, {"mtimes", "mm"},
      {"times", "multiply"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? name : found->second;
}

void Flatten(FormulaNode& node) {
  std::vector<FormulaNode> kids;
  for (FormulaNode& kid : node.kids) {
    if (kid.kind == node.kind) {
      kids.insert(kids.end(), kid.kids.begin(), kid.kids.end());
    } else {
      kids.push_back(std::move(kid));
    }
  }
  node.kids = std::move(kids);
}

// Numbers become one number, which stands first.
void FoldNumbers(FormulaNode& node) {
  const bool adds = node.kind == Kind::kAdd;
  const double none = adds ? 0 : 1;
  double folded = none;
  std::erase_if(node.kids, [&](const FormulaNode& kid) {
    if (kid.kind == Kind::kNumber) {
      folded = adds ? folded + kid.value : folded * kid.value;
    }
    return kid.kind == Kind::kNumber;
  });
  if (folded != none || node.kids.empty()) {
    node.kids.insert(node.kids.begin(), MakeNumber(folded));
  }
  if (node.kids.size() == 1) {
    FormulaNode only = std::move(node.kids.front());
    node = std::move(only);
  }
}

// x * x is x^2.
void FoldPowers(FormulaNode& node) {
  for (size_t i = 0; i < node.kids.size(); ++i) {
    double times = 1;
    if (node.kids[i].kind == Kind::kNumber) {
      continue;
    }
    for (size_t j = node.kids.size() - 1; j > i; --j) {
      if (node.kids[j] == node.kids[i]) {
        ++times;
        node.kids.erase(node.kids.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
    if (times > 1) {
      node.kids[i] = Make(Kind::kPower, {node.kids[i], MakeNumber(times)});
    }
  }
}

FormulaNode CanonicalPower(FormulaNode node) {
  if (node.kids[1].kind == Kind::kNumber) {
    const double exponent = node.kids[1].value;
    if (exponent == 0.5 || exponent == -0.5) {
      return Make(Kind::kCall, {node.kids[0]}, exponent > 0 ? "sqrt" : "rsqrt");
    }
    if (exponent == 1) {
      return node.kids[0];
    }
    if (exponent == -1) {
      return Make(Kind::kInverse, {node.kids[0]});
    }
  }
  return node;
}

FormulaNode CanonicalInverse(FormulaNode node) {
  FormulaNode& of = node.kids[0];
  if (of.kind == Kind::kNumber && of.value != 0) {
    return MakeNumber(1 / of.value);
  }
  if (of.kind == Kind::kInverse) {
    return of.kids[0];
  }
  if (of.kind == Kind::kCall && of.name == "sqrt") {
    return Make(Kind::kCall, of.kids, "rsqrt");
  }
  if (of.kind == Kind::kMultiply) {
    FormulaNode product = Make(Kind::kMultiply, {});
    for (const FormulaNode& kid : of.kids) {
      product.kids.push_back(Rewritten(Make(Kind::kInverse, {kid})));
    }
    return Rewritten(std::move(product));
  }
  return node;
}

// The axis of "sum(x, -1)" and "sum(x, axis=1)": the last one is -1. Keywords say nothing more.
void CanonicalArguments(FormulaNode& node) {
  std::vector<FormulaNode> kids;
  for (FormulaNode& kid : node.kids) {
    if (kid.kind == Kind::kName && (kid.name == "keepdim" || kid.name == "keepdims")) {
      continue;
    }
    if (kid.kind != Kind::kKeyword) {
      kids.push_back(std::move(kid));
    } else if (kid.name == "axis" || kid.name == "dim") {
      FormulaNode axis = kid.kids[0];
      axis.value = IsNumber(axis, 1) ? -1 : axis.value;
      kids.push_back(std::move(axis));
    }
  }
  node.kids = std::move(kids);
}

// "'bij,bjk->bik'" as "abc_acd_abd": letters in the order in which they come.
std::string EinsumForm(const std::string& subscripts) {
  std::map<char, char> letters;
  std::string form;
  for (const char c : subscripts) {
    if (c >= 'a' && c <= 'z') {
      form += letters.emplace(c, static_cast<char>('a' + letters.size())).first->second;
    } else if (c == ',' || c == '>') {
      form += '_';
    }
  }
  return form;
}

FormulaNode Arithmetic(const std::string& name, FormulaNode left, FormulaNode right) {
  if (name == "subtract") {
    right = Make(Kind::kMultiply, {MakeNumber(-1), std::move(right)});
  } else if (name == "divide") {
    right = Make(Kind::kInverse, {std::move(right)});
  }
  const bool adds = name == "add" || name == "subtract";
  return Make(adds ? Kind::kAdd : Kind::kMultiply, {std::move(left), std::move(right)});
}

// "y.add_(x, alpha=a)" is y = y + a x.
std::optional<FormulaNode> ScaledAdd(const FormulaNode& node) {
  if ((node.name != "add" && node.name != "subtract") || node.kids.size() < 3) {
    return std::nullopt;
  }
  for (const FormulaNode& kid : node.kids) {
    if (kid.kind == Kind::kKeyword && kid.name == "alpha") {
      FormulaNode scaled = Make(Kind::kMultiply, {kid.kids[0], node.kids[1]});
      return Make(Kind::kAssign,
                  {node.kids[0], Arithmetic(node.name, node.kids[0], std::move(scaled))}, "=");
    }
  }
  return std::nullopt;
}

FormulaNode CanonicalCall(FormulaNode node) {
  static const std::set<std::string> kOver = {"sum", "mean", "prod", "max", "min"};
  node.name = FunctionName(node.name);
  const bool is_binary_name = node.name == "max" || node.name == "min";
  if (const std::optional<FormulaNode> scaled = ScaledAdd(node)) {
    return Rewritten(*scaled);
  }
  CanonicalArguments(node);
  const size_t count = node.kids.size();
  static const std::set<std::string> kSame = {
      "contiguous", "ascontiguousarray", "asarray", "array", "squeeze", "item", "float", "to",
      "cuda"};
  if (count >= 1 && kSame.contains(node.name)) {
    return node.kids[0];
  }
  if (node.name == "pow" && count == 2) {
    return Rewritten(Make(Kind::kPower, std::move(node.kids)));
  }
  if (node.name == "square" && count == 1) {
    return Rewritten(Make(Kind::kPower, {node.kids[0], MakeNumber(2)}));
  }
  if (node.name == "reciprocal" && count == 1) {
    return Rewritten(Make(Kind::kInverse, {node.kids[0]}));
  }
  if (node.name == "fma" && count == 3) {
    return Rewritten(
        Make(Kind::kAdd, {Make(Kind::kMultiply, {node.kids[0], node.kids[1]}), node.kids[2]}));
  }
  if (node.name == "atomicAdd" && count == 2) {
    return Rewritten(Make(Kind::kAssign, std::move(node.kids), "+="));
  }
  if (node.name == "transpose" && count == 1) {
    return Make(Kind::kTranspose, std::move(node.kids));
  }
  // The larger of two is no reduction; "max(x, -1)" is one along an axis only by keyword.
  if (node.name == "einsum" && count >= 2 && node.kids[0].kind == Kind::kName) {
    node.name += "_" + EinsumForm(node.kids[0].name);
    node.kids.erase(node.kids.begin());
    return node;
  }
  if (count == 2 && (node.name == "add" || node.name == "subtract" || node.name == "multiply" ||
                     node.name == "divide")) {
    return Rewritten(Arithmetic(node.name, node.kids[0], node.kids[1]));
  }
  if (kOver.contains(node.name) &&
      (count == 1 || (count == 2 && !is_binary_name && node.kids[1].kind == Kind::kNumber))) {
    if (count == 2 && node.kids[1].value == 2) {
      node.kids[1].value = -1;
    }
    node.kind = Kind::kOver;
  }
  return node;
}

// "i*ld + j" is [i][j]; ":" as the only index says nothing.
FormulaNode CanonicalIndex(FormulaNode node) {
  if (node.kids.size() == 2 && node.kids[0].kind == Kind::kName && node.kids[0].name == "E") {
    return Make(Kind::kOver, {node.kids[1]}, "mean");
  }
  if (node.kids.size() == 2 && node.kids[1].kind == Kind::kName && node.kids[1].name == ":") {
    return node.kids[0];
  }
  if (node.kids.size() == 2 && node.kids[1].kind == Kind::kAdd && node.kids[1].kids.size() == 2) {
    const FormulaNode* product = &node.kids[1].kids[0];
    const FormulaNode* column = &node.kids[1].kids[1];
    if (product->kind != Kind::kMultiply) {
      std::swap(product, column);
    }
    if (product->kind == Kind::kMultiply && product->kids.size() == 2 &&
        column->kind == Kind::kName && product->kids[0].kind == Kind::kName &&
        product->kids[1].kind == Kind::kName) {
      const FormulaNode row = product->kids[product->kids[0].name.size() == 1 ? 0 : 1];
      const FormulaNode last = *column;
      node.kids = {node.kids[0], row, last};
    }
  }
  return node;
}

void Collect(const FormulaNode& node, Kind kind, std::vector<const FormulaNode*>& found) {
  if (node.kind == kind) {
    found.push_back(&node);
  }
  for (const FormulaNode& kid : node.kids) {
    Collect(kid, kind, found);
  }
}

// Names of indices that a formula runs over.
std::set<std::string> FreeIndices(const FormulaNode& node) {
  std::vector<const FormulaNode*> indexed;
  Collect(node, Kind::kIndex, indexed);
  std::set<std::string> free;
  for (const FormulaNode* one : indexed) {
    for (size_t i = 1; i < one->kids.size(); ++i) {
      std::vector<const FormulaNode*> names;
      Collect(one->kids[i], Kind::kName, names);
      for (const FormulaNode* name : names) {
        if (name->name.size() == 1 && name->name != ":") {
          free.insert(name->name);
        }
      }
    }
  }
  return free;
}

// "s += x[i]" is the sum over i; "y[i] += x[i]" is y = y + x.
FormulaNode Accumulated(FormulaNode left, FormulaNode right) {
  const std::set<std::string> kept = FreeIndices(left);
  std::set<std::string> summed = FreeIndices(right);
  std::erase_if(summed, [&](const std::string& index) { return kept.contains(index); });
  if (summed.empty()) {
    FormulaNode sum = Rewritten(Make(Kind::kAdd, {left, std::move(right)}));
    return Make(Kind::kAssign, {std::move(left), std::move(sum)}, "=");
  }
  FormulaNode over = Make(Kind::kOver, {std::move(right)}, "sum");
  for (const std::string& index : summed) {
    over.kids.push_back(Make(Kind::kName, {}, index));
  }
  return Make(Kind::kAssign, {std::move(left), std::move(over)}, "=");
}

bool Mentions(const FormulaNode& node, const std::string& name) {
  return (node.kind == Kind::kName && node.name == name) ||
         std::any_of(node.kids.begin(), node.kids.end(),
                     [&](const FormulaNode& kid) { return Mentions(kid, name); });
}

// What does not run with the index stands outside of the sum: "sum_k x[k] / n".
FormulaNode CanonicalOver(FormulaNode node) {
  if (node.kids[0].kind != Kind::kMultiply || node.name != "sum" ||
      (node.kids.size() > 1 && node.kids[1].kind != Kind::kName)) {
    return node;
  }
  std::set<std::string> running;
  for (size_t i = 1; i < node.kids.size(); ++i) {
    running.insert(node.kids[i].name);
  }
  if (running.empty()) {
    running = FreeIndices(node.kids[0]);
  }
  FormulaNode outside = Make(Kind::kMultiply, {});
  FormulaNode inside = Make(Kind::kMultiply, {});
  for (FormulaNode& kid : node.kids[0].kids) {
    const bool runs = running.empty() ||
                      std::any_of(running.begin(), running.end(),
                                  [&](const std::string& index) { return Mentions(kid, index); });
    (runs ? inside : outside).kids.push_back(std::move(kid));
  }
  if (inside.kids.empty() || outside.kids.empty()) {
    inside.kids.insert(inside.kids.end(), outside.kids.begin(), outside.kids.end());
    node.kids[0] = std::move(inside);
    FoldNumbers(node.kids[0]);
    return node;
  }
  FoldNumbers(inside);
  node.kids[0] = std::move(inside);
  outside.kids.push_back(std::move(node));
  return outside;
}

FormulaNode CanonicalAssign(FormulaNode node) {
  FormulaNode left = node.kids[0];
  FormulaNode right = node.kids[1];
  if (node.name == "=") {
    // "s = s + x[i]"
    if (right.kind == Kind::kAdd && left.kind == Kind::kName) {
      const auto own = std::find(right.kids.begin(), right.kids.end(), left);
      if (own != right.kids.end() && !FreeIndices(right).empty()) {
        right.kids.erase(own);
        return Accumulated(std::move(left), Rewritten(std::move(right)));
      }
    }
    return node;
  }
  if (node.name == "-=") {
    right = Make(Kind::kMultiply, {MakeNumber(-1), std::move(right)});
  }
  if (node.name == "+=" || node.name == "-=") {
    return Accumulated(std::move(left), Rewritten(std::move(right)));
  }
  if (node.name == "/=") {
    right = Make(Kind::kInverse, {std::move(right)});
  }
  FormulaNode product = Rewritten(Make(Kind::kMultiply, {left, std::move(right)}));
  return Make(Kind::kAssign, {std::move(left), std::move(product)}, "=");
}

void Strip(FormulaNode& node) {
  if (node.kind == Kind::kIndex && node.kids[0].kind == Kind::kName) {
    FormulaNode name = node.kids[0];
    name.is_array = true;
    node = std::move(name);
  }
  std::for_each(node.kids.begin(), node.kids.end(), Strip);
}

// Where every index is the same list of names, the formula is element by element.
std::optional<std::vector<FormulaNode>> OneIndex(const FormulaNode& node) {
  std::vector<const FormulaNode*> indexed;
  Collect(node, Kind::kIndex, indexed);
  if (indexed.empty()) {
    return std::nullopt;
  }
  const std::vector<FormulaNode> list(indexed[0]->kids.begin() + 1, indexed[0]->kids.end());
  for (const FormulaNode* one : indexed) {
    const bool is_plain = one->kids[0].kind == Kind::kName && one->kids.size() == list.size() + 1 &&
                          std::equal(list.begin(), list.end(), one->kids.begin() + 1) &&
                          std::all_of(list.begin(), list.end(), [](const FormulaNode& index) {
                            return index.kind == Kind::kName;
                          });
    if (!is_plain) {
      return std::nullopt;
    }
  }
  return list;
}

// The sums first: "sum_i x[i] * y[i]" is the sum of x * y.
void StripIndices(FormulaNode& node) {
  for (FormulaNode& kid : node.kids) {
    StripIndices(kid);
  }
  if (node.kind != Kind::kOver || node.kids.size() < 2 || node.kids[1].kind != Kind::kName) {
    return;
  }
  const auto list = OneIndex(node.kids[0]);
  if (list && list->size() + 1 == node.kids.size() &&
      std::is_permutation(list->begin(), list->end(), node.kids.begin() + 1)) {
    Strip(node.kids[0]);
    node.kids.resize(1);
  }
}

void MarkAll(FormulaNode& node, const std::set<std::string>& arrays) {
  node.is_array = node.is_array || (node.kind == Kind::kName && arrays.contains(node.name));
  for (FormulaNode& kid : node.kids) {
    MarkAll(kid, arrays);
  }
}

FormulaNode WithoutIndices(FormulaNode node) {
  StripIndices(node);
  std::vector<const FormulaNode*> overs;
  Collect(node, Kind::kOver, overs);
  const bool runs = std::any_of(overs.begin(), overs.end(), [](const FormulaNode* over) {
    return over->kids.size() > 1 && over->kids[1].kind == Kind::kName;
  });
  // "B = A(idx, :)" takes something from A.
  const bool takes = node.kind == Kind::kAssign && node.kids[0].kind == Kind::kName;
  if (!runs && !takes && OneIndex(node)) {
    Strip(node);
  }
  std::vector<const FormulaNode*> names;
  Collect(node, Kind::kName, names);
  std::set<std::string> arrays;
  for (const FormulaNode* name : names) {
    if (name->is_array) {
      arrays.insert(name->name);
    }
  }
  MarkAll(node, arrays);
  return node;
}

FormulaNode Rewritten(FormulaNode node) {
  for (FormulaNode& kid : node.kids) {
    kid = Rewritten(std::move(kid));
  }
  switch (node.kind) {
    case Kind::kAdd:
      Flatten(node);
      FoldNumbers(node);
      return node;
    case Kind::kMultiply:
      Flatten(node);
      FoldPowers(node);
      FoldNumbers(node);
      return node;
    case Kind::kInverse:
      return CanonicalInverse(std::move(node));
    case Kind::kPower:
      return CanonicalPower(std::move(node));
    case Kind::kCall:
      return CanonicalCall(std::move(node));
    case Kind::kIndex:
      return CanonicalIndex(std::move(node));
    case Kind::kOver:
      return CanonicalOver(std::move(node));
    case Kind::kAssign:
      return CanonicalAssign(std::move(node));
    default:
      return node;
  }
}

// ---- patterns ----

bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}

// "alpha", "c", "1/n": a scalar by its look. `loosely`: any name in small letters.
bool IsScalar(const FormulaNode& node, bool loosely) {
  static const std::set<std::string> kScalars = {
      "alpha", "beta",  "gamma",    "lambda",     "scale",   "factor",    "offset", "gain",
      "shift", "const", "constant", "eps",        "epsilon", "lr",        "dt",     "lo",
      "hi",    "low",   "high",     "tau",        "thr",     "threshold", "cutoff", "loss_scale",
      "sigma", "mu",    "slope",    "bias_value", "pi"};
  switch (node.kind) {
    case Kind::kNumber:
      return true;
    case Kind::kName: {
      if (node.is_array || !IsLower(node.name[0])) {
        return false;
      }
      if (node.name.starts_with("eps")) {
        return true;
      }
      const bool is_letter = node.name.size() == 1 && std::string_view("xyzuvwf").find(
                                                          node.name[0]) == std::string_view::npos;
      return loosely || is_letter || kScalars.contains(node.name);
    }
    case Kind::kMultiply:
      if (!loosely && std::count_if(node.kids.begin(), node.kids.end(), [](const auto& kid) {
                        return kid.kind != Kind::kNumber;
                      }) > 1) {
        return false;  // "alpha * g": one of the two is no scalar
      }
      [[fallthrough]];
    case Kind::kInverse:
    case Kind::kPower:
      return std::all_of(node.kids.begin(), node.kids.end(),
                         [&](const FormulaNode& kid) { return IsScalar(kid, loosely); });
    default:
      return false;
  }
}

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
    FormulaNode left = Make(Kind::kMultiply, {});
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

FormulaNode Canonical(FormulaNode node) {
  return WithoutIndices(Rewritten(std::move(node)));
}

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
  // What is assigned to itself is an array.
  FormulaNode right = formula.kids[1];
  if (formula.kids[0].kind == Kind::kName && Contains(right, formula.kids[0])) {
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
