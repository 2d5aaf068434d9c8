#include "rewrite/program/affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace optiml::rewrite {

namespace {

// Products of sums grow without bound; no index that a person wrote has this many terms.
constexpr size_t kMaxTerms = 200;

int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

std::string FormatMonomial(const std::vector<std::string>& monomial, int64_t magnitude) {
  std::string text = magnitude == 1 && !monomial.empty() ? "" : std::to_string(magnitude);
  for (const std::string& symbol : monomial) {
    text += (text.empty() ? "" : "*") + symbol;
  }
  return text;
}

void Append(std::string* sum, const std::string& term, bool negative) {
  if (sum->empty()) {
    *sum = (negative ? "-" : "") + term;
  } else {
    *sum += (negative ? " - " : " + ") + term;
  }
}

bool IsIndexType(Scalar type) {
  return type == Scalar::kI32 || type == Scalar::kU32 || type == Scalar::kI64 ||
         type == Scalar::kU64;
}

class AffineBuilder {
 public:
  AffineBuilder(const std::vector<std::string>& dims, const std::vector<Let>& lets)
      : dims_(dims.begin(), dims.end()) {
    for (const Let& let : lets) {
      lets_[let.name] = let.value;
    }
  }

  std::optional<Affine> Build(const ExprPtr& expr) {
    std::optional<Affine> affine = BuildNode(expr);
    return affine ? affine : Atom(expr);
  }

 private:
  static Affine Of(Polynomial constant) { return Affine{{}, std::move(constant)}; }

  // An invariant subexpression that is no polynomial. Loads vary with what they load: no atom.
  std::optional<Affine> Atom(const ExprPtr& expr) {
    if (IsFloatScalar(expr->type)) {
      return std::nullopt;
    }
    bool invariant = true;
    Visit(expr, [&](const Expr& node) {
      invariant &= node.kind != ExprKind::kLoad && node.kind != ExprKind::kFloat &&
                   (node.kind != ExprKind::kSymbol ||
                    (!dims_.contains(node.name) && !lets_.contains(node.name)));
    });
    if (!invariant) {
      return std::nullopt;
    }
    return Of(Polynomial::Of(expr));
  }

