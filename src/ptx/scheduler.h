#ifndef OPTIML_PTX_SCHEDULER_H_
#define OPTIML_PTX_SCHEDULER_H_

// Scheduler: runs the blocks of a launch on one worker. Normally one block at a time, its warps in
// turn until each waits at a barrier. When all warps of a block only poll memory, the block is put
// aside and further blocks start, so that blocks that wait for others finish. Internal to ptx/.

#include <memory>
#include <vector>

#include "ptx/launch_context.h"

namespace optiml::ptx {

// Why a worker stopped.
enum class WorkerEnd : uint8_t { kDone, kFault, kStepLimit, kDeadlock };

struct WorkerResult {
  WorkerEnd end = WorkerEnd::kDone;
  std::vector<uint32_t> instructions;  // where warps were, for messages
};

class Scheduler {
 public:
  Scheduler(LaunchContext& launch, Worker& worker) : launch_(launch), worker_(worker) {}
  WorkerResult Run();

 private:
  std::unique_ptr<BlockState> Start(uint64_t linear_id);
  // One turn for every warp. False when the launch must end.
  bool Round(BlockState& block);
  const Op* Refill(Warp& warp);
  bool RunWarp(BlockState& block, Warp& warp);
  void CompleteBarriers(BlockState& block);
  void Synchronise(BlockState& block, uint32_t warps, bool all);
  bool Finished(const BlockState& block) const;
  void Recycle(std::unique_ptr<BlockState> block);
  void Note(const BlockState& block);

  LaunchContext& launch_;
  Worker& worker_;
  WorkerResult result_;
  std::vector<std::unique_ptr<BlockState>> free_;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_SCHEDULER_H_
