#include "rewrite/schedule/normalise.h"

#include <algorithm>
#include <functional>
#include <set>

#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

bool IsFold(const Stage& stage) {
  return !stage.accumulators.empty();
}

bool HasStores(const Stage& stage) {
  return !stage.stores.empty();
}

// Whether lets of the stage are used by another stage.
bool ExportsLets(const Program& program, size_t stage) {
  for (const Let& let : program.stages[stage].lets) {
    for (size_t other = 0; other < program.stages.size(); ++other) {
      if (other != stage && StageMentions(program.stages[other], let.name)) {
        return true;
      }
    }
  }
  return false;
}

// A let without loads, cheap enough to be repeated where it is used.
bool IsPlainInteger(const Let& let) {
  return !IsFloatScalar(let.type) && Loads(let.value).empty();
}

// Replaces integer lets that mention `dim` by their values everywhere.
void InlineLetsOf(Program* program, const std::string& dim) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Stage& stage : program->stages) {
      for (const Let& let : stage.lets) {
        if (!IsPlainInteger(let) || !Mentions(let.value, dim)) {
          continue;
        }
        const bool used =
            std::any_of(program->stages.begin(), program->stages.end(),
                        [&](const Stage& other) { return StageMentions(other, let.name); });
        if (!used) {
          continue;
        }
        const std::map<std::string, ExprPtr> replacement = {{let.name, let.value}};
        RewriteProgram(program, [&](const ExprPtr& expr) { return Substitute(expr, replacement); });
        changed = true;
        break;
      }
      if (changed) {
        break;
      }
    }
  }
  RemoveDeadLets(program);
}

// Program dims that no fold mentions become par dims of the stages that do.
bool HoistFolds(Program* program) {
  for (size_t d = 0; d < program->dims.size(); ++d) {
    const Dim dim = program->dims[d];
    Program candidate = *program;
    InlineLetsOf(&candidate, dim.name);
    size_t folds = 0;
    bool legal = true;
    for (size_t i = 0; i < candidate.stages.size() && legal; ++i) {
      const Stage& stage = candidate.stages[i];
      const bool mentions = StageMentions(stage, dim.name);
      if (IsFold(stage)) {
        ++folds;
        legal = !mentions;
      } else if (mentions) {
        legal = stage.dims.empty() && HasStores(stage) && !ExportsLets(candidate, i);
        for (const Store& store : stage.stores) {
          const std::optional<Affine> form = IndexForm(candidate, i, store.index);
          legal = legal && store.kind == StoreKind::kAssign && form &&
                  !form->Coefficient(dim.name).IsZero();
        }
      } else {
        legal = !HasStores(stage);  // it would be executed once instead of once a point: same value
                                    // but the source's conflicting stores were refused by the lift
      }
    }
    if (!legal || folds == 0 || candidate.dims.size() < 2) {
      continue;
    }
    candidate.dims.erase(candidate.dims.begin() + static_cast<std::ptrdiff_t>(d));
    Dim inner = dim;
    inner.thread_axis = -1;
    for (Stage& stage : candidate.stages) {
      if (!IsFold(stage) && StageMentions(stage, dim.name)) {
        stage.dims.push_back(inner);
      }
    }
    *program = std::move(candidate);
    return true;
  }
  return false;
}

// One par stage with stores and otherwise only lets: its dims join the program's.
void PromoteLoneStage(Program* program) {
  size_t with_dims = program->stages.size();
  for (size_t i = 0; i < program->stages.size(); ++i) {
    const Stage& stage = program->stages[i];
    if (IsFold(stage)) {
      return;
    }
    if (!stage.dims.empty()) {
      if (with_dims != program->stages.size()) {
        return;
      }
      with_dims = i;
    } else if (HasStores(stage)) {
      return;
    }
  }
  if (with_dims == program->stages.size()) {
    return;
  }
  Stage& stage = program->stages[with_dims];
  for (const Dim& dim : stage.dims) {
    program->dims.push_back(dim);
  }
  stage.dims.clear();
}

