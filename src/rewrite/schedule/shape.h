#ifndef OPTIML_REWRITE_SCHEDULE_SHAPE_H_
#define OPTIML_REWRITE_SCHEDULE_SHAPE_H_

// Shape: what kind of computation a normalised Program is; it decides which sketches apply. Names
// and sizes play no part, only dims, accesses and stages.

#include <optional>
#include <string>
#include <vector>

#include "rewrite/program/program.h"
#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {

enum class ShapeKind {
  kMap,          // points are independent, no folds
  kTranspose,    // a map that reads along another dim than it writes
  kStencil,      // a map, or a fold of few constant steps, that reads a neighbourhood
  kRowFold,      // folds over contiguous memory for each point of the program's dims
  kColumnFold,   // folds whose neighbouring points lie side by side in memory
  kFullFold,     // everything is combined into one element by an atomic
  kContraction,  // C[m, n] = sum over k of A[m, k] * B[k, n]
  kScatter,      // atomics at places that depend on data
  kOther,        // printed one thread per point; only its block size can be chosen
};
const char* ShapeKindName(ShapeKind kind);

// C[batch, m, n] = epilogue(sum over k of a * b). `n` is the dim along which C is contiguous.
struct Contraction {
  std::vector<std::string> batch;  // slowest first
  std::string m;
  std::string n;
  std::string k;
  size_t fold_stage = 0;
  ExprPtr a;         // load over m and k
  ExprPtr b;         // load over k and n
  ExprPtr a_factor;  // the load, or a conversion of it that maps 0 to 0
  ExprPtr b_factor;
  bool a_along_k = false;  // contiguous along k; otherwise along m
  bool b_along_n = false;  // contiguous along n; otherwise along k
};

// Reads of one buffer in a neighbourhood of the point (row dim, column dim).
struct Window {
  std::string buffer;
  std::string row;     // program dim; empty when the program has one dim
  std::string column;  // program dim, contiguous
  Polynomial pitch;    // coefficient of `row`
  // Range of the constant offsets over all reads, fold dims included; end inclusive.
  int64_t row_low = 0;
  int64_t row_high = 0;
  int64_t column_low = 0;
  int64_t column_high = 0;
};

struct Shape {
  ShapeKind kind = ShapeKind::kOther;
  // The dim along which memory is contiguous: a program dim, or the inner dim of a row fold. Empty:
  // none.
  std::string contiguous;
  std::optional<Contraction> contraction;
  std::optional<Window> window;
  // kTranspose: loads that are contiguous along `other` and must be turned around in shared memory.
  std::string other;
  std::vector<AccessInfo> turned;
};

Shape Classify(const Program& normalised);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_SHAPE_H_
