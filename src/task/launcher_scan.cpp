#include "task/launcher_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <set>

#include "task/names.h"

namespace optiml {
namespace {

struct Token {
  std::string text;
  int line = 0;
};

// Without a byte order mark.
std::string_view WithoutMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// Words, strings (with quotes) and single characters; comments, preprocessor lines and white space
// are dropped.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(WithoutMark(text)) {}

  std::vector<Token> Run() {
    std::vector<Token> tokens;
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        Advance(1);
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        Advance(1);
      } else if (text_.substr(at_, 2) == "//") {
        Advance(std::min(text_.find('\n', at_), text_.size()) - at_);
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        Advance((end == std::string_view::npos ? text_.size() : end + 2) - at_);
      } else if (c == '#' && line_start) {
        SkipDirective();
      } else {
        line_start = false;
        tokens.push_back(Next(c));
      }
    }
    return tokens;
  }

 private:
  void Advance(size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      line_ += text_[at_] == '\n' ? 1 : 0;
    }
  }

  void SkipDirective() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      Advance(text_[at_] == '\\' ? 2 : 1);
    }
  }

  Token Next(char c) {
    const size_t begin = at_;
    const int line = line_;
    if (c == '"' || c == '\'') {
      Advance(1);
      while (at_ < text_.size() && text_[at_] != c && text_[at_] != '\n') {
        Advance(text_[at_] == '\\' ? 2 : 1);
      }
      Advance(1);
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      while (at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
        Advance(1);
      }
    } else {
      Advance(1);
    }
    return {std::string(text_.substr(begin, at_ - begin)), line};
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

std::optional<DType> DTypeOfWords(const std::vector<std::string>& words) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const auto is_unsigned = has("unsigned");
  struct Row {
    std::string_view word;
    DType dtype;
  };
  static constexpr Row kNamed[] = {{"float", DType::kF32},          {"double", DType::kF64},
                                   {"__half", DType::kF16},         {"half", DType::kF16},
                                   {"__nv_bfloat16", DType::kBf16}, {"nv_bfloat16", DType::kBf16},
                                   {"__nv_fp8_e4m3", DType::kE4m3}, {"__nv_fp8_e5m2", DType::kE5m2},
                                   {"bool", DType::kBool},          {"int8_t", DType::kI8},
                                   {"uint8_t", DType::kU8},         {"int16_t", DType::kI16},
                                   {"uint16_t", DType::kU16},       {"int32_t", DType::kI32},
                                   {"uint32_t", DType::kU32},       {"int64_t", DType::kI64},
                                   {"uint64_t", DType::kU64},       {"size_t", DType::kU64},
                                   {"ptrdiff_t", DType::kI64},      {"uint", DType::kU32}};
  for (const Row& row : kNamed) {
    if (has(row.word)) {
      return row.dtype;
    }
  }
  if (has("char")) {
    return is_unsigned ? DType::kU8 : DType::kI8;
  }
  if (has("short")) {
    return is_unsigned ? DType::kU16 : DType::kI16;
  }
  if (has("long")) {
    return is_unsigned ? DType::kU64 : DType::kI64;
  }
  if (has("int") || is_unsigned || has("signed")) {
    return is_unsigned ? DType::kU32 : DType::kI32;
  }
  return std::nullopt;
}

LauncherFact FactOf(const std::vector<Token>& tokens) {
  LauncherFact fact;
  std::vector<std::string> words;
  for (const Token& token : tokens) {
    if (token.text == "*" || token.text == "[") {
      fact.is_pointer = true;
    } else if (token.text == "=") {
      break;  // a default value
    } else if (token.text == "const" && !fact.is_pointer) {
      fact.points_to_const = true;  // of a pointer only; cleared below
    } else if (IsIdentifier(token.text) && token.text != "__restrict__" && token.text != "const" &&
               token.text != "restrict" && token.text != "__restrict" && token.text != "std") {
      words.push_back(token.text);
      fact.line = token.line;
    }
  }
  fact.points_to_const = fact.points_to_const && fact.is_pointer;
  if (!words.empty()) {
    fact.name = words.back();
    words.pop_back();
  }
  fact.dtype = DTypeOfWords(words);
  return fact;
}

