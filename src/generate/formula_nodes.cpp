#include "generate/formula_nodes.h"

#include <algorithm>

#include "generate/characters.h"

namespace optiml {
namespace {

using Kind = FormulaNode::Kind;

}  // namespace

FormulaNode MakeNode(Kind kind, std::vector<FormulaNode> kids, std::string name) {
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
  return MakeNode(Kind::kName, {}, std::move(name));
}

bool IsNumber(const FormulaNode& node, double value) {
  return node.kind == Kind::kNumber && node.value == value;
}

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

bool IsWordLike(const FormulaNode& node) {
  static const std::set<std::string> kSymbols = {"mu",  "eps", "alpha", "beta", "gamma", "sigma",
                                                 "psi", "phi", "dt",    "dx",   "lambda"};
  return node.kind == Kind::kName &&
         (node.name.size() > 8 ||
          (node.name.size() > 2 &&
           node.name.find_first_of("_0123456789$%@&") == std::string::npos &&
           !kSymbols.contains(node.name)));
}

bool IsArithmetic(const std::string& name) {
  static const std::set<std::string> kNames = {
      "select", "linear", "cdist", "pdist2", "mm",    "matmul", "mv",   "dot",  "vdot",
      "inner",  "outer",  "bmm",   "add",    "add_",  "sub",    "sub_", "mul",  "mul_",
      "div",    "div_",   "pow",   "einsum", "where", "mtimes", "clip", "clamp"};
  return kNames.contains(name);
}

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
      if (node.name != "=") {
        return true;  // "y *= 2"
      }
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

void Collect(const FormulaNode& node, Kind kind, std::vector<const FormulaNode*>& found) {
  if (node.kind == kind) {
    found.push_back(&node);
  }
  for (const FormulaNode& kid : node.kids) {
    Collect(kid, kind, found);
  }
}

void MarkAll(FormulaNode& node, const std::set<std::string>& arrays) {
  node.is_array = node.is_array || (node.kind == Kind::kName && arrays.contains(node.name));
  for (FormulaNode& kid : node.kids) {
    MarkAll(kid, arrays);
  }
}

}  // namespace optiml
