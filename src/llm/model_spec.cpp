#include "llm/model_spec.h"

#include <fmt/format.h>

#include <utility>

#include "base/file_system.h"
#include "llm/api_key.h"
#include "llm/http_chat_model.h"
#include "llm/model_library.h"
#include "llm/prices.h"
#include "llm/recording_chat_model.h"
#include "llm/replay_chat_model.h"

namespace optiml {
namespace {

constexpr char kOpenAi[] = "https://api.openai.com/v1";
constexpr char kForms[] =
    "known forms: https://HOST/v1#MODEL, openai:MODEL, local:PATH.gguf, local:NAME, mot:BUNDLE, "
    "replay:FILE, script:FILE";

Error BadSpec(const std::string& text, const std::string& why) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("model \"{}\": {} ({})", text, why, kForms));
}

// What stands behind `prefix` in `text`; absent when the text begins otherwise.
std::optional<std::string> Behind(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
}

Result<ModelSpec> ParseUrl(const std::string& text) {
  ModelSpec spec;
  const size_t hash = text.find('#');
  const size_t host = text.find("//") + 2;
  spec.url = text.substr(0, hash);
  while (spec.url.ends_with('/') && spec.url.size() > host) {
    spec.url.pop_back();
  }
  spec.model = hash == std::string::npos ? "default" : text.substr(hash + 1);
  const std::string authority = spec.url.substr(host, spec.url.find('/', host) - host);
  // Neither is shown: it may hold a secret.
  if (authority.find('@') != std::string::npos || spec.url.find('?') != std::string::npos) {
    return BadSpec(text.substr(0, host) + "...",
                   "a URL with a password or a query; a key comes from OPTIML_API_KEY or a file");
  }
  if (authority.empty() || spec.model.empty() ||
      text.find_first_of(" \t\r\n") != std::string::npos) {
    return BadSpec(text, "not a URL of an endpoint");
  }
  return spec;
}

std::filesystem::path Resolved(const ModelOptions& options, const std::filesystem::path& path) {
  return options.working_directory.empty() ? path : options.working_directory / path;
}

// A provider, and what its tokens cost.
struct Provider {
  std::unique_ptr<ChatModel> model;
  std::optional<Price> price;
};

std::function<Result<void>(const TokenUse&, double)> LostTo(
    const std::shared_ptr<ModelLedger>& budget) {
  if (budget == nullptr) {
    return nullptr;
  }
  return
      [budget](const TokenUse& tokens, double dollars) { return budget->AddLost(tokens, dollars); };
}

Result<Provider> OpenHttp(const ModelSpec& spec, const ModelOptions& options) {
  PriceTable prices = PriceTable::BuiltIn();
  if (!options.prices_file.empty()) {
    const std::filesystem::path file = Resolved(options, options.prices_file);
    OPTIML_ASSIGN(const std::string text, ReadFile(file));
    OPTIML_TRY(prices.Add(text, file.string()));
  }
  HttpChatModelOptions http;
  http.base_url = spec.url;
  http.model = spec.model;
  http.price = prices.Find(spec.model);
  if (!http.price && options.budget != nullptr && options.budget->limits().dollars) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("no price of model \"{}\" is known, so a budget in dollars cannot be "
                             "kept: add it to a file of prices, or limit the tokens",
                             spec.model));
  }
  const std::filesystem::path key_file =
      options.key_file.empty() ? options.key_file : Resolved(options, options.key_file);
  OPTIML_ASSIGN(http.key, LoadApiKey(options.variables, key_file));
  http.rate_limiter =
      options.rate_limiter != nullptr ? options.rate_limiter : std::make_shared<RateLimiter>();
  http.on_lost = LostTo(options.budget);
  const std::optional<Price> price = http.price;
  return Provider{std::make_unique<HttpChatModel>(std::move(http)), price};
}

Result<Provider> OpenLocal(const ModelSpec& spec, const ModelOptions& options) {
  std::filesystem::path file = Resolved(options, spec.file);
  if (!spec.model.empty()) {
    file = ModelLibrary(options.library).PathOf(spec.model);
    std::error_code ignored;
    if (HasLocalModels() && !std::filesystem::exists(file, ignored)) {
      return Error(
          ErrorCode::kNotFound,
          fmt::format("model \"{}\" is not in the library ({}): `optiml models list` shows "
                      "what is, and what can be fetched",
                      spec.model, options.library.string()));
    }
  }
  LocalChatModelOptions local = options.local;
  local.on_lost = LostTo(options.budget);
  OPTIML_ASSIGN(std::unique_ptr<ChatModel> model, OpenLocalChatModel(file, local));
  return Provider{std::move(model), std::nullopt};
}

Result<Provider> OpenProvider(const ModelSpec& spec, const ModelOptions& options) {
  switch (spec.kind) {
    case ModelSpec::Kind::kHttp:
      return OpenHttp(spec, options);
    case ModelSpec::Kind::kLocal:
      return OpenLocal(spec, options);
    case ModelSpec::Kind::kReplay:
      break;
  }
  OPTIML_ASSIGN(std::unique_ptr<ChatModel> model,
                ReplayChatModel::Open(Resolved(options, spec.file)));
  return Provider{std::move(model), std::nullopt};
}

}  // namespace

Result<ModelSpec> ParseModelSpec(const std::string& text) {
  if (text.starts_with("http://") || text.starts_with("https://")) {
    return ParseUrl(text);
  }
  if (const auto model = Behind(text, "openai:"); model && !model->empty()) {
    return ParseUrl(std::string(kOpenAi) + "#" + *model);
  }
  ModelSpec spec;
  if (const auto file = Behind(text, "replay:"); file && !file->empty()) {
    spec.kind = ModelSpec::Kind::kReplay;
    spec.file = *file;
    return spec;
  }
  if (const auto what = Behind(text, "local:"); what && !what->empty()) {
    spec.kind = ModelSpec::Kind::kLocal;
    const bool is_file = what->ends_with(".gguf") || what->find('/') != std::string::npos;
    if (is_file) {
      spec.file = *what;
    } else {
      spec.model = *what;
    }
    return spec;
  }
  return BadSpec(text, "not a model");
}

Result<std::unique_ptr<ChatModel>> OpenModel(const ModelSpec& spec, const ModelOptions& options) {
  OPTIML_ASSIGN(Provider provider, OpenProvider(spec, options));
  std::unique_ptr<ChatModel> model = std::move(provider.model);
  if (!options.record.empty()) {
    OPTIML_ASSIGN(model,
                  RecordingChatModel::Open(std::move(model), Resolved(options, options.record),
                                           LostTo(options.budget)));
  }
  if (options.budget != nullptr) {
    model = std::make_unique<BudgetedChatModel>(std::move(model), options.budget, provider.price);
  }
  return model;
}

}  // namespace optiml
