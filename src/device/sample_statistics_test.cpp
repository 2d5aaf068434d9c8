#include "device/sample_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace optiml {
namespace {

// Times around `median`, spread like those of a kernel: a few percent, skewed to the long side.
std::vector<double> Noisy(double median, size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> samples;
  for (size_t i = 0; i < count; ++i) {
    const double u = rng.NextUnit() + rng.NextUnit() + rng.NextUnit() - 1.5;
    samples.push_back(median * std::exp(0.01 * u));
  }
  return samples;
}

TEST(SampleStatistics, MediansOfEvenAndOddCounts) {
  EXPECT_EQ(MedianOf(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(MedianOf(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(MedianOf(std::vector<double>{7}), 7);
}

TEST(SampleStatistics, TheIntervalHoldsTheMedianInNineteenOfTwentyDraws) {
  int held = 0;
  for (uint64_t draw = 0; draw < 200; ++draw) {
    const Interval interval = MedianInterval(Noisy(1, 41, 100 + draw));
    EXPECT_LE(interval.low, interval.median);
    EXPECT_GE(interval.high, interval.median);
    held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 182);  // 190 expected, three deviations are 9
}

TEST(SampleStatistics, EqualSamplesGiveEqualIntervals) {
  const std::vector<double> samples = Noisy(1, 31, 5);
  EXPECT_EQ(MedianInterval(samples).low, MedianInterval(samples).low);
}

TEST(SampleStatistics, AGainIsOfPairsSoThatDriftCancels) {
  std::vector<double> candidate = Noisy(1, 41, 1);
  std::vector<double> incumbent = Noisy(1.03, 41, 2);
  for (size_t i = 0; i < candidate.size(); ++i) {
    const double drift = 1 + 0.5 * static_cast<double>(i) / 41;
    candidate[i] *= drift;
    incumbent[i] *= drift;
  }
  const Gain gain = GainOf(candidate, incumbent);
  EXPECT_NEAR(gain.ratio, 1.03, 0.01);
  EXPECT_GT(gain.low, 1);
}

TEST(SampleStatistics, EqualTimesAreNoGain) {
  int false_gains = 0;
  for (uint64_t draw = 0; draw < 100; ++draw) {
    const Gain gain = GainOf(Noisy(1, 41, 1000 + draw), Noisy(1, 41, 5000 + draw));
    false_gains += gain.low > 1 ? 1 : 0;
  }
  EXPECT_LE(false_gains, 8);  // 2.5 expected of one measurement; a verdict asks for two
}

}  // namespace
}  // namespace optiml
