// S1: all dims of a map as one, with one index. Legal when every access runs through memory in the
// order of the dims; then rows need no alignment of their own and short rows fill whole blocks.

#include "rewrite/schedule/normalise.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeFlatten() {
  Transformation result;
  result.name = "flatten";
  result.code = "S1";
  result.aims_at = Bound::kLatency;
  result.claim = {Down(metric::kIntegerInstructions), Down(metric::kThreadInstructions)};
  result.prior = 0.6;
  result.choices = [](const KernelFacts&) { return std::vector<Parameters>{{}}; };
  result.refuse = [](const KernelFacts& facts, const Schedule&) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kMap})) {
      return reason;
    }
    if (facts.program.dims.size() < 2) {
      return "the program has one dim already";
    }
    if (!Flatten(facts.program, "i")) {
      return "some access does not run through memory in the order of the dims";
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts&, const Parameters&) {
    return std::string("walk through all dims with one index");
  };
  return result;
}

}  // namespace optiml::rewrite
