// S2: how many threads a block has. Legal for every program that is printed point by point or as a
// map, a full fold or a scatter: their points do not depend on the block.

#include <fmt/format.h>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeBlockSize() {
  Transformation result;
  result.name = "block_size";
  result.code = "S2";
  result.aims_at = Bound::kOccupancy;
  result.claim = {Up(metric::kTheoreticalOccupancy)};
  result.prior = 0.3;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{
        {{"threads", 256}}, {{"threads", 512}}, {{"threads", 128}}, {{"threads", 1024}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    const int64_t threads = schedule.Get("block_size", "threads", 0);
    if (auto reason = RefuseUnlessOneOf(threads, {64, 128, 256, 512, 1024}, "threads")) {
      return reason;
    }
    if (threads > facts.limits.threads_per_block) {
      return fmt::format("a block has at most {} threads", facts.limits.threads_per_block);
    }
    for (const char* other :
         {"row_fold", "column_fold", "tile_shared", "turn_tile", "register_window"}) {
      if (schedule.Has(other)) {
        return fmt::format("{} decides the size of a block", other);
      }
    }
    if (facts.lifted.dims.empty()) {
      return "the program has one point";
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format("blocks of {} threads", parameters.at("threads"));
  };
  return result;
}

}  // namespace optiml::rewrite
