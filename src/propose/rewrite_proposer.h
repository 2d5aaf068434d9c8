#ifndef OPTIML_PROPOSE_REWRITE_PROPOSER_H_
#define OPTIML_PROPOSE_REWRITE_PROPOSER_H_

#include "propose/proposer.h"
#include "rewrite/catalogue.h"

namespace optiml {

// The built-in rewrites: what the catalogue holds legal after the chain, with priors that follow
// the diagnosis of the chain's variant where there is one. Of edits with one label the first stays.
class RewriteProposer : public Proposer {
 public:
  // The catalogue is borrowed.
  explicit RewriteProposer(const rewrite::Catalogue& catalogue) : catalogue_(catalogue) {}
  Result<std::vector<Edit>> Propose(const ProposalRequest& request) override;

 private:
  const rewrite::Catalogue& catalogue_;
};

}  // namespace optiml

#endif  // OPTIML_PROPOSE_REWRITE_PROPOSER_H_
