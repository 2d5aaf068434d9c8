#include "rewrite/emit/code_writer.h"

#include <fmt/format.h>

namespace optiml::rewrite {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kContinuation = 4;

// Where the first `limit` characters of the line may be broken: after ", ", or before an operator,
// at the smallest depth of parentheses that fills at least a third of the line. 0: nowhere.
size_t BreakPoint(std::string_view line, size_t limit) {
  size_t best = 0;
  int best_depth = 1000;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < line.size() && i < limit; ++i) {
    const char c = line[i];
    if (c == '"') {
      in_string = !in_string;
    }
    if (in_string) {
      continue;
    }
    // Angle brackets of templates and launches touch what is before them; comparisons do not.
    const bool touches = i > 0 && line[i - 1] != ' ' && line[i - 1] != '-';
    if (c == '(' || c == '[' || c == '{' || (c == '<' && touches)) {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && touches)) {
      --depth;
    }
    const std::string_view rest = line.substr(i);
    size_t at = 0;
    if (rest.starts_with(", ")) {
      at = i + 2;
    } else if (rest.starts_with(" = ") || rest.starts_with("; ")) {
      at = i + (rest[0] == ';' ? 2 : 3);
    } else if (rest.starts_with(" && ") || rest.starts_with(" || ") || rest.starts_with(" + ") ||
               rest.starts_with(" - ") || rest.starts_with(" * ") || rest.starts_with(" / ")) {
      at = i + (rest[2] == ' ' ? 3 : 4);
    } else if (rest.starts_with(" ? ") || rest.starts_with(" : ")) {
      at = i + 1;
    }
    if (at > limit / 3 && at <= limit && depth <= best_depth) {
      best = at;
      best_depth = depth;
    }
  }
  return best;
}

}  // namespace

void CodeWriter::Line(std::string_view line) {
  size_t indent = static_cast<size_t>(indent_) * 2;
  std::string rest(line);
  while (indent + rest.size() > kColumns) {
    const size_t at = BreakPoint(rest, kColumns - indent);
    if (at == 0) {
      break;
    }
    std::string head = rest.substr(0, at);
    while (!head.empty() && head.back() == ' ') {
      head.pop_back();
    }
    text_ += std::string(indent, ' ') + head + "\n";
    rest.erase(0, at);
    indent = static_cast<size_t>(indent_) * 2 + kContinuation;
  }
  text_ += std::string(indent, ' ') + rest + "\n";
}

void CodeWriter::Open(std::string_view head) {
  Line(fmt::format("{} {{", head));
  ++indent_;
}

void CodeWriter::Close(std::string_view tail) {
  --indent_;
  Line(fmt::format("}}{}", tail));
}

void CodeWriter::Else() {
  --indent_;
  Line("} else {");
  ++indent_;
}

void CodeWriter::ElseIf(std::string_view condition) {
  --indent_;
  Line(fmt::format("}} else if ({}) {{", condition));
  ++indent_;
}

void CodeWriter::Pragma(std::string_view line) {
  text_ += fmt::format("{}\n", line);
}

void CodeWriter::Comment(std::string_view comment) {
  const size_t indent = static_cast<size_t>(indent_) * 2;
  std::string line;
  size_t at = 0;
  const auto flush = [&] {
    text_ += fmt::format("{}//{}\n", std::string(indent, ' '), line);
    line.clear();
  };
  while (at < comment.size()) {
    size_t end = comment.find(' ', at);
    end = end == std::string_view::npos ? comment.size() : end;
    const std::string_view word = comment.substr(at, end - at);
    if (!line.empty() && indent + 3 + line.size() + word.size() > kColumns) {
      flush();
    }
    line += fmt::format(" {}", word);
    at = end + 1;
  }
  if (!line.empty()) {
    flush();
  }
}

void CodeWriter::Blank() {
  text_ += "\n";
}

}  // namespace optiml::rewrite
