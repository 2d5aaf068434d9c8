// Stamps of the race check: which accesses of a block's warps are ordered before which
// (BlockState::known).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/async_checks.h"
#include "ptx/global_races.h"
#include "ptx/scheduler.h"

namespace optiml::ptx {

void ForgetStamps(BlockState& block) {
  const auto forget = [](BlockState& one) {
    ShadowMemory& shadow = *one.shadow;
    for (auto* tags : {&shadow.write, &shadow.read, &shadow.read2, &shadow.strong}) {
      std::fill(tags->begin(), tags->end(), 0);
    }
    shadow.stamp = 0;
    std::fill(one.known.begin(), one.known.end(), 0);
    std::fill(one.floor.begin(), one.floor.end(), 0);
    for (Warp& warp : one.warps) {
      warp.warp_floor = 0;
    }
    if (const auto& races = one.warps.front().worker->launch->global_races; races != nullptr) {
      races->GiveUp(fmt::format("block ({},{},{}) passed {} million fences, barriers and exchanges",
                                one.ctaid[0], one.ctaid[1], one.ctaid[2], kMaxStamp / 1000000));
    }
    if (one.async != nullptr) {
      ForgetAsyncStamps(one);
    }
  };
  if (block.cluster == nullptr) {
    forget(block);
    return;
  }
  for (BlockState* one : block.cluster->blocks) {
    forget(*one);
  }
}

void Synchronise(BlockState& block, uint32_t warps, bool all) {
  ShadowMemory& shadow = *block.shadow;
  if (shadow.stamp >= kMaxStamp) {
    ForgetStamps(block);
  }
  ++shadow.stamp;
  if (block.async != nullptr) {
    SynchroniseAsync(block, all ? block.AllWarps() : warps);
  }
  if (block.order != nullptr) {
    GlobalRaces::Synchronise(block, all ? block.AllWarps() : warps);
  }
  if (all) {
    std::fill(block.known.begin(), block.known.end(), shadow.stamp);
    std::fill(block.floor.begin(), block.floor.end(), shadow.stamp);
    return;
  }
  // Each participant learns what the others knew, and all that they did before.
  std::array<uint32_t, kLanes> joined{};
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    const auto w = static_cast<uint32_t>(std::countr_zero(m));
    for (uint32_t v = 0; v < kLanes; ++v) {
      joined[v] = std::max(joined[v], block.known[w * kLanes + v]);
    }
  }
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    joined[static_cast<size_t>(std::countr_zero(m))] = shadow.stamp;
  }
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    const auto w = static_cast<uint32_t>(std::countr_zero(m));
    uint32_t least = ~0u;
    for (uint32_t v = 0; v < kLanes; ++v) {
      block.known[w * kLanes + v] = joined[v];
      if (v < block.warp_count) {
        least = std::min(least, joined[v]);
      }
    }
    block.floor[w] = least;
    block.warps[w].warp_floor = shadow.stamp;
  }
}

}  // namespace optiml::ptx
