#include <fmt/format.h>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

// Results of a thread lie in groups of 4: a group is one 16-byte access of shared memory.
constexpr int64_t kGroup = 4;

// One operand's way through shared memory.
struct Operands {
  std::string tile;   // shared array
  std::string next;   // registers on the way there
  std::string loads;  // constant: packs per thread
  ExprPtr load;
  ExprPtr factor;
  Dim outer;                 // m or n
  bool along_outer = false;  // contiguous along m or n: copied as it lies; else turned around
  int64_t size = 0;          // of the tile along the outer dim
  std::string size_name;
};

class ContractionPrinter {
 public:
  ContractionPrinter(const KernelFacts& facts, const Schedule& schedule)
      : facts_(facts),
        program_(facts.program),
        schedule_(schedule),
        contraction_(*facts.shape.contraction),
        fold_(program_.stages[contraction_.fold_stage]),
        accumulator_(fold_.accumulators[0]),
        tile_m_(schedule.Get("tile_shared", "m", 64)),
        tile_n_(schedule.Get("tile_shared", "n", 64)),
        tile_k_(schedule.Get("tile_shared", "k", 16)),
        thread_m_(schedule.Get("register_tile", "m", 1)),
        thread_n_(schedule.Get("register_tile", "n", 1)),
        buffers_(schedule.Has("double_buffer") ? 2 : 1),
        width_(schedule.Get("vector_width", "width", 1)),
        names_(facts) {
    for (const Dim& dim : program_.dims) {
      if (dim.name == contraction_.m) {
        m_ = dim;
      } else if (dim.name == contraction_.n) {
        n_ = dim;
      } else {
        batch_.push_back(dim);
      }
    }
    k_ = fold_.dims[0];
    threads_m_ = tile_m_ / thread_m_;
    threads_n_ = tile_n_ / thread_n_;
    threads_ = threads_m_ * threads_n_;
    a_ = MakeOperands(contraction_.a, contraction_.a_factor, m_, !contraction_.a_along_k, tile_m_,
                      "kTileM");
    b_ = MakeOperands(contraction_.b, contraction_.b_factor, n_, contraction_.b_along_n, tile_n_,
                      "kTileN");
    a_.loads = "kLoadsA";
    b_.loads = "kLoadsB";
    begin_m_ = names_.Take(m_.name + "_begin");
    begin_n_ = names_.Take(n_.name + "_begin");
    begin_k_ = names_.Take(k_.name + "_begin");
    sums_ = names_.Take(accumulator_.name + "_tile");
  }

  EmittedKernel Emit() {
    CodeWriter out;
    const std::string name = facts_.function->name;
    PrintComment(name, &out);
    if (width_ > 1) {
      out.Line("template <int kWidth>");
    }
    out.Open(KernelHead(facts_, schedule_, name, threads_));
    PrintConstants(&out);
    PrintPlace(&out);
    PrintCopies(&out);
    PrintMainLoop(&out);
    PrintResults(&out);
    out.Close();
    EmittedKernel emitted;
    emitted.kernels = out.text();
    emitted.uses_pack = width_ > 1 || thread_m_ >= kGroup || thread_n_ >= kGroup;
    emitted.launcher = Launcher(name);
    return emitted;
  }

 private:
  Operands MakeOperands(const ExprPtr& load, const ExprPtr& factor, const Dim& outer,
                        bool along_outer, int64_t size, const std::string& size_name) {
    Operands result;
    result.load = load;
    result.factor = factor;
    result.outer = outer;
    result.along_outer = along_outer;
    result.size = size;
    result.size_name = size_name;
    result.tile = names_.Take(load->name + "_tile");
    result.next = names_.Take(load->name + "_next");
    if (width_ > 1) {
      const std::optional<Affine> form =
          IndexForm(program_, contraction_.fold_stage, load->operands[0]);
      const Dim& along = along_outer ? outer : k_;
      RequireDivisible(*form, along.name, width_, &conditions_.divisible);
      if (along.extent->kind != ExprKind::kInt) {
        conditions_.divisible.insert(Operand(along.extent));
      }
      conditions_.aligned[load->name] = std::min<int64_t>(16, width_ * ScalarBytes(load->type));
    }
    return result;
  }

