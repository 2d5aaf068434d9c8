#ifndef OPTIML_FRONTEND_LAUNCHER_PLANNER_H_
#define OPTIML_FRONTEND_LAUNCHER_PLANNER_H_

// LauncherPlanner: the plans of one launcher. Each is made by the interpreter; where the
// interpreter cannot go on, the launcher is compiled for this machine and recorded (recorder.h).
// The checks of frontend.h's CheckLauncher hold for both.
//
// Threads: one call at a time.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "frontend/frontend.h"

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
