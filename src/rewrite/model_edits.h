#ifndef OPTIML_REWRITE_MODEL_EDITS_H_
#define OPTIML_REWRITE_MODEL_EDITS_H_

// A language model's own edits (EditOrigin::kModel): hunks that replace anchored text of the source
// that they are applied to, or a whole new source. Both are text alone: what they mean is found out
// by the checks that every candidate passes.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/edit.h"
#include "core/kernel_source.h"
#include "rewrite/catalogue.h"

namespace optiml::rewrite {

struct Hunk {
  std::string search;  // occurs exactly once in the source
  std::string replace;
};

inline constexpr char kHunksEdit[] = "hunks";    // Edit::rewrite
inline constexpr char kKernelEdit[] = "kernel";  // Edit::rewrite
inline constexpr size_t kMostSourceBytes = 256 * 1024;

// Edits with their text; the label has a number made of it, so that equal texts are equal edits.
Edit MakeHunksEdit(const std::vector<Hunk>& hunks);
Edit MakeKernelEdit(std::string source);

// Every anchor is looked for in `source` as it is, not in what the other hunks made of it. Refused
// when an anchor is empty, missing or there more than once, when two hunks meet, when nothing
// changes, and when the result is longer than kMostSourceBytes.
ApplyOutcome ApplyModelEdit(const KernelSource& source, const Edit& edit);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_MODEL_EDITS_H_
