#ifndef OPTIML_PTX_HANDLERS_H_
#define OPTIML_PTX_HANDLERS_H_

// Handlers that are the same for every instruction set of the host: control flow, barriers,
// exchanges between lanes, atomics. Internal to ptx/.

#include "ptx/alu.h"
#include "ptx/matrix.h"
#include "ptx/program.h"
#include "ptx/warp.h"

namespace optiml::ptx {

// Control (ops_control.cpp).
const Op* EnterBlock(Warp& w, const Op* op);     // site: block; aux: instructions in it
const Op* Branch(Warp& w, const Op* op);         // a: predicate; aux: kBranchNegated | kBranchPolls
const Op* Jump(Warp& w, const Op* op);           // aux: kBranchPolls
const Op* BranchIndexed(Warp& w, const Op* op);  // a: index; site: table
const Op* Return(Warp& w, const Op* op);         // a: predicate or 0; aux: negated
const Op* Exit(Warp& w, const Op* op);           // the same
const Op* Trap(Warp& w, const Op* op);           // aux: 0 trap, 1 breakpoint
const Op* Call(Warp& w, const Op* op);           // site: call site
const Op* PredicateBegin(
    Warp& w, const Op* op);  // a: predicate; aux: negated; aux2: class; target: after the end
const Op* PredicateEnd(Warp& w, const Op* op);
const Op* Nothing(Warp& w, const Op* op);
const Op* Fence(Warp& w, const Op* op);  // aux: 1 of the block's scope
const Op* LocalAddress(Warp& w,
                       const Op* op);        // d; offset; aux: 1 as a generic address, 2 as 32 bits
const Op* ReadClock(Warp& w, const Op* op);  // d; aux: SpecialRegister
const Op* IsSpace(Warp& w, const Op* op);    // d predicate; a address; aux: Space
const Op* ToSpace(Warp& w, const Op* op);    // d; a; offset: added where not null

// Barriers (ops_control.cpp). a: id or 0; b: threads or 0; aux: id when a is 0.
const Op* BarrierSync(Warp& w, const Op* op);
const Op* BarrierArrive(Warp& w, const Op* op);
const Op* BarrierReduce(
    Warp& w,
    const Op* op);  // c: predicate; d: result; aux2: 0 popc, 1 and, 2 or; aux bit 8: negated
const Op* BarrierWarp(Warp& w, const Op* op);  // a: members
// Whether the members among the lanes are together at `op`. When they are not, those that are here
// wait for the others as long as these get on, and `next` is where the warp goes on.
bool Converged(Warp& w, const Op* op, uint32_t members, const Op*& next);
// Lanes that wait where nothing but the kernel's end follows leave it now: a barrier waits for
// threads that have not exited, and these meet no other one.
void LetGo(Warp& w);
// Writes the result of a reduction when the barrier completes.
void FinishBarrierReduce(Warp& w, uint32_t count, uint32_t participants);

inline constexpr uint32_t kBarrierUnaligned = 0x200;  // aux: the warp's threads may come one by one

inline constexpr uint32_t kBranchNegated = 1;
inline constexpr uint32_t kBranchPolls = 2;

// Lets other lanes of the warp run when some wait for those that poll. True when another path was
// chosen.
bool RotatePaths(Warp& w);
// The same for lanes that wait at `op`, not for ever between two of them; `next` is where the warp
// goes on.
bool Rotate(Warp& w, const Op* op, const Op*& next);
// Back to the caller's frame: its registers, locals and results.
void LeaveFrame(Warp& w, const Path& path);
// Fills the special registers of the running function. `again`: this warp's registers hold those of
// an earlier block, so that only what differs between blocks is written.
void FillSpecials(Warp& w, const ProgramFunction& function, bool again = false);
// Whether each lane is a member of what it takes part in; a finding when not.
void CheckMembers(Warp& w, const Op* op, const uint32_t* members, const char* what);
// Race check inside warps: what the lanes did so far is ordered before what follows.
void SynchroniseWarp(Warp& w);

// Between lanes (ops_warp.cpp). e: members.
// shfl: a value, b lane, c clamp and mask, e member mask; d result, d2 predicate or 0; aux: 0 up, 1
// down, 2 bfly, 3 idx.
const Op* Shuffle(Warp& w, const Op* op);
// vote: a predicate (aux bit 8: negated); d result; aux & 7: 0 all, 1 any, 2 uni, 3 ballot.
const Op* Vote(Warp& w, const Op* op);
const Op* ActiveMask(Warp& w, const Op* op);
// match: a value (aux2: bytes); d mask; d2 predicate or 0; aux: 0 any, 1 all.
const Op* Match(Warp& w, const Op* op);
// redux: a value; d; aux: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; aux2: signed.
const Op* Reduce(Warp& w, const Op* op);

// Atomics (ops_atomic.cpp). a address; b, c operands; d result or 0.
enum class AtomicOp : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor, kExch, kCas, kInc, kDec };
struct AtomicRequest {
  AtomicOp op = AtomicOp::kAdd;
  Type type = Type::kU32;
  Space space = Space::kGlobal;
  bool wide_address = true;
};
Handler SelectAtomic(const AtomicRequest& request);
// What an atomic of this type does to an element, zero-extended; null when there is none.
CombineFunction SelectCombine(AtomicOp op, Type type);

// Matrices (ops_mma.cpp, ops_wgmma.cpp). site: index into Program::matrices.
const Op* Mma(Warp& w, const Op* op);
// ldmatrix, stmatrix: aux: transposed; the 16-byte load or store of the rows is the next op.
const Op* LoadMatrix(Warp& w, const Op* op);
const Op* StoreMatrix(Warp& w, const Op* op);
const Op* MoveMatrix(Warp& w, const Op* op);  // a; d
// Elements in 16-bit registers a b c e (aux of them, aux2 bytes each) into one 32-bit register, and
// one out of it (aux: shift).
const Op* PackElements(Warp& w, const Op* op);
const Op* UnpackElement(Warp& w, const Op* op);
// c: predicate that asks to add to D (aux bit 0: negated), or 0 (aux bit 1: add).
const Op* WarpgroupMma(Warp& w, const Op* op);
const Op* WarpgroupFence(Warp& w, const Op* op);
const Op* WarpgroupCommit(Warp& w, const Op* op);
const Op* WarpgroupWait(Warp& w, const Op* op);  // aux: groups that may still be unfinished
// Elements in registers into words, in the map's order, and back; 64-bit ones take two words.
void GatherElements(Warp& w, const std::vector<Place>& places, const FragmentMap& map,
                    uint32_t bytes, uint32_t* out);
void ScatterElements(Warp& w, const std::vector<Place>& places, const FragmentMap& map,
                     uint32_t bytes, const uint32_t* in);

// Textures and surfaces (ops_texture.cpp). site: index into Program::textures.
const Op* ReadTexture(Warp& w, const Op* op);
const Op* AccessSurface(Warp& w, const Op* op);

// vprintf with the arguments in a buffer of local or other memory; returns the result for the lane.
int32_t Printf(Warp& w, const Op* op, uint32_t lane, uint64_t format, uint64_t arguments);
// Reads bytes at a generic address for one lane; false when nothing is there.
bool ReadGeneric(Warp& w, uint32_t lane, uint64_t address, void* into, uint32_t bytes);

template <class T>
T* RegisterAt(Warp& w, Place place) {
  return reinterpret_cast<T*>(const_cast<uint8_t*>(w.base[place & 1]) + place);
}

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_HANDLERS_H_
