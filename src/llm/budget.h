#ifndef OPTIML_LLM_BUDGET_H_
#define OPTIML_LLM_BUDGET_H_

// ModelLedger: the account of what language models may spend and have spent, in tokens and dollars.
//
//   limit  >=  spent + reserved           holds at any time as far as the reservations are right
//
// A request reserves the most that it could cost before it is sent and is refused when that does
// not fit; afterwards the reservation is replaced by what it did cost. One budget may be shared by
// the models of several roles.
//
// Threads: safe.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "llm/chat_model.h"
#include "llm/prices.h"

namespace optiml {

struct BudgetLimits {
  std::optional<int64_t> tokens;  // prompt and completion together
  std::optional<double> dollars;
};

struct BudgetSpent {
  int64_t requests = 0;  // answered ones
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  // Of the two above: of attempts whose answer was lost (the endpoint died in the middle of it).
  int64_t lost_tokens = 0;
  double dollars = 0;

  int64_t tokens() const { return prompt_tokens + completion_tokens; }
};

class ModelLedger {
 public:
  explicit ModelLedger(BudgetLimits limits) : limits_(limits) {}

  const BudgetLimits& limits() const { return limits_; }
  BudgetSpent spent() const;

  // Fails with kUnavailable, naming what is left, when it does not fit; nothing is reserved then.
  Result<void> Reserve(int64_t tokens, double dollars);
  // Gives a reservation back.
  void Release(int64_t tokens, double dollars);
  // What an answered request cost.
  void Add(const TokenUse& tokens, double dollars);
  // What an attempt cost that brought no answer, while its request is still reserved. Fails with
  // kUnavailable when the budget cannot carry another attempt; what was lost is counted in any
  // case.
  Result<void> AddLost(const TokenUse& tokens, double dollars);

 private:
  const BudgetLimits limits_;
  // With the mutex held: whether `tokens` and `dollars` more fit.
  Result<void> Fits(int64_t tokens, double dollars) const;

  mutable std::mutex mutex_;
  BudgetSpent spent_;
  int64_t reserved_tokens_ = 0;
  double reserved_dollars_ = 0;
};

// Asks `inner` only for what the budget can carry: before each request the prompt's tokens by a
// careful estimate, and max_tokens, are reserved.
class BudgetedChatModel : public ChatModel {
 public:
  // `price` is absent where tokens cost nothing or no price is known.
  BudgetedChatModel(std::unique_ptr<ChatModel> inner, std::shared_ptr<ModelLedger> budget,
                    std::optional<Price> price)
      : inner_(std::move(inner)), budget_(std::move(budget)), price_(price) {}

  std::string name() const override { return inner_->name(); }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  int64_t CarefulPromptTokens(const ChatRequest& request) const;
  // Takes from a reply what prompts really cost.
  void Learn(const ChatRequest& request, int64_t prompt_tokens);

  std::unique_ptr<ChatModel> inner_;
  std::shared_ptr<ModelLedger> budget_;
  std::optional<Price> price_;
  // The most tokens that a byte of a prompt has taken so far. It starts at one token for two bytes,
  // which English, C++ and JSON stay below (3 to 4 bytes a token).
  double tokens_per_byte_ = 0.5;
  // The most tokens that a short prompt took beyond that: what the model's template adds.
  int64_t tokens_of_template_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_LLM_BUDGET_H_
