// idx / cols and idx % cols of an idx in [0, rows*cols): two dims.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "rewrite/lift/points.h"
#include "rewrite/program/affine.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

// floor(index / low) modulo (high / low): the digits of the index from weight low up to weight
// high.
struct Digits {
  Polynomial low;
  Polynomial high;
};

class Splitter {
 public:
  Splitter(const Dim& dim, Polynomial extent) : dim_(dim), extent_(std::move(extent)) {
    boundaries_ = {Polynomial(1), extent_};
  }

  // What `expr` is as digits of the dim, when it is the dim taken apart by / and %.
  std::optional<Digits> DigitsOf(const ExprPtr& expr) const {
    if (expr->kind == ExprKind::kSymbol && expr->name == dim_.name) {
      return Digits{Polynomial(1), extent_};
    }
    if (expr->kind == ExprKind::kCast && !IsFloatScalar(expr->type) &&
        ScalarBytes(expr->type) >= 4 && expr->type != Scalar::kBool) {
      return DigitsOf(expr->operands[0]);
    }
    if (expr->kind == ExprKind::kBinary && expr->op == "-") {
      return RemainderOf(expr);
    }
    if (expr->kind != ExprKind::kBinary || (expr->op != "/" && expr->op != "%")) {
      return std::nullopt;
    }
    const std::optional<Digits> inner = DigitsOf(expr->operands[0]);
    if (!inner) {
      return std::nullopt;
    }
    const std::optional<Polynomial> by = ToPolynomial(expr->operands[1]);
    if (!by || by->terms().size() != 1 || !by->IsNonNegative() || !OnlyParameters(*by)) {
      return std::nullopt;
    }
    const Polynomial weight = inner->low * *by;
    return expr->op == "/" ? Digits{weight, inner->high} : Digits{inner->low, weight};
  }

  void Collect(const ExprPtr& expr) {
    if (const std::optional<Digits> digits = DigitsOf(expr)) {
      Add(digits->low);
      Add(digits->high);
    }
    for (const ExprPtr& operand : expr->operands) {
      Collect(operand);
    }
  }

  // Sorts the boundaries so that each divides the next; false when they are no such chain.
  bool Order() {
    std::vector<Polynomial> chain = {Polynomial(1)};
    std::vector<Polynomial> rest;
    for (const Polynomial& boundary : boundaries_) {
      if (!(boundary == chain[0])) {
        rest.push_back(boundary);
      }
    }
    while (!rest.empty()) {
      const auto next = std::find_if(rest.begin(), rest.end(), [&](const Polynomial& candidate) {
        return candidate.DividedBy(chain.back()) &&
               std::all_of(rest.begin(), rest.end(), [&](const Polynomial& other) {
                 return other.DividedBy(candidate).has_value();
               });
      });
      if (next == rest.end()) {
        return false;
      }
      chain.push_back(*next);
      rest.erase(next);
    }
    boundaries_ = chain;
    return chain.back() == extent_ && chain.size() > 2;
  }

  // Dims, the fastest first.
  void MakeDims(int* next_id) {
    for (size_t i = 0; i + 1 < boundaries_.size(); ++i) {
      Dim dim = dim_;
      dim.name = fmt::format("{}#{}", dim_.name.substr(0, dim_.name.find('#')), (*next_id)++);
      dim.extent = boundaries_[i + 1].DividedBy(boundaries_[i])->ToExpr();
      dims_.push_back(dim);
    }
  }

  ExprPtr Rewrite(const ExprPtr& expr) const {
    if (const std::optional<Digits> digits = DigitsOf(expr)) {
      ExprPtr sum;
      for (size_t i = dims_.size(); i > 0; --i) {
        const Polynomial& weight = boundaries_[i - 1];
        const bool inside = IndexOf(digits->low) <= i - 1 && i - 1 < IndexOf(digits->high);
        if (!inside) {
          continue;
        }
        const ExprPtr factor = weight.DividedBy(digits->low)->ToExpr();
        const ExprPtr term =
            Arithmetic("*", Symbol(dims_[i - 1].name, dims_[i - 1].extent->type), factor);
        sum = sum == nullptr ? term : Arithmetic("+", sum, term);
      }
      return Convert(expr->type, sum == nullptr ? Int(0) : sum);
    }
    std::vector<ExprPtr> operands;
    bool changed = false;
    for (const ExprPtr& operand : expr->operands) {
      operands.push_back(Rewrite(operand));
      changed |= operands.back() != operand;
    }
    if (!changed) {
      return expr;
    }
    Expr copy = *expr;
    copy.operands = std::move(operands);
    return Reduced(Simplify(std::make_shared<const Expr>(std::move(copy))));
  }

  std::vector<Dim>& dims() { return dims_; }