// The single dim that replaces `dims` (outermost first) in all accesses, or nothing.
bool ContiguousOver(const Affine& form, const std::vector<Dim>& dims) {
  const Polynomial innermost = form.Coefficient(dims.back().name);
  Polynomial stride = innermost;
  for (size_t i = dims.size(); i-- > 0;) {
    if (!(form.Coefficient(dims[i].name) == stride)) {
      return false;
    }
    const std::optional<Affine> extent = ToAffine(dims[i].extent, {});
    if (!extent) {
      return false;
    }
    stride = stride * extent->constant;
  }
  return true;
}

Scalar DimType(const Program& program, size_t stage, const std::string& name) {
  for (const Dim& dim : program.dims) {
    if (dim.name == name) {
      return dim.extent->type;
    }
  }
  for (const Dim& dim : program.stages[stage].dims) {
    if (dim.name == name) {
      return dim.extent->type;
    }
  }
  return Scalar::kI32;
}

bool HasWideIndex(const Program& program) {
  for (const AccessInfo& access : CollectAccesses(program)) {
    if (ScalarBytes(access.index->type) == 8) {
      return true;
    }
  }
  return false;
}

// The extent of all dims together, in 64 bits where the source's indices are.
ExprPtr JoinedExtent(const std::vector<Dim>& dims, bool wide) {
  std::vector<Dim> copies = dims;
  if (wide && ScalarBytes(copies[0].extent->type) < 8) {
    copies[0].extent = Cast(Scalar::kI64, copies[0].extent);
  }
  return ProductOf(copies);
}

// Rewrites every use of `dims` in the stage to one dim; false when one is used in another way.
bool CollapseDims(const Program& context, size_t stage_index, const std::vector<Dim>& dims,
                  const std::string& name, Scalar type, Stage* stage) {
  bool legal = true;
  const std::function<ExprPtr(const ExprPtr&)> convert = [&](const ExprPtr& index) -> ExprPtr {
    const bool mentions = std::any_of(dims.begin(), dims.end(),
                                      [&](const Dim& dim) { return Mentions(index, dim.name); });
    const std::optional<Affine> form = IndexForm(context, stage_index, index);
    if (!form) {
      legal = legal && !mentions;
      return index;
    }
    const bool uses = std::any_of(dims.begin(), dims.end(), [&](const Dim& dim) {
      return !form->Coefficient(dim.name).IsZero();
    });
    if (!uses) {
      legal = legal && !mentions;
      return index;
    }
    if (!ContiguousOver(*form, dims)) {
      legal = false;
      return index;
    }
    ExprPtr result;
    const auto add = [&](const ExprPtr& term) {
      result = result == nullptr ? term : Binary("+", result, term, type);
    };
    for (const auto& [dim, coefficient] : form->coefficients) {
      const bool collapsed =
          std::any_of(dims.begin(), dims.end(), [&](const Dim& one) { return one.name == dim; });
      if (collapsed) {
        continue;
      }
      // A product that the source computed in 64 bits stays one.
      const Scalar own = DimType(context, stage_index, dim);
      const ExprPtr symbol =
          ScalarBytes(type) > ScalarBytes(own) ? Cast(type, Symbol(dim, own)) : Symbol(dim, own);
      add(coefficient == Polynomial(1) ? symbol : Binary("*", symbol, coefficient.ToExpr(), type));
    }
    if (!form->constant.IsZero()) {
      add(form->constant.ToExpr());
    }
    const Polynomial stride = form->Coefficient(dims.back().name);
    const ExprPtr point = Symbol(name, type);
    add(stride == Polynomial(1) ? point : Binary("*", point, stride.ToExpr(), type));
    return result;
  };
  const std::function<ExprPtr(const ExprPtr&)> replace = [&](const ExprPtr& expr) -> ExprPtr {
    if (expr->kind != ExprKind::kLoad) {
      return nullptr;
    }
    auto copy = std::make_shared<Expr>(*expr);
    copy->operands[0] = convert(expr->operands[0]);
    return copy;
  };
  for (Let& let : stage->lets) {
    let.value = RewriteExpr(let.value, replace);
  }
  stage->guard = RewriteExpr(stage->guard, replace);
  for (Accumulator& accumulator : stage->accumulators) {
    accumulator.init = RewriteExpr(accumulator.init, replace);
    accumulator.update = RewriteExpr(accumulator.update, replace);
  }
  for (Store& store : stage->stores) {
    store.index = convert(store.index);
    store.value = RewriteExpr(store.value, replace);
  }
  return legal;
}

