#include "rewrite/program/access.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace optiml::rewrite {

namespace {

// Calls `visit` on every expression of a stage in the order in which it is evaluated; store targets
// are left out.
void VisitExpressions(const Stage& stage, const std::function<void(const ExprPtr&)>& visit) {
  for (const Accumulator& accumulator : stage.accumulators) {
    visit(accumulator.init);
  }
  for (const Let& let : stage.lets) {
    visit(let.value);
  }
  if (stage.guard != nullptr) {
    visit(stage.guard);
  }
  for (const Accumulator& accumulator : stage.accumulators) {
    visit(accumulator.update);
  }
  for (const Store& store : stage.stores) {
    visit(store.index);
    visit(store.value);
  }
}

std::vector<std::string> Names(const std::vector<Dim>& dims) {
  std::vector<std::string> names;
  for (const Dim& dim : dims) {
    names.push_back(dim.name);
  }
  return names;
}

// No name of a source's variable; records of more elements are taken to overlap.
constexpr char kMember[] = "(member)";
constexpr int64_t kMaxRecordElements = int64_t{1} << 20;

// The absolute value of a stride whose sign is known, else nothing.
std::optional<Polynomial> Magnitude(const Polynomial& stride) {
  if (stride.IsNonNegative()) {
    return stride;
  }
  Polynomial negated = Polynomial() - stride;
  return negated.IsNonNegative() ? std::optional(negated) : std::nullopt;
}

struct Step {
  Polynomial stride;
  Polynomial extent;
};

// Whether the strides are, in some order, 1 and the product of the extents before: then an index is
// a number whose digits are the dims, whatever the extents are made of ("cols - width + 1").
bool IsDense(const Affine& index, const std::vector<Dim>& dims) {
  std::vector<Step> steps;
  for (const Dim& dim : dims) {
    const std::optional<Polynomial> extent = ToPolynomial(dim.extent);
    if (!extent) {
      return false;
    }
    steps.push_back({index.Coefficient(dim.name), *extent});
  }
  Polynomial reach(1);
  while (!steps.empty()) {
    const auto next = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.stride == reach || Polynomial() - step.stride == reach;
    });
    if (next == steps.end()) {
      return false;
    }
    reach = reach * next->extent;
    steps.erase(next);
  }
  return true;
}

}  // namespace

std::vector<Access> Accesses(const Program& program) {
  std::vector<Access> accesses;
  std::vector<Let> lets;
  for (size_t s = 0; s < program.stages.size(); ++s) {
    const Stage& stage = program.stages[s];
    std::vector<Dim> dims = program.dims;
    dims.insert(dims.end(), stage.dims.begin(), stage.dims.end());
    const std::vector<std::string> names = Names(dims);
    lets.insert(lets.end(), stage.lets.begin(), stage.lets.end());
    const auto add = [&](const std::string& buffer, const ExprPtr& index, bool is_store,
                         StoreKind kind) {
      accesses.push_back({buffer, index, is_store, kind, s, dims, ToAffine(index, names, lets)});
    };
    VisitExpressions(stage, [&](const ExprPtr& expr) {
      for (const ExprPtr& load : Loads(expr)) {
        add(load->name, load->operands[0], false, StoreKind::kAssign);
      }
    });
    for (const Store& store : stage.stores) {
      add(store.buffer, store.index, true, store.kind);
    }
    // Accumulators are no lets: an index that depends on one is opaque.
    for (const Accumulator& accumulator : stage.accumulators) {
      lets.push_back(
          {accumulator.name, accumulator.type, Load(accumulator.name, Int(0), accumulator.type)});
    }
  }
  return accesses;
}

Stride StrideOf(const Access& access, const std::string& dim) {
  if (!access.affine) {
    return Stride::kUnknown;
  }
  const std::optional<int64_t> constant = access.affine->Coefficient(dim).Constant();
  if (!constant) {
    return Stride::kSymbolic;
  }
  return *constant == 0 ? Stride::kZero : *constant == 1 ? Stride::kOne : Stride::kConstant;
}

bool DependsOn(const Access& access, const std::string& dim) {
  return StrideOf(access, dim) != Stride::kZero;
}

