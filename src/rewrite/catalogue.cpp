#include "rewrite/catalogue.h"

#include <algorithm>
#include <set>

#include "rewrite/lift/lift.h"
#include "rewrite/scheduled_catalogue.h"

namespace optiml::rewrite {

Result<std::unique_ptr<Catalogue>> MakeCatalogue(const KernelTask& task,
                                                 const ast::SourceUnit& root,
                                                 const std::vector<LaunchPlan>& plans,
                                                 const TargetLimits& limits,
                                                 const std::vector<std::string>& excluded_kernels,
                                                 const std::vector<LaunchPlan>& checked_plans) {
  std::set<std::string> launched;
  for (const LaunchPlan& plan : plans) {
    for (const LaunchStep& step : plan.steps) {
      if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
        launched.insert(launch->kernel);
      }
    }
  }
  const auto unit = std::make_shared<const ast::SourceUnit>(root);
  std::vector<KernelProgram> programs;
  for (const ast::Function& function : unit->functions) {
    if (!function.is_kernel || function.body == nullptr ||
        launched.count(function.name_expression) == 0) {
      continue;
    }
    KernelProgram one;
    one.function = &function;
    const bool excluded = std::find(excluded_kernels.begin(), excluded_kernels.end(),
                                    function.name) != excluded_kernels.end() ||
                          std::find(excluded_kernels.begin(), excluded_kernels.end(),
                                    function.name_expression) != excluded_kernels.end();
    if (excluded) {
      one.refusal = "excluded: its lifted form does not compute the same";
    } else {
      LiftOutcome outcome = Lift(*unit, function);
      if (auto* program = std::get_if<Program>(&outcome)) {
        one.program = std::move(*program);
      } else {
        one.refusal = std::get<LiftRefusal>(outcome).reason;
      }
    }
    programs.push_back(std::move(one));
  }
  return MakeCatalogueOf(task.source, unit, plans, limits, programs, checked_plans);
}

}  // namespace optiml::rewrite
