#ifndef OPTIML_DEVICE_CHECKED_DEVICE_H_
#define OPTIML_DEVICE_CHECKED_DEVICE_H_

// CheckedDevice: a GPU and the emulator as one device. What needs checks, or values in double
// arithmetic, runs on the emulator; what needs speed and true times runs on the GPU. An instruction
// that the emulator does not know means that the run went unchecked, not that the candidate is
// wrong: the GPU runs it, and a note says so. Times are the GPU's; so are counters where it counts
// (Capabilities::counts), and where that is impossible on this machine (Error kUnavailable: no
// permission, no CUPTI) the emulator's, from then on and with their own source.
//
// Threads: one call at a time.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "device/device.h"
#include "device/shared_device.h"

namespace optiml {

// A device that may have hardware counters, and says why it has none.
class HardwareCounters {
 public:
  virtual ~HardwareCounters() = default;
  // "not permitted (ERR_NVGPUCTRPERM / ...)"; empty while nothing speaks against them.
  virtual const std::string& WhyNoCounters() const = 0;
  // Is called with that once, when it turns out.
  virtual void OnNoCounters(std::function<void(const std::string&)> tell) = 0;
};

class CheckedDevice : public Device, public HardwareCounters {
 public:
  // `gpu` measures, and counts if it can; `emulator` checks, and counts if the GPU cannot.
  CheckedDevice(std::unique_ptr<Device> gpu, std::unique_ptr<Device> emulator);

  // Another device on the same GPU, with an emulator of its own: both may be used at the same time,
  // and have the GPU in turn.
  std::unique_ptr<CheckedDevice> Beside(std::unique_ptr<Device> emulator) const;

  const DeviceInfo& Info() const override { return info_; }
  Result<RunOutcome> Run(const RunRequest& request) override;
  Result<TimeOutcome> Time(const RunRequest& request) override;
  Result<Profile> Counters(const RunRequest& request) override;
  // The GPU's; empty for a device that Beside() made.
  DeviceUse Use() const override { return is_first_ ? gpu_->Use() : DeviceUse(); }

  const std::string& WhyNoCounters() const override { return why_no_counters_; }
  void OnNoCounters(std::function<void(const std::string&)> tell) override {
    tell_ = std::move(tell);
  }

 private:
  CheckedDevice(std::shared_ptr<SharedDevice> gpu, bool is_first, std::unique_ptr<Device> emulator);

  std::shared_ptr<SharedDevice> gpu_;
  bool is_first_ = true;
  std::unique_ptr<Device> emulator_;
  DeviceInfo info_;
  std::string why_no_counters_;
  std::function<void(const std::string&)> tell_;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_CHECKED_DEVICE_H_
