#ifndef OPTIML_MOT_MOT_CHAT_MODEL_H_
#define OPTIML_MOT_MOT_CHAT_MODEL_H_

// MotChatModel: a mixture of thoughts where any other language model stands.

#include <functional>
#include <memory>
#include <string>

#include "llm/chat_model.h"
#include "mot/mot_generator.h"

namespace optiml::mot {

class MotChatModel : public ChatModel {
 public:
  // What the experts may read beside the conversation, by the name of the part. Asked once a
  // request; may be empty.
  using Parts = std::function<std::map<std::string, std::string>(const ChatRequest&)>;

  explicit MotChatModel(std::unique_ptr<MotGenerator> generator, Parts parts = {})
      : generator_(std::move(generator)), parts_(std::move(parts)) {}

  std::string name() const override;
  // The schema of a request is told to the experts and forced upon the answer by a grammar.
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  std::unique_ptr<MotGenerator> generator_;
  Parts parts_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_MOT_CHAT_MODEL_H_
