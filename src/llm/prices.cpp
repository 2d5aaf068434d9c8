#include "llm/prices.h"

#include <fmt/format.h>

#include <cmath>
#include <regex>

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

Result<Price> ParsePrice(const Json& entry, const std::string& where) {
  Price price;
  const std::map<std::string, double*> fields = {{"prompt", &price.prompt},
                                                 {"cached_prompt", &price.cached_prompt},
                                                 {"completion", &price.completion}};
  if (!entry.is_object() || !entry.contains("prompt") || !entry.contains("completion")) {
    return Error(ErrorCode::kParse,
                 where +
                     ": a price has the fields prompt and completion, and may have "
                     "cached_prompt");
  }
  for (const auto& [name, value] : entry.items()) {
    const auto field = fields.find(name);
    if (field == fields.end()) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}: unknown field \"{}\" (known: prompt cached_prompt completion)",
                               where, name));
    }
    if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>())) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}: {} is a number of dollars from 0", where, name));
    }
    *field->second = value.get<double>();
  }
  if (!entry.contains("cached_prompt")) {
    price.cached_prompt = price.prompt;
  }
  return price;
}

}  // namespace

double Price::Dollars(const TokenUse& tokens) const {
  const auto fresh = static_cast<double>(tokens.prompt - tokens.cached_prompt);
  return (fresh * prompt + static_cast<double>(tokens.cached_prompt) * cached_prompt +
          static_cast<double>(tokens.completion) * completion) /
         1e6;
}

PriceTable PriceTable::BuiltIn() {
  PriceTable table;
  for (const EmbeddedText& file : EmbeddedPrices()) {
    const auto added = table.Add(file.text, std::string(file.name));
    OPTIML_CHECK(added.has_value(), "the built-in table of prices is not well formed");
  }
  return table;
}

Result<void> PriceTable::Add(std::string_view json, const std::string& where) {
  const Json table = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!table.is_object() || !table.contains("models") || !table["models"].is_object() ||
      table.value("dollars_per", Json()) != Json("million tokens")) {
    return Error(ErrorCode::kParse,
                 where +
                     ": a table of prices is {\"as_of\": \"2026-06\", \"dollars_per\": "
                     "\"million tokens\", \"models\": {NAME: {\"prompt\": X, \"completion\": "
                     "Y}}}");
  }
  std::map<std::string, Price> added;
  for (const auto& [model, entry] : table["models"].items()) {
    OPTIML_ASSIGN(added[model], ParsePrice(entry, fmt::format("{}: \"{}\"", where, model)));
  }
  for (const auto& [model, price] : added) {
    prices_[model] = price;
  }
  if (const Json& as_of = table.value("as_of", Json()); as_of.is_string()) {
    as_of_ = std::max(as_of_, as_of.get<std::string>());
  }
  return {};
}

std::optional<Price> PriceTable::Find(const std::string& model) const {
  static const std::regex kDate("-20[0-9]{2}-?[0-9]{2}-?[0-9]{2}$");
  for (const std::string& name : {model, std::regex_replace(model, kDate, "")}) {
    if (const auto found = prices_.find(name); found != prices_.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

}  // namespace optiml
