#include "ptx/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

#include "ptx/access.h"
#include "ptx/async_checks.h"
#include "ptx/async_ops.h"
#include "ptx/global_races.h"
#include "ptx/handlers.h"
#include "ptx/ordered_atomics.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

// With a cache model warps take turns often, as on a GPU, so that they find each other's lines;
// without one a warp runs on until it waits, which is faster.
constexpr int64_t kModelSlice = 512;
constexpr int64_t kLongSlice = int64_t{1} << 40;
// Rounds of nothing but polling, over all blocks that are or can be resident, after which it is a
// deadlock.
constexpr uint64_t kDeadlockRounds = 2000;
// Host memory for blocks that wait for others.
constexpr uint64_t kResidentBytes = uint64_t{1} << 30;
// The same where all blocks of a launch must be resident: what a GPU can hold fits.
constexpr uint64_t kCooperativeBytes = uint64_t{1} << 34;

uint8_t* Align(std::byte* p) {
  return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(p) + 63) & ~uintptr_t{63});
}

}  // namespace

void Warp::Grow(uint64_t new_registers_bytes, uint32_t new_local_stride) {
  if (new_registers_bytes > registers_bytes) {
    const uint64_t bytes = std::max(new_registers_bytes, 2 * registers_bytes);
    auto storage = std::make_unique<std::byte[]>(bytes + 64);
    uint8_t* start = Align(storage.get());
    if (register_storage != nullptr) {
      std::memcpy(start, registers() - frame_offset, registers_bytes);
    }
    base[0] = start + frame_offset;
    register_storage = std::move(storage);
    registers_bytes = bytes;
  }
  if (new_local_stride > local_stride) {
    const uint32_t stride = (std::max(new_local_stride, 2 * local_stride) + 15) / 16 * 16;
    auto storage = std::make_unique<std::byte[]>(size_t{stride} * kLanes + 64);
    uint8_t* start = Align(storage.get());
    std::vector<uint64_t> bits;
    if (!local_initialised.empty()) {
      bits.assign((size_t{stride} * kLanes + 63) / 64, 0);
    }
    for (uint32_t l = 0; l < kLanes && local != nullptr; ++l) {
      std::memcpy(start + size_t{l} * stride, local + size_t{l} * local_stride, local_stride);
      for (uint32_t i = 0; i < local_stride && !bits.empty(); ++i) {
        if (BitsSet(local_initialised.data(), uint64_t{l} * local_stride + i,
                    uint64_t{l} * local_stride + i + 1)) {
          SetBits(bits.data(), uint64_t{l} * stride + i, uint64_t{l} * stride + i + 1, false);
        }
      }
    }
    local = start;
    local_stride = stride;
    local_storage = std::move(storage);
    local_initialised = std::move(bits);
  }
}

