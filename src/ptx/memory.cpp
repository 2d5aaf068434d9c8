#include "ptx/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/check.h"
#include "base/huge_pages.h"
#include "ptx/access.h"

namespace optiml::ptx {
namespace {

// Host bytes before and after each allocation, so that a vector load of masked lanes stays inside
// the host's memory.
constexpr uint64_t kHostPadding = 512;
// No host has more.
constexpr uint64_t kMaxAllocation = uint64_t{1} << 40;
// Handles of textures: no address of anything.
constexpr uint64_t kTextureHandles = uint64_t{0x7e} << 56;

}  // namespace

uint64_t FunctionAddress(const Module& module, const Function& function) {
  return kFunctionWindow +
         kFunctionUnit * static_cast<uint64_t>(&function - module.functions.data());
}

DeviceMemory::DeviceMemory(uint64_t base) : next_address_(base) {
  OPTIML_CHECK(base >= kGlobalBase && base % kAllocationAlignment == 0,
               "allocations lie above the windows");
}
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;
DeviceMemory::~DeviceMemory() = default;

Result<uint64_t> DeviceMemory::TryAllocate(std::string_view name, uint64_t bytes,
                                           uint32_t element_bytes) {
  if (bytes > kMaxAllocation) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("allocation '{}' of {} bytes is too large", name, bytes));
  }
  auto allocation = std::make_unique<Allocation>();
  const uint64_t host_bytes = bytes + 2 * kHostPadding + kAllocationAlignment;
  allocation->storage.reset(new (std::nothrow) std::byte[host_bytes]);
  if (allocation->storage == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("no host memory for allocation '{}' of {} bytes", name, bytes));
  }
  PreferHugePages(allocation->storage.get(), host_bytes);
  std::memset(allocation->storage.get(), 0, host_bytes);
  const auto start = reinterpret_cast<uintptr_t>(allocation->storage.get()) + kHostPadding;
  const auto aligned =
      (start + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
  allocation->host = allocation->storage.get() + kHostPadding + (aligned - start);
  allocation->name = std::string(name);
  allocation->address = next_address_;
  allocation->bytes = bytes;
  allocation->element_bytes = std::max(element_bytes, 1u);
  const uint64_t taken =
      (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
  next_address_ += taken + kGuardBytes;
  live_bytes_ += bytes;
  const uint64_t address = allocation->address;
  allocations_.push_back(std::move(allocation));
  return address;
}

uint64_t DeviceMemory::Allocate(std::string_view name, uint64_t bytes, uint32_t element_bytes) {
  const auto address = TryAllocate(name, bytes, element_bytes);
  OPTIML_CHECK(address.has_value(), "a small allocation must succeed");
  return *address;
}

Result<void> DeviceMemory::Free(uint64_t address) {
  Allocation* allocation = Find(address);
  if (allocation == nullptr || allocation->address != address) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("free of {:#x}: {}", address, Describe(address)));
  }
  live_bytes_ -= allocation->bytes;
  allocation->freed = true;
  allocation->storage.reset();
  allocation->host = nullptr;
  allocation->initialised = {};
  return {};
}

const Allocation* DeviceMemory::Find(uint64_t address) const {
  auto it = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](uint64_t value, const auto& allocation) { return value < allocation->address; });
  if (it == allocations_.begin()) {
    return nullptr;
  }
  const Allocation* allocation = std::prev(it)->get();
  return !allocation->freed && address < allocation->address + allocation->bytes ? allocation
                                                                                 : nullptr;
}

Allocation* DeviceMemory::Find(uint64_t address) {
  return const_cast<Allocation*>(std::as_const(*this).Find(address));
}

std::span<std::byte> DeviceMemory::Bytes(uint64_t address) {
  for (const auto& allocation : allocations_) {
    if (allocation->address == address && !allocation->freed) {
      return {allocation->host, allocation->bytes};
    }
  }
  OPTIML_CHECK(false, "Bytes() needs the start of a live allocation");
}

