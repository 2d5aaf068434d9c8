#include "llm/replay_chat_model.h"

#include <fmt/format.h>

#include "llm/exchange.h"

namespace optiml {

Result<std::unique_ptr<ChatModel>> ReplayChatModel::Open(const std::filesystem::path& file) {
  OPTIML_ASSIGN(ExchangeFile recording, ExchangeFile::Open(file));
  if (recording.is_empty()) {
    return Error(ErrorCode::kParse, file.string() + ": nothing was recorded");
  }
  return std::unique_ptr<ChatModel>(new ReplayChatModel(file.string(), std::move(recording)));
}

Result<ChatReply> ReplayChatModel::Complete(const ChatRequest& request) {
  if (!line_) {
    line_ = recording_.NextLine();
  }
  if (!line_) {
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("{}: all {} exchanges were replayed, and another is asked for", file_, count_));
  }
  auto exchange = ParseExchange(*line_);
  if (!exchange) {
    return std::move(exchange).error().WithContext(fmt::format("{}:{}", file_, count_ + 2));
  }
  if (const std::string difference = FirstDifference(exchange->request, request);
      !difference.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: exchange {}: not the recorded request: {}", file_, count_ + 1,
                             difference));
  }
  line_.reset();
  ++count_;
  return std::move(exchange->outcome);
}

}  // namespace optiml
