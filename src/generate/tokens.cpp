#include "generate/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "generate/characters.h"

namespace optiml {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

constexpr int64_t kMostNumber = int64_t{1} << 50;

constexpr std::array<std::pair<std::string_view, int64_t>, 7> kSuffixes = {{{"k", 1000},
                                                                            {"m", 1000000},
                                                                            {"g", 1000000000},
                                                                            {"b", 1000000000},
                                                                            {"mi", 1048576},
                                                                            {"ki", 1024},
                                                                            {"gi", 1073741824}}};
// Of data: how many elements that are depends on the dtype.
constexpr std::array<std::pair<std::string_view, int64_t>, 6> kUnits = {{{"kb", 1000},
                                                                         {"mb", 1000000},
                                                                         {"gb", 1000000000},
                                                                         {"kib", 1024},
                                                                         {"mib", 1048576},
                                                                         {"gib", 1073741824}}};
// "1080p": a frame by its height.
constexpr std::array<std::pair<int64_t, int64_t>, 5> kFrames = {
    {{480, 640}, {720, 1280}, {1080, 1920}, {1440, 2560}, {2160, 3840}}};

class Splitter {
 public:
  explicit Splitter(std::string text) : text_(std::move(text)) {}

  std::vector<Token> Split() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsDigit(c)) {
        Number();
      } else if (IsLetter(c) || (c == '?' && IsLetter(At(at_ + 1)) && Before() == ' ')) {
        Word();
      } else {
        Sign();
      }
    }
    return std::move(tokens_);
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : ' '; }
  char Before() const { return at_ > 0 ? text_[at_ - 1] : ' '; }

  void Add(Token::Kind kind, std::string word, std::string text) {
    Token token;
    token.kind = kind;
    token.word = std::move(word);
    token.text = std::move(text);
    token.formula = formula_;
    tokens_.push_back(std::move(token));
  }
  void AddNumber(int64_t value, std::string text) {
    Add(Token::Kind::kNumber, std::to_string(value), std::move(text));
    tokens_.back().numbers = {value};
  }

  // "conv2d" is "conv 2d".
  void Word() {
    const size_t begin = at_++;
    while (IsLetter(At(at_)) || IsDigit(At(at_)) ||
           (At(at_) == '\'' && At(at_ + 1) == 's' && !IsLetter(At(at_ + 2)))) {
      ++at_;
    }
    const std::string word = text_.substr(begin, at_ - begin);
    const size_t n = word.size();
    if (n > 4 && word[n - 1] == 'd' && word[n - 2] >= '1' && word[n - 2] <= '3' &&
        !IsDigit(word[n - 3])) {
      Add(Token::Kind::kWord, Stem(word.substr(0, n - 2)), word);
      Add(Token::Kind::kWord, word.substr(n - 2), word);
      return;
    }
    Add(Token::Kind::kWord, word[0] == '?' ? word : Stem(word), word);
  }

  // "1,048,576", "1e6", "2.5M", "16M", "4k", "1<<24", "3x3", "1Mx128", "2d".
  void Number() {
    const size_t begin = at_;
    int64_t value = 0;
    while (IsDigit(At(at_)) || ((At(at_) == ',' || At(at_) == '_') && IsGroup())) {
      if (IsDigit(At(at_))) {
        value = value > kMostNumber ? value : value * 10 + (At(at_) - '0');
      }
      ++at_;
    }
    if (At(at_) == '.' && (IsDigit(At(at_ + 1)) || At(at_ + 1) == 'f')) {
      Fraction(begin);
      return;
    }
    if (Shift(value, begin) || Exponent(static_cast<double>(value), begin)) {
      Extent();
      return;
    }
    const size_t digits_end = at_;
    std::string letters;
    while (IsLetter(At(at_)) || (IsDigit(At(at_)) && !letters.empty() && letters.back() != 'x')) {
      letters += At(at_++);
    }
    if (!letters.empty() && letters.back() == 'x' && (letters.size() == 1 || IsDigit(At(at_)))) {
      letters.pop_back();
      at_ = digits_end + letters.size();
    }
    if (letters.empty()) {
      AddNumber(value, text_.substr(begin, digits_end - begin));
    } else {
      Suffixed(value, letters, text_.substr(begin, at_ - begin));
    }
    Extent();
  }

  // The sign between the extents of a shape: "x128" after "1M".
  void Extent() {
    if (At(at_) == 'x' && !IsLetter(At(at_ + 1))) {
      Add(Token::Kind::kWord, "x", "x");
      ++at_;
    }
  }

  // "1<<24", "1 << 24".
  bool Shift(int64_t value, size_t begin) {
    size_t i = at_;
    i += At(i) == ' ' ? 1 : 0;
    if (At(i) != '<' || At(i + 1) != '<') {
      return false;
    }
    i += At(i + 2) == ' ' ? 3 : 2;
    int64_t shift = 0;
    const size_t digits = i;
    while (IsDigit(At(i)) && i < digits + 2) {
      shift = shift * 10 + (At(i++) - '0');
    }
    if (i == digits || shift > 40 || value > (kMostNumber >> shift)) {
      return false;
    }
    at_ = i;
    AddNumber(value << shift, text_.substr(begin, at_ - begin));
    return true;
  }

  // "1e6", "1.5e+7"; "1e-5" is no size.
  bool Exponent(double mantissa, size_t begin) {
    size_t i = at_ + 1;
    const char sign = At(i);
    i += sign == '+' || sign == '-' ? 1 : 0;
    if (At(at_) != 'e' || !IsDigit(At(i))) {
      return false;
    }
    int power = 0;
    while (IsDigit(At(i))) {
      power = std::min(power * 10 + (At(i++) - '0'), 100);
    }
    i += At(i) == 'f' && !IsLetter(At(i + 1)) ? 1 : 0;
    if (IsLetter(At(i)) && At(i) != 'x') {
      return false;
    }
    at_ = i;
    const std::string text = text_.substr(begin, at_ - begin);
    const double value = mantissa * std::pow(10.0, power);
    if (sign == '-') {
      Add(Token::Kind::kWord, text, text);
    } else {
      AddNumber(value < static_cast<double>(kMostNumber) ? std::llround(value) : kMostNumber, text);
    }
    return true;
  }

  // "0.5" and "1.0f" are no sizes, "2.5M" is one.
  void Fraction(size_t begin) {
    while (IsDigit(At(at_)) || (At(at_) == '.' && IsDigit(At(at_ + 1)))) {
      ++at_;
    }
    const double mantissa = std::strtod(text_.substr(begin, at_ - begin).c_str(), nullptr);
    if (Exponent(mantissa, begin)) {
      return;
    }
    for (const auto& [suffix, factor] : kSuffixes) {
      if (text_.compare(at_, suffix.size(), suffix) == 0 && !IsLetter(At(at_ + suffix.size())) &&
          mantissa * static_cast<double>(factor) < static_cast<double>(kMostNumber)) {
        at_ += suffix.size();
        AddNumber(std::llround(mantissa * static_cast<double>(factor)),
                  text_.substr(begin, at_ - begin));
        return;
      }
    }
    at_ += At(at_) == '.' && At(at_ + 1) == 'f' ? 1 : 0;
    at_ += At(at_) == 'f' && !IsLetter(At(at_ + 1)) ? 1 : 0;
    const std::string text = text_.substr(begin, at_ - begin);
    Add(Token::Kind::kWord, text, text);
  }

  bool IsGroup() const {
    return IsDigit(At(at_ + 1)) && IsDigit(At(at_ + 2)) && IsDigit(At(at_ + 3)) &&
           !IsDigit(At(at_ + 4));
  }

  void Suffixed(int64_t value, const std::string& letters, const std::string& text) {
    for (const auto& [suffix, factor] : kSuffixes) {
      if (letters == suffix && value < kMostNumber / factor) {
        AddNumber(value * factor, text);
        return;
      }
    }
    for (const auto& [unit, bytes] : kUnits) {
      if (letters == unit && value < kMostNumber / bytes) {
        AddNumber(value * bytes, text);
        tokens_.back().is_bytes = true;
        return;
      }
    }
    for (const auto& [height, width] : kFrames) {
      if (letters == "p" && value == height) {
        Add(Token::Kind::kShape, "#", text);
        tokens_.back().numbers = {height, width};
        return;
      }
    }
    Add(Token::Kind::kWord, Stem(text), text);
  }

  void Sign() {
    const char c = text_[at_];
    const bool spaced = Before() == ' ' && At(at_ + 1) == ' ';
    const auto add = [&](const std::string& sign) {
      Add(Token::Kind::kOperator, sign, sign);
      at_ += sign.size() - 1;
    };
    if (c == kFormulaBegin) {
      formula_ = ++formulas_;
    } else if (c == kFormulaEnd) {
      formula_ = -1;
    } else if (c == kListEnd) {
      Add(Token::Kind::kOperator, ",", ",");
    } else if (c == '+' && At(at_ + 1) == '=') {
      add("+=");
    } else if (c == '*' && At(at_ + 1) == '*') {
      add("^");
      ++at_;
    } else if (c == '-' && At(at_ + 1) == '>') {
      Arrow();
    } else if (c == '<' && At(at_ + 1) == '-') {
      add("=");
      ++at_;
    } else if (c == '+' || c == '*' || c == '^' || c == '=' || c == '[' || c == ']') {
      add(std::string(1, c));
    } else if ((c == '-' || c == '?' || c == ':') && spaced) {
      add(std::string(1, c));
    } else if (c == '/' && (spaced || Before() == ')')) {
      add("/");
    } else if (c == '-' && Before() == '(') {
      add("-");
    }
    ++at_;
  }

  // "1024 -> 4096" is a shape; other arrows say nothing.
  void Arrow() {
    const bool after_number =
        !tokens_.empty() && tokens_.back().kind == Token::Kind::kNumber && at_ + 2 < text_.size();
    const size_t next = text_.find_first_not_of(' ', at_ + 2);
    if (after_number && IsDigit(At(next))) {
      Add(Token::Kind::kWord, "x", "->");
    }
    ++at_;
  }

  std::string text_;
  size_t at_ = 0;
  int formula_ = -1;   // that is being read
  int formulas_ = -1;  // the last one
  std::vector<Token> tokens_;
};

