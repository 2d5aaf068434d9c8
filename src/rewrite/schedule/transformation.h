#ifndef OPTIML_REWRITE_SCHEDULE_TRANSFORMATION_H_
#define OPTIML_REWRITE_SCHEDULE_TRANSFORMATION_H_

// Transformation: one primitive of a schedule, with the values that its holes may take, when it is
// legal, which bottleneck it aims at and which metrics it claims to move. One file each in this
// folder; the codes are those of docs/rewrites.md.
//
// Legality is asked of a whole schedule that contains the primitive already: so an edit that
// changes a hole is judged together with everything that depends on it.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/edit.h"
#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/schedule.h"

namespace optiml::rewrite {

struct Transformation {
  std::string name;  // "vector_width"
  std::string code;  // "S4"
  Bound aims_at = Bound::kUnknown;
  std::vector<MetricClaim> claim;
  double prior = 1;
  // Filled holes worth trying, the textbook's choice first.
  std::function<std::vector<Parameters>(const KernelFacts&)> choices;
  // Why a schedule with this primitive is not legal, or nothing.
  std::function<std::optional<std::string>(const KernelFacts&, const Schedule&)> refuse;
  // One sentence for people.
  std::function<std::string(const KernelFacts&, const Parameters&)> summary;
};

// All of them, in the order in which they are told.
const std::vector<Transformation>& Transformations();
// Null when there is none of that name.
const Transformation* FindTransformation(std::string_view name);

// The first reason why the schedule is not legal, or nothing.
std::optional<std::string> RefuseSchedule(const KernelFacts& facts, const Schedule& schedule);

Transformation MakeFlatten();         // S1
Transformation MakeBlockSize();       // S2
Transformation MakeRowFold();         // S2, S10
Transformation MakeInterchange();     // S3
Transformation MakeColumnFold();      // S3, S10
Transformation MakeVectorWidth();     // S4
Transformation MakeCoarsen();         // S5
Transformation MakeTileShared();      // S7, S8
Transformation MakeTurnTile();        // S7, S8
Transformation MakeDoubleBuffer();    // S8
Transformation MakeRegisterTile();    // S9
Transformation MakeRegisterWindow();  // S9, S12
Transformation MakeKeepRow();         // S11
Transformation MakeLaunchBounds();    // S15
Transformation MakeSplitFold();       // A1, S10
Transformation MakeFuseFolds();       // A2
Transformation MakePrivatise();       // A3

// Reasons that several transformations share.
std::optional<std::string> RefuseUnlessShape(const KernelFacts& facts,
                                             std::initializer_list<ShapeKind> kinds);
std::optional<std::string> RefuseUnlessPresent(const Schedule& schedule, std::string_view name);
std::optional<std::string> RefuseUnlessOneOf(int64_t value, std::initializer_list<int64_t> allowed,
                                             const std::string& what);
// Shorthand for claims.
MetricClaim Down(const char* metric);
MetricClaim Up(const char* metric);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_TRANSFORMATION_H_