std::unique_ptr<BlockState> Scheduler::Start(uint64_t linear_id, uint32_t rank) {
  const LaunchRequest& request = *launch_.request;
  const Program& program = *launch_.program;
  const ProgramFunction& kernel = program.functions[0];
  std::unique_ptr<BlockState> block;
  const bool again = !free_.empty();
  if (again) {
    block = std::move(free_.back());
    free_.pop_back();
  } else {
    block = std::make_unique<BlockState>();
    block->threads = static_cast<uint32_t>(launch_.block.Count());
    block->warp_count = (block->threads + kLanes - 1) / kLanes;
    block->warps.resize(block->warp_count);
    block->shared_storage = std::make_unique<std::byte[]>(launch_.shared_bytes + 1024 + 64);
    block->shared = Align(block->shared_storage.get());
    if (request.checks.initialisation) {
      block->shared_initialised.resize(launch_.shared_bytes / 64 + 2);
    }
    if (worker_.check_races) {
      block->shadow = std::make_unique<ShadowMemory>();
      ShadowMemory& shadow = *block->shadow;
      shadow.granule_shift = static_cast<uint32_t>(std::countr_zero(program.shared_granule));
      const size_t granules = (launch_.shared_bytes >> shadow.granule_shift) + 64;
      shadow.write.assign(granules, 0);
      shadow.read.assign(granules, 0);
      shadow.read2.assign(granules, 0);
      shadow.write_instruction.assign(granules, 0);
      shadow.read_instruction.assign(granules, 0);
      if (program.shared_strong) {
        shadow.strong.assign(granules, 0);
      }
      block->known.resize(size_t{kLanes} * kLanes);
      block->floor.resize(kLanes);
    }
    for (uint32_t i = 0; i < block->warp_count; ++i) {
      Warp& warp = block->warps[i];
      warp.index = i;
      warp.block = block.get();
      warp.worker = &worker_;
      warp.base[1] = launch_.constants - 1;
      if (request.checks.initialisation && kernel.local_bytes > 0) {
        warp.local_initialised.assign(1, 0);
      }
      warp.Grow(kernel.frame_bytes, std::max(kernel.local_bytes, 16u));
      if (worker_.float_shadow != nullptr) {
        warp.float_shadow = std::make_shared<WarpShadow>();
      }
    }
  }
  if (worker_.float_shadow != nullptr) {
    block->float_shadow = std::make_shared<ShadowStore>();
  }
  block->finished = false;
  block->rank = rank;
  block->cluster = nullptr;
  block->linear_id = linear_id;
  block->ctaid[0] = static_cast<uint32_t>(linear_id % launch_.grid.x);
  block->ctaid[1] = static_cast<uint32_t>(linear_id / launch_.grid.x % launch_.grid.y);
  block->ctaid[2] = static_cast<uint32_t>(linear_id / launch_.grid.x / launch_.grid.y);
  block->sm = static_cast<uint32_t>(linear_id % std::max(request.cache.sms, 1u));
  block->barriers = {};
  block->arrived_only = 0;
  block->idle_rounds = 0;
  // Shared memory holds anything at the start of a block; a pattern that is a quiet NaN and no
  // small integer shows its use.
  std::memset(block->shared, 0xff, launch_.shared_bytes);
  std::fill(block->shared_initialised.begin(), block->shared_initialised.end(), 0);
  if (worker_.check_races) {
    if (block->shadow->stamp > kMaxStamp / 2) {
      for (auto* tags : {&block->shadow->write, &block->shadow->read, &block->shadow->read2,
                         &block->shadow->strong}) {
        std::fill(tags->begin(), tags->end(), 0);
      }
      block->shadow->stamp = 0;
    }
    if (worker_.check_global_races) {
      launch_.global_races->StartBlock(*block);
    }
    Synchronise(*block, kAllLanes, true);
  }
  for (Warp& warp : block->warps) {
    const uint32_t first = warp.index * kLanes;
    const uint32_t lanes = std::min(block->threads - first, kLanes);
    warp.live = lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
    warp.frame_live = warp.live;
    warp.base[0] = warp.registers() - warp.frame_offset;
    warp.frame_offset = 0;
    warp.frame = 0;
    warp.local_base = 0;
    warp.SetActive(warp.live);
    warp.carry = 0;
    warp.reconvergence = nullptr;
    warp.stop = Stop::kNone;
    warp.work = 0;
    warp.polls = 0;
    warp.poll_branch = nullptr;
    warp.poll_turns = 0;
    warp.split = 0;
    warp.barrier = -1;
    warp.stack.clear();
    warp.wgmma.reset();
    warp.local_stack = 0;
    warp.pc = program.ops.data() + kernel.first_op;
    std::fill(warp.local_initialised.begin(), warp.local_initialised.end(), 0);
    warp.warp_floor = 0;
    if (warp.float_shadow != nullptr) {
      warp.float_shadow->Clear();
    }
    FillSpecials(warp, kernel, again);
  }
  if (program.uses_async) {
    PrepareAsync(*block);
  }
  worker_.counters.warps_run += block->warp_count;
  worker_.counters.threads_run += block->threads;
  ++worker_.counters.blocks_run;
  return block;
}

bool Scheduler::Finished(const BlockState& block) const {
  return std::all_of(block.warps.begin(), block.warps.end(),
                     [](const Warp& warp) { return warp.stop == Stop::kExited; });
}

void Scheduler::PrepareAsync(BlockState& block) {
  if (block.async == nullptr) {
    block.async = std::make_shared<BlockAsync>();
    if (worker_.check_races) {
      const size_t words = (launch_.shared_bytes + 3) / 4 + 4;
      block.async->words.resize(words);
      if (launch_.cluster.Count() > 1) {
        block.async->remote_writes.resize(words);
        block.async->remote_reads.resize(words);
      }
    }
  }
  block.async->Reset();
}

