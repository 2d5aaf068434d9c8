// S5: a thread takes several points (or packs of them), read before the first is used: more bytes
// in flight, fewer blocks. Always legal for independent points and for shares of a fold.

#include <fmt/format.h>

#include "rewrite/schedule/normalise.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeCoarsen() {
  Transformation result;
  result.name = "coarsen";
  result.code = "S5";
  result.aims_at = Bound::kLatency;
  result.claim = {Down(metric::kThreadInstructions), Down(metric::kBlocks)};
  result.prior = 0.8;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"items", 4}}, {{"items", 2}}, {{"items", 8}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(
            facts, {ShapeKind::kMap, ShapeKind::kFullFold, ShapeKind::kScatter})) {
      return reason;
    }
    if (facts.shape.kind == ShapeKind::kFullFold) {
      if (auto reason = RefuseUnlessPresent(schedule, "split_fold")) {
        return reason;
      }
    }
    if (facts.shape.kind == ShapeKind::kScatter) {
      if (auto reason = RefuseUnlessPresent(schedule, "privatise")) {
        return reason;
      }
    }
    if (facts.shape.kind == ShapeKind::kMap &&
        !(facts.program.dims.size() == 1 || schedule.Has("flatten"))) {
      return "needs flatten before it";
    }
    return RefuseUnlessOneOf(schedule.Get("coarsen", "items", 0), {2, 4, 8}, "items");
  };
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format("let each thread take {} shares, all read before the first is used",
                       parameters.at("items"));
  };
  return result;
}

}  // namespace optiml::rewrite
