// S3: neighbouring threads run along the dim that is contiguous in memory. Always legal for a map,
// whose points are independent; pointless when they do so already.

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeInterchange() {
  Transformation result;
  result.name = "interchange";
  result.code = "S3";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadSectorsPerRequest),
                  Down(metric::kGlobalStoreSectorsPerRequest)};
  result.prior = 3;
  result.choices = [](const KernelFacts&) { return std::vector<Parameters>{{}}; };
  result.refuse = [](const KernelFacts& facts, const Schedule&) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kMap})) {
      return reason;
    }
    if (facts.shape.contiguous.empty()) {
      return "no dim is contiguous in memory";
    }
    for (const Dim& dim : facts.lifted.dims) {
      if (dim.name == facts.shape.contiguous && dim.thread_axis == 0) {
        return "neighbouring threads run along contiguous memory already";
      }
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts& facts, const Parameters&) {
    return "let neighbouring threads run along " + facts.shape.contiguous +
           ", which is contiguous in memory";
  };
  return result;
}

}  // namespace optiml::rewrite
