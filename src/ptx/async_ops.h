#ifndef OPTIML_PTX_ASYNC_OPS_H_
#define OPTIML_PTX_ASYNC_OPS_H_

// Handlers of what waits and what copies asynchronously, and what they share. Addresses are places
// of 64-bit lanes with their offsets added; shared ones may be generic. Internal to ptx/.

#include "ptx/async_state.h"
#include "ptx/handlers.h"

namespace optiml::ptx {

// Op::aux of ops that may wait: the instruction has a predicate, so that no other lanes of its warp
// can go first.
inline constexpr uint32_t kPredicated = 1u << 31;

// ops_async.cpp. cp.async: a destination, b source, c bytes to read or 0, e predicate that reads
// none or 0; aux: bytes of a lane | kBypassL1 | kIgnoreNegated.
inline constexpr uint32_t kBypassL1 = 1u << 8;
inline constexpr uint32_t kIgnoreNegated = 1u << 9;
const Op* CopyAsync(Warp& w, const Op* op);
const Op* CopyCommit(Warp& w, const Op* op);
// aux: groups that may stay under way; aux2: 1 for all copies, committed or not.
const Op* CopyWait(Warp& w, const Op* op);
// a: mbarrier; aux: 1 for .noinc.
const Op* CopyArrive(Warp& w, const Op* op);
// The lane's copies with smaller numbers land, for those who wait for an mbarrier.
void LandCopies(BlockState& block, uint32_t warp, uint32_t lane, uint64_t before);

// ops_mbarrier.cpp. a: mbarrier.
const Op* MbarrierInit(Warp& w, const Op* op);  // b: arrivals
const Op* MbarrierInvalidate(Warp& w, const Op* op);
// b: arrivals or 0 for 1; c: bytes to expect or 0; d: state or 0; aux: below.
inline constexpr uint32_t kArriveDrop = 1;
inline constexpr uint32_t kArriveNoComplete = 2;
const Op* MbarrierArrive(Warp& w, const Op* op);
const Op* MbarrierBytes(Warp& w, const Op* op);  // b: bytes; aux: 0 expect_tx, 1 complete_tx
// b: state, or parity with kWaitParity; d: predicate; aux: below, kPredicated.
inline constexpr uint32_t kWaitParity = 1;
inline constexpr uint32_t kWaitMayBlock = 2;  // try_wait
const Op* MbarrierWait(Warp& w, const Op* op);
const Op* MbarrierPendingCount(Warp& w, const Op* op);  // a: state; d: count
// The mbarrier at a generic or shared address, for one lane; null after a fault. `owner` is the
// block that it belongs to.
Mbarrier* FindBarrier(Warp& w, const Op* op, uint32_t lane, uint64_t address, BlockState*& owner);
// Where a global address lies that an access cannot have, for messages.
std::string OutsideText(const Warp& w, uint64_t address);
// The phase of `barrier` ends when nothing is missing.
void CompletePhase(Worker& worker, Mbarrier& barrier);
// "the mbarrier at byte 8 of bar in shared memory, of block (0,0,0), lacks 1 of 2 arrivals"
std::string BarrierText(const Warp& w, const BlockState& owner, const Mbarrier& barrier);

// ops_bulk.cpp. site: index into Program::bulk_sites.
// a: destination, b: source, c: bytes (tensor copies: none); d: mbarrier; e: block mask or 0.
const Op* BulkIssue(Warp& w, const Op* op);
const Op* BulkCommit(Warp& w, const Op* op);
const Op* BulkWait(Warp& w, const Op* op);  // aux: groups; aux2: 1 for .read
// st.async and red.async: a address, d mbarrier, b and c, e, d2 values; site.
const Op* StoreAsync(Warp& w, const Op* op);
const Op* FenceProxyAsync(Warp& w, const Op* op);
// Copies and arrivals that complete at this mbarrier (of the warp's block) happen, until its
// phase ends. False after a fault.
bool LandFor(Warp& w, const Op* op, Mbarrier& barrier);
// All warps of the block have exited: what it left under way ends, and is found if it must not be.
void EndBlock(BlockState& block);

// ops_cluster.cpp.
const Op* ClusterArrive(Warp& w, const Op* op);   // aux: 1 for .aligned
const Op* ClusterWait(Warp& w, const Op* op);     // aux: the same, kPredicated
const Op* MapBlock(Warp& w, const Op* op);        // d; a address; b rank; aux: bytes of d
const Op* BlockOfAddress(Warp& w, const Op* op);  // d; a address
// True when the barrier of the block's cluster completed.
bool CompleteClusterBarrier(ClusterState& cluster);

// A place in the shared memory of a block of the cluster.
struct SharedPlace {
  BlockState* block = nullptr;
  uint32_t offset = 0;
};
// Of a generic or shared address; false when no block of the cluster has it.
bool PlaceOfShared(const Warp& w, uint64_t address, SharedPlace& place);
// As PlaceOfShared, for `bytes` aligned bytes that must lie in one variable; null block after a
// fault. `verb`: "store to", "asynchronous copy to" ...
SharedPlace LocateCluster(Warp& w, const Op* op, uint32_t lane, uint64_t address, uint32_t bytes,
                          uint32_t alignment, const char* verb);

// ops_control.cpp, ops_call.cpp.
// Waits: lets other lanes of the warp go first, or gives way to other warps; the op runs again.
const Op* Wait(Warp& w, const Op* op);
const Op* Elect(Warp& w, const Op* op);  // a: members; d: leader; d2: predicate or 0
const Op* SetMaxRegisters(Warp& w, const Op* op);
const Op* AllocateStack(Warp& w, const Op* op);  // d; a: bytes; aux: alignment
const Op* SaveStack(Warp& w, const Op* op);      // d
const Op* RestoreStack(Warp& w, const Op* op);   // a
const Op* CallIndirect(Warp& w, const Op* op);   // a: address; site: indirect site

inline uint64_t LaneAddress(Warp& w, Place place, uint32_t lane) {
  return RegisterAt<uint64_t>(w, place)[lane];
}

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ASYNC_OPS_H_
