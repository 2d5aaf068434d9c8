#ifndef OPTIML_PTX_MEMORY_H_
#define OPTIML_PTX_MEMORY_H_

// DeviceMemory: the emulated global memory. Allocations have names, synthetic addresses that are
// the same in every run, and a guard gap of at least kGuardBytes of unmapped addresses after each,
// so that an access past the end never lands in a neighbour. Each may carry a bitmap, one bit a
// byte, of what was initialised.
//
// The host's bytes of an allocation never move. Not thread safe, but for reads of disjoint objects;
// Launch's own workers share it under Launch's rules.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptx/module.h"
#include "ptx/texture.h"

namespace optiml::ptx {

// Where generic addresses of the other spaces begin; all above 32 bits so that a truncated pointer
// faults.
inline constexpr uint64_t kSharedWindow = 0x1'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x1'4000'0000;
inline constexpr uint64_t kParamWindow = 0x1'8000'0000;
inline constexpr uint64_t kWindowBytes = 0x4000'0000;
// In the parameter window: where cooperative launches synchronise.
inline constexpr uint64_t kWorkspaceAddress = kParamWindow + 0x2000'0000;
// Addresses of functions: kFunctionUnit apart, by their place in the module.
inline constexpr uint64_t kFunctionWindow = 0x1'c000'0000;
inline constexpr uint64_t kFunctionUnit = 16;
inline constexpr uint64_t kGlobalBase = 0x2'0000'0000;
inline constexpr uint64_t kGuardBytes = uint64_t{1} << 20;
inline constexpr uint64_t kAllocationAlignment = 256;  // as cudaMalloc

// What a pointer to the function holds. REQUIRES: `function` is one of the module's
uint64_t FunctionAddress(const Module& module, const Function& function);

struct Allocation {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t element_bytes = 1;  // for messages: "element 12 of x"
  bool read_only = false;      // a store faults
  bool freed = false;          // kept, so that a use after free can be named
  bool tracked = false;        // has a bitmap
  bool fully_initialised = true;
  std::byte* host = nullptr;
  // One bit a byte, bit i%64 of word i/64; empty unless tracked.
  std::vector<uint64_t> initialised;
  std::unique_ptr<std::byte[]> storage;

  bool Covers(uint64_t lo, uint64_t hi) const { return lo >= address && hi <= address + bytes; }
};

class DeviceMemory {
 public:
  // The first allocation lies at `base`. REQUIRES: base >= kGlobalBase, a multiple of
  // kAllocationAlignment (checked)
  explicit DeviceMemory(uint64_t base = kGlobalBase);
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;  // allocations own their bytes
  ~DeviceMemory();

  // A zeroed allocation (host bytes are zero; initialisation is a separate matter). Fails with
  // kInvalidArgument when the host has no room. `element_bytes` is used in messages.
  Result<uint64_t> TryAllocate(std::string_view name, uint64_t bytes, uint32_t element_bytes = 1);
  // The same for sizes known to be small. REQUIRES: the host has room (checked)
  uint64_t Allocate(std::string_view name, uint64_t bytes, uint32_t element_bytes = 1);
  // The bytes go at once, the address stays taken. Fails with kInvalidArgument when `address`
  // starts no live allocation.
  Result<void> Free(uint64_t address);

  // Host view of the allocation that starts at `address`. REQUIRES: it is live (checked)
  std::span<std::byte> Bytes(uint64_t address);
  std::span<const std::byte> Bytes(uint64_t address) const;
  // Copies into / out of any mapped range; marks it initialised. Fail with kInvalidArgument naming
  // the allocation.
  Result<void> Write(uint64_t address, std::span<const std::byte> bytes);
  Result<void> Read(uint64_t address, std::span<std::byte> bytes) const;
  Result<void> Fill(uint64_t address, uint64_t bytes, uint8_t value);

  void SetReadOnly(uint64_t address, bool read_only);
  // From now on the allocation is uninitialised until written (only checked when a launch asks for
  // it).
  void MarkUninitialised(uint64_t address);
  void MarkInitialised(uint64_t address);
  // Whether every byte of [address, address + bytes) was written; true for allocations without a
  // bitmap.
  bool IsInitialised(uint64_t address, uint64_t bytes) const;
  // Number of bytes never written.
  uint64_t UninitialisedBytes(uint64_t address) const;

  // The live allocation that holds the byte, or null.
  const Allocation* Find(uint64_t address) const;
  Allocation* Find(uint64_t address);
  // "12 bytes past the end of x (400 bytes)", "null pointer", "inside freed y" ...
  std::string Describe(uint64_t address) const;
  // "x[3]" for a mapped address, Describe() otherwise.
  std::string NameOf(uint64_t address) const;

  // Addresses of the module's global and const variables, allocated and initialised at the first
  // call for that module; later launches see what earlier ones left. Fails on an undefined symbol.
  Result<void> LoadModule(const Module& module);
  // REQUIRES: LoadModule was called
  std::optional<uint64_t> SymbolAddress(const Module& module, std::string_view symbol) const;

  // A handle for a texture or surface whose texels lie in a live allocation, to be passed to
  // kernels. Fails with kInvalidArgument when they do not, or when the description makes no sense.
  Result<uint64_t> AddTexture(const Texture& texture);
  // Null for a number that is no handle.
  const Texture* FindTexture(uint64_t handle) const;

  // In address order, freed ones included.
  const std::vector<std::unique_ptr<Allocation>>& allocations() const { return allocations_; }
  uint64_t live_bytes() const { return live_bytes_; }

 private:
  std::vector<std::unique_ptr<Allocation>> allocations_;
  std::map<uint64_t, std::map<std::string, uint64_t, std::less<>>> symbols_;  // by module id
  std::vector<std::unique_ptr<Texture>> textures_;
  uint64_t next_address_ = kGlobalBase;
  uint64_t live_bytes_ = 0;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_MEMORY_H_
