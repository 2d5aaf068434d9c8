#include <fmt/format.h>

#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/schedule/analysis.h"
#include "rewrite/schedule/interior.h"

namespace optiml::rewrite {
namespace {

constexpr int64_t kBlockX = 32;
constexpr int64_t kBlockY = 8;

class StencilPrinter {
 public:
  StencilPrinter(const KernelFacts& facts, const Schedule& schedule)
      : facts_(facts),
        program_(facts.program),
        schedule_(schedule),
        window_(*facts.shape.window),
        columns_(schedule.Get("register_window", "columns", 1)),
        rows_(schedule.Get("register_window", "rows", 1)),
        names_(facts) {
    for (const Dim& dim : program_.dims) {
      if (dim.name == window_.column) {
        column_ = dim;
      } else if (dim.name == window_.row) {
        row_ = dim;
      } else {
        outer_.push_back(dim);
      }
    }
    has_rows_ = !window_.row.empty();
    block_column_ = names_.Take(column_.name + "_block");
    first_column_ = names_.Take(column_.name + "_first");
    block_row_ = has_rows_ ? names_.Take(row_.name + "_block") : "";
    first_row_ = has_rows_ ? names_.Take(row_.name + "_first") : "";
    thread_ = names_.Take("place_in_block");
    border_threads_ = names_.Take("border_threads");
    border_count_ = names_.Take("border_count");
    array_ = names_.Take(window_.buffer + "_window");
    type_ = facts.program.FindParameter(window_.buffer)->type;
  }

  EmittedKernel Emit() {
    const std::string name = facts_.function->name;
    CodeWriter out;
    out.Comment(fmt::format(
        "{}: a thread computes {} x {} neighbouring points from a window of {} that it holds in "
        "registers. Points at the border take the general form, spread over the threads of a "
        "block.",
        name, rows_, columns_, window_.buffer));
    out.Open(KernelHead(facts_, schedule_, name, kBlockX * (has_rows_ ? kBlockY : 8)));
    out.Line(fmt::format("constexpr int kColumns = {};", columns_));
    out.Line(fmt::format("constexpr int kRows = {};", rows_));
    PrintPlace(&out);
    const Interior interior = MakeInterior();
    PrintBorderList(&out);
    out.Open(fmt::format("if ({})", FastCondition(interior)));
    PrintWindow(&out);
    PrintFast(interior, &out);
    out.ElseIf(FirstIsInside());
    out.Line(fmt::format("{}[atomicAdd(&{}, 1)] = {};", border_threads_, border_count_, thread_));
    out.Close();
    out.Line("__syncthreads();");
    PrintBorder(&out);
    out.Close();
    EmittedKernel emitted;
    emitted.kernels = out.text();
    emitted.uses_pack = centre_pack_ || store_pack_;
    emitted.launcher = Launcher(name);
    return emitted;
  }

 private:
  int64_t block_x() const { return has_rows_ ? kBlockX : kBlockX * kBlockY; }

  void PrintPlace(CodeWriter* out) {
    if (has_rows_ || !outer_.empty()) {
      const std::string type = TypeName(ProductOf(program_.dims)->type);
      out->Line(fmt::format("const int blocks_x = {};", BlocksX()));
      if (!outer_.empty() && has_rows_) {
        out->Line(fmt::format("const int blocks_y = {};", BlocksY()));
      }
      PrintFirst(column_, block_column_, first_column_,
                 fmt::format("blockIdx.x % blocks_x * {}", block_x() * columns_),
                 "threadIdx.x * kColumns", out);
      if (has_rows_) {
        PrintFirst(row_, block_row_, first_row_,
                   fmt::format("blockIdx.x / blocks_x{} * {}", outer_.empty() ? "" : " % blocks_y",
                               kBlockY * rows_),
                   "threadIdx.y * kRows", out);
      }
      if (!outer_.empty()) {
        const std::string number = names_.Take("outer");
        out->Line(fmt::format("const {} {} = blockIdx.x / blocks_x{};", type, number,
                              has_rows_ ? " / blocks_y" : ""));
        PrintUnflatten(outer_, number, out);
      }
    } else {
      PrintFirst(column_, block_column_, first_column_,
                 fmt::format("blockIdx.x * {}", block_x() * columns_), "threadIdx.x * kColumns",
                 out);
    }
    out->Line(fmt::format("const int {} = {}threadIdx.x;", thread_,
                          has_rows_ ? fmt::format("threadIdx.y * {} + ", kBlockX) : ""));
  }

