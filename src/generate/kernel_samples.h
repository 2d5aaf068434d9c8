#ifndef OPTIML_GENERATE_KERNEL_SAMPLES_H_
#define OPTIML_GENERATE_KERNEL_SAMPLES_H_

// Kernels that a language model writes for a task: several samples, each with one turn to repair
// what the compiler or the checks refused, ranked by their predicted times. The best is where a
// search may start; with no model that is the task's own naive kernel.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_source.h"
#include "core/kernel_task.h"
#include "llm/chat_model.h"

namespace optiml {

// What the stages say of one kernel.
struct KernelVerdict {
  bool accepted = false;
  std::string message;            // of a refused one: the stage and the reason
  std::optional<double> seconds;  // of an accepted one, at the timed shapes
};
// Builds, checks and times; an Error only where a tool is broken.
using JudgeKernel = std::function<Result<KernelVerdict>(const KernelSource&)>;

struct SampleOptions {
  int count = 4;             // > 0
  double temperature = 0.8;  // of the samples after the first, which takes the likeliest
  int max_tokens = 4096;
  uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;  // borrowed; may be null
};

struct KernelSample {
  KernelSource source;        // empty when the reply had no code
  bool was_repaired = false;  // the second answer counts
  KernelVerdict verdict;
};

// The declaration of a task's launcher: `extern "C" void softmax(const float* x, ...)`.
std::string LauncherDeclaration(const KernelTask& task);

// Accepted samples first, the fastest before the others; equal texts count once. `reference`: the
// text of the task's reference, for the prompt. Fails when the model cannot be asked at all; a
// reply without code is a refused sample.
Result<std::vector<KernelSample>> SampleKernels(ChatModel& model, const KernelTask& task,
                                                const std::string& reference,
                                                const JudgeKernel& judge,
                                                const SampleOptions& options);

}  // namespace optiml

#endif  // OPTIML_GENERATE_KERNEL_SAMPLES_H_
