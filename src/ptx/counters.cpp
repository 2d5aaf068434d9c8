#include "ptx/counters.h"

#include <algorithm>
#include <array>

namespace optiml::ptx {
namespace {

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void Add(RequestCounts& a, const RequestCounts& b) {
  a.requests += b.requests;
  a.sectors += b.sectors;
  a.lane_bytes += b.lane_bytes;
  a.lines += b.lines;
  a.wavefronts += b.wavefronts;
}

void Add(SharedCounts& a, const SharedCounts& b) {
  a.requests += b.requests;
  a.wavefronts += b.wavefronts;
  a.conflicts += b.conflicts;
}

void Add(CopyCounts& a, const CopyCounts& b) {
  a.requests += b.requests;
  a.bytes += b.bytes;
}

void Add(AtomicCounts& a, const AtomicCounts& b) {
  a.requests += b.requests;
  a.sectors += b.sectors;
  a.lanes += b.lanes;
  a.serialised += b.serialised;
  a.returning += b.returning;
  a.rounds += b.rounds;
  a.busiest_float_sector_rounds += b.busiest_float_sector_rounds;
  a.busiest_piece_rounds += b.busiest_piece_rounds;
  a.pieces = std::max(a.pieces, b.pieces);
}

}  // namespace

std::string_view InstructionClassName(InstructionClass instruction_class) {
  static constexpr std::array<std::string_view, kInstructionClasses> kNames{"fp32 add",
                                                                            "fp32 other",
                                                                            "fp32 mul",
                                                                            "fp32 fma",
                                                                            "fp64",
                                                                            "fp16",
                                                                            "integer",
                                                                            "integer64",
                                                                            "special function",
                                                                            "fp32 division",
                                                                            "fp32 reciprocal",
                                                                            "fp32 root",
                                                                            "division",
                                                                            "conversion",
                                                                            "move",
                                                                            "control",
                                                                            "warp",
                                                                            "global load",
                                                                            "global store",
                                                                            "shared load",
                                                                            "shared store",
                                                                            "local load",
                                                                            "local store",
                                                                            "const load",
                                                                            "global atomic",
                                                                            "shared atomic",
                                                                            "matrix",
                                                                            "other"};
  return kNames[static_cast<size_t>(instruction_class)];
}

double Counters::LoadsInFlight() const {
  return Ratio(warp_by_class[static_cast<size_t>(InstructionClass::kLoadGlobal)],
               global_load_rounds);
}

double Counters::GlobalLoadSectorsPerRequest() const {
  return Ratio(global_load.sectors, global_load.requests);
}

double Counters::GlobalStoreSectorsPerRequest() const {
  return Ratio(global_store.sectors, global_store.requests);
}

double Counters::ThreadsPerInstruction() const {
  return Ratio(thread_instructions, warp_instructions);
}

double Counters::L1HitRatio() const {
  return Ratio(l1_load_hits, l1_load_sectors);
}

double Counters::L2HitRatio() const {
  return Ratio(l2_hits, l2_sectors);
}

Counters& Counters::operator+=(const Counters& other) {
  blocks_in_grid += other.blocks_in_grid;
  blocks_run += other.blocks_run;
  warps_run += other.warps_run;
  threads_run += other.threads_run;
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  for (size_t i = 0; i < kInstructionClasses; ++i) {
    thread_by_class[i] += other.thread_by_class[i];
    warp_by_class[i] += other.warp_by_class[i];
  }
  branches += other.branches;
  divergent_branches += other.divergent_branches;
  barriers += other.barriers;
  Add(global_load, other.global_load);
  Add(global_store, other.global_store);
  Add(local_load, other.local_load);
  Add(local_store, other.local_store);
  Add(shared_load, other.shared_load);
  Add(shared_store, other.shared_store);
  Add(async_copy, other.async_copy);
  Add(bulk_copy, other.bulk_copy);
  Add(cluster_load, other.cluster_load);
  Add(cluster_store, other.cluster_store);
  Add(global_atomic, other.global_atomic);
  Add(shared_atomic, other.shared_atomic);
  const_load_requests += other.const_load_requests;
  cache_modelled = cache_modelled || other.cache_modelled;
  l1_load_sectors += other.l1_load_sectors;
  l1_load_hits += other.l1_load_hits;
  l2_sectors += other.l2_sectors;
  l2_hits += other.l2_hits;
  l2_read_sectors += other.l2_read_sectors;
  l2_write_sectors += other.l2_write_sectors;
  dram_read_bytes += other.dram_read_bytes;
  dram_write_bytes += other.dram_write_bytes;
  l2_dirty_bytes_at_end += other.l2_dirty_bytes_at_end;
  load_requests_from_l2 += other.load_requests_from_l2;
  load_requests_from_dram += other.load_requests_from_dram;
  global_load_rounds += other.global_load_rounds;
  longest_warp_work += other.longest_warp_work;
  longest_block_work =
      std::max(longest_block_work, other.longest_block_work);
  for (const LineCounts& line : other.lines) {
    const auto it = std::lower_bound(lines.begin(), lines.end(), line.line,
                                     [](const LineCounts& l, int32_t v) { return l.line < v; });
    if (it != lines.end() && it->line == line.line) {
      it->warp_instructions += line.warp_instructions;
      it->thread_instructions += line.thread_instructions;
    } else {
      lines.insert(it, line);
    }
  }
  return *this;
}

}  // namespace optiml::ptx