// A definition of a host function, with what its body says of launches.
struct Definition {
  ScannedLauncher launcher;
  bool has_c_linkage = false;
  bool can_be_entry = true;     // no template, no member of a class
  bool launches = false;        // a launch is written in it
  std::set<std::string> calls;  // words of its body before a parenthesis
};

// Walks the tokens of a file and collects the host functions that it defines outside of classes.
class Scanner {
 public:
  explicit Scanner(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Definition> Run() {
    while (at_ < tokens_.size()) {
      if (Is(0, "extern") && Is(1, "\"C\"")) {
        at_ += 2;
        if (Is(0, "{")) {
          ++at_;
          while (at_ < tokens_.size() && !Is(0, "}")) {
            Declaration(true);
          }
          ++at_;
        } else {
          Declaration(true);
        }
      } else if (Is(0, "namespace") || (Is(0, "inline") && Is(1, "namespace"))) {
        OpenNamespace();
      } else if (Is(0, "}")) {
        ++at_;  // of a namespace
      } else {
        Declaration(false);
      }
    }
    return std::move(found_);
  }

 private:
  bool Is(size_t ahead, std::string_view text) const {
    return at_ + ahead < tokens_.size() && tokens_[at_ + ahead].text == text;
  }

  // Moves behind the group that begins here.
  void SkipGroup(std::string_view open, std::string_view close) {
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      depth += tokens_[at_].text == open ? 1 : 0;
      if (tokens_[at_].text == close && --depth == 0) {
        ++at_;
        return;
      }
    }
  }

  // `namespace x = y;` is left to end like a declaration.
  void OpenNamespace() {
    while (at_ < tokens_.size() && !Is(0, "{") && !Is(0, ";")) {
      ++at_;
    }
    ++at_;
  }

  // One declaration or definition at file level.
  void Declaration(bool has_c_linkage) {
    Definition definition;
    definition.has_c_linkage = has_c_linkage;
    ScannedLauncher& launcher = definition.launcher;
    bool is_host_function = true;
    size_t name = 0;
    while (at_ < tokens_.size() && !Is(0, "(") && !Is(0, ";") && !Is(0, "{") && !Is(0, "=")) {
      const std::string& word = tokens_[at_].text;
      is_host_function &= word != "__global__" && word != "__device__" && word != "operator";
      definition.can_be_entry &= word != "template";
      launcher.entry = word;
      launcher.line = tokens_[at_].line;
      name = at_++;
      // An attribute or a macro with arguments is not the name.
      if (Is(0, "(") && (word.starts_with("__") || !IsIdentifier(word))) {
        SkipGroup("(", ")");
      }
    }
    if (!Is(0, "(")) {
      SkipToEnd();
      return;
    }
    const size_t begin = at_ + 1;
    SkipGroup("(", ")");
    launcher.parameters = Parameters(begin, at_ - 1);
    while (Is(0, "const") || Is(0, "noexcept")) {
      ++at_;
    }
    const bool is_definition = Is(0, "{");
    if (!is_definition && at_ < tokens_.size() && IsIdentifier(tokens_[at_].text)) {
      return;  // a macro that stood for itself: what follows is another declaration
    }
    const size_t body = at_;
    SkipToEnd();
    definition.can_be_entry &= name == 0 || tokens_[name - 1].text != ":";
    if (is_definition && is_host_function) {
      ReadBody(body, at_, definition);
      found_.push_back(std::move(definition));
    }
  }

  std::vector<LauncherFact> Parameters(size_t begin, size_t end) const {
    std::vector<LauncherFact> parameters;
    std::vector<Token> parameter;
    int depth = 0;
    for (size_t i = begin; i <= end && i < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      depth += text == "(" || text == "<" ? 1 : 0;
      depth -= text == ")" || text == ">" ? 1 : 0;
      if (i == end || (text == "," && depth == 0)) {
        if (!parameter.empty() && !(parameter.size() == 1 && parameter[0].text == "void")) {
          parameters.push_back(FactOf(parameter));
        }
        parameter.clear();
      } else {
        parameter.push_back(tokens_[i]);
      }
    }
    return parameters;
  }

