#ifndef OPTIML_REWRITE_PROGRAM_AFFINE_H_
#define OPTIML_REWRITE_PROGRAM_AFFINE_H_

// Quasi-affine forms of index expressions: constant + sum over dims of coefficient * dim, where
// constant and coefficients are polynomials of scalar parameters ("row*cols + c": row -> cols, c ->
// 1). What does not have this form (a product of two dims, a load inside the index, a division of a
// dim) has none: callers must then refuse or treat it as opaque.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/program/program.h"

namespace optiml::rewrite {

// A polynomial of symbols with integer coefficients: sorted monomials -> coefficient; zero terms
// are absent.
class Polynomial {
 public:
  Polynomial() = default;
  explicit Polynomial(int64_t constant);
  static Polynomial Of(const std::string& symbol);
  // A symbol or atom that ToExpr gives back as `expr`, with its type; named by its text.
  static Polynomial Of(const ExprPtr& expr);

  Polynomial operator+(const Polynomial& other) const;
  Polynomial operator-(const Polynomial& other) const;
  Polynomial operator*(const Polynomial& other) const;
  bool operator==(const Polynomial& other) const { return terms_ == other.terms_; }

  bool IsZero() const { return terms_.empty(); }
  // The value when it is a number.
  std::optional<int64_t> Constant() const;
  std::string Format() const;
  ExprPtr ToExpr() const;
  const std::map<std::vector<std::string>, int64_t>& terms() const { return terms_; }
  // This divided by `divisor` when it divides without rest (symbolically), else nothing. The
  // divisor must be a single term.
  std::optional<Polynomial> DividedBy(const Polynomial& divisor) const;
  // Whether no term has a negative coefficient: then it is >= 0 for sizes, which are >= 0.
  bool IsNonNegative() const;
  // The same for sizes that are all >= 1: also "a*b - b".
  bool IsNonNegativeForPositive() const;

 private:
  std::map<std::vector<std::string>, int64_t> terms_;
  std::map<std::string, ExprPtr> symbols_;  // what the names stand for, where it is known
};

struct Affine {
  std::map<std::string, Polynomial> coefficients;  // by dim; zero ones are absent
  Polynomial constant;

  Polynomial Coefficient(const std::string& dim) const;
  Affine operator+(const Affine& other) const;
  Affine operator-(const Affine& other) const;
  Affine Times(const Polynomial& factor) const;
  bool operator==(const Affine& other) const {
    return constant == other.constant && coefficients == other.coefficients;
  }
};

// `dims` are the symbols treated as index variables; `lets` are expanded where they are integers,
// and what is computed from a float one has no form.
// Casts between integer types are looked through (indices are assumed not to wrap: the emitted code
// keeps the source's index type or proves that 32 bits are enough). Every other symbol counts as
// invariant. An invariant subexpression that is no polynomial ("n / 2") becomes an atom: a symbol
// whose name is its text in parentheses; ToExpr gives it back as it was.
std::optional<Affine> ToAffine(const ExprPtr& index, const std::vector<std::string>& dims,
                               const std::vector<Let>& lets = {});

// The polynomial of an expression of scalar parameters and constants (an extent, say).
std::optional<Polynomial> ToPolynomial(const ExprPtr& expr);

// "row*cols + c": dims in the given order, then the constant.
std::string FormatAffine(const Affine& affine, const std::vector<std::string>& dims);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_PROGRAM_AFFINE_H_
