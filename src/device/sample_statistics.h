#ifndef OPTIML_DEVICE_SAMPLE_STATISTICS_H_
#define OPTIML_DEVICE_SAMPLE_STATISTICS_H_

// Medians of measured times and how sure they are: percentile bootstrap (Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993, section 13.3) with a generator of fixed seed, so that equal
// samples give equal intervals.

#include <span>

#include "device/device.h"

namespace optiml {

struct Interval {
  double median = 0;
  double low = 0;   // 2.5 %
  double high = 0;  // 97.5 %
};

// REQUIRES: !samples.empty()
double MedianOf(std::span<const double> samples);
Interval MedianInterval(std::span<const double> samples);

// The times of `candidate` and `incumbent` that were taken in turn, pair by pair: incumbent over
// candidate, so above 1 is faster. Drift of the clocks is in both of a pair. REQUIRES: as many of
// each, at least one
Gain GainOf(std::span<const double> candidate, std::span<const double> incumbent);

}  // namespace optiml

#endif  // OPTIML_DEVICE_SAMPLE_STATISTICS_H_
