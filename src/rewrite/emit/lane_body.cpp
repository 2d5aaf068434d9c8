#include "rewrite/emit/lane_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

bool SameAccess(const PackAccess& access, const std::string& buffer, const ExprPtr& index) {
  return access.buffer == buffer && Equal(access.index, index);
}

Store Rewritten(const Store& store, const std::function<ExprPtr(const ExprPtr&)>& rewrite) {
  Store copy = store;
  copy.index = rewrite(store.index);
  copy.value = rewrite(store.value);
  return copy;
}

// Folds and stores of a stage, in its guard.
void PrintEffects(const Stage& stage, const std::function<ExprPtr(const ExprPtr&)>& rewrite,
                  const std::function<void(const Store&)>& print_store, CodeWriter* out) {
  if (stage.guard != nullptr && (!stage.accumulators.empty() || !stage.stores.empty())) {
    out->Open(fmt::format("if ({})", Print(rewrite(stage.guard))));
  }
  for (const Accumulator& accumulator : stage.accumulators) {
    out->Line(FoldStatement(accumulator, rewrite(accumulator.update)));
  }
  for (const Store& store : stage.stores) {
    print_store(store);
  }
  if (stage.guard != nullptr && (!stage.accumulators.empty() || !stage.stores.empty())) {
    out->Close();
  }
}

void PrintLet(const Let& let, const ExprPtr& value, CodeWriter* out) {
  out->Line(fmt::format("const {} {} = {};", TypeName(let.type), let.name, Print(value)));
}

}  // namespace

LaneBody::LaneBody(const KernelFacts& facts, const Program& program,
                   const std::vector<size_t>& stages, const std::string& dim, int64_t width,
                   Names* names, VectorConditions* conditions,
                   const std::map<std::string, std::string>& provided)
    : program_(program), stages_(stages), dim_(dim), width_(width), provided_(provided) {
  (void)facts;
  for (const Dim& one : program.dims) {
    dim_type_ = one.name == dim ? one.extent->type : dim_type_;
  }
  for (const size_t index : stages) {
    for (const Dim& one : program.stages[index].dims) {
      dim_type_ = one.name == dim ? one.extent->type : dim_type_;
    }
  }
  if (width > 1) {
    for (const AccessInfo& access : CollectAccesses(program)) {
      const bool here = std::find(stages.begin(), stages.end(), access.stage) != stages.end();
      if (!here || access.is_conditional || access.is_atomic || !access.affine) {
        continue;
      }
      std::vector<PackAccess>& list = access.is_store ? stores_ : loads_;
      const bool known = std::any_of(list.begin(), list.end(), [&](const PackAccess& one) {
        return SameAccess(one, access.buffer, access.index);
      });
      if (known || (!access.is_store && provided.count(fmt::format("{}[{}]", access.buffer,
                                                                   Print(access.index))) != 0)) {
        continue;
      }
      // A load that depends on a let with a load is not there before the loop over the lanes.
      std::set<std::string> divisible = conditions->divisible;
      if (!RequireDivisible(*access.affine, dim, width, &divisible)) {
        continue;
      }
      conditions->divisible = std::move(divisible);
      int64_t& bytes = conditions->aligned[access.buffer];
      bytes = std::max<int64_t>(bytes, std::min<int64_t>(16, width * ScalarBytes(access.type)));
      std::string wish = access.buffer + (access.is_store ? "_out" : "_pack");
      if (access.is_store) {
        const bool loaded = std::any_of(loads_.begin(), loads_.end(), [&](const PackAccess& one) {
          return one.buffer == access.buffer;
        });
        wish = loaded ? access.buffer + "_out" : access.buffer + "_pack";
      }
      list.push_back({access.buffer, access.index, access.type, names->Take(wish)});
    }
  }
  // Lets that are the same for all lanes.
  std::set<std::string> varying = {dim};
  for (const size_t index : stages) {
    for (const Let& let : program.stages[index].lets) {
      bool varies = !Loads(let.value).empty();
      Visit(let.value, [&](const Expr& expr) {
        // A symbol may also be an element of an array of the emitted code, picked by the lane.
        varies = varies ||
                 (expr.kind == ExprKind::kSymbol &&
                  (varying.count(expr.name) != 0 || expr.name.find("lane]") != std::string::npos));
      });
      if (varies) {
        varying.insert(let.name);
      } else {
        uniform_lets_.insert(let.name);
      }
    }
  }
}

bool LaneBody::needs_point() const {
  if (!stores_.empty()) {
    return true;
  }
  CodeWriter probe;
  PrintStatements("?point?", "", true, false, &probe);
  PrintStatements("?point?", "", true, true, &probe);
  return probe.text().find("?point?") != std::string::npos;
}

std::string LaneBody::LoadKey(const Expr& load) {
  return fmt::format("{}[{}]", load.name, Print(load.operands[0]));
}

namespace {

// Index of the pack: lane 0.
ExprPtr AtBase(const ExprPtr& index, const std::string& dim, const std::string& base, Scalar type) {
  return Substitute(index, {{dim, Symbol(base, type)}});
}

}  // namespace

