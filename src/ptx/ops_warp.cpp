// Exchanges between the lanes of a warp: shfl, vote, match, redux, activemask. The .sync forms
// order the lanes' memory accesses for the race check inside warps.

#include <bit>
#include <cstring>

#include "ptx/async_ops.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

// Whether the warp goes on at `next` first, since members of the exchange are still on their way.
bool Apart(Warp& w, const Op* op, const Op*& next) {
  const uint32_t* members = RegisterAt<uint32_t>(w, op->e);
  if (w.active != w.live && !Converged(w, op, members[std::countr_zero(w.active)], next)) {
    return true;
  }
  CheckMembers(w, op, members, "the exchange");
  return false;
}

}  // namespace

const Op* Shuffle(Warp& w, const Op* op) {
  if (const Op* next = nullptr; Apart(w, op, next)) {
    return next;
  }
  SynchroniseWarp(w);
  alignas(64) uint32_t a[kLanes];
  std::memcpy(a, RegisterAt<uint32_t>(w, op->a), sizeof(a));
  const uint32_t* b = RegisterAt<uint32_t>(w, op->b);
  const uint32_t* c = RegisterAt<uint32_t>(w, op->c);
  alignas(64) uint32_t result[kLanes];
  uint8_t source[kLanes];
  uint32_t valid = 0;
  // PTX ISA, shfl.sync: the segment mask and the clamp of operand c decide which lanes are in
  // range.
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t clamp = c[l] & 31;
    const uint32_t segment = (c[l] >> 8) & 31;
    const uint32_t lane_b = b[l] & 31;
    const uint32_t max_lane = (l & segment) | (clamp & ~segment);
    const uint32_t min_lane = l & segment;
    int32_t from = 0;
    bool in_range = false;
    switch (op->aux) {
      case 0:
        from = static_cast<int32_t>(l) - static_cast<int32_t>(lane_b);
        in_range = from >= static_cast<int32_t>(max_lane);
        break;
      case 1:
        from = static_cast<int32_t>(l + lane_b);
        in_range = from <= static_cast<int32_t>(max_lane);
        break;
      case 2:
        from = static_cast<int32_t>(l ^ lane_b);
        in_range = from <= static_cast<int32_t>(max_lane);
        break;
      default:
        from = static_cast<int32_t>(min_lane | (lane_b & ~segment));
        in_range = from <= static_cast<int32_t>(max_lane);
        break;
    }
    source[l] = static_cast<uint8_t>(in_range ? static_cast<uint32_t>(from) & 31 : l);
    result[l] = a[source[l]];
    valid |= in_range ? 1u << l : 0u;
  }
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    d[l] = w.lanes[l] != 0 ? result[l] : d[l];
  }
  if (w.float_shadow != nullptr) {
    ShadowShuffle(w, op, source);
  }
  if (op->d2 != 0) {
    uint32_t& p = *RegisterAt<uint32_t>(w, op->d2);
    p = (p & ~w.active) | (valid & w.active);
  }
  return op + 1;
}

const Op* Vote(Warp& w, const Op* op) {
  if (const Op* next = nullptr; Apart(w, op, next)) {
    return next;
  }
  SynchroniseWarp(w);
  uint32_t p = *RegisterAt<uint32_t>(w, op->a);
  p = (op->aux & 8) != 0 ? ~p : p;
  p &= w.active;
  if ((op->aux & 7) == 3) {
    uint32_t* d = RegisterAt<uint32_t>(w, op->d);
    for (uint32_t l = 0; l < kLanes; ++l) {
      d[l] = w.lanes[l] != 0 ? p : d[l];
    }
    return op + 1;
  }
  const bool holds = (op->aux & 7) == 0   ? p == w.active
                     : (op->aux & 7) == 1 ? p != 0
                                          : (p == w.active || p == 0);
  uint32_t& d = *RegisterAt<uint32_t>(w, op->d);
  d = holds ? d | w.active : d & ~w.active;
  return op + 1;
}

const Op* ActiveMask(Warp& w, const Op* op) {
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    d[l] = w.lanes[l] != 0 ? w.active : d[l];
  }
  return op + 1;
}

const Op* Match(Warp& w, const Op* op) {
  if (const Op* next = nullptr; Apart(w, op, next)) {
    return next;
  }
  SynchroniseWarp(w);
  uint64_t value[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    value[l] =
        op->aux2 == 8 ? RegisterAt<uint64_t>(w, op->a)[l] : RegisterAt<uint32_t>(w, op->a)[l];
  }
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  const auto first = static_cast<uint32_t>(std::countr_zero(w.active));
  bool all = true;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    all = all && value[std::countr_zero(m)] == value[first];
  }
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    uint32_t same = 0;
    for (uint32_t k = w.active; k != 0; k &= k - 1) {
      const auto other = static_cast<uint32_t>(std::countr_zero(k));
      same |= value[other] == value[l] ? 1u << other : 0u;
    }
    d[l] = op->aux == 0 ? same : all ? w.active : 0;
  }
  if (op->d2 != 0) {
    uint32_t& p = *RegisterAt<uint32_t>(w, op->d2);
    p = all ? p | w.active : p & ~w.active;
  }
  return op + 1;
}

const Op* Reduce(Warp& w, const Op* op) {
  if (const Op* next = nullptr; Apart(w, op, next)) {
    return next;
  }
  SynchroniseWarp(w);
  const uint32_t* a = RegisterAt<uint32_t>(w, op->a);
  const auto first = static_cast<uint32_t>(std::countr_zero(w.active));
  uint32_t value = a[first];
  for (uint32_t m = w.active & (w.active - 1); m != 0; m &= m - 1) {
    const uint32_t x = a[std::countr_zero(m)];
    const bool less =
        op->aux2 != 0 ? static_cast<int32_t>(x) < static_cast<int32_t>(value) : x < value;
    switch (op->aux) {
      case 0:
        value += x;
        break;
      case 1:
        value = less ? x : value;
        break;
      case 2:
        value = less ? value : x;
        break;
      case 3:
        value &= x;
        break;
      case 4:
        value |= x;
        break;
      default:
        value ^= x;
        break;
    }
  }
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    d[l] = w.lanes[l] != 0 ? value : d[l];
  }
  return op + 1;
}

const Op* Elect(Warp& w, const Op* op) {
  const auto first = static_cast<uint32_t>(std::countr_zero(w.active));
  const uint32_t members = RegisterAt<uint32_t>(w, op->a)[first];
  if (const Op* next = nullptr;
      (members & w.live & ~w.active) != 0 && !Converged(w, op, members, next)) {
    return next;
  }
  SynchroniseWarp(w);
  const uint32_t among = members & w.active;
  const auto leader = static_cast<uint32_t>(std::countr_zero(among != 0 ? among : w.active));
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    d[std::countr_zero(m)] = leader;
  }
  if (op->d2 != 0) {
    uint32_t& p = *RegisterAt<uint32_t>(w, op->d2);
    p = (p & ~w.active) | (1u << leader);
  }
  return op + 1;
}

}  // namespace optiml::ptx
