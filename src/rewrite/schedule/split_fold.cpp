// A1 and S10: a fold of everything into one element by an atomic of each point becomes shares of
// threads that walk through memory with the stride of the grid, a fold over each block, and one
// atomic per block. Regroups float sums (whose order the atomics had left open already).

#include <fmt/format.h>

#include "rewrite/schedule/normalise.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeSplitFold() {
  Transformation result;
  result.name = "split_fold";
  result.code = "A1 S10";
  result.aims_at = Bound::kLatency;
  result.claim = {Down(metric::kGlobalAtomicRequests), Down(metric::kThreadInstructions)};
  result.prior = 4;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"blocks", 8}}, {{"blocks", 4}}, {{"blocks", 16}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kFullFold})) {
      return reason;
    }
    if (!Flatten(facts.program, "i")) {
      return "some access does not run through memory in the order of the dims";
    }
    if (!facts.limits.allows_reassociation) {
      return "it regroups float sums, which the task does not allow";
    }
    for (const Stage& stage : facts.program.stages) {
      for (const Store& store : stage.stores) {
        const Parameter* target = facts.program.FindParameter(store.buffer);
        if (target == nullptr || ScalarBytes(target->type) < 4) {
          return fmt::format("{} has a type that shuffles do not move", store.buffer);
        }
        if (target->is_read) {
          return fmt::format("{} is read by the same kernel", store.buffer);
        }
        if (!facts.DistinctFromAll(store.buffer)) {
          return fmt::format("{} may overlap another buffer", store.buffer);
        }
      }
    }
    return RefuseUnlessOneOf(schedule.Get("split_fold", "blocks", 0), {1, 2, 4, 8, 16}, "blocks");
  };
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format(
        "fold shares of the input in registers and over each block, with one atomic "
        "per block and {} blocks a multiprocessor (regroups sums)",
        parameters.at("blocks"));
  };
  return result;
}

}  // namespace optiml::rewrite
