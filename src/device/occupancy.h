#ifndef OPTIML_DEVICE_OCCUPANCY_H_
#define OPTIML_DEVICE_OCCUPANCY_H_

// Occupancy: how many blocks of a kernel fit on one multiprocessor at once (CUDA C++ Programming
// Guide, "Multiprocessor Level"; the rounding rules are those of CUDA's occupancy calculator).

#include <cstdint>
#include <string>

#include "device/device_description.h"

namespace optiml {

struct BlockShape {
  uint32_t threads = 0;
  int registers_per_thread = 0;
  uint64_t shared_bytes = 0;  // static and dynamic, without the system's share
};

struct Occupancy {
  int blocks = 0;  // resident on one multiprocessor; 0: such a block does not fit at all
  int warps = 0;
  double ratio = 0;     // warps / the most that a multiprocessor holds
  std::string limiter;  // "warps", "blocks", "registers", "shared memory"
};

// REQUIRES: block.threads > 0
Occupancy OccupancyOf(const BlockShape& block, const DeviceDescription& device);

}  // namespace optiml

#endif  // OPTIML_DEVICE_OCCUPANCY_H_
