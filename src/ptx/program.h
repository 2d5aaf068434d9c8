#ifndef OPTIML_PTX_PROGRAM_H_
#define OPTIML_PTX_PROGRAM_H_

// Program: a kernel and the functions it calls, decoded once into Ops that a warp executes one
// after the other. An Op is a function pointer with the places of its operands; it works on 32
// lanes at a time.
//
// Places: every register is an array of 32 lanes in the warp's register file (predicates: one
// 32-bit mask), every constant an array of 32 equal lanes in the program. A place is a byte offset;
// bit 0 chooses between the two.
//
// Internal to ptx/. Immutable after decoding, shared by threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/async_sites.h"
#include "ptx/counters.h"
#include "ptx/matrix.h"
#include "ptx/module.h"
#include "ptx/shadow_sites.h"

namespace optiml::ptx {

struct Op;
struct Warp;

// Returns the next Op, or null when the warp stops (Warp::stop says why).
using Handler = const Op* (*)(Warp&, const Op*);
using Place = uint32_t;

struct Op {
  Handler run = nullptr;
  Place d = 0;  // results
  Place d2 = 0;
  Place a = 0;  // sources
  Place b = 0;
  Place c = 0;
  Place e = 0;
  uint32_t aux = 0;   // meaning belongs to the handler
  uint32_t site = 0;  // basic block, memory site or call site
  union {
    int64_t offset = 0;  // memory: added to the address
    const Op* target;    // branches
  };
  const Op* reconvergence = nullptr;  // branches: where the lanes meet again; null: at the end
  uint32_t instruction = 0;           // index into Program::instructions
  uint32_t aux2 = 0;
};
static_assert(sizeof(Op) == 64);

enum class SpecialRegister : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSharedBytes,
  kTotalSharedBytes,
  kClock,
  kClock64,
  kClockHi,
  kGlobalTimer,
  kGlobalTimerLo,
  kGlobalTimerHi,
  kZero,
  // Of the block's cluster; a launch without clusters has clusters of one block.
  kClusterCtaRank,
  kClusterNctaRank,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterIdX,
  kNclusterIdY,
  kNclusterIdZ,
  // Address of the workspace of grid-wide synchronisation; zero unless the launch is cooperative.
  kWorkspaceHigh,
  kWorkspaceLow
};

// A special register that a function uses: filled when the function is entered.
struct SpecialUse {
  SpecialRegister which;
  uint8_t bytes = 4;
  Place place = 0;
};

struct ProgramFunction {
  std::string name;
  uint32_t first_op = 0;
  uint32_t frame_bytes = 0;  // registers, specials and temporaries
  uint32_t local_bytes = 0;  // of one lane: .local, .param of the body and, for device functions,
                             // parameters and results
  std::vector<SpecialUse> specials;
};

struct CallArgument {
  uint32_t from = 0;  // offset in the caller's local frame
  uint32_t to = 0;    // offset in the callee's
  uint32_t bytes = 0;
};

enum class Builtin : uint8_t { kNone, kPrintf, kAssertFail, kMalloc, kFree };

struct CallSite {
  int32_t function = -1;  // index into Program::functions
  Builtin builtin = Builtin::kNone;
  std::vector<CallArgument> arguments;
  std::vector<CallArgument> results;  // from the callee's frame to the caller's
};

// One texture or surface instruction.
struct TextureSite {
  enum class Kind : uint8_t { kRead, kGather, kLoad, kStore };
  enum class Outside : uint8_t { kTrap, kClamp, kZero };
  Kind kind = Kind::kRead;
  Outside outside = Outside::kTrap;  // surfaces
  uint32_t dimensions = 0;
  uint32_t channel = 0;     // of a gather
  Type type = Type::kNone;  // of an element
  bool integer_coordinates = false;
  Place handle = 0;
  std::vector<Place> coordinates;
  std::vector<Place> values;  // registers; 0: not wanted
};

// What a basic block does once: multiplied by how often it ran.
struct BlockFacts {
  uint32_t instructions = 0;
  std::vector<std::pair<InstructionClass, uint32_t>> classes;     // instructions, by class
  std::vector<std::pair<InstructionClass, uint32_t>> predicated;  // those under a predicate
  bool conditional_branch = false;
  uint32_t global_load_rounds = 0;
  uint32_t first_instruction = 0;  // in Program::instructions
};