void LaneBody::PrintLoads(const std::string& base, const std::string& suffix, bool declare,
                          CodeWriter* out) const {
  for (const PackAccess& load : loads_) {
    const std::string pack = PackType(load.type);
    out->Line(fmt::format("{}{}{} = *reinterpret_cast<const {}*>({});",
                          declare ? "const " + pack + " " : "", load.name, suffix, pack,
                          PointerText(load.buffer, AtBase(load.index, dim_, base, dim_type_))));
  }
}

void LaneBody::PrintStatements(const std::string& base, const std::string& suffix, bool packed,
                               bool uniform, CodeWriter* out) const {
  const ExprPtr point =
      packed ? Binary("+", Symbol(base, dim_type_), Symbol("lane", Scalar::kI32), dim_type_)
             : Symbol(base, dim_type_);
  const std::function<ExprPtr(const ExprPtr&)> replace = [&](const ExprPtr& expr) -> ExprPtr {
    if (expr->kind == ExprKind::kLoad) {
      if (const auto found = provided_.find(LoadKey(*expr)); found != provided_.end()) {
        return Symbol(found->second, expr->type);
      }
      for (const PackAccess& load : loads_) {
        if (packed && SameAccess(load, expr->name, expr->operands[0])) {
          return Symbol(fmt::format("{}{}.lane[lane]", load.name, suffix), expr->type);
        }
      }
    }
    if (expr->kind == ExprKind::kSymbol && expr->name == dim_ && (packed || base != dim_)) {
      return point;
    }
    return nullptr;
  };
  const auto rewrite = [&](const ExprPtr& expr) { return RewriteExpr(expr, replace); };
  const auto print_store = [&](const Store& store) {
    if (print_store_) {
      print_store_(Rewritten(store, rewrite), out);
      return;
    }
    if (packed && store.kind == StoreKind::kAssign) {
      for (const PackAccess& pack : stores_) {
        if (SameAccess(pack, store.buffer, store.index)) {
          out->Line(fmt::format("{}.lane[lane] = {};", pack.name, Print(rewrite(store.value))));
          return;
        }
      }
    }
    out->Line(StoreStatement(Rewritten(store, rewrite)));
  };
  for (const size_t index : stages_) {
    const Stage& stage = program_.stages[index];
    for (const Let& let : stage.lets) {
      const bool is_uniform = uniform_lets_.count(let.name) != 0;
      if (is_uniform == uniform) {
        PrintLet(let, rewrite(let.value), out);
      }
    }
    if (!uniform) {
      PrintEffects(stage, rewrite, print_store, out);
    }
  }
}

void LaneBody::PrintLanes(const std::string& base, const std::string& suffix, bool declare,
                          CodeWriter* out) const {
  if (width_ == 1) {
    PrintStatements(base, suffix, false, true, out);
    PrintStatements(base, suffix, false, false, out);
    return;
  }
  PrintStatements(base, suffix, true, true, out);
  if (declare) {
    for (const PackAccess& store : stores_) {
      out->Line(fmt::format("{} {};", PackType(store.type), store.name));
    }
  }
  out->Pragma("#pragma unroll");
  out->Open(fmt::format("for (int lane = 0; lane < {}; ++lane)", kWidthName));
  PrintStatements(base, suffix, true, false, out);
  out->Close();
}

void LaneBody::PrintStores(const std::string& base, CodeWriter* out) const {
  for (const PackAccess& store : stores_) {
    out->Line(fmt::format("*reinterpret_cast<{}*>({}) = {};", PackType(store.type),
                          PointerText(store.buffer, AtBase(store.index, dim_, base, dim_type_)),
                          store.name));
  }
}

void LaneBody::PrintScalar(CodeWriter* out) const {
  PrintStatements(dim_, "", false, true, out);
  PrintStatements(dim_, "", false, false, out);
}

std::string PackType(Scalar type) {
  return fmt::format("Pack<{}, kWidth>", TypeName(type));
}

std::string PackDefinition() {
  return R"(// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

)";
}

std::string ConditionText(const VectorConditions& conditions, int64_t width) {
  std::string text;
  for (const std::string& value : conditions.divisible) {
    text += fmt::format("{}{} % {} == 0", text.empty() ? "" : " && ", value, width);
  }
  for (const auto& [buffer, bytes] : conditions.aligned) {
    text += fmt::format("{}reinterpret_cast<size_t>({}) % {} == 0", text.empty() ? "" : " && ",
                        buffer, bytes);
  }
  return text;
}

void PrintStage(const Stage& stage, CodeWriter* out) {
  const auto same = [](const ExprPtr& expr) { return expr; };
  for (const Let& let : stage.lets) {
    PrintLet(let, let.value, out);
  }
  PrintEffects(stage, same, [&](const Store& store) { out->Line(StoreStatement(store)); }, out);
}

}  // namespace optiml::rewrite