std::span<const std::byte> DeviceMemory::Bytes(uint64_t address) const {
  return const_cast<DeviceMemory*>(this)->Bytes(address);
}

Result<void> DeviceMemory::Write(uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return {};
  }
  Allocation* allocation = Find(address);
  if (allocation == nullptr || !allocation->Covers(address, address + bytes.size())) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("write of {} bytes at {}", bytes.size(), NameOf(address)));
  }
  const uint64_t at = address - allocation->address;
  std::memcpy(allocation->host + at, bytes.data(), bytes.size());
  if (allocation->tracked && !allocation->fully_initialised) {
    SetBits(allocation->initialised.data(), at, at + bytes.size(), false);
  }
  return {};
}

Result<void> DeviceMemory::Read(uint64_t address, std::span<std::byte> bytes) const {
  if (bytes.empty()) {
    return {};
  }
  const Allocation* allocation = Find(address);
  if (allocation == nullptr || !allocation->Covers(address, address + bytes.size())) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("read of {} bytes at {}", bytes.size(), NameOf(address)));
  }
  std::memcpy(bytes.data(), allocation->host + (address - allocation->address), bytes.size());
  return {};
}

Result<void> DeviceMemory::Fill(uint64_t address, uint64_t bytes, uint8_t value) {
  if (bytes == 0) {
    return {};
  }
  Allocation* allocation = Find(address);
  if (allocation == nullptr || !allocation->Covers(address, address + bytes)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("fill of {} bytes at {}", bytes, NameOf(address)));
  }
  const uint64_t at = address - allocation->address;
  std::memset(allocation->host + at, value, bytes);
  if (allocation->tracked && !allocation->fully_initialised) {
    SetBits(allocation->initialised.data(), at, at + bytes, false);
  }
  return {};
}

void DeviceMemory::SetReadOnly(uint64_t address, bool read_only) {
  Allocation* allocation = Find(address);
  OPTIML_CHECK(allocation != nullptr, "SetReadOnly needs a live allocation");
  allocation->read_only = read_only;
}

void DeviceMemory::MarkUninitialised(uint64_t address) {
  Allocation* allocation = Find(address);
  OPTIML_CHECK(allocation != nullptr, "MarkUninitialised needs a live allocation");
  allocation->tracked = true;
  allocation->fully_initialised = false;
  allocation->initialised.assign((allocation->bytes + 63) / 64, 0);
}

void DeviceMemory::MarkInitialised(uint64_t address) {
  Allocation* allocation = Find(address);
  OPTIML_CHECK(allocation != nullptr, "MarkInitialised needs a live allocation");
  allocation->fully_initialised = true;
}

bool DeviceMemory::IsInitialised(uint64_t address, uint64_t bytes) const {
  const Allocation* allocation = Find(address);
  if (allocation == nullptr || !allocation->Covers(address, address + bytes)) {
    return false;
  }
  if (!allocation->tracked || allocation->fully_initialised || bytes == 0) {
    return true;
  }
  const uint64_t at = address - allocation->address;
  return BitsSet(allocation->initialised.data(), at, at + bytes);
}

uint64_t DeviceMemory::UninitialisedBytes(uint64_t address) const {
  const Allocation* allocation = Find(address);
  if (allocation == nullptr || !allocation->tracked || allocation->fully_initialised) {
    return 0;
  }
  uint64_t written = 0;
  for (const uint64_t word : allocation->initialised) {
    written += static_cast<uint64_t>(std::popcount(word));
  }
  return allocation->bytes - written;
}

