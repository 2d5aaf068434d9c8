// S4: neighbouring elements move in one access of up to 16 bytes. What is needed for alignment is
// checked at run time, and a scalar version serves everything else; it is refused where no run-time
// condition could make it apply.

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/schedule/normalise.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {
namespace {

// Bytes of the widest element among accesses that would become packs.
struct Packable {
  int64_t loads = 0;
  int64_t stores = 0;
  int64_t widest = 1;
  int64_t narrowest = 16;
};

Packable CountPackable(const Program& program, const std::string& dim, int64_t width) {
  Packable result;
  for (const AccessInfo& access : CollectAccesses(program)) {
    std::set<std::string> divisible;
    if (access.is_conditional || access.is_atomic || !access.affine ||
        !RequireDivisible(*access.affine, dim, width, &divisible)) {
      continue;
    }
    (access.is_store ? result.stores : result.loads) += 1;
    result.widest = std::max<int64_t>(result.widest, ScalarBytes(access.type));
    result.narrowest = std::min<int64_t>(result.narrowest, ScalarBytes(access.type));
  }
  return result;
}

bool ConstantExtentsFit(const Program& program, const std::string& dim, int64_t width) {
  const auto fits = [&](const Dim& one) {
    return one.name != dim || one.extent->kind != ExprKind::kInt ||
           one.extent->int_value % width == 0;
  };
  for (const Stage& stage : program.stages) {
    if (!std::all_of(stage.dims.begin(), stage.dims.end(), fits)) {
      return false;
    }
  }
  return std::all_of(program.dims.begin(), program.dims.end(), fits);
}

}  // namespace

Transformation MakeVectorWidth() {
  Transformation result;
  result.name = "vector_width";
  result.code = "S4";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadRequests), Down(metric::kWarpInstructions)};
  result.prior = 2;
  result.choices = [](const KernelFacts& facts) {
    int64_t narrowest = 16;
    for (const Parameter& parameter : facts.program.parameters) {
      if (parameter.is_buffer) {
        narrowest = std::min<int64_t>(narrowest, ScalarBytes(parameter.type));
      }
    }
    std::vector<Parameters> choices;
    for (int64_t width = std::min<int64_t>(16 / narrowest, 8); width > 1; width /= 2) {
      choices.push_back({{"width", width}});
    }
    return choices;
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason =
            RefuseUnlessShape(facts, {ShapeKind::kMap, ShapeKind::kRowFold, ShapeKind::kFullFold,
                                      ShapeKind::kContraction, ShapeKind::kScatter})) {
      return reason;
    }
    const int64_t width = schedule.Get("vector_width", "width", 0);
    if (auto reason = RefuseUnlessOneOf(width, {2, 4, 8}, "width")) {
      return reason;
    }
    const std::map<ShapeKind, const char*> needs = {{ShapeKind::kRowFold, "row_fold"},
                                                    {ShapeKind::kFullFold, "split_fold"},
                                                    {ShapeKind::kContraction, "tile_shared"},
                                                    {ShapeKind::kScatter, "privatise"}};
    if (const auto need = needs.find(facts.shape.kind); need != needs.end()) {
      if (auto reason = RefuseUnlessPresent(schedule, need->second)) {
        return reason;
      }
    }
    Program program = facts.program;
    std::string dim = facts.shape.contiguous;
    const bool flat_kind = facts.shape.kind == ShapeKind::kFullFold ||
                           facts.shape.kind == ShapeKind::kScatter || schedule.Has("flatten");
    if (flat_kind) {
      std::optional<Program> flat = Flatten(program, "i");
      if (!flat) {
        return "the accesses do not run through memory in the order of the dims";
      }
      program = *flat;
      dim = program.dims[0].name;
    }
    if (facts.shape.kind == ShapeKind::kContraction) {
      const Contraction& contraction = *facts.shape.contraction;
      const auto check = [&](const ExprPtr& load,
                             const std::string& along) -> std::optional<std::string> {
        const std::optional<Affine> form =
            IndexForm(facts.program, contraction.fold_stage, load->operands[0]);
        std::set<std::string> divisible;
        if (!form || !RequireDivisible(*form, along, width, &divisible) ||
            !ConstantExtentsFit(facts.program, along, width)) {
          return fmt::format("{} can never be aligned to {} elements along {}", load->name, width,
                             along);
        }
        if (width * ScalarBytes(load->type) > 16) {
          return fmt::format("{} elements of {} are more than 16 bytes", width, load->name);
        }
        return std::nullopt;
      };
      if (auto reason =
              check(contraction.a, contraction.a_along_k ? contraction.k : contraction.m)) {
        return reason;
      }
      if (auto reason =
              check(contraction.b, contraction.b_along_n ? contraction.n : contraction.k)) {
        return reason;
      }
      return width > 4 ? std::optional<std::string>("results lie in groups of 4") : std::nullopt;
    }
    const Packable packable = CountPackable(program, dim, width);
    if (packable.loads + packable.stores == 0) {
      return "no access is contiguous and can be aligned";
    }
    if (width * packable.narrowest > 16) {
      return fmt::format("{} elements are more than 16 bytes", width);
    }
    if (!ConstantExtentsFit(program, dim, width) && !flat_kind && program.dims.size() != 1) {
      return fmt::format("the extent of {} is no multiple of {}", dim, width);
    }
    if (facts.shape.kind == ShapeKind::kRowFold && !ConstantExtentsFit(program, dim, width)) {
      return fmt::format("the extent of {} is no multiple of {}", dim, width);
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts&, const Parameters& parameters) {
    return fmt::format("move {} neighbouring elements in one memory access",
                       parameters.at("width"));
  };
  return result;
}

}  // namespace optiml::rewrite
