#ifndef OPTIML_GENERATE_TOKENS_H_
#define OPTIML_GENERATE_TOKENS_H_

// From characters to tokens, before any word is known: lower case, stems, numbers with suffixes,
// operators of formulas. Private to words.cpp and the contracts' phrases.

#include <string>
#include <string_view>
#include <vector>

#include "generate/words.h"

namespace optiml {

// Signs of formulas that are no ASCII become ASCII; the case of letters stays.
std::string PlainSigns(std::string_view text);

// Where a formula of the text begins and ends: its tokens get the numbers 0, 1 ...
inline constexpr char kFormulaBegin = '\x01';
inline constexpr char kFormulaEnd = '\x02';
// After the extents of a tuple: what follows is another shape.
inline constexpr char kListEnd = '\x03';

// Parentheses, quotes and commas are left out; letters that are not ASCII make a word of their own.
std::vector<Token> SplitText(std::string_view text);

// Joins "4 million" to one number, and "8192 x 8192", "8192 by 8192" and "512^3" to shapes.
void JoinNumbers(std::vector<Token>& tokens);

}  // namespace optiml

#endif  // OPTIML_GENERATE_TOKENS_H_
