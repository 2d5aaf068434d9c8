#ifndef OPTIML_BASE_EMBEDDED_TEXT_H_
#define OPTIML_BASE_EMBEDDED_TEXT_H_

// EmbeddedText: a text file compiled into the program by optiml_embed_text (cmake/OptimlEmbed.cmake).

#include <string_view>

namespace optiml {

struct EmbeddedText {
  std::string_view name;  // the file's, without folders
  std::string_view text;  // followed by a zero byte
};

}  // namespace optiml

#endif  // OPTIML_BASE_EMBEDDED_TEXT_H_