  // The first column or row of the block and of the thread.
  static void PrintFirst(const Dim& dim, const std::string& of_block, const std::string& of_thread,
                         const std::string& block, const std::string& thread, CodeWriter* out) {
    const std::string type = TypeName(dim.extent->type);
    out->Line(fmt::format("const {} {} = {};", type, of_block, block));
    out->Line(fmt::format("const {} {} = {} + {};", type, of_thread, of_block, thread));
  }

  std::string BlocksX() const { return CeilDiv(column_.extent, block_x() * columns_); }
  std::string BlocksY() const { return CeilDiv(row_.extent, kBlockY * rows_); }

  Interior MakeInterior() {
    std::map<std::string, ExprPtr> low;
    std::map<std::string, ExprPtr> high;
    const auto span = [&](const Dim& dim, const std::string& first, int64_t count) {
      const Scalar type = dim.extent->type;
      low[dim.name] = Symbol(first, type);
      high[dim.name] =
          count == 1 ? Symbol(first, type) : Binary("+", Symbol(first, type), Int(count - 1), type);
    };
    span(column_, first_column_, columns_);
    if (has_rows_) {
      span(row_, first_row_, rows_);
    }
    return FindInterior(program_, low, high);
  }

  // Packs along the columns: which accesses can be aligned, and under which conditions.
  std::string FastCondition(const Interior& interior) {
    std::vector<std::string> parts;
    const auto last = [](const std::string& first, int64_t count) {
      return count == 1 ? first : fmt::format("{} + {}", first, count - 1);
    };
    parts.push_back(fmt::format("{} < {}", last(first_column_, columns_), Operand(column_.extent)));
    if (has_rows_) {
      parts.push_back(fmt::format("{} < {}", last(first_row_, rows_), Operand(row_.extent)));
    }
    for (const ExprPtr& check : interior.checks) {
      const std::string text = Print(check);
      parts.push_back(check->op == "||" ? fmt::format("({})", text) : text);
    }
    if (columns_ >= 4) {
      const Affine base = BaseForm();
      std::set<std::string> divisible;
      if (window_.column_low <= 0 && window_.column_high >= 0 &&
          RequireDivisible(base, window_.column, 4, &divisible)) {
        centre_pack_ = true;
        conditions_.divisible = divisible;
        conditions_.aligned[window_.buffer] = std::min<int64_t>(16, 4 * ScalarBytes(type_));
      }
      for (const AccessInfo& access : CollectAccesses(program_)) {
        std::set<std::string> more = conditions_.divisible;
        const bool decided = StageIsDecided(interior, access.stage);
        if (access.is_store && !access.is_atomic && access.affine && decided && columns_ == 4 &&
            RequireDivisible(*access.affine, window_.column, 4, &more)) {
          store_pack_ = true;
          conditions_.divisible = more;
          conditions_.aligned[access.buffer] = std::min<int64_t>(16, 4 * ScalarBytes(access.type));
          packed_store_ = access;
          break;
        }
      }
      if (const std::string text = ConditionText(conditions_, 4); !text.empty()) {
        parts.push_back(text);
      }
    }
    std::string result;
    for (const std::string& part : parts) {
      result += (result.empty() ? "" : " && ") + part;
    }
    return result;
  }

  bool StageIsDecided(const Interior& interior, size_t stage) const {
    const ExprPtr& guard = program_.stages[stage].guard;
    return guard == nullptr || interior.Outcome(guard) == std::optional<bool>(true);
  }

  // The index of the window's buffer at the point itself: offset 0.
  Affine BaseForm() const {
    for (const AccessInfo& access : CollectAccesses(program_)) {
      if (!access.is_store && access.buffer == window_.buffer) {
        Affine form;
        for (const Dim& dim : program_.dims) {
          const Polynomial coefficient = access.affine->Coefficient(dim.name);
          if (!coefficient.IsZero()) {
            form.coefficients[dim.name] = coefficient;
          }
        }
        return form;
      }
    }
    return {};
  }

  // Row and column of a read within the window at point (i, j), as text.
  struct Place {
    std::string row;
    std::string column;
  };

