#ifndef OPTIML_REWRITE_SCHEDULE_ANALYSIS_H_
#define OPTIML_REWRITE_SCHEDULE_ANALYSIS_H_

// Analysis of a Program that legality checks and emitters share: all memory accesses with their
// affine forms, rewriting of expressions, and which values must be divisible by a vector width.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rewrite/program/affine.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

// One load or store of a program.
struct AccessInfo {
  std::string buffer;
  ExprPtr index;
  Scalar type = Scalar::kF32;
  size_t stage = 0;
  bool is_store = false;
  bool is_atomic = false;
  // Not executed at every point: behind a guard, in a branch of a select, right of && or ||.
  bool is_conditional = false;
  bool is_initial = false;       // in an accumulator's initial value: before the stage's loops
  std::optional<Affine> affine;  // over the program's dims and the stage's
};

std::vector<AccessInfo> CollectAccesses(const Program& program);
// Whether a stage from `first` on and before `last` stores to the buffer.
bool StoresBetween(const std::vector<AccessInfo>& accesses, const std::string& buffer, size_t first,
                   size_t last);

// Names of the program's dims, slowest first, then those of the stage.
std::vector<std::string> DimNames(const Program& program, const Stage& stage);

// All lets of the program up to and including `stage`.
std::vector<Let> LetsUpTo(const Program& program, size_t stage);

// The affine form of an index in a stage.
std::optional<Affine> IndexForm(const Program& program, size_t stage, const ExprPtr& index);

// Rebuilds `expr`: `replace` is asked first for every node, parents before children; null keeps the
// node and goes on below it.
ExprPtr RewriteExpr(const ExprPtr& expr, const std::function<ExprPtr(const ExprPtr&)>& replace);

// Calls `rewrite` on every expression of the program, extents included.
void RewriteProgram(Program* program, const std::function<ExprPtr(const ExprPtr&)>& rewrite);
void RewriteStage(Stage* stage, const std::function<ExprPtr(const ExprPtr&)>& rewrite);

// Whether the stage's lets, guard, accumulators or stores mention the symbol.
bool StageMentions(const Stage& stage, const std::string& symbol);

// Adds to `divisible` the scalar parameters that must be multiples of `width`, so that a vector
// access along `dim` (whose coefficient is 1, and which itself is a multiple of width) is aligned.
// Returns false when no such condition can make it so.
bool RequireDivisible(const Affine& index, const std::string& dim, int64_t width,
                      std::set<std::string>* divisible);

// The expression of an affine form, dims in the given order, then the constant.
ExprPtr AffineExpr(const Affine& form, const std::vector<std::string>& dims, Scalar type);

// Drops lets that nothing uses.
void RemoveDeadLets(Program* program);

// Product of extents, as an expression in the widest of their types.
ExprPtr ProductOf(const std::vector<Dim>& dims);

// The number that an expression of integer constants and `scalars` has.
std::optional<int64_t> Evaluate(const ExprPtr& expr, const std::map<std::string, int64_t>& scalars);

bool IsConstantZero(const ExprPtr& expr);
bool IsConstantOne(const ExprPtr& expr);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_ANALYSIS_H_