void Scheduler::StartUnit(uint64_t id, Resident& resident) {
  const Dim3& cluster = launch_.cluster;
  const auto count = static_cast<uint32_t>(cluster.Count());
  std::vector<std::unique_ptr<BlockState>> blocks;
  if (count == 1) {
    blocks.push_back(Start(id, 0));
  } else {
    const Dim3& grid = launch_.grid;
    const uint64_t x = id % (grid.x / cluster.x) * cluster.x;
    const uint64_t y = id / (grid.x / cluster.x) % (grid.y / cluster.y) * cluster.y;
    const uint64_t z = id / (grid.x / cluster.x) / (grid.y / cluster.y) * cluster.z;
    for (uint32_t rank = 0; rank < count; ++rank) {
      const uint64_t in_x = x + rank % cluster.x;
      const uint64_t in_y = y + rank / cluster.x % cluster.y;
      const uint64_t in_z = z + rank / cluster.x / cluster.y;
      blocks.push_back(Start((in_z * grid.y + in_y) * grid.x + in_x, rank));
    }
  }
  if (launch_.program->uses_async) {
    auto state = std::make_shared<ClusterState>();
    for (const auto& block : blocks) {
      state->blocks.push_back(block.get());
      block->cluster = state;
    }
    SynchroniseCluster(*state);
  }
  resident.insert(resident.begin(), std::make_move_iterator(blocks.begin()),
                  std::make_move_iterator(blocks.end()));
}

void Scheduler::Retire(Resident& resident, size_t index) {
  BlockState& block = *resident[index];
  block.finished = true;
  uint64_t longest = 0;
  for (const Warp& warp : block.warps) {
    longest = std::max(longest, warp.work);
  }
  Counters& counters = worker_.counters;
  counters.longest_warp_work += longest;
  counters.longest_block_work = std::max(counters.longest_block_work, longest);
  if (block.async != nullptr) {
    EndBlock(block);
  }
  const std::shared_ptr<ClusterState> cluster = block.cluster;
  if (cluster == nullptr) {
    free_.push_back(std::move(resident[index]));
    resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(index));
    return;
  }
  // Others may still use its shared memory, though they should not: that is found.
  if (!std::all_of(cluster->blocks.begin(), cluster->blocks.end(),
                   [](const BlockState* other) { return other->finished; })) {
    return;
  }
  for (auto& one : resident) {
    if (one->cluster == cluster) {
      one->cluster = nullptr;
      free_.push_back(std::move(one));
    }
  }
  std::erase(resident, nullptr);
}

void Scheduler::Note(const BlockState& block) {
  for (const Warp& warp : block.warps) {
    if (warp.stop != Stop::kExited && warp.pc != nullptr) {
      const Op* at = warp.stop == Stop::kBarrier ? warp.barrier_op : warp.pc;
      result_.instructions.push_back(at->instruction);
    }
  }
  for (size_t i = 0; block.async != nullptr && i < block.async->barriers.size(); ++i) {
    const Mbarrier& barrier = block.async->barriers[i];
    if (std::any_of(barrier.attempts.begin(), barrier.attempts.end(),
                    [](uint8_t attempts) { return attempts > 0; })) {
      result_.waits.push_back(fmt::format("{}, in phase {}, lacks {} of {} arrivals and {} bytes",
                                          BarrierText(block.warps[0], block, barrier),
                                          barrier.phase, barrier.pending, barrier.expected,
                                          barrier.bytes));
    }
  }
}

// Takes more steps from the launch's budget. Returns where the warp goes on, or null when nothing
// is left.
const Op* Scheduler::Refill(Warp& warp) {
  constexpr uint64_t kRefill = uint64_t{1} << 22;
  if (launch_.request->stop != nullptr && launch_.request->stop->load(std::memory_order_relaxed)) {
    return nullptr;
  }
  const uint64_t limit = launch_.request->step_limit;
  const uint64_t used = launch_.steps.fetch_add(kRefill);
  if (limit != 0 && used >= limit) {
    return nullptr;
  }
  const auto grant = static_cast<int64_t>(limit == 0 ? kRefill : std::min(kRefill, limit - used));
  // The interrupted basic block has not run: what it took is given back, it will take it again.
  worker_.steps_left += grant + static_cast<int64_t>(std::popcount(warp.active)) * warp.pc->aux;
  worker_.clock_start += grant;
  worker_.progress = true;
  warp.slice += warp.pc->aux;
  warp.stop = Stop::kNone;
  return warp.pc;
}

