// In place of local_chat_model.cpp where llama.cpp is not built in.
#include "llm/local_chat_model.h"

namespace optiml {

bool HasLocalModels() {
  return false;
}

Result<std::unique_ptr<ChatModel>> OpenLocalChatModel(const std::filesystem::path& file,
                                                      const LocalChatModelOptions&) {
  return Error(ErrorCode::kUnavailable,
               file.string() +
                   ": this program was built without local models; ./setup --with-llama builds it "
                   "with them");
}

}  // namespace optiml
