#include "ptx/global_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/async_checks.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/race_tags.h"

namespace optiml::ptx {
namespace {

// Of tags: a launch that touches more is checked no further.
constexpr uint64_t kMostTagBytes = uint64_t{1} << 30;
uint64_t most_tag_bytes = kMostTagBytes;

bool Covers(const ClockRef& clock, uint64_t tag) {
  if (clock == nullptr) {
    return false;
  }
  const uint32_t unit = UnitOf(tag);
  auto it = std::lower_bound(clock->begin(), clock->end(), unit,
                             [](const ClockEntry& e, uint32_t u) { return e.unit < u; });
  for (; it != clock->end() && it->unit == unit; ++it) {
    if ((it->warp == WarpOf(tag) || it->warp == kLanes) && StampOf(tag) < it->stamp) {
      return true;
    }
  }
  return false;
}

}  // namespace

void SetRaceTagBytesForTest(uint64_t bytes) {
  most_tag_bytes = bytes == 0 ? kMostTagBytes : bytes;
}

// Who is not ordered with an access, and what it did.
struct GlobalRaces::Party {
  uint64_t tag = 0;  // 0: nobody
  const char* what = "";
  uint32_t instruction = 0;
  bool may_be_equal = false;  // a store beside a store: no harm in the same value
};

GlobalRaces::GlobalRaces(uint32_t granule_bytes)
    : shift_(static_cast<uint32_t>(std::countr_zero(granule_bytes))), block_of_unit_(1) {}

GlobalRaces::~GlobalRaces() = default;

void GlobalRaces::StartBlock(BlockState& block) {
  if (++units_ >= kUnitMask) {
    GiveUp("more blocks than can be told apart");
  }
  block_of_unit_.push_back(block.linear_id);
  if (block.order == nullptr) {
    block.order = std::make_shared<BlockOrder>();
  }
  if (block.order->used) {
    *block.order = {};
  }
  block.order->unit = units_;
}

GlobalRaces::Shadow& GlobalRaces::ShadowOf(const Allocation& allocation) {
  if (&allocation != last_allocation_) {
    auto& shadow = shadows_[&allocation];
    if (shadow == nullptr) {
      shadow = std::make_unique<Shadow>();
      shadow->pages.resize(((allocation.bytes >> shift_) + Page::kCells) / Page::kCells);
    }
    last_allocation_ = &allocation;
    last_shadow_ = shadow.get();
  }
  return *last_shadow_;
}

bool GlobalRaces::Conflicts(const Warp& warp, uint64_t tag, uint32_t lane) const {
  if (tag == 0) {
    return false;
  }
  const BlockState& block = *warp.block;
  if (UnitOf(tag) != block.order->unit) {
    return !Covers(block.order->warps[warp.index].other_blocks, tag);
  }
  const uint32_t other = WarpOf(tag);
  if (other != warp.index) {
    return StampOf(tag) >= block.known[size_t{warp.index} * kLanes + other];
  }
  return warp.worker->check_warp_races && ThreadOf(tag) % kLanes != lane &&
         StampOf(tag) >= std::max(warp.warp_floor, block.floor[warp.index]);
}

GlobalRaces::Party GlobalRaces::Opponent(const Warp& warp, const GlobalRange& range,
                                         const Cell& cell, const StrongCell& strong_cell,
                                         uint32_t lane) const {
  const bool strong =
      range.access == GlobalAccess::kStrongLoad || range.access == GlobalAccess::kStrongStore;
  const bool stores =
      range.access == GlobalAccess::kStore || range.access == GlobalAccess::kStrongStore;
  if (Conflicts(warp, cell.write, lane)) {
    return {cell.write, "a store", cell.write_instruction,
            range.access == GlobalAccess::kStore && range.from_registers};
  }
  // Strong accesses that reach each other do not race; those of a block's scope reach the block.
  const auto apart = [&](uint64_t tag) {
    return !strong || ((range.block_scope || (tag & kTagBlockScope) != 0) &&
                       UnitOf(tag) != warp.block->order->unit);
  };
  // Whoever acquired what the writer's fence released has seen the write behind it.
  uint64_t write = strong_cell.write;
  if (strong_cell.write_fence > 0 && UnitOf(write) != warp.block->order->unit) {
    write = (write & ~(uint64_t{kStampMask} << kStampShift)) |
            (uint64_t{strong_cell.write_fence - 1} << kStampShift);
  }
  const bool guess = range.access == GlobalAccess::kLoad && (write & kTagCompareAndSwap) != 0;
  if (apart(write) && Conflicts(warp, write, lane) && !guess) {
    return {write, "an atomic or volatile store", strong_cell.write_instruction, false};
  }
  if (!stores) {
    return {};
  }
  if (apart(strong_cell.read) && Conflicts(warp, strong_cell.read, lane)) {
    return {strong_cell.read, "a volatile load", strong_cell.read_instruction, false};
  }
  for (const uint64_t tag : {cell.read, cell.read2}) {
    if (Conflicts(warp, tag, lane) && !range.compare_and_swap) {
      return {tag, "a load", cell.read_instruction, false};
    }
  }
  return {};
}

bool GlobalRaces::SameValue(Warp& warp, const Op* op, const Allocation& allocation,
                            const GlobalRange& range, uint64_t at, uint32_t bytes, uint32_t lane) {
  // The lane's registers as they will lie in memory.
  const Place places[4] = {op->b, op->c, op->d, op->d2};
  uint8_t value[16] = {};
  const uint32_t size = range.element_bytes;
  for (uint32_t v = 0; v < range.lane_bytes / size; ++v) {
    const uint32_t wide = std::max(size, 2u);  // of a lane's register
    std::memcpy(value + v * size, RegisterAt<uint8_t>(warp, places[v]) + size_t{lane} * wide, size);
  }
  const uint64_t start = range.lo + (at - range.lo) / range.lane_bytes * range.lane_bytes;
  return std::memcmp(value + (at - start), allocation.host + (at - allocation.address), bytes) == 0;
}

void GlobalRaces::CheckCell(Warp& warp, const Op* op, const Allocation& allocation,
                            const GlobalRange& range, const Cell& cell, const StrongCell& strong,
                            uint64_t at, uint32_t lane) {
  const Party party = Opponent(warp, range, cell, strong, lane);
  const uint32_t bytes = std::min(1u << shift_, range.lane_bytes);
  if (party.tag == 0 ||
      (party.may_be_equal && SameValue(warp, op, allocation, range, at, bytes, lane))) {
    return;
  }
  const LaunchContext& launch = *warp.worker->launch;
  const Dim3& grid = launch.grid;
  const Dim3& dim = launch.block;
  const uint64_t block = block_of_unit_[UnitOf(party.tag)];
  const uint32_t thread = ThreadOf(party.tag);
  const int32_t line = launch.program->instructions[party.instruction].source_line;
  static constexpr const char* kNames[] = {"load", "store", "volatile load",
                                           "atomic or volatile store"};
  Report(warp, op, lane, "race",
         fmt::format("{} of {} (address {:#x}) is not ordered with {} by block ({},{},{}) thread "
                     "({},{},{}){}",
                     kNames[static_cast<size_t>(range.access)], launch.memory->NameOf(at), at,
                     party.what, block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y,
                     thread % dim.x, thread / dim.x % dim.y, thread / dim.x / dim.y,
                     line > 0 ? fmt::format(" at line {}", line) : ""));
}

// The part of an access that lies in one row.
struct GlobalRaces::RowAccess {
  Page* page = nullptr;
  uint64_t begin = 0;  // granules of the allocation
  uint64_t end = 0;
  uint32_t lane = 0;   // of the first
  uint32_t shift = 0;  // log2 of the granules of a lane; 5: all are one lane's

