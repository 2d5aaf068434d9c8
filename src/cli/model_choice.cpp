#include "cli/model_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>

#include "cli/open_model.h"
#include "llm/budget.h"

namespace optiml {
namespace {

Error BadFlag(const char* flag, const std::string& message) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", flag, message));
}

struct RoleSpec {
  ModelRole role;
  std::string spec;
};

Result<RoleSpec> ParseRoleSpec(const std::string& text) {
  const size_t equals = text.find('=');
  const std::optional<ModelRole> role = ParseModelRole(text.substr(0, equals));
  if (!role || equals == std::string::npos || equals + 1 == text.size()) {
    return BadFlag(
        "--model-for",
        fmt::format("\"{}\" is not ROLE=SPEC (roles: diagnoser, proposer, judge)", text));
  }
  return RoleSpec{*role, text.substr(equals + 1)};
}

template <typename T>
bool ParseWhole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void AddModelOptions(CLI::App& app, ModelChoice& choice) {
  const std::string group = "Language models";
  app.add_option("--model", choice.spec,
                 "a language model that diagnoses, proposes edits and judges (default: none)")
      ->type_name("SPEC")
      ->group(group);
  app.add_option("--model-for", choice.for_role,
                 "another model for one role, for example judge=SPEC; the roles are diagnoser, "
                 "proposer and judge, and SPEC may be none")
      ->type_name("ROLE=SPEC")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--model-budget", choice.budget,
                 "what the models of the run may cost: tokens=N, dollars=X, or both with a comma")
      ->type_name("BUDGET")
      ->group(group);
}

std::map<std::string, std::string> FormatModelChoice(const ModelChoice& choice, const CliEnv& env) {
  std::map<std::string, std::string> values;
  if (!choice.spec.empty()) {
    values["model"] = WithAbsolutePaths(choice.spec, env);
  }
  for (const std::string& one : choice.for_role) {
    const size_t equals = one.find('=');
    std::string& lines = values["model-for"];
    lines += lines.empty() ? "" : "\n";
    lines += equals == std::string::npos
                 ? one
                 : one.substr(0, equals + 1) + WithAbsolutePaths(one.substr(equals + 1), env);
  }
  if (!choice.budget.empty()) {
    values["model-budget"] = choice.budget;
  }
  return values;
}

ModelChoice ParseModelChoice(const std::map<std::string, std::string>& values) {
  ModelChoice choice;
  const auto value = [&](const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  };
  choice.spec = value("model");
  choice.budget = value("model-budget");
  std::string lines = value("model-for");
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    choice.for_role.push_back(lines.substr(0, end));
    lines.erase(0, end + 1);
  }
  return choice;
}

Result<ModelBudget> ParseModelBudget(const std::string& text) {
  ModelBudget budget;
  std::string rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string part = rest.substr(0, end);
    rest.erase(0, end + 1);
    int64_t tokens = 0;
    double dollars = 0;
    if (part.starts_with("tokens=") && ParseWhole(std::string_view(part).substr(7), tokens) &&
        tokens > 0) {
      budget.tokens = tokens;
    } else if (part.starts_with("dollars=") &&
               ParseWhole(std::string_view(part).substr(8), dollars) && std::isfinite(dollars) &&
               dollars > 0) {
      budget.dollars = dollars;
    } else {
      return BadFlag("--model-budget",
                     fmt::format("bad value \"{}\" (allowed: tokens=N, dollars=X)", part));
    }
  }
  return budget;
}

Result<OpenedModels> OpenModels(const ModelChoice& choice, bool judge, const CliEnv& env,
                                Toolbox& tools, const RoleUse& spent) {
  OpenedModels opened;
  OPTIML_ASSIGN(opened.budget, ParseModelBudget(choice.budget));
  const auto budget =
      std::make_shared<ModelLedger>(BudgetLimits{opened.budget.tokens, opened.budget.dollars});
  TokenUse earlier;
  earlier.completion = spent.tokens;
  budget->Add(earlier, spent.dollars);
  std::map<ModelRole, std::string> specs;
  for (const ModelRole role : kModelRoles) {
    specs[role] = choice.spec;
  }
  for (const std::string& text : choice.for_role) {
    OPTIML_ASSIGN(RoleSpec one, ParseRoleSpec(text));
    specs[one.role] = one.spec == "none" ? "" : std::move(one.spec);
  }
  if (!judge) {
    specs[ModelRole::kJudge].clear();
  }
  std::map<std::string, ChatModel*> by_spec;
  for (const auto& [role, spec] : specs) {
    if (spec.empty()) {
      continue;
    }
    ChatModel*& model = by_spec[spec];
    if (model == nullptr) {
      OPTIML_ASSIGN(std::unique_ptr<ChatModel> made, tools.MakeChatModel(spec, env, budget));
      model = made.get();
      opened.owned.push_back(std::move(made));
    }
    opened.roles[role] = model;
  }
  return opened;
}

}  // namespace optiml
