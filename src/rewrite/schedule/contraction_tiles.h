#ifndef OPTIML_REWRITE_SCHEDULE_CONTRACTION_TILES_H_
#define OPTIML_REWRITE_SCHEDULE_CONTRACTION_TILES_H_

// ContractionTiles: the sizes that decide a tiled contraction, read off its schedule, and whether
// they fit together and into a multiprocessor.

#include <cstdint>
#include <optional>
#include <string>

#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/schedule.h"

namespace optiml::rewrite {

struct ContractionTiles {
  int64_t m = 0;  // results of a block
  int64_t n = 0;
  int64_t k = 0;         // steps of the fold that are in shared memory at once
  int64_t thread_m = 1;  // results of a thread
  int64_t thread_n = 1;
  int64_t buffers = 1;
  int64_t width = 1;  // elements of a pack
};

ContractionTiles TilesOf(const Schedule& schedule);
// Why the sizes do not work, or nothing.
std::optional<std::string> RefuseTiles(const KernelFacts& facts, const ContractionTiles& tiles);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_CONTRACTION_TILES_H_
