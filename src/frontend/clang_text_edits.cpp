#include "frontend/clang_text_edits.h"

#include <algorithm>

namespace optiml::frontend {

TextEdits::TextEdits(const clang::ASTContext& context, const std::string& text)
    : context_(context), sources_(context.getSourceManager()), text_(text) {}

void TextEdits::BlankDeclaration(clang::SourceRange range) {
  const clang::CharSourceRange from = sources_.getExpansionRange(range.getBegin());
  const clang::CharSourceRange to = sources_.getExpansionRange(range.getEnd());
  const size_t begin = sources_.getFileOffset(from.getBegin());
  size_t end = sources_.getFileOffset(to.getEnd());
  if (to.isTokenRange()) {
    end += clang::Lexer::MeasureTokenLength(to.getEnd(), sources_, context_.getLangOpts());
  }
  // The semicolon or comma that belongs to it.
  if (const auto next = clang::Lexer::findNextToken(to.getEnd(), sources_, context_.getLangOpts());
      next.has_value() && (next->is(clang::tok::semi) || next->is(clang::tok::comma))) {
    end = std::max<size_t>(end, sources_.getFileOffset(next->getLocation()) + 1);
  }
  Blank(begin, end);
}

void TextEdits::Blank(size_t begin, size_t end) {
  blanks_.emplace_back(begin, std::min(end, text_.size()));
}

void TextEdits::Insert(size_t at, const std::string& text) {
  const std::pair insertion(at, text);
  if (std::find(insertions_.begin(), insertions_.end(), insertion) == insertions_.end()) {
    insertions_.push_back(insertion);
  }
}

std::string TextEdits::Apply() {
  std::string result = text_;
  if (result.starts_with("\xEF\xBB\xBF")) {
    result.replace(0, 3, "   ");  // a byte order mark, which compilers take for a token
  }
  for (const auto& [begin, end] : blanks_) {
    size_t at = begin;
    while (at < end) {
      const size_t line_begin = result.rfind('\n', at) + 1;  // 0 when there is none
      size_t line_end = result.find('\n', at);
      line_end = std::min(line_end == std::string::npos ? end : line_end, end);
      if (!IsDirective(line_begin, line_end) || at != line_begin) {
        std::fill(result.begin() + static_cast<std::ptrdiff_t>(at),
                  result.begin() + static_cast<std::ptrdiff_t>(line_end), ' ');
      }
      at = line_end + 1;
    }
  }
  std::stable_sort(insertions_.begin(), insertions_.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [at, text] : insertions_) {
    result.insert(at, text);
  }
  return result;
}

// Whether the line before `begin` goes on in the one that begins there.
bool TextEdits::IsContinued(size_t begin) const {
  const size_t back = begin >= 3 && text_[begin - 2] == '\r' ? 3 : 2;
  return begin >= back && text_[begin - 1] == '\n' && text_[begin - back] == '\\';
}

// Directives inside a function outlive it, but for pragmas. A continued line is one directive.
bool TextEdits::IsDirective(size_t begin, size_t end) const {
  while (IsContinued(begin)) {
    begin = text_.rfind('\n', begin - 2) + 1;
  }
  const size_t first = text_.find_first_not_of(" \t", begin);
  if (first == std::string::npos || first >= end || text_[first] != '#') {
    return false;
  }
  const size_t word = text_.find_first_not_of(" \t", first + 1);
  return word == std::string::npos || text_.compare(word, 6, "pragma") != 0;
}

}  // namespace optiml::frontend
