#include "ptx/atomic_places.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace optiml::ptx {
namespace {

void AddEach(std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
}

uint64_t Most(const std::vector<uint64_t>& rounds) {
  return rounds.empty() ? 0 : *std::max_element(rounds.begin(), rounds.end());
}

}  // namespace

void AtomicPlaces::Allocate() {
  float_sectors_.resize(size_t{1} << kSectorEntryBits);
  pieces_.resize(size_t{1} << kPieceEntryBits);
}

AtomicPlaces& AtomicPlaces::operator+=(const AtomicPlaces& other) {
  if (other.pieces_.empty()) {
    return *this;
  }
  if (pieces_.empty()) {
    Allocate();
  }
  AddEach(float_sectors_, other.float_sectors_);
  AddEach(pieces_, other.pieces_);
  return *this;
}

void AtomicPlaces::Summarise(AtomicCounts& counts) const {
  counts.rounds = std::accumulate(pieces_.begin(), pieces_.end(), uint64_t{0});
  counts.busiest_float_sector_rounds = Most(float_sectors_);
  counts.busiest_piece_rounds = Most(pieces_);
  counts.pieces = static_cast<uint64_t>(
      std::count_if(pieces_.begin(), pieces_.end(), [](uint64_t rounds) { return rounds != 0; }));
}

}  // namespace optiml::ptx
