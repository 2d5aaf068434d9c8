#ifndef OPTIML_DEVICE_CUDA_NVML_H_
#define OPTIML_DEVICE_CUDA_NVML_H_

// What NVIDIA's management library (NVML) says of a GPU: clocks, temperature, why the clocks are
// held down, who else uses it. Read only: nothing is ever set. The library is opened when it is
// asked for; declarations and numbers follow NVIDIA's documented C interface (NVML API reference).
//
// It needs no context and no CUDA: a parent of workers may ask it. Threads: one call at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/conditions.h"

namespace optiml::cuda {

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// A GPU as the driver names it: its ordinal depends on CUDA_VISIBLE_DEVICES, these do not.
struct GpuIdentity {
  std::string uuid;        // "01234567-89ab-...", without a prefix; empty: not known
  std::string pci_bus_id;  // "0000:3B:00.0"; empty: not known
};

// A value, or why there is none.
template <typename T>
struct NvmlValue {
  std::optional<T> value;
  std::string why_not;
};

struct NvmlProcess {
  unsigned pid = 0;
  std::optional<uint64_t> bytes;  // of the GPU's memory
};

struct NvmlFacts {
  NvmlValue<std::string> name;
  NvmlValue<std::string> driver_version;  // "580.65.06"
  NvmlValue<int> cuda_version;            // 13000 is 13.0
  NvmlValue<std::string> uuid;            // "GPU-..." or "MIG-..."
  NvmlValue<std::string> pci_bus_id;
  NvmlValue<double> sm_hz;
  NvmlValue<double> most_sm_hz;
  NvmlValue<double> memory_hz;
  NvmlValue<double> most_memory_hz;
  NvmlValue<double> temperature_celsius;
  NvmlValue<double> power_watts;
  NvmlValue<double> power_limit_watts;
  NvmlValue<std::vector<std::string>> throttling;
  NvmlValue<bool> mig_mode;  // of the whole GPU
  bool is_mig_slice = false;
  NvmlValue<bool> ecc;
  NvmlValue<bool> persistence;
  NvmlValue<std::vector<NvmlProcess>> processes;  // that compute on it
  NvmlValue<uint64_t> free_bytes;
  NvmlValue<uint64_t> total_bytes;
};

// The functions, filled when the library is opened; null where it has none.
struct NvmlApi {
  using Device = void*;
  static constexpr int kSuccess = 0;
  static constexpr int kInsufficientSize = 7;

  int (*init)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*by_uuid)(const char*, Device*) = nullptr;
  int (*by_pci_bus_id)(const char*, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*clock)(Device, int type, unsigned* megahertz) = nullptr;
  int (*most_clock)(Device, int type, unsigned* megahertz) = nullptr;
  int (*temperature)(Device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*power_limit)(Device, unsigned* milliwatts) = nullptr;
  int (*event_reasons)(Device, unsigned long long*) = nullptr;
  int (*mig_mode)(Device, unsigned* current, unsigned* pending) = nullptr;
  int (*is_mig)(Device, unsigned*) = nullptr;
  int (*parent_of_mig)(Device, Device*) = nullptr;
  int (*ecc)(Device, int* current, int* pending) = nullptr;
  int (*persistence)(Device, int*) = nullptr;
  int (*processes)(Device, unsigned* count, void* infos) = nullptr;
  int (*memory)(Device, void* info) = nullptr;
};

// One GPU, or a MIG slice of one.
class NvmlGpu {
 public:
  NvmlFacts Facts() const;
  // The few values that stand beside a time.
  ClockReading Read() const;

 private:
  friend class Nvml;
  NvmlGpu(const NvmlApi& api, NvmlApi::Device device);
  NvmlValue<double> Number(int (*function)(NvmlApi::Device, unsigned*), double factor) const;
  NvmlValue<double> Number(int (*function)(NvmlApi::Device, int, unsigned*), int which,
                           double factor) const;
  NvmlValue<std::string> Text(int (*function)(NvmlApi::Device, char*, unsigned)) const;
  NvmlValue<std::vector<std::string>> Throttling() const;
  NvmlValue<std::vector<NvmlProcess>> Processes() const;
  void AddModes(NvmlFacts& facts) const;

  NvmlApi api_;
  NvmlApi::Device device_;
  NvmlApi::Device whole_;  // the GPU that a slice is of; else the device
  bool is_mig_slice_ = false;
};

class Nvml {
 public:
  // Fails with kUnavailable: there is no such library, or it does not start. It stays open.
  static Result<Nvml> Open(const std::string& library = kNvmlLibrary);
  // Fails with kUnavailable when it does not know the GPU.
  Result<NvmlGpu> Find(const GpuIdentity& identity) const;

 private:
  explicit Nvml(const NvmlApi& api) : api_(api) {}
  NvmlApi api_;
};

// 16 bytes as the driver gives them: "01234567-89ab-cdef-0123-456789abcdef".
std::string FormatUuid(const unsigned char* bytes);

// Names of the reasons for which clocks are held down; reasons that are nobody's loss (an idle GPU,
// a clock that was set) are left out.
std::vector<std::string> ThrottleNames(unsigned long long reasons);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_NVML_H_
