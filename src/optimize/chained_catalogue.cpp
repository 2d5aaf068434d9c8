#include "optimize/chained_catalogue.h"

#include "base/check.h"
#include "rewrite/model_edits.h"

namespace optiml {
namespace {

// One past the last of the model's own edits; 0 without one.
size_t EndOfModelEdits(std::span<const Edit> chain) {
  size_t end = chain.size();
  while (end > 0 && chain[end - 1].origin != EditOrigin::kModel) {
    --end;
  }
  return end;
}

}  // namespace

Result<void> ChainedCatalogue::Prepare(std::span<const Edit> chain, bool for_proposals) {
  for (size_t i = 0; i < chain.size(); ++i) {
    const bool last = i + 1 == chain.size();
    const bool is_needed = last ? for_proposals : chain[i + 1].origin != EditOrigin::kModel;
    if (chain[i].origin != EditOrigin::kModel || !is_needed) {
      continue;
    }
    const rewrite::ApplyOutcome text = Apply(chain.first(i + 1));
    const auto* source = std::get_if<KernelSource>(&text);
    if (source == nullptr) {
      return {};  // Apply says why
    }
    if (!made_.contains(source->hash())) {
      OPTIML_ASSIGN(Made made, make_(*source));
      made_.emplace(source->hash(), std::move(made));
    }
  }
  return {};
}

std::variant<ChainedCatalogue::Tail, rewrite::ApplyRefusal> ChainedCatalogue::TailOf(
    std::span<const Edit> chain) const {
  const size_t end = EndOfModelEdits(chain);
  if (end == 0) {
    return Tail{root_.get(), chain};
  }
  const rewrite::ApplyOutcome text = Apply(chain.first(end));
  if (const auto* refusal = std::get_if<rewrite::ApplyRefusal>(&text)) {
    return *refusal;
  }
  const auto found = made_.find(std::get<KernelSource>(text).hash());
  OPTIML_CHECK(found != made_.end(), "a chain is prepared before it is used");
  if (const auto* reason = std::get_if<std::string>(&found->second)) {
    return rewrite::ApplyRefusal{"no rewrite can follow: " + *reason};
  }
  return Tail{std::get<std::unique_ptr<rewrite::Catalogue>>(found->second).get(),
              chain.subspan(end)};
}

std::vector<Edit> ChainedCatalogue::Propose(std::span<const Edit> chain,
                                            const Diagnosis* diagnosis) const {
  const std::variant<Tail, rewrite::ApplyRefusal> found = TailOf(chain);
  const Tail* tail = std::get_if<Tail>(&found);
  return tail == nullptr ? std::vector<Edit>() : tail->catalogue->Propose(tail->edits, diagnosis);
}

rewrite::ApplyOutcome ChainedCatalogue::Apply(std::span<const Edit> chain) const {
  if (chain.empty() || chain.back().origin != EditOrigin::kModel) {
    const std::variant<Tail, rewrite::ApplyRefusal> found = TailOf(chain);
    if (const auto* refusal = std::get_if<rewrite::ApplyRefusal>(&found)) {
      return *refusal;
    }
    const Tail& tail = std::get<Tail>(found);
    return tail.catalogue->Apply(tail.edits);
  }
  const rewrite::ApplyOutcome before = Apply(chain.first(chain.size() - 1));
  const auto* source = std::get_if<KernelSource>(&before);
  return source == nullptr ? before : rewrite::ApplyModelEdit(*source, chain.back());
}

}  // namespace optiml