  uint32_t LaneOf(uint64_t granule) const {
    return (lane + static_cast<uint32_t>((granule - begin) >> shift)) % kLanes;
  }
};

void GlobalRaces::LeaveTag(const Op* op, const GlobalRange& range, const Accessor& accessor,
                           uint32_t lane, Cell& cell) {
  const uint64_t tag = accessor.tag | lane;
  if (range.access == GlobalAccess::kStore) {
    cell.write = tag;
    cell.write_instruction = op->instruction;
    return;
  }
  if (accessor.IsSecond(cell, lane)) {
    cell.read2 = tag;
  } else {
    cell.read = tag;
  }
  cell.read_instruction = op->instruction;
}

void GlobalRaces::LeaveTag(const Op* op, const GlobalRange& range, const Accessor& accessor,
                           uint32_t lane, StrongCell& cell) {
  const uint64_t tag = accessor.tag | lane | (range.block_scope ? kTagBlockScope : 0);
  if (range.access == GlobalAccess::kStrongLoad) {
    cell.read = tag;
    cell.read_instruction = op->instruction;
    return;
  }
  cell.write = tag | (range.compare_and_swap ? kTagCompareAndSwap : 0);
  cell.write_fence = accessor.fence;
  cell.write_instruction = op->instruction;
}

GlobalRaces::Page* GlobalRaces::PageOf(std::unique_ptr<Page>& page) {
  if (page == nullptr && TakeRoom(sizeof(Page))) {
    page = std::make_unique<Page>();
  }
  return page.get();
}

bool GlobalRaces::TakeRoom(size_t bytes) {
  tag_bytes_ += bytes;
  if (tag_bytes_ > most_tag_bytes) {
    GiveUp(fmt::format("what the launch touched needs more than {} KiB of tags",
                       most_tag_bytes >> 10));
    return false;
  }
  return true;
}

void GlobalRaces::GiveUp(const std::string& why) {
  if (incomplete_.empty()) {
    incomplete_ = why;
  }
}

GlobalRaces::Accessor GlobalRaces::AccessorOf(const Warp& warp, const GlobalRange& range) {
  const BlockState& block = *warp.block;
  const uint64_t unit = uint64_t{block.order->unit} << kUnitShift;
  Accessor accessor;
  accessor.tag = unit | (uint64_t{block.shadow->stamp} << kStampShift) | (warp.index * kLanes);
  accessor.floor = unit | (uint64_t{block.floor[warp.index]} << kStampShift);
  accessor.warp = warp.index;
  accessor.fence = block.order->warps[warp.index].fenced[warp.index];
  accessor.lanes_matter = warp.worker->check_warp_races;
  accessor.strong =
      range.access == GlobalAccess::kStrongLoad || range.access == GlobalAccess::kStrongStore;
  accessor.stores =
      range.access == GlobalAccess::kStore || range.access == GlobalAccess::kStrongStore;
  return accessor;
}

void GlobalRaces::Check(Warp& warp, const Op* op, const Allocation& allocation,
                        const GlobalRange& range) {
  if (allocation.read_only || !incomplete_.empty()) {
    return;
  }
  const Accessor accessor = AccessorOf(warp, range);
  Shadow& shadow = ShadowOf(allocation);
  const uint64_t begin = (range.lo - allocation.address) >> shift_;
  const uint64_t end = ((range.hi - 1 - allocation.address) >> shift_) + 1;
  const uint32_t per_lane = std::max(range.lane_bytes >> shift_, 1u);
  RowAccess access;
  // A lane's own granules count as one lane's, however few they are.
  const bool one_lane = end - begin <= per_lane;
  access.shift = one_lane ? 5 : std::min(static_cast<uint32_t>(std::countr_zero(per_lane)), 5u);
  for (uint64_t g = begin; g < end; g = access.end) {
    Page* const page = PageOf(shadow.pages[g / Page::kCells]);
    if (page == nullptr) {
      return;
    }
    if (accessor.strong && page->strong == nullptr) {
      if (!TakeRoom(sizeof(*page->strong))) {
        return;
      }
      page->strong = std::make_unique<std::array<StrongCell, Page::kCells>>();
    }
    access.page = page;
    access.begin = g;
    access.end = std::min(end, (g / Row::kCells + 1) * Row::kCells);
    access.lane =
        one_lane ? range.lane
                 : static_cast<uint32_t>(range.lane + ((g - begin) >> std::countr_zero(per_lane)));
    CheckRow(warp, op, allocation, range, accessor, access);
  }
}

void GlobalRaces::CheckRow(Warp& warp, const Op* op, const Allocation& allocation,
                           const GlobalRange& range, const Accessor& accessor,
                           const RowAccess& access) {
  static const StrongCell kNone;
  Row& row = access.page->rows[access.begin % Page::kCells / Row::kCells];
  const auto first = static_cast<uint32_t>(access.begin % Row::kCells);
  const auto count = static_cast<uint32_t>(access.end - access.begin);
  RowTag mine;
  mine.mask = (count == Row::kCells ? ~0u : (1u << count) - 1) << first;
  mine.shift = access.shift;
  mine.tag = accessor.tag | ((access.lane - (first >> access.shift)) % kLanes);
  const auto strong_of = [&](uint64_t g) {
    return access.page->strong != nullptr ? &(*access.page->strong)[g % Page::kCells] : nullptr;
  };
  const bool clean = row.stores == nullptr && (row.loads == nullptr || !accessor.stores) &&
                     access.page->strong == nullptr && !accessor.Suspects(row, mine);
  for (uint64_t g = access.begin; g < access.end && !clean; ++g) {
    const Cell cell = row.At(g % Row::kCells);
    const StrongCell* strong = strong_of(g);
    const uint32_t lane = access.LaneOf(g);
    if (accessor.Suspects(cell, lane) || (strong != nullptr && accessor.Suspects(*strong, lane))) {
      CheckCell(warp, op, allocation, range, cell, strong != nullptr ? *strong : kNone,
                allocation.address + (g << shift_), lane);
    }
  }
  if (!range.leaves_tag) {
    return;
  }
  for (uint64_t g = access.begin; g < access.end && accessor.strong; ++g) {
    LeaveTag(op, range, accessor, access.LaneOf(g), *strong_of(g));
  }
  if (accessor.strong) {
    return;
  }
  if (accessor.stores ? row.stores == nullptr : row.loads == nullptr) {
    if (MergeTag(warp, op, range, accessor, mine, row) ||
        !TakeRoom(accessor.stores ? sizeof(Row::StoreCells) : sizeof(Row::LoadCells))) {
      return;
    }
    accessor.stores ? row.Expand(row.stores) : row.Expand(row.loads);
  }
  for (uint64_t g = access.begin; g < access.end; ++g) {
    const auto i = static_cast<uint32_t>(g % Row::kCells);
    Cell cell = row.At(i);
    LeaveTag(op, range, accessor, access.LaneOf(g), cell);
    accessor.stores ? row.stores->Put(i, cell) : row.loads->Put(i, cell);
  }
}

bool GlobalRaces::MergeTag(const Warp& warp, const Op* op, const GlobalRange& range,
                           const Accessor& accessor, const RowTag& mine, Row& row) {
  const auto& instructions = warp.worker->launch->program->instructions;
  // Messages name lines: tags of two instructions are one where these are of one line, or where
  // nothing is left of the earlier.
  const auto merge = [&](RowTag& tag, uint32_t kept, uint32_t& instruction) {
    if (kept != 0 && instruction != op->instruction &&
        instructions[instruction].source_line != instructions[op->instruction].source_line) {
      return false;
    }
    if (!tag.Merge(mine)) {
      return false;
    }
    instruction = op->instruction;
    return true;
  };
  if (range.access == GlobalAccess::kStore) {
    return merge(row.write, row.write.mask & ~mine.mask, row.write_instruction);
  }
  const uint32_t known = row.read.mask & mine.mask;
  const bool second = known != 0 && WarpOf(row.read.tag) != accessor.warp &&
                      accessor.Suspects(row.read.tag, static_cast<uint32_t>(mine.tag) % kLanes);
  if (second && known != mine.mask) {
    return false;  // some granules have a first reader, others none
  }
  const uint32_t kept = second ? row.read.mask | (row.read2.mask & ~mine.mask)
                               : (row.read.mask & ~mine.mask) | row.read2.mask;
  return merge(second ? row.read2 : row.read, kept, row.read_instruction);
}

}  // namespace optiml::ptx
