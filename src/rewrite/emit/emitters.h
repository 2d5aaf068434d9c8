#ifndef OPTIML_REWRITE_EMIT_EMITTERS_H_
#define OPTIML_REWRITE_EMIT_EMITTERS_H_

// The emitters, one for each way in which a program can be carried out. Each prints new kernels and
// the host helper that launches them. They trust the schedule: legality was checked by the
// transformations that built it (schedule/transformation.h).

#include "rewrite/emit/kernel_text.h"
#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/schedule.h"

namespace optiml::rewrite {

// One thread per point of the lifted program, nothing changed: same order of operations.
EmittedKernel EmitPoints(const KernelFacts& facts, const Schedule& schedule);
// Maps: flat or by rows, vectors, several packs a thread.
EmittedKernel EmitMap(const KernelFacts& facts, const Schedule& schedule);
// Row folds: a thread, warp or block per row, the row on chip.
EmittedKernel EmitRowFold(const KernelFacts& facts, const Schedule& schedule);
// Column folds: threads of a block share a column, neighbours read side by side.
EmittedKernel EmitColumnFold(const KernelFacts& facts, const Schedule& schedule);
// Everything into one element: grid-stride shares, block fold, one atomic per block.
EmittedKernel EmitFullFold(const KernelFacts& facts, const Schedule& schedule);
// Tiled contraction with register tiles.
EmittedKernel EmitContraction(const KernelFacts& facts, const Schedule& schedule);
// Reads turned around in a padded shared tile.
EmittedKernel EmitTranspose(const KernelFacts& facts, const Schedule& schedule);
// A window of the input in registers, several points per thread.
EmittedKernel EmitStencil(const KernelFacts& facts, const Schedule& schedule);
// Atomics into copies in shared memory first.
EmittedKernel EmitScatter(const KernelFacts& facts, const Schedule& schedule);

// "__global__ void __launch_bounds__(256) NAME(PARAMETERS)"
std::string KernelHead(const KernelFacts& facts, const Schedule& schedule, const std::string& name,
                       int64_t threads);

// "for (int c = 0; c < cols; ++c)"
std::string LoopHead(const Dim& dim);
// A stage with its loops, as a thread of its own would run it; accumulators are declared before.
void PrintStageLoops(const Stage& stage, CodeWriter* out);
// "float m = -INFINITY;"
void PrintAccumulator(const Accumulator& accumulator, const ExprPtr& start, CodeWriter* out);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_EMITTERS_H_