std::string FreshName(const Program& program, const std::string& wish) {
  std::set<std::string> taken(program.reserved_names.begin(), program.reserved_names.end());
  for (const Parameter& parameter : program.parameters) {
    taken.insert(parameter.name);
  }
  for (const Dim& dim : program.dims) {
    taken.insert(dim.name);
  }
  for (const Stage& stage : program.stages) {
    for (const Dim& dim : stage.dims) {
      taken.insert(dim.name);
    }
    for (const Let& let : stage.lets) {
      taken.insert(let.name);
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      taken.insert(accumulator.name);
    }
  }
  std::string name = wish;
  for (int i = 2; taken.count(name) != 0; ++i) {
    name = wish + std::to_string(i);
  }
  return name;
}

// Fold stages with several dims over contiguous memory get one.
void CollapseFolds(Program* program) {
  for (size_t i = 0; i < program->stages.size(); ++i) {
    Stage& stage = program->stages[i];
    if (stage.dims.size() < 2) {
      continue;
    }
    Program candidate = *program;
    for (const Dim& dim : stage.dims) {
      InlineLetsOf(&candidate, dim.name);
    }
    if (candidate.stages.size() != program->stages.size()) {
      continue;
    }
    const std::string name = FreshName(*program, "element");
    const ExprPtr extent = JoinedExtent(stage.dims, HasWideIndex(*program));
    Stage collapsed = candidate.stages[i];
    if (!CollapseDims(candidate, i, stage.dims, name, extent->type, &collapsed)) {
      continue;
    }
    const bool leftover = std::any_of(stage.dims.begin(), stage.dims.end(), [&](const Dim& dim) {
      return StageMentions(collapsed, dim.name);
    });
    if (leftover) {
      continue;
    }
    collapsed.dims = {Dim{name, stage.dims[0].kind, extent, -1}};
    candidate.stages[i] = collapsed;
    *program = candidate;
  }
}

void ShareInnerNames(Program* program) {
  const Dim* first = nullptr;
  for (Stage& stage : program->stages) {
    if (stage.dims.size() != 1) {
      continue;
    }
    Dim& dim = stage.dims[0];
    if (first == nullptr) {
      first = &dim;
    } else if (Equal(dim.extent, first->extent) && dim.name != first->name) {
      const std::map<std::string, ExprPtr> replacement = {
          {dim.name, Symbol(first->name, first->extent->type)}};
      dim.name = first->name;
      RewriteStage(&stage, [&](const ExprPtr& expr) { return Substitute(expr, replacement); });
    }
  }
}

bool IsWide(const ExprPtr& index) {
  bool wide = false;
  Visit(index, [&](const Expr& expr) {
    wide = wide || (!IsFloatScalar(expr.type) && ScalarBytes(expr.type) == 8);
  });
  return wide;
}

