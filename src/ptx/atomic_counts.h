#ifndef OPTIML_PTX_ATOMIC_COUNTS_H_
#define OPTIML_PTX_ATOMIC_COUNTS_H_

// What atomics are counted as: requests, lanes, how many meet on one address, and where they fall.

#include <cstdint>

#include "ptx/warp.h"

namespace optiml::ptx {

struct AtomicShape {
  uint32_t bytes = 0;
  bool shared = false;
  bool floating = false;
};

// Counts one request, and sends it to the cache model. `address`: of each lane in `mask`.
void CountAtomic(Warp& w, const Op* op, MemorySite& site, const uint64_t* address, uint32_t mask,
                 const AtomicShape& kind);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ATOMIC_COUNTS_H_
