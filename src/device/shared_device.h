#ifndef OPTIML_DEVICE_SHARED_DEVICE_H_
#define OPTIML_DEVICE_SHARED_DEVICE_H_

#include <memory>
#include <mutex>
#include <utility>

#include "device/device.h"

namespace optiml {

// A device that several others use in turn, on any thread: one call at a time reaches it. What it
// is busy with is told by itself, not by those that share it.
class SharedDevice : public Device {
 public:
  explicit SharedDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  const DeviceInfo& Info() const override { return device_->Info(); }
  Result<RunOutcome> Run(const RunRequest& request) override {
    const std::lock_guard lock(mutex_);
    return device_->Run(request);
  }
  Result<TimeOutcome> Time(const RunRequest& request) override {
    const std::lock_guard lock(mutex_);
    return device_->Time(request);
  }
  Result<Profile> Counters(const RunRequest& request) override {
    const std::lock_guard lock(mutex_);
    return device_->Counters(request);
  }
  DeviceUse Use() const override {
    const std::lock_guard lock(mutex_);
    return device_->Use();
  }

 private:
  std::unique_ptr<Device> device_;
  mutable std::mutex mutex_;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_SHARED_DEVICE_H_
