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

namespace optiml::ptx {
namespace {

uint64_t At(uint64_t address, int32_t distance) {
  return address + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

// Whether lanes of the mask read the same addresses in pairs of neighbours, or of lanes two apart:
// then the hardware serves twice as many lanes in one phase of a wide access (measured on an H200:
// bench/counters, shared_float2_by2 to shared_float4_mod16).
bool ReadsInPairs(const MemorySite& site, uint32_t mask) {
  for (const uint32_t apart : {1u, 2u}) {
    bool same = true;
    for (uint32_t m = mask; m != 0 && same; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      const uint32_t other = lane ^ apart;
      same = ((mask >> other) & 1) == 0 || site.distance[lane] == site.distance[other];
    }
    if (same) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool LocateGlobal(Warp& warp, MemorySite& site, uint64_t lo, uint64_t hi, bool store) {
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

bool RecordPattern(MemorySite& site, const uint64_t* addresses, uint32_t mask) {
  const auto first = static_cast<uint32_t>(std::countr_zero(mask));
  int64_t least = 0;
  int64_t most = 0;
  uint32_t bits = 0;
  int64_t previous = -1;
  bool ascending = true;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((mask >> l) & 1) == 0) {
      site.distance[l] = 0;
      continue;
    }
    const auto distance = static_cast<int64_t>(addresses[l] - addresses[first]);
    least = std::min(least, distance);
    most = std::max(most, distance);
    ascending = ascending && distance > previous;
    previous = distance;
    bits |= static_cast<uint32_t>(distance);
    site.distance[l] = static_cast<int32_t>(distance);
  }
  if (least < std::numeric_limits<int32_t>::min() / 2 ||
      most > std::numeric_limits<int32_t>::max() / 2) {
    // Wild addresses, or lanes in far objects. Clamped so that the bounds test fails and the slow
    // path decides.
    site.mask = 0;
    site.min_distance = std::numeric_limits<int32_t>::min();
    site.max_distance = std::numeric_limits<int32_t>::max();
    site.distance_bits = bits;
    return true;
  }
  site.mask = mask;
  site.min_distance = static_cast<int32_t>(least);
  site.max_distance = static_cast<int32_t>(most);
  site.distance_bits = bits;
  site.duplicates = !ascending;
  std::fill(std::begin(site.memo), std::end(site.memo), int16_t{-1});
  site.lines_phase = ~0u;
  site.run_count = 0;
  return true;
}

void BuildRuns(MemorySite& site, uint32_t bytes) {
  std::array<std::pair<int32_t, uint8_t>, kLanes> starts;
  size_t count = 0;
  for (uint32_t m = site.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    starts[count++] = {site.distance[lane], static_cast<uint8_t>(lane)};
  }
  std::sort(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(count));
  uint8_t runs = 0;
  int last_lane = -1;
  for (size_t i = 0; i < count; ++i) {
    const auto [distance, lane] = starts[i];
    if (runs > 0) {
      const int32_t end = site.run_distance[runs - 1] + site.run_bytes[runs - 1];
      if (distance < end) {
        continue;  // the same bytes: accesses of one instruction are aligned alike
      }
      if (distance == end && lane == last_lane + 1) {
        last_lane = lane;
        site.run_bytes[runs - 1] = static_cast<uint16_t>(site.run_bytes[runs - 1] + bytes);
        continue;
      }
    }
    site.run_distance[runs] = distance;
    site.run_bytes[runs] = static_cast<uint16_t>(bytes);
    site.run_lane[runs] = lane;
    last_lane = lane;
    ++runs;
  }
  site.run_count = runs;
}

void PatternLines(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes) {
  // Distances that are whole sectors keep their sectors while the address moves inside one.
  const uint32_t phase =
      static_cast<uint32_t>(address) & ((site.distance_bits & 31) == 0 ? 96 : 127);
  if (site.lines_phase == phase) {
    return;
  }
  site.lines_phase = phase;
  site.line_count = 0;
  const uint64_t base = address >> 7;
  Distinct distinct(worker);
  for (uint32_t m = site.mask; m != 0; m &= m - 1) {
    const uint64_t at = At(address, site.distance[std::countr_zero(m)]);
    for (uint64_t sector = at >> 5; sector <= (at + bytes - 1) >> 5; ++sector) {
      uint32_t slot = 0;
      if (distinct.Add(sector >> 2, slot)) {
        worker.scratch_slot[slot] = site.line_count;
        site.line_distance[site.line_count] =
            static_cast<int32_t>(static_cast<int64_t>((sector >> 2) - base));
        site.line_sectors[site.line_count] = 0;
        ++site.line_count;
      }
      site.line_sectors[worker.scratch_slot[slot]] |= static_cast<uint8_t>(1u << (sector & 3));
    }
  }
}

uint32_t PatternSectors(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes) {
  int16_t& memo = site.memo[address & 31];
  if (memo < 0) {
    PatternLines(worker, site, address, bytes);
    int count = 0;
    for (uint32_t i = 0; i < site.line_count; ++i) {
      count += std::popcount(site.line_sectors[i]);
    }
    memo = static_cast<int16_t>(count);
  }
  return static_cast<uint32_t>(memo);
}

uint32_t ActivePhases(uint32_t mask, uint32_t bytes) {
  if (bytes <= 4) {
    return 1;
  }
  if (bytes == 8) {
    return ((mask & 0xffff) != 0 ? 1u : 0u) + ((mask >> 16) != 0 ? 1u : 0u);
  }
  uint32_t phases = 0;
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    phases += ((mask >> (8 * quarter)) & 0xff) != 0 ? 1 : 0;
  }
  return phases;
}

uint32_t PatternWavefronts(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes,
                           uint32_t& ideal, bool global) {
  const auto mask_of = [&](uint32_t begin, uint32_t lanes) {
    return site.mask & (lanes == 32 ? kAllLanes : ((1u << lanes) - 1) << begin);
  };
  int16_t& memo = site.memo[(global ? 32 : 0) + (address & 3)];
  if (memo >= 0) {
    ideal = static_cast<uint32_t>(site.ideal);
    return static_cast<uint32_t>(memo);
  }
  const uint32_t narrow = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  uint32_t total = 0;
  ideal = 0;
  for (uint32_t begin = 0, lanes = 0; begin < kLanes; begin += lanes) {
    lanes = narrow;
    if (narrow < 32 && begin % (2 * narrow) == 0 &&
        ReadsInPairs(site, mask_of(begin, 2 * narrow))) {
      lanes = 2 * narrow;
    }
    const uint32_t phase_mask = mask_of(begin, lanes);
    ideal += phase_mask != 0 ? 1 : 0;
    Distinct distinct(worker);
    uint8_t words_of_bank[32] = {};
    uint32_t most = 0;
    for (uint32_t m = phase_mask; m != 0; m &= m - 1) {
      const uint64_t at = At(address, site.distance[std::countr_zero(m)]);
      for (uint64_t word = at >> 2; word <= (at + bytes - 1) >> 2; ++word) {
        uint32_t slot = 0;
        if (distinct.Add(word, slot)) {
          most = std::max<uint32_t>(most, ++words_of_bank[word & 31]);
        }
      }
    }
    total += most;
  }
  memo = static_cast<int16_t>(total);
  site.ideal = static_cast<int16_t>(ideal);
  return total;
}

namespace {

// Counts a load by the farthest place that its sectors came from.
class FarthestPlace {
 public:
  FarthestPlace(Counters& counters, const AccessShape& shape)
      : counters_(counters),
        wanted_(!shape.store && !shape.atomic),
        l2_sectors_(counters.l2_read_sectors),
        dram_bytes_(counters.dram_read_bytes) {}
  FarthestPlace(const FarthestPlace&) = delete;
  FarthestPlace& operator=(const FarthestPlace&) = delete;
  ~FarthestPlace() {
    if (!wanted_) {
      return;
    }
    if (counters_.dram_read_bytes != dram_bytes_) {
      ++counters_.load_requests_from_dram;
    } else if (counters_.l2_read_sectors != l2_sectors_) {
      ++counters_.load_requests_from_l2;
    }
  }

 private:
  Counters& counters_;
  bool wanted_;
  uint64_t l2_sectors_;
  uint64_t dram_bytes_;
};

}  // namespace

void CacheRange(Worker& worker, MemorySite& site, uint64_t lo, uint64_t hi,
                const AccessShape& shape) {
  const FarthestPlace count(worker.counters, shape);
  for (uint64_t line = lo >> 7; line <= (hi - 1) >> 7; ++line) {
    const uint64_t begin = std::max(lo, line << 7);
    const uint64_t end = std::min(hi, (line + 1) << 7) - 1;
    const uint32_t from = static_cast<uint32_t>(begin >> 5) & 3;
    const uint32_t to = static_cast<uint32_t>(end >> 5) & 3;
    const auto sectors = static_cast<uint8_t>(((2u << to) - 1) & ~((1u << from) - 1));
    CacheHint& hint = site.hints[line & 63];
    if (shape.atomic) {
      worker.l1->Atomic(line, sectors, worker.counters);
    } else if (shape.store) {
      worker.l1->Store(line, sectors, hint, worker.counters);
    } else {
      worker.l1->Load(line, sectors, hint, worker.counters);
    }
  }
}

void CachePattern(Worker& worker, MemorySite& site, uint64_t address, const AccessShape& shape) {
  const FarthestPlace count(worker.counters, shape);
  PatternLines(worker, site, address, shape.bytes);
  const uint64_t base = address >> 7;
  for (uint32_t i = 0; i < site.line_count; ++i) {
    const uint64_t line = At(base, site.line_distance[i]);
    if (shape.atomic) {
      worker.l1->Atomic(line, site.line_sectors[i], worker.counters);
    } else if (shape.store) {
      worker.l1->Store(line, site.line_sectors[i], site.hints[i], worker.counters);
    } else {
      worker.l1->Load(line, site.line_sectors[i], site.hints[i], worker.counters);
    }
  }
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
      if (!LocateGlobal(warp, site, lo, hi, shape.store || shape.atomic)) {
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

void SetBits(uint64_t* bitmap, uint64_t begin, uint64_t end, bool parallel) {
  uint64_t word = begin >> 6;
  const uint64_t last = (end - 1) >> 6;
  uint64_t mask = ~uint64_t{0} << (begin & 63);
  for (; word <= last; ++word) {
    if (word == last) {
      mask &= ~uint64_t{0} >> (63 - ((end - 1) & 63));
    }
    if (parallel) {
      __atomic_fetch_or(&bitmap[word], mask, __ATOMIC_RELAXED);
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
