#include <fmt/format.h>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {

EmittedKernel EmitTranspose(const KernelFacts& facts, const Schedule& schedule) {
  const Program& program = facts.program;
  const Shape& shape = facts.shape;
  const int64_t tile = schedule.Get("turn_tile", "tile", 32);
  const int64_t rows = schedule.Get("turn_tile", "rows", 8);
  Names names(facts);
  Dim write;  // contiguous for the stores
  Dim read;   // contiguous for the turned loads
  std::vector<Dim> outer;
  for (const Dim& dim : program.dims) {
    if (dim.name == shape.contiguous) {
      write = dim;
    } else if (dim.name == shape.other) {
      read = dim;
    } else {
      outer.push_back(dim);
    }
  }
  // Each turned load has a tile; the stages read the tile instead.
  struct Turned {
    std::string buffer;
    ExprPtr index;
    Scalar type = Scalar::kF32;
    std::string tile;
  };
  std::vector<Turned> turned;
  for (const AccessInfo& access : shape.turned) {
    bool known = false;
    for (const Turned& one : turned) {
      known = known || (one.buffer == access.buffer && Equal(one.index, access.index));
    }
    if (!known) {
      turned.push_back(
          {access.buffer, access.index, access.type, names.Take(access.buffer + "_tile")});
    }
  }
  const std::string name = facts.function->name;
  const std::string begin_write = names.Take(write.name + "_begin");
  const std::string begin_read = names.Take(read.name + "_begin");
  const int64_t threads = tile * rows;

  EmittedKernel emitted;
  CodeWriter out;
  out.Comment(
      fmt::format("{}: a block turns a tile of {} x {} around in shared memory; reads run "
                  "along {}, writes along {}. The tile's rows are padded by one element, so "
                  "that its columns lie in different banks.",
                  name, tile, tile, read.name, write.name));
  out.Open(KernelHead(facts, schedule, name, threads));
  out.Line(fmt::format("constexpr int kTile = {};", tile));
  out.Line(fmt::format("constexpr int kRows = {};", rows));
  for (const Turned& one : turned) {
    out.Line(fmt::format("__shared__ {} {}[kTile][kTile + 1];", TypeName(one.type), one.tile));
  }
  const std::string write_type = TypeName(write.extent->type);
  const std::string read_type = TypeName(read.extent->type);
  out.Line(fmt::format("const int tiles = ({} + kTile - 1) / kTile;", Operand(write.extent)));
  if (outer.empty()) {
    out.Line(fmt::format("const {} {} = blockIdx.x / tiles * kTile;", read_type, begin_read));
  } else {
    out.Line(fmt::format("const int tile_rows = ({} + kTile - 1) / kTile;", Operand(read.extent)));
    out.Line(fmt::format("const {} {} = blockIdx.x / tiles % tile_rows * kTile;", read_type,
                         begin_read));
    const std::string number = names.Take("outer");
    out.Line(fmt::format("const {} {} = blockIdx.x / tiles / tile_rows;",
                         TypeName(outer[0].extent->type), number));
    PrintUnflatten(outer, number, &out);
  }
  out.Line(fmt::format("const {} {} = blockIdx.x % tiles * kTile;", write_type, begin_write));
  const auto open = [&](const char* write_place, const char* read_place) {
    out.Pragma("#pragma unroll");
    out.Open("for (int step = 0; step < kTile; step += kRows)");
    out.Line(fmt::format("const {} {} = {} + {};", read_type, read.name, begin_read, read_place));
    out.Line(
        fmt::format("const {} {} = {} + {};", write_type, write.name, begin_write, write_place));
    out.Open(fmt::format("if ({} < {} && {} < {})", read.name, Operand(read.extent), write.name,
                         Operand(write.extent)));
  };
  // Lets that the turned indices use are plain integers: put them in.
  std::map<std::string, ExprPtr> lets;
  for (const Stage& stage : program.stages) {
    for (const Let& let : stage.lets) {
      if (!IsFloatScalar(let.type)) {
        lets[let.name] = Substitute(let.value, lets);
      }
    }
  }
  open("threadIdx.y + step", "threadIdx.x");
  for (const Turned& one : turned) {
    out.Line(fmt::format("{}[threadIdx.y + step][threadIdx.x] = {}[{}];", one.tile, one.buffer,
                         Print(Substitute(one.index, lets))));
  }
  out.Close();
  out.Close();
  out.Line("__syncthreads();");
  open("threadIdx.x", "threadIdx.y + step");
  for (const Stage& stage : program.stages) {
    Stage copy = stage;
    RewriteStage(&copy, [&](const ExprPtr& expr) {
      return RewriteExpr(expr, [&](const ExprPtr& node) -> ExprPtr {
        if (node->kind != ExprKind::kLoad) {
          return nullptr;
        }
        for (const Turned& one : turned) {
          if (one.buffer == node->name && Equal(one.index, node->operands[0])) {
            return Symbol(fmt::format("{}[threadIdx.x][threadIdx.y + step]", one.tile), node->type);
          }
        }
        return nullptr;
      });
    });
    PrintStage(copy, &out);
  }
  out.Close();
  out.Close();
  out.Close();
  emitted.kernels = out.text();

  CodeWriter host;
  OpenLauncher(facts, fmt::format("Launches {} with one block per tile.", name), program.dims,
               &host);
  std::string blocks =
      fmt::format("({}) * ({})", CeilDiv(write.extent, tile), CeilDiv(read.extent, tile));
  if (!outer.empty()) {
    blocks += " * " + Operand(ProductOf(outer));
  }
  host.Line(fmt::format("const {} blocks = {};", TypeName(ProductOf(program.dims)->type), blocks));
  host.Line(LaunchText(facts, name, "blocks", fmt::format("dim3({}, {})", tile, rows)));
  host.Close();
  emitted.launcher = host.text();
  return emitted;
}

}  // namespace optiml::rewrite