// Indices of the same place are spelled the same way, the shortest one that all of them see: so a
// second read of an element is known for one. Indices with 64-bit parts keep their casts.
void UnifyIndices(Program* program) {
  struct Known {
    Affine form;
    ExprPtr index;
    bool wide = false;
  };
  std::vector<Known> known;
  const auto visit_indices = [&](const std::function<ExprPtr(size_t, const ExprPtr&)>& spell) {
    for (size_t i = 0; i < program->stages.size(); ++i) {
      const std::function<ExprPtr(const ExprPtr&)> replace = [&](const ExprPtr& node) -> ExprPtr {
        return node->kind == ExprKind::kLoad
                   ? Load(node->name, spell(i, RewriteExpr(node->operands[0], replace)), node->type)
                   : nullptr;
      };
      Stage copy = program->stages[i];
      RewriteStage(&copy, [&](const ExprPtr& expr) { return RewriteExpr(expr, replace); });
      for (Store& store : copy.stores) {
        store.index = spell(i, store.index);
      }
      program->stages[i] = std::move(copy);
    }
  };
  const auto find = [&](const Affine& form, bool wide) {
    return std::find_if(known.begin(), known.end(),
                        [&](const Known& one) { return one.form == form && one.wide == wide; });
  };
  visit_indices([&](size_t stage, const ExprPtr& index) {
    const std::optional<Affine> form = IndexForm(*program, stage, index);
    if (!form) {
      return index;
    }
    const bool wide = IsWide(index);
    const auto found = find(*form, wide);
    // Names of the stage's own lets are not known elsewhere.
    bool is_local = false;
    for (const Let& let : program->stages[stage].lets) {
      is_local = is_local || Mentions(index, let.name);
    }
    if (found == known.end()) {
      ExprPtr best = is_local ? nullptr : index;
      if (!wide) {
        const ExprPtr plain =
            AffineExpr(*form, DimNames(*program, program->stages[stage]), index->type);
        if (best == nullptr || Print(plain).size() < Print(best).size()) {
          best = plain;
        }
      }
      if (best != nullptr) {
        known.push_back({*form, best, wide});
      }
    } else if (!is_local && Print(index).size() < Print(found->index).size()) {
      found->index = index;
    }
    return index;
  });
  visit_indices([&](size_t stage, const ExprPtr& index) {
    const std::optional<Affine> form = IndexForm(*program, stage, index);
    if (!form) {
      return index;
    }
    const auto found = find(*form, IsWide(index));
    return found == known.end() ? index : found->index;
  });
}

// Casts of 32-bit integers to unsigned and back, as threadIdx brings them, are nothing.
ExprPtr WithoutRoundTrips(const ExprPtr& expr) {
  return RewriteExpr(expr, [](const ExprPtr& node) -> ExprPtr {
    if (node->kind != ExprKind::kCast) {
      return nullptr;
    }
    ExprPtr inner = node->operands[0];
    while (inner->kind == ExprKind::kCast && ScalarBytes(inner->type) == 4 &&
           !IsFloatScalar(inner->type) && inner->operands[0]->type != Scalar::kBool &&
           !IsFloatScalar(inner->operands[0]->type) && ScalarBytes(inner->operands[0]->type) == 4) {
      inner = inner->operands[0];
    }
    inner = WithoutRoundTrips(inner);
    return inner->type == node->type && ScalarBytes(node->type) == 4 && !IsFloatScalar(node->type)
               ? inner
               : nullptr;
  });
}

}  // namespace

Program Tidy(const Program& program) {
  Program result = program;
  RewriteProgram(&result, WithoutRoundTrips);
  UnifyIndices(&result);
  return result;
}

Program Normalise(const Program& program) {
  Program result = program;
  RewriteProgram(&result, WithoutRoundTrips);
  while (HoistFolds(&result)) {
  }
  PromoteLoneStage(&result);
  CollapseFolds(&result);
  ShareInnerNames(&result);
  // Integer lets of inner loops are put into the indices.
  std::set<std::string> inner;
  for (const Stage& stage : result.stages) {
    for (const Dim& dim : stage.dims) {
      inner.insert(dim.name);
    }
  }
  for (const std::string& dim : inner) {
    InlineLetsOf(&result, dim);
  }
  UnifyIndices(&result);
  return result;
}

std::optional<Program> Flatten(const Program& program, const std::string& name) {
  if (program.dims.empty()) {
    return std::nullopt;
  }
  Program result = program;
  if (program.dims.size() == 1) {
    return result;
  }
  for (const Dim& dim : program.dims) {
    InlineLetsOf(&result, dim.name);
  }
  const std::string fresh = FreshName(program, name);
  const ExprPtr extent = JoinedExtent(program.dims, HasWideIndex(program));
  for (size_t i = 0; i < result.stages.size(); ++i) {
    Stage collapsed = result.stages[i];
    if (!CollapseDims(result, i, program.dims, fresh, extent->type, &collapsed)) {
      return std::nullopt;
    }
    for (const Dim& dim : program.dims) {
      if (StageMentions(collapsed, dim.name)) {
        return std::nullopt;
      }
    }
    result.stages[i] = std::move(collapsed);
  }
  result.dims = {Dim{fresh, DimKind::kPar, extent, 0}};
  RemoveDeadLets(&result);
  return result;
}

}  // namespace optiml::rewrite