// For messages.
struct InstructionFacts {
  int32_t source_line = 0;
  int32_t ptx_line = 0;
  InstructionClass instruction_class = InstructionClass::kOther;
};

// A shared variable's place: [begin, end) of the block's shared memory.
struct SharedRegion {
  std::string name;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t element_bytes = 1;
  bool dynamic = false;
};

class Program {
 public:
  std::vector<Op> ops;
  std::vector<ProgramFunction> functions;  // [0]: the kernel
  std::vector<std::byte> constant_storage;
  const uint8_t* constants = nullptr;  // 64-byte aligned
  std::vector<BlockFacts> blocks;
  std::vector<InstructionFacts> instructions;
  std::vector<CallSite> calls;
  std::vector<MatrixSite> matrices;
  std::vector<TextureSite> textures;
  std::vector<std::vector<const Op*>> branch_tables;
  std::vector<SharedRegion> shared;  // static ones; the dynamic region begins at dynamic_begin
  uint32_t dynamic_begin = 0;
  std::string dynamic_name;  // of the extern array; empty without
  uint32_t dynamic_element_bytes = 4;
  uint64_t static_shared_bytes = 0;  // as the GPU counts them, without guards between variables
  uint32_t memory_sites = 0;
  bool shared_strong =
      false;  // shared atomics or volatile accesses occur: the race check keeps a third tag
  uint32_t shared_granule = 4;  // bytes of the narrowest shared access, at most 4
  uint32_t global_granule = 4;  // the same of global memory
  bool multi_space = false;     // generic accesses occur
  // The order in which blocks reach global atomics can show in the results: floating-point sums,
  // exchanges, and atomics whose old value is used.
  bool block_order_shows = false;
  // All global atomics are reductions whose old value is not used, blocks cannot wait for each
  // other, and all other accesses of global memory are plain ones of registers: several host
  // threads may run it, with OrderedAtomics.
  bool defers_atomics = false;
  bool loops_poll = false;               // a loop may wait for others
  bool uses_async = false;               // copies, mbarriers or clusters: blocks have a BlockAsync
  bool uses_workspace = false;           // grid-wide synchronisation: reads where its workspace is
  bool allocates = false;                // malloc or free on the device
  std::vector<ShadowSite> shadow_sites;  // by op; empty without shadows (float_shadow.h)
  std::vector<BulkSite> bulk_sites;
  std::vector<IndirectSite> indirect_sites;
  // By index into Module::functions: the index here, of those that can be called through a pointer;
  // -1 else.
  std::vector<int32_t> function_of_address;
  std::vector<std::string> unsupported;  // messages; the program must not run unless empty
  // Symbols whose addresses are patched into constants for each memory: constant offset, symbol,
  // addend.
  struct SymbolUse {
    uint32_t constant = 0;
    std::string symbol;
    int64_t addend = 0;
    uint32_t bytes = 8;
  };
  std::vector<SymbolUse> symbols;
  // Kernel parameters that are loaded: constant offset, offset in the parameter block, bytes there,
  // bytes of a lane.
  struct ParameterUse {
    uint32_t constant = 0;
    uint32_t offset = 0;
    uint32_t bytes = 4;
    uint32_t lane_bytes = 4;
  };
  std::vector<ParameterUse> parameters;

  // Whether all blocks run on one host thread so that results repeat. `grid_of_blocks`: without
  // clusters, and not cooperative.
  bool NeedsOneThread(bool grid_of_blocks) const {
    return allocates || (block_order_shows && !(defers_atomics && grid_of_blocks));
  }
};

// Decodes a kernel with all it can call. Never fails: what is unsupported is in
// Program::unsupported.
// `shadows`: for launches that follow values in double (float_shadow.h).
std::shared_ptr<const Program> DecodeProgram(const Module& module, const Function& kernel,
                                             bool shadows);

// The same, from the module's cache.
std::shared_ptr<const Program> ProgramOf(const Module& module, const Function& kernel,
                                         bool shadows = false);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_PROGRAM_H_
