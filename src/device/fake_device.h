#ifndef OPTIML_DEVICE_FAKE_DEVICE_H_
#define OPTIML_DEVICE_FAKE_DEVICE_H_

// FakeDevice: a device for tests: answers from a script and remembers what it was asked.
//
// Answers are taken from the queues in order; when a queue is empty, its default function answers
// (Run: completed, buffers as given; Time: 1 ms). A gain over an incumbent is that of the two
// times. Not thread safe.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "device/device.h"

namespace optiml {

class FakeDevice : public Device {
 public:
  FakeDevice();

  DeviceInfo info;  // a small device that checks, counts and predicts
  std::deque<Result<RunOutcome>> run_outcomes;
  std::deque<Result<TimeOutcome>> time_outcomes;
  std::function<Result<RunOutcome>(const RunRequest&)> on_run;
  std::function<Result<TimeOutcome>(const RunRequest&)> on_time;

  // What was asked, copied.
  struct Call {
    bool is_time = false;
    ContentHash ptx_hash;
    std::string plan;                     // LaunchPlan::Format()
    std::vector<BufferContents> buffers;  // of the first pass
    size_t passes = 1;
    CheckLevel checks = CheckLevel::kBounds;
  };
  std::vector<Call> calls;
  DeviceUse use;

  const DeviceInfo& Info() const override { return info; }
  Result<RunOutcome> Run(const RunRequest& request) override;
  Result<TimeOutcome> Time(const RunRequest& request) override;
  DeviceUse Use() const override { return use; }

 private:
  void Remember(const RunRequest& request, bool is_time);
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_FAKE_DEVICE_H_
