#ifndef OPTIML_FRONTEND_LIVE_PLAN_H_
#define OPTIML_FRONTEND_LIVE_PLAN_H_

// Live runs, the third way to a plan: the launcher is the recorder's program, as confined as ever,
// but what it asks for is executed as it goes, and what it reads back is what a device computed.
// Its trace, with its decisions taken, is the plan for these contents and for no others.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/launch_plan.h"
#include "frontend/frontend.h"

namespace optiml {

// A copy from the device to the host: no step of the plan, since nothing there waits for it.
struct ReadBack {
  size_t step = 0;  // of the plan's steps, so many come before it
  DevicePointer source;
  uint64_t size_bytes = 0;
  int line = 0;
};

struct LivePlan {
  LaunchPlan plan;  // its buffers are those of all calls so far
  std::vector<ReadBack> reads;
  bool changed_memory = false;  // that outlives the call; only of calls that compare it
};

// What executes a live launcher's work. `plan` is that of the call so far: what was executed of it
// stays executed, and its buffers keep their numbers over all calls.
class LiveDevice {
 public:
  virtual ~LiveDevice() = default;
  // Argument buffers get the contents of that call. False, here and below: it cannot go on, for a
  // reason that the implementation knows.
  virtual Result<bool> Begin(size_t call) = 0;
  // The rest of the steps, and then the bytes there, which lie inside of their buffer; nothing when
  // it cannot go on.
  virtual Result<std::optional<std::vector<std::byte>>> Read(const LaunchPlan& plan,
                                                             const DevicePointer& source,
                                                             uint64_t size_bytes) = 0;
  // The rest of the steps.
  virtual Result<bool> End(const LaunchPlan& plan) = 0;
};

struct LiveCall {
  const std::vector<LauncherArgument>* arguments = nullptr;
  bool compares_memory = false;
};

}  // namespace optiml

#endif  // OPTIML_FRONTEND_LIVE_PLAN_H_
