// Calls of device functions and of the built-in ones, and the special registers of a frame.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

// Bytes of registers or of local memory that recursion may use in one warp.
constexpr uint64_t kMaxFrameBytes = uint64_t{64} << 20;

// Initialisation check: these bytes of a lane's local memory were written.
void MarkLocal(Warp& w, uint32_t lane, uint32_t at, uint32_t bytes) {
  if (!w.local_initialised.empty() && bytes > 0) {
    const uint64_t begin = uint64_t{lane} * w.local_stride + at;
    SetBits(w.local_initialised.data(), begin, begin + bytes, false);
  }
}

}  // namespace

void LeaveFrame(Warp& w, const Path& path) {
  const Program& program = *w.worker->launch->program;
  const CallSite& site = program.calls[path.call_site];
  // Results travel from the callee's frame to the caller's.
  for (const CallArgument& result : site.results) {
    for (uint32_t m = path.mask; m != 0; m &= m - 1) {
      uint8_t* lane = w.local + static_cast<size_t>(std::countr_zero(m)) * w.local_stride;
      std::memcpy(lane + path.saved_local + result.to, lane + w.local_base + result.from,
                  result.bytes);
      MarkLocal(w, static_cast<uint32_t>(std::countr_zero(m)), path.saved_local + result.to,
                result.bytes);
    }
  }
  w.base[0] = reinterpret_cast<const uint8_t*>(w.registers() - (w.frame_offset - path.saved_base));
  w.frame_offset = path.saved_base;
  w.local_base = path.saved_local;
  w.frame = path.saved_frame;
  w.frame_live = path.saved_live;
}

void FillSpecials(Warp& w, const ProgramFunction& function, bool again) {
  const LaunchContext& launch = *w.worker->launch;
  const BlockState& block = *w.block;
  for (const SpecialUse& use : function.specials) {
    const bool of_block =
        (use.which >= SpecialRegister::kCtaidX && use.which <= SpecialRegister::kCtaidZ) ||
        use.which == SpecialRegister::kSmId;
    if (again && !of_block) {
      continue;
    }
    for (uint32_t l = 0; l < kLanes; ++l) {
      const uint32_t thread = w.index * kLanes + l;
      uint64_t value = 0;
      switch (use.which) {
        case SpecialRegister::kTidX:
          value = thread % launch.block.x;
          break;
        case SpecialRegister::kTidY:
          value = thread / launch.block.x % launch.block.y;
          break;
        case SpecialRegister::kTidZ:
          value = thread / launch.block.x / launch.block.y;
          break;
        case SpecialRegister::kNtidX:
          value = launch.block.x;
          break;
        case SpecialRegister::kNtidY:
          value = launch.block.y;
          break;
        case SpecialRegister::kNtidZ:
          value = launch.block.z;
          break;
        case SpecialRegister::kCtaidX:
          value = block.ctaid[0];
          break;
        case SpecialRegister::kCtaidY:
          value = block.ctaid[1];
          break;
        case SpecialRegister::kCtaidZ:
          value = block.ctaid[2];
          break;
        case SpecialRegister::kNctaidX:
          value = launch.grid.x;
          break;
        case SpecialRegister::kNctaidY:
          value = launch.grid.y;
          break;
        case SpecialRegister::kNctaidZ:
          value = launch.grid.z;
          break;
        case SpecialRegister::kLaneId:
          value = l;
          break;
        case SpecialRegister::kWarpId:
          value = w.index;
          break;
        case SpecialRegister::kNwarpId:
          value = 64;
          break;  // warp slots of an SM
        case SpecialRegister::kSmId:
          value = block.sm;
          break;
        case SpecialRegister::kNsmId:
          value = launch.request->cache.sms;
          break;
        case SpecialRegister::kGridId:
          value = 1;
          break;
        case SpecialRegister::kLanemaskEq:
          value = 1u << l;
          break;
        case SpecialRegister::kLanemaskLe:
          value = (2u << l) - 1;
          break;
        case SpecialRegister::kLanemaskLt:
          value = (1u << l) - 1;
          break;
        case SpecialRegister::kLanemaskGe:
          value = ~((1u << l) - 1);
          break;
        case SpecialRegister::kLanemaskGt:
          value = ~((2u << l) - 1);
          break;
        case SpecialRegister::kDynamicSharedBytes:
          value = launch.request->dynamic_shared_bytes;
          break;
        case SpecialRegister::kTotalSharedBytes:
          value = launch.shared_bytes_counted;
          break;
        case SpecialRegister::kOne:
          value = 1;
          break;
        default:
          value = 0;
          break;
      }
      if (use.bytes == 8) {
        RegisterAt<uint64_t>(w, use.place)[l] = value;
      } else if (use.bytes == 2) {
        RegisterAt<uint16_t>(w, use.place)[l] = static_cast<uint16_t>(value);
      } else {
        RegisterAt<uint32_t>(w, use.place)[l] = static_cast<uint32_t>(value);
      }
    }
  }
}