  std::optional<Affine> BuildNode(const ExprPtr& expr) {
    switch (expr->kind) {
      case ExprKind::kInt:
        return Of(Polynomial(expr->int_value));
      case ExprKind::kSymbol:
        return OfSymbol(expr);
      case ExprKind::kCast:
        // Narrow and bool casts change values; those between index types do not (see the header).
        if (!IsIndexType(expr->type) || IsFloatScalar(expr->operands[0]->type)) {
          return std::nullopt;
        }
        return Build(expr->operands[0]);
      case ExprKind::kUnary: {
        if (expr->op != "-") {
          return std::nullopt;
        }
        const std::optional<Affine> operand = Build(expr->operands[0]);
        return operand ? std::optional(Affine() - *operand) : std::nullopt;
      }
      case ExprKind::kCall:
        if ((expr->name == "__mul24" || expr->name == "__umul24") && expr->operands.size() == 2) {
          return Product(expr->operands[0], expr->operands[1]);
        }
        return std::nullopt;
      case ExprKind::kBinary:
        return OfBinary(*expr);
      case ExprKind::kFloat:
      case ExprKind::kLoad:
      case ExprKind::kSelect:
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Affine> OfSymbol(const ExprPtr& symbol) {
    const Expr& expr = *symbol;
    if (IsFloatScalar(expr.type)) {
      return std::nullopt;
    }
    if (dims_.contains(expr.name)) {
      return Affine{{{expr.name, Polynomial(1)}}, Polynomial()};
    }
    const auto let = lets_.find(expr.name);
    if (let == lets_.end()) {
      return Of(Polynomial::Of(symbol));
    }
    const auto known = expanded_.find(expr.name);
    if (known != expanded_.end()) {
      return known->second;
    }
    const std::optional<Affine> affine = Build(let->second);
    expanded_[expr.name] = affine;
    return affine;
  }

  std::optional<Affine> OfBinary(const Expr& expr) {
    if (expr.op == "*") {
      return Product(expr.operands[0], expr.operands[1]);
    }
    if (expr.op == "<<") {
      const ExprPtr& shift = expr.operands[1];
      if (shift->kind != ExprKind::kInt || shift->int_value < 0 || shift->int_value > 62) {
        return std::nullopt;
      }
      const std::optional<Affine> left = Build(expr.operands[0]);
      return left ? std::optional(left->Times(Polynomial(int64_t{1} << shift->int_value)))
                  : std::nullopt;
    }
    if (expr.op != "+" && expr.op != "-") {
      return std::nullopt;
    }
    const std::optional<Affine> left = Build(expr.operands[0]);
    const std::optional<Affine> right = Build(expr.operands[1]);
    if (!left || !right) {
      return std::nullopt;
    }
    return expr.op == "+" ? *left + *right : *left - *right;
  }

  std::optional<Affine> Product(const ExprPtr& a, const ExprPtr& b) {
    const std::optional<Affine> left = Build(a);
    const std::optional<Affine> right = Build(b);
    if (!left || !right || (!left->coefficients.empty() && !right->coefficients.empty())) {
      return std::nullopt;
    }
    const Affine& varying = left->coefficients.empty() ? *right : *left;
    const Polynomial& factor = left->coefficients.empty() ? left->constant : right->constant;
    size_t terms = varying.constant.terms().size();
    for (const auto& [dim, coefficient] : varying.coefficients) {
      terms += coefficient.terms().size();
    }
    if (terms * factor.terms().size() > kMaxTerms) {
      return std::nullopt;
    }
    return varying.Times(factor);
  }

  std::set<std::string> dims_;
  std::map<std::string, ExprPtr> lets_;
  std::map<std::string, std::optional<Affine>> expanded_;
};

}  // namespace

Polynomial::Polynomial(int64_t constant) {
  if (constant != 0) {
    terms_[{}] = constant;
  }
}

Polynomial Polynomial::Of(const std::string& symbol) {
  Polynomial made;
  made.terms_[{symbol}] = 1;
  return made;
}

Polynomial Polynomial::Of(const ExprPtr& expr) {
  const std::string name = expr->kind == ExprKind::kSymbol ? expr->name : "(" + Print(expr) + ")";
  Polynomial made = Of(name);
  made.symbols_[name] = expr;
  return made;
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial sum = *this;
  sum.symbols_.insert(other.symbols_.begin(), other.symbols_.end());
  for (const auto& [monomial, coefficient] : other.terms_) {
    int64_t& term = sum.terms_[monomial];
    term = WrappingAdd(term, coefficient);
    if (term == 0) {
      sum.terms_.erase(monomial);
    }
  }
  return sum;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
  return *this + other * Polynomial(-1);
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial product;
  product.symbols_ = symbols_;
  product.symbols_.insert(other.symbols_.begin(), other.symbols_.end());
  for (const auto& [a, a_coefficient] : terms_) {
    for (const auto& [b, b_coefficient] : other.terms_) {
      std::vector<std::string> monomial;
      std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(monomial));
      int64_t& term = product.terms_[monomial];
      term = WrappingAdd(term, WrappingMultiply(a_coefficient, b_coefficient));
      if (term == 0) {
        product.terms_.erase(monomial);
      }
    }
  }
  return product;
}

std::optional<int64_t> Polynomial::Constant() const {
  if (terms_.empty()) {
    return 0;
  }
  if (terms_.size() == 1 && terms_.begin()->first.empty()) {
    return terms_.begin()->second;
  }
  return std::nullopt;
}

std::optional<Polynomial> Polynomial::DividedBy(const Polynomial& divisor) const {
  if (divisor.terms_.size() != 1) {
    return *this == divisor ? std::optional(Polynomial(1)) : std::nullopt;
  }
  const auto& [by, by_coefficient] = *divisor.terms_.begin();
  Polynomial quotient;
  quotient.symbols_ = symbols_;
  for (const auto& [monomial, coefficient] : terms_) {
    if (coefficient % by_coefficient != 0 ||
        !std::includes(monomial.begin(), monomial.end(), by.begin(), by.end())) {
      return std::nullopt;
    }
    std::vector<std::string> rest;
    std::set_difference(monomial.begin(), monomial.end(), by.begin(), by.end(),
                        std::back_inserter(rest));
    quotient.terms_[rest] = coefficient / by_coefficient;
  }
  return quotient;
}

bool Polynomial::IsNonNegative() const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [](const auto& term) { return term.second >= 0; });
}

bool Polynomial::IsNonNegativeForPositive() const {
  // With every symbol s as 1 + s', s' >= 0.
  Polynomial shifted;
  for (const auto& [monomial, coefficient] : terms_) {
    Polynomial product(coefficient);
    for (const std::string& symbol : monomial) {
      product = product * (Of(symbol) + Polynomial(1));
    }
    shifted = shifted + product;
  }
  return shifted.IsNonNegative();
}

