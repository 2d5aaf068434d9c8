#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"
#include "rewrite/schedule/fusion.h"

namespace optiml::rewrite {
namespace {

constexpr int64_t kThreadsOfAWarpBlock = 256;  // a block of several rows, a warp each

// Loads that at least two loops over the row read: what is worth keeping on chip.
std::vector<AccessInfo> SharedLoads(const Program& program, const std::string& inner,
                                    int64_t width) {
  std::vector<AccessInfo> result;
  const std::vector<AccessInfo> accesses = CollectAccesses(program);
  for (size_t i = 0; i < accesses.size(); ++i) {
    const AccessInfo& access = accesses[i];
    std::set<std::string> divisible;
    if (access.is_store || access.is_conditional || !access.affine ||
        program.stages[access.stage].dims.empty() ||
        !(access.affine->Coefficient(inner) == Polynomial(1)) ||
        (width > 1 && !RequireDivisible(*access.affine, inner, width, &divisible))) {
      continue;
    }
    const auto same = [&](const AccessInfo& other) {
      return !other.is_store && other.buffer == access.buffer && Equal(other.index, access.index);
    };
    if (std::any_of(result.begin(), result.end(), same)) {
      continue;
    }
    size_t last = access.stage;
    for (const AccessInfo& other : accesses) {
      last = same(other) ? std::max(last, other.stage) : last;
    }
    // What is kept is read before the first stage.
    if (last > access.stage && !StoresBetween(accesses, access.buffer, 0, last)) {
      result.push_back(access);
    }
  }
  return result;
}

class RowFoldPrinter {
 public:
  RowFoldPrinter(const KernelFacts& facts, const Schedule& schedule)
      : facts_(facts),
        program_(facts.program),
        schedule_(schedule),
        threads_(schedule.Get("row_fold", "threads", 256)),
        width_(schedule.Get("vector_width", "width", 1)),
        items_(schedule.Get("keep_row", "items", 0)),
        rows_(threads_ <= 32 ? kThreadsOfAWarpBlock / threads_ : 1),
        names_(facts) {
    if (schedule.Has("fuse_folds")) {
      fusion_ = FindFusion(program_);
    }
    for (const Stage& stage : program_.stages) {
      if (!stage.dims.empty() && inner_.name.empty()) {
        inner_ = stage.dims[0];
      }
    }
    if (items_ > 0) {
      kept_ = SharedLoads(program_, inner_.name, width_);
      for (const AccessInfo& load : kept_) {
        kept_names_.push_back(names_.Take(load.buffer + "_row"));
      }
    }
  }

  EmittedKernel Emit() {
    EmittedKernel emitted;
    CodeWriter functions;
    CodeWriter kernels;
    const std::string name = facts_.function->name;
    if (items_ > 0) {
      PrintKernel(name, true, &functions, &kernels);
      long_name_ = names_.Take(name + "_long_rows");
      kernels.Blank();
      PrintKernel(long_name_, false, &functions, &kernels);
    } else {
      PrintKernel(name, false, &functions, &kernels);
    }
    emitted.kernels = functions.text() + kernels.text();
    emitted.uses_pack = packs_;
    emitted.launcher = Launcher(name);
    return emitted;
  }

 private:
  bool is_block() const { return threads_ > 32; }

