#include "device/block_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ptx/control_flow.h"

namespace optiml {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

// Contiguous groups: neighbours share cache lines and rows; several groups see a grid whose parts
// differ (triangular loops, ragged rows).
constexpr uint64_t kGroups = 4;
constexpr uint64_t kMinGroupBlocks = 16;
// Rows or planes of a box: half of them see what the other half left in L2. A GPU holds about as
// many rows of blocks at once.
constexpr uint64_t kBoxRows = 4;
constexpr uint64_t kBoxPlanes = 8;

constexpr uint8_t kFromMemory = 1;
constexpr uint8_t kFromAtomic = 2;

std::string_view BaseOf(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

bool Has(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}

bool IsShared(std::string_view opcode) {
  return Has(opcode, ".shared");
}

// Loads that other blocks' stores are meant to reach.
bool WaitsForOthers(std::string_view opcode) {
  return BaseOf(opcode) == "ld" && !IsShared(opcode) && !Has(opcode, ".local") &&
         !Has(opcode, ".cta") &&
         (Has(opcode, ".volatile") || Has(opcode, ".acquire") || Has(opcode, ".relaxed"));
}

bool WritesItsFirstOperand(std::string_view base) {
  return base != "st" && base != "red" && base != "bra" && base != "brx" && base != "bar" &&
         base != "barrier" && base != "ret" && base != "exit" && base != "trap" &&
         base != "membar" && base != "fence" && base != "prefetch" && base != "cp";
}

uint8_t TaintOf(const Operand& operand, const std::vector<uint8_t>& taint) {
  uint8_t sum = 0;
  if (operand.kind == OperandKind::kRegister && operand.index >= 0 &&
      static_cast<size_t>(operand.index) < taint.size()) {
    sum = taint[static_cast<size_t>(operand.index)];
  }
  for (const Operand& element : operand.elements) {
    sum = static_cast<uint8_t>(sum | TaintOf(element, taint));
  }
  return sum;
}

bool AddTaint(const Operand& operand, uint8_t add, std::vector<uint8_t>& taint) {
  bool changed = false;
  if (operand.kind == OperandKind::kRegister && operand.index >= 0 &&
      static_cast<size_t>(operand.index) < taint.size()) {
    uint8_t& bits = taint[static_cast<size_t>(operand.index)];
    changed = (bits | add) != bits;
    bits = static_cast<uint8_t>(bits | add);
  }
  if (operand.kind != OperandKind::kAddress) {
    for (const Operand& element : operand.elements) {
      changed = AddTaint(element, add, taint) || changed;
    }
  }
  return changed;
}

// What an instruction's result is made of.
uint8_t ResultTaint(const Instruction& instruction, const std::vector<uint8_t>& taint) {
  const std::string_view base = BaseOf(instruction.opcode);
  uint8_t bits = 0;
  if (instruction.predicate >= 0) {
    bits = taint[static_cast<size_t>(instruction.predicate)];
  }
  for (size_t i = 1; i < instruction.operands.size(); ++i) {
    bits = static_cast<uint8_t>(bits | TaintOf(instruction.operands[i], taint));
  }
  if ((base == "ld" && !Has(instruction.opcode, ".param") && !Has(instruction.opcode, ".const")) ||
      base == "ldu" || base == "tex" || base == "call" || base == "ldmatrix") {
    bits |= kFromMemory;
  }
  if (base == "atom") {
    const bool swap_loop = Has(instruction.opcode, ".cas");
    bits |= IsShared(instruction.opcode) || swap_loop ? kFromMemory : kFromAtomic;
  }
  return bits;
}

bool WritesARegister(const Instruction& instruction) {
  return !instruction.operands.empty() && WritesItsFirstOperand(BaseOf(instruction.opcode));
}

// The blocks that a branch at the end of `block` decides about: all that are reached before its
// lanes meet again, in the text's order. `block` is among them when it is part of a loop.
std::set<uint32_t> DecidedBy(const ptx::ControlFlow& flow, uint32_t block) {
  std::set<uint32_t> decided;
  std::vector<uint32_t> work{block};
  while (!work.empty()) {
    const uint32_t at = work.back();
    work.pop_back();
    for (const uint32_t next : flow.blocks[at].successors) {
      if (static_cast<int32_t>(next) != flow.blocks[block].reconvergence &&
          decided.insert(next).second) {
        work.push_back(next);
      }
    }
  }
  return decided;
}

// The end of a block that lanes leave in more than one way, by data with this taint; 0 otherwise.
uint8_t TaintOfBranch(const Function& function, const ptx::BasicBlock& block,
                      const std::vector<uint8_t>& taint) {
  if (block.end == block.begin) {
    return 0;
  }
  const Instruction& last = function.instructions[block.end - 1];
  const std::string_view base = BaseOf(last.opcode);
  uint8_t bits = 0;
  if (base == "brx") {
    bits = TaintOf(last.operands[0], taint);
  }
  if (last.predicate >= 0 &&
      (base == "bra" || base == "brx" || base == "ret" || base == "exit" || base == "trap")) {
    bits = static_cast<uint8_t>(bits | taint[static_cast<size_t>(last.predicate)]);
  }
  return bits;
}

// Registers -> where their values may come from, to the fixed point. What is written on one side of
// a branch depends on what the branch depends on.
std::vector<uint8_t> Propagate(const Function& function, const ptx::ControlFlow& flow) {
  std::vector<uint8_t> taint(function.registers.size(), 0);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Instruction& instruction : function.instructions) {
      if (WritesARegister(instruction)) {
        const uint8_t bits = ResultTaint(instruction, taint);
        changed = (bits != 0 && AddTaint(instruction.operands[0], bits, taint)) || changed;
      }
    }
    for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
      const uint8_t bits = TaintOfBranch(function, flow.blocks[b], taint);
      if (bits == 0) {
        continue;
      }
      for (const uint32_t decided : DecidedBy(flow, b)) {
        for (uint32_t i = flow.blocks[decided].begin; i < flow.blocks[decided].end; ++i) {
          const Instruction& instruction = function.instructions[i];
          changed =
              (WritesARegister(instruction) && AddTaint(instruction.operands[0], bits, taint)) ||
              changed;
        }
      }
    }
  }
  return taint;
}

