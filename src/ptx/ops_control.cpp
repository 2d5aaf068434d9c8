// Control flow of a warp: paths of lanes, reconvergence, calls, barriers. See warp.h for the state.
//
// A branch that lanes leave both ways pushes the lanes that wait: first those that meet at the
// reconvergence point, then one side; the other side runs. A path that reaches its reconvergence
// point pops.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/async_ops.h"
#include "ptx/global_races.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

// Iterations of a polling loop before other lanes, warps or blocks get their turn.
constexpr uint32_t kPollLimit = 16;
// Changes between paths of a warp that all wait, before other warps or blocks get their turn.
constexpr uint32_t kRotationLimit = 64;

uint32_t PredicateOf(Warp& w, Place place, uint32_t negated) {
  const uint32_t p = *RegisterAt<uint32_t>(w, place);
  return (negated & 1) != 0 ? ~p : p;
}

// The next path of the warp, or null when all lanes are gone.
const Op* PopPath(Warp& w) {
  while (!w.stack.empty()) {
    const Path path = w.stack.back();
    w.stack.pop_back();
    uint32_t mask = path.mask & w.live;
    if (path.is_call) {
      LeaveFrame(w, path);
    } else {
      mask &= w.frame_live;
    }
    if (mask != 0) {
      w.SetActive(mask);
      w.reconvergence = path.reconvergence;
      return path.pc;
    }
  }
  w.SetActive(0);
  w.stop = Stop::kExited;
  return nullptr;
}

const Op* Yield(Warp& w, const Op* pc) {
  w.stop = Stop::kYield;
  w.pc = pc;
  return nullptr;
}

// After a backward branch of a loop that polls memory.
const Op* AfterPoll(Warp& w, const Op* op, const Op* next) {
  const auto lanes = static_cast<uint32_t>(std::popcount(w.active));
  if (op != w.poll_branch || lanes < w.poll_lanes) {
    w.poll_branch = op;
    w.polls = 0;
    w.poll_turns = 0;
  }
  w.poll_lanes = lanes;
  if (++w.polls < kPollLimit) {
    return next;
  }
  // Other warps first: their stores may be what these lanes wait for, and lanes of this warp that
  // wait to meet them need not go ahead then.
  if (w.poll_turns++ == 0) {
    w.worker->progress = true;
    return Yield(w, next);
  }
  if (const Op* other = nullptr; Rotate(w, next, other)) {
    w.polls = 0;
    return other;
  }
  return Yield(w, next);
}

}  // namespace

const Op* EnterBlock(Warp& w, const Op* op) {
  if (op == w.reconvergence) {
    return PopPath(w);
  }
  if (w.slice < 0) {
    // Its slice ended with an earlier block; a block that is longer than a slice still gets one.
    w.polls = 0;
    return Yield(w, op);
  }
  Worker& worker = *w.worker;
  const uint32_t lanes = w.active_count;
  worker.steps_left -= static_cast<int64_t>(lanes) * op->aux;
  w.slice -= op->aux;
  if (worker.steps_left < 0) {
    w.stop = Stop::kStepLimit;
    w.pc = op;
    return nullptr;
  }
  w.work += op->aux2;
  BlockCount& count = worker.blocks[op->site];
  ++count.warps;
  count.threads += lanes;
  return op + 1;
}

const Op* Branch(Warp& w, const Op* op) {
  const uint32_t taken = PredicateOf(w, op->a, op->aux) & w.active;
  if (taken == 0) {
    return op + 1;
  }
  if (taken == w.active) {
    return (op->aux & kBranchPolls) != 0 ? AfterPoll(w, op, op->target) : op->target;
  }
  const uint32_t fall = w.active & ~taken;
  ++w.worker->counters.divergent_branches;
  const Op* meet = op->reconvergence;
  const Op* fall_pc = op + 1;
  if (meet != w.reconvergence && meet != nullptr) {
    w.stack.push_back({meet, w.reconvergence, w.active});
  }
  const Op* chosen = nullptr;
  uint32_t mask = 0;
  if (op->target == meet) {
    chosen = fall_pc;
    mask = fall;
  } else if (fall_pc == meet) {
    chosen = op->target;
    mask = taken;
  } else {
    w.stack.push_back({op->target, meet, taken});
    chosen = fall_pc;
    mask = fall;
  }
  w.reconvergence = meet;
  w.SetActive(mask);
  if ((op->aux & kBranchPolls) != 0 && chosen == op->target) {
    return AfterPoll(w, op, chosen);
  }
  return chosen;
}

