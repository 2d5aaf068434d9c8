#ifndef OPTIML_CORE_EDIT_H_
#define OPTIML_CORE_EDIT_H_

// Edit: one step from a variant to the next, with what it claims to change. A Variant is its chain
// of edits from the root; replaying the chain gives the same source.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/kernel_source.h"

namespace optiml {

enum class Bound { kUnknown, kMemory, kCompute, kLatency, kOccupancy };
std::string BoundName(Bound bound);  // "memory" ...

enum class EditOrigin { kRewrite, kTextRewrite, kModel };

enum class Direction { kDown, kUp };

// "this metric should move that way".
struct MetricClaim {
  std::string metric;  // a MetricId (core/metrics.h)
  Direction direction = Direction::kDown;
};

struct Edit {
  EditOrigin origin = EditOrigin::kRewrite;
  std::string rewrite;  // the sketch or primitive: "row_fold", "vector_width" ...
  std::map<std::string, int64_t> parameters;  // its holes, filled
  std::string summary;  // one sentence for people: "keep each row in registers between the passes"
  Bound aims_at = Bound::kUnknown;
  std::vector<MetricClaim> claim;
  double prior = 1;  // > 0; proposers' preference among siblings, need not sum to 1
  std::string text;  // kModel: its text (rewrite/model_edits.h)

  // "vector_width(width=4)": the identity of an edit among its siblings.
  std::string Label() const;
};

struct Variant {
  VariantId id;
  VariantId parent;         // not valid for the root
  std::vector<Edit> chain;  // from the root; empty for the root
  KernelSource source;
};

}  // namespace optiml

#endif  // OPTIML_CORE_EDIT_H_
