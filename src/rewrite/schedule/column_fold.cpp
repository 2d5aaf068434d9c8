// S3 and S10: neighbouring threads take neighbouring columns, the rows of a column are shared by
// several threads of the block and combined in shared memory. Regroups float sums.

#include <fmt/format.h>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeColumnFold() {
  Transformation result;
  result.name = "column_fold";
  result.code = "S3 S10";
  result.aims_at = Bound::kLatency;
  result.claim = {Up(metric::kBlocks), Down(metric::kGlobalLoadSectorsPerRequest)};
  result.prior = 3;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"slices", 16}}, {{"slices", 32}}, {{"slices", 8}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kColumnFold})) {
      return reason;
    }
    if (!facts.WritesDoNotAlias()) {
      return "a written buffer may overlap another one";
    }
    if (!facts.limits.allows_reassociation) {
      return "it regroups float sums, which the task does not allow";
    }
    return RefuseUnlessOneOf(schedule.Get("column_fold", "slices", 0), {4, 8, 16, 32}, "slices");
  };
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format(
        "share each column among {} threads, neighbours reading side by side "
        "(regroups float sums)",
        parameters.at("slices"));
  };
  return result;
}

}  // namespace optiml::rewrite
