// Where the handlers enter the race check of global memory, and the ways through it that most
// accesses take: nothing in the row but tags of the same threads, or nothing at all.

#include <algorithm>
#include <bit>

#include "ptx/launch_context.h"
#include "ptx/race_tags.h"

namespace optiml::ptx {
namespace {

// The meaning of Op::aux for a global access.
GlobalRange RangeOf(const Op* op, uint64_t lo, uint64_t hi, uint32_t lane, uint32_t lane_bytes) {
  GlobalRange range;
  range.lo = lo;
  range.hi = hi;
  range.lane = lane;
  range.lane_bytes = lane_bytes;
  range.block_scope = (op->aux & kAccessBlockScope) != 0;
  range.compare_and_swap = (op->aux & kAccessCompareAndSwap) != 0;
  return range;
}

}  // namespace

// False, with nothing done, when tags may be unordered, or when they cannot be left where they are.
bool GlobalRaces::CheckRowQuickly(const Program& program, const Op* op, const Accessor& accessor,
                                  const RowTag& mine, Row& row) {
  const auto each = [&](const auto& suspects) {
    for (uint32_t m = mine.mask; m != 0; m &= m - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(m));
      if (suspects(i, static_cast<uint32_t>(mine.At(i)) % kLanes)) {
        return false;
      }
    }
    return true;
  };
  // A tag that is not there, or that takes in these granules: messages name the line.
  const auto fits = [&](const RowTag& tag, uint32_t instruction) {
    return tag.mask == 0 || (tag.tag == mine.tag && tag.shift == mine.shift &&
                             (instruction == op->instruction ||
                              program.instructions[instruction].source_line ==
                                  program.instructions[op->instruction].source_line));
  };
  const auto leave = [&](RowTag& tag, uint32_t& instruction) {
    tag = {mine.tag, tag.mask | mine.mask, mine.shift};
    instruction = op->instruction;
  };
  if (row.stores == nullptr ? !row.write.SameThreads(mine) : !each([&](uint32_t i, uint32_t lane) {
        return accessor.Suspects(row.stores->write[i], lane);
      })) {
    return false;
  }
  if (!accessor.stores) {
    if (row.loads == nullptr) {
      if (row.read2.mask != 0 || !fits(row.read, row.read_instruction)) {
        return false;
      }
      leave(row.read, row.read_instruction);
      return true;
    }
    if (!each([&](uint32_t i, uint32_t lane) {
          return accessor.Suspects(row.loads->read[i], lane);
        })) {
      return false;
    }
    return each([&](uint32_t i, uint32_t) {
      row.loads->read[i] = mine.At(i);
      row.loads->instruction[i] = op->instruction;
      return false;
    });
  }
  if (row.loads == nullptr ? (row.read2.mask & mine.mask) != 0 || !row.read.SameThreads(mine)
                           : !each([&](uint32_t i, uint32_t lane) {
                               return accessor.Suspects(row.loads->read[i], lane) ||
                                      accessor.Suspects(row.loads->read2[i], lane);
                             })) {
    return false;
  }
  if (row.stores == nullptr) {
    if (!fits(row.write, row.write_instruction)) {
      return false;
    }
    leave(row.write, row.write_instruction);
    return true;
  }
  return each([&](uint32_t i, uint32_t) {
    row.stores->write[i] = mine.At(i);
    row.stores->instruction[i] = op->instruction;
    return false;
  });
}

void GlobalRaces::CheckPieces(Warp& warp, const Op* op, const Allocation& allocation,
                              const GlobalPiece* pieces, uint32_t count, const GlobalRange& range) {
  if (allocation.read_only || !incomplete_.empty()) {
    return;
  }
  const Program& program = *warp.worker->launch->program;
  const Accessor accessor = AccessorOf(warp, range);
  Shadow& shadow = ShadowOf(allocation);
  const uint32_t per_lane = std::max(range.lane_bytes >> shift_, 1u);
  const auto lane_shift = std::min(static_cast<uint32_t>(std::countr_zero(per_lane)), 5u);
  for (uint32_t p = 0; p < count; ++p) {
    const GlobalPiece& piece = pieces[p];
    const uint64_t begin = (piece.lo - allocation.address) >> shift_;
    const uint64_t last = (piece.hi - 1 - allocation.address) >> shift_;
    Page* const page = shadow.pages[begin / Page::kCells].get();
    if (page != nullptr && page->strong == nullptr && begin / Row::kCells == last / Row::kCells) {
      const auto first = static_cast<uint32_t>(begin % Row::kCells);
      const auto granules = static_cast<uint32_t>(last - begin) + 1;
      RowTag mine;
      mine.mask = (granules == Row::kCells ? ~0u : (1u << granules) - 1) << first;
      mine.shift = granules <= per_lane ? 5 : lane_shift;
      mine.tag = accessor.tag | ((piece.lane - (first >> mine.shift)) % kLanes);
      if (CheckRowQuickly(program, op, accessor, mine,
                          page->rows[begin % Page::kCells / Row::kCells])) {
        continue;
      }
    }
    GlobalRange one = range;
    one.lo = piece.lo;
    one.hi = piece.hi;
    one.lane = piece.lane;
    Check(warp, op, allocation, one);
  }
}

