#include "propose/rewrite_proposer.h"

#include <set>
#include <string>

#include "base/check.h"

namespace optiml {

Result<std::vector<Edit>> RewriteProposer::Propose(const ProposalRequest& request) {
  OPTIML_CHECK(request.evaluation != nullptr, "edits are proposed for an evaluated variant");
  const std::optional<Diagnosis>& diagnosis = request.evaluation->diagnosis;
  std::vector<Edit> edits = catalogue_.Propose(request.chain, diagnosis ? &*diagnosis : nullptr);
  std::set<std::string> labels;
  std::erase_if(edits, [&](const Edit& edit) { return !labels.insert(edit.Label()).second; });
  return edits;
}

}  // namespace optiml
