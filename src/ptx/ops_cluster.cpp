// Clusters: their barrier, addresses in the shared memory of their blocks, and ordinary accesses to
// such addresses.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/address_patterns.h"
#include "ptx/async_checks.h"
#include "ptx/async_ops.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

constexpr uint32_t kOffsetMask = (1u << kRankShift) - 1;

std::string BlockText(const BlockState& block) {
  return fmt::format("block ({},{},{})", block.ctaid[0], block.ctaid[1], block.ctaid[2]);
}

bool Everyone(const ClusterState& cluster) {
  bool any = false;
  for (const BlockState* block : cluster.blocks) {
    for (const Warp& warp : block->warps) {
      const uint32_t arrived = block->async->warps[warp.index].cluster_arrived;
      if (warp.stop != Stop::kExited && (warp.live & ~arrived) != 0) {
        return false;
      }
      any = any || arrived != 0;
    }
  }
  return any;
}

}  // namespace

const Op* ClusterArrive(Warp& w, const Op* op) {
  WarpAsync& async = w.block->async->warps[w.index];
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
  if (w.active != w.live) {
    LetGo(w);
  }
  if ((op->aux & 1) != 0 && w.active != w.live &&
      w.worker->launch->request->checks.divergent_barriers) {
    Report(w, op, lane, "divergent barrier",
           fmt::format("{} of {} threads of the warp reach the cluster's barrier; the others are "
                       "elsewhere",
                       std::popcount(w.active), std::popcount(w.live)));
  }
  if ((async.cluster_owes & w.active) != 0) {
    return Fault(w, op, static_cast<uint32_t>(std::countr_zero(async.cluster_owes & w.active)),
                 "trap", "barrier.cluster.arrive again without barrier.cluster.wait");
  }
  async.cluster_arrived |= w.active;
  async.cluster_owes |= w.active;
  ++w.worker->counters.barriers;
  w.polls = 0;
  w.worker->progress = true;
  return op + 1;
}

const Op* ClusterWait(Warp& w, const Op* op) {
  WarpAsync& async = w.block->async->warps[w.index];
  if (const uint32_t missing = w.active & ~async.cluster_owes; missing != 0) {
    return Fault(w, op, static_cast<uint32_t>(std::countr_zero(missing)), "trap",
                 "barrier.cluster.wait without barrier.cluster.arrive");
  }
  if ((async.cluster_arrived & w.active) != 0) {
    CompleteClusterBarrier(*w.block->cluster);
  }
  if ((async.cluster_arrived & w.active) != 0) {
    return Wait(w, op);
  }
  async.cluster_owes &= ~w.active;
  return op + 1;
}

bool CompleteClusterBarrier(ClusterState& cluster) {
  if (!Everyone(cluster)) {
    return false;
  }
  for (BlockState* block : cluster.blocks) {
    for (WarpAsync& warp : block->async->warps) {
      warp.cluster_arrived = 0;
    }
  }
  ++cluster.phase;
  SynchroniseCluster(cluster);
  return true;
}

bool PlaceOfShared(const Warp& w, uint64_t address, SharedPlace& place) {
  const uint64_t at = address >= kSharedWindow ? address - kSharedWindow : address;
  const uint64_t rank = at >> kRankShift;
  place.offset = static_cast<uint32_t>(at & kOffsetMask);
  place.block = nullptr;
  if (rank == 0) {
    place.block = w.block;
  } else if (w.block->cluster != nullptr && rank <= w.block->cluster->blocks.size()) {
    place.block = w.block->cluster->blocks[rank - 1];
  }
  return place.block != nullptr;
}