bool IsNumber(const std::vector<Token>& tokens, size_t i) {
  return i < tokens.size() && tokens[i].kind == Token::Kind::kNumber;
}
// "1 GiB": the unit's bytes, or zero.
int64_t BytesOf(const Token& token) {
  for (const auto& [unit, bytes] : kUnits) {
    if (token.kind == Token::Kind::kWord && token.text == unit) {
      return bytes;
    }
  }
  return 0;
}
// "M = N = 8192": M is 8192 as well.
void SpreadEquals(std::vector<Token>& tokens) {
  for (size_t i = tokens.size(); i >= 5; --i) {
    const size_t at = i - 5;
    if (tokens[at].kind == Token::Kind::kWord && tokens[at + 1].word == "=" &&
        tokens[at + 2].kind == Token::Kind::kWord && tokens[at + 3].word == "=" &&
        tokens[at + 4].kind == Token::Kind::kNumber) {
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 2, tokens[at + 4]);
    }
  }
}
// "x" of "8192 x 8192"; empty for other words.
std::string Separator(const Token& token) {
  return token.word == "by" ? "x" : token.word == "x" || token.word == "*" ? token.word : "";
}
bool IsScale(const Token& token) {
  return token.numbers[0] >= 1000 && !token.text.empty() && IsLetter(token.text[0]);
}

