#ifndef OPTIML_CLI_OPEN_MODEL_H_
#define OPTIML_CLI_OPEN_MODEL_H_

// The language model that a word of the command line names: the forms of llm/model_spec.h, and
//
//   mot:BUNDLE     a mixture of thoughts; its experts lie beside the bundle
//   script:FILE    prepared answers, for tests and demonstrations: each line of the file is one
//                  reply, a JSON object as it is or a JSON string; empty lines are skipped
//
// Of the environment: OPTIML_API_KEY, OPENAI_API_KEY, OPTIML_API_KEY_FILE (llm/api_key.h) and
// OPTIML_PRICES, a file of prices that adds to the built-in ones.

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/cli_env.h"
#include "llm/budget.h"
#include "llm/chat_model.h"

namespace optiml {

// `budget` is what the model's requests are charged to; null: nothing. Fails as OpenModel does.
Result<std::unique_ptr<ChatModel>> OpenModelByName(const std::string& spec, const CliEnv& env,
                                                   const std::shared_ptr<ModelLedger>& budget);

// The same word with absolute paths, so that a resumed run finds the files from anywhere.
std::string WithAbsolutePaths(const std::string& spec, const CliEnv& env);

}  // namespace optiml

#endif  // OPTIML_CLI_OPEN_MODEL_H_
