#ifndef OPTIML_OPTIMIZE_LIFT_CHECK_H_
#define OPTIML_OPTIMIZE_LIFT_CHECK_H_

// The lift check: what was lifted, printed back with no change, must compute bit for bit what the
// root computes; where the lift itself adds floats in another order, it must pass L0 and L1
// instead. A kernel that fails is treated as not lifted, so that a bug of the lift is a refusal and
// never a wrong kernel.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "rewrite/catalogue.h"
#include "store/run_record.h"
#include "verify/verifier.h"

namespace optiml {

// A catalogue over the root that treats these kernels as not lifted.
using MakeCatalogueFunction = std::function<Result<std::unique_ptr<rewrite::Catalogue>>(
    const std::vector<std::string>& excluded_kernels)>;

struct CheckedCatalogue {
  std::unique_ptr<rewrite::Catalogue> catalogue;
  std::vector<LiftRow> rows;  // for each kernel of the root: lifted, or why not
};

// Runs root and printed-back root at every checked shape, on the task's own fills. When they differ
// and several kernels were lifted, each is checked alone to find the wrong ones.
Result<CheckedCatalogue> MakeCheckedCatalogue(const KernelTask& task, const PreparedCandidate& root,
                                              Verifier& verifier, Device& device,
                                              const MakeCatalogueFunction& make_catalogue);

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_LIFT_CHECK_H_
