#include "llm/scripted_chat_model.h"

namespace optiml {

ScriptedChatModel::ScriptedChatModel(std::deque<std::string> replies)
    : answer_([replies = std::move(replies)](const ChatRequest&) mutable -> Result<ChatReply> {
        if (replies.empty()) {
          return Error(ErrorCode::kUnavailable, "the scripted model has no more replies");
        }
        ChatReply reply;
        reply.text = std::move(replies.front());
        replies.pop_front();
        return reply;
      }) {}

Result<ChatReply> ScriptedChatModel::Complete(const ChatRequest& request) {
  requests_.push_back(request);
  return answer_(request);
}

}  // namespace optiml
