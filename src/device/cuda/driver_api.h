#ifndef OPTIML_DEVICE_CUDA_DRIVER_API_H_
#define OPTIML_DEVICE_CUDA_DRIVER_API_H_

// The few functions of the CUDA driver that we call, as pointers that are filled when libcuda.so.1
// is opened: no CUDA header is needed to compile OptiML. Declarations and numbers follow NVIDIA's
// documented C interface (CUDA Driver API 12.0 and later); result codes are plain ints here.
//
// Only a worker process initialises the driver (worker.h); everything else asks NVML or the worker.
// Filled once, then only read.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace optiml::cuda {

using DevicePtr = uint64_t;  // CUdeviceptr
using Handle = void*;        // contexts, modules, functions, streams, events

// CUlaunchAttribute: an id, then a value of 64 bytes.
struct LaunchAttribute {
  static constexpr int kCooperative = 2;
  static constexpr int kClusterDimension = 4;
  int id = 0;
  int padding = 0;
  uint32_t value[16] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  Handle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  uint32_t attribute_count = 0;
};

// CUtensorMap.
struct alignas(64) TensorMap {
  uint64_t opaque[16] = {};
};

struct DriverApi {
  static constexpr int kSuccess = 0;
  static constexpr int kOutOfMemory = 2;
  static constexpr int kDeviceUnavailable = 46;
  static constexpr int kNoDevice = 100;
  static constexpr int kInvalidImage = 200;
  static constexpr int kNoBinaryForGpu = 209;
  static constexpr int kInvalidPtx = 218;
  static constexpr int kUnsupportedPtxVersion = 222;
  static constexpr int kNotReady = 600;
  static constexpr int kNotSupported = 801;
  static constexpr int kSystemDriverMismatch = 803;
  static constexpr int kCompatNotSupported = 804;
  // CUdevice_attribute.
  static constexpr int kMaxSharedPerMultiprocessor = 81;
  static constexpr int kMultiprocessors = 16;
  static constexpr int kClockKilohertz = 13;
  static constexpr int kMemoryClockKilohertz = 36;
  static constexpr int kMemoryBusBits = 37;
  static constexpr int kL2Bytes = 38;
  static constexpr int kThreadsPerMultiprocessor = 39;
  static constexpr int kMajor = 75;
  static constexpr int kMinor = 76;
  static constexpr int kRegistersPerMultiprocessor = 82;
  static constexpr int kMaxSharedPerBlockOptIn = 97;
  // CUfunction_attribute.
  static constexpr int kMaxDynamicShared = 8;
  static constexpr int kPreferredCarveout = 9;
  static constexpr int kNonPortableCluster = 14;
  // CUstream_flags, CUlimit, flags of host memory.
  static constexpr unsigned kStreamNonBlocking = 1;
  static constexpr unsigned kHostPortable = 1;
  static constexpr unsigned kHostMapped = 2;

  int (*get_error_name)(int, const char**) = nullptr;
  int (*get_error_string)(int, const char**) = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int ordinal) = nullptr;
  int (*device_name)(char*, int, int device) = nullptr;
  int (*device_attribute)(int*, int attribute, int device) = nullptr;
  int (*context_retain)(Handle*, int device) = nullptr;  // of the device's primary context
  int (*context_set)(Handle) = nullptr;
  int (*reset_persisting_l2)() = nullptr;
  int (*memory_info)(size_t* free, size_t* total) = nullptr;
  int (*allocate)(DevicePtr*, size_t) = nullptr;
  int (*free)(DevicePtr) = nullptr;
  int (*host_allocate)(void**, size_t, unsigned flags) = nullptr;
  int (*host_device_pointer)(DevicePtr*, void*, unsigned flags) = nullptr;
  int (*host_register)(void*, size_t, unsigned flags) = nullptr;
  int (*host_unregister)(void*) = nullptr;
  int (*copy_to_device)(DevicePtr, const void*, size_t, Handle stream) = nullptr;
  int (*copy_to_host)(void*, DevicePtr, size_t, Handle stream) = nullptr;
  int (*copy_on_device)(DevicePtr, DevicePtr, size_t, Handle stream) = nullptr;
  int (*set_bytes)(DevicePtr, uint8_t, size_t, Handle stream) = nullptr;
  int (*module_load)(Handle*, const void* image) = nullptr;
  int (*module_unload)(Handle) = nullptr;
  int (*module_function)(Handle*, Handle module, const char*) = nullptr;
  int (*module_global)(DevicePtr*, size_t*, Handle module, const char*) = nullptr;
  int (*function_attribute)(Handle function, int attribute, int value) = nullptr;
  int (*launch)(const LaunchConfig*, Handle function, void** arguments, void** extra) = nullptr;
  int (*stream_create)(Handle*, unsigned flags) = nullptr;
  int (*stream_query)(Handle) = nullptr;
  int (*event_create)(Handle*, unsigned flags) = nullptr;
  int (*event_record)(Handle event, Handle stream) = nullptr;
  int (*event_elapsed)(float* milliseconds, Handle begin, Handle end) = nullptr;
  // Null where the driver has none.
  int (*driver_version)(int*) = nullptr;
  int (*device_uuid)(unsigned char* bytes, int device) = nullptr;
  int (*device_pci_bus_id)(char*, int, int device) = nullptr;
  int (*encode_tensor_map)(TensorMap*, int type, uint32_t rank, void* address, const uint64_t* dims,
                           const uint64_t* strides, const uint32_t* box,
                           const uint32_t* element_strides, int interleave, int swizzle,
                           int promotion, int fill) = nullptr;

  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  std::string Describe(int code) const;
};

// Whether the driver's library can be loaded at all.
bool DriverIsHere(const std::string& library = "libcuda.so.1");

// Opens the driver's library (by default libcuda.so.1 on the loader's path); it stays open. Fails
// with kUnavailable: there is no driver, or it is older than CUDA 12.
Result<DriverApi> OpenDriver(const std::string& library = "libcuda.so.1");

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_DRIVER_API_H_
