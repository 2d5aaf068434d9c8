#include "ptx/access.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <memory>

#include "ptx/launch_context.h"
#include "ptx/ordered_atomics.h"

namespace optiml::ptx {
bool FindGlobal(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi, bool store) {
  LaunchContext& launch = *warp.worker->launch;
  Allocation* allocation = launch.memory->Find(lo);
  if (allocation == nullptr && lo - kParamWindow < kWindowBytes) {
    allocation = lo < kWorkspaceAddress ? &launch.parameters : &launch.workspace;
  }
  if (allocation == nullptr || !allocation->Covers(lo, hi) || hi < lo ||
      (store && allocation->read_only)) {
    return false;
  }
  site.allocation = allocation;
  site.lo = allocation->address;
  site.hi = allocation->address + allocation->bytes;
  return true;
}

bool LocateGlobal(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi, bool store) {
  if (!FindGlobal(warp, site, lo, hi, store)) {
    return false;
  }
  AtomicLog* const log = warp.worker->atomic_log;
  if (log != nullptr && warp.worker->launch->ordered_atomics->Settle(*log, site.allocation)) {
    site.Forget();  // each access has to wait for its turn
  }
  return true;
}

bool LocateShared(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi) {
  for (const SharedRegion& region : *warp.worker->regions) {
    if (lo >= region.begin && hi <= region.end && lo < hi) {
      site.lo = region.begin;
      site.hi = region.end;
      return true;
    }
  }
  return false;
}

std::string WhoText(const Warp& warp, uint32_t lane) {
  const Dim3& block = warp.worker->launch->block;
  const uint32_t thread = warp.index * kLanes + lane;
  const uint32_t* b = warp.block->ctaid;
  return fmt::format("block ({},{},{}) thread ({},{},{})", b[0], b[1], b[2], thread % block.x,
                     thread / block.x % block.y, thread / block.x / block.y);
}

// "tile" for "_ZZ9transposeE4tile": shared variables of a function carry its name.
static std::string ShortName(const std::string& name) {
  // __cxa_demangle takes a bare "s" for the type short.
  if (!name.starts_with("_Z")) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  const std::string text = status == 0 ? demangled.get() : name;
  const size_t colons = text.rfind("::");
  return colons == std::string::npos ? text : text.substr(colons + 2);
}

std::string SharedName(const Warp& warp, uint64_t address) {
  const SharedRegion* before = nullptr;
  for (const SharedRegion& region : *warp.worker->regions) {
    if (address >= region.begin && address < region.end) {
      return fmt::format("byte {} of {} in shared memory", address - region.begin,
                         ShortName(region.name));
    }
    if (address >= region.end && (before == nullptr || region.end > before->end)) {
      before = &region;
    }
  }
  if (before == nullptr) {
    return fmt::format("shared address {:#x}, where nothing is", address);
  }
  return fmt::format("shared memory {} bytes past the end of {} ({} bytes)", address - before->end,
                     ShortName(before->name), before->end - before->begin);
}

void Report(Warp& warp, const Op* op, uint32_t lane, const std::string& kind,
            const std::string& detail) {
  Worker& worker = *warp.worker;
  LaunchContext& launch = *worker.launch;
  const InstructionFacts& facts = launch.program->instructions[op->instruction];
  const std::lock_guard lock(launch.mutex);
  ++worker.findings_total;
  if (!launch.reported.insert(fmt::format("{}:{}", kind, op->instruction)).second ||
      worker.findings.size() >= launch.request->findings_limit) {
    return;
  }
  Finding finding;
  finding.kind = kind;
  finding.kernel = launch.request->kernel;
  finding.line = facts.source_line;
  finding.detail = fmt::format("{}: {}", WhoText(warp, lane), detail);
  worker.findings.push_back(std::move(finding));
}

const Op* Fault(Warp& warp, const Op* op, uint32_t lane, const std::string& kind,
                const std::string& detail) {
  Report(warp, op, lane, kind, detail);
  warp.worker->faulted = true;
  warp.stop = Stop::kFault;
  warp.pc = op;
  return nullptr;
}

const Op* FaultAccess(Warp& warp, const Op* op, Space space, const uint64_t* addresses,
                      const AccessShape& shape) {
  LaunchContext& launch = *warp.worker->launch;
  const char* verb = shape.atomic ? "atomic on" : shape.store ? "store to" : "load from";
  uint32_t lane = static_cast<uint32_t>(std::countr_zero(shape.mask));
  for (uint32_t m = shape.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t lo = addresses[l];
    const uint64_t hi = lo + shape.bytes;
    if ((lo & (shape.bytes - 1)) != 0) {
      const std::string where = space == Space::kShared  ? SharedName(warp, lo)
                                : space == Space::kLocal ? fmt::format("local byte {}", lo)
                                                         : launch.memory->NameOf(lo);
      return Fault(warp, op, l, "misaligned",
                   fmt::format("{}-byte {} {} at address {:#x}, which is not a multiple of {}",
                               shape.bytes, verb, where, lo, shape.bytes));
    }
    if (space == Space::kShared) {
      MemorySite site;
      if (!LocateShared(warp, site, lo, hi)) {
        return Fault(warp, op, l, "out of bounds",
                     fmt::format("{}-byte {} {}", shape.bytes, verb, SharedName(warp, lo)));
      }
    } else if (space == Space::kLocal) {
      if (lo > warp.local_stride || hi > warp.local_stride) {
        return Fault(warp, op, l, "out of bounds",
                     fmt::format("{}-byte {} local byte {} of {}", shape.bytes, verb,
                                 static_cast<int64_t>(lo), warp.local_stride));
      }
    } else {
      MemorySite site;
      if (!FindGlobal(warp, site, lo, hi, shape.store || shape.atomic)) {
        const Allocation* allocation = launch.memory->Find(lo);
        if (allocation != nullptr && allocation->Covers(lo, hi)) {
          return Fault(warp, op, l, "read-only",
                       fmt::format("{}-byte {} {} (address {:#x}), which is read-only", shape.bytes,
                                   verb, launch.memory->NameOf(lo), lo));
        }
        const std::string where = allocation != nullptr
                                      ? fmt::format("{}, beyond its {} bytes",
                                                    launch.memory->NameOf(lo), allocation->bytes)
                                      : launch.memory->Describe(lo);
        return Fault(warp, op, l, "out of bounds",
                     fmt::format("{}-byte {} {} (address {:#x})", shape.bytes, verb, where, lo));
      }
    }
    lane = l;
  }
  return Fault(warp, op, lane, "out of bounds",
               fmt::format("{}-byte {} address {:#x}", shape.bytes, verb, addresses[lane]));
}

bool BitsSet(const uint64_t* bitmap, uint64_t begin, uint64_t end) {
  uint64_t word = begin >> 6;
  const uint64_t last = (end - 1) >> 6;
  const uint64_t head = ~uint64_t{0} << (begin & 63);
  const uint64_t tail = ~uint64_t{0} >> (63 - ((end - 1) & 63));
  if (word == last) {
    return (~bitmap[word] & head & tail) == 0;
  }
  uint64_t missing = ~bitmap[word] & head;
  for (++word; word < last; ++word) {
    missing |= ~bitmap[word];
  }
  missing |= ~bitmap[last] & tail;
  return missing == 0;
}

// Of a word that other threads set bits in. Bytes need no read, and what is set already no write.
static void SetSharedBits(uint64_t& word, uint64_t mask) {
  const auto first = static_cast<uint32_t>(std::countr_zero(mask));
  const auto end = 64 - static_cast<uint32_t>(std::countl_zero(mask));
  if (first % 8 == 0 && end % 8 == 0) {
    auto* const bytes = reinterpret_cast<uint8_t*>(&word);
    for (uint32_t i = first / 8; i < end / 8; ++i) {
      __atomic_store_n(bytes + i, uint8_t{0xff}, __ATOMIC_RELAXED);
    }
  } else if ((~__atomic_load_n(&word, __ATOMIC_RELAXED) & mask) != 0) {
    __atomic_fetch_or(&word, mask, __ATOMIC_RELAXED);
  }
}

void SetBits(uint64_t* bitmap, uint64_t begin, uint64_t end, bool parallel) {
  uint64_t word = begin >> 6;
  const uint64_t last = (end - 1) >> 6;
  uint64_t mask = ~uint64_t{0} << (begin & 63);
  for (; word <= last; ++word) {
    if (word == last) {
      mask &= ~uint64_t{0} >> (63 - ((end - 1) & 63));
    }
    if (parallel && mask == ~uint64_t{0}) {
      __atomic_store_n(&bitmap[word], mask, __ATOMIC_RELAXED);  // whatever others set in it
    } else if (parallel) {
      SetSharedBits(bitmap[word], mask);
    } else {
      bitmap[word] |= mask;
    }
    mask = ~uint64_t{0};
  }
}

void ReportUninitialised(Warp& warp, const Op* op, Space space, uint32_t lane, uint64_t address,
                         uint32_t bytes) {
  const std::string where = space == Space::kShared  ? SharedName(warp, address)
                            : space == Space::kLocal ? fmt::format("local byte {}", address)
                                                     : warp.worker->launch->memory->NameOf(address);
  Report(warp, op, lane, "uninitialised",
         fmt::format("{}-byte read of {}, which was never written", bytes, where));
}

void CheckRace(Warp& warp, const Op* op, uint32_t begin, uint32_t end, uint32_t lane,
               SharedAccess access, bool value_equal) {
  BlockState& block = *warp.block;
  ShadowMemory& shadow = *block.shadow;
  const uint32_t* known = &block.known[warp.index * kLanes];
  const auto conflicts = [&](uint32_t tag) {
    const uint32_t other = (tag >> 5) & 31;
    if (other == warp.index && warp.worker->check_warp_races) {
      return (tag & 31) != lane &&
             (tag >> 10) >= std::max(warp.warp_floor, block.floor[warp.index]) && tag != 0;
    }
    return other != warp.index && (tag >> 10) >= known[other] &&
           (tag >> 10) >= block.floor[warp.index] && tag != 0;
  };
  const LaunchContext& launch = *warp.worker->launch;
  for (uint32_t g = begin; g < end; ++g) {
    uint32_t tag = 0;
    const char* theirs = nullptr;
    uint32_t instruction = 0;
    if (access != SharedAccess::kStrong && !shadow.strong.empty() && conflicts(shadow.strong[g])) {
      tag = shadow.strong[g];
      theirs = "an atomic or volatile access";
      instruction = shadow.write_instruction[g];
    }
    if (!value_equal && conflicts(shadow.write[g])) {
      tag = shadow.write[g];
      theirs = "a store";
      instruction = shadow.write_instruction[g];
    } else if (access != SharedAccess::kLoad &&
               (conflicts(shadow.read[g]) || conflicts(shadow.read2[g]))) {
      tag = conflicts(shadow.read[g]) ? shadow.read[g] : shadow.read2[g];
      theirs = "a load";
      instruction = shadow.read_instruction[g];
    }
    if (theirs == nullptr) {
      continue;
    }
    const uint32_t thread = tag & 1023;
    const Dim3& dim = launch.block;
    const InstructionFacts& other = launch.program->instructions[instruction];
    const char* mine = access == SharedAccess::kLoad    ? "load"
                       : access == SharedAccess::kStore ? "store"
                                                        : "atomic or volatile access";
    Report(warp, op, lane, "race",
           fmt::format("{} of {} is not ordered with {} by thread ({},{},{}){}", mine,
                       SharedName(warp, static_cast<uint64_t>(g) << shadow.granule_shift), theirs,
                       thread % dim.x, thread / dim.x % dim.y, thread / dim.x / dim.y,
                       other.source_line > 0 ? fmt::format(" at line {}", other.source_line) : ""));
    return;
  }
}

void ReportLaneConflict(Warp& warp, const Op* op, Space space, uint32_t lane, uint32_t other,
                        uint64_t address) {
  Report(warp, op, lane, "race",
         fmt::format("store to {} by several lanes at once with different values (also by {})",
                     space == Space::kShared ? SharedName(warp, address)
                                             : warp.worker->launch->memory->NameOf(address),
                     WhoText(warp, other)));
}

}  // namespace optiml::ptx
