// FindLauncher and MakeLaunchPlan.

#include <fmt/format.h>

#include "frontend/frontend.h"
#include "frontend/interpreter.h"
#include "frontend/launcher_entry.h"

namespace optiml {

namespace {

bool IsHostFunction(const ast::Function& function) {
  return function.is_host && !function.is_template && function.method_of.empty() &&
         function.body != nullptr;
}

}  // namespace

namespace frontend {

std::variant<const ast::Function*, Refusal> FindEntry(const ast::SourceUnit& unit,
                                                      const std::string& entry) {
  const ast::Function* found = nullptr;
  std::string known;
  for (const ast::Function& function : unit.functions) {
    if (!IsHostFunction(function)) {
      continue;
    }
    known += (known.empty() ? "" : ", ") + function.name;
    if (function.name != entry) {
      continue;
    }
    if (found != nullptr) {
      return Refusal{fmt::format("{}:{}: there is more than one host function \"{}\"", unit.path,
                                 function.line, entry),
                     function.line};
    }
    found = &function;
  }
  if (found == nullptr) {
    return Refusal{fmt::format("{}: there is no host function \"{}\" (host functions: {})",
                               unit.path, entry, known.empty() ? "none" : known),
                   0};
  }
  if (!unit.hidden_effects.empty()) {
    const ast::HiddenEffect& hidden = unit.hidden_effects.front();
    return Refusal{
        fmt::format("{}:{}: {}, which cannot be traced", unit.path, hidden.line, hidden.what),
        hidden.line};
  }
  return found;
}

}  // namespace frontend

using frontend::FindEntry;

std::variant<std::vector<LauncherParameter>, Refusal> FindLauncher(const ast::SourceUnit& unit,
                                                                   const std::string& entry) {
  const auto found = FindEntry(unit, entry);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    return *refusal;
  }
  std::vector<LauncherParameter> parameters;
  for (const int id : std::get<const ast::Function*>(found)->parameters) {
    const ast::Variable& variable = unit.variables[static_cast<size_t>(id)];
    parameters.push_back({variable.name, variable.type, variable.line});
  }
  return parameters;
}

PlanOutcome MakeLaunchPlan(const ast::SourceUnit& unit, const std::string& entry,
                           const std::vector<LauncherArgument>& arguments,
                           const PlanLimits& limits) {
  const auto found = FindEntry(unit, entry);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    return *refusal;
  }
  try {
    return frontend::Interpreter(unit, limits)
        .Run(*std::get<const ast::Function*>(found), arguments);
  } catch (const frontend::Refused& refused) {
    return refused.refusal;
  }
}

}  // namespace optiml
