#ifndef OPTIML_LLM_PRICES_H_
#define OPTIML_LLM_PRICES_H_

// PriceTable: what the tokens of a hosted model cost. The built-in table (prices.json) is data with
// a date; a file of the same form adds to it and wins over it, since prices change.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/embedded_text.h"
#include "base/result.h"
#include "llm/chat_model.h"

namespace optiml {

// Dollars per million tokens; each finite and >= 0.
struct Price {
  double prompt = 0;
  double cached_prompt = 0;  // of prompt tokens that the provider read from a cache
  double completion = 0;

  double Dollars(const TokenUse& tokens) const;
};

class PriceTable {
 public:
  static PriceTable BuiltIn();
  // Adds the prices of a text of prices.json's form; `where` stands in messages. Fails with kParse.
  Result<void> Add(std::string_view json, const std::string& where);

  // Of the model with this name, or of the same name without a date ("gpt-4o-2024-08-06").
  std::optional<Price> Find(const std::string& model) const;
  // When the newest part of the table was written down: "2026-06".
  const std::string& as_of() const { return as_of_; }

 private:
  std::map<std::string, Price> prices_;
  std::string as_of_;
};

std::span<const EmbeddedText> EmbeddedPrices();

}  // namespace optiml

#endif  // OPTIML_LLM_PRICES_H_
