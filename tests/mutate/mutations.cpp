#include "mutations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace optiml {
namespace {

enum class TokenKind { kName, kNumber, kSign };

struct Token {
  TokenKind kind = TokenKind::kSign;
  std::string text;
  size_t begin = 0;
  size_t end = 0;
};

// Comments, strings and preprocessor lines are left out.
class Lexer {
 public:
  explicit Lexer(const std::string& text) : text_(text) {}

  std::vector<Token> Run() {
    while (at_ < text_.size()) {
      if (!SkipBlank()) {
        Take();
      }
    }
    return std::move(tokens_);
  }

 private:
  bool Starts(std::string_view with) const { return text_.compare(at_, with.size(), with) == 0; }
  void SkipTo(std::string_view mark, bool beyond) {
    const size_t found = text_.find(mark, at_ + 1);
    at_ = found == std::string::npos ? text_.size() : found + (beyond ? mark.size() : 0);
  }
  bool SkipBlank() {
    const char c = text_[at_];
    if (c == '\n' || std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (Starts("//") || c == '#') {
      SkipTo("\n", false);
    } else if (Starts("/*")) {
      SkipTo("*/", true);
    } else if (c == '"') {
      SkipTo("\"", true);
    } else {
      return false;
    }
    return true;
  }
  void Take() {
    static const std::array<std::string_view, 24> kSigns = {
        "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=",
        "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "::"};
    Token token;
    token.begin = at_;
    const auto c = static_cast<unsigned char>(text_[at_]);
    const auto is_word = [&](char d) {
      return std::isalnum(static_cast<unsigned char>(d)) != 0 || d == '_';
    };
    if (std::isdigit(c) != 0) {
      token.kind = TokenKind::kNumber;
      while (at_ < text_.size() &&
             (is_word(text_[at_]) || text_[at_] == '.' ||
              ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e'))) {
        ++at_;
      }
    } else if (is_word(text_[at_])) {
      token.kind = TokenKind::kName;
      while (at_ < text_.size() && is_word(text_[at_])) {
        ++at_;
      }
    } else {
      const auto sign =
          std::find_if(kSigns.begin(), kSigns.end(), [&](std::string_view s) { return Starts(s); });
      at_ += sign == kSigns.end() ? 1 : sign->size();
    }
    token.end = at_;
    token.text = text_.substr(token.begin, token.end - token.begin);
    tokens_.push_back(std::move(token));
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

const std::set<std::string>& TypeNames() {
  static const std::set<std::string> names = {"void",   "bool",  "char",   "short",  "int",
                                              "long",   "float", "double", "signed", "unsigned",
                                              "size_t", "auto",  "__half", "half",   "dim3"};
  return names;
}

std::string LineAt(const std::string& text, size_t at) {
  const size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  size_t begin = before == std::string::npos ? 0 : before + 1;
  begin = text.find_first_not_of(' ', begin);
  return text.substr(begin, text.find('\n', begin) - begin);
}

class Mutator {
 public:
  explicit Mutator(const std::string& text) : text_(text), tokens_(Lexer(text).Run()) {}

  std::vector<Mutant> Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      Operators(i);
      Numbers(i);
      Names(i);
      Indices(i);
      Conditions(i);
      Statements(i);
      Arguments(i);
      Narrowing(i);
    }
    return std::move(mutants_);
  }

 private:
  const std::string& At(size_t i) const {
    static const std::string none;
    return i < tokens_.size() ? tokens_[i].text : none;
  }
  bool IsName(size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::kName; }
  void Replace(std::string kind, size_t begin, size_t end, const std::string& with) {
    Mutant mutant;
    mutant.kind = std::move(kind);
    mutant.line = 1 + static_cast<int>(std::count(
                          text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    mutant.text = text_.substr(0, begin) + with + text_.substr(end);
    const std::string after = LineAt(mutant.text, begin);
    mutant.what = LineAt(text_, begin) + "  ->  " + after;
    mutants_.push_back(std::move(mutant));
  }
  void ReplaceToken(const char* kind, size_t i, const std::string& with) {
    Replace(kind, tokens_[i].begin, tokens_[i].end, with);
  }
  // The token that closes the bracket at i; tokens_.size() when none does.
  size_t Closing(size_t i) const {
    static const std::map<std::string, std::string> pairs = {{"(", ")"}, {"[", "]"}, {"{", "}"}};
    const std::string& open = tokens_[i].text;
    const std::string& close = pairs.at(open);
    int depth = 0;
    for (size_t j = i; j < tokens_.size(); ++j) {
      depth += tokens_[j].text == open ? 1 : tokens_[j].text == close ? -1 : 0;
      if (depth == 0) {
        return j;
      }
    }
    return tokens_.size();
  }
  // Whether the sign at i has values on both sides.
  bool IsBinary(size_t i) const {
    if (i == 0 || i + 1 >= tokens_.size()) {
      return false;
    }
    const Token& left = tokens_[i - 1];
    const bool value = left.kind == TokenKind::kNumber || left.text == ")" || left.text == "]" ||
                       (left.kind == TokenKind::kName && !TypeNames().contains(left.text) &&
                        left.text != "return");
    return value && At(i + 1) != ")" && At(i + 1) != "," && At(i + 1) != ">";
  }

  void Operators(size_t i) {
    static const std::map<std::string, std::pair<const char*, std::vector<std::string>>> changes = {
        {"+", {"arithmetic", {"-"}}},
        {"-", {"arithmetic", {"+"}}},
        {"*", {"arithmetic", {"+", "/"}}},
        {"/", {"arithmetic", {"*"}}},
        {"%", {"arithmetic", {"/"}}},
        {"<", {"bound", {"<=", ">="}}},
        {"<=", {"bound", {"<"}}},
        {">", {"bound", {">=", "<="}}},
        {">=", {"bound", {">"}}},
        {"==", {"comparison", {"!="}}},
        {"!=", {"comparison", {"=="}}},
        {"&&", {"logic", {"||"}}},
        {"||", {"logic", {"&&"}}},
        {"+=", {"arithmetic", {"-=", "="}}},
        {"*=", {"arithmetic", {"+="}}},
        {"/=", {"arithmetic", {"*="}}},
        {">>=", {"arithmetic", {"-="}}},
        {"<<=", {"arithmetic", {"+="}}},
        {"^", {"bits", {"|"}}},
        {"&", {"bits", {"|"}}},
        {"|", {"bits", {"&"}}},
        {"<<", {"bits", {">>"}}}};
    const auto change = changes.find(tokens_[i].text);
    if (tokens_[i].kind != TokenKind::kSign || change == changes.end() || !IsBinary(i)) {
      return;
    }
    if ((tokens_[i].text == "<" || tokens_[i].text == ">") &&
        (At(i - 1).ends_with("_cast") || TypeNames().contains(At(i + 1)) || At(i + 1) == "(")) {
      return;  // a template's bracket, most likely
    }
    for (const std::string& with : change->second.second) {
      ReplaceToken(change->second.first, i, with);
    }
  }

  void Numbers(size_t i) {
    if (tokens_[i].kind != TokenKind::kNumber) {
      return;
    }
    const std::string& number = tokens_[i].text;
    if (number.find_first_not_of("0123456789") == std::string::npos) {
      const long value = std::stol(number);
      ReplaceToken("off by one", i, std::to_string(value + 1));
      if (value > 1) {
        ReplaceToken("off by one", i, std::to_string(value - 1));
        ReplaceToken("constant", i, std::to_string(value * 2));
      }
    } else if (number.find('.') != std::string::npos) {
      ReplaceToken("constant", i, "(" + number + " + 0.001f)");
      ReplaceToken("constant", i, "(-" + number + " + 1.0f)");
    }
  }

  void Names(size_t i) {
    static const std::map<std::string, std::string> others = {{"fmaxf", "fminf"},
                                                              {"fminf", "fmaxf"},
                                                              {"max", "min"},
                                                              {"min", "max"},
                                                              {"expf", "exp2f"},
                                                              {"sqrtf", "rsqrtf"},
                                                              {"rsqrtf", "sqrtf"},
                                                              {"tanhf", "tanf"},
                                                              {"logf", "log2f"},
                                                              {"atomicAdd", "atomicSub"},
                                                              {"atomicMax", "atomicMin"},
                                                              {"true", "false"},
                                                              {"false", "true"},
                                                              {"INFINITY", "0.0f"}};
    static const std::set<std::string> places = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    if (!IsName(i)) {
      return;
    }
    if (const auto other = others.find(tokens_[i].text); other != others.end()) {
      ReplaceToken("function", i, other->second);
    }
    if (places.contains(tokens_[i].text) && At(i + 1) == ".") {
      ReplaceToken("index", i + 2, At(i + 2) == "x" ? "y" : "x");
    }
  }

  void Indices(size_t i) {
    if (tokens_[i].text != "[" || i == 0 || !(IsName(i - 1) || At(i - 1) == "]")) {
      return;
    }
    const size_t close = Closing(i);
    if (close >= tokens_.size() || close == i + 1 || At(i - 2) == "float" || At(i - 2) == "int") {
      return;
    }
    const std::string inner = text_.substr(tokens_[i].end, tokens_[close].begin - tokens_[i].end);
    for (const char* shift : {" + 1", " - 1"}) {
      Replace("index", tokens_[i].end, tokens_[close].begin, "(" + inner + ")" + shift);
    }
  }

  void Conditions(size_t i) {
    if (tokens_[i].text != "if" || At(i + 1) != "(") {
      return;
    }
    const size_t close = Closing(i + 1);
    if (close >= tokens_.size()) {
      return;
    }
    for (const char* value : {"true", "false"}) {
      Replace("guard", tokens_[i + 1].end, tokens_[close].begin, value);
    }
  }

  // Begins at i: an assignment or a call, up to its semicolon.
  void Statements(size_t i) {
    static const std::set<std::string> begins = {";", "{", "}", ")", "else"};
    if (!IsName(i) || i == 0 || !begins.contains(At(i - 1)) || TypeNames().contains(At(i)) ||
        IsName(i + 1) || At(i) == "return") {
      return;
    }
    int depth = 0;
    for (size_t j = i; j < tokens_.size(); ++j) {
      const std::string& text = tokens_[j].text;
      if (text == "{" || text == "}") {
        return;
      }
      depth += text == "(" ? 1 : text == ")" ? -1 : 0;
      if (depth < 0) {
        return;  // in the head of a loop
      }
      if (text == ";") {
        const bool is_barrier = At(i).starts_with("__sync") || At(i).starts_with("__threadfence");
        Replace(is_barrier ? "barrier removed" : "statement dropped", tokens_[i].begin,
                tokens_[j].end, ";");
        return;
      }
    }
  }

  // The first two arguments of a call or launch change places.
  void Arguments(size_t i) {
    static const std::set<std::string> no_calls = {"if", "for", "while", "switch", "sizeof"};
    if (tokens_[i].text != "(" || i == 0 || !(IsName(i - 1) || At(i - 1) == ">>>") ||
        no_calls.contains(At(i - 1))) {
      return;
    }
    const size_t close = Closing(i);
    std::vector<size_t> commas;
    int depth = 0;
    for (size_t j = i; j < close; ++j) {
      const std::string& text = tokens_[j].text;
      depth += text == "(" || text == "[" ? 1 : text == ")" || text == "]" ? -1 : 0;
      if (text == "," && depth == 1) {
        commas.push_back(j);
      }
    }
    if (commas.empty() || close >= tokens_.size() || TypeNames().contains(At(i + 1)) ||
        At(i + 1) == "const") {
      return;
    }
    commas.push_back(close);
    for (size_t a = 0; a + 1 < commas.size(); ++a) {
      const size_t begin = tokens_[a == 0 ? i : commas[a - 1]].end;
      const size_t middle = tokens_[commas[a]].begin;
      const size_t end = tokens_[commas[a + 1]].begin;
      Replace(
          "swapped arguments", begin, end,
          text_.substr(middle + 1, end - middle - 1) + ", " + text_.substr(begin, middle - begin));
    }
  }

  void Narrowing(size_t i) {
    static const std::map<std::string, std::string> narrower = {
        {"double", "float"}, {"int", "short"}, {"size_t", "int"}, {"unsigned", "signed"}};
    const bool declares = IsName(i) && IsName(i + 1) && At(i + 2) == "=";
    if (declares && narrower.contains(At(i))) {
      ReplaceToken("narrowing", i, narrower.at(At(i)));
    }
    if (At(i) == "long" && At(i + 1) == "long") {
      Replace("narrowing", tokens_[i].begin, tokens_[i + 1].end, "int");
    }
    const bool assigns =
        tokens_[i].text == "=" && i > 1 && (At(i - 2) == "float" || At(i - 1) == "]");
    const bool adds = tokens_[i].text == "+=";
    if (!assigns && !adds) {
      return;
    }
    size_t end = i + 1;
    while (end < tokens_.size() && tokens_[end].text != ";" && tokens_[end].text != "{") {
      ++end;
    }
    if (end < tokens_.size() && tokens_[end].text == ";" && end > i + 1) {
      const size_t begin = tokens_[i + 1].begin;
      Replace(
          "narrowing", begin, tokens_[end].begin,
          "__half2float(__float2half(" + text_.substr(begin, tokens_[end].begin - begin) + "))");
      mutants_.back().text = "#include <cuda_fp16.h>\n" + mutants_.back().text;
    }
  }

  const std::string& text_;
  std::vector<Token> tokens_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> MutantsOf(const std::string& text) {
  std::vector<Mutant> mutants = Mutator(text).Run();
  std::set<std::string> seen = {text};
  std::erase_if(mutants, [&](const Mutant& m) { return !seen.insert(m.text).second; });
  return mutants;
}

}  // namespace optiml
