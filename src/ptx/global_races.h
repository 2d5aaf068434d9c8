#ifndef OPTIML_PTX_GLOBAL_RACES_H_
#define OPTIML_PTX_GLOBAL_RACES_H_

// The race check of global memory: between blocks, warps and lanes of one launch. Nothing orders
// two blocks but what PTX's memory model does: a release (a fence and then a strong write, or one
// of the two in one) that an acquire reads, and barriers of the grid or of a cluster, which are
// made of these. Inside of a block the stamps of the shared-memory check (ShadowMemory) say what is
// ordered.
//
// Clocks are those of warps: a lane releases and acquires for its whole warp. The reader's own
// fence is not asked for: a strong read that sees a released value acquires. docs/emulator.md says
// what else is let pass.
//
// One worker runs such a launch. Internal to ptx/.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/access.h"
#include "ptx/warp.h"

namespace optiml::ptx {

// Which accesses are ordered before, over blocks: those of warp `warp` (kLanes: of every warp) of
// the unit with a stamp below `stamp`. A unit is a block that was started. Sorted, one entry a
// warp.
struct ClockEntry {
  uint32_t unit = 0;
  uint32_t warp = 0;
  uint32_t stamp = 0;
};
using GlobalClock = std::vector<ClockEntry>;
using ClockRef = std::shared_ptr<const GlobalClock>;  // null: nothing

// Both together.
ClockRef JoinClocks(const ClockRef& a, const ClockRef& b);

// What a warp knows beside BlockState::known.
struct WarpOrder {
  ClockRef other_blocks;  // ordered before its next accesses
  // The last clocks that it acquired.
  ClockRef acquired;
  ClockRef acquired_in_block;
  // What its next strong write releases: accesses of warp v of its block with a stamp below
  // fenced[v], and of other blocks. Fences of the block's scope release to the block alone.
  std::array<uint32_t, kLanes> fenced{};
  std::array<uint32_t, kLanes> fenced_in_block{};
  ClockRef fenced_other_blocks;
  ClockRef released;           // `fenced` as a clock, once it was asked for
  ClockRef released_in_block;  // the same of `fenced_in_block`
};

// Of a block, once one of its warps fenced or acquired anything.
struct BlockOrder {
  uint32_t unit = 0;
  bool used = false;
  std::array<WarpOrder, kLanes> warps;
};

enum class GlobalAccess : uint8_t { kLoad, kStore, kStrongLoad, kStrongStore };

// One access by one lane, or by neighbouring lanes to neighbouring elements.
struct GlobalRange {
  uint64_t lo = 0;
  uint64_t hi = 0;
  uint32_t lane = 0;           // of the first
  uint32_t lane_bytes = 4;     // of each lane
  uint32_t element_bytes = 4;  // of a register
  GlobalAccess access = GlobalAccess::kLoad;
  bool block_scope = false;       // strong in its block alone
  bool compare_and_swap = false;  // plain reads beside it only guess: it looks itself
  bool from_registers = true;     // a store of the Op's registers, whose values can be compared
  bool leaves_tag = true;
};

class GlobalRaces {
 public:
  explicit GlobalRaces(uint32_t granule_bytes);
  ~GlobalRaces();

  // A block starts (its stamps go on from an earlier one's).
  void StartBlock(BlockState& block);
  // Nothing is checked any more, because of this. The first reason stays.
  void GiveUp(const std::string& why);
  // Why the check gave up; empty: it did not.
  const std::string& incomplete() const { return incomplete_; }

  // Checks the bytes and leaves tags. Call it before a store happens.
  void Check(Warp& warp, const Op* op, const Allocation& allocation, const GlobalRange& range);

  // The same for the pieces of one plain access, each as `range` but for its bytes and first lane.
  void CheckPieces(Warp& warp, const Op* op, const Allocation& allocation,
                   const GlobalPiece* pieces, uint32_t count, const GlobalRange& range);
  // The same for one lane's atomic, with the orders that it takes part in, when nothing can come of
  // them: no block has released or fenced, nobody but atomics of all blocks was there. False, with
  // nothing done, otherwise. `tag`: of AtomicTag.
  bool CheckAtomicQuickly(const Allocation& allocation, const Op* op, uint64_t at, uint32_t bytes,
                          uint64_t tag);
  // 0: the quick way is not for this atomic.
  uint64_t AtomicTag(const Warp& warp, const Op* op, uint32_t lane) const;