bool Scheduler::RunWarp(BlockState& block, Warp& warp) {
  warp.stop = Stop::kNone;
  warp.rotations = 0;
  warp.slice = worker_.cache ? kModelSlice : kLongSlice;
  const Op* op = warp.pc;
  do {
    while (op != nullptr) {
      op = op->run(warp, op);
    }
  } while (warp.stop == Stop::kStepLimit && (op = Refill(warp)) != nullptr);
  switch (warp.stop) {
    case Stop::kExited:
    case Stop::kBarrier:
      worker_.progress = true;
      return true;
    case Stop::kWait:
      return true;
    case Stop::kYield:
      worker_.progress = worker_.progress || warp.slice < 0;
      return true;
    case Stop::kStepLimit:
      result_.end = WorkerEnd::kStepLimit;
      Note(block);
      return false;
    default:
      result_.end = WorkerEnd::kFault;
      return false;
  }
}

void Scheduler::CompleteBarriers(BlockState& block) {
  for (size_t id = 0; id < block.barriers.size(); ++id) {
    uint32_t waiting = 0;
    uint32_t live = 0;
    uint32_t expected = block.barriers[id].expected_threads;
    for (const Warp& warp : block.warps) {
      if (warp.stop == Stop::kExited) {
        continue;
      }
      ++live;
      if (warp.stop == Stop::kBarrier && warp.barrier == static_cast<int32_t>(id)) {
        waiting |= 1u << warp.index;
        expected = std::max(expected, warp.barrier_threads);
      }
    }
    if (waiting == 0) {
      continue;
    }
    const uint32_t arrived =
        static_cast<uint32_t>(std::popcount(waiting)) + block.barriers[id].arrivals;
    if (expected == 0 ? arrived < live : arrived * kLanes < expected) {
      continue;
    }
    uint32_t count = 0;
    uint32_t participants = 0;
    for (const Warp& warp : block.warps) {
      if ((waiting >> warp.index) & 1) {
        count += static_cast<uint32_t>(std::popcount(warp.barrier_predicate));
        participants += static_cast<uint32_t>(std::popcount(warp.active));
      }
    }
    for (Warp& warp : block.warps) {
      if ((waiting >> warp.index) & 1) {
        FinishBarrierReduce(warp, count, participants);
        warp.stop = Stop::kNone;
        warp.barrier = -1;
      }
    }
    if (worker_.check_races) {
      const bool all =
          expected == 0 || (static_cast<uint32_t>(std::popcount(waiting)) == block.warp_count);
      Synchronise(block, waiting | (block.barriers[id].arrivals != 0 ? block.arrived_only : 0),
                  all);
    }
    if (block.barriers[id].arrivals != 0) {
      block.arrived_only = 0;
    }
    block.barriers[id] = {};
    worker_.progress = true;
  }
}

bool Scheduler::Round(BlockState& block) {
  worker_.shared = block.shared;
  if (worker_.cache) {
    worker_.l1 = launch_.l1[block.sm].get();
  }
  for (Warp& warp : block.warps) {
    if (warp.stop == Stop::kExited || warp.stop == Stop::kBarrier) {
      continue;
    }
    if (!RunWarp(block, warp)) {
      return false;
    }
  }
  CompleteBarriers(block);
  if (block.cluster != nullptr && CompleteClusterBarrier(*block.cluster)) {
    worker_.progress = true;
  }
  return true;
}

uint64_t Scheduler::NextBlock() {
  if (unit_next_ < unit_end_) {
    return unit_next_++;
  }
  AtomicLog* const log = worker_.atomic_log;
  if (in_unit_ && log != nullptr) {
    launch_.ordered_atomics->End(*log);
  }
  const uint64_t first = launch_.next_block.fetch_add(launch_.unit_blocks);
  in_unit_ = first < launch_.blocks;
  if (!in_unit_) {
    return first;
  }
  if (log != nullptr) {
    launch_.ordered_atomics->Begin(*log, first / launch_.unit_blocks);
  }
  unit_next_ = first + 1;
  unit_end_ = std::min(first + launch_.unit_blocks, launch_.blocks);
  return first;
}