bool IsInjective(const Affine& index, const std::vector<Dim>& dims) {
  if (IsDense(index, dims)) {
    return true;
  }
  std::vector<Step> steps;
  for (const Dim& dim : dims) {
    const std::optional<Polynomial> extent = ToPolynomial(dim.extent);
    if (extent && extent->Constant() && *extent->Constant() <= 1) {
      continue;  // one point at most
    }
    const std::optional<Polynomial> stride = Magnitude(index.Coefficient(dim.name));
    if (!extent || !stride || stride->IsZero()) {
      return false;
    }
    steps.push_back({*stride, *extent});
  }
  // Greedy: the smallest stride first; every next one must be at least stride * extent of the last.
  // With a_1 >= 1 and a_(k+1) >= a_k * extent_k the sum of a_j * (extent_j - 1) over j <= k is
  // below a_(k+1), hence no two points meet.
  Polynomial reach(1);
  while (!steps.empty()) {
    const auto next = std::find_if(steps.begin(), steps.end(), [&](const Step& candidate) {
      return std::all_of(steps.begin(), steps.end(), [&](const Step& other) {
        return (other.stride - candidate.stride).IsNonNegativeForPositive() ||
               (other.stride - candidate.stride * candidate.extent).IsNonNegativeForPositive();
      });
    });
    if (next == steps.end() || !(next->stride - reach).IsNonNegativeForPositive()) {
      return false;
    }
    reach = next->stride * next->extent;
    steps.erase(next);
  }
  return true;
}

bool MayConflictAcrossPoints(const Program& program, const Access& a, const Access& b) {
  if (a.buffer != b.buffer) {
    return false;
  }
  if (!a.affine || !b.affine || a.dims.size() != b.dims.size()) {
    return true;
  }
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const bool same_stride =
        a.affine->Coefficient(a.dims[i].name) == b.affine->Coefficient(b.dims[i].name);
    const std::optional<Polynomial> extent_a = ToPolynomial(a.dims[i].extent);
    const std::optional<Polynomial> extent_b = ToPolynomial(b.dims[i].extent);
    const bool same_dim = i >= program.dims.size() || a.dims[i].name == b.dims[i].name;
    if (!same_stride || !same_dim || !extent_a || !extent_b || !(*extent_a == *extent_b)) {
      return true;
    }
  }
  if (a.affine->constant == b.affine->constant) {
    return !IsInjective(*a.affine, a.dims);
  }
  // Members of one record: with every element from the one to the other as a further dim, no two
  // points may meet.
  const std::optional<int64_t> apart = (a.affine->constant - b.affine->constant).Constant();
  if (!apart || *apart <= -kMaxRecordElements || *apart >= kMaxRecordElements) {
    return true;
  }
  Affine record = *a.affine;
  record.coefficients[kMember] = Polynomial(1);
  std::vector<Dim> dims = a.dims;
  dims.push_back({kMember, DimKind::kPar, Int(std::abs(*apart) + 1)});
  return !IsInjective(record, dims);
}

std::vector<std::string> StoredBuffers(const Stage& stage) {
  std::set<std::string> names;
  for (const Store& store : stage.stores) {
    names.insert(store.buffer);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> LoadedBuffers(const Stage& stage) {
  std::set<std::string> names;
  VisitExpressions(stage, [&](const ExprPtr& expr) {
    for (const ExprPtr& load : Loads(expr)) {
      names.insert(load->name);
    }
  });
  return {names.begin(), names.end()};
}

bool StageDependsOn(const Program& program, size_t later, size_t earlier) {
  const Stage& from = program.stages[earlier];
  const Stage& to = program.stages[later];
  std::set<std::string> made;
  for (const Accumulator& accumulator : from.accumulators) {
    made.insert(accumulator.name);
  }
  if (from.dims.empty()) {
    for (const Let& let : from.lets) {
      made.insert(let.name);
    }
  }
  bool depends = false;
  const auto check = [&](const ExprPtr& expr) {
    Visit(expr, [&](const Expr& node) {
      depends |= node.kind == ExprKind::kSymbol && made.contains(node.name);
    });
  };
  VisitExpressions(to, check);
  const auto meets = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::any_of(a.begin(), a.end(), [&](const std::string& name) {
      return std::find(b.begin(), b.end(), name) != b.end();
    });
  };
  return depends || meets(StoredBuffers(from), LoadedBuffers(to)) ||
         meets(StoredBuffers(from), StoredBuffers(to)) ||
         meets(LoadedBuffers(from), StoredBuffers(to));
}

}  // namespace optiml::rewrite
