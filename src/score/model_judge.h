#ifndef OPTIML_SCORE_MODEL_JUDGE_H_
#define OPTIML_SCORE_MODEL_JUDGE_H_

// The judge that is a language model: what it is asked, and how strictly its answer is read. It
// sees code without comments and strings, and nothing that a proposer says of its own edit but the
// claim: neither can plead with it.

#include <string>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "core/judgement.h"
#include "llm/chat_model.h"

namespace optiml {

// Before: how plausible each edit is for this diagnosis.
struct OpinionInput {
  std::string device;  // DeviceText
  std::string source;  // of the variant that is to be edited
  const Evaluation* evaluation = nullptr;
  std::optional<PlacedDiagnosis> diagnosis;
  std::vector<Edit> edits;
};
std::vector<ChatMessage> OpinionPrompt(const OpinionInput& input);
// One for each edit, in order. Refused (kParse) when the answer does not follow
// prompts/opinions.schema.json or does not rate each edit once.
Result<std::vector<Opinion>> ReadOpinions(const std::string& reply, size_t count,
                                          const std::string& model);

// After: whether the edit did what it claimed.
struct VerdictInput {
  const Edit* edit = nullptr;
  std::optional<PlacedDiagnosis> diagnosis;  // of what the edit was applied to
  const Evaluation* before = nullptr;        // both accepted, with profiles
  const Evaluation* after = nullptr;
  std::string source_before;
  std::string source_after;
};
std::vector<ChatMessage> VerdictPrompt(const VerdictInput& input);
// Refused (kParse) when the answer does not follow prompts/verdict.schema.json.
Result<Judgement> ReadVerdict(const std::string& reply, const std::string& model);

}  // namespace optiml

#endif  // OPTIML_SCORE_MODEL_JUDGE_H_
