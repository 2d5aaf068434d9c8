#ifndef OPTIML_PROMPT_PROMPTS_H_
#define OPTIML_PROMPT_PROMPTS_H_

// The texts that language models are asked with. Their words are in prompts/, compiled in; the code
// only fills their {{holes}}, each once and in one pass: what is put into a hole is never read as a
// template. A prompt's version is a hash of its template and of the schema of its reply, so that a
// stored exchange says exactly what was asked (docs/prompts.md).

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_text.h"
#include "llm/chat_model.h"

namespace optiml {

enum class ModelRole { kDiagnoser, kProposer, kJudge };
inline constexpr ModelRole kModelRoles[] = {ModelRole::kDiagnoser, ModelRole::kProposer,
                                            ModelRole::kJudge};
std::string ModelRoleName(ModelRole role);  // "diagnoser", "proposer", "judge"
std::optional<ModelRole> ParseModelRole(std::string_view name);

enum class Prompt {
  kDiagnoser,
  kProposer,
  kJudgeBefore,
  kJudgeAfter,
  kRepair,
  // Of `generate`: a sentence becomes a task and its kernels.
  kChooseOperator,
  kDescribeTask,
  kWriteReference,
  kWriteKernel,
  kRepairKernel,
};
inline constexpr int kPromptCount = static_cast<int>(Prompt::kRepairKernel) + 1;

// "proposer 3f2a9c01"
std::string PromptVersion(Prompt prompt);
// The JSON Schema that its reply has to follow; "" for kRepair, whose reply is that of the
// question, and for those that are answered with code.
std::string_view ReplySchema(Prompt prompt);

// REQUIRES: `values` has exactly the template's holes.
std::vector<ChatMessage> RenderPrompt(Prompt prompt,
                                      const std::map<std::string, std::string>& values);

// "=== user ===\n..." for each message: what the store and the golden files hold.
std::string FormatMessages(const std::vector<ChatMessage>& messages);

// The files of prompts/.
std::span<const EmbeddedText> EmbeddedPrompts();

}  // namespace optiml

#endif  // OPTIML_PROMPT_PROMPTS_H_
