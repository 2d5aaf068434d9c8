#include <fmt/format.h>

#include <algorithm>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

constexpr int64_t kThreadsOfABlock = 256;  // where the launches disagree

const char* const kAxis[] = {"x", "y", "z"};

}  // namespace

std::string KernelHead(const KernelFacts& facts, const Schedule& schedule, const std::string& name,
                       int64_t threads) {
  const int64_t blocks = schedule.Get("launch_bounds", "blocks", 0);
  const std::string bounds =
      blocks > 0 ? fmt::format("{}, {}", threads, blocks) : std::to_string(threads);
  return fmt::format("__global__ void __launch_bounds__({}) {}({})", bounds, name,
                     KernelParameters(facts));
}

std::string LoopHead(const Dim& dim) {
  return fmt::format("for ({} {} = 0; {} < {}; ++{})", TypeName(dim.extent->type), dim.name,
                     dim.name, Operand(dim.extent), dim.name);
}

void PrintAccumulator(const Accumulator& accumulator, const ExprPtr& start, CodeWriter* out) {
  out->Line(fmt::format("{} {} = {};", TypeName(accumulator.type), accumulator.name, Print(start)));
}

void PrintStageLoops(const Stage& stage, CodeWriter* out) {
  for (const Accumulator& accumulator : stage.accumulators) {
    PrintAccumulator(accumulator, accumulator.init, out);
  }
  for (const Dim& dim : stage.dims) {
    out->Open(LoopHead(dim));
  }
  PrintStage(stage, out);
  for (size_t i = 0; i < stage.dims.size(); ++i) {
    out->Close();
  }
}

EmittedKernel EmitPoints(const KernelFacts& facts, const Schedule& schedule) {
  const Program& program = facts.lifted;
  // The axis of each dim: its own where they differ, else fastest first.
  std::vector<Dim> dims = program.dims;
  std::vector<int> axes;
  bool distinct = dims.size() <= 3;
  for (const Dim& dim : dims) {
    distinct = distinct && dim.thread_axis >= 0 &&
               std::find(axes.begin(), axes.end(), dim.thread_axis) == axes.end();
    axes.push_back(dim.thread_axis);
  }
  const bool flat = dims.size() > 3;
  if (!distinct) {
    for (size_t i = 0; i < dims.size(); ++i) {
      axes[i] = static_cast<int>(dims.size() - 1 - i);
    }
  }
  int64_t block[3] = {1, 1, 1};
  if (!facts.launches.empty() && distinct) {
    const Dim3 first = facts.launches.front().block;
    const bool same = std::all_of(facts.launches.begin(), facts.launches.end(),
                                  [&](const LaunchFacts& launch) { return launch.block == first; });
    if (same) {
      block[0] = first.x;
      block[1] = first.y;
      block[2] = first.z;
    }
  }
  // An axis without a dim has one thread; a lone block of one thread is not what was meant.
  for (int axis = 0; axis < 3; ++axis) {
    if (flat || std::find(axes.begin(), axes.end(), axis) == axes.end()) {
      block[axis] = 1;
    }
  }
  if (block[0] * block[1] * block[2] == 1 && !dims.empty()) {
    block[0] = dims.size() == 1 || flat ? kThreadsOfABlock : 32;
    block[1] = dims.size() >= 2 && !flat ? 8 : 1;
  }
  if (const int64_t threads = schedule.Get("block_size", "threads", 0); threads > 0) {
    if (dims.size() == 1 || flat) {
      block[0] = threads;
    } else {
      block[0] = 32;
      block[1] = threads / 32;
      block[2] = 1;
    }
  }
  const int64_t threads = block[0] * block[1] * block[2];
  EmittedKernel emitted;
  CodeWriter out;
  out.Comment(fmt::format("{}: one thread per point.", facts.function->name));
  out.Open(KernelHead(facts, schedule, facts.function->name, threads));
  std::string outside;
  Names names(facts);
  std::string grid[3] = {"1", "1", "1"};
  if (flat) {
    const std::string point = names.Take("point");
    const ExprPtr points = ProductOf(dims);
    out.Line(fmt::format("const {0} {1} = static_cast<{0}>(blockIdx.x) * {2} + threadIdx.x;",
                         TypeName(points->type), point, block[0]));
    PrintUnflatten(dims, point, &out);
    outside = fmt::format("{} >= {}", point, Operand(points));
    grid[0] = CeilDiv(points, block[0]);
  } else {
    for (size_t i = dims.size(); i-- > 0;) {
      const Dim& dim = dims[i];
      const char* axis = kAxis[axes[i]];
      const int64_t width = block[axes[i]];
      const std::string type = TypeName(dim.extent->type);
      const bool wide = ScalarBytes(dim.extent->type) == 8;
      const std::string index = wide ? fmt::format("static_cast<{}>(blockIdx.{})", type, axis)
                                     : fmt::format("blockIdx.{}", axis);
      out.Line(
          fmt::format("const {} {} = {} * {} + threadIdx.{};", type, dim.name, index, width, axis));
      outside +=
          fmt::format("{}{} >= {}", outside.empty() ? "" : " || ", dim.name, Operand(dim.extent));
      grid[axes[i]] = CeilDiv(dim.extent, width);
    }
  }
  if (!outside.empty()) {
    out.Open(fmt::format("if ({})", outside));
    out.Line("return;");
    out.Close();
  }
  for (const Stage& stage : program.stages) {
    PrintStageLoops(stage, &out);
  }
  out.Close();
  emitted.kernels = out.text();

  CodeWriter host;
  OpenLauncher(facts, fmt::format("Launches {} with one thread per point.", facts.function->name),
               dims, &host);
  std::string grid_text = grid[0];
  std::string block_text = std::to_string(block[0]);
  if (!flat && dims.size() >= 2) {
    host.Line(fmt::format("const dim3 grid({}, {}, {});", grid[0], grid[1], grid[2]));
    host.Line(fmt::format("const dim3 block({}, {}, {});", block[0], block[1], block[2]));
    grid_text = "grid";
    block_text = "block";
  }
  host.Line(LaunchText(facts, facts.function->name, grid_text, block_text));
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

}  // namespace optiml::rewrite
