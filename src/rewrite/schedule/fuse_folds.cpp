// A2: two folds over the same row as one pass over a tuple: maximum and sum of exponentials, or
// mean and squared deviations. Regroups and rescales float sums.

#include "rewrite/schedule/fusion.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeFuseFolds() {
  Transformation result;
  result.name = "fuse_folds";
  result.code = "A2";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadRequests), Down(metric::kGlobalLoadSectors)};
  result.prior = 1.2;
  result.choices = [](const KernelFacts&) { return std::vector<Parameters>{{}}; };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kRowFold})) {
      return reason;
    }
    if (auto reason = RefuseUnlessPresent(schedule, "row_fold")) {
      return reason;
    }
    if (!facts.limits.allows_reassociation) {
      return "it regroups float sums, which the task does not allow";
    }
    if (!FindFusion(facts.program)) {
      return "no two folds have a known tuple form";
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts& facts, const Parameters&) {
    const std::optional<Fusion> fusion = FindFusion(facts.program);
    return std::string(fusion && fusion->kind == FusionKind::kMoments
                           ? "find mean and squared deviations in one pass (regroups float sums)"
                           : "find maximum and sum of exponentials in one pass (rescales the sum "
                             "as the maximum grows)");
  };
  return result;
}

}  // namespace optiml::rewrite
