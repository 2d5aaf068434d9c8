#ifndef OPTIML_LLM_REPLAY_CHAT_MODEL_H_
#define OPTIML_LLM_REPLAY_CHAT_MODEL_H_

// ReplayChatModel: answers from a recording (llm/recording_chat_model.h): the n-th request gets the
// n-th recorded outcome, error or reply, if it is the request that was recorded. No model and no
// network take part.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "llm/chat_model.h"
#include "llm/exchange_file.h"

namespace optiml {

class ReplayChatModel : public ChatModel {
 public:
  // Fails as ExchangeFile::Open does, and with kParse when nothing was recorded.
  static Result<std::unique_ptr<ChatModel>> Open(const std::filesystem::path& file);

  std::string name() const override { return recording_.model(); }
  // Fails with kInvalidArgument, naming the first difference, when the request is not the recorded
  // one (it may be asked again then), and with kUnavailable after the last.
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  ReplayChatModel(std::string file, ExchangeFile recording)
      : file_(std::move(file)), recording_(std::move(recording)) {}

  std::string file_;
  ExchangeFile recording_;
  std::optional<std::string> line_;  // the next exchange, once it was read
  int64_t count_ = 0;                // of exchanges that were replayed
};

}  // namespace optiml

#endif  // OPTIML_LLM_REPLAY_CHAT_MODEL_H_
