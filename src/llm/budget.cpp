#include "llm/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "llm/token_estimate.h"

namespace optiml {

BudgetSpent ModelLedger::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

Result<void> ModelLedger::Fits(int64_t tokens, double dollars) const {
  const int64_t used_tokens = spent_.tokens() + reserved_tokens_;
  if (limits_.tokens && used_tokens + tokens > *limits_.tokens) {
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("the budget of {} tokens is spent: {} are left, and the request may "
                    "take {}",
                    *limits_.tokens, std::max<int64_t>(0, *limits_.tokens - used_tokens), tokens));
  }
  const double used_dollars = spent_.dollars + reserved_dollars_;
  if (limits_.dollars && used_dollars + dollars > *limits_.dollars) {
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("the budget of ${:.2f} is spent: ${:.4f} are left, and the request "
                    "may cost ${:.4f}",
                    *limits_.dollars, std::max(0.0, *limits_.dollars - used_dollars), dollars));
  }
  return {};
}

Result<void> ModelLedger::Reserve(int64_t tokens, double dollars) {
  const std::lock_guard lock(mutex_);
  OPTIML_TRY(Fits(tokens, dollars));
  reserved_tokens_ += tokens;
  reserved_dollars_ += dollars;
  return {};
}

void ModelLedger::Release(int64_t tokens, double dollars) {
  const std::lock_guard lock(mutex_);
  reserved_tokens_ -= tokens;
  reserved_dollars_ = reserved_tokens_ == 0 ? 0 : reserved_dollars_ - dollars;
}

void ModelLedger::Add(const TokenUse& tokens, double dollars) {
  const std::lock_guard lock(mutex_);
  ++spent_.requests;
  spent_.prompt_tokens += tokens.prompt;
  spent_.completion_tokens += tokens.completion;
  spent_.dollars += dollars;
}

Result<void> ModelLedger::AddLost(const TokenUse& tokens, double dollars) {
  const std::lock_guard lock(mutex_);
  spent_.prompt_tokens += tokens.prompt;
  spent_.completion_tokens += tokens.completion;
  spent_.lost_tokens += tokens.prompt + tokens.completion;
  spent_.dollars += dollars;
  return Fits(0, 0);
}

int64_t BudgetedChatModel::CarefulPromptTokens(const ChatRequest& request) const {
  const double text = static_cast<double>(PromptBytes(request)) * tokens_per_byte_;
  return tokens_of_template_ + static_cast<int64_t>(std::ceil(text)) +
         kTokensAroundAMessage * static_cast<int64_t>(request.messages.size());
}

void BudgetedChatModel::Learn(const ChatRequest& request, int64_t prompt_tokens) {
  // Below it a template's own text weighs more than the prompt's.
  static constexpr int64_t kLongPrompt = 1000;
  const int64_t more = prompt_tokens - CarefulPromptTokens(request);
  if (more <= 0) {
    return;
  }
  if (const int64_t bytes = PromptBytes(request); bytes < kLongPrompt) {
    tokens_of_template_ += more;
  } else {
    tokens_per_byte_ += static_cast<double>(more) / static_cast<double>(bytes);
  }
}

Result<ChatReply> BudgetedChatModel::Complete(const ChatRequest& request) {
  TokenUse most;
  most.prompt = CarefulPromptTokens(request);
  most.completion = request.max_tokens;
  const int64_t tokens = most.prompt + most.completion;
  const double dollars = price_ ? price_->Dollars(most) : 0;
  OPTIML_TRY(budget_->Reserve(tokens, dollars));
  Result<ChatReply> reply = inner_->Complete(request);
  budget_->Release(tokens, dollars);
  if (reply) {
    budget_->Add(reply->tokens, reply->dollars);
    if (!reply->tokens.estimated) {
      Learn(request, reply->tokens.prompt);
    }
  }
  return reply;
}

}  // namespace optiml
