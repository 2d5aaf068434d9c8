#ifndef OPTIML_OPTIMIZE_TIME_SHAPES_H_
#define OPTIML_OPTIMIZE_TIME_SHAPES_H_

// ShapeTimer: a verified candidate at every timed shape: its time, its counters at the first of
// them, and on a device that measures the checks that only timing can make: what the timed buffers
// held (L2), and whether the time is physically possible (floor).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "task/inputs.h"
#include "verify/verifier.h"

namespace optiml {

// The least time that the task can take on the device at these sizes, in seconds: what must be read
// and what must be written beyond the L2 cache, at the memory's pin rate, if the task says its
// bytes. 0: not known.
double PhysicalFloor(const KernelTask& task, const SizeBindings& sizes, const DeviceInfo& info);

// What the task says its work costs at these sizes, for the target floor.
CompulsoryWork WorkOf(const KernelTask& task, const SizeBindings& sizes);

// Two candidates timed in turn at every timed shape, twice: the second time in each other's roles
// and on fresh contents.
struct GainMeasurement {
  std::vector<Gain> first;                    // by timed shape
  std::vector<Gain> second;                   // likewise
  std::optional<Conditions> conditions = {};  // around all of it, where the device reads them
};

class ShapeTimer {
 public:
  // Borrowed. `seed`: of the contents where the device predicts.
  ShapeTimer(const KernelTask& task, Device& device, Verifier& verifier, uint64_t seed)
      : task_(task), device_(device), verifier_(verifier), seed_(seed) {}

  // No counters from now on: for whoever does not look at them.
  void CountNothing() { counts_ = false; }

  // Adds times to the evaluation, or the Rejection; and counters at the first shape, where the
  // device has them at hand, the candidate is a new best, or one of three that are not much slower.
  // REQUIRES: it was accepted so far.
  Result<void> Time(const PreparedCandidate& candidate, Evaluation& evaluation);

  // How many times as fast as `incumbent`. Only on a device that measures; absent when one of them
  // does not complete, with the reason in `why_not`.
  Result<std::optional<GainMeasurement>> MeasureGain(const PreparedCandidate& candidate,
                                                     const PreparedCandidate& incumbent,
                                                     std::string& why_not);

 private:
  // A timed shape's contents, and the arguments its buffers belong to.
  struct CachedRequest {
    std::vector<int> arguments;
    RunRequest request;
  };
  Result<RunRequest*> RequestFor(size_t row, const LaunchPlan& plan);
  RunRequest MakeRequest(const LaunchPlan& plan,
                         const std::vector<const TaskInputs*>& inputs) const;
  Result<std::optional<Rejection>> TimeRow(size_t row, const PreparedCandidate& candidate,
                                           Evaluation& evaluation);
  Result<void> AddCounters(const RunRequest& request, TimeOutcome& timed);
  Result<std::optional<Rejection>> CheckOne(size_t row, const PreparedCandidate& candidate,
                                            TimeOutcome& timed, Evaluation& evaluation);
  Result<std::optional<Gain>> GainOnce(size_t row, const PreparedCandidate& candidate,
                                       const PreparedCandidate& incumbent, uint64_t seed,
                                       std::optional<Conditions>& conditions, std::string& why_not);

  const KernelTask& task_;
  Device& device_;
  Verifier& verifier_;
  uint64_t seed_;
  std::map<size_t, CachedRequest> requests_;  // by timed row
  double best_s_ = 0;                         // at the first row; 0: none yet
  bool counts_ = true;
  int near_ = 0;  // candidates that were not much slower
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_TIME_SHAPES_H_
