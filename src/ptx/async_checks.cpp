#include "ptx/async_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "ptx/global_races.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/scheduler.h"

namespace optiml::ptx {
namespace {

uint32_t StampOf(uint32_t tag) {
  return tag >> 10;
}
uint32_t WarpOf(uint32_t tag) {
  return (tag >> 5) & 31;
}

std::string ThreadText(const LaunchContext& launch, uint32_t thread) {
  const Dim3& dim = launch.block;
  return fmt::format("({},{},{})", thread % dim.x, thread / dim.x % dim.y, thread / dim.x / dim.y);
}

std::string LineText(const LaunchContext& launch, uint32_t instruction) {
  const int32_t line = launch.program->instructions[instruction].source_line;
  return line > 0 ? fmt::format(" at line {}", line) : "";
}

// "byte 3 of s in shared memory", of which block when it is another one.
std::string PlaceText(const Warp& warp, const BlockState& target, uint32_t at) {
  std::string text = SharedName(warp, at);
  if (&target != warp.block) {
    text += fmt::format(" of block ({},{},{})", target.ctaid[0], target.ctaid[1], target.ctaid[2]);
  }
  return text;
}

const char* VerbOf(SharedAccess access) {
  return access == SharedAccess::kLoad    ? "load"
         : access == SharedAccess::kStore ? "store"
                                          : "atomic or volatile access";
}

struct CopyInFlight {
  uint32_t thread = 0;
  uint32_t instruction = 0;
};

bool Overlap(uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end) {
  return a < b_end && b < a_end;
}

// The copy that will write (or read) the word at `at`.
std::optional<CopyInFlight> FindCopy(const BlockState& target, uint32_t at, bool writes) {
  const uint32_t lo = at & ~3u;
  const BlockAsync& async = *target.async;
  for (uint32_t w = 0; writes && w < target.warp_count; ++w) {
    const WarpAsync& warp = async.warps[w];
    for (size_t i = warp.first; i < warp.copies.size(); ++i) {
      const CopyRecord& record = warp.copies[i];
      for (uint32_t m = record.mask; m != 0; m &= m - 1) {
        const auto l = static_cast<uint32_t>(std::countr_zero(m));
        if (Overlap(lo, lo + 4, record.destination[l], record.destination[l] + record.bytes)) {
          return CopyInFlight{w * kLanes + l, record.op->instruction};
        }
      }
    }
  }
  for (const BulkCopy& copy : writes ? async.incoming : async.outgoing) {
    if (Overlap(lo, lo + 4, copy.shared, copy.shared + copy.bytes)) {
      return CopyInFlight{copy.warp * kLanes + copy.lane, copy.op->instruction};
    }
  }
  return std::nullopt;
}

std::string CopyText(const Warp& warp, const BlockState& target, uint32_t at, bool writes) {
  const LaunchContext& launch = *warp.worker->launch;
  const auto copy = FindCopy(target, at, writes);
  const std::string who = copy ? fmt::format(" of thread {}{}", ThreadText(launch, copy->thread),
                                             LineText(launch, copy->instruction))
                               : std::string();
  return fmt::format("the asynchronous copy{} that {} it has not been waited for", who,
                     writes ? "writes" : "reads");
}

void ReportWord(Warp& warp, const Op* op, const BlockState& target, uint32_t at, uint32_t lane,
                SharedAccess access, const std::string& other) {
  Report(warp, op, lane, "race",
         fmt::format("{} of {}: {}", VerbOf(access), PlaceText(warp, target, at), other));
}

// Whether the access that left the tag is not known to be ordered before the warp's.
bool Conflicts(const Warp& warp, const RemoteTag& tag, bool strong) {
  if (tag.stamp == 0 || (tag.strong && strong)) {
    return false;
  }
  const BlockState& block = *warp.block;
  if (tag.rank == block.rank) {
    const uint32_t other = tag.thread / kLanes;
    return other != warp.index && tag.stamp >= block.known[warp.index * kLanes + other];
  }
  return tag.stamp >= block.async->warps[warp.index].known_blocks[tag.rank];
}

// What the words of `target` say about an access by `warp`. False when something was reported.
bool CheckWords(Warp& warp, const Op* op, BlockState& target, uint64_t lo, uint64_t hi,
                uint32_t lane, SharedAccess access) {
  BlockAsync& async = *target.async;
  const bool own = &target == warp.block;
  const uint32_t known = own ? async.warps[warp.index].known_landed : ~0u;
  const LaunchContext& launch = *warp.worker->launch;
  for (uint64_t word = lo >> 2; word <= (hi - 1) >> 2; ++word) {
    const WordState& state = async.words[word];
    const auto at = static_cast<uint32_t>(std::max(lo, word << 2));
    const bool strong = access == SharedAccess::kStrong;
    if (state.writes != 0 && !(strong && state.combines == state.writes)) {
      ReportWord(warp, op, target, at, lane, access, CopyText(warp, target, at, true));
      return false;
    }
    if (access != SharedAccess::kLoad && state.reads != 0) {
      ReportWord(warp, op, target, at, lane, access, CopyText(warp, target, at, false));
      return false;
    }
    if (state.barrier) {
      ReportWord(warp, op, target, at, lane, access, "these bytes are an mbarrier");
      return false;
    }
    if (state.landed != 0 && state.landed >= known) {
      ReportWord(
          warp, op, target, at, lane, access,
          "this thread did not wait for the mbarrier of the asynchronous copy that wrote it");
      return false;
    }
    for (const auto* tags : {&async.remote_writes, &async.remote_reads}) {
      const bool reads = tags == &async.remote_reads;
      if (tags->empty() || (reads && access == SharedAccess::kLoad) ||
          !Conflicts(warp, (*tags)[word], strong)) {
        continue;
      }
      const RemoteTag& tag = (*tags)[word];
      ReportWord(
          warp, op, target, at, lane, access,
          fmt::format("not ordered with a {} by thread {} of block {} of the cluster{}",
                      tag.strong ? "atomic or volatile access"
                      : reads    ? "load"
                                 : "store",
                      ThreadText(launch, tag.thread), tag.rank, LineText(launch, tag.instruction)));
      return false;
    }
  }
  return true;
}

// The same for the tags that the threads of another block left in its own memory.
void CheckTagsOfOther(Warp& warp, const Op* op, BlockState& target, uint32_t lo, uint32_t hi,
                      uint32_t lane, SharedAccess access) {
  const ShadowMemory& shadow = *target.shadow;
  const LaunchContext& launch = *warp.worker->launch;
  const uint32_t known = warp.block->async->warps[warp.index].known_blocks[target.rank];
  const auto conflicts = [&](uint32_t tag) { return tag != 0 && StampOf(tag) >= known; };
  for (uint32_t g = lo >> shadow.granule_shift; g <= (hi - 1) >> shadow.granule_shift; ++g) {
    uint32_t tag = 0;
    const char* theirs = nullptr;
    if (conflicts(shadow.write[g])) {
      tag = shadow.write[g];
      theirs = "a store";
    } else if (access != SharedAccess::kStrong && !shadow.strong.empty() &&
               conflicts(shadow.strong[g])) {
      tag = shadow.strong[g];
      theirs = "an atomic or volatile access";
    } else if (access != SharedAccess::kLoad &&
               (conflicts(shadow.read[g]) || conflicts(shadow.read2[g]))) {
      tag = conflicts(shadow.read[g]) ? shadow.read[g] : shadow.read2[g];
      theirs = "a load";
    }
    if (theirs == nullptr) {
      continue;
    }
    const bool load = theirs[2] == 'l';
    ReportWord(
        warp, op, target, g << shadow.granule_shift, lane, access,
        fmt::format(
            "not ordered with {} by its thread {}{}", theirs, ThreadText(launch, tag & 1023),
            LineText(launch, load ? shadow.read_instruction[g] : shadow.write_instruction[g])));
    return;
  }
}

void LeaveTags(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane,
               SharedAccess access) {
  ShadowMemory& shadow = *warp.block->shadow;
  const uint32_t tag = (shadow.stamp << 10) | (warp.index << 5) | lane;
  for (uint32_t g = lo >> shadow.granule_shift; g <= (hi - 1) >> shadow.granule_shift; ++g) {
    if (access == SharedAccess::kLoad) {
      if (shadow.read[g] != 0 && WarpOf(shadow.read[g]) != warp.index) {
        shadow.read2[g] = tag;
      } else {
        shadow.read[g] = tag;
      }
      shadow.read_instruction[g] = op->instruction;
    } else {
      (access == SharedAccess::kStrong && !shadow.strong.empty() ? shadow.strong
                                                                 : shadow.write)[g] = tag;
      shadow.write_instruction[g] = op->instruction;
    }
  }
}

bool Checked(const BlockState& block) {
  return block.shadow != nullptr && block.async != nullptr && !block.async->words.empty();
}

// One copy more (or less, by -1) that will use the words.
void CountCopy(BlockState& target, uint32_t lo, uint32_t hi, CopyUse use, int by) {
  const auto add = [by](uint16_t& count) { count = static_cast<uint16_t>(count + by); };
  for (uint32_t word = lo >> 2; word <= (hi - 1) >> 2; ++word) {
    WordState& state = target.async->words[word];
    add(use == CopyUse::kRead ? state.reads : state.writes);
    if (use == CopyUse::kCombine) {
      add(state.combines);
    }
  }
}

}  // namespace

Mbarrier* BlockAsync::Find(uint32_t address) {
  for (Mbarrier& barrier : barriers) {
    if (barrier.address == address) {
      return &barrier;
    }
  }
  return nullptr;
}

void BlockAsync::Reset() {
  for (WarpAsync& warp : warps) {
    warp.copies.clear();
    warp.first = 0;
    warp.committed.fill(0);
    warp.bulk_committed.fill(0);
    warp.cluster_arrived = 0;
    warp.cluster_owes = 0;
    warp.known_landed = 0;
    warp.known_blocks.fill(0);
    warp.fenced.fill(0);
  }
  barriers.clear();
  arrivals.clear();
  incoming.clear();
  outgoing.clear();
  landings = 1;
  std::fill(words.begin(), words.end(), WordState());
  std::fill(remote_writes.begin(), remote_writes.end(), RemoteTag());
  std::fill(remote_reads.begin(), remote_reads.end(), RemoteTag());
}

uint32_t NextStamp(BlockState& block) {
  if (block.shadow->stamp >= kMaxStamp) {
    ForgetStamps(block);
  }
  return ++block.shadow->stamp;
}

void ForgetAsyncStamps(BlockState& block) {
  BlockAsync& async = *block.async;
  for (WarpAsync& warp : async.warps) {
    warp.known_landed = 0;
    warp.known_blocks.fill(0);
    warp.fenced.fill(0);
  }
  for (Mbarrier& barrier : async.barriers) {
    barrier.running = {};
    barrier.completed = {};
  }
  async.landings = 1;
  for (WordState& word : async.words) {
    word.landed = 0;
  }
  std::fill(async.remote_writes.begin(), async.remote_writes.end(), RemoteTag());
  std::fill(async.remote_reads.begin(), async.remote_reads.end(), RemoteTag());
}

void CheckAsyncAccess(Warp& warp, const Op* op, uint64_t lo, uint64_t hi, uint32_t lane,
                      SharedAccess access) {
  CheckWords(warp, op, *warp.block, lo, hi, lane, access);
}

void CheckSharedAccess(Warp& warp, const Op* op, BlockState& target, uint32_t lo, uint32_t hi,
                       uint32_t lane, SharedAccess access, bool tag) {
  if (!Checked(target) || !Checked(*warp.block) || lo >= hi) {
    return;
  }
  CheckWords(warp, op, target, lo, hi, lane, access);
  if (&target == warp.block) {
    const uint32_t shift = target.shadow->granule_shift;
    CheckRace(warp, op, lo >> shift, ((hi - 1) >> shift) + 1, lane, access, false);
    if (tag) {
      LeaveTags(warp, op, lo, hi, lane, access);
    }
    return;
  }
  CheckTagsOfOther(warp, op, target, lo, hi, lane, access);
  if (tag && !target.async->remote_writes.empty()) {
    const bool strong = access == SharedAccess::kStrong;
    auto& tags =
        access == SharedAccess::kLoad ? target.async->remote_reads : target.async->remote_writes;
    for (uint32_t word = lo >> 2; word <= (hi - 1) >> 2; ++word) {
      tags[word] = {warp.block->shadow->stamp, static_cast<uint16_t>(warp.block->rank),
                    static_cast<uint16_t>(warp.index * kLanes + lane), op->instruction, strong};
    }
  }
}

void CheckBarrierAccess(Warp& warp, const Op* op, BlockState& target, uint32_t address,
                        uint32_t lane) {
  if (!Checked(target) || !Checked(*warp.block)) {
    return;
  }
  const uint32_t shift = target.shadow->granule_shift;
  if (&target == warp.block) {
    CheckRace(warp, op, address >> shift, (address + 8) >> shift, lane, SharedAccess::kStrong,
              false);
  } else {
    CheckTagsOfOther(warp, op, target, address, address + 8, lane, SharedAccess::kStrong);
  }
}

void BeginCopy(Warp& warp, const Op* op, BlockState& target, uint32_t lo, uint32_t hi,
               uint32_t lane, CopyUse use) {
  if (!Checked(target) || lo >= hi) {
    return;
  }
  CheckSharedAccess(warp, op, target, lo, hi, lane,
                    use == CopyUse::kRead    ? SharedAccess::kLoad
                    : use == CopyUse::kWrite ? SharedAccess::kStore
                                             : SharedAccess::kStrong,
                    false);
  CountCopy(target, lo, hi, use, 1);
}

void EndCopy(BlockState& target, uint32_t lo, uint32_t hi, CopyUse use) {
  if (Checked(target) && lo < hi) {
    CountCopy(target, lo, hi, use, -1);
  }
}

void CheckProxy(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane) {
  const BlockState& block = *warp.block;
  if (!Checked(block) || lo >= hi) {
    return;
  }
  const ShadowMemory& shadow = *block.shadow;
  const auto fenced = [&](uint32_t tag) {
    const uint32_t writer = WarpOf(tag);
    return tag == 0 || StampOf(tag) < block.async->warps[writer].fenced[writer] ||
           StampOf(tag) < block.async->warps[warp.index].fenced[writer];
  };
  for (uint32_t g = lo >> shadow.granule_shift; g <= (hi - 1) >> shadow.granule_shift; ++g) {
    const uint32_t tag = !fenced(shadow.write[g])                              ? shadow.write[g]
                         : !shadow.strong.empty() && !fenced(shadow.strong[g]) ? shadow.strong[g]
                                                                               : 0;
    if (tag == 0) {
      continue;
    }
    const LaunchContext& launch = *warp.worker->launch;
    Report(
        warp, op, lane, "race",
        fmt::format("the asynchronous proxy reads {}, which thread {} wrote{}, without a "
                    "fence.proxy.async in between",
                    PlaceText(warp, block, g << shadow.granule_shift),
                    ThreadText(launch, tag & 1023), LineText(launch, shadow.write_instruction[g])));
    return;
  }
}

void ProxyFence(Warp& warp) {
  BlockState& block = *warp.block;
  if (!Checked(block)) {
    return;
  }
  WarpAsync& mine = block.async->warps[warp.index];
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    mine.fenced[v] = std::max(mine.fenced[v], block.known[warp.index * kLanes + v]);
  }
  mine.fenced[warp.index] = NextStamp(block);
}

