#ifndef OPTIML_FRONTEND_HOST_MEMORY_H_
#define OPTIML_FRONTEND_HOST_MEMORY_H_

// HostMemory: the address space that an interpreted launcher sees. Nothing in it is an address of
// this process: device buffers, host objects, functions and closures have numbers that look like
// addresses, so that pointer arithmetic, casts to integers and alignment tests work, and so that a
// launcher can never reach real memory.
//
//   device buffer i   (i + 1) << 42, offsets within +-2^41; aligned like cudaMalloc's (256 bytes).
//                     In other surroundings: elsewhere, in another order, as aligned
//   host object i     1 << 62 | i << 34, offsets below 2^33
//   function i        1 << 61 | i << 4
//
// Host objects are bytes; each byte knows whether it was written and whether it is part of a
// pointer. One space serves one run; not thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.h"

namespace optiml::frontend {

// What a launcher can see of where it runs but must not act on: the addresses of its buffers, free
// memory, versions, whether a stream is still busy. A plan must be the same in both.
enum class Surroundings { kUsual, kOther };

enum class ByteState : uint8_t { kUnwritten, kPlain, kPointer };

struct HostObject {
  std::vector<std::byte> bytes;
  std::vector<ByteState> states;
  bool is_alive = false;
};

class HostMemory {
 public:
  // Offsets beyond this in either direction leave a device buffer's numbers.
  static constexpr int64_t kDeviceReach = int64_t{1} << 41;
  static constexpr uint64_t kMaxHostObject = uint64_t{1} << 33;

  explicit HostMemory(Surroundings surroundings = Surroundings::kUsual)
      : surroundings_(surroundings) {}

  uint64_t DeviceAddress(int buffer) const;
  // The buffer and offset that an address means; null pointers and small integers are buffer -1.
  // Empty for addresses of host objects, functions and handles.
  std::optional<DevicePointer> AsDevice(uint64_t address) const;

  static uint64_t FunctionAddress(int function);
  static std::optional<int> AsFunction(uint64_t address);

  static bool IsHost(uint64_t address);

  // REQUIRES: size < kMaxHostObject
  uint64_t Allocate(uint64_t size);
  void Free(uint64_t address);
  // Makes an object unwritten again.
  void Reset(uint64_t address);

  // The object that holds [address, address + size), or null.
  HostObject* Find(uint64_t address, uint64_t size);
  // The same by number, as IndexOf() gives it; null when it is not alive.
  const HostObject* At(size_t index) const;
  size_t size() const { return objects_.size(); }
  static size_t IndexOf(uint64_t address);
  // Offset of an address in its object.
  static uint64_t OffsetOf(uint64_t address);

  uint64_t live_bytes() const { return live_bytes_; }

 private:
  Surroundings surroundings_;
  std::vector<HostObject> objects_;
  std::vector<size_t> free_;
  uint64_t live_bytes_ = 0;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_HOST_MEMORY_H_