// Arithmetic, stores and what stays in shared memory; not what reads global memory, changes it
// together with others, waits, or leads elsewhere.
bool OnlyComputesOrStores(std::string_view opcode) {
  const std::string_view base = BaseOf(opcode);
  if (base == "ld" || base == "atom" || base == "red") {
    return IsShared(opcode) || Has(opcode, ".param") || Has(opcode, ".const");
  }
  return base != "ldu" && base != "tex" && base != "call" && base != "bar" && base != "barrier" &&
         base != "mbarrier" && base != "cp" && base != "brx" && base != "trap";
}

// Whether the branch at the end of `block` decides about nothing but arithmetic and stores that
// are done at most once.
bool SkipsOnlyStores(const Function& function, const ptx::ControlFlow& flow, uint32_t block) {
  const std::set<uint32_t> decided = DecidedBy(flow, block);
  if (decided.count(block) != 0) {
    return false;
  }
  for (const uint32_t b : decided) {
    for (uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
      if (!OnlyComputesOrStores(function.instructions[i].opcode)) {
        return false;
      }
    }
    for (const uint32_t next : flow.blocks[b].successors) {
      if (next <= b && decided.count(next) != 0) {
        return false;  // a loop
      }
    }
  }
  return true;
}

void Analyse(const Function& function, BlockDependence& facts) {
  if (function.instructions.empty()) {
    return;  // declared only
  }
  const ptx::ControlFlow flow = ptx::BuildControlFlow(function);
  const std::vector<uint8_t> taint = Propagate(function, flow);
  const auto depend = [&](const Instruction& instruction, const char* why) {
    if (!facts.blocks_depend) {
      facts.blocks_depend = true;
      facts.reason =
          fmt::format("{} at line {} {}", instruction.opcode, instruction.source_line, why);
    }
  };
  for (const Instruction& instruction : function.instructions) {
    if (WaitsForOthers(instruction.opcode)) {
      depend(instruction, "reads what other blocks write");
    }
    uint8_t steered_by = 0;
    if (instruction.predicate >= 0) {
      steered_by = taint[static_cast<size_t>(instruction.predicate)];
    }
    if ((steered_by & kFromAtomic) != 0) {
      depend(instruction, "depends on the result of an atomic");
    }
    bool place_steered = false;
    for (const Operand& operand : instruction.operands) {
      place_steered =
          place_steered || (operand.kind == OperandKind::kAddress && TaintOf(operand, taint) != 0);
    }
    facts.data_steers = facts.data_steers || steered_by != 0 || place_steered;
    facts.steers_more_than_stores = facts.steers_more_than_stores || place_steered ||
                                    (steered_by != 0 && !OnlyComputesOrStores(instruction.opcode));
  }
  for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
    if (TaintOfBranch(function, flow.blocks[b], taint) != 0) {
      facts.data_steers = true;
      facts.steers_more_than_stores =
          facts.steers_more_than_stores || !SkipsOnlyStores(function, flow, b);
    }
  }
}

