#include <fmt/format.h>

#include "base/check.h"
#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/emit/stride_loop.h"
#include "rewrite/schedule/normalise.h"

namespace optiml::rewrite {

EmittedKernel EmitFullFold(const KernelFacts& facts, const Schedule& schedule) {
  std::optional<Program> flat = Flatten(facts.program, "i");
  OPTIML_CHECK(flat.has_value(), "split_fold needs a program that can be flattened");
  Names names(facts);
  // The atomic store of each point becomes a share in a register.
  Store target;
  Accumulator share;
  std::vector<size_t> stages;
  for (size_t i = 0; i < flat->stages.size(); ++i) {
    Stage& stage = flat->stages[i];
    stages.push_back(i);
    if (!stage.stores.empty()) {
      target = stage.stores[0];
      share.name = names.Take(target.buffer + "_share");
      share.type = facts.program.FindParameter(target.buffer)->type;
      share.op = target.atomic_op;
      share.init = Identity(share.op, share.type);
      share.update = target.value;
      stage.accumulators = {share};
      stage.stores.clear();
    }
  }
  StrideLoop loop;
  loop.dim = flat->dims[0];
  loop.threads = schedule.Get("block_size", "threads", 256);
  loop.width = schedule.Get("vector_width", "width", 1);
  loop.items = schedule.Get("coarsen", "items", 1);
  VectorConditions conditions;
  const LaneBody body(facts, *flat, stages, loop.dim.name, loop.width, &names, &conditions);
  const std::string name = facts.function->name;

  EmittedKernel emitted;
  emitted.uses_pack = body.packs_anything();
  CodeWriter out;
  const std::string fold = names.Take(std::string("block_") + FoldOpName(share.op));
  PrintBlockFold(fold, {share}, loop.threads, &out);
  out.Comment(
      fmt::format("{}: each thread folds a share of the input in a register, each block the "
                  "shares of its threads; then one atomic per block.",
                  name));
  out.Open(KernelHead(facts, schedule, name, loop.threads));
  PrintStrideConstants(loop, &out);
  PrintAccumulator(share, share.init, &out);
  PrintStrideLoop(loop, body, conditions, &names, &out);
  out.Line(BlockFoldCall(fold, {share}));
  out.Open("if (threadIdx.x == 0)");
  Store store = target;
  store.value = Symbol(share.name, share.type);
  out.Line(StoreStatement(store));
  out.Close();
  out.Close();
  emitted.kernels = out.text();

  CodeWriter host;
  const int64_t most = facts.limits.multiprocessors * schedule.Get("split_fold", "blocks", 8);
  OpenLauncher(
      facts,
      fmt::format("Launches {} with at most {} blocks for each of {} multiprocessors.", name,
                  schedule.Get("split_fold", "blocks", 8), facts.limits.multiprocessors),
      facts.program.dims, &host);
  PrintStrideGrid(loop, most, &host);
  host.Line(LaunchText(facts, name, "grid", std::to_string(loop.threads)));
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

}  // namespace optiml::rewrite
