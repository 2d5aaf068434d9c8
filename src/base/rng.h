#ifndef OPTIML_BASE_RNG_H_
#define OPTIML_BASE_RNG_H_

// Rng: a small seeded generator with the same numbers on every machine and library (std
// distributions differ between libraries). RandomAt is counter based: element i of a seeded array
// needs no earlier element, so arrays are filled in any order. Mixing function: SplitMix64 (Steele,
// Lea, Flood: "Fast splittable pseudorandom number generators", 2014).

#include <cstdint>

namespace optiml {

// 64 uniform bits for (seed, index).
constexpr uint64_t RandomAt(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// 53 random bits as a double in [0, 1).
constexpr double ToUnit(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

class Rng {
 public:
  explicit Rng(uint64_t seed) : seed_(seed) {}
  uint64_t Next() { return RandomAt(seed_, count_++); }
  double NextUnit() { return ToUnit(Next()); }
  // Uniform in [0, bound). REQUIRES: bound > 0
  uint64_t NextBelow(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }
  // The state, for a run that resumes: Rng(seed) with count() calls made.
  uint64_t count() const { return count_; }
  void SkipTo(uint64_t count) { count_ = count; }

 private:
  uint64_t seed_;
  uint64_t count_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_BASE_RNG_H_