  void PrintKernel(const std::string& name, bool kept, CodeWriter* functions, CodeWriter* out) {
    std::string comment =
        fmt::format("{}: {}", name,
                    is_block() ? fmt::format("a block of {} threads per row", threads_)
                               : fmt::format("a warp per row, {} rows in a block", rows_));
    if (kept) {
      comment += "; each thread keeps its share of the row in registers between the passes";
    } else if (items_ > 0) {
      comment += "; for rows that do not fit in the block's registers";
    }
    if (fusion_) {
      comment += fusion_->kind == FusionKind::kOnlineExp
                     ? "; maximum and sum are found in one pass, the sum being rescaled when the "
                       "maximum grows"
                     : "; mean and squared deviations are found in one pass";
    }
    out->Comment(comment + ".");
    if (width_ > 1) {
      out->Line("template <int kWidth>");
    }
    out->Open(KernelHead(facts_, schedule_, name, threads_ * rows_));
    if (threads_ > 1) {
      out->Line(fmt::format("constexpr int kThreads = {};", threads_));
    }
    if (kept) {
      out->Line(fmt::format("constexpr int kItems = {};", items_));
    }
    PrintRow(out);
    provided_.clear();
    if (kept) {
      PrintKeep(out);
    }
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (fusion_ && i == fusion_->second) {
        continue;
      }
      if (fusion_ && i == fusion_->first) {
        PrintFused(kept, functions, out);
      } else if (fusion_ && fusion_->kind == FusionKind::kMoments && i > fusion_->first &&
                 i < fusion_->second) {
        PrintStraight(WithoutMean(program_.stages[i]), out);
      } else {
        PrintStageOf(i, kept, functions, out);
      }
    }
    out->Close();
  }

  void PrintRow(CodeWriter* out) {
    const ExprPtr rows = ProductOf(program_.dims);
    if (program_.dims.empty()) {
      return;
    }
    const std::string type = TypeName(rows->type);
    const std::string row =
        program_.dims.size() == 1 ? program_.dims[0].name : Fixed("row_of_grid");
    if (rows_ > 1) {
      out->Line(fmt::format("const {} {} = blockIdx.x * {} + threadIdx.y;", type, row, rows_));
      out->Open(fmt::format("if ({} >= {})", row, Operand(rows)));
      out->Line("return;");
      out->Close();
    } else {
      out->Line(fmt::format("const {} {} = blockIdx.x;", type, row));
    }
    if (program_.dims.size() > 1) {
      PrintUnflatten(program_.dims, row, out);
    }
  }

  // A name that all kernels of this emission share.
  std::string Fixed(const std::string& wish) {
    const auto found = fixed_.find(wish);
    return found != fixed_.end() ? found->second : fixed_[wish] = names_.Take(wish);
  }

  void OpenLoop(const Dim& dim, bool kept, CodeWriter* out) {
    const std::string type = TypeName(dim.extent->type);
    const std::string width = width_ > 1 ? " * kWidth" : "";
    if (kept) {
      out->Pragma("#pragma unroll");
      out->Open("for (int item = 0; item < kItems; ++item)");
      out->Line(width_ > 1
                    ? fmt::format("const {} {} = (item * kThreads + threadIdx.x) * kWidth;", type,
                                  dim.name)
                    : fmt::format("const {} {} = item * kThreads + threadIdx.x;", type, dim.name));
      out->Open(fmt::format("if ({} < {})", dim.name, Operand(dim.extent)));
      return;
    }
    out->Open(fmt::format("for ({0} {1} = threadIdx.x{2}; {1} < {3}; {1} += kThreads{2})", type,
                          dim.name, width, Operand(dim.extent)));
  }

  void CloseLoop(bool kept, CodeWriter* out) {
    out->Close();
    if (kept) {
      out->Close();
    }
  }

  void PrintKeep(CodeWriter* out) {
    for (size_t i = 0; i < kept_.size(); ++i) {
      const std::string type = width_ > 1 ? PackType(kept_[i].type) : TypeName(kept_[i].type);
      out->Line(fmt::format("{} {}[kItems];", type, kept_names_[i]));
    }
    OpenLoop(inner_, true, out);
    for (size_t i = 0; i < kept_.size(); ++i) {
      const AccessInfo& load = kept_[i];
      if (width_ > 1) {
        out->Line(fmt::format("{}[item] = *reinterpret_cast<const {}*>({});", kept_names_[i],
                              PackType(load.type), PointerText(load.buffer, load.index)));
        RequireDivisible(*load.affine, inner_.name, width_, &conditions_.divisible);
        int64_t& bytes = conditions_.aligned[load.buffer];
        bytes = std::max<int64_t>(bytes, std::min<int64_t>(16, width_ * ScalarBytes(load.type)));
        packs_ = true;
      } else {
        out->Line(
            fmt::format("{}[item] = {}[{}];", kept_names_[i], load.buffer, Print(load.index)));
      }
      provided_[fmt::format("{}[{}]", load.buffer, Print(load.index))] =
          fmt::format("{}[item]{}", kept_names_[i], width_ > 1 ? ".lane[lane]" : "");
    }
    CloseLoop(true, out);
  }

