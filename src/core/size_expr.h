#ifndef OPTIML_CORE_SIZE_EXPR_H_
#define OPTIML_CORE_SIZE_EXPR_H_

// SizeExpr: an integer expression of size names, as task.toml writes extents, byte counts and
// launch shapes:
//   expr := term (('+'|'-') term)* ; term := factor (('*'|'/'|'%') factor)* ; factor := number |
//   name | '(' expr ')'
//         | '-' factor | ('min'|'max'|'ceil_div') '(' expr ',' expr ')'
// Division truncates towards zero. Every operation is checked: overflow of int64 and division by
// zero are Errors.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml {

// Size name -> value.
using SizeBindings = std::map<std::string, int64_t>;

class SizeExpr {
 public:
  SizeExpr() : SizeExpr(0) {}
  explicit SizeExpr(int64_t constant);
  // Fails with the column and what was expected.
  static Result<SizeExpr> Parse(std::string_view text);

  // Fails on a name that has no binding, on overflow and on division by zero; the message quotes
  // the expression.
  Result<int64_t> Evaluate(const SizeBindings& sizes) const;

  // Names in order of first appearance.
  std::vector<std::string> Names() const;
  const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace optiml

#endif  // OPTIML_CORE_SIZE_EXPR_H_
