// cp.async.bulk: copies of many bytes by one thread, plain ones and boxes of tensors; st.async.
//
// A load lands when somebody waits for its mbarrier, a store when the thread waits for its bulk
// group; its source is read then, not before, so that a kernel that writes there too early is seen
// to do so.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/async_checks.h"
#include "ptx/async_ops.h"
#include "ptx/global_races.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

constexpr uint32_t kUnit = 16;            // bytes: addresses and sizes of plain copies
constexpr uint32_t kTileAlignment = 128;  // bytes: boxes in shared memory
constexpr uint32_t kMapAlignment = 64;

uint64_t LoadElement(const std::byte* from, uint32_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

CopyUse WriteUse(const BulkCopy& copy) {
  return copy.combine == nullptr ? CopyUse::kWrite : CopyUse::kCombine;
}

// `bytes` from `from` to `to`, as the copy combines them.
void Move(const BulkCopy& copy, std::byte* to, const std::byte* from, uint32_t bytes) {
  if (copy.combine == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (uint32_t i = 0; i + copy.element_bytes <= bytes; i += copy.element_bytes) {
    const uint64_t value = copy.combine(LoadElement(to + i, copy.element_bytes),
                                        LoadElement(from + i, copy.element_bytes));
    std::memcpy(to + i, &value, copy.element_bytes);
  }
}

// The allocation that holds the byte; bounds were checked at the issue.
Allocation& AllocationOf(Worker& worker, uint64_t address) {
  Allocation* allocation = worker.launch->memory->Find(address);
  return *allocation;
}

// Calls f(shared, global, bytes) for the pieces of a load or store; global 0: outside of the
// tensor.
template <class F>
void ForPieces(const BulkCopy& copy, F f) {
  if (copy.tile == nullptr) {
    f(copy.shared, copy.global, copy.bytes);
    return;
  }
  ForEachRun(*copy.tile, copy.shared,
             [&](const TensorRun& run) { f(run.shared, run.global, run.bytes); });
}

std::byte* SharedBytes(BlockState& block, uint32_t at) {
  return reinterpret_cast<std::byte*>(block.shared) + at;
}

void MarkShared(BlockState& block, uint32_t lo, uint32_t hi) {
  if (!block.shared_initialised.empty() && lo < hi) {
    SetBits(block.shared_initialised.data(), lo, hi, false);
  }
}

void FillOutside(const TensorMap& map, std::byte* to, uint32_t bytes) {
  const uint64_t value = map.fill_nan ? NanOf(map.type) : 0;
  for (uint32_t i = 0; i < bytes; i += map.element_bytes()) {
    std::memcpy(to + i, &value, map.element_bytes());
  }
}

// A copy's bytes in global memory, as accesses of the thread that issued it: a store when it lands;
// a load when it is issued and when it lands, against what was stored until then. A load leaves no
// tags: it ends for those who wait for its mbarrier, and the issuer's arrival there may come before
// it, so that a store behind that wait would seem to race with the issuer.
void CheckRaces(Warp& w, const BulkCopy& copy) {
  if (!w.worker->check_global_races) {
    return;
  }
  GlobalRange range;
  range.lane = copy.lane;
  range.access = copy.kind == BulkKind::kLoad ? GlobalAccess::kLoad
                 : copy.combine != nullptr    ? GlobalAccess::kStrongStore
                                              : GlobalAccess::kStore;
  range.leaves_tag = copy.kind == BulkKind::kStore;
  ForPieces(copy, [&](uint32_t, uint64_t global, uint32_t bytes) {
    if (global == 0 || bytes == 0) {
      return;
    }
    range.lo = global;
    range.hi = global + bytes;
    CheckGlobalBytes(w, copy.op, AllocationOf(*w.worker, global), range);
  });
}

// Bytes come to the target's shared memory.
void LandIncoming(Worker& worker, BulkCopy& copy) {
  BlockState& target = *copy.target;
  if (copy.kind == BulkKind::kLoad) {
    CheckRaces(copy.issuer->warps[copy.warp], copy);
    ForPieces(copy, [&](uint32_t shared, uint64_t global, uint32_t bytes) {
      std::byte* to = SharedBytes(target, shared);
      if (global == 0) {
        FillOutside(copy.tile->map, to, bytes);
        return;
      }
      const Allocation& allocation = AllocationOf(worker, global);
      Move(copy, to, allocation.host + (global - allocation.address), bytes);
    });
  } else if (copy.kind == BulkKind::kBetweenBlocks) {
    Move(copy, SharedBytes(target, copy.shared), SharedBytes(*copy.issuer, copy.source),
         copy.bytes);
    EndCopy(*copy.issuer, copy.source, copy.source + copy.bytes, CopyUse::kRead);
  } else {
    Move(copy, SharedBytes(target, copy.shared), copy.data.data(), copy.bytes);
  }
  MarkShared(target, copy.shared, copy.shared + copy.bytes);
  EndCopy(target, copy.shared, copy.shared + copy.bytes, WriteUse(copy));
  TagLanded(target, copy.shared, copy.shared + copy.bytes);
}

// The source of a store has been read.
void ReadSource(BulkCopy& copy) {
  if (copy.read) {
    return;
  }
  copy.read = true;
  copy.data.resize(copy.bytes);
  std::memcpy(copy.data.data(), SharedBytes(*copy.target, copy.shared), copy.bytes);
  EndCopy(*copy.target, copy.shared, copy.shared + copy.bytes, CopyUse::kRead);
  TagRead(copy.target->warps[copy.warp], copy.op, copy.shared, copy.shared + copy.bytes, copy.lane);
}

void WriteGlobal(Worker& worker, BulkCopy& copy) {
  ReadSource(copy);
  CheckRaces(copy.issuer->warps[copy.warp], copy);
  ForPieces(copy, [&](uint32_t shared, uint64_t global, uint32_t bytes) {
    if (global == 0 || bytes == 0) {
      return;
    }
    Allocation& allocation = AllocationOf(worker, global);
    const uint64_t at = global - allocation.address;
    Move(copy, allocation.host + at, copy.data.data() + (shared - copy.shared), bytes);
    if (allocation.tracked && !allocation.fully_initialised) {
      SetBits(allocation.initialised.data(), at, at + bytes, worker.parallel);
    }
  });
}

void CountBulk(Worker& worker, const BulkCopy& copy) {
  Counters& counters = worker.counters;
  ++counters.bulk_copy.requests;
  counters.bulk_copy.bytes += copy.bytes;
  const bool global = copy.kind == BulkKind::kLoad || copy.kind == BulkKind::kStore;
  const uint64_t lines = (copy.bytes + kLineBytes - 1) / kLineBytes;
  if (global) {
    RequestCounts& counts =
        copy.kind == BulkKind::kLoad ? counters.global_load : counters.global_store;
    counts.requests += lines;
    counts.lines += lines;
    counts.wavefronts += lines;
    // Sectors once each: pieces of a swizzled row are neighbours in global memory.
    uint64_t last_sector = ~uint64_t{0};
    ForPieces(copy, [&](uint32_t, uint64_t address, uint32_t bytes) {
      if (address == 0 || bytes == 0) {
        return;
      }
      counts.lane_bytes += bytes;
      for (uint64_t sector = address >> 5; sector <= (address + bytes - 1) >> 5; ++sector) {
        if (sector == last_sector) {
          continue;
        }
        last_sector = sector;
        ++counts.sectors;
        if (worker.cache) {
          const auto mask = static_cast<uint8_t>(1u << (sector & 3));
          L2Cache& l2 = *worker.launch->l2;
          copy.kind == BulkKind::kLoad ? l2.Read(sector >> 2, mask, counters)
                                       : l2.Write(sector >> 2, mask, counters);
        }
      }
    });
  }
  SharedCounts& counts =
      copy.kind == BulkKind::kStore ? counters.shared_load : counters.shared_store;
  counts.requests += lines;
  counts.wavefronts += lines;
}

// Bounds and initialisation in global memory. False after a fault.
bool CheckGlobal(Warp& w, const Op* op, uint32_t lane, const BulkCopy& copy) {
  Worker& worker = *w.worker;
  const bool store = copy.kind == BulkKind::kStore;
  const ByteRange range = copy.tile != nullptr ? TouchedBytes(*copy.tile)
                                               : ByteRange{copy.global, copy.global + copy.bytes};
  const char* verb = store ? "bulk copy to" : "bulk copy from";
  if (range.lo == range.hi) {
    return true;
  }
  const Allocation* found = worker.launch->memory->Find(range.lo);
  if (found == nullptr || !found->Covers(range.lo, range.hi) || (store && found->read_only)) {
    const bool read_only = found != nullptr && found->Covers(range.lo, range.hi);
    Fault(w, op, lane, read_only ? "read-only" : "out of bounds",
          fmt::format("{} {} bytes at {} (address {:#x}){}", verb, range.hi - range.lo,
                      OutsideText(w, range.lo), range.lo, read_only ? ", which is read-only" : ""));
    return false;
  }
  const Allocation& allocation = *found;
  if ((!store || copy.combine != nullptr) && worker.check_init && allocation.tracked &&
      !allocation.fully_initialised) {
    bool told = false;
    ForPieces(copy, [&](uint32_t, uint64_t global, uint32_t bytes) {
      if (global == 0 || bytes == 0 || told) {
        return;
      }
      const uint64_t at = global - allocation.address;
      if (!BitsSet(allocation.initialised.data(), at, at + bytes)) {
        told = true;
        ReportUninitialised(w, op, Space::kGlobal, lane, global, bytes);
      }
    });
  }
  return true;
}

// The bytes in shared memory that a store or a copy between blocks will read.
void CheckSource(Warp& w, const Op* op, uint32_t lane, uint32_t at, uint32_t bytes) {
  BlockState& block = *w.block;
  if (w.worker->check_init && !block.shared_initialised.empty() && bytes > 0 &&
      !BitsSet(block.shared_initialised.data(), at, at + bytes)) {
    ReportUninitialised(w, op, Space::kShared, lane, at, bytes);
  }
  if (w.worker->check_races) {
    CheckProxy(w, op, at, at + bytes, lane);
    BeginCopy(w, op, block, at, at + bytes, lane, CopyUse::kRead);
  }
}

bool ReadTile(Warp& w, const Op* op, uint32_t lane, uint64_t address, const BulkSite& site,
              BulkCopy& copy) {
  std::array<std::byte, kTensorMapBytes> bytes{};
  if (address % kMapAlignment != 0 ||
      !ReadGeneric(w, lane, address, bytes.data(), kTensorMapBytes)) {
    Fault(w, op, lane, "tensor map",
          fmt::format("no 128 bytes aligned to {} at address {:#x}", kMapAlignment, address));
    return false;
  }
  auto map = DecodeTensorMap(bytes);
  if (!map) {
    Fault(w, op, lane, "tensor map", map.error().message());
    return false;
  }
  if (map->rank != site.rank) {
    Fault(w, op, lane, "tensor map",
          fmt::format("a copy of rank {} with a map of rank {}", site.rank, map->rank));
    return false;
  }
  auto tile = std::make_shared<TensorTile>();
  tile->map = *map;
  for (uint32_t i = 0; i < site.rank; ++i) {
    tile->at[i] = RegisterAt<int32_t>(w, site.coordinates[i])[lane];
  }
  // Measured on an H200: both end the kernel as an illegal instruction.
  if (const int64_t offset = tile->at[0] * map->element_bytes(); offset % kUnit != 0) {
    Fault(w, op, lane, "misaligned",
          fmt::format("the box begins at coordinate {} of its innermost dimension, {} bytes from "
                      "the tensor's first element: no multiple of {}",
                      tile->at[0], offset, kUnit));
    return false;
  }
  tile->writes_tensor = copy.kind == BulkKind::kStore;
  for (uint32_t i = 0; tile->writes_tensor && i < site.rank; ++i) {
    if (tile->at[i] < 0) {
      Fault(w, op, lane, "out of bounds",
            fmt::format("a box that is written begins at coordinate {} of dimension {}: it may end "
                        "outside of the tensor, but not begin before it",
                        tile->at[i], i));
      return false;
    }
  }
  copy.bytes = map->BoxBytes();
  if (copy.combine != nullptr) {
    copy.combine = SelectCombine(site.combine, NumberOf(map->type));
    copy.element_bytes = map->element_bytes();
    if (copy.combine == nullptr) {
      Fault(w, op, lane, "tensor map", "the reduction does not exist for the map's data type");
      return false;
    }
  }
  copy.tile = std::move(tile);
  return true;
}

bool Aligned(Warp& w, const Op* op, uint32_t lane, uint64_t value, const char* what) {
  if (value % kUnit == 0) {
    return true;
  }
  Fault(w, op, lane, "misaligned",
        fmt::format("bulk copy with {} {:#x}, which is not a multiple of {}", what, value, kUnit));
  return false;
}

bool Fail(Warp& w, const Op* op, uint32_t lane, const char* kind, const std::string& what) {
  Fault(w, op, lane, kind, what);
  return false;
}

// A copy into `copy.target` that completes at its mbarrier. False after a fault.
bool Enter(Warp& w, const Op* op, uint32_t lane, BulkCopy copy) {
  BlockState& target = *copy.target;
  if (target.async->Find(copy.barrier) == nullptr) {
    return Fail(w, op, lane, "mbarrier",
                fmt::format("{} of block ({},{},{}) is no initialised mbarrier",
                            SharedName(w, copy.barrier), target.ctaid[0], target.ctaid[1],
                            target.ctaid[2]));
  }
  if (w.worker->check_races) {
    CheckBarrierAccess(w, op, target, copy.barrier, lane);
    BeginCopy(w, op, target, copy.shared, copy.shared + copy.bytes, lane, WriteUse(copy));
  }
  target.async->incoming.push_back(std::move(copy));
  w.worker->progress = true;
  return true;
}

// A load or a copy between blocks by one lane, to one block or to several. False after a fault.
bool IssueIncoming(Warp& w, const Op* op, uint32_t lane, BulkCopy copy) {
  const uint32_t alignment = copy.tile != nullptr ? kTileAlignment : kUnit;
  const SharedPlace to = LocateCluster(w, op, lane, LaneAddress(w, op->a, lane), copy.bytes,
                                       alignment, "bulk copy to");
  if (to.block == nullptr) {
    return false;
  }
  const uint64_t barrier_address = LaneAddress(w, op->d, lane);
  const SharedPlace at =
      LocateCluster(w, op, lane, barrier_address, 8, 8, "mbarrier of a bulk copy at");
  if (at.block == nullptr) {
    return false;
  }
  if (at.block != to.block) {
    return Fail(w, op, lane, "mbarrier",
                "a bulk copy needs an mbarrier in the block that it copies to");
  }
  copy.shared = to.offset;
  copy.barrier = at.offset;
  if (w.worker->count) {
    CountBulk(*w.worker, copy);
  }
  if (op->e == 0) {
    copy.target = to.block;
    return Enter(w, op, lane, std::move(copy));
  }
  const auto& blocks = w.block->cluster->blocks;
  uint32_t mask = RegisterAt<uint16_t>(w, op->e)[lane];
  if (mask == 0 || mask >= (1u << blocks.size())) {
    return Fail(w, op, lane, "out of bounds",
                fmt::format("a bulk copy to blocks {:#x} of a cluster of {}", mask, blocks.size()));
  }
  for (; mask != 0; mask &= mask - 1) {
    copy.target = blocks[static_cast<size_t>(std::countr_zero(mask))];
    if (!Enter(w, op, lane, copy)) {
      return false;
    }
  }
  return true;
}

bool Issue(Warp& w, const Op* op, uint32_t lane) {
  const BulkSite& site = w.worker->launch->program->bulk_sites[op->site];
  BulkCopy copy;
  copy.kind = site.kind;
  copy.op = op;
  copy.issuer = w.block;
  copy.warp = w.index;
  copy.lane = lane;
  copy.combine = site.function;
  copy.element_bytes = site.element_bytes;
  const bool store = copy.kind == BulkKind::kStore;
  const uint64_t far = LaneAddress(w, store ? op->a : op->b, lane);  // in global memory, or a map
  if (site.rank > 0) {
    if (!ReadTile(w, op, lane, far, site, copy)) {
      return false;
    }
  } else {
    copy.bytes = RegisterAt<uint32_t>(w, op->c)[lane];
    if (!Aligned(w, op, lane, copy.bytes, "size")) {
      return false;
    }
    copy.global = far;
  }
  if (copy.kind == BulkKind::kBetweenBlocks) {
    const SharedPlace from = LocateCluster(w, op, lane, far, copy.bytes, kUnit, "bulk copy from");
    if (from.block == nullptr) {
      return false;
    }
    if (from.block != w.block) {
      return Fail(w, op, lane, "out of bounds",
                  "a bulk copy reads the shared memory of its own block only");
    }
    copy.source = from.offset;
    CheckSource(w, op, lane, copy.source, copy.bytes);
    return IssueIncoming(w, op, lane, std::move(copy));
  }
  if (site.rank == 0 && !Aligned(w, op, lane, copy.global, "global address")) {
    return false;
  }
  if (!CheckGlobal(w, op, lane, copy)) {
    return false;
  }
  if (!store) {
    CheckRaces(w, copy);
    return IssueIncoming(w, op, lane, std::move(copy));
  }
  const SharedPlace from =
      LocateCluster(w, op, lane, LaneAddress(w, op->b, lane), copy.bytes,
                    copy.tile != nullptr ? kTileAlignment : kUnit, "bulk copy from");
  if (from.block == nullptr) {
    return false;
  }
  if (from.block != w.block) {
    return Fail(w, op, lane, "out of bounds",
                "a bulk copy reads the shared memory of its own block only");
  }
  copy.target = w.block;
  copy.shared = from.offset;
  copy.group = w.block->async->warps[w.index].bulk_committed[lane];
  CheckSource(w, op, lane, copy.shared, copy.bytes);
  if (w.worker->count) {
    CountBulk(*w.worker, copy);
  }
  w.block->async->outgoing.push_back(std::move(copy));
  return true;
}

}  // namespace

std::string OutsideText(const Warp& w, uint64_t address) {
  const DeviceMemory& memory = *w.worker->launch->memory;
  const Allocation* allocation = memory.Find(address);
  return allocation != nullptr
             ? fmt::format("{}, of {} bytes in all", memory.NameOf(address), allocation->bytes)
             : memory.Describe(address);
}

const Op* BulkIssue(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    if (!Issue(w, op, static_cast<uint32_t>(std::countr_zero(m)))) {
      return nullptr;
    }
  }
  return op + 1;
}

