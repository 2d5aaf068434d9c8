#ifndef OPTIML_REWRITE_LIFT_STAGES_H_
#define OPTIML_REWRITE_LIFT_STAGES_H_

// Stages: from the events of one point to the stages of a program, and the names that a reader
// sees.

#include <set>
#include <string>
#include <vector>

#include "rewrite/lift/events.h"
#include "rewrite/lift/points.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite::lifting {

// Throws LiftStop for what has no place in a stage. Names stay internal.
std::vector<Stage> BuildStages(const Points& points);

// Gives every dim, let and accumulator the name that the source used, numbered where it must
// differ. `taken`: names that cannot be used.
void NameEverything(Program* program, std::set<std::string> taken);

// Throws LiftStop when points may touch each other's elements: stores that may meet, loads of what
// another point stores.
void CheckIndependence(const Program& program);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_STAGES_H_
