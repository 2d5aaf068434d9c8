#ifndef OPTIML_PROPOSE_MODEL_PROPOSER_H_
#define OPTIML_PROPOSE_MODEL_PROPOSER_H_

// Edits by a language model: what it is asked, and how strictly its answer is read. What it
// proposes is text that passes the same checks as any candidate; nothing else of its answer has any
// effect.

#include <string>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "core/judgement.h"
#include "llm/chat_model.h"

namespace optiml {

// An edit that was tried, with what it came to.
struct TriedEdit {
  const Edit* edit = nullptr;
  std::string outcome;  // "predicted 1.25 times as fast as the original", "rejected at L1: ..."
};

struct ProposerInput {
  std::string source;  // the variant's
  std::string entry;
  std::string intent;                        // the task's words; may be empty
  std::string device;                        // DeviceText
  const Evaluation* evaluation = nullptr;    // of the variant; accepted
  std::optional<PlacedDiagnosis> diagnosis;  // of the variant
  std::vector<TriedEdit> chain;              // from the root
  std::vector<TriedEdit> failed;
  std::vector<Edit> catalogue;  // legal here
  int most = 3;                 // edits that are asked for
};

std::vector<ChatMessage> ProposerPrompt(const ProposerInput& input);

// The proposed edits, best first, of different labels, each by `model`. Refused (kParse) when the
// answer does not follow prompts/proposals.schema.json, has more edits than were asked for, or
// claims something of a metric that the evaluation's profile lacks.
Result<std::vector<Proposal>> ReadProposals(const std::string& reply, const ProposerInput& input,
                                            const std::string& model);

}  // namespace optiml

#endif  // OPTIML_PROPOSE_MODEL_PROPOSER_H_
