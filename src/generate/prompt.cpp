#include "generate/prompt.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "task/names.h"

namespace optiml {
namespace {

Result<std::string> FillOnce(std::string_view text,
                             const std::map<std::string, std::string>& holes) {
  std::string filled;
  while (true) {
    const size_t begin = text.find("{{");
    const size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    if (end == std::string_view::npos) {
      return filled + std::string(text);
    }
    const auto found = holes.find(std::string(text.substr(begin + 2, end - begin - 2)));
    if (found == holes.end()) {
      return Error(ErrorCode::kInternal, fmt::format("a prompt's hole is not given: {}",
                                                     text.substr(begin, end + 2 - begin)));
    }
    filled += text.substr(0, begin);
    filled += found->second;
    text.remove_prefix(end + 2);
  }
}

// Without the fence around it, if it has one; what stands outside of the fence is lost.
Result<std::string> WithoutFence(std::string_view reply) {
  const size_t begin = reply.find("```");
  if (begin == std::string_view::npos) {
    return std::string(Trim(reply));
  }
  const size_t line_end = reply.find('\n', begin);
  const size_t end = line_end == std::string_view::npos ? line_end : reply.find("\n```", line_end);
  if (end == std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "the reply's code block does not end");
  }
  if (reply.find("```", end + 4) != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "the reply has several code blocks");
  }
  return std::string(reply.substr(line_end + 1, end - line_end));
}

}  // namespace

Result<std::vector<ChatMessage>> RenderPrompt(std::string_view name,
                                              const std::map<std::string, std::string>& holes) {
  for (const EmbeddedText& file : EmbeddedGeneratePrompts()) {
    if (file.name != std::string(name) + ".md") {
      continue;
    }
    std::vector<ChatMessage> messages;
    std::string_view text = file.text;
    while (!text.empty()) {
      const size_t line_end = text.find('\n');
      const std::string_view mark = text.substr(0, line_end);
      const size_t next = text.find("\n=== ", line_end);
      const size_t length = next == std::string_view::npos ? next : next + 1 - (line_end + 1);
      ChatMessage message;
      message.role = mark == "=== system" ? ChatRole::kSystem : ChatRole::kUser;
      OPTIML_ASSIGN(const std::string filled, FillOnce(text.substr(line_end + 1, length), holes));
      message.text = Trim(filled);
      messages.push_back(std::move(message));
      text = next == std::string_view::npos ? "" : text.substr(next + 1);
    }
    return messages;
  }
  return Error(ErrorCode::kInternal, fmt::format("no prompt \"{}\"", name));
}

Result<std::string> CodeOfReply(std::string_view reply) {
  OPTIML_ASSIGN(std::string code, WithoutFence(reply));
  if (Trim(code).empty()) {
    return Error(ErrorCode::kInvalidArgument, "the reply has no code");
  }
  return code;
}

Result<std::string> JsonOfReply(std::string_view reply) {
  OPTIML_ASSIGN(std::string json, WithoutFence(reply));
  if (json.empty() || json.front() != '{') {
    return Error(ErrorCode::kInvalidArgument, "the reply is no JSON object");
  }
  return json;
}

std::string JsonString(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace optiml
