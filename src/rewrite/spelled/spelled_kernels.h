#ifndef OPTIML_REWRITE_SPELLED_SPELLED_KERNELS_H_
#define OPTIML_REWRITE_SPELLED_SPELLED_KERNELS_H_

// For tests: the computations that the rewrites are for, each in the ways in which people write it
// (early return, guard, row pointers, s = s + x, macros, grid-stride and while loops, templates,
// helpers), with what must come out. spellings_test asks the catalogue for every rewrite on every
// spelling; tests/rewrites runs what is emitted.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "rewrite/catalogue_test_support.h"

namespace optiml::rewrite::testing {

using Sizes = std::map<std::string, int64_t>;

// A parameter of the launcher.
struct SpelledArgument {
  enum Role { kInput, kInPlace, kOutput, kSize, kFraction } role = kInput;
  DType dtype = DType::kF32;
  std::vector<std::string> extents;  // names of sizes; of kSize its own, of kFraction none

  bool is_buffer() const { return role != kSize && role != kFraction; }
  int64_t Elements(const Sizes& sizes) const;
};

struct Spelling {
  std::string name;  // "row_pointers"
  std::string text;  // a whole file; its launcher is "run"
};

// One computation. It has one buffer that is written.
struct SpelledShape {
  std::string name;  // "column_sum"
  std::vector<SpelledArgument> arguments;
  Sizes timed;                 // what the catalogue is made for
  std::vector<Sizes> checked;  // two odd ones at least, then ones whose rows can be aligned
  // Of an element over max(1, |expected|). 0 where the inputs make every order of the sums exact.
  double tolerance = 0;
  // What the written buffer holds afterwards; `arguments` are the values before, by argument, as
  // FillArguments gives them.
  std::function<std::vector<double>(const Sizes& sizes,
                                    const std::vector<std::vector<double>>& arguments)>
      reference;
  std::vector<Spelling> spellings;
};

// A spelling as it stands in a table: the kernel, and the statement that launches it.
struct SpellingText {
  const char* name;
  const char* kernel;
  const char* launch;
};
// Each with a launcher of these parameters, which does `before` and then launches.
std::vector<Spelling> WithLaunchers(const std::string& parameters,
                                    std::span<const SpellingText> texts,
                                    const std::string& before = "");

// The parameters of most launchers, and a shape that has them: from a matrix to a buffer of the
// extents `written`.
inline constexpr char kMatrixParameters[] = "const float* x, float* y, int rows, int cols";
SpelledShape MatrixShape(const std::string& name, const std::vector<std::string>& written);

// All of them; each file has its own.
const std::vector<SpelledShape>& SpelledShapes();
// REQUIRES: there is one of that name
const SpelledShape& FindSpelledShape(const std::string& name);
std::vector<SpelledShape> SpelledMaps();
std::vector<SpelledShape> SpelledRowFolds();
std::vector<SpelledShape> SpelledFolds();
std::vector<SpelledShape> SpelledTiles();

// The value of a kFraction: 2^k, so that products with it are exact.
inline constexpr double kSpelledFraction = 0.5;

// A kernel of the shape for catalogue_test_support.h, with the timed sizes.
KernelCase CaseOf(const SpelledShape& shape, const Spelling& spelling);
std::vector<Argument> ArgumentsAt(const SpelledShape& shape, const Sizes& sizes);
// Values of every argument, the same at every call. Floats are multiples of 1/16 in [-1, 1];
// integers lie in [-2, bins + 2) where a size is called bins. Outputs and scalars stay empty.
std::vector<std::vector<double>> FillArguments(const SpelledShape& shape, const Sizes& sizes);

// One rewrite with its holes after the edits that it needs, and the shape on which it is tried.
struct SpelledEdit {
  std::string codes;        // of docs/rewrites.md, of the last edit: "S2 S10"
  std::string shape;        // a SpelledShape
  std::vector<Edit> chain;  // what the last edit needs, then the edit

  std::string Name() const;  // "softmax_row_fold_keep_row"
};

const std::vector<SpelledEdit>& SpelledEdits();

}  // namespace optiml::rewrite::testing

#endif  // OPTIML_REWRITE_SPELLED_SPELLED_KERNELS_H_
