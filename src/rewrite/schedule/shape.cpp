#include "rewrite/schedule/shape.h"

#include <algorithm>
#include <map>

namespace optiml::rewrite {
namespace {

bool HasUnitStride(const AccessInfo& access, const std::string& dim) {
  return access.affine && access.affine->Coefficient(dim) == Polynomial(1);
}

bool Uses(const AccessInfo& access, const std::string& dim) {
  return !access.affine || !access.affine->Coefficient(dim).IsZero();
}

const Expr* LoadOfFactor(const ExprPtr& factor) {
  const Expr* expr = factor.get();
  while (expr->kind == ExprKind::kCast ||
         (expr->kind == ExprKind::kCall && expr->operands.size() == 1 &&
          (expr->name == "__half2float" || expr->name == "__bfloat162float"))) {
    expr = expr->operands[0].get();
  }
  return expr->kind == ExprKind::kLoad ? expr : nullptr;
}

std::optional<Contraction> FindContraction(const Program& program,
                                           const std::vector<AccessInfo>& accesses) {
  if (program.dims.size() < 2) {
    return std::nullopt;
  }
  Contraction result;
  size_t folds = 0;
  for (size_t i = 0; i < program.stages.size(); ++i) {
    const Stage& stage = program.stages[i];
    if (stage.accumulators.empty()) {
      if (!stage.dims.empty()) {
        return std::nullopt;
      }
      continue;
    }
    ++folds;
    result.fold_stage = i;
  }
  if (folds != 1) {
    return std::nullopt;
  }
  const Stage& fold = program.stages[result.fold_stage];
  if (fold.dims.size() != 1 || fold.guard != nullptr || fold.accumulators.size() != 1 ||
      fold.accumulators[0].op != FoldOp::kSum || !fold.stores.empty()) {
    return std::nullopt;
  }
  result.k = fold.dims[0].name;
  ExprPtr update = fold.accumulators[0].update;
  // Lets of the fold ("float a = A[...]; float b = B[...]; s += a * b") are seen through.
  std::map<std::string, ExprPtr> lets;
  for (const Let& let : fold.lets) {
    lets[let.name] = Substitute(let.value, lets);
  }
  update = Substitute(update, lets);
  if (update->kind != ExprKind::kBinary || update->op != "*") {
    return std::nullopt;
  }
  const Expr* left = LoadOfFactor(update->operands[0]);
  const Expr* right = LoadOfFactor(update->operands[1]);
  if (left == nullptr || right == nullptr) {
    return std::nullopt;
  }
  // n: the dim along which the result is contiguous.
  const AccessInfo* store = nullptr;
  for (const AccessInfo& access : accesses) {
    if (access.is_store) {
      if (store != nullptr || access.is_atomic || !access.affine) {
        return std::nullopt;
      }
      store = &access;
    }
  }
  if (store == nullptr) {
    return std::nullopt;
  }
  for (const Dim& dim : program.dims) {
    if (HasUnitStride(*store, dim.name)) {
      result.n = dim.name;
    }
  }
  const auto form_of = [&](const Expr* load) {
    return IndexForm(program, result.fold_stage, load->operands[0]);
  };
  const std::optional<Affine> left_form = form_of(left);
  const std::optional<Affine> right_form = form_of(right);
  if (result.n.empty() || !left_form || !right_form) {
    return std::nullopt;
  }
  const auto uses = [](const Affine& form, const std::string& dim) {
    return !form.Coefficient(dim).IsZero();
  };
  const bool left_has_n = uses(*left_form, result.n);
  if (left_has_n == uses(*right_form, result.n) || !uses(*left_form, result.k) ||
      !uses(*right_form, result.k)) {
    return std::nullopt;
  }
  const Affine& a = left_has_n ? *right_form : *left_form;
  const Affine& b = left_has_n ? *left_form : *right_form;
  // m: in a and in the result, not in b; the fastest such dim. Others are batch dims.
  for (const Dim& dim : program.dims) {
    if (dim.name != result.n && uses(a, dim.name) && !uses(b, dim.name)) {
      result.m = dim.name;
    }
  }
  if (result.m.empty()) {
    return std::nullopt;
  }
  for (const Dim& dim : program.dims) {
    if (dim.name != result.n && dim.name != result.m) {
      result.batch.push_back(dim.name);
    }
  }
  const auto find = [&](const Expr* load) {
    return Load(load->name, load->operands[0], load->type);
  };
  result.a = find(left_has_n ? right : left);
  result.b = find(left_has_n ? left : right);
  result.a_factor = update->operands[left_has_n ? 1 : 0];
  result.b_factor = update->operands[left_has_n ? 0 : 1];
  const Polynomial one(1);
  result.a_along_k = a.Coefficient(result.k) == one;
  result.b_along_n = b.Coefficient(result.n) == one;
  if (!result.a_along_k && !(a.Coefficient(result.m) == one)) {
    return std::nullopt;
  }
  if (!result.b_along_n && !(b.Coefficient(result.k) == one)) {
    return std::nullopt;
  }
  return result;
}

struct OffsetRange {
  int64_t low = 0;
  int64_t high = 0;
};

// Reads of one buffer that differ only by constants, or by fold dims of few constant steps.
std::optional<Window> FindWindow(const Program& program, const std::vector<AccessInfo>& accesses,
                                 const std::string& contiguous) {
  constexpr int64_t kMaxSteps = 16;  // of one fold dim: the loops are unrolled over registers
  constexpr int64_t kMaxSpan = 16;   // rows or columns of a window kept in registers
  for (const AccessInfo& candidate : accesses) {
    if (candidate.is_store || !HasUnitStride(candidate, contiguous)) {
      continue;
    }
    Window window;
    window.buffer = candidate.buffer;
    window.column = contiguous;
    for (const Dim& dim : program.dims) {
      if (dim.name != contiguous && Uses(candidate, dim.name)) {
        window.row = dim.name;  // the fastest of the others
        window.pitch = candidate.affine->Coefficient(dim.name);
      }
    }
    bool first = true;
    bool legal = true;
    size_t reads = 0;
    for (const AccessInfo& access : accesses) {
      if (access.is_store || access.buffer != window.buffer) {
        continue;
      }
      if (!HasUnitStride(access, contiguous) ||
          (!window.row.empty() && !(access.affine->Coefficient(window.row) == window.pitch))) {
        legal = false;
        break;
      }
      // constant = row_offset * pitch + column_offset + common
      OffsetRange rows;
      OffsetRange columns;
      const auto add = [&](const Polynomial& polynomial, int64_t low, int64_t high) {
        // polynomial * [low, high] must be a multiple of the pitch or a number
        if (const std::optional<int64_t> number = polynomial.Constant()) {
          columns.low += std::min(*number * low, *number * high);
          columns.high += std::max(*number * low, *number * high);
          return true;
        }
        for (int64_t factor = -kMaxSpan; factor <= kMaxSpan; ++factor) {
          const std::optional<int64_t> rest =
              (polynomial - window.pitch * Polynomial(factor)).Constant();
          if (!window.row.empty() && rest) {
            rows.low += std::min(factor * low, factor * high);
            rows.high += std::max(factor * low, factor * high);
            columns.low += std::min(*rest * low, *rest * high);
            columns.high += std::max(*rest * low, *rest * high);
            return true;
          }
        }
        return false;
      };
      legal = add(access.affine->constant, 1, 1);
      for (const Dim& dim : program.stages[access.stage].dims) {
        const Polynomial coefficient = access.affine->Coefficient(dim.name);
        if (coefficient.IsZero()) {
          continue;
        }
        const std::optional<int64_t> extent = Evaluate(dim.extent, {});
        legal = legal && dim.kind == DimKind::kFold && extent && *extent >= 1 &&
                *extent <= kMaxSteps && add(coefficient, 0, *extent - 1);
        reads += 1;
      }
      if (!legal) {
        break;
      }
      window.row_low = first ? rows.low : std::min(window.row_low, rows.low);
      window.row_high = first ? rows.high : std::max(window.row_high, rows.high);
      window.column_low = first ? columns.low : std::min(window.column_low, columns.low);
      window.column_high = first ? columns.high : std::max(window.column_high, columns.high);
      first = false;
      ++reads;
    }
    const int64_t row_span = window.row_high - window.row_low;
    const int64_t column_span = window.column_high - window.column_low;
    if (legal && reads >= 2 && row_span + column_span > 0 && row_span <= kMaxSpan &&
        column_span <= kMaxSpan) {
      return window;
    }
  }
  return std::nullopt;
}

}  // namespace

const char* ShapeKindName(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::kMap:
      return "map";
    case ShapeKind::kTranspose:
      return "transpose";
    case ShapeKind::kStencil:
      return "stencil";
    case ShapeKind::kRowFold:
      return "row fold";
    case ShapeKind::kColumnFold:
      return "column fold";
    case ShapeKind::kFullFold:
      return "full fold";
    case ShapeKind::kContraction:
      return "contraction";
    case ShapeKind::kScatter:
      return "scatter";
    case ShapeKind::kOther:
      return "other";
  }
  return "other";
}

