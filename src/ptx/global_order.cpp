// What orders accesses to global memory (global_races.h): clocks, fences, releases and acquires,
// barriers. And accesses that are not of registers.

#include <algorithm>
#include <bit>

#include "ptx/async_checks.h"
#include "ptx/global_races.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

// The fenced accesses of the block: what holds for every warp as one entry.
ClockRef ClockOf(const BlockState& block, const std::array<uint32_t, kLanes>& fenced,
                 const ClockRef& other_blocks) {
  const uint32_t unit = block.order->unit;
  uint32_t least = ~0u;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    least = std::min(least, fenced[v]);
  }
  auto own = std::make_shared<GlobalClock>();
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    if (fenced[v] > least) {
      own->push_back({unit, v, fenced[v]});
    }
  }
  if (least > 0) {
    own->push_back({unit, kLanes, least});
  }
  return own->empty() ? other_blocks : JoinClocks(own, other_blocks);
}

// The stamps of a barrier or of a clock become the warp's.
void Learn(BlockState& block, uint32_t warp, const GlobalClock& clock) {
  uint32_t* known = &block.known[size_t{warp} * kLanes];
  bool changed = false;
  for (const ClockEntry& entry : clock) {
    if (entry.unit != block.order->unit) {
      continue;
    }
    for (uint32_t v = 0; v < block.warp_count; ++v) {
      if (v != warp && (entry.warp == v || entry.warp == kLanes) && known[v] < entry.stamp) {
        known[v] = entry.stamp;
        changed = true;
      }
    }
  }
  if (!changed) {
    return;
  }
  known[warp] = block.shadow->stamp;
  block.floor[warp] = *std::min_element(known, known + block.warp_count);
}

}  // namespace

ClockRef JoinClocks(const ClockRef& a, const ClockRef& b) {
  if (a == nullptr || a == b) {
    return b;
  }
  if (b == nullptr) {
    return a;
  }
  auto joined = std::make_shared<GlobalClock>();
  joined->reserve(a->size() + b->size());
  const auto before = [](const ClockEntry& x, const ClockEntry& y) {
    return x.unit != y.unit ? x.unit < y.unit : x.warp < y.warp;
  };
  auto i = a->begin();
  auto k = b->begin();
  while (i != a->end() || k != b->end()) {
    if (k == b->end() || (i != a->end() && before(*i, *k))) {
      joined->push_back(*i++);
    } else if (i == a->end() || before(*k, *i)) {
      joined->push_back(*k++);
    } else {
      joined->push_back({i->unit, i->warp, std::max(i->stamp, k->stamp)});
      ++i;
      ++k;
    }
  }
  return joined;
}

void GlobalRaces::Fence(Warp& warp, bool block_scope) {
  BlockState& block = *warp.block;
  WarpOrder& order = block.order->warps[warp.index];
  block.order->used = true;
  const uint32_t stamp = NextStamp(block);
  const uint32_t* known = &block.known[size_t{warp.index} * kLanes];
  const auto cover = [&](std::array<uint32_t, kLanes>& fenced) {
    for (uint32_t v = 0; v < block.warp_count; ++v) {
      fenced[v] = std::max(fenced[v], known[v]);
    }
    fenced[warp.index] = stamp;
  };
  cover(order.fenced_in_block);
  order.released_in_block = nullptr;
  if (!block_scope) {
    cover(order.fenced);
    order.fenced_other_blocks = order.other_blocks;
    order.released = nullptr;
  }
  SynchroniseWarp(warp);
}

void GlobalRaces::Release(Warp& warp, uint64_t address, uint32_t bytes, bool keeps_earlier,
                          bool block_scope) {
  for (uint64_t g = address >> shift_; g <= (address + bytes - 1) >> shift_; ++g) {
    ReleaseOne(warp, g, keeps_earlier, block_scope);
  }
}

void GlobalRaces::Acquire(Warp& warp, uint64_t address, uint32_t bytes) {
  for (uint64_t g = address >> shift_; g <= (address + bytes - 1) >> shift_; ++g) {
    AcquireOne(warp, g);
  }
}