const Op* Jump(Warp& w, const Op* op) {
  return (op->aux & kBranchPolls) != 0 ? AfterPoll(w, op, op->target) : op->target;
}

const Op* BranchIndexed(Warp& w, const Op* op) {
  const auto& table = w.worker->launch->program->branch_tables[op->site];
  const uint32_t* index = RegisterAt<uint32_t>(w, op->a);
  const Op* meet = op->reconvergence;
  struct Side {
    const Op* pc;
    uint32_t mask;
  };
  Side sides[kLanes];
  size_t count = 0;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (index[lane] >= table.size()) {
      return Fault(
          w, op, lane, "trap",
          fmt::format("brx.idx with index {} into a table of {}", index[lane], table.size()));
    }
    const Op* pc = table[index[lane]];
    size_t i = 0;
    while (i < count && sides[i].pc != pc) {
      ++i;
    }
    if (i == count) {
      sides[count++] = {pc, 0};
    }
    sides[i].mask |= 1u << lane;
  }
  if (count == 1) {
    return sides[0].pc;
  }
  ++w.worker->counters.divergent_branches;
  if (meet != w.reconvergence && meet != nullptr) {
    w.stack.push_back({meet, w.reconvergence, w.active});
  }
  for (size_t i = count; i-- > 0;) {
    if (sides[i].pc != meet) {
      w.stack.push_back({sides[i].pc, meet, sides[i].mask});
    }
  }
  w.reconvergence = meet;
  return PopPath(w);
}

bool RotatePaths(Warp& w) {
  if (w.stack.empty()) {
    return false;
  }
  Path& below = w.stack.back();
  if (below.is_call) {
    return false;  // what waits there is these lanes' own caller
  }
  if (below.pc != w.reconvergence || below.reconvergence == w.reconvergence) {
    // A sibling that meets us later: it goes first.
    const Path self{w.pc, w.reconvergence, w.active};
    const uint32_t mask = below.mask & w.live & w.frame_live;
    if (mask == 0) {
      w.stack.pop_back();
      return RotatePaths(w);
    }
    w.pc = below.pc;
    w.reconvergence = below.reconvergence;
    below = self;
    w.SetActive(mask);
    return true;
  }
  // Lanes that wait for us at the reconvergence point go on without us; we meet them at the next
  // one.
  const uint32_t waiting = below.mask & ~w.active & w.live & w.frame_live;
  if (waiting == 0) {
    // Nobody waits here: take the outer point as ours and look further up.
    const Path outer = below;
    w.stack.pop_back();
    const Op* const meet = w.reconvergence;
    w.reconvergence = outer.reconvergence;
    if (w.stack.empty() || !RotatePaths(w)) {
      w.reconvergence = meet;
      w.stack.push_back(outer);
      return false;
    }
    return true;
  }
  const Path self{w.pc, below.reconvergence, w.active};
  w.split |= w.active;
  w.pc = below.pc;
  w.reconvergence = below.reconvergence;
  below = self;
  w.SetActive(waiting);
  return true;
}

bool Rotate(Warp& w, const Op* op, const Op*& next) {
  w.pc = op;
  if (w.rotations >= kRotationLimit || !RotatePaths(w)) {
    return false;
  }
  ++w.rotations;
  next = w.pc;
  return true;
}

const Op* Wait(Warp& w, const Op* op) {
  // The warp's other lanes go first only when nobody else gets on: code that needs them converged
  // then rarely finds them apart.
  const Op* next = nullptr;
  if (w.worker->idle && (op->aux & kPredicated) == 0 && Rotate(w, op, next)) {
    return next;
  }
  w.pc = op;
  w.stop = Stop::kWait;
  return nullptr;
}

