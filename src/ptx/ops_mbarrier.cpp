// mbarrier: phases that end when all arrivals and all expected bytes have come.
//
// A test in vain answers false once, so that code which does not repeat it goes wrong in every run;
// from the second on a try_wait lets the other warps go first, and what is under way for the
// barrier lands. The state that an arrival returns is (phase << 24 | pending arrivals before it).

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/async_checks.h"
#include "ptx/async_ops.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

constexpr uint32_t kBarrierBytes = 8;
constexpr uint32_t kStateShift = 24;

const Op* Misuse(Warp& w, const Op* op, uint32_t lane, const std::string& what) {
  return Fault(w, op, lane, "mbarrier", what);
}

uint64_t StateOf(const Mbarrier& barrier) {
  return barrier.phase << kStateShift | static_cast<uint64_t>(barrier.pending);
}

// Whether the phase that the lane waits for has ended. Sets `problem` when the state is none.
bool Ended(const Warp& w, const Op* op, const Mbarrier& barrier, uint64_t state,
           std::string& problem) {
  if ((op->aux & kWaitParity) != 0) {
    return (barrier.phase & 1) != (state & 1);
  }
  const uint64_t phase = state >> kStateShift;
  if (phase > barrier.phase || phase + 1 < barrier.phase) {
    problem = fmt::format(
        "wait for phase {} of {}, where phase {} runs: only it and the one before can be "
        "waited for",
        phase, BarrierText(w, *w.block, barrier), barrier.phase);
  }
  return phase < barrier.phase;
}

}  // namespace

std::string BarrierText(const Warp& w, const BlockState& owner, const Mbarrier& barrier) {
  std::string text =
      fmt::format("the mbarrier at {} of block ({},{},{})", SharedName(w, barrier.address),
                  owner.ctaid[0], owner.ctaid[1], owner.ctaid[2]);
  const int32_t line = w.worker->launch->program->instructions[barrier.instruction].source_line;
  if (line > 0) {
    text += fmt::format(" (initialised at line {})", line);
  }
  return text;
}

Mbarrier* FindBarrier(Warp& w, const Op* op, uint32_t lane, uint64_t address, BlockState*& owner) {
  SharedPlace place =
      LocateCluster(w, op, lane, address, kBarrierBytes, kBarrierBytes, "mbarrier operation on");
  if (place.block == nullptr) {
    return nullptr;
  }
  owner = place.block;
  Mbarrier* barrier = owner->async->Find(place.offset);
  if (barrier == nullptr) {
    Misuse(w, op, lane,
           fmt::format("{} of block ({},{},{}) is no initialised mbarrier",
                       SharedName(w, place.offset), owner->ctaid[0], owner->ctaid[1],
                       owner->ctaid[2]));
    return nullptr;
  }
  if (w.worker->check_races) {
    CheckBarrierAccess(w, op, *owner, place.offset, lane);
  }
  return barrier;
}

void CompletePhase(Worker& worker, Mbarrier& barrier) {
  worker.progress = true;
  if (barrier.pending != 0 || barrier.bytes != 0) {
    return;
  }
  ++barrier.phase;
  barrier.expected -= barrier.dropped;
  barrier.dropped = 0;
  barrier.pending = barrier.expected;
  barrier.attempts.fill(0);
  for (uint32_t v = 0; v < kLanes; ++v) {
    barrier.completed.warps[v] = std::max(barrier.completed.warps[v], barrier.running.warps[v]);
  }
  for (uint32_t r = 0; r < kMaxClusterBlocks; ++r) {
    barrier.completed.blocks[r] = std::max(barrier.completed.blocks[r], barrier.running.blocks[r]);
  }
  barrier.completed.landed = std::max(barrier.completed.landed, barrier.running.landed);
}

const Op* MbarrierInit(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const SharedPlace place = LocateCluster(w, op, l, LaneAddress(w, op->a, l), kBarrierBytes,
                                            kBarrierBytes, "mbarrier.init of");
    if (place.block == nullptr) {
      return nullptr;
    }
    if (place.block != w.block) {
      return Misuse(w, op, l, "mbarrier.init of another block's shared memory");
    }
    const auto count = int64_t{RegisterAt<uint32_t>(w, op->b)[l]};
    if (count < 1 || count > kMaxArrivals) {
      return Misuse(
          w, op, l,
          fmt::format("mbarrier.init for {} arrivals, outside 1 .. {}", count, kMaxArrivals));
    }
    BlockAsync& async = *w.block->async;
    if (Mbarrier* old = async.Find(place.offset); old != nullptr) {
      Report(w, op, l, "mbarrier",
             fmt::format("mbarrier.init of {}, which is initialised already (mbarrier.inval ends "
                         "it)",
                         BarrierText(w, *w.block, *old)));
      MarkBarrier(*w.block, place.offset, false);
      std::erase_if(async.barriers,
                    [&](const Mbarrier& other) { return other.address == place.offset; });
    }
    if (w.worker->check_races) {
      CheckSharedAccess(w, op, *w.block, place.offset, place.offset + kBarrierBytes, l,
                        SharedAccess::kStore, true);
      MarkBarrier(*w.block, place.offset, true);
    }
    if (!w.block->shared_initialised.empty()) {
      SetBits(w.block->shared_initialised.data(), place.offset, place.offset + kBarrierBytes,
              false);
    }
    Mbarrier barrier;
    barrier.address = place.offset;
    barrier.expected = count;
    barrier.pending = count;
    barrier.instruction = op->instruction;
    async.barriers.push_back(barrier);
  }
  return op + 1;
}

