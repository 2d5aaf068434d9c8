// Barriers of a block.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/async_checks.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

// Lanes of the warp that went ahead of others and wait for them at this op.
uint32_t WaitingAt(const Warp& w, const Op* op) {
  uint32_t lanes = 0;
  for (size_t i = w.stack.size(); i-- > 0 && !w.stack[i].is_call;) {
    if (w.stack[i].pc == op && w.stack[i].reconvergence == w.reconvergence) {
      lanes |= w.stack[i].mask;
    }
  }
  return lanes & w.live & ~w.active;
}

const Op* Arrive(Warp& w, const Op* op, bool wait) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
  const uint32_t id = op->a != 0 ? RegisterAt<uint32_t>(w, op->a)[lane] : op->aux & 0xff;
  const uint32_t threads = op->b != 0 ? RegisterAt<uint32_t>(w, op->b)[lane] : 0;
  if (id >= 16) {
    return Fault(w, op, lane, "trap", fmt::format("barrier {} does not exist (0 to 15)", id));
  }
  if (threads % kLanes != 0) {
    return Fault(w, op, lane, "trap",
                 fmt::format("barrier {} for {} threads, which is no multiple of 32", id, threads));
  }
  if (w.active != w.live) {
    LetGo(w);
  }
  if (const uint32_t missing = w.live & ~w.active;
      missing != 0 &&
      ((op->aux & kBarrierUnaligned) != 0 || (missing & ~w.split & ~WaitingAt(w, op)) == 0)) {
    const Op* next = nullptr;
    if (!Converged(w, op, w.live, next)) {
      return next;
    }
  }
  if (w.active != w.live && w.worker->launch->request->checks.divergent_barriers) {
    Report(w, op, lane, "divergent barrier",
           fmt::format("{} of {} threads of the warp reach the barrier; the others are elsewhere",
                       std::popcount(w.active), std::popcount(w.live)));
  }
  ++w.worker->counters.barriers;
  w.polls = 0;
  Barrier& barrier = w.block->barriers[id];
  if (!wait) {
    ++barrier.arrivals;
    barrier.expected_threads = threads;
    w.block->arrived_only |= 1u << w.index;
    w.worker->progress = true;
    return op + 1;
  }
  w.barrier = static_cast<int32_t>(id);
  w.barrier_threads = threads;
  w.barrier_op = op;
  w.stop = Stop::kBarrier;
  w.pc = op + 1;
  return nullptr;
}

}  // namespace

const Op* BarrierSync(Warp& w, const Op* op) {
  w.barrier_predicate = 0;
  return Arrive(w, op, true);
}

const Op* BarrierArrive(Warp& w, const Op* op) {
  return Arrive(w, op, false);
}

const Op* BarrierReduce(Warp& w, const Op* op) {
  const Op* next = Arrive(w, op, true);
  const uint32_t p = *RegisterAt<uint32_t>(w, op->c);
  w.barrier_predicate = ((op->aux & 0x100) != 0 ? ~p : p) & w.active;
  return next;
}

void FinishBarrierReduce(Warp& w, uint32_t count, uint32_t participants) {
  const Op* op = w.barrier_op;
  if (op->run != &BarrierReduce) {
    return;
  }
  if (op->aux2 == 0) {
    uint32_t* d = RegisterAt<uint32_t>(w, op->d);
    for (uint32_t l = 0; l < kLanes; ++l) {
      d[l] = w.lanes[l] != 0 ? count : d[l];
    }
    return;
  }
  const bool holds = op->aux2 == 1 ? count == participants : count != 0;
  uint32_t& d = *RegisterAt<uint32_t>(w, op->d);
  d = holds ? d | w.active : d & ~w.active;
}

void SynchroniseWarp(Warp& w) {
  if (w.worker->check_warp_races && w.block->shadow != nullptr) {
    w.warp_floor = NextStamp(*w.block);
  }
}

void CheckMembers(Warp& w, const Op* op, const uint32_t* members, const char* what) {
  uint32_t outside = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    outside |= (~members[l] >> l & 1) << l;
  }
  outside &= w.active;
  if (__builtin_expect(outside != 0, 0) && w.worker->launch->request->checks.divergent_barriers) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(outside));
    Report(w, op, lane, "divergent warp instruction",
           fmt::format("the mask {:#x} of {} does not name the lane itself", members[lane], what));
  }
}

const Op* BarrierWarp(Warp& w, const Op* op) {
  const Op* next = nullptr;
  if (const uint32_t members =
          RegisterAt<uint32_t>(w, op->a)[static_cast<uint32_t>(std::countr_zero(w.active))];
      (members & w.live & ~w.active) != 0 && !Converged(w, op, members, next)) {
    return next;
  }
  CheckMembers(w, op, RegisterAt<uint32_t>(w, op->a), "the warp synchronisation");
  SynchroniseWarp(w);
  return op + 1;
}

}  // namespace optiml::ptx
