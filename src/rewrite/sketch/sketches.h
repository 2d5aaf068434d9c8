#ifndef OPTIML_REWRITE_SKETCH_SKETCHES_H_
#define OPTIML_REWRITE_SKETCH_SKETCHES_H_

// Sketches: several primitives with holes that pay only together, for each shape of program. They
// are offered where a kernel has no schedule yet; single transformations go on from there.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

struct Sketch {
  std::string name;
  ShapeKind kind = ShapeKind::kOther;
  Bound aims_at = Bound::kUnknown;
  std::vector<MetricClaim> claim;
  double prior = 1;
  // Filled holes worth trying, the best guess for the launched sizes first.
  std::function<std::vector<Parameters>(const KernelFacts&)> choices;
  std::function<Schedule(const KernelFacts&, const Parameters&)> expand;
  std::function<std::string(const KernelFacts&, const Parameters&)> summary;
};

const std::vector<Sketch>& Sketches();
const Sketch* FindSketch(std::string_view name);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SKETCH_SKETCHES_H_
