#ifndef OPTIML_REWRITE_SCHEDULED_CATALOGUE_H_
#define OPTIML_REWRITE_SCHEDULED_CATALOGUE_H_

// The catalogue over programs that were lifted already: what MakeCatalogue builds after the lift.
// Tests that make their programs by hand start here.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/catalogue.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

// One launched kernel: its program, or why there is none.
struct KernelProgram {
  const ast::Function* function = nullptr;
  std::optional<Program> program;
  std::string refusal;
};

// The catalogue shares `unit`; the programs' functions must belong to it. `checked_plans` are those
// of MakeCatalogue.
std::unique_ptr<Catalogue> MakeCatalogueOf(const KernelSource& root,
                                           std::shared_ptr<const ast::SourceUnit> unit,
                                           const std::vector<LaunchPlan>& plans,
                                           const TargetLimits& limits,
                                           const std::vector<KernelProgram>& programs,
                                           const std::vector<LaunchPlan>& checked_plans = {});

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULED_CATALOGUE_H_