void GlobalRaces::ReleaseOne(Warp& warp, uint64_t granule, bool keeps_earlier, bool block_scope) {
  BlockState& block = *warp.block;
  // A block that never fenced has nothing to hand on.
  if (!block.order->used && (keeps_earlier || variables_.empty())) {
    return;
  }
  WarpOrder& order = block.order->warps[warp.index];
  auto it = variables_.find(granule);
  if (!block.order->used && it == variables_.end()) {
    return;
  }
  if (order.released == nullptr) {
    order.released = ClockOf(block, order.fenced, order.fenced_other_blocks);
  }
  if (order.released_in_block == nullptr) {
    order.released_in_block = ClockOf(block, order.fenced_in_block, nullptr);
  }
  SyncVariable& variable = it == variables_.end() ? variables_[granule] : it->second;
  const ClockRef none;
  const ClockRef& everywhere = block_scope ? none : order.released;
  variable.everywhere = keeps_earlier ? JoinClocks(variable.everywhere, everywhere) : everywhere;
  const bool same_block = keeps_earlier && variable.unit == block.order->unit;
  variable.in_block =
      same_block ? JoinClocks(variable.in_block, order.released_in_block) : order.released_in_block;
  variable.unit = block.order->unit;
}

void GlobalRaces::AcquireOne(Warp& warp, uint64_t granule) {
  const auto it = variables_.empty() ? variables_.end() : variables_.find(granule);
  if (it == variables_.end()) {
    return;
  }
  BlockState& block = *warp.block;
  WarpOrder& order = block.order->warps[warp.index];
  const SyncVariable& variable = it->second;
  const bool own = variable.unit == block.order->unit && variable.in_block != nullptr &&
                   variable.in_block != order.acquired_in_block;
  const bool others = variable.everywhere != nullptr && variable.everywhere != order.acquired;
  if (!own && !others) {
    return;
  }
  block.order->used = true;
  if (own) {
    order.acquired_in_block = variable.in_block;
    Learn(block, warp.index, *variable.in_block);
  }
  if (others) {
    order.acquired = variable.everywhere;
    order.other_blocks = JoinClocks(order.other_blocks, variable.everywhere);
    Learn(block, warp.index, *variable.everywhere);
  }
  SynchroniseWarp(warp);
}

void GlobalRaces::Synchronise(BlockState& block, uint32_t warps) {
  if (block.order == nullptr || !block.order->used) {
    return;
  }
  WarpOrder joined;
  for (uint32_t m = warps & block.AllWarps(); m != 0; m &= m - 1) {
    const WarpOrder& order = block.order->warps[static_cast<size_t>(std::countr_zero(m))];
    joined.other_blocks = JoinClocks(joined.other_blocks, order.other_blocks);
    joined.fenced_other_blocks = JoinClocks(joined.fenced_other_blocks, order.fenced_other_blocks);
    for (uint32_t v = 0; v < kLanes; ++v) {
      joined.fenced[v] = std::max(joined.fenced[v], order.fenced[v]);
      joined.fenced_in_block[v] = std::max(joined.fenced_in_block[v], order.fenced_in_block[v]);
    }
  }
  for (uint32_t m = warps & block.AllWarps(); m != 0; m &= m - 1) {
    block.order->warps[static_cast<size_t>(std::countr_zero(m))] = joined;
  }
}

void GlobalRaces::SynchroniseCluster(const std::vector<BlockState*>& blocks) {
  ClockRef all;
  for (BlockState* block : blocks) {
    if (block->order == nullptr || blocks.size() == 1) {
      return;
    }
    auto own = std::make_shared<GlobalClock>();
    own->push_back({block->order->unit, kLanes, block->shadow->stamp});
    all = JoinClocks(all, own);
    for (uint32_t w = 0; w < block->warp_count; ++w) {
      all = JoinClocks(all, block->order->warps[w].other_blocks);
    }
  }
  for (BlockState* block : blocks) {
    block->order->used = true;
    for (uint32_t w = 0; w < block->warp_count; ++w) {
      block->order->warps[w].other_blocks = all;
    }
  }
}

void CheckGlobalBytes(Warp& warp, const Op* op, const Allocation& allocation,
                      const GlobalRange& range) {
  GlobalRange one = range;
  one.lane_bytes = std::bit_ceil(static_cast<uint32_t>(range.hi - range.lo));
  one.element_bytes = one.lane_bytes;
  one.from_registers = false;
  warp.worker->launch->global_races->Check(warp, op, allocation, one);
}

}  // namespace optiml::ptx
