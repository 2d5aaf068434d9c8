#ifndef OPTIML_FRONTEND_RECORDED_PLAN_H_
#define OPTIML_FRONTEND_RECORDED_PLAN_H_

// From a trace (recorder/protocol.h) to plans: addresses become buffers and offsets, kernels get
// their names, and everything that the interpreter checks while it follows a launcher is checked
// here. A trace is what a foreign program wrote: nothing in it is believed.

#include <string>
#include <variant>
#include <vector>

#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "frontend/host_memory.h"
#include "frontend/live_plan.h"
#include "frontend/recorder.h"

namespace optiml::frontend {

using RecordedPlan = LivePlan;  // that nothing was read back for

// One plan for each of the calls, or why the launcher is refused. `launcher` is the function's line
// for messages about the whole.
std::variant<std::vector<RecordedPlan>, Refusal> PlansFromTrace(
    const ast::SourceUnit& unit, const ast::Function& launcher, const RecordedNames& names,
    const std::vector<RecordedCall>& calls, Surroundings surroundings, const PlanLimits& limits,
    const std::string& trace);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_RECORDED_PLAN_H_
