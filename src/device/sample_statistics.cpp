#include "device/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace optiml {
namespace {

constexpr int kResamples = 1000;
constexpr uint64_t kSeed = 20260212;

// Of a sorted range, between its elements.
double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

double MedianInPlace(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

double MedianOf(std::span<const double> samples) {
  OPTIML_CHECK(!samples.empty(), "a median is of something");
  std::vector<double> values(samples.begin(), samples.end());
  return MedianInPlace(values);
}

Interval MedianInterval(std::span<const double> samples) {
  Interval interval;
  interval.median = MedianOf(samples);
  Rng rng(kSeed);
  std::vector<double> medians;
  std::vector<double> resample(samples.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : resample) {
      value = samples[rng.NextBelow(samples.size())];
    }
    medians.push_back(MedianInPlace(resample));
  }
  std::sort(medians.begin(), medians.end());
  interval.low = Quantile(medians, 0.025);
  interval.high = Quantile(medians, 0.975);
  return interval;
}

Gain GainOf(std::span<const double> candidate, std::span<const double> incumbent) {
  OPTIML_CHECK(candidate.size() == incumbent.size(), "times were taken in pairs");
  std::vector<double> ratios;
  for (size_t i = 0; i < candidate.size(); ++i) {
    ratios.push_back(incumbent[i] / candidate[i]);
  }
  const Interval interval = MedianInterval(ratios);
  return {interval.median, interval.low, interval.high};
}

}  // namespace optiml
