#ifndef OPTIML_LLM_TOKEN_ESTIMATE_H_
#define OPTIML_LLM_TOKEN_ESTIMATE_H_

// How many tokens a text is, where no tokenizer is at hand: by its length.

#include <cstdint>
#include <string_view>

#include "llm/chat_model.h"

namespace optiml {

// What a template puts around a message: role, separators. 4 to 8 in the templates that we know.
inline constexpr int64_t kTokensAroundAMessage = 8;

// A likely count, for a provider that does not say: CUDA and JSON take about 3 bytes a token.
inline int64_t LikelyTokens(std::string_view text) {
  return static_cast<int64_t>((text.size() + 2) / 3);
}

// Bytes of everything that is sent.
inline int64_t PromptBytes(const ChatRequest& request) {
  auto bytes = static_cast<int64_t>(request.json_schema.size());
  for (const ChatMessage& message : request.messages) {
    bytes += static_cast<int64_t>(message.text.size());
  }
  return bytes;
}

inline int64_t LikelyPromptTokens(const ChatRequest& request) {
  return (PromptBytes(request) + 2) / 3 +
         kTokensAroundAMessage * static_cast<int64_t>(request.messages.size());
}

}  // namespace optiml

#endif  // OPTIML_LLM_TOKEN_ESTIMATE_H_
