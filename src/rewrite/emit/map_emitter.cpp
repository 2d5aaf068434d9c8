#include <fmt/format.h>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"
#include "rewrite/schedule/normalise.h"

namespace optiml::rewrite {
namespace {

constexpr int64_t kDefaultThreads = 256;

std::vector<size_t> AllStages(const Program& program) {
  std::vector<size_t> stages;
  for (size_t i = 0; i < program.stages.size(); ++i) {
    stages.push_back(i);
  }
  return stages;
}

// All points in one row: a thread takes `items` packs that lie a block apart.
EmittedKernel EmitFlat(const KernelFacts& facts, const Program& program, const Schedule& schedule) {
  const int64_t threads = schedule.Get("block_size", "threads", kDefaultThreads);
  const int64_t width = schedule.Get("vector_width", "width", 1);
  const int64_t items = schedule.Get("coarsen", "items", 1);
  const Dim& dim = program.dims[0];
  const std::string type = TypeName(dim.extent->type);
  const bool wide = ScalarBytes(dim.extent->type) == 8;
  Names names(facts);
  VectorConditions conditions;
  const LaneBody body(facts, program, AllStages(program), dim.name, width, &names, &conditions);
  const std::string first = names.Take("first");
  const std::string extent = Operand(dim.extent);
  const std::string name = facts.function->name;

  EmittedKernel emitted;
  emitted.uses_pack = body.packs_anything();
  CodeWriter out;
  out.Comment(fmt::format(
      "{}: every thread computes {}{}.", name,
      items > 1 ? fmt::format("{} times ", items) : std::string(),
      width > 1 ? fmt::format("{} neighbouring points, which move in one memory access", width)
                : std::string("one point")));
  out.Open(KernelHead(facts, schedule, name, threads));
  out.Line(fmt::format("constexpr int kThreads = {};", threads));
  if (width > 1) {
    out.Line(fmt::format("constexpr int kWidth = {};", width));
  }
  if (items > 1) {
    out.Line(fmt::format("constexpr int kItems = {};", items));
  }
  const std::string block =
      wide ? fmt::format("static_cast<{}>(blockIdx.x)", type) : std::string("blockIdx.x");
  const std::string step = width > 1 ? "kThreads * kWidth" : "kThreads";
  if (width == 1 && items == 1) {
    out.Line(fmt::format("const {} {} = {} * kThreads + threadIdx.x;", type, dim.name, block));
    out.Open(fmt::format("if ({} >= {})", dim.name, extent));
    out.Line("return;");
    out.Close();
    body.PrintScalar(&out);
    out.Close();
  } else {
    if (items > 1) {
      out.Line(fmt::format("const {} {} = {} * (kItems * {}) + threadIdx.x{};", type, first, block,
                           step, width > 1 ? " * kWidth" : ""));
    } else {
      out.Line(
          fmt::format("const {} {} = ({} * kThreads + threadIdx.x) * kWidth;", type, first, block));
    }
    std::string fast = ConditionText(conditions, width);
    const std::string last =
        items > 1 ? fmt::format("(kItems - 1) * {}{}", step, width > 1 ? " + kWidth" : " + 1")
                  : std::string("kWidth");
    fast = fmt::format("{} - {} >= {}{}{}", extent, first, last, fast.empty() ? "" : " && ", fast);
    if (dim.extent->type == Scalar::kU32 || dim.extent->type == Scalar::kU64) {
      fast = fmt::format("{} <= {} && {}", first, extent, fast);
    }
    out.Open(fmt::format("if ({})", fast));
    if (items > 1) {
      for (const PackAccess& load : body.loads()) {
        out.Line(fmt::format("{} {}[kItems];", PackType(load.type), load.name));
      }
      const auto open_items = [&] {
        out.Pragma("#pragma unroll");
        out.Open("for (int item = 0; item < kItems; ++item)");
        out.Line(fmt::format("const {} {} = {} + item * {};", type, dim.name, first, step));
      };
      if (!body.loads().empty()) {
        open_items();
        body.PrintLoads(dim.name, "[item]", false, &out);
        out.Close();
      }
      open_items();
      // The stores' packs are a pass of the loop's own; the loads' packs are arrays.
      body.PrintLanes(dim.name, width > 1 ? "[item]" : "", true, &out);
      body.PrintStores(dim.name, &out);
      out.Close();
    } else {
      body.PrintLoads(first, "", true, &out);
      body.PrintLanes(first, "", true, &out);
      body.PrintStores(first, &out);
    }
    out.Else();
    if (items > 1) {
      out.Open("for (int item = 0; item < kItems; ++item)");
      out.Line(fmt::format("const {} start = {} + item * {};", type, first, step));
      if (width > 1) {
        out.Open(fmt::format("for ({0} {1} = start; {1} < {2} && {1} < start + kWidth; ++{1})",
                             type, dim.name, extent));
      } else {
        out.Open(fmt::format("if (start < {})", extent));
        out.Line(fmt::format("const {} {} = start;", type, dim.name));
      }
      body.PrintScalar(&out);
      out.Close();
      out.Close();
    } else {
      out.Open(fmt::format("for ({0} {1} = {2}; {1} < {3} && {1} < {2} + kWidth; ++{1})", type,
                           dim.name, first, extent));
      body.PrintScalar(&out);
      out.Close();
    }
    out.Close();
    out.Close();
  }
  emitted.kernels = out.text();

  CodeWriter host;
  OpenLauncher(facts,
               fmt::format("Launches {}; a block takes {} points.", name, threads * width * items),
               facts.program.dims, &host);
  host.Line(LaunchText(facts, name, CeilDiv(dim.extent, threads * width * items),
                       std::to_string(threads)));
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

// Rows that cannot be joined: a block covers a piece of a row, or several short rows.
EmittedKernel EmitRows(const KernelFacts& facts, const Schedule& schedule) {
  const Program& program = facts.program;
  const int64_t threads = schedule.Get("block_size", "threads", kDefaultThreads);
  const int64_t width = schedule.Get("vector_width", "width", 1);
  Names names(facts);
  VectorConditions conditions;
  const std::string inner_name =
      facts.shape.contiguous.empty() ? program.dims.back().name : facts.shape.contiguous;
  std::vector<Dim> outer;
  Dim inner;
  for (const Dim& dim : program.dims) {
    if (dim.name == inner_name) {
      inner = dim;
    } else {
      outer.push_back(dim);
    }
  }
  const LaneBody body(facts, program, AllStages(program), inner.name, width, &names, &conditions);
  const bool packs = width > 1 && body.packs_anything();
  if (packs) {
    std::set<std::string> divisible = conditions.divisible;
    divisible.insert(Operand(inner.extent));
    conditions.divisible = divisible;
  }
  const std::string name = facts.function->name;
  const int64_t block_x = std::min<int64_t>(threads, outer.empty() ? threads : 64);
  const int64_t block_y = threads / block_x;
  const std::string type = TypeName(inner.extent->type);
  const ExprPtr rows = ProductOf(outer);

  EmittedKernel emitted;
  emitted.uses_pack = packs;
  CodeWriter out;
  out.Comment(fmt::format("{}: neighbouring threads run along {}{}.", name, inner.name,
                          packs ? ", each with kWidth points that move in one memory access" : ""));
  if (packs) {
    out.Line("template <int kWidth>");
  }
  out.Open(KernelHead(facts, schedule, name, threads));
  const std::string block = ScalarBytes(inner.extent->type) == 8
                                ? fmt::format("static_cast<{}>(blockIdx.x)", type)
                                : std::string("blockIdx.x");
  if (packs) {
    out.Line(fmt::format("const {} {} = ({} * {} + threadIdx.x) * kWidth;", type, inner.name, block,
                         block_x));
  } else {
    out.Line(fmt::format("const {} {} = {} * {} + threadIdx.x;", type, inner.name, block, block_x));
  }
  out.Open(fmt::format("if ({} >= {})", inner.name, Operand(inner.extent)));
  out.Line("return;");
  out.Close();
  std::string row = outer.size() == 1 ? outer[0].name : names.Take("row");
  const std::string row_type = TypeName(rows->type);
  if (!outer.empty()) {
    out.Open(
        fmt::format("for ({0} {1} = blockIdx.y * {2} + threadIdx.y; {1} < {3}; {1} += "
                    "gridDim.y * {2})",
                    row_type, row, block_y, Operand(rows)));
    if (outer.size() > 1) {
      PrintUnflatten(outer, row, &out);
    }
  }
  if (packs) {
    body.PrintLoads(inner.name, "", true, &out);
    body.PrintLanes(inner.name, "", true, &out);
    body.PrintStores(inner.name, &out);
  } else {
    body.PrintScalar(&out);
  }
  if (!outer.empty()) {
    out.Close();
  }
  out.Close();
  emitted.kernels = out.text();

  CodeWriter host;
  OpenLauncher(facts, fmt::format("Launches {}.", name), program.dims, &host);
  const auto launch = [&](int64_t lanes, const std::string& instance) {
    if (outer.empty()) {
      host.Line(LaunchText(facts, instance, CeilDiv(inner.extent, block_x * lanes),
                           std::to_string(threads)));
      return;
    }
    host.Line(fmt::format("const dim3 grid({}, row_blocks < 65535 ? row_blocks : 65535);",
                          CeilDiv(inner.extent, block_x * lanes)));
    host.Line(LaunchText(facts, instance, "grid", "block"));
  };
  if (!outer.empty()) {
    host.Line(fmt::format("const dim3 block({}, {});", block_x, block_y));
    host.Line(fmt::format("const {} row_blocks = {};", row_type, CeilDiv(rows, block_y)));
  }
  if (packs) {
    host.Open(fmt::format("if ({})", ConditionText(conditions, width)));
    launch(width, fmt::format("{}<{}>", name, width));
    host.Else();
    launch(1, fmt::format("{}<1>", name));
    host.Close();
  } else {
    launch(1, name);
  }
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

}  // namespace

EmittedKernel EmitMap(const KernelFacts& facts, const Schedule& schedule) {
  if (schedule.Has("flatten") || facts.program.dims.size() == 1) {
    if (const std::optional<Program> flat = Flatten(facts.program, "i")) {
      return EmitFlat(facts, *flat, schedule);
    }
  }
  return EmitRows(facts, schedule);
}

}  // namespace optiml::rewrite
