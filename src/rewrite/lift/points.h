#ifndef OPTIML_REWRITE_LIFT_POINTS_H_
#define OPTIML_REWRITE_LIFT_POINTS_H_

// Points: from "what one thread does" to "what is done at each point of an index space". Thread
// indices that guards bound, and the counters of grid-stride loops, become the program's dims;
// guards on them disappear; an index that is taken apart by / and % becomes several dims; a loop
// whose body is no perfect nest becomes a dim as well.

#include <vector>

#include "rewrite/lift/events.h"

namespace optiml::rewrite::lifting {

struct Points {
  std::vector<Dim> dims;      // slowest first; internal names
  std::vector<Event> events;  // of one point
  std::vector<ExprPtr> assumptions;
  bool regroups_floats = false;
};

// Throws LiftStop. `line`: of the kernel, for refusals that concern all of it.
Points FindPoints(std::vector<Event> events, const std::vector<NameHint>& hints, int line);

// Replaces the dim by several when every / and % of it in the events splits its extent without
// rest; else returns {dim} and leaves the events as they are.
std::vector<Dim> SplitDim(const Dim& dim, std::vector<Event>* events,
                          const std::vector<NameHint>& hints, int* next_id);

// The source's name of a value, or `otherwise`.
std::string HintFor(const ExprPtr& value, const std::vector<NameHint>& hints,
                    const std::string& otherwise);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_POINTS_H_
