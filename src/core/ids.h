#ifndef OPTIML_CORE_IDS_H_
#define OPTIML_CORE_IDS_H_

#include <string>

#include "base/strong_id.h"

namespace optiml {

// One source text within a run: the root is 0, the others count up in the order in which they were
// made.
using VariantId = StrongId<struct VariantIdTag>;

// A run: the name of its folder, "softmax-20261129-192407".
struct RunId {
  std::string value;
  friend auto operator<=>(const RunId&, const RunId&) = default;
};

}  // namespace optiml

#endif  // OPTIML_CORE_IDS_H_