void TagStored(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane) {
  if (Checked(*warp.block) && lo < hi) {
    LeaveTags(warp, op, lo, hi, lane, SharedAccess::kStore);
  }
}

void TagRead(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane) {
  if (Checked(*warp.block) && lo < hi) {
    LeaveTags(warp, op, lo, hi, lane, SharedAccess::kLoad);
  }
}

void TagLanded(BlockState& target, uint32_t lo, uint32_t hi) {
  if (!Checked(target) || lo >= hi) {
    return;
  }
  ShadowMemory& shadow = *target.shadow;
  for (uint32_t word = lo >> 2; word <= (hi - 1) >> 2; ++word) {
    target.async->words[word].landed = target.async->landings;
  }
  // The copy's issue was ordered after the earlier stores, or a finding said so.
  for (uint32_t g = lo >> shadow.granule_shift; g <= (hi - 1) >> shadow.granule_shift; ++g) {
    shadow.write[g] = 0;
    if (!shadow.strong.empty()) {
      shadow.strong[g] = 0;
    }
  }
}

void Landed(BlockState& target, Clock& clock) {
  if (Checked(target)) {
    clock.landed = std::max(clock.landed, ++target.async->landings);
  }
}

void MarkBarrier(BlockState& block, uint32_t address, bool is_barrier) {
  if (Checked(block)) {
    block.async->words[address >> 2].barrier = is_barrier;
    block.async->words[(address >> 2) + 1].barrier = is_barrier;
  }
}

