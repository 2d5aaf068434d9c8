#ifndef OPTIML_DEVICE_CUDA_COUNTER_SOURCE_H_
#define OPTIML_DEVICE_CUDA_COUNTER_SOURCE_H_

// CounterSource: the parent's side of the worker that counts (counters.h), which is started when it
// is first asked. What makes counting impossible on this machine (no CUPTI, no permission, a worker
// that dies each time) is found once and remembered. A kernel that faults or hangs under the
// profiler costs that worker alone: the next one is counted by another. Not thread safe.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/metrics.h"
#include "device/cuda/worker_process.h"
#include "device/device.h"

namespace optiml::cuda {

class CounterSource {
 public:
  // Where CUPTI may be: files, and names for the loader. Asked once.
  using Find = std::function<std::vector<std::string>()>;
  CounterSource(WorkerOptions options, Find find);

  // Starts the worker if there is none. Fails with kUnavailable, and the same reason each time,
  // where nothing can be counted.
  Result<CounterFacts> Open();
  // The worker's memory; REQUIRES: it is open.
  Result<std::byte*> Arena(uint64_t bytes) { return worker_->Arena(bytes); }
  // Absent when it is this plan that cannot be counted. `message.arena_bytes` is set here. Fails as
  // Open(), and with kInterrupted.
  Result<std::optional<CountReply>> Count(CountMessage message, std::chrono::milliseconds limit);

  // The worker's process; -1 when there is none at the moment.
  pid_t worker_pid() const { return worker_ ? worker_->pid() : -1; }
  int workers_started() const { return workers_started_; }

 private:
  Error Impossible(const std::string& why);
  Result<std::optional<CountReply>> Lose(const Lost& lost);

  WorkerOptions options_;
  Find find_;
  std::optional<WorkerProcess> worker_;
  CounterFacts facts_;
  std::string impossible_;
  int losses_ = 0;  // workers that died one after the other
  int workers_started_ = 0;
};

// What was counted, as the profile of the plan, with what its launches say of themselves:
// registers, shared memory, blocks, waves, occupancy (of the longest one).
Profile ProfileOfCounts(const CountReply& reply, const std::vector<std::string>& metrics,
                        const RunRequest& request, const DeviceInfo& device);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_COUNTER_SOURCE_H_