// Contiguous ids. What is left out lies in equal parts between the groups, half a part at either
// end.
std::vector<uint64_t> RunOf(uint64_t blocks, uint64_t count, uint64_t group, uint64_t groups) {
  std::vector<uint64_t> ids;
  const uint64_t left_out = (blocks - count) / (2 * groups) * (2 * group + 1);
  for (uint64_t i = count * group / groups; i < count * (group + 1) / groups; ++i) {
    ids.push_back(left_out + i);
  }
  return ids;
}

// A box of about `count` blocks: whole rows where they fit, over several planes, or a part of
// several rows. Boxes lie on the grid's diagonal.
std::vector<uint64_t> BoxOf(const Dim3& grid, uint64_t count, uint64_t group, uint64_t groups) {
  const uint64_t planes = std::min<uint64_t>({grid.z, kBoxPlanes, count});
  uint64_t rows = 1;
  uint64_t columns = 1;
  if (grid.z > 1) {
    columns = std::min<uint64_t>(grid.x, count / planes);
    rows = std::min<uint64_t>(grid.y, count / planes / columns);
  } else {
    rows = std::min<uint64_t>({grid.y, kBoxRows, count});
    columns = std::min<uint64_t>(grid.x, count / rows);
  }
  const auto origin = [&](uint64_t extent, uint64_t size) {
    return (extent - size) * (2 * group + 1) / (2 * groups);
  };
  const uint64_t x0 = origin(grid.x, columns);
  const uint64_t y0 = origin(grid.y, rows);
  const uint64_t z0 = origin(grid.z, planes);
  std::vector<uint64_t> ids;
  for (uint64_t z = z0; z < z0 + planes; ++z) {
    for (uint64_t y = y0; y < y0 + rows; ++y) {
      for (uint64_t x = x0; x < x0 + columns; ++x) {
        ids.push_back((z * grid.y + y) * grid.x + x);
      }
    }
  }
  return ids;
}

uint64_t Times(uint64_t count, double factor) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(count) * factor));
}

// The counts that a cache with a memory makes less than linear in the number of blocks.
constexpr uint64_t ptx::Counters::* kCacheCounts[] = {&ptx::Counters::l1_load_sectors,
                                                      &ptx::Counters::l1_load_hits,
                                                      &ptx::Counters::l2_sectors,
                                                      &ptx::Counters::l2_hits,
                                                      &ptx::Counters::l2_read_sectors,
                                                      &ptx::Counters::l2_write_sectors,
                                                      &ptx::Counters::dram_read_bytes,
                                                      &ptx::Counters::dram_write_bytes,
                                                      &ptx::Counters::l2_dirty_bytes_at_end,
                                                      &ptx::Counters::load_requests_from_l2,
                                                      &ptx::Counters::load_requests_from_dram};

}  // namespace

BlockDependence AnalyseDependence(const ptx::Module& module, const std::string& kernel) {
  const Function* entry = module.FindKernel(kernel);
  OPTIML_CHECK(entry != nullptr, "the kernel was looked up before");
  BlockDependence facts;
  facts.instructions = entry->instructions.size();
  Analyse(*entry, facts);
  for (const Function& function : module.functions) {
    if (!function.is_entry) {
      Analyse(function, facts);
    }
  }
  return facts;
}

