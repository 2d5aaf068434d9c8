#ifndef OPTIML_VERIFY_LIVE_LAUNCHER_H_
#define OPTIML_VERIFY_LIVE_LAUNCHER_H_

// LiveLauncher: a source whose launcher reads device data back. It has no plans until it runs; each
// is for one contents (docs/decisions/0009-host-mode.md).

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/artifact.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "device/device.h"
#include "device/plan_launch.h"
#include "frontend/ast.h"
#include "frontend/launcher_planner.h"
#include "verify/plan_runner.h"

namespace optiml {

// Calls of one launcher, one after the other in one process and one device memory.
struct LiveRun {
  const Artifact* artifact = nullptr;
  std::vector<PassRun> calls;
  bool compares_memory = false;  // whether the last call changes memory that outlives it
  // Where addresses, free memory, versions and clocks are others.
  std::optional<uint64_t> elsewhere;
  uint64_t step_limit = 0;
  bool repeatable = true;  // as RunRequest's
};

// What one call did.
struct LiveTraced {
  LivePlan made;
  std::vector<Tensor> buffers;  // after it, by buffer argument, in the task's order and dtypes
};

class LiveLauncher {
 public:
  // A launcher that cannot be compiled or confined is a refusal. `arguments`: of any call.
  static Result<std::variant<std::shared_ptr<LiveLauncher>, Refusal>> Make(
      ast::SourceUnit unit, const std::string& entry, const RecorderOptions& recorder,
      const std::vector<LauncherArgument>& arguments);

  // A Rejection: at kPlan where the launcher does what it must not, at kL0 where the device stops.
  Result<std::variant<std::vector<LiveTraced>, Rejection>> Run(const KernelTask& task,
                                                               const LiveRun& run, Device& device);

  // How `later` is not the work of `fresh`, with `when`; empty where it is.
  std::string Difference(const LaunchPlan& fresh, const LaunchPlan& later,
                         std::string_view when) const;

  const std::string& path() const { return unit_.path; }

 private:
  LiveLauncher(ast::SourceUnit unit, const std::string& entry, const RecorderOptions& recorder)
      : unit_(std::move(unit)), planner_(unit_, entry, recorder) {}

  const ast::SourceUnit unit_;
  LauncherPlanner planner_;
  ModuleCache modules_;
};

}  // namespace optiml

#endif  // OPTIML_VERIFY_LIVE_LAUNCHER_H_
