#ifndef OPTIML_GENERATE_MODEL_TASK_H_
#define OPTIML_GENERATE_MODEL_TASK_H_

// A task for a sentence that no operator of the library covers: a language model says the interface
// and writes two references that know nothing of each other. Both are compiled and run confined;
// only if they agree on random inputs of several fills is there a task, and it says that its
// reference was generated.

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/kernel_task.h"
#include "generate/template.h"
#include "llm/chat_model.h"
#include "task/reference.h"

namespace optiml {

struct ModelTask {
  GeneratedTask task;    // kernel.cu is a launcher without kernels: a sample takes its place
  int agreed_cases = 0;  // on how many inputs the references agreed
};

// Fails as the model does; with kInvalidArgument when its interface is no task, a reference does
// not compile or does not run, the two are one text, or they disagree: the first difference.
Result<ModelTask> MakeTaskByModel(ChatModel& model, std::string_view sentence,
                                  const ReferenceOptions& options, uint64_t seed = 0);

// Runs both on every checked row with the declared fills and with others that the task allows.
// Returns the number of cases; fails (kInvalidArgument) at the first difference.
Result<int> CompareReferences(const KernelTask& task, HostReference& one, HostReference& other);

}  // namespace optiml

#endif  // OPTIML_GENERATE_MODEL_TASK_H_
