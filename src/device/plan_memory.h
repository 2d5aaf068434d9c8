#ifndef OPTIML_DEVICE_PLAN_MEMORY_H_
#define OPTIML_DEVICE_PLAN_MEMORY_H_

// PlanMemory: emulated memory with the buffers of a plan in it, and the plan's steps that only move
// bytes. Between buffers lie unmapped addresses (ptx/memory.h), so an access past an end faults.
//
// Not thread safe.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "device/device.h"
#include "ptx/memory.h"

namespace optiml {

class PlanMemory {
 public:
  // `memory` has the module loaded, whose variables some buffers may be. Allocates and fills every
  // other buffer; buffers without contents hold poison and count as
  // uninitialised. Fails with kInvalidArgument when the request's buffers do not fit its plan or
  // the host has no room.
  static Result<PlanMemory> Make(const RunRequest& request, const ptx::Module& module,
                                 ptx::DeviceMemory memory);

  ptx::DeviceMemory& memory() { return memory_; }

  // The device address; the null pointer for buffer -1.
  uint64_t Address(const DevicePointer& pointer) const;

  // What the memory holds when the launcher is called once more: these contents in the argument
  // buffers, anything in those that the launcher allocates. Fails like Make().
  Result<void> Refill(const LaunchPlan& plan, const std::vector<BufferContents>& buffers);

  // Each returns a Finding when the step leaves its buffer or writes a read-only one.
  std::optional<Finding> Apply(const MemsetStep& step);
  std::optional<Finding> Apply(const CopyStep& step);
  std::optional<Finding> Apply(const UploadStep& step);

  // Contents of the argument buffers, in the request's order.
  std::vector<std::vector<std::byte>> ArgumentContents() const;

  // Where they are, in the same order.
  std::vector<uint64_t> ArgumentAddresses() const;

  // Bytes of all buffers, and of those that are not read only.
  uint64_t total_bytes() const { return total_bytes_; }
  uint64_t writable_bytes() const { return writable_bytes_; }

 private:
  PlanMemory() = default;
  Result<void> FillOne(size_t buffer, const PlanBuffer& of, const BufferContents* contents);
  std::optional<Finding> CheckWrite(const DevicePointer& to, const char* what, int line) const;

  ptx::DeviceMemory memory_;
  std::vector<uint64_t> addresses_;  // by buffer of the plan
  std::vector<bool> is_variable_;    // of the module, by buffer
  std::vector<size_t> arguments_;    // buffers that belong to arguments, in order
  uint64_t total_bytes_ = 0;
  uint64_t writable_bytes_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_PLAN_MEMORY_H_
