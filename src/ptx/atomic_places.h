#ifndef OPTIML_PTX_ATOMIC_PLACES_H_
#define OPTIML_PTX_ATOMIC_PLACES_H_

// AtomicPlaces: where the atomics of a launch fall. L2 takes one address of a sector at a time, and
// a slice of L2 holds 512 bytes that lie together (both measured: docs/time_model.md), so what an
// atomic costs depends on the busiest sector and the busiest piece, and on how many pieces share
// the work.
//
// Plain counts by a hash of the place: sums of several workers' tables do not depend on which
// worker met which atomic. Places that share an entry look busier than they are; with thousands of
// entries that only happens where the work is spread too far for it to matter.

#include <cstdint>
#include <vector>

#include "ptx/counters.h"

namespace optiml::ptx {

inline constexpr uint32_t kSectorShift = 5;       // 32 bytes
inline constexpr uint32_t kL2PieceShift = 9;      // 512 bytes
inline constexpr uint32_t kSectorEntryBits = 14;  // of the table of sectors
inline constexpr uint32_t kPieceEntryBits = 12;

class AtomicPlaces {
 public:
  // One request's lanes in one sector: `rounds` of them meet on its busiest address.
  void Add(uint64_t sector, uint32_t rounds, bool floating) {
    if (pieces_.empty()) {
      Allocate();
    }
    if (floating) {
      float_sectors_[Entry(sector, kSectorEntryBits)] += rounds;
    }
    pieces_[Entry(sector >> (kL2PieceShift - kSectorShift), kPieceEntryBits)] += rounds;
  }
  AtomicPlaces& operator+=(const AtomicPlaces& other);
  // Sets the fields of `counts` that tell of places.
  void Summarise(AtomicCounts& counts) const;

 private:
  static uint32_t Entry(uint64_t place, uint32_t bits) {
    return static_cast<uint32_t>((place * 0x9e3779b97f4a7c15ULL) >> (64 - bits));
  }
  void Allocate();

  // Rounds by entry; empty until there is an atomic.
  std::vector<uint64_t> float_sectors_;  // of floating-point numbers alone
  std::vector<uint64_t> pieces_;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ATOMIC_PLACES_H_
