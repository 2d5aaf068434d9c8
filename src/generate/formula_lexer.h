#ifndef OPTIML_GENERATE_FORMULA_LEXER_H_
#define OPTIML_GENERATE_FORMULA_LEXER_H_

// A formula's signs: numbers, names, operators. Private to formula*.cpp.

#include <string>
#include <string_view>
#include <vector>

namespace optiml {

struct Sign {
  enum class Kind { kNumber, kName, kSign, kOther };
  Kind kind = Kind::kOther;
  std::string text;
  size_t begin = 0;
  size_t end = 0;
  bool after_space = false;
};

// Marks of names ("$a") are read in patterns alone. Never fails: what is no sign of a formula is
// kOther.
std::vector<Sign> ReadSigns(std::string_view text, bool is_pattern);

}  // namespace optiml

#endif  // OPTIML_GENERATE_FORMULA_LEXER_H_
