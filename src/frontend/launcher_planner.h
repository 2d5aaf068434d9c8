#ifndef OPTIML_FRONTEND_LAUNCHER_PLANNER_H_
#define OPTIML_FRONTEND_LAUNCHER_PLANNER_H_

// LauncherPlanner: the plans of one launcher. Each is made by the interpreter; where the
// interpreter cannot go on, the launcher is compiled for this machine and recorded (recorder.h).
// The checks of frontend.h's CheckLauncher hold for both. A launcher that reads device data back
// has plans for single contents only, made by live runs (live_plan.h); whoever makes them compares
// them.
//
// Threads: one call at a time.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frontend/frontend.h"
#include "frontend/live_plan.h"

namespace optiml {

class LauncherPlanner {
 public:
  // `unit` must outlive the planner.
  LauncherPlanner(const ast::SourceUnit& unit, std::string entry, RecorderOptions options,
                  PlanLimits limits = {});
  ~LauncherPlanner();
  LauncherPlanner(const LauncherPlanner&) = delete;  // it owns a folder
  LauncherPlanner& operator=(const LauncherPlanner&) = delete;

  // As MakeLaunchPlan; LaunchPlan::maker says who made it. The refusal of a launcher that neither
  // can follow gives both reasons.
  Result<PlanOutcome> Plan(const std::vector<LauncherArgument>& arguments);

  // As CheckLauncher, of plans that Plan() made.
  Result<std::optional<Refusal>> Check(const std::vector<LauncherCall>& calls);

  // Why the launcher cannot run live, before it is tried: it does not compile, it names functions
  // that no launcher may. `arguments`: any of its calls.
  Result<std::optional<Refusal>> PrepareLive(const std::vector<LauncherArgument>& arguments);

  // These calls, one after the other in one new process. `elsewhere`: where addresses, free memory
  // and versions are others.
  Result<std::variant<std::vector<LivePlan>, Refusal>> RunLive(const std::vector<LiveCall>& calls,
                                                               bool elsewhere, LiveDevice& device);

  // Whether `later` does the same work as `fresh`; a refusal says what differs, and `when`.
  // REQUIRES: the entry exists
  std::optional<Refusal> Compare(const LaunchPlan& fresh, const LaunchPlan& later,
                                 std::string_view when) const;

 private:
  class Recordings;
  // REQUIRES: the entry exists
  Recordings& Recorded();

  const ast::SourceUnit& unit_;
  std::string entry_;
  RecorderOptions options_;
  PlanLimits limits_;
  std::unique_ptr<Recordings> recordings_;  // null until a launcher is recorded
};

}  // namespace optiml

#endif  // OPTIML_FRONTEND_LAUNCHER_PLANNER_H_
