// Calls of device functions and of the built-in ones, and the special registers of a frame.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/async_ops.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/shadow_values.h"

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

namespace {

uint64_t ClusterSpecial(const LaunchContext& launch, const BlockState& block,
                        SpecialRegister which) {
  const uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
  const uint32_t cluster[3] = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
  const auto axis = [&](SpecialRegister first) {
    return static_cast<uint32_t>(which) - static_cast<uint32_t>(first);
  };
  switch (which) {
    case SpecialRegister::kClusterCtaRank:
      return block.rank;
    case SpecialRegister::kClusterNctaRank:
      return launch.cluster.Count();
    case SpecialRegister::kClusterCtaidX:
    case SpecialRegister::kClusterCtaidY:
    case SpecialRegister::kClusterCtaidZ:
      return block.ctaid[axis(SpecialRegister::kClusterCtaidX)] %
             cluster[axis(SpecialRegister::kClusterCtaidX)];
    case SpecialRegister::kClusterNctaidX:
    case SpecialRegister::kClusterNctaidY:
    case SpecialRegister::kClusterNctaidZ:
      return cluster[axis(SpecialRegister::kClusterNctaidX)];
    case SpecialRegister::kClusterIdX:
    case SpecialRegister::kClusterIdY:
    case SpecialRegister::kClusterIdZ:
      return block.ctaid[axis(SpecialRegister::kClusterIdX)] /
             cluster[axis(SpecialRegister::kClusterIdX)];
    case SpecialRegister::kNclusterIdX:
    case SpecialRegister::kNclusterIdY:
    case SpecialRegister::kNclusterIdZ:
      return grid[axis(SpecialRegister::kNclusterIdX)] /
             cluster[axis(SpecialRegister::kNclusterIdX)];
    case SpecialRegister::kWorkspaceHigh:
      return launch.cooperative ? kWorkspaceAddress >> 32 : 0;
    case SpecialRegister::kWorkspaceLow:
      return launch.cooperative ? kWorkspaceAddress & 0xffffffff : 0;
    default:
      return 0;
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
      if (w.float_shadow != nullptr) {
        ShadowLocalCopy(w, static_cast<uint32_t>(std::countr_zero(m)), w.local_base + result.from,
                        path.saved_local + result.to, result.bytes);
      }
      MarkLocal(w, static_cast<uint32_t>(std::countr_zero(m)), path.saved_local + result.to,
                result.bytes);
    }
  }
  w.base[0] = reinterpret_cast<const uint8_t*>(w.registers() - (w.frame_offset - path.saved_base));
  w.frame_offset = path.saved_base;
  w.local_base = path.saved_local;
  w.local_stack = path.saved_stack;
  w.frame = path.saved_frame;
  w.frame_live = path.saved_live;
}