  void PrintComment(const std::string& name, CodeWriter* out) {
    std::string text = fmt::format(
        "{}: a block computes a tile of {} x {} results, a thread {} x {} of them in registers. "
        "Tiles of {} and {} are copied to shared memory {} steps of {} at a time",
        name, tile_m_, tile_n_, thread_m_, thread_n_, a_.load->name, b_.load->name, tile_k_,
        k_.name);
    if (buffers_ > 1) {
      text += ", the next ones while the present ones are used";
    }
    out->Comment(text + ".");
  }

  void PrintConstants(CodeWriter* out) {
    out->Line(fmt::format("constexpr int kTileM = {};", tile_m_));
    out->Line(fmt::format("constexpr int kTileN = {};", tile_n_));
    out->Line(fmt::format("constexpr int kTileK = {};", tile_k_));
    out->Line(fmt::format("constexpr int kThreads = {};", threads_));
    const std::string width = width_ > 1 ? " / kWidth" : "";
    out->Line(fmt::format("constexpr int kLoadsA = kTileM * kTileK / kThreads{};", width));
    out->Line(fmt::format("constexpr int kLoadsB = kTileN * kTileK / kThreads{};", width));
    const std::string type = TypeName(accumulator_.type);
    // A turned tile is padded by a group: fewer bank conflicts, rows stay aligned.
    const auto tile = [&](const Operands& operand) {
      out->Line(fmt::format("__shared__ {}{} {}{}[kTileK][{}{}];",
                            thread_m_ >= kGroup || thread_n_ >= kGroup ? "alignas(16) " : "", type,
                            operand.tile, buffers_ > 1 ? "[2]" : "", operand.size_name,
                            operand.along_outer ? "" : " + 4"));
    };
    tile(a_);
    tile(b_);
  }

  void PrintPlace(CodeWriter* out) {
    out->Line("const int thread = threadIdx.x;");
    if (threads_n_ % 8 == 0 && threads_m_ % 4 == 0) {
      out->Comment("A warp covers 4 x 8 threads of the tile: its reads of shared memory are few.");
      out->Line(fmt::format("const int thread_m = thread / 32 / {0} * 4 + thread % 32 / 8;",
                            threads_n_ / 8));
      out->Line(
          fmt::format("const int thread_n = thread / 32 % {0} * 8 + thread % 8;", threads_n_ / 8));
    } else {
      out->Line(fmt::format("const int thread_m = thread / {};", threads_n_));
      out->Line(fmt::format("const int thread_n = thread % {};", threads_n_));
    }
    const auto begin = [&](const Dim& dim, const std::string& name, const char* axis,
                           const char* tile) {
      const bool wide = ScalarBytes(dim.extent->type) == 8;
      const std::string type = TypeName(dim.extent->type);
      out->Line(fmt::format("const {} {} = {} * {};", type, name,
                            wide ? fmt::format("static_cast<{}>(blockIdx.{})", type, axis)
                                 : fmt::format("blockIdx.{}", axis),
                            tile));
    };
    begin(m_, begin_m_, "y", "kTileM");
    begin(n_, begin_n_, "x", "kTileN");
    if (!batch_.empty()) {
      PrintUnflatten(batch_, "blockIdx.z", out);
    }
  }

  std::string Buffer(const std::string& buffer) const {
    return buffers_ > 1 ? fmt::format("[{}]", buffer) : "";
  }

  // place of pack number `load * kThreads + thread` in the tile
  void PrintPackPlace(const Operands& operand, bool global, CodeWriter* out) {
    const std::string width = width_ > 1 ? " / kWidth" : "";
    const std::string times = width_ > 1 ? " * kWidth" : "";
    out->Line("const int pack = load * kThreads + thread;");
    const std::string along = operand.along_outer ? operand.size_name : "kTileK";
    const std::string count = width_ > 1 ? fmt::format("({}{})", along, width) : along;
    const std::string slow = fmt::format("pack / {}", count);
    const std::string fast = fmt::format("pack % {}{}", count, times);
    const std::string outer = operand.along_outer ? fast : slow;
    const std::string inner = operand.along_outer ? slow : fast;
    if (global) {
      const std::string& begin = operand.outer.name == m_.name ? begin_m_ : begin_n_;
      out->Line(fmt::format("const {} {} = {} + {};", TypeName(operand.outer.extent->type),
                            operand.outer.name, begin, outer));
      out->Line(fmt::format("const {} {} = {} + {};", TypeName(k_.extent->type), k_.name, begin_k_,
                            inner));
    } else {
      out->Line(fmt::format("const int place = {};", outer));
      out->Line(fmt::format("const int step = {};", inner));
    }
  }

