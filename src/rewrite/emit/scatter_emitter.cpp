#include <fmt/format.h>

#include "base/check.h"
#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/emit/stride_loop.h"
#include "rewrite/schedule/normalise.h"
#include "rewrite/schedule/private_bins.h"

namespace optiml::rewrite {
namespace {

// Of a multiprocessor's shared memory; the rest is left to the L1 cache.
constexpr double kSharedShare = 0.875;

}  // namespace

EmittedKernel EmitScatter(const KernelFacts& facts, const Schedule& schedule) {
  std::optional<Program> flat = Flatten(facts.program, "i");
  OPTIML_CHECK(flat.has_value(), "privatise needs a program that can be flattened");
  const Store target = *ScatterStore(facts.program);
  const Scalar type = facts.program.FindParameter(target.buffer)->type;
  const std::string type_name = TypeName(type);
  const int64_t bins = ScatterBins(facts).value_or(1);
  const int64_t replicas = schedule.Get("privatise", "replicas", 1);
  Names names(facts);
  StrideLoop loop;
  loop.dim = flat->dims[0];
  loop.threads = schedule.Get("block_size", "threads", 256);
  loop.width = schedule.Get("vector_width", "width", 1);
  loop.items = schedule.Get("coarsen", "items", 1);
  std::vector<size_t> stages;
  for (size_t i = 0; i < flat->stages.size(); ++i) {
    stages.push_back(i);
  }
  VectorConditions conditions;
  LaneBody body(facts, *flat, stages, loop.dim.name, loop.width, &names, &conditions);
  const std::string copies = names.Take(target.buffer + "_copies");
  const std::string bin = names.Take("slot");
  const std::string replica = names.Take("replica");
  const std::string place = replicas > 1 ? fmt::format("{} * kReplicas + {}", bin, replica) : bin;
  body.SetStorePrinter([&](const Store& store, CodeWriter* out) {
    out->Line(
        fmt::format("const {} {} = {};", TypeName(store.index->type), bin, Print(store.index)));
    const bool wide = ScalarBytes(store.index->type) == 8;
    out->Open(fmt::format("if (static_cast<{}>({}) < kBins)",
                          wide ? "unsigned long long" : "unsigned int", bin));
    out->Line(fmt::format("atomicAdd(&{}[{}], {});", copies, place, Print(store.value)));
    out->Else();
    out->Line(fmt::format("atomicAdd(&{}[{}], {});", store.buffer, bin, Print(store.value)));
    out->Close();
  });
  const std::string name = facts.function->name;

  EmittedKernel emitted;
  emitted.uses_pack = body.packs_anything();
  CodeWriter out;
  out.Comment(fmt::format(
      "{}: each block collects into {} of the first {} elements of {} in shared memory and adds "
      "them to it once; elements beyond take a global atomic.",
      name, replicas > 1 ? fmt::format("{} copies", replicas) : std::string("a copy"), bins,
      target.buffer));
  out.Open(KernelHead(facts, schedule, name, loop.threads));
  PrintStrideConstants(loop, &out);
  out.Line(fmt::format("constexpr int kBins = {};", bins));
  if (replicas > 1) {
    out.Line(fmt::format("constexpr int kReplicas = {};", replicas));
  }
  const std::string places = replicas > 1 ? "kBins * kReplicas" : "kBins";
  out.Line(fmt::format("__shared__ {} {}[{}];", type_name, copies, places));
  out.Open(fmt::format("for (int place = threadIdx.x; place < {}; place += kThreads)", places));
  out.Line(fmt::format("{}[place] = 0;", copies));
  out.Close();
  out.Line("__syncthreads();");
  if (replicas > 1) {
    out.Line(fmt::format("const int {} = threadIdx.x % kReplicas;", replica));
  }
  PrintStrideLoop(loop, body, conditions, &names, &out);
  out.Line("__syncthreads();");
  out.Open(fmt::format("for (int {0} = threadIdx.x; {0} < kBins; {0} += kThreads)", bin));
  if (replicas > 1) {
    out.Line(fmt::format("{} total = 0;", type_name));
    out.Pragma("#pragma unroll 4");
    out.Open("for (int copy = 0; copy < kReplicas; ++copy)");
    out.Line(fmt::format("total += {}[{} * kReplicas + (copy + threadIdx.x) % kReplicas];", copies,
                         bin));
    out.Close();
  } else {
    out.Line(fmt::format("const {} total = {}[{}];", type_name, copies, bin));
  }
  // An element that got something exists in the target.
  out.Open("if (total != 0)");
  out.Line(fmt::format("atomicAdd(&{}[{}], total);", target.buffer, bin));
  out.Close();
  out.Close();
  out.Close();
  emitted.kernels = out.text();

  CodeWriter host;
  const int64_t by_threads = facts.limits.threads_per_multiprocessor / loop.threads;
  const auto shared_bytes = static_cast<int64_t>(
      kSharedShare * static_cast<double>(facts.limits.shared_bytes_per_multiprocessor));
  const int64_t by_shared = shared_bytes / (bins * replicas * ScalarBytes(type));
  const int64_t blocks = std::max<int64_t>(1, std::min(by_threads, by_shared));
  OpenLauncher(facts,
               fmt::format("Launches {} with at most {} blocks for each of {} multiprocessors.",
                           name, blocks, facts.limits.multiprocessors),
               facts.program.dims, &host);
  PrintStrideGrid(loop, facts.limits.multiprocessors * blocks, &host);
  host.Line(LaunchText(facts, name, "grid", std::to_string(loop.threads)));
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

}  // namespace optiml::rewrite
