#ifndef OPTIML_PTX_LAUNCH_CONTEXT_H_
#define OPTIML_PTX_LAUNCH_CONTEXT_H_

// What all workers of one launch share. Internal to ptx/.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ptx/warp.h"

namespace optiml::ptx {

class GlobalRaces;
class OrderedAtomics;

struct LaunchContext {
  const LaunchRequest* request = nullptr;
  DeviceMemory* memory = nullptr;
  std::shared_ptr<const Program> program;
  std::vector<std::byte> constant_storage;
  const uint8_t* constants = nullptr;  // with parameters and symbols filled in
  std::vector<SharedRegion> regions;
  uint64_t shared_bytes = 0;          // of the emulated layout, dynamic part included
  uint64_t shared_bytes_counted = 0;  // as the GPU counts
  Allocation parameters;              // the parameter block as a read-only object
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  // 1 1 1 without
  bool cooperative = false;
  uint64_t blocks = 0;           // to run, or clusters of them
  std::vector<uint64_t> sample;  // the linear ids of those blocks, or of the clusters; empty: all
  Allocation workspace;          // of grid-wide synchronisation, at kWorkspaceAddress
  std::atomic<uint64_t> next_block{0};
  uint64_t unit_blocks = 1;  // that a worker takes at a time
  std::atomic<uint64_t> steps{0};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> progress{0};
  std::atomic<int> idle_workers{0};
  int workers = 1;
  std::optional<uint64_t> heap_bytes;  // that malloc has given; nothing before the first call
  std::unique_ptr<L2Cache> l2;
  std::vector<std::unique_ptr<L1Cache>> l1;
  std::shared_ptr<GlobalRaces> global_races;        // null: not checked
  std::shared_ptr<OrderedAtomics> ordered_atomics;  // null: workers' atomics take effect at once
  std::mutex mutex;  // of everything below, and of atomics between workers
  std::string printf_output;
  std::set<std::string> reported;  // kind and instruction
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_LAUNCH_CONTEXT_H_