const Op* BulkCommit(Warp& w, const Op* op) {
  WarpAsync& async = w.block->async->warps[w.index];
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    ++async.bulk_committed[static_cast<size_t>(std::countr_zero(m))];
  }
  return op + 1;
}

const Op* BulkWait(Warp& w, const Op* op) {
  BlockAsync& async = *w.block->async;
  const WarpAsync& mine = async.warps[w.index];
  std::erase_if(async.outgoing, [&](BulkCopy& copy) {
    if (copy.warp != w.index || ((w.active >> copy.lane) & 1) == 0 ||
        copy.group + uint64_t{op->aux} >= mine.bulk_committed[copy.lane]) {
      return false;
    }
    ReadSource(copy);
    if (op->aux2 == 0) {
      WriteGlobal(*w.worker, copy);
    }
    return op->aux2 == 0;
  });
  return op + 1;
}

const Op* StoreAsync(Warp& w, const Op* op) {
  const BulkSite& site = w.worker->launch->program->bulk_sites[op->site];
  const Place values[4] = {op->b, op->c, op->e, op->d2};
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    BulkCopy copy;
    copy.kind = BulkKind::kValue;
    copy.op = op;
    copy.issuer = w.block;
    copy.warp = w.index;
    copy.lane = l;
    copy.combine = site.function;
    copy.element_bytes = site.element_bytes;
    copy.bytes = site.element_bytes * site.elements;
    copy.data.resize(copy.bytes);
    for (uint32_t i = 0; i < site.elements; ++i) {
      std::memcpy(copy.data.data() + i * site.element_bytes,
                  RegisterAt<std::byte>(w, values[i]) + size_t{l} * site.element_bytes,
                  site.element_bytes);
    }
    const SharedPlace to = LocateCluster(w, op, l, LaneAddress(w, op->a, l), copy.bytes, copy.bytes,
                                         "st.async or red.async to");
    const uint64_t barrier_address = LaneAddress(w, op->d, l);
    if (to.block == nullptr) {
      return nullptr;
    }
    const SharedPlace at = LocateCluster(w, op, l, barrier_address, 8, 8, "mbarrier at");
    if (at.block == nullptr) {
      return nullptr;
    }
    if (at.block != to.block) {
      return Fault(w, op, l, "mbarrier", "st.async needs an mbarrier in the block that it writes");
    }
    copy.target = to.block;
    copy.shared = to.offset;
    copy.barrier = at.offset;
    if (!Enter(w, op, l, std::move(copy))) {
      return nullptr;
    }
  }
  return op + 1;
}

