#ifndef OPTIML_FRONTEND_CLANG_TEXT_EDITS_H_
#define OPTIML_FRONTEND_CLANG_TEXT_EDITS_H_

// TextEdits: a file's text with parts blanked and others inserted. Lines stay where they are: what
// is blanked keeps its newlines and its preprocessor directives, and no insertion has a newline.

#include <string>
#include <utility>
#include <vector>

#include "frontend/clang_includes.h"

namespace optiml::frontend {

class TextEdits {
 public:
  // Both must outlive the edits.
  TextEdits(const clang::ASTContext& context, const std::string& text);

  // A declaration with the semicolon or comma that belongs to it.
  void BlankDeclaration(clang::SourceRange range);
  // Offsets into the text, half open.
  void Blank(size_t begin, size_t end);
  // The same insertion twice is one: what a macro's body needs is found at each of its uses.
  void Insert(size_t at, const std::string& text);

  std::string Apply();

 private:
  bool IsContinued(size_t begin) const;
  bool IsDirective(size_t begin, size_t end) const;

  const clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const std::string& text_;
  std::vector<std::pair<size_t, size_t>> blanks_;
  std::vector<std::pair<size_t, std::string>> insertions_;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_CLANG_TEXT_EDITS_H_