void FillSpecials(Warp& w, const ProgramFunction& function, bool again) {
  const LaunchContext& launch = *w.worker->launch;
  const BlockState& block = *w.block;
  for (const SpecialUse& use : function.specials) {
    const bool of_block =
        (use.which >= SpecialRegister::kCtaidX && use.which <= SpecialRegister::kCtaidZ) ||
        (use.which >= SpecialRegister::kClusterCtaRank &&
         use.which <= SpecialRegister::kClusterIdZ) ||
        use.which == SpecialRegister::kSmId;
    if (again && !of_block) {
      continue;
    }
    // Of the block: the same in every lane.
    for (uint32_t l = 0; l < (of_block ? 1 : kLanes); ++l) {
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
        default:
          value = ClusterSpecial(launch, block, use.which);
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
    if (of_block) {
      // By doubling: the bytes of one lane, then of two, ...
      auto* const bytes = RegisterAt<uint8_t>(w, use.place);
      const uint32_t lane_bytes = use.bytes == 8 || use.bytes == 2 ? use.bytes : 4;
      for (uint32_t lanes = 1; lanes < kLanes; lanes *= 2) {
        std::memcpy(bytes + size_t{lanes} * lane_bytes, bytes, size_t{lanes} * lane_bytes);
      }
    }
  }
}

namespace {

// The device's heap: malloc gives null beyond cudaLimitMallocHeapSize, whose default this is.
constexpr uint64_t kHeapBytes = 8 << 20;
constexpr std::string_view kHeapName = "device heap";

uint64_t HeapAllocate(Warp& w, uint64_t bytes) {
  LaunchContext& launch = *w.worker->launch;
  DeviceMemory& memory = *launch.memory;
  if (!launch.heap_bytes) {
    // What earlier launches left allocated.
    launch.heap_bytes = 0;
    for (const auto& allocation : memory.allocations()) {
      *launch.heap_bytes +=
          allocation->name == kHeapName && !allocation->freed ? allocation->bytes : 0;
    }
  }
  if (bytes == 0 || bytes > kHeapBytes || *launch.heap_bytes + bytes > kHeapBytes) {
    return 0;
  }
  *launch.heap_bytes += bytes;
  const auto address = memory.TryAllocate(kHeapName, bytes, 1);
  if (!address) {
    return 0;
  }
  memory.MarkUninitialised(*address);
  return *address;
}

// Empty when the block is gone; otherwise what is wrong.
std::string HeapFree(Warp& w, uint64_t address) {
  DeviceMemory& memory = *w.worker->launch->memory;
  if (address == 0) {
    return {};
  }
  const Allocation* allocation = memory.Find(address);
  if (allocation == nullptr || allocation->name != kHeapName || allocation->address != address) {
    return fmt::format("free of {:#x}, which malloc did not give: {}", address,
                       memory.Describe(address));
  }
  // Cached sites may point at it.
  for (MemorySite& site : w.worker->sites) {
    if (site.allocation == allocation) {
      site.Forget();
    }
  }
  if (w.worker->launch->heap_bytes) {
    *w.worker->launch->heap_bytes -= allocation->bytes;
  }
  if (const auto freed = memory.Free(address); !freed) {
    return freed.error().message();
  }
  return {};
}

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
    } else if (site.builtin == Builtin::kMalloc) {
      const uint64_t address = HeapAllocate(w, argument(lane, 0));
      MarkLocal(w, lane, w.local_base + site.results[0].to, sizeof(address));
      std::memcpy(w.local + size_t{lane} * w.local_stride + w.local_base + site.results[0].to,
                  &address, sizeof(address));
    } else if (site.builtin == Builtin::kFree) {
      const uint64_t address = argument(lane, 0);
      if (std::string problem = HeapFree(w, address); !problem.empty()) {
        return Fault(w, op, lane, "invalid free", problem);
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

namespace {

// Runs the function of a call site with the active lanes; they come back to the op after `op`.
const Op* EnterFunction(Warp& w, const Op* op, uint32_t site_index) {
  const Program& program = *w.worker->launch->program;
  const CallSite& site = program.calls[site_index];
  const ProgramFunction& caller = program.functions[w.frame];
  const ProgramFunction& callee = program.functions[static_cast<size_t>(site.function)];
  const uint64_t new_base = w.frame_offset + caller.frame_bytes;
  const uint64_t new_local = w.local_base + caller.local_bytes + w.local_stack;
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
  back.saved_stack = w.local_stack;
  back.call_site = site_index;
  for (const CallArgument& argument : site.arguments) {
    for (uint32_t m = w.active; m != 0; m &= m - 1) {
      uint8_t* lane = w.local + static_cast<size_t>(std::countr_zero(m)) * w.local_stride;
      std::memcpy(lane + new_local + argument.to, lane + w.local_base + argument.from,
                  argument.bytes);
      if (w.float_shadow != nullptr) {
        ShadowLocalCopy(w, static_cast<uint32_t>(std::countr_zero(m)), w.local_base + argument.from,
                        static_cast<uint32_t>(new_local) + argument.to, argument.bytes);
      }
      MarkLocal(w, static_cast<uint32_t>(std::countr_zero(m)),
                static_cast<uint32_t>(new_local) + argument.to, argument.bytes);
    }
  }
  w.stack.push_back(back);
  w.base[0] += caller.frame_bytes;
  w.frame_offset = static_cast<uint32_t>(new_base);
  w.local_base = static_cast<uint32_t>(new_local);
  w.local_stack = 0;
  w.frame = static_cast<uint32_t>(site.function);
  w.frame_live = w.active;
  w.reconvergence = nullptr;
  FillSpecials(w, callee);
  return program.ops.data() + callee.first_op;
}

}  // namespace

const Op* Call(Warp& w, const Op* op) {
  const CallSite& site = w.worker->launch->program->calls[op->site];
  return site.builtin != Builtin::kNone ? CallBuiltin(w, op, site) : EnterFunction(w, op, op->site);
}

const Op* CallIndirect(Warp& w, const Op* op) {
  const Program& program = *w.worker->launch->program;
  const IndirectSite& site = program.indirect_sites[op->site];
  const uint64_t* addresses = RegisterAt<uint64_t>(w, op->a);
  // The lanes that call what the first of them calls; the others come back to this op.
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
  const uint64_t place = (addresses[lane] - kFunctionWindow) / kFunctionUnit;
  const int32_t function = addresses[lane] >= kFunctionWindow &&
                                   (addresses[lane] - kFunctionWindow) % kFunctionUnit == 0 &&
                                   place < program.function_of_address.size()
                               ? program.function_of_address[place]
                               : -1;
  if (function < 0) {
    return Fault(w, op, lane, "invalid call",
                 fmt::format("a call through the pointer {:#x}, which is no function's address",
                             addresses[lane]));
  }
  const int32_t call = site.call_of_function[static_cast<size_t>(function)];
  if (call < 0) {
    return Fault(w, op, lane, "invalid call",
                 fmt::format("a call through a pointer to {}, whose parameters or results are not "
                             "those of the call",
                             program.functions[static_cast<size_t>(function)].name));
  }
  uint32_t same = 0;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    same |= addresses[l] == addresses[lane] ? 1u << l : 0u;
  }
  if (same != w.active) {
    // All meet after the call, where the next basic block begins.
    ++w.worker->counters.divergent_branches;
    const Op* meet = op + 1;
    if (meet != w.reconvergence) {
      w.stack.push_back({meet, w.reconvergence, w.active});
    }
    w.stack.push_back({op, meet, w.active & ~same});
    w.reconvergence = meet;
    w.SetActive(same);
  }
  return EnterFunction(w, op, static_cast<uint32_t>(call));
}

const Op* AllocateStack(Warp& w, const Op* op) {
  const Program& program = *w.worker->launch->program;
  // The lanes share one offset: room for the largest of them.
  uint64_t bytes = 0;
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    bytes = std::max(bytes, LaneAddress(w, op->a, static_cast<uint32_t>(std::countr_zero(m))));
  }
  const uint64_t frame = uint64_t{w.local_base} + program.functions[w.frame].local_bytes;
  const uint64_t alignment = std::max<uint64_t>(op->aux, 16);
  const uint64_t begin = (frame + w.local_stack + alignment - 1) / alignment * alignment;
  if (bytes > kMaxFrameBytes / kLanes || begin + bytes > kMaxFrameBytes / kLanes) {
    return Fault(w, op, static_cast<uint32_t>(std::countr_zero(w.active)), "stack overflow",
                 fmt::format("alloca of {} bytes is more than the stack has", bytes));
  }
  if (begin + bytes > w.local_stride) {
    w.Grow(0, static_cast<uint32_t>(begin + bytes));
  }
  w.local_stack = static_cast<uint32_t>(begin + bytes - frame);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    RegisterAt<uint64_t>(w, op->d)[std::countr_zero(m)] = begin;
  }
  return op + 1;
}

const Op* SaveStack(Warp& w, const Op* op) {
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    RegisterAt<uint64_t>(w, op->d)[std::countr_zero(m)] = w.local_stack;
  }
  return op + 1;
}

const Op* RestoreStack(Warp& w, const Op* op) {
  // Lanes that are elsewhere may still use what lies above.
  if (w.active == (w.live & w.frame_live)) {
    const uint64_t saved = LaneAddress(w, op->a, static_cast<uint32_t>(std::countr_zero(w.active)));
    w.local_stack = static_cast<uint32_t>(std::min<uint64_t>(saved, w.local_stack));
  }
  return op + 1;
}

}  // namespace optiml::ptx
