// Sources and diffs as HTML.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "report/html_parts.h"
#include "report/text_format.h"

namespace optiml {
namespace {

constexpr std::array<std::string_view, 62> kKeywords = {"__device__",
                                                        "__forceinline__",
                                                        "__global__",
                                                        "__host__",
                                                        "__launch_bounds__",
                                                        "__restrict__",
                                                        "__shared__",
                                                        "__syncthreads",
                                                        "__syncwarp",
                                                        "alignas",
                                                        "asm",
                                                        "auto",
                                                        "bool",
                                                        "break",
                                                        "case",
                                                        "char",
                                                        "class",
                                                        "const",
                                                        "constexpr",
                                                        "continue",
                                                        "default",
                                                        "do",
                                                        "double",
                                                        "else",
                                                        "enum",
                                                        "extern",
                                                        "false",
                                                        "float",
                                                        "float2",
                                                        "float4",
                                                        "for",
                                                        "goto",
                                                        "half",
                                                        "if",
                                                        "inline",
                                                        "int",
                                                        "int2",
                                                        "int4",
                                                        "long",
                                                        "namespace",
                                                        "nullptr",
                                                        "operator",
                                                        "return",
                                                        "short",
                                                        "signed",
                                                        "size_t",
                                                        "sizeof",
                                                        "static",
                                                        "static_cast",
                                                        "reinterpret_cast",
                                                        "struct",
                                                        "switch",
                                                        "template",
                                                        "true",
                                                        "typedef",
                                                        "typename",
                                                        "union",
                                                        "unsigned",
                                                        "using",
                                                        "void",
                                                        "volatile",
                                                        "while"};

bool IsWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool IsWord(char c) {
  return IsWordStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string Span(const char* css_class, std::string_view text) {
  return fmt::format("<i class={}>{}</i>", css_class, EscapeHtml(text));
}

}  // namespace

std::string HighlightLine(std::string_view line, bool& in_comment) {
  std::string out;
  size_t i = 0;
  const auto take = [&](size_t end) {
    const std::string_view piece = line.substr(i, end - i);
    i = std::min(end, line.size());
    return piece;
  };
  while (i < line.size()) {
    if (in_comment) {
      const size_t end = line.find("*/", i);
      in_comment = end == std::string_view::npos;
      out += Span("c", take(in_comment ? line.size() : end + 2));
    } else if (line.substr(i, 2) == "//") {
      out += Span("c", take(line.size()));
    } else if (line.substr(i, 2) == "/*") {
      const size_t end = line.find("*/", i + 2);
      in_comment = end == std::string_view::npos;
      out += Span("c", take(in_comment ? line.size() : end + 2));
    } else if (line[i] == '"' || line[i] == '\'') {
      size_t end = i + 1;
      while (end < line.size() && line[end] != line[i]) {
        end += line[end] == '\\' ? 2 : 1;
      }
      out += Span("s", take(std::min(end + 1, line.size())));
    } else if (IsWordStart(line[i])) {
      size_t end = i;
      while (end < line.size() && IsWord(line[end])) {
        ++end;
      }
      const std::string_view word = take(end);
      const bool keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
      out += keyword ? Span("k", word) : EscapeHtml(word);
    } else if (std::isdigit(static_cast<unsigned char>(line[i])) != 0) {
      size_t end = i;
      while (end < line.size() && (IsWord(line[end]) || line[end] == '.')) {
        ++end;
      }
      out += Span("n", take(end));
    } else if (line[i] == '#' && line.find_first_not_of(" \t") == i) {
      size_t end = i + 1;
      while (end < line.size() && IsWord(line[end])) {
        ++end;
      }
      out += Span("k", take(end));
    } else {
      // Up to where one of the cases above may begin.
      size_t end = i + 1;
      while (end < line.size() && !IsWord(line[end]) && line[end] != '/' && line[end] != '"' &&
             line[end] != '\'') {
        ++end;
      }
      out += EscapeHtml(take(end));
    }
  }
  return out;
}

std::string DiffTable(const std::vector<DiffHunk>& hunks) {
  if (hunks.empty()) {
    return "<p class=muted>The text did not change.</p>";
  }
  std::string out = "<div class=scroll><table class=diff><tbody>";
  bool first = true;
  for (const DiffHunk& hunk : hunks) {
    if (!first) {
      out += "<tr class=gap><td colspan=4>&#8943;</td></tr>";
    }
    first = false;
    bool old_comment = false;
    bool new_comment = false;
    for (const DiffLine& line : hunk.lines) {
      std::string code;
      if (line.kind == DiffKind::kRemoved) {
        code = HighlightLine(line.text, old_comment);
      } else {
        code = HighlightLine(line.text, new_comment);
        old_comment = line.kind == DiffKind::kSame ? new_comment : old_comment;
      }
      const char* row = line.kind == DiffKind::kSame      ? ""
                        : line.kind == DiffKind::kRemoved ? " class=del"
                                                          : " class=add";
      const char* mark = line.kind == DiffKind::kSame      ? ""
                         : line.kind == DiffKind::kRemoved ? "-"
                                                           : "+";
      const auto number = [](int n) { return n > 0 ? std::to_string(n) : std::string(); };
      out += fmt::format("<tr{}><td class=no>{}<td class=no>{}<td class=mark>{}<td><code>{}</code>",
                         row, number(line.old_line), number(line.new_line), mark, code);
    }
  }
  return out + "</tbody></table></div>";
}

std::string SourceListing(std::string_view source) {
  std::string out = "<div class=scroll><table class=diff><tbody>";
  bool in_comment = false;
  int number = 0;
  while (!source.empty()) {
    const size_t end = source.find('\n');
    out += fmt::format("<tr><td class=no>{}<td><code>{}</code>", ++number,
                       HighlightLine(source.substr(0, end), in_comment));
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  return out + "</tbody></table></div>";
}

}  // namespace optiml
