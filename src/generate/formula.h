#ifndef OPTIML_GENERATE_FORMULA_H_
#define OPTIML_GENERATE_FORMULA_H_

// Formulas in a sentence, as a programmer types them: C, numpy, MATLAB, PyTorch.
//
//   y[i] = x[i] > 0 ? x[i] : 0.01f*x[i]      C = A .* B      s += x[i]*y[i]      sum_k A[i][k]
//
// A formula becomes a tree in one form: fmaxf, np.maximum and max are one name, x*x, x**2 and
// x.^2 one power, a - b is a + (-1)b, a / b is a times the inverse of b, s += is a sum, an index
// that stands everywhere is left out. A pattern of a contract is a formula as well; its names stand
// for any names. Private to matcher.cpp and contract.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace optiml {

struct FormulaNode {
  enum class Kind {
    kNumber,    // value
    kName,      // name
    kIndex,     // kids: what is indexed, then the indices
    kCall,      // name, kids
    kOver,      // name "sum", "max" ...; kids: the body, then indices or an axis
    kAdd,       // kids, in any order
    kMultiply,  // kids; the order holds where one is transposed
    kInverse,   // 1 / kid
    kPower,     // kids: base, exponent
    kCompare,   // name ">" or ">=" or "=="; kids: two
    kSelect,    // kids: condition, then, else
    kTranspose,
    kMatmul,   // kids: left, right; A @ B
    kKeyword,  // name = kid, in the arguments of a call
    kAssign,   // kids: left, right
  };
  Kind kind = Kind::kNumber;
  std::string name;
  double value = 0;
  bool is_array = false;  // a name that was indexed, or stands beside ".*"
  std::vector<FormulaNode> kids;

  friend bool operator==(const FormulaNode&, const FormulaNode&) = default;
};

struct Formula {
  size_t begin = 0;  // of the text
  size_t end = 0;
  FormulaNode root;
};

// All formulas of a sentence, from left to right. Prose is none: "row-wise", "bias + relu",
// "4096*1024", "lo/hi". Text after kMostFormulaText is not read. Never fails.
std::vector<Formula> FindFormulas(std::string_view text);
inline constexpr size_t kMostFormulaText = 2000;

// A pattern: the text must be one formula, or one call. Its names:
//   x        any name            X        one that begins with a capital and is no array
//   $a       a scalar by its look: a number, alpha, c, 1/n
//   %a       what may be a scalar: any name in small letters that was not indexed
//   @x       an array: indexed, or beside ".*"
//   &v       a vector: an array or a name in small letters
// Fails with an empty vector.
std::vector<FormulaNode> ParsePattern(std::string_view text);

// Whether a formula has the form of a pattern: one name of the pattern is one name of the formula,
// and different ones are different. A pattern that assigns nothing fits the right side of any.
bool Fits(const FormulaNode& pattern, const FormulaNode& formula);

// A value of one number, as "1/n" and "2*r + 1": no operator.
bool IsValue(const FormulaNode& node);

// One form for what means the same.
FormulaNode Canonical(FormulaNode node);

// For tests and messages: "(+ (* a x) y)".
std::string FormatFormula(const FormulaNode& node);

}  // namespace optiml

#endif  // OPTIML_GENERATE_FORMULA_H_
