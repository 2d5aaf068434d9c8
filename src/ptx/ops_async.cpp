// cp.async: copies of 4, 8 or 16 bytes a lane from global to shared memory. The bytes are read when
// the instruction runs and written when a wait of the same thread, or an mbarrier, covers them.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/address_patterns.h"
#include "ptx/async_checks.h"
#include "ptx/async_ops.h"
#include "ptx/float_shadow.h"
#include "ptx/global_races.h"
#include "ptx/launch_context.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

// Records that have landed are dropped when so many stand before the first that has not.
constexpr size_t kLandedRecords = 64;

struct LaneCopy {
  alignas(64) uint64_t destination[kLanes];
  alignas(64) uint64_t source[kLanes];
  uint32_t read_bytes[kLanes];
  uint32_t reading = 0;  // lanes with bytes to read
};

void CountCopy(Warp& w, const Op* op, const LaneCopy& copy, uint32_t bytes) {
  Worker& worker = *w.worker;
  Counters& counters = worker.counters;
  ++counters.async_copy.requests;
  if (copy.reading != 0) {
    MemorySite& site = worker.sites[op->site];
    const uint64_t first = copy.source[std::countr_zero(copy.reading)];
    RecordPattern(site, copy.source, copy.reading);
    ++counters.global_load.requests;
    const PatternCounts counts = CountPattern(worker, site, first, bytes);
    counters.global_load.sectors += counts.sectors;
    counters.global_load.lines += counts.lines;
    counters.global_load.wavefronts += L1Wavefronts(counts.wavefronts, counts.lines);
    for (uint32_t m = copy.reading; m != 0; m &= m - 1) {
      counters.global_load.lane_bytes += copy.read_bytes[std::countr_zero(m)];
      counters.async_copy.bytes += copy.read_bytes[std::countr_zero(m)];
    }
    if (worker.cache && (op->aux & kBypassL1) != 0) {
      PatternLines(worker, site, first, bytes);
      for (uint32_t i = 0; i < site.line_count; ++i) {
        const auto line = static_cast<uint64_t>(static_cast<int64_t>(first >> 7) +
                                                int64_t{site.line_distance[i]});
        worker.launch->l2->Read(line, site.line_sectors[i], counters);
      }
    } else if (worker.cache) {
      CachePattern(worker, site, first, {bytes, copy.reading, false, false});
    }
  }
  MemorySite& site = worker.sites[op->site + 1];
  RecordPattern(site, copy.destination, w.active);
  const PatternCounts counts =
      CountPattern(worker, site, copy.destination[std::countr_zero(w.active)], bytes);
  ++counters.shared_store.requests;
  counters.shared_store.wavefronts += counts.wavefronts;
  counters.shared_store.conflicts += counts.wavefronts - counts.ideal;
}

// Bytes of the lane go into shared memory. `by_thread`: its own wait made them visible to it.
void LandLane(BlockState& block, uint32_t warp, CopyRecord& record, uint32_t lane, bool by_thread) {
  const uint32_t lo = record.destination[lane];
  const uint32_t hi = lo + record.bytes;
  std::memcpy(block.shared + lo, record.data + size_t{lane} * record.bytes, record.bytes);
  if (!block.shared_initialised.empty()) {
    SetBits(block.shared_initialised.data(), lo, hi, false);
  }
  record.mask &= ~(1u << lane);
  EndCopy(block, lo, hi, CopyUse::kWrite);
  if (by_thread) {
    TagStored(block.warps[warp], record.op, lo, hi, lane);
  } else {
    TagLanded(block, lo, hi);
  }
}

void DropLanded(WarpAsync& async) {
  while (async.first < async.copies.size() && async.copies[async.first].mask == 0) {
    ++async.first;
  }
  if (async.first == async.copies.size() || async.first >= kLandedRecords) {
    async.copies.erase(async.copies.begin(),
                       async.copies.begin() + static_cast<std::ptrdiff_t>(async.first));
    async.first = 0;
  }
}

}  // namespace

