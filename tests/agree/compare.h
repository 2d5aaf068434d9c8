#ifndef OPTIML_TESTS_AGREE_COMPARE_H_
#define OPTIML_TESTS_AGREE_COMPARE_H_

// How far the outputs of two devices are apart.

#include <string>
#include <vector>

#include "corpus.h"

namespace optiml::agree {

struct Comparison {
  size_t elements = 0;
  size_t differences = 0;  // elements that are farther apart than the case allows
  uint64_t most_ulp = 0;   // cases with a tolerance
  double most_difference = 0;
  std::string text;  // the first differences, one a line
};

// Of every result and surface, in the order of Outputs.
std::vector<size_t> OutputSizes(const Case& c);

// REQUIRES: both have OutputSizes(c)
Comparison CompareOutputs(const Case& c, const Outputs& emulated, const Outputs& gpu, size_t show);

// What is kept of a case's outputs: a hash where equal bits are asked for, else the first elements.
// One word, or several after a '~'.
std::string RecordOf(const Case& c, const Outputs& outputs);
// Empty when outputs agree with what was kept; otherwise how not.
std::string CompareWithRecord(const Case& c, const Outputs& outputs, const std::string& record);

}  // namespace optiml::agree

#endif  // OPTIML_TESTS_AGREE_COMPARE_H_