void Release(Warp& warp, BlockState& owner, Clock& clock) {
  BlockState& block = *warp.block;
  if (!Checked(block)) {
    return;
  }
  const WarpAsync& mine = block.async->warps[warp.index];
  const uint32_t stamp = NextStamp(block);
  for (uint32_t r = 0; r < kMaxClusterBlocks; ++r) {
    clock.blocks[r] = std::max(clock.blocks[r], mine.known_blocks[r]);
  }
  if (&owner != &block) {
    clock.blocks[block.rank] = stamp;
    for (uint32_t v = 0; v < owner.warp_count; ++v) {
      clock.warps[v] = std::max(clock.warps[v], mine.known_blocks[owner.rank]);
    }
    return;
  }
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    clock.warps[v] = std::max(clock.warps[v], block.known[warp.index * kLanes + v]);
  }
  clock.warps[warp.index] = stamp;
  clock.landed = std::max(clock.landed, mine.known_landed);
}

void Acquire(Warp& warp, const Clock& clock) {
  BlockState& block = *warp.block;
  if (!Checked(block)) {
    return;
  }
  WarpAsync& mine = block.async->warps[warp.index];
  mine.known_landed = std::max(mine.known_landed, clock.landed);
  for (uint32_t r = 0; r < kMaxClusterBlocks; ++r) {
    mine.known_blocks[r] = std::max(mine.known_blocks[r], clock.blocks[r]);
  }
  uint32_t* known = &block.known[warp.index * kLanes];
  known[warp.index] = block.shadow->stamp;
  uint32_t least = ~0u;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    known[v] = std::max(known[v], clock.warps[v]);
    least = std::min(least, known[v]);
  }
  block.floor[warp.index] = least;
  SynchroniseWarp(warp);
}

