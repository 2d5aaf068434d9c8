#ifndef OPTIML_OPTIMIZE_CHAINED_CATALOGUE_H_
#define OPTIML_OPTIMIZE_CHAINED_CATALOGUE_H_

// A catalogue for chains with a model's own edits in them. Such an edit makes a new text, and what
// comes after it starts from that text: it is parsed and lifted anew, and the rewrites that are
// legal there follow. Where it cannot be lifted, the text edits of the catalogue may, and other
// edits of a model.
//
//     rewrite, rewrite, hunks, rewrite, kernel, hunks
//     '-- of the root --'      '-- of   '-- text alone
//                              hunks' text

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/content_hash.h"
#include "base/result.h"
#include "rewrite/catalogue.h"

namespace optiml {

class ChainedCatalogue : public rewrite::Catalogue {
 public:
  // The catalogue over a text, or why there is none. An Error: a tool is broken.
  using Made = std::variant<std::unique_ptr<rewrite::Catalogue>, std::string>;
  using MakeFunction = std::function<Result<Made>(const KernelSource& source)>;

  ChainedCatalogue(std::unique_ptr<rewrite::Catalogue> root, MakeFunction make)
      : root_(std::move(root)), make_(std::move(make)) {}

  // Makes the catalogues that Apply(chain) needs and, with `for_proposals`, Propose(chain).
  // REQUIRED before either.
  Result<void> Prepare(std::span<const Edit> chain, bool for_proposals);

  const std::vector<rewrite::LiftReport>& Lifted() const override { return root_->Lifted(); }
  std::vector<Edit> Propose(std::span<const Edit> chain, const Diagnosis* diagnosis) const override;
  rewrite::ApplyOutcome Apply(std::span<const Edit> chain) const override;
  rewrite::ApplyOutcome Identity() const override { return root_->Identity(); }

 private:
  // The catalogue over what the last model's edit of the chain made, and the edits after it; or why
  // there is none.
  struct Tail {
    const rewrite::Catalogue* catalogue = nullptr;
    std::span<const Edit> edits;
  };
  std::variant<Tail, rewrite::ApplyRefusal> TailOf(std::span<const Edit> chain) const;

  std::unique_ptr<rewrite::Catalogue> root_;
  MakeFunction make_;
  std::map<ContentHash, Made> made_;  // by the text's hash
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_CHAINED_CATALOGUE_H_
