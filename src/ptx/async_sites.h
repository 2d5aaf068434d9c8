#ifndef OPTIML_PTX_ASYNC_SITES_H_
#define OPTIML_PTX_ASYNC_SITES_H_

// What a bulk copy and a call through a pointer need beyond an Op's fields: decoded once, by index
// from Op::site. Internal to ptx/.

#include <array>
#include <cstdint>
#include <vector>

namespace optiml::ptx {

enum class AtomicOp : uint8_t;

enum class BulkKind : uint8_t {
  kLoad,           // from global to shared memory
  kStore,          // from shared to global memory
  kBetweenBlocks,  // from the block's shared memory to that of a block of the cluster
  kValue           // registers to shared memory (st.async)
};

// Combines an element in memory with one that arrives (reductions).
using CombineFunction = uint64_t (*)(uint64_t old, uint64_t value);

struct BulkSite {
  BulkKind kind = BulkKind::kLoad;
  uint32_t rank = 0;                      // of a tensor copy; 0: plain
  std::array<uint32_t, 5> coordinates{};  // places
  CombineFunction function = nullptr;     // null: overwrites
  AtomicOp combine{};                     // tensor copies: the map says the type
  uint32_t element_bytes = 0;
  uint32_t elements = 1;  // kValue
};

// A call through a pointer: which call site serves each function of the program that it may reach.
struct IndirectSite {
  std::vector<int32_t> call_of_function;  // by index into Program::functions; -1: other parameters
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ASYNC_SITES_H_