const Op* FenceProxyAsync(Warp& w, const Op* op) {
  if (w.worker->check_races) {
    ProxyFence(w);
  }
  return op + 1;
}

bool LandFor(Warp& w, const Op* op, Mbarrier& barrier) {
  BlockState& block = *w.block;
  BlockAsync& async = *block.async;
  const uint64_t phase = barrier.phase;
  for (size_t i = 0; i < async.arrivals.size() && barrier.phase == phase;) {
    const PendingArrival arrival = async.arrivals[i];
    if (arrival.barrier != barrier.address) {
      ++i;
      continue;
    }
    async.arrivals.erase(async.arrivals.begin() + static_cast<std::ptrdiff_t>(i));
    LandCopies(block, arrival.warp, arrival.lane, arrival.before);
    Landed(block, barrier.running);
    if (barrier.pending < 1) {
      Fault(w, op, arrival.lane, "mbarrier",
            fmt::format("cp.async arrives at {}, which lacks no arrival",
                        BarrierText(w, block, barrier)));
      return false;
    }
    --barrier.pending;
    CompletePhase(*w.worker, barrier);
  }
  for (size_t i = 0; i < async.incoming.size() && barrier.phase == phase;) {
    if (async.incoming[i].barrier != barrier.address) {
      ++i;
      continue;
    }
    BulkCopy copy = std::move(async.incoming[i]);
    async.incoming.erase(async.incoming.begin() + static_cast<std::ptrdiff_t>(i));
    LandIncoming(*w.worker, copy);
    Landed(block, barrier.running);
    barrier.bytes -= copy.bytes;
    CompletePhase(*w.worker, barrier);
  }
  return true;
}

void EndBlock(BlockState& block) {
  BlockAsync& async = *block.async;
  for (BulkCopy& copy : async.outgoing) {
    Warp& warp = block.warps[copy.warp];
    if (!copy.read) {
      Report(warp, copy.op, copy.lane, "asynchronous copy",
             "the block ended while the copy could still read its shared memory "
             "(cp.async.bulk.wait_group.read was missing)");
    }
    WriteGlobal(*warp.worker, copy);
  }
  async.outgoing.clear();
  for (const BulkCopy& copy : async.incoming) {
    Report(copy.issuer->warps[copy.warp], copy.op, copy.lane, "asynchronous copy",
           fmt::format("block ({},{},{}) ended before the copy into its shared memory had landed",
                       block.ctaid[0], block.ctaid[1], block.ctaid[2]));
  }
  async.incoming.clear();
}

}  // namespace optiml::ptx