// 2^20 is a number, 512^3 a shape.
Token Power(const Token& base, const Token& exponent) {
  Token token = base;
  token.text += "^" + exponent.text;
  const int64_t b = base.numbers[0];
  const int64_t e = exponent.numbers[0];
  if (e <= 3 && e >= 2 && b > 10) {
    token.kind = Token::Kind::kShape;
    token.numbers.assign(static_cast<size_t>(e), b);
    return token;
  }
  int64_t value = 1;
  for (int64_t i = 0; i < e && value < kMostNumber; ++i) {
    value *= b;
  }
  token.numbers = {value};
  token.word = std::to_string(value);
  return token;
}

}  // namespace

std::string PlainSigns(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kSigns = {
      {{"×", " x "}, {"·", " * "},      {"²", "^2 "},  {"³", "^3 "},   {"−", "-"},   {"–", " - "},
       {"—", " - "}, {"Σ", " sum"},     {"∑", " sum"}, {"√", " sqrt"}, {"’", "'"},   {"‘", "'"},
       {"“", " "},   {"”", " "},        {"⊙", " .* "}, {"‖", "||"},    {"ᵀ", "^T "}, {"→", " -> "},
       {"ε", "eps"}, {"DIM=1", "dim=0"}}};  // Fortran counts from one
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    bool is_sign = false;
    for (const auto& [sign, ascii] : kSigns) {
      if (text.substr(i, sign.size()) == sign) {
        plain += ascii;
        i += sign.size();
        // "Σ x" and "Σ_i": a word of its own, but for its index.
        plain += (ascii == " sum" || ascii == " sqrt") && i < text.size() && IsLetter(text[i]) ? " "
                                                                                               : "";
        is_sign = true;
        break;
      }
    }
    if (!is_sign) {
      plain += text[i++];
    }
  }
  return plain;
}

