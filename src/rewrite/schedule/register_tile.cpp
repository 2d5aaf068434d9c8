// S9: each thread of a tiled contraction computes several rows and columns, so that what it reads
// from shared memory is used several times.

#include <fmt/format.h>

#include "rewrite/schedule/contraction_tiles.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeRegisterTile() {
  Transformation result;
  result.name = "register_tile";
  result.code = "S9";
  result.aims_at = Bound::kCompute;
  result.claim = {Down(metric::kSharedLoadWavefronts), Down(metric::kWarpInstructions),
                  Up(metric::kRegisters)};
  result.prior = 2;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{
        {{"m", 8}, {"n", 8}}, {{"m", 4}, {"n", 4}}, {{"m", 8}, {"n", 4}}, {{"m", 2}, {"n", 2}}};
  };
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
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format("keep {} x {} results of each thread in registers", parameters.at("m"),
                       parameters.at("n"));
  };
  return result;
}

}  // namespace optiml::rewrite