  void PrintCopies(CodeWriter* out) {
    const auto registers = [&](const Operands& operand) {
      const std::string type =
          width_ > 1 ? PackType(operand.load->type) : TypeName(operand.load->type);
      out->Line(fmt::format("{} {}[{}];", type, operand.next, operand.loads));
    };
    registers(a_);
    registers(b_);
    out->Comment("Places beyond the matrices count as zero.");
    out->Open(
        fmt::format("const auto load_tiles = [&]({} {})", TypeName(k_.extent->type), begin_k_));
    for (const Operands* operand : {&a_, &b_}) {
      out->Pragma("#pragma unroll");
      out->Open(fmt::format("for (int load = 0; load < {}; ++load)", operand->loads));
      PrintPackPlace(*operand, true, out);
      const std::string inside =
          fmt::format("{} < {} && {} < {}", operand->outer.name, Operand(operand->outer.extent),
                      k_.name, Operand(k_.extent));
      const ExprPtr& index = operand->load->operands[0];
      if (width_ > 1) {
        const std::string type = PackType(operand->load->type);
        out->Line(fmt::format("{}[load] = {{}};", operand->next));
        out->Open(fmt::format("if ({})", inside));
        out->Line(fmt::format("{}[load] = *reinterpret_cast<const {}*>({});", operand->next, type,
                              PointerText(operand->load->name, index)));
        out->Close();
      } else {
        out->Line(fmt::format("{}[load] = {} ? {}[{}] : {}(0);", operand->next, inside,
                              operand->load->name, Print(index), TypeName(operand->load->type)));
      }
      out->Close();
    }
    out->Close(";");
    out->Open(buffers_ > 1 ? "const auto store_tiles = [&](int buffer)"
                           : "const auto store_tiles = [&]()");
    for (const Operands* operand : {&a_, &b_}) {
      out->Pragma("#pragma unroll");
      out->Open(fmt::format("for (int load = 0; load < {}; ++load)", operand->loads));
      PrintPackPlace(*operand, false, out);
      const std::string target = operand->tile + Buffer("buffer");
      const auto value = [&](const std::string& text) {
        const ExprPtr element = RewriteExpr(operand->factor, [&](const ExprPtr& expr) -> ExprPtr {
          return expr->kind == ExprKind::kLoad ? Symbol(text, expr->type) : nullptr;
        });
        return Print(element);
      };
      if (width_ > 1) {
        out->Pragma("#pragma unroll");
        out->Open("for (int lane = 0; lane < kWidth; ++lane)");
        out->Line(
            fmt::format("{}{} = {};", target,
                        operand->along_outer ? "[step][place + lane]" : "[step + lane][place]",
                        value(fmt::format("{}[load].lane[lane]", operand->next))));
        out->Close();
      } else {
        out->Line(fmt::format("{}[step][place] = {};", target,
                              value(fmt::format("{}[load]", operand->next))));
      }
      out->Close();
    }
    out->Close(";");
    out->Blank();
  }

  // Reads this thread's part of one step from a tile into registers.
  void PrintPart(const std::string& part, const Operands& operand, int64_t count,
                 const std::string& thread, int64_t size, CodeWriter* out) {
    const std::string source = operand.tile + Buffer("buffer") + "[step]";
    if (count >= kGroup) {
      out->Line(
          fmt::format("Pack<{}, 4> {}[{}];", TypeName(accumulator_.type), part, count / kGroup));
      out->Pragma("#pragma unroll");
      out->Open(fmt::format("for (int group = 0; group < {}; ++group)", count / kGroup));
      out->Line(
          fmt::format("{}[group] = *reinterpret_cast<const Pack<{}, 4>*>(&{}[group * {} + {} "
                      "* 4]);",
                      part, TypeName(accumulator_.type), source, size / (count / kGroup), thread));
      out->Close();
    } else {
      out->Line(fmt::format("{} {}[{}];", TypeName(accumulator_.type), part, count));
      out->Pragma("#pragma unroll");
      out->Open(fmt::format("for (int place = 0; place < {}; ++place)", count));
      out->Line(
          fmt::format("{}[place] = {}[place * {} + {}];", part, source, size / count, thread));
      out->Close();
    }
  }

