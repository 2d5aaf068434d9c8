#include "ptx/address_patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace optiml::ptx {
namespace {

using Addresses = std::array<uint64_t, kLanes>;

bool InPairs(const Addresses& at, uint32_t mask) {
  for (const uint32_t apart : {1u, 2u}) {
    bool same = true;
    for (uint32_t l = 0; l < kLanes; ++l) {
      const bool both = ((mask >> l) & (mask >> (l ^ apart)) & 1) != 0;
      same = same && (!both || at[l] == at[l ^ apart]);
    }
    if (same) {
      return true;
    }
  }
  return false;
}

// The same counts from sets of places.
PatternCounts Reference(const Addresses& at, uint32_t mask, uint32_t bytes) {
  PatternCounts counts;
  std::set<uint64_t> sectors;
  std::set<uint64_t> lines;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((mask >> l) & 1) != 0) {
      sectors.insert(at[l] / 32);
      lines.insert(at[l] / 128);
    }
  }
  counts.sectors = static_cast<uint32_t>(sectors.size());
  counts.lines = static_cast<uint32_t>(lines.size());
  const uint32_t narrow = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  for (uint32_t begin = 0, lanes = 0; begin < kLanes; begin += lanes) {
    const auto part = [&](uint32_t count) {
      return mask & static_cast<uint32_t>(((uint64_t{1} << count) - 1) << begin);
    };
    const bool wide = narrow < 32 && begin % (2 * narrow) == 0 && InPairs(at, part(2 * narrow));
    lanes = wide ? 2 * narrow : narrow;
    std::map<uint64_t, std::set<uint64_t>> words;
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint64_t word = at[l] / 4; ((part(lanes) >> l) & 1) != 0 && word * 4 < at[l] + bytes;
           ++word) {
        words[word % 32].insert(word);
      }
    }
    size_t most = 0;
    for (const auto& [bank, distinct] : words) {
      most = std::max(most, distinct.size());
    }
    counts.wavefronts += static_cast<uint32_t>(most);
    counts.ideal += part(lanes) != 0 ? 1 : 0;
  }
  return counts;
}

void ExpectCounts(Worker& worker, MemorySite& site, const Addresses& at, uint32_t mask,
                  uint32_t bytes) {
  const uint64_t first = at[static_cast<size_t>(std::countr_zero(mask))];
  const PatternCounts counts = CountPattern(worker, site, first, bytes);
  const PatternCounts expected = Reference(at, mask, bytes);
  EXPECT_EQ(counts.sectors, expected.sectors);
  EXPECT_EQ(counts.lines, expected.lines);
  EXPECT_EQ(counts.wavefronts, expected.wavefronts);
  EXPECT_EQ(counts.ideal, expected.ideal);
}

TEST(AddressPatterns, AreCountedAsSetsOfPlaces) {
  std::mt19937 random(17);
  Worker worker;
  for (int round = 0; round < 4000; ++round) {
    const uint32_t bytes = 1u << random() % 5;
    const uint64_t span = uint64_t{1} << (5 + random() % 18);
    const uint32_t mask = round % 3 == 0 ? kAllLanes : static_cast<uint32_t>(random()) | 1u << 7;
    const uint64_t stride = uint64_t{bytes} << random() % 8;
    Addresses at{};
    for (uint32_t l = 0; l < kLanes; ++l) {
      at[l] = 0x200000000 + (round % 2 == 0 ? random() % span : l * stride) / bytes * bytes;
    }
    MemorySite site;
    ASSERT_TRUE(RecordPattern(site, at.data(), mask));
    ExpectCounts(worker, site, at, mask, bytes);
    // The list of lines, and the same distances at other addresses.
    PatternLines(worker, site, at[static_cast<size_t>(std::countr_zero(mask))], bytes);
    EXPECT_EQ(site.line_count, Reference(at, mask, bytes).lines);
    for (int move = 0; move < 4; ++move) {
      const uint64_t by = random() % 64 * bytes;
      for (uint64_t& one : at) {
        one += by;
      }
      ExpectCounts(worker, site, at, mask, bytes);
    }
    if (HasFailure()) {
      FAIL() << "round " << round << " bytes " << bytes << " mask " << mask;
    }
  }
}

TEST(AddressPatterns, KnowLanesAtOneAddress) {
  Worker worker;
  Addresses at{};
  for (uint32_t l = 0; l < kLanes; ++l) {
    at[l] = 4096 + (kLanes - l) * 64;
  }
  MemorySite site;
  ASSERT_TRUE(RecordPattern(site, at.data(), kAllLanes));
  CountPattern(worker, site, at[0], 4);
  EXPECT_FALSE(site.duplicates);
  at[9] = at[30];
  ASSERT_TRUE(RecordPattern(site, at.data(), kAllLanes));
  CountPattern(worker, site, at[0], 4);
  EXPECT_TRUE(site.duplicates);
  site.duplicates = false;
  BuildRuns(site, 4);
  EXPECT_TRUE(site.duplicates);
}

}  // namespace
}  // namespace optiml::ptx
