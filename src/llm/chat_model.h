#ifndef OPTIML_LLM_CHAT_MODEL_H_
#define OPTIML_LLM_CHAT_MODEL_H_

// ChatModel: a language model that answers a conversation. The providers (an HTTP endpoint, a GGUF
// file in this process, a recording, a script) and what is put around them (a budget, a recorder)
// have this one interface.
//
// A model's answer is material, never an instruction: what is done with its text is decided by the
// role that asked (docs/prompts.md), and every edit that comes of it goes through the same checks
// as any other.
//
// Threads: a ChatModel is used by one thread at a time.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace optiml {

enum class ChatRole { kSystem, kUser, kAssistant };
std::string ChatRoleName(ChatRole role);  // "system", "user", "assistant"

struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  std::string text;  // UTF-8
  bool operator==(const ChatMessage&) const = default;
};

struct ChatRequest {
  std::vector<ChatMessage> messages;  // not empty; the last one is the user's
  int max_tokens = 1024;              // of the reply; > 0
  double temperature = 0;             // >= 0; 0 takes the likeliest token
  uint64_t seed = 0;
  // A JSON Schema (as text) that the reply has to follow; "" asks for free text. Providers that
  // cannot force it ask for it, so that the caller parses strictly in any case.
  std::string json_schema;
  // The whole exchange, with every repetition: when it is over, the request ends with kTimeout.
  std::chrono::milliseconds time_limit{120'000};
  // Set when the user wants the end: the request ends with kInterrupted. Borrowed; may be null.
  const std::atomic<bool>* stop = nullptr;
};

struct TokenUse {
  int64_t prompt = 0;
  int64_t cached_prompt = 0;  // of `prompt`: read from a cache of the provider's
  int64_t completion = 0;
  bool estimated = false;  // the provider did not say; counted by length
};

struct ChatReply {
  enum class End {
    kStop,    // the model had said what it wanted to say
    kLength,  // max_tokens or the context was reached; `text` is cut
  };
  std::string text;
  End end = End::kStop;
  TokenUse tokens;
  double dollars = 0;  // by the table of prices (llm/prices.h); 0 for local models
};

class ChatModel {
 public:
  virtual ~ChatModel() = default;
  // "qwen2.5-coder-1.5b-instruct": for reports and for the table of prices.
  virtual std::string name() const = 0;
  // Fails with kInvalidArgument when the request cannot be answered by this model (a prompt that is
  // longer than its context, a key that is not accepted, a model that is not there), kUnavailable
  // when the model cannot be reached or a budget is spent, kTimeout, kInterrupted, kInternal when
  // it answered nonsense. A message never holds a key.
  virtual Result<ChatReply> Complete(const ChatRequest& request) = 0;
};

}  // namespace optiml

#endif  // OPTIML_LLM_CHAT_MODEL_H_
