#include "rewrite/lift/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rewrite/lift/events.h"
#include "rewrite/lift/executor.h"
#include "rewrite/lift/points.h"
#include "rewrite/lift/stages.h"
#include "rewrite/program/access.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite {

namespace {

using lifting::LiftStop;
using lifting::Stop;

std::set<std::string> NamesOf(const ast::SourceUnit& unit) {
  std::set<std::string> names;
  for (const ast::Function& function : unit.functions) {
    names.insert(function.name);
  }
  for (const ast::Variable& variable : unit.variables) {
    if (variable.storage != ast::Storage::kLocal && variable.storage != ast::Storage::kParameter) {
      names.insert(variable.name);
    }
  }
  return names;
}

void MarkUses(Program* program) {
  for (Parameter& parameter : program->parameters) {
    parameter.is_read = false;
    parameter.is_written = false;
    for (const Access& access : Accesses(*program)) {
      if (access.buffer == parameter.name) {
        (access.is_store ? parameter.is_written : parameter.is_read) = true;
      }
    }
  }
}

void KeepAssumptions(const std::vector<ExprPtr>& assumptions, Program* program) {
  for (const ExprPtr& written : assumptions) {
    const ExprPtr assumption = Simplify(written);
    if (assumption->kind == ExprKind::kInt && assumption->int_value != 0) {
      continue;
    }
    Visit(assumption, [&](const Expr& node) {
      if (node.kind == ExprKind::kLoad ||
          (node.kind == ExprKind::kSymbol && node.name.find_first_of("#@") != std::string::npos)) {
        Stop(program->line_begin, "a trip count that is not known to be positive");
      }
    });
    const bool known = std::any_of(program->assumptions.begin(), program->assumptions.end(),
                                   [&](const ExprPtr& other) { return Equal(other, assumption); });
    if (!known) {
      program->assumptions.push_back(assumption);
    }
  }
}

Program LiftOrStop(const ast::SourceUnit& unit, const ast::Function& kernel) {
  if (!kernel.is_kernel) {
    Stop(kernel.line, fmt::format("{} is no kernel", kernel.name));
  }
  if (!kernel.cluster_dims.empty()) {
    Stop(kernel.line, "kernels of thread block clusters are not lifted");
  }
  lifting::Executor executor(unit, kernel);
  executor.Run();
  lifting::Points points =
      lifting::FindPoints(std::move(executor.events()), executor.hints(), kernel.line);

  Program program;
  program.kernel = kernel.name;
  program.name_expression = kernel.name_expression;
  program.parameters = executor.parameters();
  program.dims = points.dims;
  program.line_begin = kernel.line;
  program.line_end = kernel.end_line;
  program.regroups_floats = points.regroups_floats;
  program.stages = lifting::BuildStages(points);
  const std::set<std::string> names = NamesOf(unit);
  program.reserved_names.assign(names.begin(), names.end());
  std::set<std::string> taken = names;
  for (const Parameter& parameter : program.parameters) {
    taken.insert(parameter.name);
  }
  lifting::NameEverything(&program, std::move(taken));
  KeepAssumptions(executor.assumptions(), &program);
  KeepAssumptions(points.assumptions, &program);
  MarkUses(&program);
  if (const std::optional<std::string> problem = Validate(program)) {
    Stop(kernel.line, fmt::format("the kernel has no form as a program: {}", *problem));
  }
  lifting::CheckIndependence(program);
  return program;
}

}  // namespace

LiftOutcome Lift(const ast::SourceUnit& unit, const ast::Function& kernel) {
  try {
    return LiftOrStop(unit, kernel);
  } catch (const LiftStop& stop) {
    return LiftRefusal{stop.reason, stop.line};
  }
}

}  // namespace optiml::rewrite
