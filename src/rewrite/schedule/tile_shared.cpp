// S7 and S8: a block computes a tile of a contraction; the pieces of both operands that it needs
// are copied to shared memory a few steps of the fold at a time and read from there many times.

#include <fmt/format.h>

#include "rewrite/schedule/contraction_tiles.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

ContractionTiles TilesOf(const Schedule& schedule) {
  ContractionTiles tiles;
  tiles.m = schedule.Get("tile_shared", "m", 0);
  tiles.n = schedule.Get("tile_shared", "n", 0);
  tiles.k = schedule.Get("tile_shared", "k", 0);
  tiles.thread_m = schedule.Get("register_tile", "m", 1);
  tiles.thread_n = schedule.Get("register_tile", "n", 1);
  tiles.buffers = schedule.Has("double_buffer") ? 2 : 1;
  tiles.width = schedule.Get("vector_width", "width", 1);
  return tiles;
}

std::optional<std::string> RefuseTiles(const KernelFacts& facts, const ContractionTiles& tiles) {
  for (const int64_t size : {tiles.m, tiles.n}) {
    if (auto reason = RefuseUnlessOneOf(size, {16, 32, 64, 128, 256}, "tile")) {
      return reason;
    }
  }
  if (auto reason = RefuseUnlessOneOf(tiles.k, {8, 16, 32}, "steps")) {
    return reason;
  }
  for (const int64_t size : {tiles.thread_m, tiles.thread_n}) {
    if (auto reason = RefuseUnlessOneOf(size, {1, 2, 4, 8, 16}, "register tile")) {
      return reason;
    }
  }
  if (tiles.m < tiles.thread_m || tiles.n < tiles.thread_n) {
    return "a thread's tile is larger than the block's";
  }
  const int64_t threads = (tiles.m / tiles.thread_m) * (tiles.n / tiles.thread_n);
  if (threads < 32 || threads > facts.limits.threads_per_block) {
    return fmt::format("{} threads a block (allowed: 32 to {})", threads,
                       facts.limits.threads_per_block);
  }
  if ((tiles.m * tiles.k) % (threads * tiles.width) != 0 ||
      (tiles.n * tiles.k) % (threads * tiles.width) != 0) {
    return fmt::format("the tiles do not split evenly over {} threads with packs of {}", threads,
                       tiles.width);
  }
  const int64_t element =
      ScalarBytes(facts.program.stages[facts.shape.contraction->fold_stage].accumulators[0].type);
  const int64_t bytes = tiles.buffers * tiles.k * (tiles.m + tiles.n + 8) * element;
  if (bytes > static_cast<int64_t>(facts.limits.shared_bytes_default)) {
    return fmt::format("{} bytes of shared memory (at most {})", bytes,
                       facts.limits.shared_bytes_default);
  }
  // Results, parts of both operands and what is in flight must fit beside addresses.
  const int64_t words = (tiles.thread_m * tiles.thread_n + 2 * (tiles.thread_m + tiles.thread_n) +
                         (tiles.m + tiles.n) * tiles.k / threads) *
                        element / 4;
  if (words > facts.limits.registers_per_thread - 60) {
    return fmt::format("about {} registers a thread", words + 60);
  }
  return std::nullopt;
}

Transformation MakeTileShared() {
  Transformation result;
  result.name = "tile_shared";
  result.code = "S7 S8";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadRequests), Down(metric::kGlobalLoadSectors)};
  result.prior = 2;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{
        {{"m", 32}, {"n", 32}, {"k", 32}},  {{"m", 16}, {"n", 16}, {"k", 16}},
        {{"m", 64}, {"n", 64}, {"k", 16}},  {{"m", 128}, {"n", 128}, {"k", 16}},
        {{"m", 128}, {"n", 128}, {"k", 8}}, {{"m", 128}, {"n", 64}, {"k", 16}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kContraction})) {
      return reason;
    }
    if (!facts.WritesDoNotAlias()) {
      return "the result may overlap an operand";
    }
    return RefuseTiles(facts, TilesOf(schedule));
  };
  result.summary = [](const KernelFacts& facts, const Parameters& parameters) {
    const Contraction& contraction = *facts.shape.contraction;
    return fmt::format(
        "compute tiles of {} x {} from pieces of {} and {} in shared memory, {} "
        "steps at a time",
        parameters.at("m"), parameters.at("n"), contraction.a->name, contraction.b->name,
        parameters.at("k"));
  };
  return result;
}

}  // namespace optiml::rewrite
