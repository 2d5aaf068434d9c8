#ifndef OPTIML_PTX_TOKEN_READER_H_
#define OPTIML_PTX_TOKEN_READER_H_

// TokenReader: a place in the tokens of a text, with the questions that a parser asks. What does
// not fit is thrown as SyntaxError. Internal to ptx/.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/lexer.h"

namespace optiml::ptx {

class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() {
    const Token& token = Peek();
    at_ += at_ + 1 < tokens_.size() ? 1 : 0;
    return token;
  }
  [[noreturn]] void Fail(const Token& token, std::string_view expected) const {
    if (token.kind == TokenKind::kEnd) {
      throw SyntaxError{token.line, fmt::format("the text ends where {} is expected", expected)};
    }
    throw SyntaxError{token.line,
                      fmt::format("expected {}, not '{}'", expected, token.text.substr(0, 60))};
  }
  void Expect(char c) {
    if (!Peek().Is(c)) {
      Fail(Peek(), fmt::format("'{}'", c));
    }
    Next();
  }
  bool Accept(char c) {
    const bool is = Peek().Is(c);
    if (is) {
      Next();
    }
    return is;
  }
  bool Accept(std::string_view word) {
    const bool is = Peek().Is(word);
    if (is) {
      Next();
    }
    return is;
  }
  std::string Word(std::string_view expected) {
    if (Peek().kind != TokenKind::kWord) {
      Fail(Peek(), expected);
    }
    return std::string(Next().text);
  }
  uint64_t Integer(std::string_view expected) {
    if (Peek().kind != TokenKind::kNumber) {
      Fail(Peek(), expected);
    }
    const Token& token = Next();
    const Number number = ParseNumber(token);
    if (number.is_float) {
      Fail(token, expected);
    }
    return number.bits;
  }
  int32_t SmallInteger(std::string_view expected) {
    const Token& token = Peek();
    const uint64_t value = Integer(expected);
    if (value > 0x7fffffff) {
      Fail(token, expected);
    }
    return static_cast<int32_t>(value);
  }
  void SkipLine() {
    const int32_t line = Peek().line;
    while (Peek().kind != TokenKind::kEnd && Peek().line == line) {
      Next();
    }
  }
  void SkipStatement() {
    while (!Peek().Is(';')) {
      if (Peek().kind == TokenKind::kEnd) {
        Fail(Peek(), "';'");
      }
      Next();
    }
    Next();
  }
  void SkipBraces() {
    Expect('{');
    for (size_t depth = 1; depth > 0;) {
      const Token& token = Next();
      if (token.kind == TokenKind::kEnd) {
        Fail(token, "'}'");
      }
      depth += token.Is('{') ? 1 : 0;
      depth -= token.Is('}') ? 1 : 0;
    }
  }

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_TOKEN_READER_H_