  void ReadBody(size_t begin, size_t end, Definition& definition) const {
    for (size_t i = begin; i + 2 < end; ++i) {
      const std::string& text = tokens_[i].text;
      definition.launches |=
          (text == "<" && tokens_[i + 1].text == "<" && tokens_[i + 2].text == "<") ||
          text.starts_with("cudaLaunch");
      if (IsIdentifier(text) && (tokens_[i + 1].text == "(" || tokens_[i + 1].text == "<")) {
        definition.calls.insert(text);
      }
    }
  }

  void SkipToEnd() {
    while (at_ < tokens_.size() && !Is(0, ";") && !Is(0, "{")) {
      ++at_;
    }
    if (Is(0, "{")) {
      SkipGroup("{", "}");
    } else {
      ++at_;
    }
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::vector<Definition> found_;
};

// The functions among which the launcher is: those with C linkage; if there is more than one, or
// none, those that launch, themselves or through others, and that no other one of these calls. A
// program's main is none: it has no arguments that could be a task's.
std::vector<Definition> Candidates(const std::vector<Definition>& all) {
  std::vector<Definition> with_c;
  std::copy_if(all.begin(), all.end(), std::back_inserter(with_c),
               [](const Definition& each) { return each.has_c_linkage; });
  if (with_c.size() == 1) {
    return with_c;
  }
  std::set<std::string> launching;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Definition& each : all) {
      const bool launches =
          each.launches || std::any_of(launching.begin(), launching.end(),
                                       [&](const auto& name) { return each.calls.contains(name); });
      grows |=
          launches && each.launcher.entry != "main" && launching.insert(each.launcher.entry).second;
    }
  }
  std::vector<Definition> outermost;
  for (const Definition& each : with_c.empty() ? all : with_c) {
    const bool is_called = std::any_of(all.begin(), all.end(), [&](const Definition& other) {
      return launching.contains(other.launcher.entry) &&
             other.launcher.entry != each.launcher.entry &&
             other.calls.contains(each.launcher.entry);
    });
    if (each.can_be_entry && launching.contains(each.launcher.entry) && !is_called) {
      outermost.push_back(each);
    }
  }
  return outermost.empty() ? with_c : outermost;
}

// The line of the first byte that no text has; absent in a text.
std::optional<int> BinaryLine(std::string_view text) {
  int line = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && std::isspace(byte) == 0) {
      return line;
    }
    line += c == '\n' ? 1 : 0;
  }
  return std::nullopt;
}

// The first kernel's name, with its line.
std::optional<Token> FirstKernel(const std::vector<Token>& tokens) {
  const auto global = std::find_if(tokens.begin(), tokens.end(),
                                   [](const Token& token) { return token.text == "__global__"; });
  for (auto at = global; at != tokens.end() && at + 1 != tokens.end(); ++at) {
    // What stands before a parenthesis is the name, or an attribute such as __launch_bounds__(256).
    if ((at + 1)->text == "(" && IsIdentifier(at->text) && !at->text.starts_with("__")) {
      return *at;
    }
  }
  return std::nullopt;
}

// Why a file without a launcher has none, and the way out.
Error NoLauncher(std::string_view text, const std::vector<Token>& tokens,
                 const std::vector<Definition>& functions, const std::string& file_name) {
  constexpr std::string_view kWrite =
      "write a host function extern \"C\" void NAME(...) that launches";
  const bool main_launches = std::any_of(
      functions.begin(), functions.end(),
      [](const Definition& each) { return each.launcher.entry == "main" && each.launches; });
  const auto at = [&](int line, const std::string& what) {
    return Error(ErrorCode::kNotFound, fmt::format("{}:{}: {}", file_name, line, what));
  };
  if (const auto line = BinaryLine(text)) {
    return at(*line, "this is no CUDA source: it holds bytes that no text has");
  }
  if (const auto kernel = FirstKernel(tokens)) {
    return at(
        kernel->line,
        fmt::format("no launcher of {}{}: {} it, or describe its launch in [launch] of a "
                    "task.toml (docs/task_format.md)",
                    kernel->text,
                    main_launches ? " but main, whose sizes and data are its own" : "", kWrite));
  }
  return at(1, fmt::format("no launcher and no kernel: {}{} a kernel",
                           tokens.empty() ? "the file is empty; " : "", kWrite));
}

}  // namespace

