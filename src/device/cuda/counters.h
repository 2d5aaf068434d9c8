#ifndef OPTIML_DEVICE_CUDA_COUNTERS_H_
#define OPTIML_DEVICE_CUDA_COUNTERS_H_

// What a worker that counts does: it executes a plan under CUPTI's range profiler, as often as the
// metrics take passes. Before each pass what the plan writes is restored and L2 is flushed by
// reading, as when it is timed (execute.h); nothing but the plan's own launches is counted. Each
// launch is a range of its own, so that the host's time between two launches is nobody's; where
// this CUPTI refuses that, the whole plan is one range.
//
// A worker that counts never times: the profiler is in its process. It takes hold of the GPU's
// counters for the length of one job only.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/cupti_api.h"
#include "device/cuda/gpu.h"
#include "device/cuda/messages.h"

namespace optiml::cuda {

class RangeProfiler {
 public:
  // `gpu` is borrowed.
  RangeProfiler(const CuptiApi& api, Gpu& gpu) : api_(api), gpu_(gpu) {}
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // Finds out which metrics this GPU has, and counts a kernel of our own: what is not permitted
  // shows there.
  CounterFacts Open(int ordinal);

  // One pass. Whether the work was done; if not, the caller knows why.
  using Work = std::function<bool()>;
  struct Counted {
    std::vector<std::vector<double>> ranges;  // as CountReply's
    int passes = 0;
  };
  // `prepare`, then `work` under the profiler, pass by pass; `work` makes `launches` launches and
  // waits for them. Absent when one of them failed. Fails with kUnavailable, and the profiler's
  // reason, when it cannot count.
  Result<std::optional<Counted>> Count(size_t launches, const Work& prepare, const Work& work);

 private:
  Result<void> ChooseMetrics(int ordinal);
  Result<void> MakeConfig();
  // Whether a host object takes all of the metrics.
  bool HasMetrics(std::vector<const char*> names) const;
  Result<void*> MakeHost() const;
  Result<void> TryOut();
  // Another process may have hold of the counters: it is waited for, a while.
  int TakeHold(CuptiEnable& enable) const;
  Result<std::optional<Counted>> CountRanges(size_t launches, int range_kind, const Work& prepare,
                                             const Work& work);
  // Absent when a pass's work failed.
  Result<std::optional<int>> RunPasses(void* profiler, bool is_user_range, const Work& prepare,
                                       const Work& work);
  Result<std::vector<std::vector<double>>> Decode(void* profiler, std::vector<uint8_t>& data,
                                                  size_t wanted);
  Error Failed(const char* what, int code);
  std::vector<const char*> Names() const;

  const CuptiApi api_;
  Gpu& gpu_;
  CounterFacts facts_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  void* host_ = nullptr;
  std::vector<uint8_t> config_;
  bool counts_launches_apart_ = true;
};

// The answer to kCount.
CountReply CountJob(Gpu& gpu, RangeProfiler& profiler, const CountMessage& message,
                    std::byte* arena);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_COUNTERS_H_
