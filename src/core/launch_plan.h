#ifndef OPTIML_CORE_LAUNCH_PLAN_H_
#define OPTIML_CORE_LAUNCH_PLAN_H_

// LaunchPlan: what a launcher does for one shape, as data. Our own code executes it, on a GPU and
// on the emulator alike; the candidate's host code never runs beside our timers and buffers
// (docs/architecture.md).

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace optiml {

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  uint64_t Count() const { return uint64_t{x} * y * z; }
  friend auto operator<=>(const Dim3&, const Dim3&) = default;
};

// A device pointer: a buffer of the plan and a byte offset into it. buffer -1 is the null pointer
// (plus offset).
struct DevicePointer {
  int buffer = -1;
  int64_t offset_bytes = 0;
  friend auto operator<=>(const DevicePointer&, const DevicePointer&) = default;
};

// A buffer of device memory that the plan uses.
struct PlanBuffer {
  std::string name;   // the argument, or the launcher's variable
  int argument = -1;  // index into the launcher's arguments; -1: allocated by the launcher
  uint64_t size_bytes = 0;
  int line = 0;  // of the allocation
  // The module variable that it is, by its name in PTX; empty: memory of its own.
  std::string symbol = {};
};

// A CUtensorMap by value, as cuTensorMapEncodeTiled was given it: its bytes are the driver's
// secret, and hold an address. Enumerators are the driver's numbers.
struct TensorMapArgument {
  DevicePointer tensor;
  int data_type = 0;
  std::vector<uint64_t> dimensions;     // elements, innermost first
  std::vector<uint64_t> strides_bytes;  // of dimensions 1 and up
  std::vector<uint32_t> box;
  std::vector<uint32_t> element_strides;
  int interleave = 0;
  int swizzle = 0;
  int promotion = 0;
  int fill = 0;
  friend auto operator<=>(const TensorMapArgument&, const TensorMapArgument&) = default;
};

// A struct by value with device pointers among its fields.
struct StructArgument {
  struct Pointer {
    uint64_t position = 0;  // of its 8 bytes in the struct
    DevicePointer value;
    friend auto operator<=>(const Pointer&, const Pointer&) = default;
  };
  std::vector<std::byte> bytes;  // zero where the pointers are
  std::vector<Pointer> pointers;
  friend auto operator<=>(const StructArgument&, const StructArgument&) = default;
};

// A pointer, a scalar or struct by value, a struct with pointers, or a tensor map.
using KernelArgument =
    std::variant<DevicePointer, std::vector<std::byte>, StructArgument, TensorMapArgument>;

// Every step names the source line that made it.
struct KernelLaunch {
  std::string kernel;  // as an NVRTC name expression: "softmax" or "softmax<float, 256>"
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  // 1 1 1 without clusters
  uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  std::vector<KernelArgument> arguments;
  int line = 0;
};

struct MemsetStep {
  DevicePointer destination;
  uint8_t value = 0;
  uint64_t size_bytes = 0;
  int line = 0;
};

struct CopyStep {  // device to device
  DevicePointer destination;
  DevicePointer source;
  uint64_t size_bytes = 0;
  int line = 0;
};

struct UploadStep {  // host to device, of bytes that the launcher computed
  DevicePointer destination;
  std::vector<std::byte> bytes;
  int line = 0;
};

struct AttributeStep {  // cudaFuncSetAttribute
  std::string kernel;
  std::string attribute;  // "MaxDynamicSharedMemorySize", "PreferredSharedMemoryCarveout" ...
  int64_t value = 0;
  int line = 0;
};

using LaunchStep = std::variant<KernelLaunch, MemsetStep, CopyStep, UploadStep, AttributeStep>;

enum class PlanMaker { kInterpreter, kRecorder, kTaskFile };

struct LaunchPlan {
  std::vector<PlanBuffer> buffers;
  std::vector<LaunchStep> steps;  // executed in order
  PlanMaker maker = PlanMaker::kInterpreter;

  // Name expressions of the kernels that are launched, each once, in order.
  std::vector<std::string> Kernels() const;
  // Readable text, one step a line; two plans are equal if their texts are. Used in golden tests
  // and as-delivered checks.
  std::string Format() const;
};

}  // namespace optiml

#endif  // OPTIML_CORE_LAUNCH_PLAN_H_
