#include "rewrite/emit/stride_loop.h"

#include <fmt/format.h>

namespace optiml::rewrite {

void PrintStrideConstants(const StrideLoop& loop, CodeWriter* out) {
  out->Line(fmt::format("constexpr int kThreads = {};", loop.threads));
  if (loop.width > 1) {
    out->Line(fmt::format("constexpr int kWidth = {};", loop.width));
  }
  if (loop.items > 1) {
    out->Line(fmt::format("constexpr int kItems = {};", loop.items));
  }
}

void PrintStrideLoop(const StrideLoop& loop, const LaneBody& body,
                     const VectorConditions& conditions, Names* names, CodeWriter* out) {
  const Dim& dim = loop.dim;
  const std::string type = TypeName(dim.extent->type);
  const bool wide = ScalarBytes(dim.extent->type) == 8;
  const std::string extent = Operand(dim.extent);
  const std::string block =
      wide ? fmt::format("static_cast<{}>(blockIdx.x)", type) : std::string("blockIdx.x");
  const std::string grid =
      wide ? fmt::format("static_cast<{}>(gridDim.x)", type) : std::string("gridDim.x");
  if (loop.width == 1 && loop.items == 1) {
    out->Open(
        fmt::format("for ({0} {1} = {2} * kThreads + threadIdx.x; {1} < {3}; {1} += {4} * "
                    "kThreads)",
                    type, dim.name, block, extent, grid));
    body.PrintScalar(out);
    out->Close();
    return;
  }
  const std::string lanes = loop.width > 1 ? " * kWidth" : "";
  const std::string stride = names->Take("stride");
  const std::string first = names->Take("first");
  std::string covered = extent;
  out->Line(fmt::format("const {} {} = {} * kThreads{};", type, stride, grid, lanes));
  if (loop.width > 1) {
    covered = names->Take("in_packs");
    const std::string condition = ConditionText(conditions, loop.width);
    const std::string whole = fmt::format("{0} - {0} % kWidth", extent);
    out->Line(condition.empty()
                  ? fmt::format("const {} {} = {};", type, covered, whole)
                  : fmt::format("const {} {} = {} ? {} : 0;", type, covered, condition, whole));
  }
  out->Line(loop.width > 1
                ? fmt::format("{} {} = ({} * kThreads + threadIdx.x) * kWidth;", type, first, block)
                : fmt::format("{} {} = {} * kThreads + threadIdx.x;", type, first, block));
  const bool is_unsigned = dim.extent->type == Scalar::kU32 || dim.extent->type == Scalar::kU64;
  if (loop.items > 1) {
    out->Open(fmt::format("for (; {}{} - {} > (kItems - 1) * {}; {} += kItems * {})",
                          is_unsigned ? fmt::format("{} < {} && ", first, covered) : "", covered,
                          first, stride, first, stride));
    for (const PackAccess& load : body.loads()) {
      out->Line(fmt::format("{} {}[kItems];", PackType(load.type), load.name));
    }
    const auto open = [&] {
      out->Pragma("#pragma unroll");
      out->Open("for (int item = 0; item < kItems; ++item)");
      out->Line(fmt::format("const {} {} = {} + item * {};", type, dim.name, first, stride));
    };
    if (!body.loads().empty()) {
      open();
      body.PrintLoads(dim.name, "[item]", false, out);
      out->Close();
    }
    out->Pragma("#pragma unroll");
    out->Open("for (int item = 0; item < kItems; ++item)");
    if (loop.width == 1 || body.needs_point()) {
      out->Line(fmt::format("const {} {} = {} + item * {};", type, dim.name, first, stride));
    }
    body.PrintLanes(dim.name, "[item]", true, out);
    body.PrintStores(dim.name, out);
    out->Close();
    out->Close();
  }
  if (loop.width > 1 || loop.items > 1) {
    out->Open(fmt::format("for (; {} < {}; {} += {})", first, covered, first, stride));
    body.PrintLoads(first, "", true, out);
    body.PrintLanes(first, "", true, out);
    body.PrintStores(first, out);
    out->Close();
  }
  if (loop.width > 1) {
    out->Open(
        fmt::format("for ({0} {1} = {2} + {3} * kThreads + threadIdx.x; {1} < {4}; {1} += {5} "
                    "* kThreads)",
                    type, dim.name, covered, block, extent, grid));
    body.PrintScalar(out);
    out->Close();
  }
}

void PrintStrideGrid(const StrideLoop& loop, int64_t most, CodeWriter* host) {
  const std::string type = TypeName(loop.dim.extent->type);
  host->Line(fmt::format("const {} blocks = {};", type,
                         CeilDiv(loop.dim.extent, loop.threads * loop.width * loop.items)));
  host->Line(fmt::format("const int grid = blocks < {0} ? static_cast<int>(blocks) : {0};", most));
}

}  // namespace optiml::rewrite