  std::optional<Place> PlaceOf(size_t stage, const ExprPtr& index) const {
    const std::optional<Affine> form = IndexForm(program_, stage, index);
    if (!form) {
      return std::nullopt;
    }
    int64_t row = 0;
    int64_t column = 0;
    std::string row_text;
    std::string column_text;
    const auto split = [&](const Polynomial& polynomial, const std::string& factor) {
      int64_t rows = 0;
      int64_t columns = 0;
      if (const std::optional<int64_t> number = polynomial.Constant()) {
        columns = *number;
      } else {
        bool found = false;
        for (int64_t k = -16; k <= 16 && !found; ++k) {
          if (const std::optional<int64_t> rest =
                  (polynomial - window_.pitch * Polynomial(k)).Constant()) {
            rows = k;
            columns = *rest;
            found = true;
          }
        }
      }
      if (factor.empty()) {
        row += rows;
        column += columns;
        return;
      }
      const auto term = [&](int64_t count, std::string* text) {
        if (count != 0) {
          *text += count == 1 ? fmt::format(" + {}", factor)
                              : fmt::format(" {} {} * {}", count < 0 ? "-" : "+",
                                            count < 0 ? -count : count, factor);
        }
      };
      term(rows, &row_text);
      term(columns, &column_text);
    };
    split(form->constant, "");
    for (const Dim& dim : program_.stages[stage].dims) {
      if (const Polynomial coefficient = form->Coefficient(dim.name); !coefficient.IsZero()) {
        split(coefficient, dim.name);
      }
    }
    const auto offset = [](int64_t value) {
      return value == 0 ? std::string()
                        : fmt::format(" {} {}", value < 0 ? "-" : "+", value < 0 ? -value : value);
    };
    return Place{"wy" + row_text + offset(row - window_.row_low),
                 "wx" + column_text + offset(column - window_.column_low)};
  }

  void PrintWindow(CodeWriter* out) {
    const int64_t height = rows_ + window_.row_high - window_.row_low;
    const int64_t width = columns_ + window_.column_high - window_.column_low;
    out->Line(fmt::format("{} {}[{}][{}];", TypeName(type_), array_, height, width));
    out->Pragma("#pragma unroll");
    out->Open(fmt::format("for (int wy = 0; wy < {}; ++wy)", height));
    // The row's start: the point's index at column `first`, moved by whole rows.
    const Affine base = BaseForm();
    ExprPtr index;
    bool wide = false;  // the source's indices have 64 bits
    for (const AccessInfo& access : CollectAccesses(program_)) {
      wide = wide || (access.buffer == window_.buffer && ScalarBytes(access.index->type) == 8);
    }
    for (const Dim& dim : program_.dims) {
      const Polynomial coefficient = base.Coefficient(dim.name);
      if (coefficient.IsZero()) {
        continue;
      }
      const Scalar type = wide ? Scalar::kI64 : dim.extent->type;
      ExprPtr place = Symbol(dim.name == window_.column ? first_column_
                             : dim.name == window_.row  ? first_row_
                                                        : dim.name,
                             dim.extent->type);
      if (wide && ScalarBytes(dim.extent->type) < 8) {
        place = Cast(Scalar::kI64, place);
      }
      if (dim.name == window_.row) {
        place = Binary("+", place, Symbol("wy", Scalar::kI32), type);
        if (window_.row_low != 0) {
          place = window_.row_low < 0 ? Binary("-", place, Int(-window_.row_low), type)
                                      : Binary("+", place, Int(window_.row_low), type);
        }
      }
      const ExprPtr term =
          coefficient == Polynomial(1) ? place : Binary("*", place, coefficient.ToExpr(), type);
      index = index == nullptr ? term : Binary("+", index, term, type);
    }
    out->Line(
        fmt::format("const {}* from = {};", TypeName(type_), PointerText(window_.buffer, index)));
    const int64_t low = -window_.column_low;
    if (centre_pack_) {
      const std::string pack = fmt::format("Pack<{}, 4>", TypeName(type_));
      out->Line(fmt::format("{} centre[kColumns / 4];", pack));
      out->Pragma("#pragma unroll");
      out->Open("for (int group = 0; group < kColumns / 4; ++group)");
      out->Line(
          fmt::format("centre[group] = *reinterpret_cast<const {}*>(from + group * 4);", pack));
      out->Close();
    }
    out->Pragma("#pragma unroll");
    out->Open(fmt::format("for (int wx = 0; wx < {}; ++wx)", width));
    const std::string shift = low == 0  ? "wx"
                              : low > 0 ? fmt::format("wx - {}", low)
                                        : fmt::format("wx + {}", -low);
    if (centre_pack_) {
      // Unrolled: the index is known for each j.
      out->Line(fmt::format("const int place = {};", shift));
      out->Line(
          fmt::format("{}[wy][wx] = place >= 0 && place < kColumns ? centre[place / 4]"
                      ".lane[place % 4] : from[place];",
                      array_));
    } else {
      out->Line(fmt::format("{}[wy][wx] = from[{}];", array_, shift));
    }
    out->Close();
    out->Close();
  }

