// S15: tells the compiler how many blocks shall share a multiprocessor, so that it keeps to the
// registers which that leaves. Never wrong; it may spill, which the build reports.

#include <fmt/format.h>

#include "rewrite/schedule/contraction_tiles.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {
namespace {

int64_t ThreadsOf(const KernelFacts& facts, const Schedule& schedule) {
  if (schedule.Has("row_fold")) {
    return std::max<int64_t>(schedule.Get("row_fold", "threads", 256), 256);
  }
  if (schedule.Has("tile_shared")) {
    const ContractionTiles tiles = TilesOf(schedule);
    return (tiles.m / tiles.thread_m) * (tiles.n / tiles.thread_n);
  }
  (void)facts;
  return schedule.Get("block_size", "threads", 256);
}

}  // namespace

Transformation MakeLaunchBounds() {
  Transformation result;
  result.name = "launch_bounds";
  result.code = "S15";
  result.aims_at = Bound::kOccupancy;
  result.claim = {Up(metric::kTheoreticalOccupancy), Down(metric::kRegisters)};
  result.prior = 0.3;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"blocks", 2}}, {{"blocks", 4}}, {{"blocks", 8}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (schedule.primitives.size() < 2) {
      return "needs another edit before it";
    }
    const int64_t blocks = schedule.Get("launch_bounds", "blocks", 0);
    if (auto reason = RefuseUnlessOneOf(blocks, {1, 2, 3, 4, 6, 8}, "blocks")) {
      return reason;
    }
    const int64_t threads = ThreadsOf(facts, schedule);
    if (threads * blocks > facts.limits.threads_per_multiprocessor) {
      return fmt::format("{} blocks of {} threads are more than a multiprocessor holds ({})",
                         blocks, threads, facts.limits.threads_per_multiprocessor);
    }
    int64_t needed = 24;
    if (schedule.Has("tile_shared")) {
      const ContractionTiles tiles = TilesOf(schedule);
      needed = tiles.thread_m * tiles.thread_n + 2 * (tiles.thread_m + tiles.thread_n) + 24;
    } else if (schedule.Has("keep_row")) {
      needed = schedule.Get("keep_row", "items", 1) * schedule.Get("vector_width", "width", 1) + 24;
    }
    const int64_t registers =
        static_cast<int64_t>(facts.limits.registers_per_multiprocessor) / (threads * blocks);
    if (registers < needed) {
      return fmt::format("it leaves {} registers a thread, about {} are needed", registers, needed);
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format("have the compiler leave registers for {} blocks on a multiprocessor",
                       parameters.at("blocks"));
  };
  return result;
}

}  // namespace optiml::rewrite
