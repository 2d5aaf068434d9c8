#ifndef OPTIML_LLM_SCRIPTED_CHAT_MODEL_H_
#define OPTIML_LLM_SCRIPTED_CHAT_MODEL_H_

// A ChatModel for tests: answers by a function of the request, or one prepared answer after the
// other, and keeps what it was asked.

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "llm/chat_model.h"

namespace optiml {

class ScriptedChatModel : public ChatModel {
 public:
  using Answer = std::function<Result<ChatReply>(const ChatRequest&)>;

  // Each request takes the next of `replies`; after the last one the model is kUnavailable.
  explicit ScriptedChatModel(std::deque<std::string> replies);
  explicit ScriptedChatModel(Answer answer) : answer_(std::move(answer)) {}

  std::string name() const override { return "scripted"; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

  const std::vector<ChatRequest>& requests() const { return requests_; }

 private:
  Answer answer_;
  std::vector<ChatRequest> requests_;
};

}  // namespace optiml

#endif  // OPTIML_LLM_SCRIPTED_CHAT_MODEL_H_
