#include "generate/formula_lexer.h"

#include <array>

#include "generate/characters.h"

namespace optiml {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

class Lexer {
 public:
  // Marks of names ("$a") are read in patterns alone.
  Lexer(std::string_view text, bool is_pattern) : text_(text), is_pattern_(is_pattern) {}

  std::vector<Sign> Read() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ') {
        ++at_;
        continue;
      }
      const size_t begin = at_;
      const Sign::Kind kind = One();
      signs_.push_back({kind, std::string(text_.substr(begin, at_ - begin)), begin, at_,
                        begin > 0 && text_[begin - 1] == ' '});
    }
    return std::move(signs_);
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : ' '; }

  Sign::Kind One() {
    const char c = text_[at_];
    if (IsDigit(c) || (c == '.' && IsDigit(At(at_ + 1)))) {
      return Number();
    }
    const bool is_marked =
        is_pattern_ && (c == '$' || c == '%' || c == '@' || c == '&') && IsLetter(At(at_ + 1));
    if (IsLetter(c) || is_marked) {
      ++at_;
      while (IsLetter(At(at_)) || IsDigit(At(at_)) ||
             (At(at_) == '_' && (IsLetter(At(at_ + 1)) || IsDigit(At(at_ + 1))))) {
        ++at_;
      }
      at_ += At(at_) == '_' && At(at_ + 1) == '(' ? 1 : 0;  // "mul_("
      return Sign::Kind::kName;
    }
    if (IsString(c)) {
      const size_t close = text_.find(c, at_ + 1);
      at_ = close == std::string_view::npos || close - at_ > 20 ? at_ + 1 : close + 1;
      return Sign::Kind::kOther;
    }
    static constexpr std::array<std::string_view, 20> kLong = {
        ".*", "./", ".^", ".'", "**", "+=", "-=", "*=", "/=", "<=",
        ">=", "==", "<<", "<-", "::", "||", "&&", "..", "->", ":="};
    for (const std::string_view sign : kLong) {
      if (text_.substr(at_, 2) == sign) {
        at_ += 2;
        return Sign::Kind::kSign;
      }
    }
    ++at_;
    return Sign::Kind::kSign;
  }

  bool IsString(char c) const {
    return c == '"' || (c == '\'' && (at_ == 0 || !(IsLetter(text_[at_ - 1]) ||
                                                    std::string_view(")].'").find(text_[at_ - 1]) !=
                                                        std::string_view::npos)));
  }

  // "1.0f", "1e-5", "1."; "16M", "3x3" and "2d" are words.
  Sign::Kind Number() {
    while (IsDigit(At(at_))) {
      ++at_;
    }
    const bool has_point = At(at_) == '.' && !IsLetter(At(at_ + 1)) && At(at_ + 1) != '.' &&
                           At(at_ + 1) != '*' && At(at_ + 1) != '/' && At(at_ + 1) != '^';
    at_ += has_point || (At(at_) == '.' && At(at_ + 1) == 'f' && !IsLetter(At(at_ + 2))) ? 1 : 0;
    while (IsDigit(At(at_))) {
      ++at_;
    }
    const size_t exponent = at_ + (At(at_ + 1) == '-' || At(at_ + 1) == '+' ? 2 : 1);
    if (At(at_) == 'e' && IsDigit(At(exponent))) {
      at_ = exponent;
      while (IsDigit(At(at_))) {
        ++at_;
      }
    }
    if (At(at_) == 'f' && !IsLetter(At(at_ + 1)) && !IsDigit(At(at_ + 1))) {
      ++at_;
    }
    const bool is_factor = std::string_view("xuyzr").find(At(at_)) != std::string_view::npos &&
                           !IsLetter(At(at_ + 1)) && !IsDigit(At(at_ + 1));
    if (!IsLetter(At(at_)) || is_factor) {
      return Sign::Kind::kNumber;
    }
    while (IsLetter(At(at_)) || IsDigit(At(at_))) {
      ++at_;
    }
    return Sign::Kind::kOther;
  }

  std::string_view text_;
  bool is_pattern_ = false;
  size_t at_ = 0;
  std::vector<Sign> signs_;
};

}  // namespace

std::vector<Sign> ReadSigns(std::string_view text, bool is_pattern) {
  return Lexer(text, is_pattern).Read();
}

}  // namespace optiml