  static std::string PartElement(const std::string& part, const std::string& i, int64_t count) {
    return count >= kGroup ? fmt::format("{0}[{1} / 4].lane[{1} % 4]", part, i)
                           : fmt::format("{}[{}]", part, i);
  }

  void PrintMultiply(CodeWriter* out) {
    const std::string a_part = Fixed(a_.load->name + "_part");
    const std::string b_part = Fixed(b_.load->name + "_part");
    out->Pragma("#pragma unroll");
    out->Open("for (int step = 0; step < kTileK; ++step)");
    PrintPart(a_part, a_, thread_m_, "thread_m", tile_m_, out);
    PrintPart(b_part, b_, thread_n_, "thread_n", tile_n_, out);
    out->Pragma("#pragma unroll");
    out->Open(fmt::format("for (int mi = 0; mi < {}; ++mi)", thread_m_));
    out->Pragma("#pragma unroll");
    out->Open(fmt::format("for (int ni = 0; ni < {}; ++ni)", thread_n_));
    out->Line(fmt::format("{}[mi][ni] += {} * {};", sums_, PartElement(a_part, "mi", thread_m_),
                          PartElement(b_part, "ni", thread_n_)));
    out->Close();
    out->Close();
    out->Close();
  }

  std::string Fixed(const std::string& wish) { return names_.Take(wish); }

  void PrintMainLoop(CodeWriter* out) {
    out->Line(fmt::format("{} {}[{}][{}] = {{}};", TypeName(accumulator_.type), sums_, thread_m_,
                          thread_n_));
    const std::string type = TypeName(k_.extent->type);
    const std::string extent = Operand(k_.extent);
    if (buffers_ > 1) {
      out->Line("load_tiles(0);");
      out->Line("store_tiles(0);");
      out->Line("__syncthreads();");
      out->Line("int buffer = 0;");
    }
    out->Open(fmt::format("for ({0} {1} = 0; {1} < {2}; {1} += kTileK)", type, begin_k_, extent));
    if (buffers_ > 1) {
      out->Line(fmt::format("const bool more = {} - {} > kTileK;", extent, begin_k_));
      out->Open("if (more)");
      out->Line(fmt::format("load_tiles({} + kTileK);", begin_k_));
      out->Close();
      PrintMultiply(out);
      out->Open("if (more)");
      out->Line("buffer = 1 - buffer;");
      out->Line("store_tiles(buffer);");
      out->Line("__syncthreads();");
      out->Close();
    } else {
      out->Line(fmt::format("load_tiles({});", begin_k_));
      out->Line("store_tiles();");
      out->Line("__syncthreads();");
      PrintMultiply(out);
      out->Line("__syncthreads();");
    }
    out->Close();
    out->Blank();
  }