std::string DeviceMemory::Describe(uint64_t address) const {
  if (address < 4096) {
    return address == 0 ? "the null pointer" : fmt::format("the null pointer plus {}", address);
  }
  if (address >= kSharedWindow && address < kParamWindow + kWindowBytes) {
    return fmt::format("generic address {:#x} of another memory space", address);
  }
  if (address < kGlobalBase) {
    return "an address below all allocations";
  }
  const Allocation* before = nullptr;
  const Allocation* after = nullptr;
  for (const auto& allocation : allocations_) {
    if (allocation->address <= address) {
      before = allocation.get();
    } else if (after == nullptr) {
      after = allocation.get();
    }
  }
  if (before != nullptr && address < before->address + before->bytes) {
    return before->freed ? fmt::format("freed {}[{}]", before->name,
                                       (address - before->address) / before->element_bytes)
                         : NameOf(address);
  }
  const uint64_t past =
      before != nullptr ? address - (before->address + before->bytes) : ~uint64_t{0};
  const uint64_t ahead = after != nullptr ? after->address - address : ~uint64_t{0};
  if (before != nullptr && past <= ahead) {
    return fmt::format("{}[{}], {} bytes past its end ({} bytes)", before->name,
                       (address - before->address) / before->element_bytes, past, before->bytes);
  }
  if (after != nullptr) {
    return fmt::format("{} bytes before {} ({} bytes)", ahead, after->name, after->bytes);
  }
  return "an address where nothing is";
}

std::string DeviceMemory::NameOf(uint64_t address) const {
  const Allocation* allocation = Find(address);
  if (allocation == nullptr) {
    return Describe(address);
  }
  return fmt::format("{}[{}]", allocation->name,
                     (address - allocation->address) / allocation->element_bytes);
}

Result<uint64_t> DeviceMemory::AddTexture(const Texture& texture) {
  if (std::string problem = CheckTexture(texture); !problem.empty()) {
    return Error(ErrorCode::kInvalidArgument, std::move(problem));
  }
  Allocation* allocation = Find(texture.address);
  if (allocation == nullptr ||
      !allocation->Covers(texture.address, texture.address + texture.bytes())) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("texture of {} bytes at {}", texture.bytes(), NameOf(texture.address)));
  }
  textures_.push_back(std::make_unique<Texture>(texture));
  textures_.back()->allocation = allocation;
  return kTextureHandles + textures_.size();
}

const Texture* DeviceMemory::FindTexture(uint64_t handle) const {
  const uint64_t number = handle - kTextureHandles;
  return number >= 1 && number <= textures_.size() ? textures_[number - 1].get() : nullptr;
}

Result<void> DeviceMemory::LoadModule(const Module& module) {
  if (symbols_.contains(module.id())) {
    return {};
  }
  std::map<std::string, uint64_t, std::less<>> addresses;
  for (const Variable& variable : module.variables) {
    if (variable.space != Space::kGlobal && variable.space != Space::kConst) {
      continue;
    }
    if (variable.is_extern) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: variable '{}' is extern and defined nowhere", module.name,
                               variable.name));
    }
    OPTIML_ASSIGN(const uint64_t address,
                  TryAllocate(variable.name, variable.bytes, TypeBytes(variable.type)));
    Allocation* allocation = allocations_.back().get();
    if (!variable.initial.empty()) {
      std::memcpy(allocation->host, variable.initial.data(), variable.initial.size());
    }
    allocation->read_only = variable.space == Space::kConst;
    addresses[variable.name] = address;
  }
  for (const Variable& variable : module.variables) {
    for (const Variable::Relocation& relocation : variable.relocations) {
      const auto it = addresses.find(relocation.symbol);
      uint64_t value = 0;
      if (it != addresses.end()) {
        value = it->second;
      } else if (const Function* function = module.FindFunction(relocation.symbol)) {
        value = FunctionAddress(module, *function);
      } else {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: undefined symbol '{}' in the initialiser of '{}'",
                                 module.name, relocation.symbol, variable.name));
      }
      value += static_cast<uint64_t>(relocation.offset);
      std::memcpy(Find(addresses[variable.name])->host + relocation.position, &value,
                  sizeof(value));
    }
  }
  symbols_[module.id()] = std::move(addresses);
  return {};
}

std::optional<uint64_t> DeviceMemory::SymbolAddress(const Module& module,
                                                    std::string_view symbol) const {
  const auto it = symbols_.find(module.id());
  if (it == symbols_.end()) {
    return std::nullopt;
  }
  const auto found = it->second.find(symbol);
  return found == it->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace optiml::ptx
