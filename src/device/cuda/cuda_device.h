#ifndef OPTIML_DEVICE_CUDA_CUDA_DEVICE_H_
#define OPTIML_DEVICE_CUDA_CUDA_DEVICE_H_

// CudaDevice: a real GPU as a device. A worker process owns it (worker.h); this is the parent's
// side. Run() executes at full speed with guard bands around every buffer; Time() measures as
// execute.h says. A kernel that faults or hangs costs its worker: the next call starts another.
//
// Threads: one call at a time.

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "device/cuda/clock_watch.h"
#include "device/cuda/counter_source.h"
#include "device/cuda/worker_process.h"
#include "device/device.h"
#include "device/plan_launch.h"

namespace optiml {

struct CudaOptions {
  cuda::WorkerOptions worker;
  cuda::TimingPolicy timing;
  // Before each sample so many times L2 is read; copies of the buffers together are at least as
  // large, as far as TimingPolicy::most_copies goes.
  double rotation_factor = 4;
  // Whether other GPUs work beside it: its times say then which one it is.
  bool is_one_of_several = false;
  // Of one execution, unless the request says less.
  std::chrono::milliseconds time_limit{10'000};
  std::string nvml_library = cuda::kNvmlLibrary;
  // Where CUPTI may be (CounterSource); empty: nothing is counted.
  cuda::CounterSource::Find find_cupti;
  // Where what was counted last is kept, to be executed by others (counted_file.h); empty: nowhere.
  std::filesystem::path keep_counted;
};

class CudaDevice : public Device {
 public:
  // Starts the first worker. Fails with kUnavailable: no driver, no such GPU, no memory.
  static Result<std::unique_ptr<CudaDevice>> Make(CudaOptions options);

  const DeviceInfo& Info() const override { return info_; }
  // What the driver says of the GPU.
  const cuda::HelloReply& facts() const { return facts_; }
  // "580.65.06"; empty: not known.
  std::string DriverVersion() { return clocks_.DriverVersion(); }
  // Of this GPU, measured some time before.
  void UsePeaks(std::optional<MeasuredPeaks> peaks) { info_.peaks = std::move(peaks); }
  Result<RunOutcome> Run(const RunRequest& request) override;
  Result<TimeOutcome> Time(const RunRequest& request) override;
  // Hardware counters, by CUPTI, in a worker of their own; empty when this plan cannot be counted.
  // Fails with kUnavailable, and always the same reason, where this machine does not count.
  Result<Profile> Counters(const RunRequest& request) override;

  // Busy: from a request to the worker's answer. Phases are those of Time().
  DeviceUse Use() const override { return use_; }
  // Whether Counters() can work, and how: a kernel of our own is counted.
  Result<cuda::CounterFacts> TryCounters() { return counters_.Open(); }
  // Workers that were started.
  int workers_started() const { return workers_started_; }
  // The worker's process; -1 when there is none at the moment.
  pid_t worker_pid() const { return worker_.pid(); }
  const cuda::CounterSource& counters() const { return counters_; }

 private:
  explicit CudaDevice(CudaOptions options);
  Result<void> Ready();
  class ArenaLayout;
  // The candidate, and its incumbent if it has one, with room for their contents and results.
  Result<cuda::TimeMessage> MessageFor(const RunRequest& request, ArenaLayout& layout);
  // One exchange with the worker. What is broken, and not the candidate's fault, is an Error.
  template <typename Reply>
  Result<std::variant<Reply, cuda::Lost>> Exchange(
      cuda::MessageKind kind, const std::vector<std::byte>& request,
      std::chrono::milliseconds limit, Result<Reply> (*decode)(const std::vector<std::byte>&),
      const cuda::WorkerProcess::AnswerWorker& answer = {});
  std::chrono::milliseconds LimitOf(const RunRequest& request) const;

  CudaOptions options_;
  cuda::WorkerProcess worker_;
  cuda::ClockWatch clocks_;
  cuda::CounterSource counters_;
  cuda::HelloReply facts_;
  cuda::DigestKey key_;
  DeviceInfo info_;
  int workers_started_ = 0;
  DeviceUse use_;
  ModuleCache modules_;
};

// Peak rate of single precision by SM and clock, FMA as two: lanes of an SM from the CUDA C++
// Programming Guide's table of arithmetic instructions.
double Fp32FlopsPerSecond(int compute_capability, int multiprocessors, double clock_hz);

}  // namespace optiml

#endif  // OPTIML_DEVICE_CUDA_CUDA_DEVICE_H_