  void Fence(Warp& warp, bool block_scope);
  // A strong write and a strong read of the address; both for a read-modify-write.
  void Release(Warp& warp, uint64_t address, uint32_t bytes, bool keeps_earlier, bool block_scope);
  void Acquire(Warp& warp, uint64_t address, uint32_t bytes);
  // After a barrier of these warps of a block, and of all blocks of a cluster.
  static void Synchronise(BlockState& block, uint32_t warps);
  static void SynchroniseCluster(const std::vector<BlockState*>& blocks);

 private:
  struct Cell;
  struct StrongCell;
  struct RowTag;
  struct Row;
  struct Page;
  struct Shadow;
  struct SyncVariable {
    ClockRef everywhere;
    ClockRef in_block;
    uint32_t unit = 0;  // of in_block
  };
  struct Party;
  struct Accessor;
  struct RowAccess;

  Shadow& ShadowOf(const Allocation& allocation);
  // Null when tags take too much room.
  Page* PageOf(std::unique_ptr<Page>& page);
  bool TakeRoom(size_t bytes);
  void ReleaseOne(Warp& warp, uint64_t granule, bool keeps_earlier, bool block_scope);
  void AcquireOne(Warp& warp, uint64_t granule);
  static Accessor AccessorOf(const Warp& warp, const GlobalRange& range);
  static void LeaveTag(const Op* op, const GlobalRange& range, const Accessor& accessor,
                       uint32_t lane, Cell& cell);
  static void LeaveTag(const Op* op, const GlobalRange& range, const Accessor& accessor,
                       uint32_t lane, StrongCell& cell);
  void CheckRow(Warp& warp, const Op* op, const Allocation& allocation, const GlobalRange& range,
                const Accessor& accessor, const RowAccess& access);
  static bool CheckRowQuickly(const Program& program, const Op* op, const Accessor& accessor,
                              const RowTag& mine, Row& row);
  // The same for a row whose accesses of the kind have no cells, as one tag; false when that cannot
  // be said.
  static bool MergeTag(const Warp& warp, const Op* op, const GlobalRange& range,
                       const Accessor& accessor, const RowTag& mine, Row& row);
  void CheckCell(Warp& warp, const Op* op, const Allocation& allocation, const GlobalRange& range,
                 const Cell& cell, const StrongCell& strong, uint64_t at, uint32_t lane);
  bool Conflicts(const Warp& warp, uint64_t tag, uint32_t lane) const;
  Party Opponent(const Warp& warp, const GlobalRange& range, const Cell& cell,
                 const StrongCell& strong_cell, uint32_t lane) const;
  static bool SameValue(Warp& warp, const Op* op, const Allocation& allocation,
                        const GlobalRange& range, uint64_t at, uint32_t bytes, uint32_t lane);

  uint32_t shift_;
  std::string incomplete_;
  uint32_t units_ = 0;
  uint64_t tag_bytes_ = 0;
  std::vector<uint64_t> block_of_unit_;
  std::unordered_map<const Allocation*, std::unique_ptr<Shadow>> shadows_;
  const Allocation* last_allocation_ = nullptr;
  Shadow* last_shadow_ = nullptr;
  // By granule: an access of another width finds what its bytes were given.
  std::unordered_map<uint64_t, SyncVariable> variables_;
};

// For tests: room for tags of launches from now on; 0: as much as ever. Not thread safe.
void SetRaceTagBytesForTest(uint64_t bytes);

// Bytes that a thread moves by other ways than registers: textures, surfaces, bulk copies.
// REQUIRES: Worker::check_global_races
void CheckGlobalBytes(Warp& warp, const Op* op, const Allocation& allocation,
                      const GlobalRange& range);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_GLOBAL_RACES_H_
