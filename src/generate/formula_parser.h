#ifndef OPTIML_GENERATE_FORMULA_PARSER_H_
#define OPTIML_GENERATE_FORMULA_PARSER_H_

// From signs to trees; what one tree means is in formula_canonical.cpp. Private to formula*.cpp.

#include <optional>
#include <vector>

#include "generate/formula.h"
#include "generate/formula_lexer.h"

namespace optiml {

// The longest formula that begins at `begin`; `end` is the sign after it.
std::optional<FormulaNode> ParseFormula(const std::vector<Sign>& signs, size_t begin, size_t& end);

}  // namespace optiml

#endif  // OPTIML_GENERATE_FORMULA_PARSER_H_