  LaneBody BodyOf(const Program& program, size_t stage, const std::string& dim) {
    Names scratch = names_;  // packs live in their loop: the same names may be used again
    LaneBody body(facts_, program, {stage}, dim, width_, &scratch, &conditions_, provided_);
    packs_ = packs_ || body.packs_anything();
    return body;
  }

  // The stage's accumulators over the threads of the row.
  void PrintCombine(const std::vector<Accumulator>& accumulators, CodeWriter* functions,
                    CodeWriter* out) {
    std::string key;
    for (const Accumulator& accumulator : accumulators) {
      key += fmt::format("{}/{}/{} ", FoldOpName(accumulator.op), TypeName(accumulator.type),
                         accumulator.spelling);
    }
    std::string& function = functions_[key];
    if (function.empty()) {
      const std::string what = accumulators.size() == 1 ? FoldOpName(accumulators[0].op) : "fold";
      function = names_.Take(fmt::format("{}_{}", is_block() ? "block" : "warp", what));
      PrintBlockFold(function, accumulators, threads_, functions);
    }
    out->Line(BlockFoldCall(function, accumulators));
    for (const Accumulator& accumulator : accumulators) {
      if (NeedsInitAfter(accumulator)) {
        out->Line(fmt::format("{} = {};", accumulator.name,
                              Print(Combine(accumulator, accumulator.init,
                                            Symbol(accumulator.name, accumulator.type)))));
      }
    }
  }

  void PrintStraight(const Stage& stage, CodeWriter* out) {
    Stage lets = stage;
    lets.stores.clear();
    PrintStage(lets, out);
    if (!stage.stores.empty()) {
      Stage stores = stage;
      stores.lets.clear();
      out->Open("if (threadIdx.x == 0)");
      PrintStage(stores, out);
      out->Close();
    }
  }

  void PrintStageOf(size_t index, bool kept, CodeWriter* functions, CodeWriter* out) {
    const Stage& stage = program_.stages[index];
    if (stage.dims.empty()) {
      PrintStraight(stage, out);
      return;
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      PrintAccumulator(accumulator, ParallelStart(accumulator), out);
    }
    const LaneBody body = BodyOf(program_, index, stage.dims[0].name);
    OpenLoop(stage.dims[0], kept, out);
    body.PrintLoads(stage.dims[0].name, "", true, out);
    body.PrintLanes(stage.dims[0].name, "", true, out);
    body.PrintStores(stage.dims[0].name, out);
    CloseLoop(kept, out);
    if (!stage.accumulators.empty()) {
      PrintCombine(stage.accumulators, functions, out);
    }
  }

  Stage WithoutMean(const Stage& stage) const {
    Stage copy = stage;
    std::erase_if(copy.lets, [&](const Let& let) { return let.name == fusion_->mean; });
    return copy;
  }

  void PrintFused(bool kept, CodeWriter* functions, CodeWriter* out) {
    if (fusion_->kind == FusionKind::kOnlineExp) {
      PrintOnline(kept, functions, out);
    } else {
      PrintMoments(kept, functions, out);
    }
  }

