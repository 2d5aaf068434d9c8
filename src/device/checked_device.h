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

  const DeviceInfo& Info() const override { return info_; }
  Result<RunOutcome> Run(const RunRequest& request) override;
  Result<TimeOutcome> Time(const RunRequest& request) override;
  Result<Profile> Counters(const RunRequest& request) override;
  DeviceUse Use() const override { return gpu_->Use(); }

  const std::string& WhyNoCounters() const override { return why_no_counters_; }
  void OnNoCounters(std::function<void(const std::string&)> tell) override {
    tell_ = std::move(tell);
  }

 private:
  std::unique_ptr<Device> gpu_;
  std::unique_ptr<Device> emulator_;
  DeviceInfo info_;
  std::string why_no_counters_;
  std::function<void(const std::string&)> tell_;
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_CHECKED_DEVICE_H_