std::string Polynomial::Format() const {
  std::string text;
  // Terms with symbols first, the number last: "n - 2".
  for (const bool numbers : {false, true}) {
    for (const bool negative : {false, true}) {
      for (const auto& [monomial, coefficient] : terms_) {
        if (monomial.empty() == numbers && (coefficient < 0) == negative) {
          Append(&text, FormatMonomial(monomial, negative ? -coefficient : coefficient), negative);
        }
      }
    }
  }
  return text.empty() ? "0" : text;
}

ExprPtr Polynomial::ToExpr() const {
  const auto wider = [](Scalar a, Scalar b) {
    for (const Scalar type : {Scalar::kU64, Scalar::kI64, Scalar::kU32}) {
      if (a == type || b == type) {
        return type;
      }
    }
    return Scalar::kI32;
  };
  const auto join = [&](const char* op, const ExprPtr& a, const ExprPtr& b) {
    const Scalar type = wider(a->type, b->type);
    return Binary(op, a->type == type ? a : Cast(type, a), b->type == type ? b : Cast(type, b),
                  type);
  };
  ExprPtr sum;
  for (const bool numbers : {false, true}) {
    for (const bool negative : {false, true}) {
      for (const auto& [monomial, coefficient] : terms_) {
        if (monomial.empty() != numbers || (coefficient < 0) != negative) {
          continue;
        }
        const int64_t magnitude = negative ? -coefficient : coefficient;
        const Scalar literal = magnitude > INT32_MAX ? Scalar::kI64 : Scalar::kI32;
        ExprPtr term = magnitude == 1 && !monomial.empty() ? nullptr : Int(magnitude, literal);
        for (const std::string& symbol : monomial) {
          const auto known = symbols_.find(symbol);
          const ExprPtr factor =
              known == symbols_.end() ? Symbol(symbol, Scalar::kI32) : known->second;
          term = term == nullptr ? factor : join("*", term, factor);
        }
        if (sum != nullptr) {
          sum = join(negative ? "-" : "+", sum, term);
        } else if (negative) {
          sum = term->kind == ExprKind::kInt ? Int(-magnitude, literal) : Unary("-", term);
        } else {
          sum = term;
        }
      }
    }
  }
  return sum == nullptr ? Int(0) : sum;
}

Polynomial Affine::Coefficient(const std::string& dim) const {
  const auto found = coefficients.find(dim);
  return found == coefficients.end() ? Polynomial() : found->second;
}

Affine Affine::operator+(const Affine& other) const {
  Affine sum = *this;
  sum.constant = sum.constant + other.constant;
  for (const auto& [dim, coefficient] : other.coefficients) {
    const Polynomial total = sum.Coefficient(dim) + coefficient;
    if (total.IsZero()) {
      sum.coefficients.erase(dim);
    } else {
      sum.coefficients[dim] = total;
    }
  }
  return sum;
}

Affine Affine::operator-(const Affine& other) const {
  return *this + other.Times(Polynomial(-1));
}

Affine Affine::Times(const Polynomial& factor) const {
  Affine product;
  product.constant = constant * factor;
  for (const auto& [dim, coefficient] : coefficients) {
    const Polynomial scaled = coefficient * factor;
    if (!scaled.IsZero()) {
      product.coefficients[dim] = scaled;
    }
  }
  return product;
}

std::optional<Affine> ToAffine(const ExprPtr& index, const std::vector<std::string>& dims,
                               const std::vector<Let>& lets) {
  if (index == nullptr) {
    return std::nullopt;
  }
  return AffineBuilder(dims, lets).Build(index);
}

std::optional<Polynomial> ToPolynomial(const ExprPtr& expr) {
  const std::optional<Affine> affine = ToAffine(expr, {});
  return affine ? std::optional(affine->constant) : std::nullopt;
}

std::string FormatAffine(const Affine& affine, const std::vector<std::string>& dims) {
  std::string text;
  for (const std::string& dim : dims) {
    const Polynomial coefficient = affine.Coefficient(dim);
    if (coefficient.IsZero()) {
      continue;
    }
    if (coefficient.terms().size() > 1) {
      Append(&text, fmt::format("{}*({})", dim, coefficient.Format()), false);
      continue;
    }
    const auto& [monomial, number] = *coefficient.terms().begin();
    const std::string factor =
        number == 1 || number == -1 ? "" : fmt::format("{}*", number < 0 ? -number : number);
    std::string term = factor + dim;
    for (const std::string& symbol : monomial) {
      term += "*" + symbol;
    }
    Append(&text, term, number < 0);
  }
  for (const bool numbers : {false, true}) {
    for (const auto& [monomial, number] : affine.constant.terms()) {
      if (monomial.empty() == numbers) {
        Append(&text, FormatMonomial(monomial, number < 0 ? -number : number), number < 0);
      }
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace optiml::rewrite
