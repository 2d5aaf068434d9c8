#ifndef OPTIML_TESTS_MUTATE_MUTATIONS_H_
#define OPTIML_TESTS_MUTATE_MUTATIONS_H_

// Mutations of a CUDA text: small mistakes as people and models make them, each at one place. They
// work on tokens and know no types, so that some mutants do not compile or compute the same.
//
// The same text gives the same mutants in the same order.

#include <cstddef>
#include <string>
#include <vector>

namespace optiml {

struct Mutant {
  std::string kind;  // "comparison", "barrier removed", "narrowing" ...
  int line = 0;      // in the original text
  std::string what;  // "i < n -> i <= n": the line before and after
  std::string text;  // the whole mutated source
};

std::vector<Mutant> MutantsOf(const std::string& text);

}  // namespace optiml

#endif  // OPTIML_TESTS_MUTATE_MUTATIONS_H_