BlockSample ChooseBlocks(const Dim3& grid, uint64_t count) {
  const uint64_t blocks = grid.Count();
  OPTIML_CHECK(count > 0 && blocks > 0, "a sample has blocks");
  count = std::min(count, blocks);
  const uint64_t groups = std::clamp<uint64_t>(count / kMinGroupBlocks, 1, kGroups);
  const uint64_t of_group = count / groups;
  const bool in_boxes = count < blocks && (grid.z > 1 || (grid.y > 1 && of_group < 2ull * grid.x));
  BlockSample sample;
  std::set<uint64_t> seen;
  for (uint64_t group = 0; group < groups; ++group) {
    std::vector<uint64_t> ids =
        in_boxes ? BoxOf(grid, of_group, group, groups) : RunOf(blocks, count, group, groups);
    // Boxes may overlap in grids that are hardly larger than the sample.
    std::erase_if(ids, [&](uint64_t id) { return !seen.insert(id).second; });
    sample.all.insert(sample.all.end(), ids.begin(), ids.end());
    sample.first_half.insert(sample.first_half.end(), ids.begin(),
                             ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2));
  }
  return sample;
}

BlockSample WithHalvesBeside(BlockSample sample, const Dim3& grid) {
  const std::set<uint64_t> taken(sample.all.begin(), sample.all.end());
  const uint64_t blocks = grid.Count();
  std::vector<uint64_t> beside;
  uint64_t next = 0;
  for (const uint64_t id : sample.first_half) {
    // The next free one: ids of a group are neighbours, or the rows of a box.
    next = std::max(next, id);
    while (taken.count(next) != 0) {
      ++next;
    }
    if (next >= blocks) {
      return sample;
    }
    beside.push_back(next++);
  }
  sample.first_half = std::move(beside);
  return sample;
}

ptx::Counters Scaled(const ptx::Counters& counters, double factor) {
  ptx::Counters s = counters;
  const auto scale = [factor](uint64_t& count) { count = Times(count, factor); };
  for (uint64_t* count : {&s.blocks_run, &s.warps_run, &s.threads_run, &s.warp_instructions,
                          &s.thread_instructions, &s.branches, &s.divergent_branches, &s.barriers,
                          &s.const_load_requests, &s.global_load_rounds, &s.longest_warp_work}) {
    scale(*count);
  }
  for (size_t i = 0; i < ptx::kInstructionClasses; ++i) {
    scale(s.thread_by_class[i]);
    scale(s.warp_by_class[i]);
  }
  for (ptx::RequestCounts* requests :
       {&s.global_load, &s.global_store, &s.local_load, &s.local_store}) {
    scale(requests->requests);
    scale(requests->sectors);
    scale(requests->lane_bytes);
    scale(requests->lines);
    scale(requests->wavefronts);
  }
  for (ptx::SharedCounts* shared : {&s.shared_load, &s.shared_store}) {
    scale(shared->requests);
    scale(shared->wavefronts);
    scale(shared->conflicts);
  }
  for (ptx::AtomicCounts* atomics : {&s.global_atomic, &s.shared_atomic}) {
    scale(atomics->requests);
    scale(atomics->sectors);
    scale(atomics->lanes);
    scale(atomics->serialised);
    scale(atomics->returning);
    scale(atomics->rounds);
    scale(atomics->busiest_float_sector_rounds);
    scale(atomics->busiest_piece_rounds);
  }
  for (const auto member : kCacheCounts) {
    scale(s.*member);
  }
  for (ptx::LineCounts& line : s.lines) {
    scale(line.warp_instructions);
    scale(line.thread_instructions);
  }
  return s;
}

ptx::Counters Extrapolated(const ptx::Counters& half, const ptx::Counters& all) {
  if (all.blocks_run == 0 || all.blocks_run >= all.blocks_in_grid) {
    return all;
  }
  const auto run = static_cast<double>(all.blocks_run);
  const auto grid = static_cast<double>(all.blocks_in_grid);
  ptx::Counters whole = Scaled(all, grid / run);
  if (half.blocks_run == 0 || half.blocks_run >= all.blocks_run) {
    return whole;
  }
  const auto added_blocks = static_cast<double>(all.blocks_run - half.blocks_run);
  for (const auto member : kCacheCounts) {
    const uint64_t added = all.*member - std::min(half.*member, all.*member);
    whole.*member = all.*member + Times(added, (grid - run) / added_blocks);
  }
  return whole;
}

}  // namespace optiml