WorkerResult Scheduler::Run() {
  WorkerResult result = RunBlocks();
  if (launch_.ordered_atomics != nullptr) {
    launch_.ordered_atomics->Wake();
  }
  return result;
}

WorkerResult Scheduler::RunBlocks() {
  Resident resident;
  uint64_t bytes_of_block = launch_.shared_bytes;
  const uint64_t resident_bytes = launch_.cooperative ? kCooperativeBytes : kResidentBytes;
  bool idle = false;
  const auto set_idle = [&](bool now) {
    if (now != idle) {
      launch_.idle_workers += now ? 1 : -1;
      idle = now;
    }
  };
  uint64_t idle_rounds = 0;
  uint64_t seen_progress = 0;
  if (launch_.cooperative) {
    // All blocks are resident; the first one runs first.
    for (uint64_t id = launch_.next_block.fetch_add(1); id < launch_.blocks;
         id = launch_.next_block.fetch_add(1)) {
      StartUnit(id, resident);
    }
    std::reverse(resident.begin(), resident.end());
  }
  while (!launch_.stop) {
    // A new block when none is running, or when all that run wait for others.
    if (resident.empty() ||
        (idle_rounds > 0 && resident.size() * bytes_of_block < resident_bytes)) {
      const uint64_t next = NextBlock();
      if (next < launch_.blocks) {
        StartUnit(launch_.sample.empty() ? next : launch_.sample[next], resident);
        const Warp& warp = resident.front()->warps[0];
        bytes_of_block = launch_.shared_bytes * (worker_.check_races ? 6 : 1) +
                         (warp.registers_bytes + uint64_t{warp.local_stride} * kLanes) *
                             resident.front()->warp_count;
      } else if (resident.empty()) {
        break;
      }
    }
    worker_.progress = false;
    worker_.idle = idle_rounds > 0;
    set_idle(false);  // while it runs nobody knows whether it gets on
    bool any_finished = false;
    // Blocks that wait take turns; the newest runs first and alone as long as it gets on.
    for (size_t i = 0; i < resident.size(); ++i) {
      if (resident[i]->finished) {
        continue;
      }
      bool got_on = worker_.progress;
      do {
        worker_.progress = false;
        if (!Round(*resident[i])) {
          launch_.stop = true;
          return std::move(result_);
        }
        got_on = got_on || worker_.progress;
      } while (worker_.progress && !Finished(*resident[i]) && !launch_.stop);
      if (Finished(*resident[i])) {
        any_finished = true;
        worker_.progress = true;
        Retire(resident, i);
        break;
      }
      worker_.progress = got_on;
    }
    if (worker_.progress || any_finished) {
      launch_.progress.fetch_add(1);
      idle_rounds = 0;
      set_idle(false);
      continue;
    }
    ++idle_rounds;
    if (launch_.ordered_atomics != nullptr) {
      launch_.ordered_atomics->Abandon();
    }
    const uint64_t progress = launch_.progress.load();
    if (progress != seen_progress) {
      seen_progress = progress;
      idle_rounds = 1;
    }
    const bool nothing_more =
        (unit_next_ == unit_end_ && launch_.next_block.load() >= launch_.blocks) ||
        resident.size() * bytes_of_block >= resident_bytes;
    // Warps that wait at barriers cannot be woken by polling of others unless somebody gets on: all
    // polled in vain.
    const bool all_at_barriers =
        std::all_of(resident.begin(), resident.end(), [](const auto& block) {
          return std::all_of(block->warps.begin(), block->warps.end(), [](const Warp& warp) {
            return warp.stop == Stop::kExited || warp.stop == Stop::kBarrier;
          });
        });
    set_idle(nothing_more);
    if (nothing_more && launch_.idle_workers.load() >= launch_.workers &&
        (idle_rounds > kDeadlockRounds || all_at_barriers)) {
      result_.end = WorkerEnd::kDeadlock;
      for (const auto& block : resident) {
        Note(*block);
      }
      launch_.stop = true;
      return std::move(result_);
    }
    if (worker_.parallel) {
      std::this_thread::yield();
    }
  }
  set_idle(true);
  return std::move(result_);
}

}  // namespace optiml::ptx