const Op* CopyAsync(Warp& w, const Op* op) {
  const uint32_t bytes = op->aux & 0xff;
  Worker& worker = *w.worker;
  WarpAsync& async = w.block->async->warps[w.index];
  LaneCopy copy;
  const uint32_t ignored = op->e == 0                        ? 0
                           : (op->aux & kIgnoreNegated) != 0 ? ~*RegisterAt<uint32_t>(w, op->e)
                                                             : *RegisterAt<uint32_t>(w, op->e);
  const uint64_t* destination = RegisterAt<uint64_t>(w, op->a);
  const uint64_t* source = RegisterAt<uint64_t>(w, op->b);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    copy.destination[l] =
        destination[l] >= kSharedWindow ? destination[l] - kSharedWindow : destination[l];
    copy.source[l] = source[l];
    copy.read_bytes[l] = op->c != 0 ? RegisterAt<uint32_t>(w, op->c)[l] : bytes;
    if (copy.read_bytes[l] > bytes) {
      return Fault(w, op, l, "out of bounds",
                   fmt::format("cp.async reads {} bytes to write {}", copy.read_bytes[l], bytes));
    }
    copy.read_bytes[l] = ((ignored >> l) & 1) != 0 ? 0 : copy.read_bytes[l];
    copy.reading |= copy.read_bytes[l] > 0 ? 1u << l : 0u;
  }
  // Bounds.
  MemorySite& to = worker.sites[op->site + 1];
  MemorySite& from = worker.sites[op->site];
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t lo = copy.destination[l];
    if ((lo & (bytes - 1)) != 0 ||
        ((lo < to.lo || lo + bytes > to.hi) && !LocateShared(w, to, lo, lo + bytes))) {
      return FaultAccess(w, op, Space::kShared, copy.destination, {bytes, 1u << l, true, false});
    }
    if (copy.read_bytes[l] == 0) {
      continue;
    }
    const uint64_t begin = copy.source[l];
    const uint64_t end = begin + copy.read_bytes[l];
    if ((begin & (bytes - 1)) != 0) {
      return FaultAccess(w, op, Space::kGlobal, copy.source, {bytes, 1u << l, false, false});
    }
    if ((begin < from.lo || end > from.hi) && !LocateGlobal(w, from, begin, end, false)) {
      return Fault(w, op, l, "out of bounds",
                   fmt::format("cp.async of {} bytes from {} (address {:#x})", copy.read_bytes[l],
                               OutsideText(w, begin), begin));
    }
  }
  // Reads.
  CopyRecord& record = async.copies.emplace_back();
  record.op = op;
  record.mask = w.active;
  record.bytes = bytes;
  record.number = async.next_number++;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    record.destination[l] = static_cast<uint32_t>(copy.destination[l]);
    record.group[l] = async.committed[l];
    const uint32_t count = copy.read_bytes[l];
    if (count > 0) {
      const uint64_t begin = copy.source[l];
      if (begin < from.lo || begin + count > from.hi) {
        LocateGlobal(w, from, begin, begin + count, false);
      }
      const Allocation& allocation = *from.allocation;
      const uint64_t at = begin - allocation.address;
      if (worker.check_init && allocation.tracked && !allocation.fully_initialised &&
          !BitsSet(allocation.initialised.data(), at, at + count)) {
        ReportUninitialised(w, op, Space::kGlobal, l, begin, count);
      }
      if (worker.check_global_races) {
        w.worker->launch->global_races->Check(
            w, op, allocation, {begin, begin + count, l, std::bit_ceil(count), bytes});
      }
      std::memcpy(record.data + size_t{l} * bytes, allocation.host + at, count);
      if (w.float_shadow != nullptr) {
        // Already now: shadows count only with the bits, which land later.
        w.block->float_shadow->CopyFrom(worker.float_shadow->global(), begin, record.destination[l],
                                        count);
      }
    }
    if (worker.check_races) {
      BeginCopy(w, op, *w.block, record.destination[l], record.destination[l] + bytes, l,
                CopyUse::kWrite);
    }
  }
  if (worker.count) {
    CountCopy(w, op, copy, bytes);
  }
  return op + 1;
}

const Op* CopyCommit(Warp& w, const Op* op) {
  WarpAsync& async = w.block->async->warps[w.index];
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    ++async.committed[static_cast<size_t>(std::countr_zero(m))];
  }
  return op + 1;
}

const Op* CopyWait(Warp& w, const Op* op) {
  WarpAsync& async = w.block->async->warps[w.index];
  for (size_t i = async.first; i < async.copies.size(); ++i) {
    CopyRecord& record = async.copies[i];
    for (uint32_t m = record.mask & w.active; m != 0; m &= m - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(m));
      if (op->aux2 != 0 || record.group[l] + uint64_t{op->aux} < async.committed[l]) {
        LandLane(*w.block, w.index, record, l, true);
      }
    }
  }
  DropLanded(async);
  return op + 1;
}

const Op* CopyArrive(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    BlockState* owner = nullptr;
    Mbarrier* barrier = FindBarrier(w, op, l, LaneAddress(w, op->a, l), owner);
    if (barrier == nullptr) {
      return nullptr;
    }
    if (owner != w.block) {
      return Fault(w, op, l, "mbarrier", "cp.async arrives at an mbarrier of another block");
    }
    // Without .noinc the arrival is one more than the phase was told to expect.
    if ((op->aux & 1) == 0 && ++barrier->pending > kMaxArrivals) {
      return Fault(
          w, op, l, "mbarrier",
          fmt::format("{} pending arrivals, more than {}", barrier->pending, kMaxArrivals));
    }
    w.block->async->arrivals.push_back(
        {barrier->address, w.index, l, w.block->async->warps[w.index].next_number});
  }
  w.worker->progress = true;
  return op + 1;
}

void LandCopies(BlockState& block, uint32_t warp, uint32_t lane, uint64_t before) {
  WarpAsync& async = block.async->warps[warp];
  for (size_t i = async.first; i < async.copies.size(); ++i) {
    CopyRecord& record = async.copies[i];
    if (record.number < before && ((record.mask >> lane) & 1) != 0) {
      LandLane(block, warp, record, lane, false);
    }
  }
  DropLanded(async);
}

}  // namespace optiml::ptx