const Op* MbarrierInvalidate(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    BlockState* owner = nullptr;
    const Mbarrier* barrier = FindBarrier(w, op, l, LaneAddress(w, op->a, l), owner);
    if (barrier == nullptr) {
      return nullptr;
    }
    const uint32_t address = barrier->address;
    MarkBarrier(*owner, address, false);
    std::erase_if(owner->async->barriers,
                  [&](const Mbarrier& other) { return other.address == address; });
  }
  return op + 1;
}

const Op* MbarrierArrive(Warp& w, const Op* op) {
  Mbarrier* released = nullptr;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    BlockState* owner = nullptr;
    Mbarrier* barrier = FindBarrier(w, op, l, LaneAddress(w, op->a, l), owner);
    if (barrier == nullptr) {
      return nullptr;
    }
    if (op->c != 0) {
      barrier->bytes += RegisterAt<uint32_t>(w, op->c)[l];
      if (barrier->bytes > kMaxArrivals) {
        return Misuse(w, op, l,
                      fmt::format("{} expects {} bytes, more than {}",
                                  BarrierText(w, *owner, *barrier), barrier->bytes, kMaxArrivals));
      }
    }
    const int64_t count = op->b != 0 ? int64_t{RegisterAt<uint32_t>(w, op->b)[l]} : 1;
    if (count < 1 || count > barrier->pending) {
      return Misuse(w, op, l,
                    fmt::format("{} arrivals at {}, whose phase {} lacks {} of {}", count,
                                BarrierText(w, *owner, *barrier), barrier->phase, barrier->pending,
                                barrier->expected));
    }
    if (op->d != 0) {
      RegisterAt<uint64_t>(w, op->d)[l] = StateOf(*barrier);
    }
    if (w.worker->check_races && barrier != released) {
      Release(w, *owner, barrier->running);
      released = barrier;
    }
    barrier->pending -= count;
    barrier->dropped += (op->aux & kArriveDrop) != 0 ? count : 0;
    if ((op->aux & kArriveNoComplete) != 0 && barrier->pending == 0 && barrier->bytes == 0) {
      return Misuse(w, op, l,
                    fmt::format("an arrival with .noComplete completes phase {} of {}",
                                barrier->phase, BarrierText(w, *owner, *barrier)));
    }
    CompletePhase(*w.worker, *barrier);
  }
  return op + 1;
}

const Op* MbarrierBytes(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    BlockState* owner = nullptr;
    Mbarrier* barrier = FindBarrier(w, op, l, LaneAddress(w, op->a, l), owner);
    if (barrier == nullptr) {
      return nullptr;
    }
    const int64_t bytes = RegisterAt<uint32_t>(w, op->b)[l];
    barrier->bytes += op->aux == 0 ? bytes : -bytes;
    if (barrier->bytes > kMaxArrivals || barrier->bytes < -kMaxArrivals) {
      return Misuse(
          w, op, l,
          fmt::format("{} expects {} bytes, outside -{} .. {}", BarrierText(w, *owner, *barrier),
                      barrier->bytes, kMaxArrivals, kMaxArrivals));
    }
    if (op->aux != 0) {
      CompletePhase(*w.worker, *barrier);
    }
  }
  return op + 1;
}

const Op* MbarrierWait(Warp& w, const Op* op) {
  const bool try_wait = (op->aux & kWaitMayBlock) != 0;
  uint32_t ended = 0;
  uint32_t again = 0;  // lanes that tested this phase in vain before
  uint32_t in_vain[kLanes];
  size_t in_vain_count = 0;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    BlockState* owner = nullptr;
    Mbarrier* barrier = FindBarrier(w, op, l, LaneAddress(w, op->a, l), owner);
    if (barrier == nullptr) {
      return nullptr;
    }
    if (owner != w.block) {
      return Misuse(w, op, l, "a wait for an mbarrier of another block");
    }
    const uint64_t state = (op->aux & kWaitParity) != 0 ? RegisterAt<uint32_t>(w, op->b)[l]
                                                        : RegisterAt<uint64_t>(w, op->b)[l];
    std::string problem;
    bool has_ended = Ended(w, op, *barrier, state, problem);
    const uint8_t attempts = barrier->attempts[w.index];
    if (!has_ended && problem.empty() && attempts >= (try_wait ? 2 : 1)) {
      if (!LandFor(w, op, *barrier)) {
        return nullptr;
      }
      has_ended = Ended(w, op, *barrier, state, problem);
    }
    if (!problem.empty()) {
      return Misuse(w, op, l, problem);
    }
    if (has_ended) {
      ended |= 1u << l;
      if (w.worker->check_races) {
        Acquire(w, barrier->completed);
      }
      continue;
    }
    again |= attempts > 0 ? 1u << l : 0u;
    if (std::find(in_vain, in_vain + in_vain_count, barrier->address) == in_vain + in_vain_count) {
      in_vain[in_vain_count++] = barrier->address;
    }
  }
  for (size_t i = 0; i < in_vain_count; ++i) {
    uint8_t& attempts = w.block->async->Find(in_vain[i])->attempts[w.index];
    attempts = static_cast<uint8_t>(std::min(attempts + 1, 2));
  }
  if (again == w.active && try_wait && (op->aux & kPredicated) == 0 && !w.worker->idle) {
    return Wait(w, op);
  }
  uint32_t& d = *RegisterAt<uint32_t>(w, op->d);
  d = (d & ~w.active) | ended;
  return op + 1;
}

const Op* MbarrierPendingCount(Warp& w, const Op* op) {
  const uint64_t* state = RegisterAt<uint64_t>(w, op->a);
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    d[l] = static_cast<uint32_t>(state[l] & ((uint64_t{1} << kStateShift) - 1));
  }
  return op + 1;
}

}  // namespace optiml::ptx
