#ifndef OPTIML_LLM_MODEL_SPEC_H_
#define OPTIML_LLM_MODEL_SPEC_H_

// ModelSpec: how a user names a language model, in one word:
//
//   https://host/v1#MODEL       an OpenAI-compatible endpoint; http:// too
//   http://127.0.0.1:8080/v1    the same, where the endpoint has one model only
//   openai:MODEL                https://api.openai.com/v1#MODEL
//   local:PATH.gguf             weights in a file, by llama.cpp in this process
//   local:NAME                  the same, from the model library (llm/model_library.h)
//   replay:FILE                 a recording (llm/recording_chat_model.h)
//
// and OpenModel, which makes it a ChatModel with what the options put around it:
//
//   budget -> recorder -> provider
//
// so that only what was really exchanged is recorded.

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "llm/budget.h"
#include "llm/chat_model.h"
#include "llm/local_chat_model.h"
#include "llm/rate_limiter.h"

namespace optiml {

struct ModelSpec {
  enum class Kind { kHttp, kLocal, kReplay };
  Kind kind = Kind::kHttp;
  std::string url;    // kHttp: up to "/v1"
  std::string model;  // kHttp: as the endpoint calls it; kLocal: a name of the library, or empty
  std::filesystem::path file;  // kLocal without a name, kReplay
};

// Fails with kInvalidArgument, naming the known forms. A URL that holds a password or a query is
// refused: a key does not belong into a command line.
Result<ModelSpec> ParseModelSpec(const std::string& text);

struct ModelOptions {
  std::map<std::string, std::string> variables;  // of the process: keys (llm/api_key.h)
  std::filesystem::path working_directory;       // that paths are relative to
  std::filesystem::path key_file;                // empty: the key is one of the variables
  std::filesystem::path prices_file;             // adds to the built-in prices; empty: none
  std::filesystem::path library;                 // folder of local:NAME
  std::filesystem::path record;                  // empty: exchanges are not recorded
  std::shared_ptr<ModelLedger> budget;           // null: none
  std::shared_ptr<RateLimiter> rate_limiter;     // of the endpoint; null: one of its own
  LocalChatModelOptions local;
};

// Fails with kInvalidArgument when the budget is in dollars and the price of a hosted model is not
// known, and as the provider's own Open does. Reaches no endpoint yet.
Result<std::unique_ptr<ChatModel>> OpenModel(const ModelSpec& spec, const ModelOptions& options);

}  // namespace optiml

#endif  // OPTIML_LLM_MODEL_SPEC_H_
