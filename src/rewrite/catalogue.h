#ifndef OPTIML_REWRITE_CATALOGUE_H_
#define OPTIML_REWRITE_CATALOGUE_H_

// Catalogue: the built-in rewrites as the search sees them: for a chain of edits from the root,
// which edits are legal next, and which source does a chain give. Deterministic: the same chain
// gives the same text.
//
// The root's actions are sketches (ordered schedule primitives with holes, chosen by the program's
// shape); deeper edits set one hole or add an optional primitive (docs/rewrites.md). Kernels that
// are not lifted get local text edits. Threads: const calls may run concurrently.

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "core/launch_plan.h"
#include "frontend/ast.h"

namespace optiml::rewrite {

// What the rewrites need to know of the machine; limits of one block and one multiprocessor.
struct TargetLimits {
  int multiprocessors = 132;
  int threads_per_multiprocessor = 2048;
  uint64_t registers_per_multiprocessor = 64 * 1024;
  uint64_t shared_bytes_per_multiprocessor = 228 * 1024;
  uint64_t shared_bytes_default = 48 * 1024;  // of a block without an attribute
  int registers_per_thread = 255;
  int threads_per_block = 1024;
  bool allows_reassociation =
      true;  // float sums may be reordered (the error budget decides afterwards)
};

// One kernel of the root and whether it was lifted.
struct LiftReport {
  std::string kernel;
  bool lifted = false;
  std::string detail;            // Format(program), or the reason of the refusal
  bool regroups_floats = false;  // the lift alone already adds floats in another order
};

struct ApplyRefusal {
  std::string reason;
};

using ApplyOutcome = std::variant<KernelSource, ApplyRefusal>;

class Catalogue {
 public:
  virtual ~Catalogue() = default;
  virtual const std::vector<LiftReport>& Lifted() const = 0;

  // Edits that are legal after `chain`, best prior first, each with summary, claim and prior.
  // `diagnosis` of the variant that the chain makes, when known, moves the priors.
  virtual std::vector<Edit> Propose(std::span<const Edit> chain,
                                    const Diagnosis* diagnosis) const = 0;

  // The source that the chain makes from the root; an edit whose legality fails refuses with its
  // reason.
  virtual ApplyOutcome Apply(std::span<const Edit> chain) const = 0;

  // The root, lifted and printed back with one thread per point and no other change: what the lift
  // check compares with the root: bit for bit, or within the task's tolerance where a lift regroups
  // floats. Refused when no kernel was lifted. A kernel whose
  // check failed must be excluded by passing its name to MakeCatalogue.
  virtual ApplyOutcome Identity() const = 0;
};

// `plans`: the root's plans at the task's timed shapes (launch shapes, scalar arguments).
// `excluded_kernels`: kernels to be treated as not lifted. `checked_plans`: the root's plans at
// shapes that are only checked; what a text edit says of launches holds for them too.
Result<std::unique_ptr<Catalogue>> MakeCatalogue(
    const KernelTask& task, const ast::SourceUnit& root, const std::vector<LaunchPlan>& plans,
    const TargetLimits& limits, const std::vector<std::string>& excluded_kernels = {},
    const std::vector<LaunchPlan>& checked_plans = {});

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_CATALOGUE_H_
