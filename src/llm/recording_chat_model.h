#ifndef OPTIML_LLM_RECORDING_CHAT_MODEL_H_
#define OPTIML_LLM_RECORDING_CHAT_MODEL_H_

// RecordingChatModel: writes down every exchange with another model, failed ones too, as lines of
// llm/exchange.h behind one line that names the format and the model:
//
//   {"format": "optiml-exchanges", "version": 1, "model": "gpt-4.1-mini"}
//
// A line is written whole and synced before the reply is handed on; a line that a crash cut off is
// dropped when the file is opened again. One process at a time may write to a file.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "llm/chat_model.h"

namespace optiml {

class RecordingChatModel : public ChatModel {
 public:
  // Appends to `file`, or begins it. Fails with kIo (or kNotFound for its folder), kUnavailable
  // when another process is writing to it, kParse when it is a file of another kind,
  // kInvalidArgument when it was recorded from a model of another name.
  // `on_lost` (may be null) is called with what a reply has cost that could not be written down and
  // so is not handed on (ModelLedger::AddLost).
  static Result<std::unique_ptr<ChatModel>> Open(
      std::unique_ptr<ChatModel> inner, const std::filesystem::path& file,
      std::function<Result<void>(const TokenUse&, double dollars)> on_lost = nullptr);
  ~RecordingChatModel() override;
  RecordingChatModel(const RecordingChatModel&) = delete;  // owns the descriptor
  RecordingChatModel& operator=(const RecordingChatModel&) = delete;

  std::string name() const override { return inner_->name(); }
  // What the model says; kIo when it cannot be written down.
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  RecordingChatModel(std::unique_ptr<ChatModel> inner, std::filesystem::path file, int descriptor)
      : inner_(std::move(inner)), file_(std::move(file)), descriptor_(descriptor) {}

  std::unique_ptr<ChatModel> inner_;
  std::filesystem::path file_;
  int descriptor_;
  std::function<Result<void>(const TokenUse&, double dollars)> on_lost_;
};

}  // namespace optiml

#endif  // OPTIML_LLM_RECORDING_CHAT_MODEL_H_
