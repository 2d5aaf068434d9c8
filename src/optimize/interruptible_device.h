#ifndef OPTIML_OPTIMIZE_INTERRUPTIBLE_DEVICE_H_
#define OPTIML_OPTIMIZE_INTERRUPTIBLE_DEVICE_H_

#include <atomic>

#include "device/device.h"

namespace optiml {

// A device that refuses further work (kInterrupted) once the user asked for the end: a verification
// of many runs then stops at the next one, whoever drives it.
class InterruptibleDevice : public Device {
 public:
  // Both are borrowed; `stop` may be null.
  InterruptibleDevice(Device& device, const std::atomic<bool>* stop)
      : device_(device), stop_(stop) {}

  const DeviceInfo& Info() const override { return device_.Info(); }
  Result<RunOutcome> Run(const RunRequest& request) override {
    OPTIML_TRY(CheckStop(stop_));
    return device_.Run(request);
  }
  Result<TimeOutcome> Time(const RunRequest& request) override {
    OPTIML_TRY(CheckStop(stop_));
    return device_.Time(request);
  }

  Result<Profile> Counters(const RunRequest& request) override {
    OPTIML_TRY(CheckStop(stop_));
    return device_.Counters(request);
  }

  DeviceUse Use() const override { return device_.Use(); }

  static Result<void> CheckStop(const std::atomic<bool>* stop) {
    if (stop != nullptr && stop->load()) {
      return Error(ErrorCode::kInterrupted, "interrupted");
    }
    return {};
  }

 private:
  Device& device_;
  const std::atomic<bool>* stop_;
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_INTERRUPTIBLE_DEVICE_H_
