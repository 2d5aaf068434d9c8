#ifndef OPTIML_DEVICE_BLOCK_SAMPLING_H_
#define OPTIML_DEVICE_BLOCK_SAMPLING_H_

// Block sampling: a big grid is timed by some of its blocks. This file says when that is sound and
// which blocks to take. Pure functions.
//
// It is refused where blocks wait for each other or where what one block does depends on what
// others did: volatile, acquire or relaxed loads of global memory, and atomics whose result steers
// a branch. A compare-and-swap loop is allowed: it ends whoever takes part.

#include <cstdint>
#include <string>
#include <vector>

#include "core/launch_plan.h"
#include "ptx/counters.h"
#include "ptx/module.h"

namespace optiml {

struct BlockDependence {
  // Blocks depend on each other; `reason` names the instruction and its source line.
  bool blocks_depend = false;
  std::string reason;
  // Values read from global or shared memory steer branches, predicates or addresses: the launch
  // must find what earlier launches of the plan really computed.
  bool data_steers = false;
  // Not so when all that they steer are branches that may skip arithmetic, stores and shared memory
  // and nothing else, such as an exchange of two elements: what is read, how often and from where
  // is the same whatever the data are, and at most the stores are miscounted.
  bool steers_more_than_stores = false;
  uint64_t instructions = 0;  // in the kernel's text
};

// Of a kernel and all functions of its module that it may call. REQUIRES: the kernel exists
BlockDependence AnalyseDependence(const ptx::Module& module, const std::string& kernel);

// Linear ids of blocks, in the order in which they are to run.
struct BlockSample {
  std::vector<uint64_t> all;
  std::vector<uint64_t> first_half;  // of every group
};

// About `count` blocks of the grid, never more, in groups of neighbours that are spread evenly. In
// grids of more than one dimension a group is a box, so that data which blocks share across rows or
// planes is shared in the sample too. All blocks when there are no more than `count`. REQUIRES:
// count > 0, the grid is not empty
BlockSample ChooseBlocks(const Dim3& grid, uint64_t count);

// The same sample with its first halves replaced by as many blocks beside each group that are not
// in the sample: for kernels that find their work done when a block is run again. Unchanged where
// there is no room.
BlockSample WithHalvesBeside(BlockSample sample, const Dim3& grid);

// Every count times `factor`, rounded; blocks_in_grid stays.
ptx::Counters Scaled(const ptx::Counters& counters, double factor);

// The whole grid's counters from those of a sample (`all`) and of the first halves of its groups
// (`half`), each run with cold caches: counts grow linearly in blocks; the cache's counts grow by
// what the second halves added to the first, so that data which blocks share is fetched once.
ptx::Counters Extrapolated(const ptx::Counters& half, const ptx::Counters& all);

}  // namespace optiml

#endif  // OPTIML_DEVICE_BLOCK_SAMPLING_H_
