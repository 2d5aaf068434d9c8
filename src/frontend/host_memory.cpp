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
// Where cudaMalloc's addresses lie on Linux: the other surroundings look like a real process.
constexpr uint64_t kOtherOffset = uint64_t{3} << 40;
constexpr uint64_t kOtherFirst = 31;  // the first buffer's slot; the next ones lie below

}  // namespace

uint64_t HostMemory::DeviceAddress(int buffer) const {
  const auto index = static_cast<uint64_t>(buffer);
  if (surroundings_ == Surroundings::kUsual) {
    return (index + 1) << kDeviceShift;
  }
  const uint64_t slot = index < kOtherFirst ? kOtherFirst - index : index + 1;
  return (slot << kDeviceShift) + kOtherOffset;
}

std::optional<DevicePointer> HostMemory::AsDevice(uint64_t address) const {
  if ((address & (kHostBit | kFunctionBit | kHandleBit)) != 0) {
    // Small negative numbers are null plus an offset.
    const auto offset = static_cast<int64_t>(address);
    if (offset < 0 && offset > -kDeviceReach) {
      return DevicePointer{-1, offset};
    }
    return std::nullopt;
  }
  if (address < static_cast<uint64_t>(kDeviceReach)) {
    return DevicePointer{-1, static_cast<int64_t>(address)};
  }
  const bool usual = surroundings_ == Surroundings::kUsual;
  const uint64_t shifted = address - (usual ? 0 : kOtherOffset);
  const uint64_t slot = (shifted + static_cast<uint64_t>(kDeviceReach)) >> kDeviceShift;
  const auto offset = static_cast<int64_t>(shifted - (slot << kDeviceShift));
  if (usual || slot > kOtherFirst) {
    return DevicePointer{static_cast<int>(slot) - 1, offset};
  }
  return DevicePointer{slot == 0 ? -1 : static_cast<int>(kOtherFirst - slot), offset};
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

const HostObject* HostMemory::At(size_t index) const {
  return index < objects_.size() && objects_[index].is_alive ? &objects_[index] : nullptr;
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