 private:
  // x - x / by * by, with the factors in any order: x % by.
  std::optional<Digits> RemainderOf(const ExprPtr& expr) const {
    const std::optional<Digits> whole = DigitsOf(expr->operands[0]);
    if (!whole) {
      return std::nullopt;
    }
    std::optional<Digits> quotient;
    Polynomial by(1);
    std::vector<ExprPtr> factors = {expr->operands[1]};
    while (!factors.empty()) {
      const ExprPtr factor = factors.back();
      factors.pop_back();
      if (const std::optional<Digits> digits = DigitsOf(factor)) {
        if (quotient) {
          return std::nullopt;
        }
        quotient = digits;
      } else if (factor->kind == ExprKind::kBinary && factor->op == "*") {
        factors.insert(factors.end(), factor->operands.begin(), factor->operands.end());
      } else if (const std::optional<Polynomial> value = ToPolynomial(factor);
                 value && OnlyParameters(*value)) {
        by = by * *value;
      } else {
        return std::nullopt;
      }
    }
    if (!quotient || !(quotient->low == whole->low * by) || !(quotient->high == whole->high)) {
      return std::nullopt;
    }
    return Digits{whole->low, quotient->low};
  }

  // idx - row * cols is the column, when nothing else is left.
  ExprPtr Reduced(const ExprPtr& expr) const {
    if (expr->kind != ExprKind::kBinary || expr->op != "-" || IsFloatScalar(expr->type)) {
      return expr;
    }
    std::vector<std::string> names;
    for (const Dim& dim : dims_) {
      names.push_back(dim.name);
    }
    const std::optional<Affine> affine = ToAffine(expr, names);
    if (!affine || affine->coefficients.size() != 1 || !affine->constant.IsZero() ||
        affine->coefficients.begin()->second.Constant() != 1) {
      return expr;
    }
    const std::string& name = affine->coefficients.begin()->first;
    for (const Dim& dim : dims_) {
      if (dim.name == name) {
        return Convert(expr->type, Symbol(name, dim.extent->type));
      }
    }
    return expr;
  }

  static bool OnlyParameters(const Polynomial& polynomial) {
    for (const auto& [monomial, coefficient] : polynomial.terms()) {
      for (const std::string& symbol : monomial) {
        if (symbol.find_first_of("#@.") != std::string::npos) {
          return false;
        }
      }
    }
    return true;
  }

  void Add(const Polynomial& boundary) {
    if (std::find(boundaries_.begin(), boundaries_.end(), boundary) == boundaries_.end()) {
      boundaries_.push_back(boundary);
    }
  }

  size_t IndexOf(const Polynomial& boundary) const {
    return static_cast<size_t>(std::find(boundaries_.begin(), boundaries_.end(), boundary) -
                               boundaries_.begin());
  }

  const Dim& dim_;
  Polynomial extent_;
  std::vector<Polynomial> boundaries_;
  std::vector<Dim> dims_;
};

ExprPtr WithoutCasts(ExprPtr expr) {
  while (expr->kind == ExprKind::kCast) {
    expr = expr->operands[0];
  }
  return expr;
}

}  // namespace

std::string HintFor(const ExprPtr& value, const std::vector<NameHint>& hints,
                    const std::string& otherwise) {
  // A variable that always had this value names it better than one that was used for several.
  for (const bool only_once : {true, false}) {
    for (const NameHint& hint : hints) {
      if (Equal(WithoutCasts(hint.value), value) &&
          (!only_once || std::count_if(hints.begin(), hints.end(), [&](const NameHint& other) {
                           return other.name == hint.name;
                         }) == 1)) {
        return hint.name;
      }
    }
  }
  return otherwise;
}

std::vector<Dim> SplitDim(const Dim& dim, std::vector<Event>* events,
                          const std::vector<NameHint>& hints, int* next_id) {
  const std::optional<Polynomial> extent = ToPolynomial(dim.extent);
  if (!extent || extent->terms().size() != 1) {
    return {dim};
  }
  Splitter splitter(dim, *extent);
  VisitEvents(*events, [&](const ExprPtr& expr) { splitter.Collect(expr); });
  if (!splitter.Order()) {
    return {dim};
  }
  splitter.MakeDims(next_id);
  RewriteEvents(events, [&](const ExprPtr& expr) { return splitter.Rewrite(expr); });
  std::vector<Dim> dims = splitter.dims();
  std::map<std::string, ExprPtr> renamed;
  std::vector<NameHint> rewritten;
  for (const NameHint& hint : hints) {
    rewritten.push_back({hint.name, splitter.Rewrite(hint.value)});
  }
  for (Dim& part : dims) {
    const std::string name = HintFor(Symbol(part.name, part.extent->type), rewritten, "");
    if (!name.empty()) {
      const std::string internal = fmt::format("{}#{}", name, (*next_id)++);
      renamed[part.name] = Symbol(internal, part.extent->type);
      part.name = internal;
    }
  }
  RewriteEvents(events, [&](const ExprPtr& expr) { return Substitute(expr, renamed); });
  std::reverse(dims.begin(), dims.end());
  return dims;
}

}  // namespace optiml::rewrite::lifting
