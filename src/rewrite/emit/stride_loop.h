#ifndef OPTIML_REWRITE_EMIT_STRIDE_LOOP_H_
#define OPTIML_REWRITE_EMIT_STRIDE_LOOP_H_

// StrideLoop: all points of one dim, shared among the threads of the grid: packs where the pointers
// are aligned, several of them read before the first is used, then what is left point by point.

#include <string>

#include "rewrite/emit/code_writer.h"
#include "rewrite/emit/lane_body.h"

namespace optiml::rewrite {

struct StrideLoop {
  Dim dim;
  int64_t threads = 256;
  int64_t width = 1;
  int64_t items = 1;
};

// Constants kThreads, kWidth and kItems, as far as the loop needs them.
void PrintStrideConstants(const StrideLoop& loop, CodeWriter* out);
void PrintStrideLoop(const StrideLoop& loop, const LaneBody& body,
                     const VectorConditions& conditions, Names* names, CodeWriter* out);
// "const int blocks = ...;" for a grid of at most `most` blocks.
void PrintStrideGrid(const StrideLoop& loop, int64_t most, CodeWriter* host);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_STRIDE_LOOP_H_
