#ifndef OPTIML_CORE_KERNEL_TASK_H_
#define OPTIML_CORE_KERNEL_TASK_H_

// KernelTask: what must be computed, on which shapes, how it is checked and what it costs. Made by
// task/, read by everybody, changed by nobody after it was loaded. docs/task_format.md describes
// the file it comes from.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/kernel_source.h"
#include "core/size_expr.h"

namespace optiml {

enum class ArgRole {
  kIn,         // filled; never compared (but checked to be unchanged)
  kOut,        // poisoned before each run; compared
  kInOut,      // filled before each run; compared
  kWorkspace,  // allocated and poisoned; never compared
};

enum class FillKind {
  kNormal,    // mean 0, deviation 1
  kUniform,   // [min, max), default [0, 1)
  kRandInt,   // integers in [min, max)
  kConstant,  // value
  kZeros,
  kSorted,       // ascending, from a normal (floats) or the declared range (integers)
  kPermutation,  // of 0 .. n-1
  kOffsets,      // rising from 0 to total, n entries (CSR row offsets)
  kOneHot,       // one 1 in each innermost row, zeros elsewhere
  kMixedScale,   // normal times 10^k, k uniform in -6 .. 6
  kHeavyTailed,  // Cauchy, clipped to +-1e6
  kSpecial,      // normals with NaN, infinities, signed zeros and denormals mixed in
  kAllNegative,  // -|normal| - 0.01; a fill of the checks' own
  kSmallInts,    // integers in -4 .. 4, exact in every float type; a fill of the checks' own
};

struct Fill {
  FillKind kind = FillKind::kNormal;
  std::optional<SizeExpr> min;  // kUniform and kRandInt in whole numbers or size names
  std::optional<SizeExpr> max;
  std::optional<double> min_value;  // kUniform with a fraction
  std::optional<double> max_value;
  double value = 0;               // kConstant
  std::optional<SizeExpr> total;  // kOffsets
  // Whether the file declared it. Only an undeclared fill, or a range-free one, may be replaced by
  // the checks' own fills.
  bool declared = false;
};

// One argument of the launcher, in order.
struct ArgSpec {
  std::string name;
  bool is_buffer = false;  // a pointer to shape elements; otherwise a scalar
  DType dtype = DType::kI32;
  std::vector<SizeExpr> shape;  // buffers: extents, outermost first
  ArgRole role = ArgRole::kIn;
  Fill fill;                    // buffers in/inout, and scalars that are varied
  std::optional<double> value;  // scalars that are fixed
  bool is_size = false;         // a scalar whose value is the size of the same name
  bool allow_special = false;   // NaN, infinities and denormals are legal values of this input
  int line = 0;                 // in task.toml or in the source; 0 when it came from a flag
};

struct SizeRow {
  SizeBindings sizes;
  int line = 0;
  // "rows=33 cols=1000"
  std::string Text() const;
};

enum class ReferenceKind {
  kHost,      // a C++ function ENTRY_reference, compiled once and run confined
  kOriginal,  // the task's own kernel, on the device that verifies
  kRecorded,  // tensors in .npy files
};

struct Reference {
  ReferenceKind kind = ReferenceKind::kOriginal;
  std::filesystem::path source;  // kHost: absolute path of the .cpp
  // kRecorded: argument name -> absolute path of the .npy; inputs and outputs. One set of files
  // serves one checked row.
  std::map<std::string, std::filesystem::path> recorded;
};

// How far an output may be from the reference. Absent fields are derived (verify/error_budget.h).
struct Tolerance {
  std::optional<double> absolute;
  std::optional<double> relative;
  bool allow_reduced_precision = false;      // tf32, f16 or bf16 arithmetic inside
  std::optional<SizeExpr> reduction_length;  // terms that one output element sums
  std::map<std::string, Tolerance> per_argument;
};

// Compulsory work, as formulas of the sizes; for floors and roofline.
struct CostModel {
  std::optional<SizeExpr> bytes;       // read once + written once
  std::optional<SizeExpr> operations;  // floating point operations
};

// A kernel without launcher: its launch, as expressions of the sizes.
struct LaunchSpec {
  std::string kernel;
  std::vector<SizeExpr> grid;   // 1 to 3
  std::vector<SizeExpr> block;  // 1 to 3
  SizeExpr dynamic_shared_bytes;
};

struct KernelTask {
  std::string name;
  std::string intent;            // one sentence; may be empty
  std::filesystem::path folder;  // absolute
  KernelSource source;           // the kernel to beat; its entry() is the launcher
  std::vector<ArgSpec> args;     // the launcher's, in order
  std::vector<SizeRow> checked;  // small; at least one
  std::vector<SizeRow> timed;    // at least one
  Reference reference;
  Tolerance tolerance;
  CostModel cost;
  std::optional<LaunchSpec> launch;
  std::map<std::string, std::string> origin;
  bool allow_libraries = false;  // cuBLAS, CUB device calls
  ContentHash hash;              // over everything that changes results

  const ArgSpec* FindArg(const std::string& arg_name) const;
};

}  // namespace optiml

#endif  // OPTIML_CORE_KERNEL_TASK_H_