Shape Classify(const Program& program) {
  Shape shape;
  const std::vector<AccessInfo> accesses = CollectAccesses(program);
  const auto any_of = [&](const auto& predicate) {
    return std::any_of(accesses.begin(), accesses.end(), predicate);
  };
  const bool has_folds =
      std::any_of(program.stages.begin(), program.stages.end(),
                  [](const Stage& stage) { return !stage.accumulators.empty(); });
  const bool has_par_stages = std::any_of(
      program.stages.begin(), program.stages.end(),
      [](const Stage& stage) { return stage.accumulators.empty() && !stage.dims.empty(); });
  if (any_of([](const AccessInfo& access) { return access.is_atomic; })) {
    size_t stores = 0;
    bool fixed_place = true;
    for (const AccessInfo& access : accesses) {
      if (access.is_store) {
        ++stores;
        fixed_place =
            fixed_place && access.is_atomic && access.affine && access.affine->coefficients.empty();
      }
    }
    if (has_folds || has_par_stages || program.dims.empty()) {
      return shape;
    }
    if (stores == 1) {
      shape.kind = fixed_place ? ShapeKind::kFullFold : ShapeKind::kScatter;
    }
    const bool data_dependent =
        any_of([](const AccessInfo& access) { return access.is_atomic && !access.affine; });
    if (shape.kind == ShapeKind::kScatter && !data_dependent) {
      shape.kind = ShapeKind::kOther;
    }
    shape.contiguous = program.dims.back().name;
    return shape;
  }
  if (program.dims.empty() && !has_folds) {
    return shape;
  }
  if (has_folds) {
    if (std::optional<Contraction> contraction = FindContraction(program, accesses)) {
      shape.kind = ShapeKind::kContraction;
      shape.contiguous = contraction->n;
      shape.contraction = std::move(contraction);
      return shape;
    }
  }
  // The program dim along which stores (then loads) are contiguous; the later dim wins ties.
  std::string outer;
  size_t best = 0;
  for (const Dim& dim : program.dims) {
    size_t score = 0;
    for (const AccessInfo& access : accesses) {
      score += HasUnitStride(access, dim.name) ? (access.is_store ? 100 : 1) : 0;
    }
    if (score >= best && score > 0) {
      best = score;
      outer = dim.name;
    }
  }
  if (!outer.empty()) {
    if (std::optional<Window> window = FindWindow(program, accesses, outer);
        window && !has_par_stages) {
      shape.kind = ShapeKind::kStencil;
      shape.contiguous = outer;
      shape.window = std::move(window);
      return shape;
    }
  }
  if (has_folds || has_par_stages) {
    bool one_dim = true;
    for (const Stage& stage : program.stages) {
      one_dim = one_dim && stage.dims.size() <= 1;
    }
    if (!one_dim) {
      return shape;
    }
    size_t rows = 0;
    size_t columns = 0;
    std::string inner;
    for (const AccessInfo& access : accesses) {
      const Stage& stage = program.stages[access.stage];
      if (stage.dims.empty() || access.is_store || access.is_initial) {
        continue;
      }
      if (HasUnitStride(access, stage.dims[0].name)) {
        ++rows;
        inner = inner.empty() ? stage.dims[0].name : inner;
      } else if (!outer.empty() && HasUnitStride(access, outer)) {
        ++columns;
      }
    }
    if (has_folds && rows > 0 && columns == 0) {
      shape.kind = ShapeKind::kRowFold;
      shape.contiguous = inner;
    } else if (has_folds && columns > 0 && rows == 0) {
      shape.kind = ShapeKind::kColumnFold;
      shape.contiguous = outer;
    }
    return shape;
  }
  if (program.stages.empty() || program.dims.empty()) {
    return shape;
  }
  shape.kind = ShapeKind::kMap;
  shape.contiguous = outer;
  if (outer.empty()) {
    return shape;
  }
  for (const AccessInfo& access : accesses) {
    if (access.is_store || access.is_conditional || !access.affine ||
        HasUnitStride(access, outer)) {
      continue;
    }
    for (const Dim& dim : program.dims) {
      if (dim.name != outer && HasUnitStride(access, dim.name) && Uses(access, outer) &&
          (shape.other.empty() || shape.other == dim.name)) {
        shape.other = dim.name;
        shape.turned.push_back(access);
      }
    }
  }
  if (!shape.turned.empty()) {
    shape.kind = ShapeKind::kTranspose;
  }
  return shape;
}

}  // namespace optiml::rewrite
