#include "prompt/code_reply.h"

namespace optiml {

Result<std::string> CodeOfReply(std::string_view reply) {
  std::string_view code = reply;
  if (const size_t begin = reply.find("```"); begin != std::string_view::npos) {
    const size_t line_end = reply.find('\n', begin);
    const size_t end =
        line_end == std::string_view::npos ? line_end : reply.find("\n```", line_end);
    if (end == std::string_view::npos) {
      return Error(ErrorCode::kParse, "the answer's code block does not end");
    }
    if (reply.find("```", end + 4) != std::string_view::npos) {
      return Error(ErrorCode::kParse, "the answer has several code blocks");
    }
    code = reply.substr(line_end + 1, end - line_end);
  }
  if (code.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Error(ErrorCode::kParse, "the answer has no code");
  }
  return std::string(code);
}

}  // namespace optiml