  void PrintResults(CodeWriter* out) {
    // What comes before and after the fold, at one point.
    Program scratch = program_;
    std::vector<size_t> stages;
    Stage& fold = scratch.stages[contraction_.fold_stage];
    const bool grouped = thread_n_ >= kGroup;
    const std::string column =
        grouped ? (width_ > 1 ? "group * 4 + part + lane" : "group * 4 + part") : "ni";
    const ExprPtr sum = Symbol(fmt::format("{}[mi][{}]", sums_, column), accumulator_.type);
    fold.lets = {
        Let{accumulator_.name, accumulator_.type,
            NeedsInitAfter(accumulator_) ? Combine(accumulator_, accumulator_.init, sum) : sum}};
    fold.dims.clear();
    fold.accumulators.clear();
    for (size_t i = 0; i < scratch.stages.size(); ++i) {
      stages.push_back(i);
    }
    const int64_t width = grouped ? width_ : 1;
    const LaneBody body(facts_, scratch, stages, n_.name, width, &names_, &conditions_, {});
    if (width > 1 && n_.extent->kind != ExprKind::kInt && body.packs_anything()) {
      conditions_.divisible.insert(Operand(n_.extent));
    }
    out->Pragma("#pragma unroll");
    out->Open(fmt::format("for (int mi = 0; mi < {}; ++mi)", thread_m_));
    const std::string place_m =
        thread_m_ >= kGroup
            ? fmt::format("mi / 4 * {} + thread_m * 4 + mi % 4", tile_m_ / (thread_m_ / kGroup))
            : fmt::format("mi * {} + thread_m", threads_m_);
    out->Line(fmt::format("const {} {} = {} + {};", TypeName(m_.extent->type), m_.name, begin_m_,
                          place_m));
    out->Pragma("#pragma unroll");
    if (grouped) {
      out->Open(fmt::format("for (int group = 0; group < {}; ++group)", thread_n_ / kGroup));
      if (width > 1) {
        out->Pragma("#pragma unroll");
        out->Open("for (int part = 0; part < 4; part += kWidth)");
      } else {
        out->Pragma("#pragma unroll");
        out->Open("for (int part = 0; part < 4; ++part)");
      }
      out->Line(fmt::format("const {} {} = {} + group * {} + thread_n * 4 + part;",
                            TypeName(n_.extent->type), n_.name, begin_n_,
                            tile_n_ / (thread_n_ / kGroup)));
    } else {
      out->Open(fmt::format("for (int ni = 0; ni < {}; ++ni)", thread_n_));
      out->Line(fmt::format("const {} {} = {} + ni * {} + thread_n;", TypeName(n_.extent->type),
                            n_.name, begin_n_, threads_n_));
    }
    out->Open(fmt::format("if ({} < {} && {} < {})", m_.name, Operand(m_.extent), n_.name,
                          Operand(n_.extent)));
    body.PrintLoads(n_.name, "", true, out);
    body.PrintLanes(n_.name, "", true, out);
    body.PrintStores(n_.name, out);
    out->Close();
    if (grouped) {
      out->Close();
    }
    out->Close();
    out->Close();
  }

  std::string Launcher(const std::string& name) {
    CodeWriter host;
    OpenLauncher(facts_, fmt::format("Launches {} with one block per tile of results.", name),
                 program_.dims, &host);
    std::string grid = fmt::format("const dim3 grid({}, {}", CeilDiv(n_.extent, tile_n_),
                                   CeilDiv(m_.extent, tile_m_));
    if (!batch_.empty()) {
      grid += ", " + Print(ProductOf(batch_));
    }
    host.Line(grid + ");");
    const auto launch = [&](const std::string& instance) {
      host.Line(LaunchText(facts_, instance, "grid", std::to_string(threads_)));
    };
    if (width_ > 1) {
      host.Open(fmt::format("if ({})", ConditionText(conditions_, width_)));
      launch(fmt::format("{}<{}>", name, width_));
      host.Else();
      launch(fmt::format("{}<1>", name));
      host.Close();
    } else {
      launch(name);
    }
    host.Close();
    return host.text();
  }

  const KernelFacts& facts_;
  const Program& program_;
  const Schedule& schedule_;
  const Contraction& contraction_;
  const Stage& fold_;
  const Accumulator& accumulator_;
  int64_t tile_m_;
  int64_t tile_n_;
  int64_t tile_k_;
  int64_t thread_m_;
  int64_t thread_n_;
  int64_t buffers_;
  int64_t width_;
  Names names_;
  Dim m_;
  Dim n_;
  Dim k_;
  std::vector<Dim> batch_;
  int64_t threads_m_ = 0;
  int64_t threads_n_ = 0;
  int64_t threads_ = 0;
  Operands a_;
  Operands b_;
  std::string begin_m_;
  std::string begin_n_;
  std::string begin_k_;
  std::string sums_;
  VectorConditions conditions_;
};

}  // namespace

EmittedKernel EmitContraction(const KernelFacts& facts, const Schedule& schedule) {
  return ContractionPrinter(facts, schedule).Emit();
}

}  // namespace optiml::rewrite
