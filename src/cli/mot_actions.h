#ifndef OPTIML_CLI_MOT_ACTIONS_H_
#define OPTIML_CLI_MOT_ACTIONS_H_

// What `optiml mot` does. Without llama.cpp there is one action: to say so.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/cli_env.h"
#include "llm/chat_model.h"

namespace optiml {

struct MotCommandOptions {
  std::string action;  // init, inspect, check, route, generate
  std::string bundle;  // a file
  bool json = false;

  // Where the experts are.
  std::vector<std::string> experts;  // NAME=FILE
  std::string models;                // a folder; "": the bundle's
  bool other_weights = false;

  // Of a new bundle.
  std::vector<std::string> peers;    // names of experts that cannot be the primary
  std::vector<std::string> formats;  // NAME=FORMAT
  int stacks = 4;
  int64_t shared_width = 256;
  int heads = 8;
  std::string router = "hidden-mean";

  // Of a request.
  std::string prompt;              // a file
  std::vector<std::string> parts;  // NAME=FILE
  std::vector<std::string> views;  // NAME=PART,PART (of a new bundle, too)
  int top_k = 0;                   // 0: the bundle's; of a new bundle: 2
  std::string primary;
  std::vector<int> depths;
  std::string peer_mode;  // "": the bundle's
  bool no_mot = false;
  std::string encoder;  // a file
  int threads = 0;
  int64_t context = 4096;

  // Of the answers.
  int candidates = 1;
  int max_tokens = 512;
  double temperature = 0;
  uint64_t seed = 0;
  std::string grammar;  // a file
};

Result<int> RunMotAction(const MotCommandOptions& options, CliEnv& env);

// The mixture of a bundle as a ChatModel; its experts lie beside it.
Result<std::unique_ptr<ChatModel>> OpenMotModel(const std::string& bundle, const CliEnv& env);

}  // namespace optiml

#endif  // OPTIML_CLI_MOT_ACTIONS_H_
