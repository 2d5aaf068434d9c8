#include "frontend/host_memory.h"

#include "base/check.h"

namespace optiml::frontend {

namespace {

constexpr int kDeviceShift = 42;
constexpr int kHostShift = 34;
constexpr int kFunctionShift = 4;
constexpr uint64_t kHostBit = uint64_t{1} << 62;
constexpr uint64_t kFunctionBit = uint64_t{1} << 61;
constexpr uint64_t kHandleBit = uint64_t{1} << 60;

}  // namespace

uint64_t HostMemory::DeviceAddress(int buffer) {
  return static_cast<uint64_t>(buffer + 1) << kDeviceShift;
}

std::optional<DevicePointer> HostMemory::AsDevice(uint64_t address) {
  if ((address & (kHostBit | kFunctionBit | kHandleBit)) != 0) {
    // Small negative numbers are null plus an offset.
    const auto offset = static_cast<int64_t>(address);
    if (offset < 0 && offset > -kDeviceReach) {
      return DevicePointer{-1, offset};
    }
    return std::nullopt;
  }
  const uint64_t slot = (address + static_cast<uint64_t>(kDeviceReach)) >> kDeviceShift;
  const auto offset = static_cast<int64_t>(address - (slot << kDeviceShift));
  return DevicePointer{static_cast<int>(slot) - 1, offset};
}

uint64_t HostMemory::FunctionAddress(int function) {
  return kFunctionBit | static_cast<uint64_t>(function) << kFunctionShift;
}

std::optional<int> HostMemory::AsFunction(uint64_t address) {
  if ((address & (kHostBit | kFunctionBit | kHandleBit)) != kFunctionBit) {
    return std::nullopt;
  }
  return static_cast<int>((address & ~kFunctionBit) >> kFunctionShift);
}

bool HostMemory::IsHost(uint64_t address) {
  return (address & kHostBit) != 0 && address >> 63 == 0;
}

size_t HostMemory::IndexOf(uint64_t address) {
  return static_cast<size_t>((address & ~kHostBit) >> kHostShift);
}

uint64_t HostMemory::OffsetOf(uint64_t address) {
  return address & ((uint64_t{1} << kHostShift) - 1);
}

uint64_t HostMemory::Allocate(uint64_t size) {
  OPTIML_CHECK(size < kMaxHostObject, "host objects are small; callers refuse larger ones");
  size_t index = objects_.size();
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    objects_.emplace_back();
  }
  HostObject& object = objects_[index];
  object.bytes.assign(size, std::byte{0});
  object.states.assign(size, ByteState::kUnwritten);
  object.is_alive = true;
  live_bytes_ += size;
  return kHostBit | static_cast<uint64_t>(index) << kHostShift;
}

void HostMemory::Free(uint64_t address) {
  HostObject& object = objects_[IndexOf(address)];
  live_bytes_ -= object.bytes.size();
  object = HostObject{};
  free_.push_back(IndexOf(address));
}

void HostMemory::Reset(uint64_t address) {
  HostObject& object = objects_[IndexOf(address)];
  object.states.assign(object.bytes.size(), ByteState::kUnwritten);
}

HostObject* HostMemory::Find(uint64_t address, uint64_t size) {
  if (!IsHost(address) || IndexOf(address) >= objects_.size()) {
    return nullptr;
  }
  HostObject& object = objects_[IndexOf(address)];
  const uint64_t offset = OffsetOf(address);
  if (!object.is_alive || offset > object.bytes.size() || size > object.bytes.size() - offset) {
    return nullptr;
  }
  return &object;
}

}  // namespace optiml::frontend