  // One loop whose body is `lines` with `value` (and weight) loaded as packs where possible.
  void PrintOnline(bool kept, CodeWriter* functions, CodeWriter* out) {
    const Stage& first = program_.stages[fusion_->first];
    const Accumulator& maximum = first.accumulators[0];
    const Accumulator& sum = program_.stages[fusion_->second].accumulators[0];
    const std::string type = TypeName(sum.type);
    PrintAccumulator(maximum, maximum.init, out);
    PrintAccumulator(sum, sum.init, out);
    // A stage of lets only carries the loads; the effects are printed by hand.
    Program scratch = program_;
    Stage& stage = scratch.stages[fusion_->first];
    const std::string value = Fixed("value");
    stage.lets = {Let{value, maximum.type, fusion_->value}};
    if (fusion_->weight != nullptr) {
      stage.lets.push_back(Let{Fixed("weight"), sum.type, fusion_->weight});
    }
    stage.accumulators.clear();
    // m = max(m, value) as: if it grows, rescale the sum.
    const LaneBody body = BodyOf(scratch, fusion_->first, first.dims[0].name);
    const std::string dim = first.dims[0].name;
    OpenLoop(first.dims[0], kept, out);
    body.PrintLoads(dim, "", true, out);
    CodeWriter lanes;
    body.PrintLanes(dim, "", true, &lanes);
    const std::string grow = fmt::format(
        "if ({0} > {1}) {{\n  {2} *= {3}({1} - {0});\n  {1} = {0};\n}}\n{2} += {3}({0} - {1}){4};",
        value, maximum.name, sum.name, fusion_->exp_name,
        fusion_->weight != nullptr ? " * " + Fixed("weight") : "");
    PrintInto(lanes.text(), grow, width_ > 1, out);
    CloseLoop(kept, out);

    const std::string key = "online " + fusion_->exp_name;
    std::string& function = functions_[key];
    if (function.empty()) {
      function = names_.Take(is_block() ? "block_online" : "warp_online");
      PrintOnlineFold(function, maximum, sum, functions);
    }
    out->Line(fmt::format("{}({}, {});", function, maximum.name, sum.name));
  }

  // Prints lines of a lane body and puts `effect` behind the last statement of its innermost block.
  static void PrintInto(const std::string& body, const std::string& effect, bool in_loop,
                        CodeWriter* out) {
    std::vector<std::string> lines;
    size_t at = 0;
    while (at < body.size()) {
      const size_t end = body.find('\n', at);
      lines.push_back(body.substr(at, end - at));
      at = end + 1;
    }
    const auto print_effect = [&] {
      size_t start = 0;
      while (start <= effect.size()) {
        size_t end = effect.find('\n', start);
        end = end == std::string::npos ? effect.size() : end;
        const std::string line = effect.substr(start, end - start);
        if (line.ends_with(" {")) {
          out->Open(line.substr(0, line.size() - 2));
        } else if (line == "}") {
          out->Close();
        } else {
          out->Line(line.substr(line.find_first_not_of(' ')));
        }
        start = end + 1;
      }
    };
    for (const std::string& line : lines) {
      const std::string bare = line.substr(std::min(line.find_first_not_of(' '), line.size()));
      if (bare.starts_with("#pragma")) {
        out->Pragma(bare);
      } else if (bare.ends_with(" {")) {
        out->Open(bare.substr(0, bare.size() - 2));
      } else if (bare == "}") {
        print_effect();
        out->Close();
      } else {
        out->Line(bare);
      }
    }
    if (!in_loop) {
      print_effect();
    }
  }

