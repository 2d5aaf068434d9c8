#include "cli/open_model.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "cli/mot_actions.h"
#include "llm/model_spec.h"
#include "llm/scripted_chat_model.h"

namespace optiml {
namespace {

constexpr std::string_view kScript = "script:";
constexpr std::string_view kMot = "mot:";
constexpr std::string_view kReplay = "replay:";
constexpr std::string_view kLocal = "local:";

std::string Behind(const std::string& spec, std::string_view scheme) {
  return spec.substr(scheme.size());
}

Result<std::unique_ptr<ChatModel>> OpenScript(const std::string& file, const CliEnv& env) {
  OPTIML_ASSIGN(const std::string text, ReadFile(env.Resolve(file)));
  std::deque<std::string> replies;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_string() && !json.is_object()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}:{}: neither a JSON string nor an object", file, number));
    }
    replies.push_back(json.is_string() ? json.get<std::string>() : line);
  }
  return std::unique_ptr<ChatModel>(std::make_unique<ScriptedChatModel>(std::move(replies)));
}

std::unique_ptr<ChatModel> Charged(std::unique_ptr<ChatModel> model,
                                   const std::shared_ptr<ModelLedger>& budget) {
  return budget == nullptr
             ? std::move(model)
             : std::make_unique<BudgetedChatModel>(std::move(model), budget, std::nullopt);
}

}  // namespace

Result<std::unique_ptr<ChatModel>> OpenModelByName(const std::string& spec, const CliEnv& env,
                                                   const std::shared_ptr<ModelLedger>& budget) {
  if (spec.starts_with(kScript)) {
    OPTIML_ASSIGN(std::unique_ptr<ChatModel> model, OpenScript(Behind(spec, kScript), env));
    return Charged(std::move(model), budget);
  }
  if (spec.starts_with(kMot)) {
    OPTIML_ASSIGN(std::unique_ptr<ChatModel> model, OpenMotModel(Behind(spec, kMot), env));
    return Charged(std::move(model), budget);
  }
  OPTIML_ASSIGN(const ModelSpec parsed, ParseModelSpec(spec));
  ModelOptions options;
  options.variables = env.variables;
  options.working_directory = env.working_directory;
  options.prices_file = env.Variable("OPTIML_PRICES").value_or("");
  if (const auto cache = env.CacheDirectory()) {
    options.library = *cache / "models";
  }
  options.budget = budget;
  options.local.memory_bytes = env.memory_bytes;
  return OpenModel(parsed, options);
}

std::string WithAbsolutePaths(const std::string& spec, const CliEnv& env) {
  for (const std::string_view scheme : {kScript, kMot, kReplay, kLocal}) {
    // A name of the model library is no path.
    if (spec.starts_with(scheme) && (scheme != kLocal || spec.ends_with(".gguf"))) {
      return std::string(scheme) + env.Resolve(Behind(spec, scheme)).string();
    }
  }
  return spec;
}

}  // namespace optiml
