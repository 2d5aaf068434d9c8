#include "ptx/lexer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

namespace optiml::ptx {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::vector<Token> Tokenise(std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 4);
  int32_t line = 1;
  size_t at = 0;
  const auto peek = [&](size_t ahead) {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at;
    } else if (c == '/' && peek(1) == '/') {
      while (at < text.size() && text[at] != '\n') {
        ++at;
      }
    } else if (c == '/' && peek(1) == '*') {
      const int32_t start_line = line;
      at += 2;
      while (!(peek(0) == '*' && peek(1) == '/')) {
        if (at >= text.size()) {
          throw SyntaxError{start_line, "comment without end"};
        }
        line += text[at] == '\n' ? 1 : 0;
        ++at;
      }
      at += 2;
    } else if (c == '"') {
      const size_t start = ++at;
      while (at < text.size() && text[at] != '"' && text[at] != '\n') {
        at += text[at] == '\\' ? 2 : 1;
      }
      if (at >= text.size() || text[at] != '"') {
        throw SyntaxError{line, "string without end"};
      }
      tokens.push_back({TokenKind::kString, text.substr(start, at - start), line});
      ++at;
    } else if (IsLetter(c) || (c == '.' && IsLetter(peek(1)))) {
      // A directive ends at the next dot (".reg.b32"), an opcode keeps its modifiers.
      const size_t start = at++;
      while (at < text.size() &&
             (IsLetter(text[at]) || IsDigit(text[at]) || (text[at] == '.' && c != '.') ||
              (text[at] == ':' && peek(1) == ':' && (IsLetter(peek(2)) || IsDigit(peek(2)))) ||
              (text[at] == ':' && text[at - 1] == ':'))) {
        ++at;
      }
      tokens.push_back({TokenKind::kWord, text.substr(start, at - start), line});
    } else if (IsDigit(c)) {
      const size_t start = at++;
      const bool hexadecimal = c == '0' && at < text.size() &&
                               std::string_view("xXfFdD").find(text[at]) != std::string_view::npos;
      while (at < text.size() && (IsDigit(text[at]) || IsLetter(text[at]) || text[at] == '.' ||
                                  (!hexadecimal && (text[at] == '+' || text[at] == '-') &&
                                   (text[at - 1] == 'e' || text[at - 1] == 'E')))) {
        ++at;
      }
      tokens.push_back({TokenKind::kNumber, text.substr(start, at - start), line});
    } else if (std::string_view("{}[]()<>,;:+-*=|!@&~^?/#").find(c) != std::string_view::npos) {
      tokens.push_back({TokenKind::kPunctuation, text.substr(at, 1), line});
      ++at;
    } else {
      throw SyntaxError{
          line, fmt::format("character 0x{:02x} is not PTX", static_cast<unsigned char>(c))};
    }
  }
  tokens.push_back({TokenKind::kEnd, {}, line});
  return tokens;
}

Number ParseNumber(const Token& token) {
  std::string_view text = token.text;
  const auto fail = [&]() -> SyntaxError {
    return {token.line, fmt::format("'{}' is not a number", token.text)};
  };
  if (token.kind != TokenKind::kNumber) {
    throw SyntaxError{token.line, fmt::format("expected a number, not '{}'", token.text)};
  }
  Number number;
  const auto integer = [&](std::string_view digits, int base) {
    while (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) {
      digits.remove_suffix(1);
    }
    const auto end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number.bits, base);
    if (digits.empty() || stop != end || error != std::errc()) {
      throw fail();
    }
  };
  if (text.size() > 2 && text[0] == '0' &&
      (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')) {
    number.is_float = true;
    number.float_bits = (text[1] == 'f' || text[1] == 'F') ? 32 : 64;
    if (text.size() != 2u + number.float_bits / 4u) {
      throw fail();
    }
    integer(text.substr(2), 16);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    integer(text.substr(2), 16);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    integer(text.substr(2), 2);
  } else if (text.find_first_of(".eE") != std::string_view::npos) {
    number.is_float = true;
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (stop != text.data() + text.size() || error != std::errc()) {
      throw fail();
    }
    number.bits = std::bit_cast<uint64_t>(value);
  } else if (text.size() > 1 && text[0] == '0') {
    integer(text.substr(1), 8);
  } else {
    integer(text, 10);
  }
  return number;
}

}  // namespace optiml::ptx