  // Prints the head of a fold over the row's threads and its two rounds of shuffles around `step`.
  void PrintTupleFold(const std::string& name, const std::string& comment,
                      const std::vector<std::pair<std::string, std::string>>& members,
                      const std::vector<std::string>& step, CodeWriter* functions) {
    functions->Comment(comment);
    std::string parameters;
    for (const auto& [type, member] : members) {
      parameters += fmt::format("{}{}& {}", parameters.empty() ? "" : ", ", type, member);
    }
    functions->Open(fmt::format("__device__ __forceinline__ void {}({})", name, parameters));
    const int64_t warps = threads_ / 32;
    const auto shuffle = [&](int64_t from) {
      functions->Pragma("#pragma unroll");
      functions->Open(fmt::format("for (int offset = {}; offset > 0; offset /= 2)", from));
      for (const auto& [type, member] : members) {
        functions->Line(fmt::format("const {} other_{} = __shfl_xor_sync(0xffffffffu, {}, offset);",
                                    type, member, member));
      }
      for (const std::string& line : step) {
        functions->Line(line);
      }
      functions->Close();
    };
    if (warps > 1) {
      for (const auto& [type, member] : members) {
        functions->Line(fmt::format("__shared__ {} {}_of_warp[{}];", type, member, warps));
      }
      shuffle(16);
      functions->Open("if (threadIdx.x % 32 == 0)");
      for (const auto& [type, member] : members) {
        functions->Line(fmt::format("{0}_of_warp[threadIdx.x / 32] = {0};", member));
      }
      functions->Close();
      functions->Line("__syncthreads();");
      for (const auto& [type, member] : members) {
        functions->Line(fmt::format("{0} = {0}_of_warp[threadIdx.x % {1}];", member, warps));
      }
      shuffle(warps / 2);
      functions->Line("__syncthreads();  // before the next call writes");
    } else {
      shuffle(threads_ / 2);
    }
    functions->Close();
    functions->Blank();
  }

  void PrintOnlineFold(const std::string& name, const Accumulator& maximum, const Accumulator& sum,
                       CodeWriter* functions) {
    const std::string type = TypeName(sum.type);
    const std::string& exp = fusion_->exp_name;
    const std::string m = maximum.name;
    const std::string s = sum.name;
    const ExprPtr larger = Select(
        Binary(">", Symbol("other_" + m, maximum.type), Symbol(m, maximum.type), Scalar::kBool),
        Symbol("other_" + m, maximum.type), Symbol(m, maximum.type));
    const std::string both = Fixed("larger");
    PrintTupleFold(
        name,
        fmt::format("Combines maxima and sums of {}(x - maximum) of {} threads; each of them gets "
                    "the result.",
                    exp, threads_),
        {{TypeName(maximum.type), m}, {type, s}},
        {fmt::format("const {} {} = {};", TypeName(maximum.type), both, Print(larger)),
         fmt::format("{0} = ({1} == {3} ? {0} : {0} * {2}({1} - {3})) + (other_{1} == {3} ? "
                     "other_{0} : other_{0} * {2}(other_{1} - {3}));",
                     s, m, exp, both),
         fmt::format("{} = {};", m, both)},
        functions);
  }

  // (count, mean, squares) by Chan, Golub, LeVeque (1979): "Updating formulae and a pairwise
  // algorithm for computing sample variances".
  void PrintMoments(bool kept, CodeWriter* functions, CodeWriter* out) {
    const Stage& first = program_.stages[fusion_->first];
    const Accumulator& sum = first.accumulators[0];
    const Accumulator& squares = program_.stages[fusion_->second].accumulators[0];
    const std::string type = TypeName(sum.type);
    const std::string count = Fixed("count");
    const std::string dim = first.dims[0].name;
    out->Line(fmt::format("{} {} = 0.0f;", type, count));
    out->Line(fmt::format("{} {} = 0.0f;", type, fusion_->mean));
    out->Line(fmt::format("{} {} = 0.0f;", type, squares.name));
    Program scratch = program_;
    Stage& stage = scratch.stages[fusion_->first];
    const std::string value = Fixed("value");
    stage.lets = {Let{value, sum.type, fusion_->value}};
    stage.accumulators.clear();
    const LaneBody body = BodyOf(scratch, fusion_->first, dim);
    OpenLoop(first.dims[0], kept, out);
    body.PrintLoads(dim, "", true, out);
    CodeWriter lanes;
    body.PrintLanes(dim, "", true, &lanes);
    const std::string delta = Fixed("delta");
    const std::string effect = fmt::format(
        "{0} += 1.0f;\nconst {1} {2} = {3} - {4};\n{4} += __fdividef({2}, {0});\n{5} += {2} * ({3} "
        "- {4});",
        count, type, delta, value, fusion_->mean, squares.name);
    PrintInto(lanes.text(), effect, width_ > 1, out);
    CloseLoop(kept, out);
    std::string& function = functions_["moments"];
    const std::string mean = fusion_->mean;
    const std::string q = squares.name;
    if (function.empty()) {
      function = names_.Take(is_block() ? "block_moments" : "warp_moments");
      PrintTupleFold(
          function,
          fmt::format("Combines count, mean and squared deviations of {} threads; each of them "
                      "gets the result.",
                      threads_),
          {{type, count}, {type, mean}, {type, q}},
          {fmt::format("const {} total = {} + other_{};", type, count, count),
           fmt::format("const {} part = total > 0.0f ? other_{} / total : 0.0f;", type, count),
           fmt::format("const {0} {2} = other_{1} - {1};", type, mean, delta),
           fmt::format("{} += {} * part;", mean, delta),
           fmt::format("{0} += other_{0} + {2} * {2} * {1} * part;", q, count, delta),
           fmt::format("{} = total;", count)},
          functions);
    }
    out->Line(fmt::format("{}({}, {}, {});", function, count, mean, q));
    // The sum itself, where something else still reads it.
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (i == fusion_->first || i == fusion_->second) {
        continue;
      }
      const Stage other = i > fusion_->first && i < fusion_->second
                              ? WithoutMean(program_.stages[i])
                              : program_.stages[i];
      if (StageMentions(other, sum.name)) {
        out->Line(fmt::format("const {} {} = {} * {};", type, sum.name, mean, count));
        break;
      }
    }
  }