namespace {

const Op* CallBuiltin(Warp& w, const Op* op, const CallSite& site) {
  const auto argument = [&](uint32_t lane, size_t i) {
    uint64_t value = 0;
    if (i < site.arguments.size()) {
      std::memcpy(&value,
                  w.local + size_t{lane} * w.local_stride + w.local_base + site.arguments[i].from,
                  std::min<uint32_t>(site.arguments[i].bytes, 8));
    }
    return value;
  };
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (site.builtin == Builtin::kPrintf) {
      const int32_t result = Printf(w, op, lane, argument(lane, 0), argument(lane, 1));
      if (!site.results.empty()) {
        MarkLocal(w, lane, w.local_base + site.results[0].to, sizeof(result));
        std::memcpy(w.local + size_t{lane} * w.local_stride + w.local_base + site.results[0].to,
                    &result, sizeof(result));
      }
    } else {
      const auto text = [&](uint64_t address) {
        std::string s;
        char c = 0;
        while (s.size() < 500 && address != 0 && ReadGeneric(w, lane, address + s.size(), &c, 1) &&
               c != 0) {
          s += c;
        }
        return s;
      };
      return Fault(w, op, lane, "assert",
                   fmt::format("assertion '{}' failed in {} ({}:{})", text(argument(lane, 0)),
                               text(argument(lane, 3)), text(argument(lane, 1)),
                               static_cast<uint32_t>(argument(lane, 2))));
    }
  }
  return op + 1;
}

}  // namespace

const Op* Call(Warp& w, const Op* op) {
  const Program& program = *w.worker->launch->program;
  const CallSite& site = program.calls[op->site];
  if (site.builtin != Builtin::kNone) {
    return CallBuiltin(w, op, site);
  }
  const ProgramFunction& caller = program.functions[w.frame];
  const ProgramFunction& callee = program.functions[static_cast<size_t>(site.function)];
  const uint64_t new_base = w.frame_offset + caller.frame_bytes;
  const uint64_t new_local = w.local_base + caller.local_bytes;
  const auto lane0 = static_cast<uint32_t>(std::countr_zero(w.active));
  if (new_base + callee.frame_bytes > kMaxFrameBytes ||
      new_local + callee.local_bytes > kMaxFrameBytes / kLanes) {
    return Fault(w, op, lane0, "stack overflow",
                 fmt::format("recursion of {} is deeper than the stack", callee.name));
  }
  if (new_base + callee.frame_bytes > w.registers_bytes ||
      new_local + callee.local_bytes > w.local_stride) {
    w.Grow(new_base + callee.frame_bytes, static_cast<uint32_t>(new_local + callee.local_bytes));
  }
  Path back;
  back.pc = op + 1;
  back.reconvergence = w.reconvergence;
  back.mask = w.active;
  back.is_call = true;
  back.saved_live = w.frame_live;
  back.saved_frame = w.frame;
  back.saved_base = static_cast<uint32_t>(w.frame_offset);
  back.saved_local = w.local_base;
  back.call_site = op->site;
  for (const CallArgument& argument : site.arguments) {
    for (uint32_t m = w.active; m != 0; m &= m - 1) {
      uint8_t* lane = w.local + static_cast<size_t>(std::countr_zero(m)) * w.local_stride;
      std::memcpy(lane + new_local + argument.to, lane + w.local_base + argument.from,
                  argument.bytes);
      MarkLocal(w, static_cast<uint32_t>(std::countr_zero(m)),
                static_cast<uint32_t>(new_local) + argument.to, argument.bytes);
    }
  }
  w.stack.push_back(back);
  w.base[0] += caller.frame_bytes;
  w.frame_offset = static_cast<uint32_t>(new_base);
  w.local_base = static_cast<uint32_t>(new_local);
  w.frame = static_cast<uint32_t>(site.function);
  w.frame_live = w.active;
  w.reconvergence = nullptr;
  FillSpecials(w, callee);
  return program.ops.data() + callee.first_op;
}

}  // namespace optiml::ptx
