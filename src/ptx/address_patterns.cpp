#include "ptx/address_patterns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

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
  site.ForgetCounts();
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
  site.duplicates = false;
  for (size_t i = 0; i < count; ++i) {
    const auto [distance, lane] = starts[i];
    if (runs > 0) {
      const int32_t end = site.run_distance[runs - 1] + site.run_bytes[runs - 1];
      if (distance < end) {
        site.duplicates = true;
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

namespace {

// Bits by column over many rows, as binary digits that lie across the rows.
class Columns {
 public:
  void Add(uint32_t row) {
    for (uint32_t d = 0; row != 0; ++d) {
      const uint32_t sum = digits_[d] ^ row;
      row &= digits_[d];
      digits_[d] = sum;
    }
  }
  uint32_t Most() const {
    uint32_t most = 0;
    uint32_t columns = ~0u;
    for (uint32_t d = kDigits; d-- > 0;) {
      if ((digits_[d] & columns) != 0) {
        columns &= digits_[d];
        most |= 1u << d;
      }
    }
    return most;
  }

 private:
  static constexpr uint32_t kDigits = 7;  // of the 64 rows that lanes can touch
  uint32_t digits_[kDigits] = {};
};

// std::popcount is a call where the instruction may be missing.
uint32_t CountBits(uint32_t x) {
  x -= (x >> 1) & 0x55555555;
  x = (x & 0x33333333) + ((x >> 2) & 0x33333333);
  return (((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}

// The words that a pattern touches, as a mask for each 128-byte line: a line is a row of the 32
// banks.
class Rows {
 public:
  Rows(Worker& worker, const MemorySite& site, uint64_t address, uint32_t bytes)
      : site_(site), address_(address), lane_words_(bytes <= 4 ? 1 : (1u << (bytes / 4)) - 1) {
    const uint64_t lowest = At(address, site.min_distance) >> 7;
    const uint64_t span = (At(address, site.max_distance) >> 7) - lowest;
    if (span < kMost) {
      for (uint32_t m = site.mask; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        row_of_[lane] = static_cast<uint8_t>((At(address, site.distance[lane]) >> 7) - lowest);
      }
      count_ = static_cast<uint32_t>(span) + 1;
    } else {
      FindRows(worker);
    }
    for (uint32_t i = 0; i < count_; ++i) {
      words_[i] = 0;
    }
  }

  // Adds the words of these lanes; returns the most distinct ones in a bank.
  uint32_t AddPhase(uint32_t mask) {
    uint32_t phase[kMost];
    for (uint32_t i = 0; i < count_; ++i) {
      phase[i] = 0;
    }
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      phase[row_of_[lane]] |= lane_words_ << (Word(lane) % 32);
    }
    Columns columns;
    for (uint32_t i = 0; i < count_; ++i) {
      if (phase[i] != 0) {
        words_[i] |= phase[i];
        columns.Add(phase[i]);
      }
    }
    return columns.Most();
  }
  // Adds up lines and sectors; returns the distinct words.
  uint32_t CountTouched(PatternCounts& counts) const {
    uint32_t words = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t row = words_[i];
      if (row == 0) {
        continue;
      }
      ++counts.lines;
      words += CountBits(row);
      // One bit for each byte of the mask, which stands for 8 words.
      uint32_t bits = row | (row >> 4);
      bits |= bits >> 2;
      bits |= bits >> 1;
      counts.sectors += ((bits & 0x01010101) * 0x01010101) >> 24;
    }
    return words;
  }

 private:
  static constexpr uint32_t kMost = 64;

  uint32_t Word(int lane) const {
    return static_cast<uint32_t>(At(address_, site_.distance[lane]) >> 2);
  }
  // Of lanes far apart.
  void FindRows(Worker& worker) {
    Distinct distinct(worker);
    uint64_t last = ~uint64_t{0};
    uint8_t row = 0;
    for (uint32_t m = site_.mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const uint64_t line = At(address_, site_.distance[lane]) >> 7;
      if (line != last) {
        uint32_t slot = 0;
        if (distinct.Add(line, slot)) {
          worker.scratch_slot[slot] = static_cast<uint8_t>(count_++);
        }
        row = worker.scratch_slot[slot];
        last = line;
      }
      row_of_[lane] = row;
    }
  }

  const MemorySite& site_;
  uint64_t address_;
  uint32_t lane_words_;
  uint32_t count_ = 0;  // rows in use
  uint8_t row_of_[kLanes];
  uint32_t words_[kMost];
};

// What of the address decides how the pattern falls into sectors and lines.
uint32_t CountPhase(const MemorySite& site, uint64_t address) {
  const uint32_t matters = (site.distance_bits & 127) == 0  ? 0
                           : (site.distance_bits & 31) == 0 ? 96
                                                            : 127;
  return static_cast<uint32_t>(address) & matters;
}

// Apart from CountPattern, which is short where the counts are known.
__attribute__((noinline)) PatternCounts CountAnew(Worker& worker, MemorySite& site,
                                                  uint64_t address, uint32_t bytes) {
  const uint32_t phase = CountPhase(site, address);
  const auto word = static_cast<uint32_t>(address & 3);
  Rows rows(worker, site, address, bytes);
  PatternCounts counts;
  const auto mask_of = [&](uint32_t begin, uint32_t lanes) {
    return site.mask & (lanes == 32 ? kAllLanes : ((1u << lanes) - 1) << begin);
  };
  const uint32_t narrow = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  for (uint32_t begin = 0, lanes = 0; begin < kLanes; begin += lanes) {
    lanes = narrow;
    if (narrow < 32 && begin % (2 * narrow) == 0 &&
        ReadsInPairs(site, mask_of(begin, 2 * narrow))) {
      lanes = 2 * narrow;
    }
    const uint32_t phase_mask = mask_of(begin, lanes);
    if (phase_mask != 0) {
      ++counts.ideal;
      counts.wavefronts += rows.AddPhase(phase_mask);
    }
  }
  const uint32_t words = rows.CountTouched(counts);
  if (bytes >= 4) {
    site.duplicates = words < CountBits(site.mask) * (bytes / 4);
  }
  site.phases_known[phase / 64] |= uint64_t{1} << (phase % 64);
  site.phase_sectors[phase] = static_cast<uint8_t>(counts.sectors);
  site.phase_lines[phase] = static_cast<uint8_t>(counts.lines);
  site.wavefronts_known = static_cast<uint8_t>(site.wavefronts_known | (1u << word));
  site.wavefronts[word] = static_cast<int16_t>(counts.wavefronts);
  site.ideal = static_cast<int16_t>(counts.ideal);
  return counts;
}

}  // namespace

PatternCounts CountPattern(Worker& worker, MemorySite& site, uint64_t address, uint32_t bytes) {
  const uint32_t phase = CountPhase(site, address);
  const auto word = static_cast<uint32_t>(address & 3);
  if (((site.phases_known[phase / 64] >> (phase % 64)) & (site.wavefronts_known >> word) & 1) !=
      0) {
    return {site.phase_sectors[phase], site.phase_lines[phase],
            static_cast<uint32_t>(site.wavefronts[word]), static_cast<uint32_t>(site.ideal)};
  }
  return CountAnew(worker, site, address, bytes);
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

}  // namespace optiml::ptx
