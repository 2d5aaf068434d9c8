#ifndef OPTIML_CLI_MODEL_CHOICE_H_
#define OPTIML_CLI_MODEL_CHOICE_H_

// Which language models a run asks, and how much they may cost.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/toolbox.h"
#include "optimize/model_desk.h"

namespace optiml {

struct ModelChoice {
  std::string spec;                   // of the roles without one of their own; empty: none
  std::vector<std::string> for_role;  // "judge=SPEC"
  std::string budget;                 // "tokens=200000", "dollars=2.5", or both with a comma

  bool any() const { return !spec.empty() || !for_role.empty(); }
};

// Declares --model, --model-for and --model-budget.
void AddModelOptions(CLI::App& app, ModelChoice& choice);

// As RunRecord::options keeps them, by flag; paths of scripts are absolute.
std::map<std::string, std::string> FormatModelChoice(const ModelChoice& choice, const CliEnv& env);
ModelChoice ParseModelChoice(const std::map<std::string, std::string>& values);

// Fails with kInvalidArgument, naming the flag.
Result<ModelBudget> ParseModelBudget(const std::string& text);

struct OpenedModels {
  std::vector<std::unique_ptr<ChatModel>> owned;  // one for each spec
  ModelRoles roles;
  ModelBudget budget;
};
// Without `judge` no model is opened for the judge. All share one budget, of which `spent` is gone
// already. Fails when a flag is wrong (kInvalidArgument), and with what the toolbox says where a
// model cannot be opened.
Result<OpenedModels> OpenModels(const ModelChoice& choice, bool judge, const CliEnv& env,
                                Toolbox& tools, const RoleUse& spent = {});

}  // namespace optiml

#endif  // OPTIML_CLI_MODEL_CHOICE_H_
