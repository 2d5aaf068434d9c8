#ifndef OPTIML_LLM_LOCAL_CHAT_MODEL_H_
#define OPTIML_LLM_LOCAL_CHAT_MODEL_H_

// A model of weights in a GGUF file, run in this process by llama.cpp, on the CPU.
//
// The prompt is written in the model's own chat template when the file carries one that llama.cpp
// knows, else as plain "role: text" lines. What one request has in common with the beginning of the
// one before it is not computed again. A JSON schema is forced upon the reply by a grammar
// (llm/json_schema_grammar.h). The stop flag and the time limit are looked at within the
// computation.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "llm/chat_model.h"

namespace optiml {

struct LocalChatModelOptions {
  // Of prompt and reply together; 0: what the model was trained for, at most kDefaultContext.
  int context_tokens = 0;
  // 0: half of the logical cores. Threads that wait for each other spin, so one too many, on a
  // machine that does other work too, costs far more than one too few.
  int threads = 0;
  // That may be taken; absent: as much as the machine has free (base/memory_limits.h).
  std::optional<uint64_t> memory_bytes;
  // Called with what a request has cost that was ended before its reply was whole.
  std::function<Result<void>(const TokenUse&, double dollars)> on_lost;
};
inline constexpr int kDefaultContext = 8192;

// Whether this program was built with llama.cpp.
bool HasLocalModels();

// The model, named by its file. Fails with kUnavailable when the program was built without
// llama.cpp or the memory does not suffice, kNotFound or kIo for the file, kParse when it is no
// whole GGUF file of an architecture that llama.cpp knows.
Result<std::unique_ptr<ChatModel>> OpenLocalChatModel(const std::filesystem::path& file,
                                                      const LocalChatModelOptions& options = {});

}  // namespace optiml

#endif  // OPTIML_LLM_LOCAL_CHAT_MODEL_H_
