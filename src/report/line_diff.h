#ifndef OPTIML_REPORT_LINE_DIFF_H_
#define OPTIML_REPORT_LINE_DIFF_H_

// Line diffs: which lines of one text became which lines of another, with as few insertions and
// deletions as possible (E. W. Myers, "An O(ND) difference algorithm and its variations", 1986, the
// linear-space form), and the unified format that `patch` reads.

#include <string>
#include <string_view>
#include <vector>

namespace optiml {

enum class DiffKind { kSame, kRemoved, kAdded };

struct DiffLine {
  DiffKind kind = DiffKind::kSame;
  int old_line = 0;       // 1-based; 0 for an added line
  int new_line = 0;       // 1-based; 0 for a removed line
  std::string_view text;  // without the newline; points into the compared texts
};

// Every line of both texts, in order; within a change removed lines come first.
std::vector<DiffLine> DiffLines(std::string_view old_text, std::string_view new_text);

// A stretch of changes with up to `context` unchanged lines around it.
struct DiffHunk {
  std::vector<DiffLine> lines;
};
std::vector<DiffHunk> DiffHunks(std::string_view old_text, std::string_view new_text,
                                int context = 3);

// A patch that `patch` and `git apply` accept, with the given file names after "--- " and "+++ ";
// empty when the texts are equal. A last line without newline is marked as they expect it.
// REQUIRES: context >= 1
std::string UnifiedDiff(std::string_view old_name, std::string_view new_name,
                        std::string_view old_text, std::string_view new_text, int context = 3);

}  // namespace optiml

#endif  // OPTIML_REPORT_LINE_DIFF_H_
