#ifndef OPTIML_DEVICE_CUDA_PHASE_WATCH_H_
#define OPTIML_DEVICE_CUDA_PHASE_WATCH_H_

#include <chrono>
#include <string>
#include <vector>

#include "core/device_use.h"

namespace optiml::cuda {

// Names what a worker's time went to, one phase after the other.
class PhaseWatch {
 public:
  // The time since the end of the last one, or since this was made.
  void End(const std::string& name, std::vector<DeviceUse::Phase>& phases) {
    const auto now = std::chrono::steady_clock::now();
    DeviceUse::AddTo(phases, name, std::chrono::duration<double>(now - begin_).count());
    begin_ = now;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_PHASE_WATCH_H_
