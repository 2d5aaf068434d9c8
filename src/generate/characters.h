#ifndef OPTIML_GENERATE_CHARACTERS_H_
#define OPTIML_GENERATE_CHARACTERS_H_

// Characters of sentences and formulas: ASCII, whatever the locale is.

#include <string>
#include <string_view>

namespace optiml {

constexpr bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

}  // namespace optiml

#endif  // OPTIML_GENERATE_CHARACTERS_H_
