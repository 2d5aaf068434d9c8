#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "generate/formula.h"
#include "generate/formula_nodes.h"

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

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
      node.kids[i] = MakeNode(Kind::kPower, {node.kids[i], MakeNumber(times)});
    }
  }
}

FormulaNode CanonicalPower(FormulaNode node) {
  if (node.kids[1].kind == Kind::kNumber) {
    const double exponent = node.kids[1].value;
    if (exponent == 0.5 || exponent == -0.5) {
      return MakeNode(Kind::kCall, {node.kids[0]}, exponent > 0 ? "sqrt" : "rsqrt");
    }
    if (exponent == 1) {
      return node.kids[0];
    }
    if (exponent == -1) {
      return MakeNode(Kind::kInverse, {node.kids[0]});
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
    return MakeNode(Kind::kCall, of.kids, "rsqrt");
  }
  if (of.kind == Kind::kMultiply) {
    FormulaNode product = MakeNode(Kind::kMultiply, {});
    for (const FormulaNode& kid : of.kids) {
      product.kids.push_back(Rewritten(MakeNode(Kind::kInverse, {kid})));
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
    right = MakeNode(Kind::kMultiply, {MakeNumber(-1), std::move(right)});
  } else if (name == "divide") {
    right = MakeNode(Kind::kInverse, {std::move(right)});
  }
  const bool adds = name == "add" || name == "subtract";
  return MakeNode(adds ? Kind::kAdd : Kind::kMultiply, {std::move(left), std::move(right)});
}

// "y.add_(x, alpha=a)" is y = y + a x.
std::optional<FormulaNode> ScaledAdd(const FormulaNode& node) {
  if ((node.name != "add" && node.name != "subtract") || node.kids.size() < 3) {
    return std::nullopt;
  }
  for (const FormulaNode& kid : node.kids) {
    if (kid.kind == Kind::kKeyword && kid.name == "alpha") {
      FormulaNode scaled = MakeNode(Kind::kMultiply, {kid.kids[0], node.kids[1]});
      return MakeNode(Kind::kAssign,
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
    return Rewritten(MakeNode(Kind::kPower, std::move(node.kids)));
  }
  if (node.name == "square" && count == 1) {
    return Rewritten(MakeNode(Kind::kPower, {node.kids[0], MakeNumber(2)}));
  }
  if (node.name == "reciprocal" && count == 1) {
    return Rewritten(MakeNode(Kind::kInverse, {node.kids[0]}));
  }
  if (node.name == "fma" && count == 3) {
    return Rewritten(MakeNode(
        Kind::kAdd, {MakeNode(Kind::kMultiply, {node.kids[0], node.kids[1]}), node.kids[2]}));
  }
  if (node.name == "atomicAdd" && count == 2) {
    return Rewritten(MakeNode(Kind::kAssign, std::move(node.kids), "+="));
  }
  if (node.name == "transpose" && count == 1) {
    return MakeNode(Kind::kTranspose, std::move(node.kids));
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
    return MakeNode(Kind::kOver, {node.kids[1]}, "mean");
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
    FormulaNode sum = Rewritten(MakeNode(Kind::kAdd, {left, std::move(right)}));
    return MakeNode(Kind::kAssign, {std::move(left), std::move(sum)}, "=");
  }
  FormulaNode over = MakeNode(Kind::kOver, {std::move(right)}, "sum");
  for (const std::string& index : summed) {
    over.kids.push_back(MakeNode(Kind::kName, {}, index));
  }
  return MakeNode(Kind::kAssign, {std::move(left), std::move(over)}, "=");
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
  FormulaNode outside = MakeNode(Kind::kMultiply, {});
  FormulaNode inside = MakeNode(Kind::kMultiply, {});
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
    right = MakeNode(Kind::kMultiply, {MakeNumber(-1), std::move(right)});
  }
  if (node.name == "+=" || node.name == "-=") {
    return Accumulated(std::move(left), Rewritten(std::move(right)));
  }
  if (node.name == "/=") {
    right = MakeNode(Kind::kInverse, {std::move(right)});
  }
  FormulaNode product = Rewritten(MakeNode(Kind::kMultiply, {left, std::move(right)}));
  return MakeNode(Kind::kAssign, {std::move(left), std::move(product)}, "=");
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

}  // namespace

FormulaNode Canonical(FormulaNode node) {
  return WithoutIndices(Rewritten(std::move(node)));
}

}  // namespace optiml
