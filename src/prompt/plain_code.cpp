#include "prompt/plain_code.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace optiml {
namespace {

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Copies a text without comments and without what is inside of literals.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : text_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      if (StartsWith("//")) {
        SkipLineComment();
      } else if (StartsWith("/*")) {
        SkipBlockComment();
      } else if (text_[at_] == '"') {
        IsRaw() ? SkipRawString() : SkipLiteral('"');
      } else if (text_[at_] == '\'' && !IsDigitSeparator()) {
        SkipLiteral('\'');
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  bool StartsWith(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // A backslash before the line's end goes on with the comment.
  void SkipLineComment() {
    out_ += ' ';
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        out_ += '\n';
        ++at_;
      } else if (StartsWith("\\\r\n")) {
        out_ += '\n';
        at_ += 2;
      }
    }
  }

  void SkipBlockComment() {
    const size_t end = std::min(text_.find("*/", at_ + 2), text_.size());
    out_ += ' ';
    KeepLineBreaks(end);
    at_ = std::min(end + 2, text_.size());
  }

  void SkipLiteral(char quote) {
    out_ += quote;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      at_ += text_[at_] == '\\' ? 1 : 0;
      if (at_ < text_.size() && text_[at_] == '\n') {
        out_ += '\n';
      }
    }
    if (at_ < text_.size() && text_[at_] == quote) {
      ++at_;
    }
    out_ += quote;
  }

  bool IsRaw() const {
    if (at_ == 0 || text_[at_ - 1] != 'R') {
      return false;
    }
    size_t begin = at_;
    while (begin > 0 && IsWord(text_[begin - 1])) {
      --begin;
    }
    const std::string_view prefix = text_.substr(begin, at_ - begin);
    return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
  }

  void SkipRawString() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t end = std::min(text_.find(close, open), text_.size());
    out_ += '"';
    KeepLineBreaks(end);
    out_ += '"';
    at_ = std::min(end + close.size(), text_.size());
  }

  bool IsDigitSeparator() const {
    return at_ > 0 && at_ + 1 < text_.size() &&
           std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0 && IsInNumber();
  }

  // Whether the word before the place begins with a digit.
  bool IsInNumber() const {
    size_t begin = at_;
    while (begin > 0 && (IsWord(text_[begin - 1]) || text_[begin - 1] == '\'')) {
      --begin;
    }
    return std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
  }

  void KeepLineBreaks(size_t end) {
    out_.append(static_cast<size_t>(std::count(text_.begin() + static_cast<long>(at_),
                                               text_.begin() + static_cast<long>(end), '\n')),
                '\n');
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

// "pragma unroll 4" of "  #  pragma unroll 4"; "" for a line that is no directive.
std::string Directive(std::string_view line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') {
    return "";
  }
  const size_t begin = line.find_first_not_of(" \t", hash + 1);
  return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
}

bool OnlySpeaks(const std::string& directive) {
  return directive.starts_with("error") || directive.starts_with("warning") ||
         directive.starts_with("ident") || directive.starts_with("line") ||
         (directive.starts_with("pragma") && directive.find("unroll") == std::string::npos);
}

bool IsIfZero(const std::string& directive) {
  const size_t begin = directive.find_first_not_of(" \t", 2);
  return directive.starts_with("if") && begin != std::string::npos && begin > 2 &&
         directive.substr(begin, directive.find_last_not_of(" \t\r") + 1 - begin) == "0";
}

}  // namespace

std::string WithoutCommentsAndStrings(std::string_view text) {
  const std::string code = Stripper(text).Run();
  std::string out;
  std::vector<bool> hidden;  // of each open #if
  std::string_view rest = code;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const std::string directive = Directive(line);
    const bool outside = std::find(hidden.begin(), hidden.end(), true) != hidden.end();
    bool keep = !outside && !OnlySpeaks(directive);
    if (directive.starts_with("if")) {
      hidden.push_back(IsIfZero(directive));
      keep = keep && !hidden.back();
    } else if (directive.starts_with("endif") && !hidden.empty()) {
      keep = keep && !hidden.back();
      hidden.pop_back();
    } else if (directive.starts_with("el") && !hidden.empty()) {
      hidden.back() = false;
    }
    if (keep) {
      out += line;
    }
    out += end < rest.size() ? "\n" : "";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace optiml
