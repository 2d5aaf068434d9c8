#include "generate/kernel_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "prompt/code_reply.h"
#include "prompt/prompts.h"

namespace optiml {
namespace {

// A compiler may say much; a model needs the beginning.
constexpr size_t kMostMessage = 2000;

const char* CudaType(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "__half";
    case DType::kBf16:
      return "__nv_bfloat16";
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kU8:
      return "unsigned char";
    case DType::kI64:
      return "long long";
    default:
      return "int";
  }
}

class Sampler {
 public:
  Sampler(ChatModel& model, const KernelTask& task, const JudgeKernel& judge,
          const SampleOptions& options)
      : model_(model), task_(task), judge_(judge), options_(options) {}

  Result<KernelSample> Sample(const std::vector<ChatMessage>& prompt, int index) {
    ChatRequest request;
    request.messages = prompt;
    request.max_tokens = options_.max_tokens;
    request.temperature = index == 0 ? 0 : options_.temperature;
    request.seed = options_.seed + static_cast<uint64_t>(index);
    request.stop = options_.stop;
    OPTIML_ASSIGN(const ChatReply first, model_.Complete(request));
    OPTIML_ASSIGN(KernelSample sample, Judge(first.text, index));
    if (sample.verdict.accepted) {
      return sample;
    }
    request.messages.push_back({ChatRole::kAssistant, first.text});
    const std::vector<ChatMessage> repair = RenderPrompt(
        Prompt::kRepairKernel, {{"message", sample.verdict.message.substr(0, kMostMessage)}});
    request.messages.insert(request.messages.end(), repair.begin(), repair.end());
    const auto second = model_.Complete(request);
    if (!second) {
      // The first answer stands; only the user's wish to stop ends the sampling.
      if (second.error().code() == ErrorCode::kInterrupted) {
        return second.error();
      }
      return sample;
    }
    OPTIML_ASSIGN(KernelSample repaired, Judge(second->text, index));
    repaired.was_repaired = true;
    return repaired;
  }

 private:
  Result<KernelSample> Judge(const std::string& reply, int index) const {
    KernelSample sample;
    const auto code = CodeOfReply(reply);
    if (!code) {
      sample.verdict.message = code.error().message();
      return sample;
    }
    sample.source =
        KernelSource(*code, task_.source.entry(), fmt::format("sample{}.cu", index + 1));
    OPTIML_ASSIGN(sample.verdict, judge_(sample.source));
    return sample;
  }

  ChatModel& model_;
  const KernelTask& task_;
  const JudgeKernel& judge_;
  const SampleOptions& options_;
};

bool IsBefore(const KernelSample& a, const KernelSample& b) {
  if (a.verdict.accepted != b.verdict.accepted) {
    return a.verdict.accepted;
  }
  const double none = std::numeric_limits<double>::infinity();
  return a.verdict.seconds.value_or(none) < b.verdict.seconds.value_or(none);
}

}  // namespace

std::string LauncherDeclaration(const KernelTask& task) {
  std::string parameters;
  for (const ArgSpec& arg : task.args) {
    const bool is_read_only = arg.is_buffer && arg.role == ArgRole::kIn;
    parameters +=
        fmt::format("{}{}{}{} {}", parameters.empty() ? "" : ", ", is_read_only ? "const " : "",
                    CudaType(arg.dtype), arg.is_buffer ? "*" : "", arg.name);
  }
  return fmt::format("extern \"C\" void {}({})", task.source.entry(), parameters);
}

Result<std::vector<KernelSample>> SampleKernels(ChatModel& model, const KernelTask& task,
                                                const std::string& reference,
                                                const JudgeKernel& judge,
                                                const SampleOptions& options) {
  const std::vector<ChatMessage> prompt =
      RenderPrompt(Prompt::kWriteKernel, {{"title", task.intent},
                                          {"declaration", LauncherDeclaration(task)},
                                          {"reference", reference}});
  Sampler sampler(model, task, judge, options);
  std::vector<KernelSample> samples;
  std::set<std::string> texts;
  for (int i = 0; i < options.count; ++i) {
    auto sample = sampler.Sample(prompt, i);
    if (!sample) {
      // What was sampled before the budget or the server ended is kept.
      if (samples.empty() || sample.error().code() == ErrorCode::kInterrupted) {
        return std::move(sample).error();
      }
      break;
    }
    if (texts.insert(sample->source.text()).second) {
      samples.push_back(*std::move(sample));
    }
  }
  std::stable_sort(samples.begin(), samples.end(), IsBefore);
  return samples;
}

}  // namespace optiml
