#ifndef OPTIML_CLI_INTENT_H_
#define OPTIML_CLI_INTENT_H_

// From a sentence on the command line to a task: what generate and `optimize --intent` share. The
// operator is shown before it is taken; only --yes or an answer on a terminal takes it.

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/cli_env.h"
#include "cli/toolbox.h"
#include "generate/matcher.h"
#include "generate/template.h"
#include "llm/chat_model.h"
#include "task/reference.h"

namespace optiml {

struct IntentOptions {
  std::string text;
  std::string operator_text;       // "softmax", "activation:op=relu": no matching
  std::vector<std::string> sizes;  // "rows=4096,cols=1024"
  bool yes = false;
  int samples = 0;  // kernels that a model is asked for
};
// --operator, --sizes, --samples and --yes.
void AddIntentOptions(CLI::App& app, IntentOptions& options, const std::string& group);

struct IntentOutcome {
  // Absent: nothing was taken. Then what was found and what to do was printed, and the command ends
  // with kExitBadUse.
  std::optional<GeneratedTask> task;
  bool has_kernel = true;       // false: kernel.cu waits for a sample
  nlohmann::ordered_json json;  // what was found and what was taken
};

// `command`: what messages tell the user to run again, "optiml generate". `talk`: where it says
// what it found; null: nowhere (--json).
// `model`: asked where matching gives no clear answer; may be null. An operator that it proposes is
// never taken by --yes; a task of its own (two references that agree) is.
Result<IntentOutcome> ResolveIntent(const IntentOptions& options, const std::string& command,
                                    CliEnv& env, std::ostream* talk, ChatModel* model = nullptr,
                                    const ReferenceOptions& reference = {});

// Writes the task's files into `folder`, which must not be there or be empty.
Result<void> WriteTask(const GeneratedTask& task, const std::filesystem::path& folder);

// A table of all operators, for --list and docs/intents.md.
Result<std::string> OperatorTable();
Result<nlohmann::ordered_json> OperatorJson();

}  // namespace optiml

#endif  // OPTIML_CLI_INTENT_H_