  std::string Launcher(const std::string& name) {
    CodeWriter host;
    OpenLauncher(
        facts_,
        fmt::format("Launches {} with {}.", name,
                    is_block() ? "one block per row" : fmt::format("one block for {} rows", rows_)),
        program_.dims, &host);
    const ExprPtr rows = ProductOf(program_.dims);
    const std::string grid = CeilDiv(rows, rows_);
    const std::string block =
        rows_ > 1 ? fmt::format("dim3({}, {})", threads_, rows_) : std::to_string(threads_);
    const std::string extent = Operand(inner_.extent);
    for (const Stage& stage : program_.stages) {
      for (const Dim& dim : stage.dims) {
        if (width_ > 1 && dim.extent->kind != ExprKind::kInt) {
          conditions_.divisible.insert(Operand(dim.extent));
        }
      }
    }
    const auto launch = [&](const std::string& kernel, int64_t width) {
      const std::string instance = width_ > 1 ? fmt::format("{}<{}>", kernel, width) : kernel;
      host.Line(LaunchText(facts_, instance, grid, block));
    };
    const auto choose = [&](int64_t width) {
      if (items_ == 0) {
        launch(name, width);
        return;
      }
      host.Open(fmt::format("if ({} <= {})", extent, threads_ * items_ * width));
      launch(name, width);
      host.Else();
      launch(long_name_, width);
      host.Close();
    };
    if (width_ > 1) {
      const std::string condition = ConditionText(conditions_, width_);
      host.Open(fmt::format("if ({})", condition.empty() ? "true" : condition));
      choose(width_);
      host.Else();
      choose(1);
      host.Close();
    } else {
      choose(1);
    }
    host.Close();
    return host.text();
  }

  const KernelFacts& facts_;
  const Program& program_;
  const Schedule& schedule_;
  int64_t threads_;
  int64_t width_;
  int64_t items_;
  int64_t rows_;
  Names names_;
  std::optional<Fusion> fusion_;
  Dim inner_;
  std::vector<AccessInfo> kept_;
  std::vector<std::string> kept_names_;
  std::map<std::string, std::string> provided_;
  std::map<std::string, std::string> functions_;
  std::map<std::string, std::string> fixed_;
  VectorConditions conditions_;
  std::string long_name_;
  bool packs_ = false;
};

}  // namespace

EmittedKernel EmitRowFold(const KernelFacts& facts, const Schedule& schedule) {
  return RowFoldPrinter(facts, schedule).Emit();
}

}  // namespace optiml::rewrite