SharedPlace LocateCluster(Warp& w, const Op* op, uint32_t lane, uint64_t address, uint32_t bytes,
                          uint32_t alignment, const char* verb) {
  SharedPlace place;
  if (!PlaceOfShared(w, address, place)) {
    Fault(w, op, lane, "out of bounds",
          fmt::format("{} address {:#x}, which is in no shared memory of the cluster", verb,
                      address));
    return {};
  }
  if (place.offset % alignment != 0) {
    Fault(w, op, lane, "misaligned",
          fmt::format("{} {}, at address {:#x}, which is not a multiple of {}", verb,
                      SharedName(w, place.offset), place.offset, alignment));
    return {};
  }
  MemorySite site;
  if (!LocateShared(w, site, place.offset, uint64_t{place.offset} + bytes)) {
    Fault(w, op, lane, "out of bounds",
          fmt::format("{} {} bytes of {}", verb, bytes, SharedName(w, place.offset)));
    return {};
  }
  if (place.block != w.block) {
    if (place.block->finished) {
      Fault(w, op, lane, "out of bounds",
            fmt::format("{} shared memory of {}, which has exited", verb, BlockText(*place.block)));
      return {};
    }
    if (w.worker->check_races && w.block->cluster->phase == 0) {
      Report(w, op, lane, "race",
             fmt::format("{} shared memory of {}, which may not have started: no barrier of the "
                         "cluster came before",
                         verb, BlockText(*place.block)));
    }
  }
  return place;
}

bool RemoteShared(Warp& w, const Op* op, const uint64_t* addresses, uint32_t mask, uint32_t bytes,
                  SharedAccess access, uint8_t** hosts) {
  const char* verb = access == SharedAccess::kLoad    ? "load from"
                     : access == SharedAccess::kStore ? "store to"
                                                      : "atomic on";
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const SharedPlace place = LocateCluster(w, op, l, addresses[l], bytes, bytes, verb);
    if (place.block == nullptr) {
      return false;
    }
    hosts[l] = place.block->shared + place.offset;
    std::vector<uint64_t>& initialised = place.block->shared_initialised;
    if (!initialised.empty()) {
      if (access != SharedAccess::kStore &&
          !BitsSet(initialised.data(), place.offset, place.offset + bytes)) {
        ReportUninitialised(w, op, Space::kShared, l, place.offset, bytes);
      }
      if (access != SharedAccess::kLoad) {
        SetBits(initialised.data(), place.offset, place.offset + bytes, false);
      }
    }
    if (w.worker->check_races) {
      CheckSharedAccess(w, op, *place.block, place.offset, place.offset + bytes, l, access, true);
    }
  }
  if (w.worker->count) {
    RequestCounts& counts = access == SharedAccess::kLoad ? w.worker->counters.cluster_load
                                                          : w.worker->counters.cluster_store;
    ++counts.requests;
    MemorySite site;
    RecordPattern(site, addresses, mask);
    counts.sectors +=
        CountPattern(*w.worker, site, addresses[std::countr_zero(mask)], bytes).sectors;
    counts.lane_bytes += static_cast<uint64_t>(std::popcount(mask)) * bytes;
  }
  return true;
}

const Op* MapBlock(Warp& w, const Op* op) {
  const uint32_t* ranks = RegisterAt<uint32_t>(w, op->b);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t address = LaneAddress(w, op->a, l);
    const uint64_t window = address >= kSharedWindow ? kSharedWindow : 0;
    const uint64_t blocks = w.block->cluster->blocks.size();
    if (ranks[l] >= blocks) {
      return Fault(w, op, l, "out of bounds",
                   fmt::format("mapa to block {} of a cluster of {}", ranks[l], blocks));
    }
    const uint64_t mapped =
        window + (uint64_t{ranks[l] + 1} << kRankShift) + ((address - window) & kOffsetMask);
    if (op->aux == 8) {
      RegisterAt<uint64_t>(w, op->d)[l] = mapped;
    } else {
      RegisterAt<uint32_t>(w, op->d)[l] = static_cast<uint32_t>(mapped);
    }
  }
  return op + 1;
}

const Op* BlockOfAddress(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    SharedPlace place;
    const uint64_t address = LaneAddress(w, op->a, l);
    RegisterAt<uint32_t>(w, op->d)[l] = PlaceOfShared(w, address, place) ? place.block->rank : 0;
  }
  return op + 1;
}

}  // namespace optiml::ptx