void SynchroniseAsync(BlockState& block, uint32_t warps) {
  if (!Checked(block)) {
    return;
  }
  BlockAsync& async = *block.async;
  uint32_t landed = 0;
  std::array<uint32_t, kMaxClusterBlocks> blocks{};
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    const WarpAsync& warp = async.warps[static_cast<size_t>(std::countr_zero(m))];
    landed = std::max(landed, warp.known_landed);
    for (uint32_t r = 0; r < kMaxClusterBlocks; ++r) {
      blocks[r] = std::max(blocks[r], warp.known_blocks[r]);
    }
  }
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    WarpAsync& warp = async.warps[static_cast<size_t>(std::countr_zero(m))];
    warp.known_landed = landed;
    warp.known_blocks = blocks;
  }
}

void SynchroniseCluster(ClusterState& cluster) {
  if (!Checked(*cluster.blocks.front())) {
    return;
  }
  for (BlockState* block : cluster.blocks) {
    Synchronise(*block, kAllLanes, true);
  }
  for (BlockState* block : cluster.blocks) {
    for (WarpAsync& warp : block->async->warps) {
      for (const BlockState* other : cluster.blocks) {
        warp.known_blocks[other->rank] = other->shadow->stamp;
      }
    }
  }
  GlobalRaces::SynchroniseCluster(cluster.blocks);
}

}  // namespace optiml::ptx
