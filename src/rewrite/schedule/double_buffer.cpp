// S8, second stage: the next pieces of the operands are on their way while the present ones are
// used; one barrier per piece instead of two.

#include "rewrite/schedule/contraction_tiles.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeDoubleBuffer() {
  Transformation result;
  result.name = "double_buffer";
  result.code = "S8";
  result.aims_at = Bound::kLatency;
  result.claim = {Down(metric::kBarriers), Up(metric::kSharedBytesPerBlock)};
  result.prior = 1.5;
  result.choices = [](const KernelFacts&) { return std::vector<Parameters>{{}}; };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kContraction})) {
      return reason;
    }
    if (auto reason = RefuseUnlessPresent(schedule, "tile_shared")) {
      return reason;
    }
    return RefuseTiles(facts, TilesOf(schedule));
  };
  result.summary = [](const KernelFacts&, const Parameters&) {
    return std::string("fetch the next tiles while the present ones are multiplied");
  };
  return result;
}

}  // namespace optiml::rewrite
