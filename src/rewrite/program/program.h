#ifndef OPTIML_REWRITE_PROGRAM_PROGRAM_H_
#define OPTIML_REWRITE_PROGRAM_PROGRAM_H_

// Program: the algorithm of one data-parallel kernel, freed from its spelling: what is computed for
// each point of a rectangular index space, in a list of stages. lift/ makes it from the syntax
// tree, schedule/ decides how it is carried out, emit/ prints it as CUDA.
//
//   Program  softmax_kernel(x, y, rows, cols)          par: row in [0, rows)
//     Stage  fold  m = max over c in [0, cols) of x[row*cols + c], from -INFINITY
//     Stage  fold  s = sum over c of expf(x[row*cols + c] - m), from 0
//     Stage  par c in [0, cols):  y[row*cols + c] = expf(x[row*cols + c] - m) / s
//
// Invariants (checked by Validate): every name is defined before it is used; names are unique
// within the program, except that a stage's dim may carry the name of an earlier stage's dim of the
// same extent (two loops over c: the name is a stage's own); dims start at 0 with step 1 (the lift
// substitutes begin + step * dim into the indices); an index expression is free of side effects; a
// fold's accumulator does not occur in its own update (Combine puts it there).
//
// A dim's symbol has the type of its extent: 64 bits only where the source counted in 64 bits.
//
// Expressions are immutable and shared.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace optiml::rewrite {

enum class Scalar { kBool, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kBf16, kF32, kF64 };
const char* ScalarCudaName(Scalar scalar);  // "float", "unsigned int", "__half" ...
int ScalarBytes(Scalar scalar);
bool IsFloatScalar(Scalar scalar);

enum class ExprKind {
  kInt,     // int_value
  kFloat,   // float_value; text is the spelling ("1e-5f", "INFINITY")
  kSymbol,  // name: a dim, a let, an accumulator, a scalar parameter
  kLoad,    // name: the buffer; operands: flat element index
  kUnary,   // op "-" "!" "~"
  kBinary,  // op as in C++
  kSelect,  // operands: condition, then, else (then and else are evaluated lazily, as ?: does)
  kCast,    // to `type`
  kCall,    // name: a device function or intrinsic without side effects; operands: arguments
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  ExprKind kind = ExprKind::kInt;
  Scalar type = Scalar::kI32;
  std::string op;
  std::string name;
  std::string text;
  int64_t int_value = 0;
  double float_value = 0;
  std::vector<ExprPtr> operands;
};

ExprPtr Int(int64_t value, Scalar type = Scalar::kI32);
ExprPtr Symbol(std::string name, Scalar type);
ExprPtr Load(std::string buffer, ExprPtr index, Scalar type);
ExprPtr Unary(std::string op, ExprPtr operand);
ExprPtr Binary(std::string op, ExprPtr left, ExprPtr right, Scalar type);
ExprPtr Select(ExprPtr condition, ExprPtr then_value, ExprPtr else_value);
ExprPtr Cast(Scalar type, ExprPtr operand);
ExprPtr Call(std::string name, std::vector<ExprPtr> arguments, Scalar type);

// CUDA C++ text with only the parentheses that precedence needs.
std::string Print(const ExprPtr& expr);
bool Equal(const ExprPtr& a, const ExprPtr& b);
// Replaces symbols by expressions.
ExprPtr Substitute(const ExprPtr& expr, const std::map<std::string, ExprPtr>& replacements);
// Calls `visit` on every node, parents first.
void Visit(const ExprPtr& expr, const std::function<void(const Expr&)>& visit);
bool Mentions(const ExprPtr& expr, const std::string& symbol);
std::vector<ExprPtr> Loads(const ExprPtr& expr);

enum class DimKind {
  kPar,   // points are independent
  kFold,  // points are combined by the stage's accumulators
};

struct Dim {
  std::string name;  // the source's variable where there was one
  DimKind kind = DimKind::kPar;
  ExprPtr extent;        // number of points; mentions scalar parameters and constants only
  int thread_axis = -1;  // program dims: 0 x, 1 y, 2 z of the grid it came from; -1: a loop
};

