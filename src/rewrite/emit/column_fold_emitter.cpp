#include <fmt/format.h>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

constexpr int64_t kColumns = 32;  // of a block: a warp reads 32 neighbours

}  // namespace

EmittedKernel EmitColumnFold(const KernelFacts& facts, const Schedule& schedule) {
  const Program& program = facts.program;
  const int64_t slices = schedule.Get("column_fold", "slices", 8);
  Names names(facts);
  Dim column;
  std::vector<Dim> outer;
  for (const Dim& dim : program.dims) {
    if (dim.name == facts.shape.contiguous) {
      column = dim;
    } else {
      outer.push_back(dim);
    }
  }
  const std::string name = facts.function->name;
  const std::string type = TypeName(column.extent->type);
  const std::string place = names.Take(column.name + "_of_thread");

  EmittedKernel emitted;
  CodeWriter out;
  out.Comment(
      fmt::format("{}: a block takes {} neighbouring columns; {} threads share a column and "
                  "combine what they found in shared memory.",
                  name, kColumns, slices));
  out.Open(KernelHead(facts, schedule, name, kColumns * slices));
  out.Line(fmt::format("constexpr int kColumns = {};", kColumns));
  out.Line(fmt::format("constexpr int kSlices = {};", slices));
  if (outer.empty()) {
    out.Line(fmt::format("const {} {} = blockIdx.x * kColumns + threadIdx.x;", type, place));
  } else {
    const std::string blocks = names.Take("blocks");
    out.Line(fmt::format("const {} {} = ({} + kColumns - 1) / kColumns;", type, blocks,
                         Operand(column.extent)));
    out.Line(fmt::format("const {} {} = blockIdx.x % {} * kColumns + threadIdx.x;", type, place,
                         blocks));
    const std::string number = names.Take("outer");
    out.Line(fmt::format("const {} {} = blockIdx.x / {};", TypeName(outer[0].extent->type), number,
                         blocks));
    PrintUnflatten(outer, number, &out);
  }
  out.Comment("Threads beyond the last column repeat it and store nothing.");
  out.Line(fmt::format("const bool inside = {} < {};", place, Operand(column.extent)));
  out.Line(fmt::format("const {} {} = inside ? {} : {} - 1;", type, column.name, place,
                       Operand(column.extent)));
  const auto print_guarded = [&](const Stage& stage, const std::string& condition) {
    Stage lets = stage;
    lets.stores.clear();
    PrintStage(lets, &out);
    if (!stage.stores.empty()) {
      Stage stores = stage;
      stores.lets.clear();
      out.Open(fmt::format("if ({})", condition));
      PrintStage(stores, &out);
      out.Close();
    }
  };
  for (const Stage& stage : program.stages) {
    if (stage.dims.empty()) {
      print_guarded(stage, "inside && threadIdx.y == 0");
      continue;
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      PrintAccumulator(accumulator, ParallelStart(accumulator), &out);
    }
    const Dim& dim = stage.dims[0];
    out.Open(fmt::format("for ({0} {1} = threadIdx.y; {1} < {2}; {1} += kSlices)",
                         TypeName(dim.extent->type), dim.name, Operand(dim.extent)));
    print_guarded(stage, "inside");
    out.Close();
    for (const Accumulator& accumulator : stage.accumulators) {
      const std::string shares = names.Take(accumulator.name + "_of_slice");
      out.Line(
          fmt::format("__shared__ {} {}[kSlices][kColumns];", TypeName(accumulator.type), shares));
      out.Line(fmt::format("{}[threadIdx.y][threadIdx.x] = {};", shares, accumulator.name));
      out.Line("__syncthreads();");
      const ExprPtr start =
          NeedsInitAfter(accumulator) ? accumulator.init : ParallelStart(accumulator);
      out.Line(fmt::format("{} = {};", accumulator.name, Print(start)));
      out.Open("for (int slice = 0; slice < kSlices; ++slice)");
      out.Line(FoldStatement(
          accumulator, Symbol(fmt::format("{}[slice][threadIdx.x]", shares), accumulator.type)));
      out.Close();
    }
  }
  out.Close();
  emitted.kernels = out.text();

  CodeWriter host;
  OpenLauncher(facts, fmt::format("Launches {} with one block for {} columns.", name, kColumns),
               program.dims, &host);
  std::string blocks = CeilDiv(column.extent, kColumns);
  if (!outer.empty()) {
    blocks = fmt::format("({}) * {}", blocks, Operand(ProductOf(outer)));
  }
  host.Line(LaunchText(facts, name, blocks, fmt::format("dim3({}, {})", kColumns, slices)));
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

}  // namespace optiml::rewrite