namespace {

// Whether the op belongs to an instruction with a predicate, whose lanes come back at its end.
bool UnderPredicate(const Op* op) {
  for (++op; op->run != &EnterBlock && op->run != &PredicateBegin && op->run != &Return; ++op) {
    if (op->run == &PredicateEnd) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool Converged(Warp& w, const Op* op, uint32_t members, const Op*& next) {
  uint32_t missing = members & w.live & w.frame_live & ~w.active;
  if (missing == 0 || UnderPredicate(op)) {
    return true;
  }
  // Those that wait here already.
  uint32_t together = w.active;
  for (size_t i = w.stack.size(); i-- > 0 && !w.stack[i].is_call;) {
    const Path path = w.stack[i];
    if (path.pc == op && path.reconvergence == w.reconvergence) {
      together |= path.mask & w.live & w.frame_live;
      w.stack.erase(w.stack.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (together != w.active) {
    w.SetActive(together);
    missing &= ~together;
  }
  if (missing == 0) {
    w.split &= ~together;
    return true;
  }
  const bool sure_to_come = (missing & w.split) != 0;
  const bool was_let_ahead = w.rotations > 0;
  next = nullptr;
  if (!Rotate(w, op, next) && !sure_to_come) {
    return true;  // nobody will come
  }
  if (sure_to_come && (was_let_ahead || next == nullptr)) {
    // They wait for other warps or blocks, which get their turn.
    w.stop = Stop::kYield;
    next = nullptr;
  }
  return false;
}

const Op* Return(Warp& w, const Op* op) {
  const uint32_t leaving = op->a != 0 ? PredicateOf(w, op->a, op->aux) & w.active : w.active;
  if (leaving == 0) {
    return op + 1;
  }
  if (w.frame == 0) {
    w.live &= ~leaving;
  }
  w.frame_live &= ~leaving;
  if (leaving != w.active) {
    w.SetActive(w.active & ~leaving);
    return op + 1;
  }
  return PopPath(w);
}

const Op* Exit(Warp& w, const Op* op) {
  const uint32_t leaving = op->a != 0 ? PredicateOf(w, op->a, op->aux) & w.active : w.active;
  if (leaving == 0) {
    return op + 1;
  }
  w.live &= ~leaving;
  w.frame_live &= ~leaving;
  if (leaving != w.active) {
    w.SetActive(w.active & ~leaving);
    return op + 1;
  }
  return PopPath(w);
}

namespace {

// The block at `op` does nothing but end the kernel (in the kernel's own frame).
bool OnlyEnds(const Op* op) {
  const bool begins = op != nullptr && op->run == &EnterBlock;
  const Op* last = begins ? op + 1 : op;
  return last != nullptr && (last->run == &Return || last->run == &Exit) && last->a == 0;
}

}  // namespace

void LetGo(Warp& w) {
  if (w.frame != 0) {
    return;
  }
  for (Path& path : w.stack) {
    // Lanes of this path whose way leads through `active` ones' are not there yet.
    const uint32_t waiting = path.is_call ? 0 : path.mask & w.live & ~w.active;
    if (waiting == 0 || !OnlyEnds(path.pc)) {
      continue;
    }
    uint32_t elsewhere = 0;
    for (const Path* later = &path + 1; later != w.stack.data() + w.stack.size(); ++later) {
      elsewhere |= later->mask;
    }
    const uint32_t leaving = waiting & ~elsewhere;
    w.live &= ~leaving;
    w.frame_live &= ~leaving;
    if (path.pc->run == &EnterBlock) {
      const auto lanes = static_cast<uint32_t>(std::popcount(leaving));
      w.worker->blocks[path.pc->site].threads += lanes;
      w.worker->steps_left -= static_cast<int64_t>(lanes) * path.pc->aux;
    }
  }
  w.split &= w.live;
}

const Op* Trap(Warp& w, const Op* op) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
  const LaunchContext& launch = *w.worker->launch;
  if (launch.program->uses_workspace && !launch.cooperative) {
    return Fault(w, op, lane, "trap",
                 "the kernel executed trap; it synchronises its grid, which needs a cooperative "
                 "launch (cudaLaunchCooperativeKernel)");
  }
  return Fault(w, op, lane, "trap",
               op->aux == 0 ? "the kernel executed trap" : "the kernel executed brkpt");
}

const Op* PredicateBegin(Warp& w, const Op* op) {
  const uint32_t mask = PredicateOf(w, op->a, op->aux) & w.active;
  if (w.worker->count) {
    w.worker->predicated_threads[op->aux2] += static_cast<uint64_t>(std::popcount(mask));
  }
  w.saved_active = w.active;
  if (mask == w.active) {
    return op + 1;
  }
  if (mask == 0) {
    return op->target;
  }
  w.SetActive(mask);
  return op + 1;
}

const Op* PredicateEnd(Warp& w, const Op* op) {
  // Lanes may have gone meanwhile (trap handlers do not return; exits are not predicated this way).
  if (w.active != w.saved_active) {
    w.SetActive(w.saved_active);
  }
  return op + 1;
}

const Op* SetMaxRegisters(Warp& w, const Op* op) {
  if (w.active != w.live) {
    Report(w, op, static_cast<uint32_t>(std::countr_zero(w.active)), "divergent barrier",
           "setmaxnreg by some threads of the warp only");
  }
  return op + 1;
}

const Op* Nothing(Warp&, const Op* op) {
  return op + 1;
}

const Op* Fence(Warp& w, const Op* op) {
  if (w.worker->check_global_races) {
    w.worker->launch->global_races->Fence(w, op->aux != 0);
  }
  return op + 1;
}

const Op* LocalAddress(Warp& w, const Op* op) {
  const uint64_t value =
      w.local_base + static_cast<uint64_t>(op->offset) + ((op->aux & 1) != 0 ? kLocalWindow : 0);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (w.lanes[l] != 0) {
      if ((op->aux & 2) != 0) {
        RegisterAt<uint32_t>(w, op->d)[l] = static_cast<uint32_t>(value);
      } else {
        RegisterAt<uint64_t>(w, op->d)[l] = value;
      }
    }
  }
  return op + 1;
}

const Op* ReadClock(Warp& w, const Op* op) {
  // Time is the number of thread-instructions so far: monotonic, the same in every run with one
  // worker.
  const auto which = static_cast<SpecialRegister>(op->aux);
  const uint64_t before = which >= SpecialRegister::kGlobalTimer ? w.worker->nanoseconds_before
                                                                 : w.worker->cycles_before;
  const auto now = before + static_cast<uint64_t>(w.worker->clock_start - w.worker->steps_left);
  const bool high = which == SpecialRegister::kClockHi || which == SpecialRegister::kGlobalTimerHi;
  const bool wide = which == SpecialRegister::kClock64 || which == SpecialRegister::kGlobalTimer;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    if (wide) {
      RegisterAt<uint64_t>(w, op->d)[l] = now;
    } else {
      RegisterAt<uint32_t>(w, op->d)[l] = static_cast<uint32_t>(high ? now >> 32 : now);
    }
  }
  return op + 1;
}

const Op* IsSpace(Warp& w, const Op* op) {
  const uint64_t* a = RegisterAt<uint64_t>(w, op->a);
  uint32_t mask = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const bool shared = a[l] - kSharedWindow < kWindowBytes;
    const bool local = a[l] - kLocalWindow < kWindowBytes;
    const bool param = a[l] - kParamWindow < kWindowBytes;
    const auto space = static_cast<Space>(op->aux);
    const bool is = space == Space::kShared  ? shared
                    : space == Space::kLocal ? local
                    : space == Space::kParam ? param
                    : space == Space::kConst ? false
                                             : !shared && !local && !param;
    mask |= is ? 1u << l : 0u;
  }
  uint32_t& d = *RegisterAt<uint32_t>(w, op->d);
  d = (d & ~w.active) | (mask & w.active);
  return op + 1;
}

const Op* ToSpace(Warp& w, const Op* op) {
  const uint64_t* a = RegisterAt<uint64_t>(w, op->a);
  uint64_t* d = RegisterAt<uint64_t>(w, op->d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (w.lanes[l] != 0) {
      d[l] = a[l] + static_cast<uint64_t>(op->offset);
    }
  }
  return op + 1;
}

}  // namespace optiml::ptx
