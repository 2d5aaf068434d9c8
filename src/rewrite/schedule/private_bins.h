#ifndef OPTIML_REWRITE_SCHEDULE_PRIVATE_BINS_H_
#define OPTIML_REWRITE_SCHEDULE_PRIVATE_BINS_H_

// PrivateBins: how many elements of a scatter's target a block keeps copies of. The number is a
// tuning constant taken from the launches; places beyond it go to global memory, so that the code
// is right for every size.

#include <cstdint>
#include <optional>
#include <string>

#include "rewrite/schedule/kernel_facts.h"

namespace optiml::rewrite {

// The store that scatters, or null when there is none or more than one.
const Store* ScatterStore(const Program& program);

// Elements of the target from its pointer on, the largest over the launches.
std::optional<int64_t> ScatterBins(const KernelFacts& facts);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_PRIVATE_BINS_H_
