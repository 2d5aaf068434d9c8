#ifndef OPTIML_DEVICE_CHECKED_DEVICE_H_
#define OPTIML_DEVICE_CHECKED_DEVICE_H_

// CheckedDevice: a GPU and the emulator as one device. What needs checks, or values in double
// arithmetic, runs on the emulator; what needs speed and true times runs on the GPU. An instruction
// that the emulator does not know means that the run went unchecked, not that the candidate is
// wrong: the GPU runs it, and a note says so. Times are the GPU's, counters the emulator's.
//
// Borrowed parts must outlive it. Threads: one call at a time.

#include <memory>

#include "device/device.h"

namespace optiml {

class CheckedDevice : public Device {
 public:
  // `gpu` measures, `emulator` checks and counts.
  CheckedDevice(std::unique_ptr<Device> gpu, std::unique_ptr<Device> emulator);

  const DeviceInfo& Info() const override { return info_; }
  Result<RunOutcome> Run(const RunRequest& request) override;
  Result<TimeOutcome> Time(const RunRequest& request) override;
  Result<Profile> Counters(const RunRequest& request) override;
  DeviceUse Use() const override { return gpu_->Use(); }

 private:
  std::unique_ptr<Device> gpu_;
  std::unique_ptr<Device> emulator_;
  DeviceInfo info_;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_CHECKED_DEVICE_H_
