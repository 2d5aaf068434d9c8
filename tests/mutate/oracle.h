#ifndef OPTIML_TESTS_MUTATE_ORACLE_H_
#define OPTIML_TESTS_MUTATE_ORACLE_H_

// Oracle: whether a mutant computes something else than the original kernel, found without the
// verifier's cases, budgets and verdict: both run on sizes and seeds of their own, and what comes
// out is compared bit for bit. Sizes and fills at which the original itself does not run are left
// out.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "device/device.h"
#include "task/inputs.h"
#include "verify/prepare.h"

namespace optiml {

enum class Difference {
  kUnusable,  // it does not parse, plan or build
  kNone,      // the same bits everywhere
  kRounding,  // floats that differ by no more than another order of summation explains
  kFault,     // it does not run where the original does
  kOutput,    // other values
};

struct OracleVerdict {
  Difference difference = Difference::kNone;
  std::string detail;  // where and how, or why not
  int runs = 0;
};

class Oracle {
 public:
  // Borrowed; fails when the original cannot be built.
  static Result<std::unique_ptr<Oracle>> Make(const KernelTask& task, Builder& builder,
                                              Device& device);

  Result<OracleVerdict> Judge(const KernelSource& mutant);

 private:
  struct Run {
    TaskInputs inputs;
    size_t request = 0;
    std::vector<Tensor> original;
  };

  Oracle(const KernelTask& task, Builder& builder, Device& device)
      : task_(task), builder_(builder), device_(device) {}
  Result<void> MakeRuns();
  Result<void> Compare(const PreparedSource& mutant, const Run& run, OracleVerdict& verdict);

  const KernelTask& task_;
  Builder& builder_;
  Device& device_;
  std::vector<PlanRequest> requests_;
  std::vector<Run> runs_;
};

}  // namespace optiml

#endif  // OPTIML_TESTS_MUTATE_ORACLE_H_
