#ifndef OPTIML_PTX_ASYNC_CHECKS_H_
#define OPTIML_PTX_ASYNC_CHECKS_H_

// The race check where copies, mbarriers and clusters take part. A finding "race" names both sides.
// Nothing is done when the launch does not check races. CheckAsyncAccess is in access.h.
//
// What makes a warp's accesses ordered: barriers of the block and of the cluster, arrivals at and
// waits for an mbarrier (a lane releases and acquires for its whole warp), and waits for the warp's
// own copies. A copy's bytes belong to it from its issue until it lands.
//
// Internal to ptx/.

#include <cstdint>

#include "ptx/access.h"
#include "ptx/async_state.h"

namespace optiml::ptx {

// A new stamp of the block's accesses: all earlier ones have smaller ones.
uint32_t NextStamp(BlockState& block);
// After the block's tags were cleared: so are those of its copies and barriers.
void ForgetAsyncStamps(BlockState& block);

// A whole access of one lane (bounds are known to hold) to the shared memory of `target`, a block
// of the cluster: checks it, and leaves its tags when `tag`.
void CheckSharedAccess(Warp& warp, const Op* op, BlockState& target, uint32_t lo, uint32_t hi,
                       uint32_t lane, SharedAccess access, bool tag);

// The same for an operation on the mbarrier at `address`: only its initialisation counts.
void CheckBarrierAccess(Warp& warp, const Op* op, BlockState& target, uint32_t address,
                        uint32_t lane);

// What a copy does to bytes of shared memory; kCombine is an atomic operation on each element.
enum class CopyUse : uint8_t { kRead, kWrite, kCombine };

// A copy is issued that will use these bytes of `target`; it lands or has read.
void BeginCopy(Warp& warp, const Op* op, BlockState& target, uint32_t lo, uint32_t hi,
               uint32_t lane, CopyUse use);
void EndCopy(BlockState& target, uint32_t lo, uint32_t hi, CopyUse use);
// Bytes that the asynchronous proxy will read: generic writes to them need a proxy fence.
void CheckProxy(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane);
void ProxyFence(Warp& warp);

// The warp's own wait made the bytes of its copy visible to it: like a store at this moment.
void TagStored(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane);
// Its wait made sure that its copy has read the bytes: like a load at this moment.
void TagRead(Warp& warp, const Op* op, uint32_t lo, uint32_t hi, uint32_t lane);
// The bytes hold a copy that landed just now, for those who wait for its mbarrier. Call Landed once
// for all of a copy's bytes, after TagLanded.
void TagLanded(BlockState& target, uint32_t lo, uint32_t hi);
void Landed(BlockState& target, Clock& clock);

// Marks or unmarks the 8 bytes of an mbarrier.
void MarkBarrier(BlockState& block, uint32_t address, bool is_barrier);

// The warp's earlier accesses are released to those who acquire the clock of an mbarrier in
// `owner`.
void Release(Warp& warp, BlockState& owner, Clock& clock);
void Acquire(Warp& warp, const Clock& clock);

// Barriers of the block hand on what their warps know of copies and of other blocks.
void SynchroniseAsync(BlockState& block, uint32_t warps);
// All accesses of all blocks of the cluster so far are ordered before the later ones.
void SynchroniseCluster(ClusterState& cluster);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ASYNC_CHECKS_H_