// name = value; a scalar that later expressions of the same scope use.
struct Let {
  std::string name;
  Scalar type = Scalar::kF32;
  ExprPtr value;
};

enum class FoldOp { kSum, kProduct, kMax, kMin, kAnd, kOr, kXor };
const char* FoldOpName(FoldOp op);

// name = init; for each point: name = name op update. Float sums and products may be reassociated
// only within the task's error budget: every schedule that does so says it in its edit.
// A guarded fold leaves its accumulator as it was where the guard is false.
struct Accumulator {
  std::string name;
  Scalar type = Scalar::kF32;
  FoldOp op = FoldOp::kSum;
  ExprPtr init;
  ExprPtr update;
  // How the source spelled it: a function of two arguments ("fmaxf", "max", "fmin" ...), an
  // operator ("+", "*", "&", "||" ...), a fused form ("fmaf", "fma"; the update is then a product),
  // or one of the four comparing forms, which differ for NaN and signed zeros:
  // "u > a ? u : a" | "u >= a ? u : a" | "a > u ? a : u" | "a >= u ? a : u" ("<" for minima).
  std::string spelling;
};

// The new value of the accumulator, spelled as the source did: "fmaxf(m, v)", "s + v",
// "v > m ? v : m". An emitter that keeps the form keeps NaN behaviour and rounding.
ExprPtr Combine(const Accumulator& accumulator, const ExprPtr& current, const ExprPtr& update);

// The value that changes nothing (0, 1, -INFINITY, INT_MIN ...).
ExprPtr Identity(FoldOp op, Scalar type);

enum class StoreKind { kAssign, kAtomic };

struct Store {
  std::string buffer;
  ExprPtr index;  // flat element index
  ExprPtr value;
  StoreKind kind = StoreKind::kAssign;
  FoldOp atomic_op = FoldOp::kSum;
};

// One loop nest inside every point of the program's dims. With accumulators it is a fold: its
// results are visible to later stages. Without dims it is straight-line code. Lets and stores
// happen, in order lets then stores, at every point of `dims` where `guard` holds; lets of a stage
// without dims are visible to later stages.
struct Stage {
  std::vector<Dim> dims;  // outermost first; all kFold when there are accumulators
  std::vector<Let> lets;
  ExprPtr guard;  // may be null: always. Mentions dims, params, earlier names and this stage's lets
                  // (then only accumulators and stores are guarded)
  std::vector<Accumulator> accumulators;
  std::vector<Store> stores;
  int line_begin = 0;  // in the source
  int line_end = 0;
};

struct Parameter {
  std::string name;
  Scalar type = Scalar::kI32;  // of the value, or of a buffer's element
  bool is_buffer = false;
  bool is_const = false;  // pointer to const
  bool is_restrict = false;
  bool is_read = false;
  bool is_written = false;
};

struct Program {
  std::string kernel;  // its name without template arguments
  std::string name_expression;
  std::vector<Parameter> parameters;
  std::vector<Dim> dims;  // all kPar; slowest thread axis first: z, y, x
  std::vector<Stage> stages;
  // Source text of helper device functions, constants and macros that expressions call or name, in
  // order of definition.
  std::vector<std::string> helpers;
  // Names that emitted code must not reuse.
  std::vector<std::string> reserved_names;
  // Conditions over scalar parameters and blockDim.*, gridDim.* under which the program equals the
  // kernel ("blockDim.x == 256", "cols >= 1"). Whoever uses the program checks them against the
  // launches; the lift also takes for granted that the launch covers every thread dim and has
  // extent 1 in axes that the program does not name.
  std::vector<ExprPtr> assumptions;
  // The lift itself regrouped a float fold (a grid-stride loop's local sum that ends in an atomic):
  // a bit for bit comparison with the original cannot be expected.
  bool regroups_floats = false;
  int line_begin = 0;
  int line_end = 0;

  const Parameter* FindParameter(const std::string& parameter_name) const;
};

// Readable dump in the form of the picture above; golden tests compare it.
std::string Format(const Program& program);

// The first violated invariant, or nothing.
std::optional<std::string> Validate(const Program& program);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_PROGRAM_PROGRAM_H_