uint64_t GlobalRaces::AtomicTag(const Warp& warp, const Op* op, uint32_t lane) const {
  const BlockState& block = *warp.block;
  if ((op->aux & (kAccessRelease | kAccessBlockScope)) != 0 || block.order->used ||
      !variables_.empty()) {
    return 0;
  }
  return (uint64_t{block.order->unit} << kUnitShift) |
         (uint64_t{block.shadow->stamp} << kStampShift) | (warp.index * kLanes) | lane |
         ((op->aux & kAccessCompareAndSwap) != 0 ? kTagCompareAndSwap : 0);
}

bool GlobalRaces::CheckAtomicQuickly(const Allocation& allocation, const Op* op, uint64_t at,
                                     uint32_t bytes, uint64_t tag) {
  if (tag == 0 || !incomplete_.empty()) {
    return tag != 0;
  }
  Shadow& shadow = ShadowOf(allocation);
  const uint64_t begin = (at - allocation.address) >> shift_;
  const uint64_t last = (at + bytes - 1 - allocation.address) >> shift_;
  Page* const page = shadow.pages[begin / Page::kCells].get();
  // An aligned access of at most 8 bytes lies in one row.
  if (page == nullptr || page->strong == nullptr) {
    return false;
  }
  const Row& row = page->rows[begin % Page::kCells / Row::kCells];
  if (row.stores != nullptr || row.loads != nullptr ||
      (row.write.mask | row.read.mask | row.read2.mask) != 0) {
    return false;
  }
  StrongCell* const cells = &(*page->strong)[begin % Page::kCells];
  for (uint64_t i = 0; i <= last - begin; ++i) {
    if (((cells[i].write | cells[i].read) & kTagBlockScope) != 0) {
      return false;
    }
  }
  for (uint64_t i = 0; i <= last - begin; ++i) {
    cells[i].write = tag;
    cells[i].write_fence = 0;  // of a warp that never fenced
    cells[i].write_instruction = op->instruction;
  }
  return true;
}

void CheckGlobalAccess(Warp& warp, const Op* op, const Allocation& allocation,
                       const GlobalLanes& lanes, bool store) {
  GlobalRaces& races = *warp.worker->launch->global_races;
  GlobalRange range = RangeOf(op, lanes.lo, lanes.hi, lanes.first, lanes.lane_bytes);
  range.element_bytes = lanes.element_bytes;
  if ((op->aux & kAccessStrong) == 0) {
    range.access = store ? GlobalAccess::kStore : GlobalAccess::kLoad;
    races.Check(warp, op, allocation, range);
    return;
  }
  range.access = store ? GlobalAccess::kStrongStore : GlobalAccess::kStrongLoad;
  if ((op->aux & kAccessRelease) != 0) {
    races.Fence(warp, range.block_scope);
  }
  for (uint64_t at = lanes.lo; at < lanes.hi && !store; at += lanes.lane_bytes) {
    races.Acquire(warp, at, lanes.lane_bytes);
  }
  races.Check(warp, op, allocation, range);
  for (uint64_t at = lanes.lo; at < lanes.hi && store; at += lanes.lane_bytes) {
    races.Release(warp, at, lanes.lane_bytes, false, range.block_scope);
  }
}

void CheckGlobalPieces(Warp& warp, const Op* op, const Allocation& allocation,
                       const GlobalPiece* pieces, uint32_t count, const GlobalLanes& shape,
                       bool store) {
  if ((op->aux & kAccessStrong) != 0) {
    for (uint32_t i = 0; i < count; ++i) {
      CheckGlobalAccess(
          warp, op, allocation,
          {pieces[i].lo, pieces[i].hi, pieces[i].lane, shape.lane_bytes, shape.element_bytes},
          store);
    }
    return;
  }
  GlobalRange range = RangeOf(op, 0, 0, 0, shape.lane_bytes);
  range.element_bytes = shape.element_bytes;
  range.access = store ? GlobalAccess::kStore : GlobalAccess::kLoad;
  warp.worker->launch->global_races->CheckPieces(warp, op, allocation, pieces, count, range);
}

void CheckGlobalAtomic(Warp& warp, const Op* op, const Allocation& allocation, uint64_t at,
                       uint32_t bytes, uint32_t lane) {
  GlobalRaces& races = *warp.worker->launch->global_races;
  if (races.CheckAtomicQuickly(allocation, op, at, bytes, races.AtomicTag(warp, op, lane))) {
    return;
  }
  GlobalRange range = RangeOf(op, at, at + bytes, lane, bytes);
  range.element_bytes = bytes;
  range.access = GlobalAccess::kStrongStore;
  if ((op->aux & kAccessRelease) != 0) {
    races.Fence(warp, range.block_scope);
  }
  if (op->d != 0) {
    races.Acquire(warp, at, bytes);
  }
  races.Check(warp, op, allocation, range);
  races.Release(warp, at, bytes, true, range.block_scope);
}

}  // namespace optiml::ptx
