#ifndef OPTIML_LLM_LLAMA_MODEL_FILE_H_
#define OPTIML_LLM_LLAMA_MODEL_FILE_H_

// Loading a GGUF file with llama.cpp: its reasons for a failure as one Error, and the memory looked
// at before it is taken. Built only with llama.cpp.
//
// llama.cpp has one log for the whole process. The first load takes it over: its lines go to
// base/log.h (info), and nothing is printed.

#include <llama.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/result.h"

namespace optiml {

struct LlamaModelDeleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct LlamaContextDeleter {
  void operator()(llama_context* context) const { llama_free(context); }
};
using LlamaModelPointer = std::unique_ptr<llama_model, LlamaModelDeleter>;
using LlamaContextPointer = std::unique_ptr<llama_context, LlamaContextDeleter>;

// `memory_bytes`: what may be taken; absent: as the machine says. Fails as OpenLocalChatModel does.
Result<LlamaModelPointer> LoadLlamaModel(const std::filesystem::path& file,
                                         std::optional<uint64_t> memory_bytes = {});

// A context of `params`. Fails with kUnavailable when the keys and values of params.n_ctx tokens do
// not fit into the memory that is left (`memory_bytes` as above).
Result<LlamaContextPointer> MakeLlamaContext(llama_model* model, const llama_context_params& params,
                                             std::optional<uint64_t> memory_bytes = {});

}  // namespace optiml

#endif  // OPTIML_LLM_LLAMA_MODEL_FILE_H_
