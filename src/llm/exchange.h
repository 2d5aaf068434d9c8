#ifndef OPTIML_LLM_EXCHANGE_H_
#define OPTIML_LLM_EXCHANGE_H_

// Exchange: one question to a language model and what came of it, as a line of JSON.
//
//   {"request_hash": "4f...", "request": {"messages": [...], "max_tokens": 256, ...},
//    "reply": {"text": "...", "end": "stop", "tokens": {...}, "dollars": 0.001}}
//
// A failed one has "error": {"code": "timeout", "message": "..."} in place of the reply. What
// decides the answer is recorded; the time limit and the stop flag are not.

#include <string>
#include <string_view>

#include "base/content_hash.h"
#include "base/result.h"
#include "llm/chat_model.h"

namespace optiml {

struct Exchange {
  ChatRequest request;
  Result<ChatReply> outcome = ChatReply{};
};

// The hash of what decides the answer: messages, limits, seed and schema.
ContentHash RequestHash(const ChatRequest& request);

// Without the newline. What is not UTF-8 becomes U+FFFD.
std::string FormatExchange(const Exchange& exchange);
// Fails with kParse when the line is no exchange, or when its hash is not that of its request.
Result<Exchange> ParseExchange(std::string_view line);

// "" when the requests are equal as recorded, else the first difference: "message 2 (user) differs
// at byte 140: recorded "...", asked "..."".
std::string FirstDifference(const ChatRequest& recorded, const ChatRequest& asked);

}  // namespace optiml

#endif  // OPTIML_LLM_EXCHANGE_H_