Result<ScannedLauncher> ScanLauncher(std::string_view text, const std::string& file_name,
                                     const std::string& entry) {
  const std::vector<Token> tokens = Tokenizer(text).Run();
  const std::vector<Definition> all = Scanner(tokens).Run();
  std::vector<Definition> found = Candidates(all);
  if (!entry.empty()) {
    for (const Definition& each : all) {
      if (each.can_be_entry && each.launcher.entry == entry) {
        return each.launcher;
      }
    }
  }
  std::vector<std::string> names;
  for (const Definition& each : found) {
    names.push_back(fmt::format("{} (line {})", each.launcher.entry, each.launcher.line));
  }
  if (!entry.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: no host function {}(...) ({})", file_name, entry,
                             names.empty() ? "there is none that launches a kernel"
                                           : fmt::format("found: {}", fmt::join(names, ", "))));
  }
  if (found.empty()) {
    return NoLauncher(text, tokens, all, file_name);
  }
  if (found.size() > 1) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: several functions {}, name the launcher with entry ({})", file_name,
                    found.front().has_c_linkage ? "with C linkage" : "launch kernels",
                    fmt::join(names, ", ")));
  }
  return std::move(found.front().launcher);
}

Result<SizeBindings> ParseSizes(std::string_view text) {
  SizeBindings sizes;
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  for (const std::string& part : SplitTrimmed(spaced, ' ')) {
    if (part.empty()) {
      continue;
    }
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const std::optional<int64_t> value =
        equals == std::string::npos ? std::nullopt : ParseInteger(part.substr(equals + 1));
    const std::string digits = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (!value && IsIdentifier(name) && !digits.empty() &&
        digits.find_first_not_of("0123456789") == std::string::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" is too large: a size is at most {}", part,
                               std::numeric_limits<int64_t>::max()));
    }
    if (!IsIdentifier(name) || !value || *value < 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" is no size: write name=number, not negative", part));
    }
    if (!sizes.emplace(name, *value).second) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("size \"{}\" is given twice", name));
    }
  }
  if (sizes.empty()) {
    return Error(ErrorCode::kInvalidArgument, "no sizes: write name=number");
  }
  return sizes;
}

std::optional<int> FunctionLine(std::string_view text, std::string_view name) {
  const std::vector<Token> tokens = Tokenizer(text).Run();
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == name && tokens[i + 1].text == "(") {
      return tokens[i].line;
    }
  }
  return std::nullopt;
}

Result<SourceComments> ReadComments(std::string_view text, const std::string& file_name) {
  constexpr std::string_view kMark = "// optiml:";
  SourceComments comments;
  text = WithoutMark(text);
  int line = 0;
  while (!text.empty()) {
    ++line;
    const size_t end = text.find('\n');
    const std::string_view row = Trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!row.starts_with(kMark)) {
      continue;
    }
    const std::string_view content = Trim(row.substr(kMark.size()));
    const size_t space = content.find(' ');
    const std::string_view word = content.substr(0, space);
    const std::string_view rest =
        space == std::string_view::npos ? std::string_view() : Trim(content.substr(space));
    if (word == "intent" || word == "entry" || word == "reference") {
      (word == "intent"  ? comments.intent
       : word == "entry" ? comments.entry
                         : comments.reference) = rest;
      continue;
    }
    if (word == "arg") {
      const size_t equals = rest.find('=');
      const std::string name(Trim(rest.substr(0, equals)));
      if (equals == std::string_view::npos || !IsIdentifier(name)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}:{}: \"{}\": write arg NAME=dtype[extents]:role:fill",
                                 file_name, line, content));
      }
      comments.args[name] = Trim(rest.substr(equals + 1));
      continue;
    }
    const bool is_checked = word == "checked";
    const Result<SizeBindings> sizes = ParseSizes(is_checked || word == "timed" ? rest : content);
    if (!sizes) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}:{}: optiml comment: {} (known: sizes, timed, checked, arg, "
                               "intent, entry, reference)",
                               file_name, line, sizes.error().message()));
    }
    (is_checked ? comments.checked : comments.timed).push_back({*sizes, line});
  }
  return comments;
}

}  // namespace optiml
