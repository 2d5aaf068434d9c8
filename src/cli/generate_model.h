#ifndef OPTIML_CLI_GENERATE_MODEL_H_
#define OPTIML_CLI_GENERATE_MODEL_H_

// A model's kernels for a task that was just written: they are put through the stages like any
// other kernel, and the best of them becomes the task's.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/cli_env.h"
#include "cli/intent.h"
#include "cli/task_options.h"
#include "cli/toolbox.h"
#include "llm/chat_model.h"

namespace optiml {

// Samples `count` kernels for the task in `task.path`. Where one is accepted, it becomes kernel.cu;
// what was there is kept as naive.cu if `has_kernel`, and the other accepted ones stay beside it as
// samples/N.cu. Returns a row for each sample. Fails (kInvalidArgument) when none is accepted and
// the task has no kernel of its own; nothing is changed then.
Result<nlohmann::ordered_json> SampleIntoTask(ChatModel& model, const TaskOptions& task,
                                              bool has_kernel, int count, const CliEnv& env,
                                              Toolbox& tools);

// Puts `intent.samples` kernels of the model through the stages of the task that was written into
// the folder task.path; at least one where the task waits for a kernel. What became of them is
// outcome.json["samples"]. Fails (kInvalidArgument) when kernels are asked for without a model.
Result<void> AddSamples(IntentOutcome& outcome, const IntentOptions& intent, ChatModel* model,
                        const TaskOptions& task, const CliEnv& env, Toolbox& tools);

}  // namespace optiml

#endif  // OPTIML_CLI_GENERATE_MODEL_H_