std::vector<Token> SplitText(std::string_view text) {
  return Splitter(Lower(PlainSigns(text))).Split();
}

void JoinNumbers(std::vector<Token>& tokens) {
  SpreadEquals(tokens);
  std::vector<Token> joined;
  for (size_t i = 0; i < tokens.size(); ++i) {
    Token token = tokens[i];
    if (token.kind != Token::Kind::kNumber) {
      joined.push_back(std::move(token));
      continue;
    }
    if (i + 2 < tokens.size() && tokens[i + 1].word == "^" && IsNumber(tokens, i + 2)) {
      token = Power(token, tokens[i + 2]);
      i += 2;
    } else if (i + 1 < tokens.size() &&
               (tokens[i + 1].text == "cubed" || tokens[i + 1].text == "squared")) {
      token.kind = Token::Kind::kShape;
      token.numbers.assign(tokens[i + 1].text == "cubed" ? 3 : 2, token.numbers[0]);
      token.text += " " + tokens[i + 1].text;
      token.word = "#";
      ++i;
    }
    if (i + 1 < tokens.size() && BytesOf(tokens[i + 1]) > 0 &&
        token.numbers[0] < kMostNumber / BytesOf(tokens[i + 1])) {
      token.numbers[0] *= BytesOf(tokens[i + 1]);
      token.is_bytes = true;
      token.text += " " + tokens[i + 1].text;
      ++i;
    }
    while (IsNumber(tokens, i + 1) && IsScale(tokens[i + 1]) &&
           token.numbers[0] < kMostNumber / tokens[i + 1].numbers[0]) {
      token.numbers[0] *= tokens[i + 1].numbers[0];
      token.text += " " + tokens[i + 1].text;
      token.word = std::to_string(token.numbers[0]);
      ++i;
    }
    // One sign between: "256 x 256 * 256 x 256" is two shapes.
    const std::string sign = i + 1 < tokens.size() ? Separator(tokens[i + 1]) : "";
    while (i + 2 < tokens.size() && IsNumber(tokens, i + 2) && !sign.empty() &&
           Separator(tokens[i + 1]) == sign) {
      token.kind = Token::Kind::kShape;
      token.numbers.push_back(tokens[i + 2].numbers[0]);
      token.text += " x " + tokens[i + 2].text;
      token.word = "#";
      i += 2;
    }
    joined.push_back(std::move(token));
  }
  tokens = std::move(joined);
}

}  // namespace optiml
