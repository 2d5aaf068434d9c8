#include "prompt/fence.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.h"

namespace optiml {

std::string Fenced(std::string_view what, std::string_view text) {
  constexpr size_t kDigits = 16;
  std::string number = ContentHash::Of(text).Hex().substr(0, kDigits);
  while (text.find(number) != std::string_view::npos) {
    number = ContentHash::Of(number).Hex().substr(0, kDigits);
  }
  return fmt::format("<<< {0} {1}\n{2}{3}{1} {0} >>>", what, number, text,
                     text.empty() || text.ends_with('\n') ? "" : "\n");
}

std::string Quoted(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string NumberedLines(std::string_view text) {
  std::string out;
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += fmt::format("{:4}| {}\n", ++number, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

}  // namespace optiml
