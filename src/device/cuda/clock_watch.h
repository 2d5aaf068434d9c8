#ifndef OPTIML_DEVICE_CUDA_CLOCK_WATCH_H_
#define OPTIML_DEVICE_CUDA_CLOCK_WATCH_H_

// ClockWatch: clocks, temperature and throttling of one GPU around its measurements, by NVML. The
// library is opened beside the start of the first worker. Where a reading takes long, only those
// measurements get one that cannot be without. Threads: one call at a time.

#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "core/conditions.h"
#include "device/cuda/nvml.h"

namespace optiml::cuda {

class ClockWatch {
 public:
  // Begins to open the library.
  explicit ClockWatch(const std::string& library);

  // The GPU to watch; absent readings where NVML is not here, or does not know it.
  void Choose(const GpuIdentity& identity);
  // Absent too where the last one took more than the most and it is not `needed`.
  std::optional<ClockReading> Read(bool needed);

  // "580.65.06"; empty: not known.
  std::string DriverVersion();

  // Why there are no readings; empty when there are.
  const std::string& why_not() const { return why_not_; }
  // Of the last one.
  std::chrono::duration<double> last_cost() const { return last_cost_; }

 private:
  void FinishOpening();

  std::future<Result<Nvml>> opening_;
  GpuIdentity identity_;
  std::optional<NvmlGpu> gpu_;
  std::string why_not_;
  std::chrono::duration<double> last_cost_{0};
};

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_CLOCK_WATCH_H_
