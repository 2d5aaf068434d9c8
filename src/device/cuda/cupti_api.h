#ifndef OPTIML_DEVICE_CUDA_CUPTI_API_H_
#define OPTIML_DEVICE_CUDA_CUPTI_API_H_

// The few functions of CUPTI's range profiler that we call, as pointers that are filled when
// libcupti is opened: no CUDA header is needed to compile OptiML. Declarations follow NVIDIA's
// documented C interface (CUPTI 12.6 and later, "Range Profiling" and "Profiler Host" APIs): each
// function takes one struct whose first field is the struct's size, up to the last field that we
// know. Result codes are plain ints here.
//
// Only the counters' worker opens it (counters.h): a profiler in the process changes times.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cuda/driver_api.h"

namespace optiml::cuda {

// Each `size` is what the struct takes up to its last field; [out] fields are set by the call.
struct CuptiInitialize {
  size_t size = 16;
  void* reserved = nullptr;
};

struct CuptiChipName {
  size_t size = 32;
  void* reserved = nullptr;
  size_t device = 0;
  const char* chip = nullptr;  // [out]
};

struct CuptiAvailability {
  size_t size = 40;
  void* reserved = nullptr;
  Handle context = nullptr;
  size_t image_bytes = 0;  // [in, out]
  uint8_t* image = nullptr;
};

struct CuptiHostInitialize {
  static constexpr int kRangeProfiler = 0;
  size_t size = 48;
  void* reserved = nullptr;
  int kind = kRangeProfiler;
  const char* chip = nullptr;
  const uint8_t* availability = nullptr;
  void* host = nullptr;  // [out]
};

struct CuptiHostEnd {
  size_t size = 24;
  void* reserved = nullptr;
  void* host = nullptr;
};

struct CuptiHostAddMetrics {
  size_t size = 40;
  void* reserved = nullptr;
  void* host = nullptr;
  const char** names = nullptr;
  size_t count = 0;
};

struct CuptiHostConfigSize {
  size_t size = 32;
  void* reserved = nullptr;
  void* host = nullptr;
  size_t bytes = 0;  // [out]
};

struct CuptiHostConfig {
  size_t size = 40;
  void* reserved = nullptr;
  void* host = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
};

struct CuptiHostPasses {
  size_t size = 40;
  void* reserved = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
  size_t passes = 0;  // [out]
};

struct CuptiHostEvaluate {
  size_t size = 72;
  void* reserved = nullptr;
  void* host = nullptr;
  const uint8_t* data = nullptr;
  size_t data_bytes = 0;
  size_t range = 0;
  const char** names = nullptr;
  size_t count = 0;
  double* values = nullptr;
};

struct CuptiEnable {
  size_t size = 32;
  void* reserved = nullptr;
  Handle context = nullptr;
  void* profiler = nullptr;  // [out]
};

// Disable, Start and PopRange.
struct CuptiProfiler {
  size_t size = 24;
  void* reserved = nullptr;
  void* profiler = nullptr;
};

struct CuptiDataSize {
  size_t size = 64;
  void* reserved = nullptr;
  void* profiler = nullptr;
  const char** names = nullptr;
  size_t count = 0;
  size_t most_ranges = 0;
  uint32_t most_nodes = 0;
  size_t bytes = 0;  // [out]
};

struct CuptiDataInitialize {
  size_t size = 40;
  void* reserved = nullptr;
  void* profiler = nullptr;
  size_t bytes = 0;
  uint8_t* data = nullptr;
};

struct CuptiSetConfig {
  // CUpti_ProfilerRange: each kernel a range of its own, or what lies between push and pop.
  static constexpr int kAutoRange = 1;
  static constexpr int kUserRange = 2;
  // CUpti_ProfilerReplayMode: we repeat the work, pass by pass.
  static constexpr int kUserReplay = 3;
  size_t size = 90;
  void* reserved = nullptr;
  void* profiler = nullptr;
  size_t config_bytes = 0;
  const uint8_t* config = nullptr;
  size_t data_bytes = 0;
  uint8_t* data = nullptr;
  int range = kAutoRange;
  int replay = kUserReplay;
  size_t most_ranges = 1;  // in a pass
  uint16_t nesting_levels = 1;
  uint16_t least_nesting_level = 1;
  size_t pass = 0;
  uint16_t nesting_level = 1;
};

struct CuptiPush {
  size_t size = 32;
  void* reserved = nullptr;
  void* profiler = nullptr;
  const char* name = nullptr;
};

struct CuptiStop {
  size_t size = 41;
  void* reserved = nullptr;
  void* profiler = nullptr;
  size_t pass = 0;           // [out]
  size_t nesting_level = 0;  // [out]
  uint8_t is_last_pass = 0;  // [out]
};

struct CuptiDecode {
  size_t size = 32;
  void* reserved = nullptr;
  void* profiler = nullptr;
  size_t dropped_ranges = 0;  // [out]
};

struct CuptiDataInfo {
  size_t size = 40;
  void* reserved = nullptr;
  const uint8_t* data = nullptr;
  size_t data_bytes = 0;
  size_t ranges = 0;  // [out]
};

struct CuptiApi {
  static constexpr int kSuccess = 0;
  static constexpr int kBusy = 26;                 // CUPTI_ERROR_HARDWARE_BUSY
  static constexpr int kNotPermitted = 35;         // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
  static constexpr int kVirtualNotPermitted = 40;  // of a virtual GPU

  std::string library;  // the file that was opened

  int (*result_string)(int, const char**) = nullptr;
  int (*initialize)(CuptiInitialize*) = nullptr;
  int (*chip_name)(CuptiChipName*) = nullptr;
  int (*availability)(CuptiAvailability*) = nullptr;
  int (*host_initialize)(CuptiHostInitialize*) = nullptr;
  int (*host_end)(CuptiHostEnd*) = nullptr;
  int (*host_add_metrics)(CuptiHostAddMetrics*) = nullptr;
  int (*host_config_size)(CuptiHostConfigSize*) = nullptr;
  int (*host_config)(CuptiHostConfig*) = nullptr;
  int (*host_passes)(CuptiHostPasses*) = nullptr;
  int (*host_evaluate)(CuptiHostEvaluate*) = nullptr;
  int (*enable)(CuptiEnable*) = nullptr;
  int (*disable)(CuptiProfiler*) = nullptr;
  int (*data_size)(CuptiDataSize*) = nullptr;
  int (*data_initialize)(CuptiDataInitialize*) = nullptr;
  int (*set_config)(CuptiSetConfig*) = nullptr;
  int (*start)(CuptiProfiler*) = nullptr;
  int (*stop)(CuptiStop*) = nullptr;
  int (*push)(CuptiPush*) = nullptr;
  int (*pop)(CuptiProfiler*) = nullptr;
  int (*decode)(CuptiDecode*) = nullptr;
  int (*data_info)(CuptiDataInfo*) = nullptr;

  // "CUPTI_ERROR_HARDWARE_BUSY"; where it is a matter of permission, with what that is called
  // elsewhere.
  std::string Describe(int code) const;
};

// Opens the first of `libraries` (files, or names for the loader) that has the range profiler; it
// stays open. Fails with kUnavailable: there is none, or all are older than CUPTI 12.6.
Result<CuptiApi> OpenCupti(const std::vector<std::string>& libraries);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_CUPTI_API_H_
