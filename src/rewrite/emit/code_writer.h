#ifndef OPTIML_REWRITE_EMIT_CODE_WRITER_H_
#define OPTIML_REWRITE_EMIT_CODE_WRITER_H_

// CodeWriter: lines of CUDA with indentation, broken at 100 columns as clang-format would roughly
// do.

#include <string>
#include <string_view>

namespace optiml::rewrite {

class CodeWriter {
 public:
  // One statement or head of a function; long ones are broken after commas and operators.
  void Line(std::string_view line);
  // "for (...)" -> "for (...) {", and what follows is indented.
  void Open(std::string_view head);
  // "}" + tail
  void Close(std::string_view tail = "");
  // "} else {"
  void Else();
  void ElseIf(std::string_view condition);
  // A preprocessor line, at the first column.
  void Pragma(std::string_view line);
  // "// text", wrapped.
  void Comment(std::string_view text);
  void Blank();
  void Append(std::string_view raw) { text_ += raw; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int indent_ = 0;
};

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_CODE_WRITER_H_
