#ifndef OPTIML_PTX_LEXER_H_
#define OPTIML_PTX_LEXER_H_

// Lexer: PTX text as tokens with their lines. Comments vanish. Failures are thrown as SyntaxError
// and caught in ParsePtx; they do not leave this folder.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace optiml::ptx {

struct SyntaxError {
  int32_t line = 0;
  std::string message;
};

enum class TokenKind : uint8_t {
  kEnd,
  kWord,        // identifiers, opcodes with their modifiers, directives, registers: "ld.global.f32"
                // ".reg" "%r1" "$L_2"
  kNumber,      // as written
  kString,      // without quotes, escapes kept
  kPunctuation  // one character
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  int32_t line = 0;

  bool Is(char c) const { return kind == TokenKind::kPunctuation && text[0] == c; }
  bool Is(std::string_view word) const { return kind == TokenKind::kWord && text == word; }
};

// The last token is kEnd. Throws SyntaxError on a character that PTX does not have and on an
// unended string or comment. The tokens refer to `text`.
std::vector<Token> Tokenise(std::string_view text);

struct Number {
  bool is_float = false;
  uint8_t float_bits = 64;
  uint64_t bits = 0;
};

// Throws SyntaxError when the token is no number of PTX.
Number ParseNumber(const Token& token);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_LEXER_H_
