#ifndef OPTIML_REWRITE_EMIT_KERNEL_TEXT_H_
#define OPTIML_REWRITE_EMIT_KERNEL_TEXT_H_

// What all emitters share: names that are free, signatures, the launch helper's frame, statements
// of folds and stores.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rewrite/emit/code_writer.h"
#include "rewrite/program/program.h"
#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/schedule.h"

namespace optiml::rewrite {

// The replacement of one kernel: its new kernels, and the host helper that launches them.
struct EmittedKernel {
  std::string kernels;   // device functions and kernels
  std::string launcher;  // "static void launch_NAME(...) { ... }"
  bool uses_pack = false;
};

// Names of one emitted kernel that collide with nothing in the file.
class Names {
 public:
  explicit Names(const KernelFacts& facts);
  // `wish`, or `wish` with the first free number; it is taken from then on.
  std::string Take(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

// "int", "size_t" ...
std::string TypeName(Scalar type);

// "const float* __restrict__ x, float* __restrict__ y, int n"; restrict where the launches prove it
// or the source had it.
std::string KernelParameters(const KernelFacts& facts);
// "const float* x, float* y, int n"
std::string HostParameters(const KernelFacts& facts);
// "x, y, n"
std::string ArgumentNames(const KernelFacts& facts);
std::string LaunchHelperName(const KernelFacts& facts);
// Whether a launch site passes a stream; then the helper has a last parameter `stream`.
bool PassesStream(const KernelFacts& facts);

// "kernel<<<grid, block>>>(x, y, n);" with the stream where there is one.
std::string LaunchText(const KernelFacts& facts, const std::string& kernel, const std::string& grid,
                       const std::string& block);

// Opens the launch helper, with its comment, and returns when one of `dims` has no points.
void OpenLauncher(const KernelFacts& facts, const std::string& comment,
                  const std::vector<Dim>& dims, CodeWriter* out);

// "(n + 255) / 256" for an extent and a number of points per block.
std::string CeilDiv(const ExprPtr& extent, int64_t points);

// Text of an expression as an operand of a binary operator.
std::string Operand(const ExprPtr& expr);
// "x + row * cols + c"
std::string PointerText(const std::string& buffer, const ExprPtr& index);

// "s += v;", "m = fmaxf(m, v);"
std::string FoldStatement(const Accumulator& accumulator, const ExprPtr& update);
// "y[i] = v;", "atomicAdd(&y[i], v);"
std::string StoreStatement(const Store& store);

// The value from which several threads may each start a fold: the initial value where that may be
// folded in more than once, else the identity.
ExprPtr ParallelStart(const Accumulator& accumulator);
// Whether the initial value must be folded in once, after the threads' shares were combined.
bool NeedsInitAfter(const Accumulator& accumulator);

// Combines `accumulators` over `threads` threads (a power of two, 2 to 1024) of a block or warp.
// Prints a device function called `name` that leaves the result in every thread; for more than 32
// threads it ends and begins with a barrier.
void PrintBlockFold(const std::string& name, const std::vector<Accumulator>& accumulators,
                    int64_t threads, CodeWriter* out);
// The call of that function: "s = block_sum(s);"
std::string BlockFoldCall(const std::string& name, const std::vector<Accumulator>& accumulators);

// Dims taken apart from one running number: "const int b = block / rows;" ...
void PrintUnflatten(const std::vector<Dim>& dims, const std::string& number, CodeWriter* out);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_KERNEL_TEXT_H_
