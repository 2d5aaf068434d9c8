#ifndef OPTIML_GENERATE_TOKENS_H_
#define OPTIML_GENERATE_TOKENS_H_

// From characters to tokens, before any word is known: lower case, stems, numbers with suffixes,
// operators of formulas. Private to words.cpp and the contracts' phrases.

#include <string_view>
#include <vector>

#include "generate/words.h"

namespace optiml {

// Parentheses, quotes and commas are left out; letters that are not ASCII make a word of their own.
std::vector<Token> SplitText(std::string_view text);

// Joins "4 million" to one number, and "8192 x 8192", "8192 by 8192" and "512^3" to shapes.
void JoinNumbers(std::vector<Token>& tokens);

}  // namespace optiml

#endif  // OPTIML_GENERATE_TOKENS_H_