  void OpenPoints(CodeWriter* out) {
    out->Pragma("#pragma unroll");
    out->Open("for (int wy = 0; wy < kRows; ++wy)");
    if (has_rows_) {
      out->Line(fmt::format("const {} {} = {} + wy;", TypeName(row_.extent->type), row_.name,
                            first_row_));
    }
    if (store_pack_) {
      out->Line(fmt::format("Pack<{}, 4> results;", TypeName(packed_store_.type)));
    }
    out->Pragma("#pragma unroll");
    out->Open("for (int wx = 0; wx < kColumns; ++wx)");
    out->Line(fmt::format("const {} {} = {} + wx;", TypeName(column_.extent->type), column_.name,
                          first_column_));
  }

  void PrintFast(const Interior& interior, CodeWriter* out) {
    OpenPoints(out);
    for (size_t s = 0; s < program_.stages.size(); ++s) {
      Stage stage = program_.stages[s];
      if (stage.guard != nullptr) {
        if (const std::optional<bool> outcome = interior.Outcome(stage.guard)) {
          if (!*outcome && stage.lets.empty() && stage.accumulators.empty()) {
            continue;
          }
          if (!*outcome) {
            stage.stores.clear();
          }
          stage.guard = nullptr;
        }
      }
      RewriteStage(&stage, [&](const ExprPtr& expr) {
        return RewriteExpr(interior.Simplify(expr), [&](const ExprPtr& node) -> ExprPtr {
          if (node->kind != ExprKind::kLoad || node->name != window_.buffer) {
            return nullptr;
          }
          const std::optional<Place> place = PlaceOf(s, node->operands[0]);
          return place ? Symbol(fmt::format("{}[{}][{}]", array_, place->row, place->column),
                                node->type)
                       : nullptr;
        });
      });
      PrintStageUnrolled(stage, program_.stages[s], out);
    }
    out->Close();
    if (store_pack_) {
      const ExprPtr index = Substitute(
          packed_store_.index, {{window_.column, Symbol(first_column_, column_.extent->type)}});
      out->Line(fmt::format("*reinterpret_cast<Pack<{}, 4>*>({}) = results;",
                            TypeName(packed_store_.type),
                            PointerText(packed_store_.buffer, WithLets(index))));
    }
    out->Close();
  }

  // Integer lets put into an index that is used outside their scope.
  ExprPtr WithLets(const ExprPtr& index) const {
    std::map<std::string, ExprPtr> lets;
    for (const Stage& stage : program_.stages) {
      for (const Let& let : stage.lets) {
        if (!IsFloatScalar(let.type) && Loads(let.value).empty()) {
          lets[let.name] =
              Substitute(Substitute(let.value, lets),
                         {{window_.column, Symbol(first_column_, column_.extent->type)}});
        }
      }
    }
    return Substitute(index, lets);
  }

  void PrintStageUnrolled(const Stage& stage, const Stage& original, CodeWriter* out) {
    for (const Accumulator& accumulator : stage.accumulators) {
      PrintAccumulator(accumulator, accumulator.init, out);
    }
    for (const Dim& dim : stage.dims) {
      out->Pragma("#pragma unroll");
      out->Open(LoopHead(dim));
    }
    Stage body = stage;
    std::vector<Store> packed;
    if (store_pack_) {
      for (size_t i = 0; i < body.stores.size(); ++i) {
        if (original.stores[i].buffer == packed_store_.buffer &&
            Equal(original.stores[i].index, packed_store_.index)) {
          packed.push_back(body.stores[i]);
          body.stores.erase(body.stores.begin() + static_cast<std::ptrdiff_t>(i));
          break;
        }
      }
    }
    PrintStage(body, out);
    for (const Store& store : packed) {
      out->Line(fmt::format("results.lane[wx] = {};", Print(store.value)));
    }
    for (size_t i = 0; i < stage.dims.size(); ++i) {
      out->Close();
    }
  }

