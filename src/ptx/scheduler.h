#ifndef OPTIML_PTX_SCHEDULER_H_
#define OPTIML_PTX_SCHEDULER_H_

// Scheduler: runs the blocks of a launch on one worker. Normally one block at a time, its warps in
// turn until each waits at a barrier. When all warps of a block only poll memory, the block is put
// aside and further blocks start, so that blocks that wait for others finish. Internal to ptx/.

#include <memory>
#include <string>
#include <vector>

#include "ptx/launch_context.h"

namespace optiml::ptx {

// Why a worker stopped.
enum class WorkerEnd : uint8_t { kDone, kFault, kStepLimit, kDeadlock };

struct WorkerResult {
  WorkerEnd end = WorkerEnd::kDone;
  std::vector<uint32_t> instructions;  // where warps were, for messages
  std::vector<std::string> waits;      // what they waited for, where it has a name
};

// Race check. Stamps beyond this do not fit a tag; all is forgotten then.
inline constexpr uint32_t kMaxStamp = (1u << 22) - 2;
void ForgetStamps(BlockState& block);  // of its whole cluster
// What these warps (`all`: all of the block) did before is ordered before what they do from now on.
void Synchronise(BlockState& block, uint32_t warps, bool all);

class Scheduler {
 public:
  Scheduler(LaunchContext& launch, Worker& worker) : launch_(launch), worker_(worker) {}
  WorkerResult Run();

 private:
  WorkerResult RunBlocks();
  // launch_.blocks or more: there is none.
  uint64_t NextBlock();
  using Resident = std::vector<std::unique_ptr<BlockState>>;

  // Puts the blocks of the cluster (or the one block) in front.
  void StartUnit(uint64_t id, Resident& resident);
  std::unique_ptr<BlockState> Start(uint64_t linear_id, uint32_t rank);
  void PrepareAsync(BlockState& block);
  // Takes the block, or its whole cluster once the last block of it is done, out of `resident`.
  void Retire(Resident& resident, size_t index);
  // One turn for every warp. False when the launch must end.
  bool Round(BlockState& block);
  const Op* Refill(Warp& warp);
  bool RunWarp(BlockState& block, Warp& warp);
  void CompleteBarriers(BlockState& block);
  bool Finished(const BlockState& block) const;
  void Note(const BlockState& block);

  LaunchContext& launch_;
  Worker& worker_;
  WorkerResult result_;
  bool in_unit_ = false;
  // Blocks of its unit that have not started.
  uint64_t unit_next_ = 0;
  uint64_t unit_end_ = 0;
  std::vector<std::unique_ptr<BlockState>> free_;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_SCHEDULER_H_
