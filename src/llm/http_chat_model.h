#ifndef OPTIML_LLM_HTTP_CHAT_MODEL_H_
#define OPTIML_LLM_HTTP_CHAT_MODEL_H_

// HttpChatModel: a model behind any endpoint that speaks OpenAI's chat completions (OpenAI, vLLM,
// llama.cpp's server, Ollama ...). Replies are streamed.
//
// What may pass by itself (429, 5xx, a connection that breaks, an answer that is none) is tried
// again with growing waits, or after the time that the endpoint names, all within the request's
// time limit. What cannot (a wrong key, an unknown model, a prompt that is too long) is not.
//
// The key goes out only over https, or to this machine; no error, reply or log holds it.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/rng.h"
#include "llm/api_key.h"
#include "llm/chat_completion.h"
#include "llm/chat_model.h"
#include "llm/http_client.h"
#include "llm/prices.h"
#include "llm/rate_limiter.h"

namespace optiml {

struct HttpChatModelOptions {
  std::string base_url;  // "https://api.openai.com/v1"
  std::string model;     // as the endpoint calls it
  ApiKey key;            // may be empty
  std::optional<Price> price;

  int attempts = 5;                               // > 0; of one request
  std::chrono::milliseconds first_wait{500};      // before the second; doubles, up to
  std::chrono::milliseconds longest_wait{8'000};  // this
  uint64_t jitter_seed = 0;                       // waits are 0.5 to 1 times as long
  std::shared_ptr<RateLimiter> rate_limiter;      // null: none

  // Called with what an attempt has cost that brought no answer (counted by length); an Error ends
  // the request (ModelLedger::AddLost).
  std::function<Result<void>(const TokenUse&, double dollars)> on_lost;
};

class HttpChatModel : public ChatModel {
 public:
  explicit HttpChatModel(HttpChatModelOptions options);

  std::string name() const override { return options_.model; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  using Moment = std::chrono::steady_clock::time_point;

  // What one attempt came to.
  struct Attempt {
    enum class Next {
      kReturn,       // `result` is the request's
      kAgain,        // may pass by itself
      kOtherDialect  // was refused for something that the next one leaves out
    };
    Next next = Next::kReturn;
    Result<ChatReply> result = ChatReply{};
  };

  Result<ChatReply> CompleteWithKey(const ChatRequest& request);
  Attempt Try(const ChatRequest& request, Moment deadline);
  Attempt Refused(const ChatRequest& request, const HttpOutcome& outcome);
  // What to make of an attempt whose answer, or a part of it, was lost.
  Attempt Lost(const ChatRequest& request, const std::string& text, Error error, bool again);
  // Waits `wait`, or until the user wants the end; fails with `why` when the time does not last.
  Result<void> Wait(const ChatRequest& request, Nanoseconds wait, Moment deadline,
                    const Error& why) const;
  Error Because(ErrorCode code, const std::string& what) const;

  HttpChatModelOptions options_;
  bool sends_key_;
  Dialect dialect_;
  HttpClient client_;
  Rng jitter_;
};

}  // namespace optiml

#endif  // OPTIML_LLM_HTTP_CHAT_MODEL_H_