  // Threads of the block whose points are not all in the interior.
  void PrintBorderList(CodeWriter* out) const {
    out->Line(fmt::format("__shared__ int {};", border_count_));
    out->Line(fmt::format("__shared__ short {}[{}];", border_threads_, kBlockX * kBlockY));
    out->Open(fmt::format("if ({} == 0)", thread_));
    out->Line(fmt::format("{} = 0;", border_count_));
    out->Close();
    out->Line("__syncthreads();");
  }

  std::string FirstIsInside() const {
    const std::string column = fmt::format("{} < {}", first_column_, Operand(column_.extent));
    return has_rows_ ? fmt::format("{} && {} < {}", column, first_row_, Operand(row_.extent))
                     : column;
  }

  // A thread that computed its points at the border alone would hold up its block: the general form
  // takes many times as long as the interior.
  void PrintBorder(CodeWriter* out) {
    const std::string point = names_.Take("point");
    const std::string owner = names_.Take("owner");
    out->Open(fmt::format("for (int {0} = {1}; {0} < {2} * (kRows * kColumns); {0} += {3})", point,
                          thread_, border_count_, kBlockX * kBlockY));
    out->Line(
        fmt::format("const int {} = {}[{} / (kRows * kColumns)];", owner, border_threads_, point));
    if (has_rows_) {
      out->Line(fmt::format("const {} {} = {} + {} / {} * kRows + {} / kColumns % kRows;",
                            TypeName(row_.extent->type), row_.name, block_row_, owner, kBlockX,
                            point));
    }
    out->Line(fmt::format("const {} {} = {} + {} * kColumns + {} % kColumns;",
                          TypeName(column_.extent->type), column_.name, block_column_,
                          has_rows_ ? fmt::format("{} % {}", owner, kBlockX) : owner, point));
    std::string inside = fmt::format("{} < {}", column_.name, Operand(column_.extent));
    if (has_rows_) {
      inside += fmt::format(" && {} < {}", row_.name, Operand(row_.extent));
    }
    out->Open(fmt::format("if ({})", inside));
    for (const Stage& stage : program_.stages) {
      PrintStageLoops(stage, out);
    }
    out->Close();
    out->Close();
  }

  std::string Launcher(const std::string& name) {
    CodeWriter host;
    OpenLauncher(facts_,
                 fmt::format("Launches {}; a block of threads computes {} x {} points.", name,
                             has_rows_ ? kBlockY * rows_ : 1, block_x() * columns_),
                 program_.dims, &host);
    std::string blocks = fmt::format("({})", BlocksX());
    if (has_rows_) {
      blocks += fmt::format(" * ({})", BlocksY());
    }
    if (!outer_.empty()) {
      blocks += " * " + Operand(ProductOf(outer_));
    }
    host.Line(
        fmt::format("const {} blocks = {};", TypeName(ProductOf(program_.dims)->type), blocks));
    host.Line(LaunchText(
        facts_, name, "blocks",
        has_rows_ ? fmt::format("dim3({}, {})", kBlockX, kBlockY) : std::to_string(block_x())));
    host.Close();
    return host.text();
  }

  const KernelFacts& facts_;
  const Program& program_;
  const Schedule& schedule_;
  const Window& window_;
  int64_t columns_;
  int64_t rows_;
  Names names_;
  Dim column_;
  Dim row_;
  std::vector<Dim> outer_;
  bool has_rows_ = false;
  std::string block_column_;  // names of variables of the kernel
  std::string first_column_;
  std::string block_row_;
  std::string first_row_;
  std::string thread_;
  std::string border_threads_;
  std::string border_count_;
  std::string array_;
  Scalar type_ = Scalar::kF32;
  bool centre_pack_ = false;
  bool store_pack_ = false;
  AccessInfo packed_store_;
  VectorConditions conditions_;
};

}  // namespace

EmittedKernel EmitStencil(const KernelFacts& facts, const Schedule& schedule) {
  return StencilPrinter(facts, schedule).Emit();
}

}  // namespace optiml::rewrite
