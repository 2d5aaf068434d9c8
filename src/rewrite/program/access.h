#ifndef OPTIML_REWRITE_PROGRAM_ACCESS_H_
#define OPTIML_REWRITE_PROGRAM_ACCESS_H_

// Access: where a program touches its buffers, in which dims, with which strides; and what follows
// for legality: whether two points may touch the same element, and which stages depend on which.
//
// Everything here is conservative: what cannot be proved is answered with "may".

#include <optional>
#include <string>
#include <vector>

#include "rewrite/program/affine.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

// One place in the program that reads or writes a buffer.
struct Access {
  std::string buffer;
  ExprPtr index;
  bool is_store = false;
  StoreKind kind = StoreKind::kAssign;  // of a store
  size_t stage = 0;                     // index into Program::stages
  std::vector<Dim> dims;                // the program's, then the stage's: outermost first
  std::optional<Affine> affine;         // over `dims`, lets expanded; absent: opaque
};

// All accesses in program order; within a stage starts, lets, guard, updates, then stores.
std::vector<Access> Accesses(const Program& program);

enum class Stride {
  kZero,      // the index does not depend on the dim
  kOne,       // consecutive points touch consecutive elements
  kConstant,  // a number other than 0 and 1 (also -1)
  kSymbolic,  // a polynomial of scalar parameters
  kUnknown,   // the index is opaque
};

Stride StrideOf(const Access& access, const std::string& dim);

// Whether the access depends on `dim` (true when it is opaque).
bool DependsOn(const Access& access, const std::string& dim);

// Whether different points of `dims` certainly have different indices: the strides, sorted, must
// each reach beyond all that the smaller ones span ("row*cols + c" with c in [0, cols)). Sizes are
// taken to be >= 1: with a size of 0 there are no points.
bool IsInjective(const Affine& index, const std::vector<Dim>& dims);

// Whether two accesses to one buffer may touch the same element at different points of the
// program's dims. False only when both have the same strides over their dims, dims of the same
// extents, and are injective: then each point has its own elements. Their constants are the same or
// a number apart that the strides leave room for ("3*i" and "3*i + 2").
bool MayConflictAcrossPoints(const Program& program, const Access& a, const Access& b);

// Whether stage `later` uses what stage `earlier` made: a let, an accumulator, or a buffer that one
// of them stores and the other touches.
bool StageDependsOn(const Program& program, size_t later, size_t earlier);

// Names of all buffers that are stored, or loaded.
std::vector<std::string> StoredBuffers(const Stage& stage);
std::vector<std::string> LoadedBuffers(const Stage& stage);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_PROGRAM_ACCESS_H_
