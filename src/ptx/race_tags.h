#ifndef OPTIML_PTX_RACE_TAGS_H_
#define OPTIML_PTX_RACE_TAGS_H_

// What the race check of global memory (global_races.h) keeps for each granule, and what an access
// compares it with. Internal to the global_races*.cpp.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/global_races.h"

namespace optiml::ptx {

// A tag is who touched a granule last: thread of the block (10 bits), stamp (22), unit (29), and
// what the access was. 0: nobody.
inline constexpr uint32_t kStampShift = 10;
inline constexpr uint32_t kUnitShift = 32;
inline constexpr uint64_t kUnitMask = (uint64_t{1} << 29) - 1;
inline constexpr uint64_t kTagCompareAndSwap = uint64_t{1} << 61;
inline constexpr uint64_t kTagBlockScope = uint64_t{1} << 62;
inline constexpr uint32_t kStampMask = (1u << 22) - 1;

inline uint32_t ThreadOf(uint64_t tag) {
  return static_cast<uint32_t>(tag) & 1023;
}
inline uint32_t WarpOf(uint64_t tag) {
  return ThreadOf(tag) / kLanes;
}
inline uint32_t StampOf(uint64_t tag) {
  return static_cast<uint32_t>(tag >> kStampShift) & kStampMask;
}
inline uint32_t UnitOf(uint64_t tag) {
  return static_cast<uint32_t>((tag >> kUnitShift) & kUnitMask);
}

struct GlobalRaces::Cell {
  uint64_t write = 0;
  uint64_t read = 0;
  uint64_t read2 = 0;  // a second reader
  // Instructions of the last of each, for messages.
  uint32_t write_instruction = 0;
  uint32_t read_instruction = 0;
};

// The same of atomics and volatile accesses.
struct GlobalRaces::StrongCell {
  uint64_t write = 0;  // whoever wrote later has seen the earlier ones
  uint64_t read = 0;
  uint32_t write_fence = 0;  // stamp of the writer's last fence; 0: none
  uint32_t write_instruction = 0;
  uint32_t read_instruction = 0;
};

// One tag for granules of a row: those of the mask, where granule i was touched by
// lane + (i >> shift) and the tag names the lane.
struct GlobalRaces::RowTag {
  uint64_t tag = 0;
  uint32_t mask = 0;
  uint32_t shift = 0;

  uint64_t At(uint32_t i) const {
    constexpr uint64_t kLaneMask = kLanes - 1;
    return ((mask >> i) & 1) == 0 ? 0 : (tag & ~kLaneMask) | ((tag + (i >> shift)) & kLaneMask);
  }
  // Whether the granules that both name, if any, were touched by the same threads.
  bool SameThreads(const RowTag& other) const {
    return (mask & other.mask) == 0 || (tag == other.tag && shift == other.shift);
  }
  // Takes in the granules of `other`; false when one tag cannot say both.
  bool Merge(const RowTag& other) {
    if ((mask & ~other.mask) == 0) {
      *this = other;
      return true;
    }
    if (tag != other.tag || shift != other.shift) {
      return false;
    }
    mask |= other.mask;
    return true;
  }
};

// 32 granules. As long as one tag of each kind says all, stores and loads have no cells; each gets
// its own when that ends, for most rows are only stored to or only loaded from.
struct GlobalRaces::Row {
  static constexpr uint32_t kCells = 32;
  struct StoreCells {
    std::array<uint64_t, kCells> write{};
    std::array<uint32_t, kCells> instruction{};
    void Put(uint32_t i, const Cell& cell) {
      write[i] = cell.write;
      instruction[i] = cell.write_instruction;
    }
  };
  struct LoadCells {
    std::array<uint64_t, kCells> read{};
    std::array<uint64_t, kCells> read2{};
    std::array<uint32_t, kCells> instruction{};
    void Put(uint32_t i, const Cell& cell) {
      read[i] = cell.read;
      read2[i] = cell.read2;
      instruction[i] = cell.read_instruction;
    }
  };
  RowTag write;
  RowTag read;
  RowTag read2;
  uint32_t write_instruction = 0;
  uint32_t read_instruction = 0;
  // Not null: the tags of each, in the place of the above.
  std::unique_ptr<StoreCells> stores;
  std::unique_ptr<LoadCells> loads;

  Cell At(uint32_t i) const {
    Cell cell{write.At(i), read.At(i), read2.At(i), write_instruction, read_instruction};
    if (stores != nullptr) {
      cell.write = stores->write[i];
      cell.write_instruction = stores->instruction[i];
    }
    if (loads != nullptr) {
      cell.read = loads->read[i];
      cell.read2 = loads->read2[i];
      cell.read_instruction = loads->instruction[i];
    }
    return cell;
  }
  // REQUIRES: the kind has no cells
  template <class Cells>
  void Expand(std::unique_ptr<Cells>& kind) {
    auto cells = std::make_unique<Cells>();
    for (uint32_t i = 0; i < kCells; ++i) {
      cells->Put(i, At(i));
    }
    kind = std::move(cells);
  }
};

struct GlobalRaces::Page {
  static constexpr uint32_t kCells = 1024;
  std::array<Row, kCells / Row::kCells> rows;
  std::unique_ptr<std::array<StrongCell, kCells>> strong;  // null: none yet
};

struct GlobalRaces::Shadow {
  std::vector<std::unique_ptr<Page>> pages;
};

// What one access compares a granule's tags with.
struct GlobalRaces::Accessor {
  uint64_t tag = 0;  // with lane 0
  uint64_t floor = 0;
  uint32_t warp = 0;
  uint32_t fence = 0;  // stamp of the warp's last fence
  bool lanes_matter = false;
  bool strong = false;
  bool stores = false;

  // Whether the other access may be unordered: it is neither this thread's nor older than the
  // block's last barrier.
  bool Suspects(uint64_t other, uint32_t lane) const {
    if (other == 0) {
      return false;
    }
    if (UnitOf(other) != UnitOf(tag)) {
      return true;
    }
    return (other & ~(kTagBlockScope | kTagCompareAndSwap)) >= floor &&
           (WarpOf(other) != warp || (lanes_matter && ThreadOf(other) % kLanes != lane));
  }
  bool Suspects(const Cell& cell, uint32_t lane) const {
    return Suspects(cell.write, lane) ||
           (stores && (Suspects(cell.read, lane) || Suspects(cell.read2, lane)));
  }
  // Whether this reader is kept beside another one: the first of those that are not ordered stays.
  bool IsSecond(const Cell& cell, uint32_t lane) const {
    return WarpOf(cell.read) != warp && Suspects(cell.read, lane);
  }
  // Whether any granule of `mine` may be unordered with what the row's tags say.
  // REQUIRES: the kinds of tags that matter to the access have no cells
  bool Suspects(const Row& row, const RowTag& mine) const {
    const auto suspects = [&](const RowTag& other) {
      return (other.mask & mine.mask) != 0 &&
             (Suspects(other.tag, static_cast<uint32_t>(mine.tag) % kLanes) ||
              (lanes_matter && other.shift != mine.shift));
    };
    return suspects(row.write) || (stores && (suspects(row.read) || suspects(row.read2)));
  }
  bool Suspects(const StrongCell& cell, uint32_t lane) const {
    return Suspects(cell.write, lane) || (stores && Suspects(cell.read, lane));
  }
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_RACE_TAGS_H_
