#include "optimize/model_desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "optimize/interruptible_device.h"

namespace optiml {

namespace {

void TakeTokens(const ChatReply& reply, ExchangeRecord& exchange) {
  // About four bytes a token: a budget has to end with a provider that does not count, too.
  constexpr size_t kBytesPerToken = 4;
  exchange.prompt_tokens = reply.tokens.prompt;
  exchange.completion_tokens = reply.tokens.completion;
  exchange.tokens_estimated = reply.tokens.estimated;
  if (exchange.prompt_tokens + exchange.completion_tokens == 0) {
    exchange.prompt_tokens = static_cast<int64_t>(exchange.request.size() / kBytesPerToken);
    exchange.completion_tokens = static_cast<int64_t>(reply.text.size() / kBytesPerToken);
    exchange.tokens_estimated = true;
  }
}

}  // namespace

ModelDesk::ModelDesk(Parts parts, const std::vector<ExchangeRecord>& earlier)
    : parts_(std::move(parts)) {
  for (const ExchangeRecord& exchange : earlier) {
    Count(exchange);
    if (exchange.failure.empty()) {
      known_replies_[{exchange.role, exchange.request}] = exchange.reply;
    }
  }
}

bool ModelDesk::Has(ModelRole role) const {
  return parts_.models[role] != nullptr;
}

bool ModelDesk::HasAny() const {
  return std::any_of(std::begin(kModelRoles), std::end(kModelRoles),
                     [this](ModelRole role) { return Has(role); });
}

std::string ModelDesk::NameOf(ModelRole role) const {
  return Has(role) ? parts_.models[role]->name() : "";
}

// Notes that a role was given up are no calls.
void ModelDesk::Count(const ExchangeRecord& exchange) {
  if (exchange.request.empty()) {
    return;
  }
  RoleUse& use = uses_[exchange.role];
  use.role = exchange.role;
  ++use.calls;
  use.tokens += exchange.prompt_tokens + exchange.completion_tokens;
  use.dollars += exchange.dollars;
}

std::vector<RoleUse> ModelDesk::Uses() const {
  std::vector<RoleUse> uses;
  for (const ModelRole role : kModelRoles) {
    if (const auto found = uses_.find(ModelRoleName(role)); found != uses_.end()) {
      uses.push_back(found->second);
    }
  }
  return uses;
}

std::optional<std::string> ModelDesk::BudgetSpent() const {
  int64_t tokens = 0;
  double dollars = 0;
  for (const auto& [role, use] : uses_) {
    tokens += use.tokens;
    dollars += use.dollars;
  }
  if (parts_.budget.tokens && tokens >= *parts_.budget.tokens) {
    return fmt::format("the budget of {} tokens is spent", *parts_.budget.tokens);
  }
  if (parts_.budget.dollars && dollars >= *parts_.budget.dollars) {
    return fmt::format("the budget of {} dollars is spent", *parts_.budget.dollars);
  }
  return std::nullopt;
}

Result<void> ModelDesk::GiveUp(ModelRole role, int64_t node, const std::string& why) {
  ExchangeRecord note;
  note.node = node;
  note.role = ModelRoleName(role);
  note.model = NameOf(role);
  note.failure = why;
  note.outcome = fmt::format("the run goes on with the mechanical {}", note.role);
  parts_.models[role] = nullptr;
  OPTIML_TRY(parts_.store->AppendExchange(note));
  if (parts_.say) {
    parts_.say(fmt::format("{} {}: {}; {}", note.role, note.model, why, note.outcome));
  }
  return {};
}

Result<void> ModelDesk::Strike(ModelRole role, int64_t node, const std::string& why) {
  if (++strikes_[ModelRoleName(role)] < kMostStrikes || !Has(role)) {
    return {};
  }
  return GiveUp(role, node,
                fmt::format("{} answers in a row could not be used, the last one since {}",
                            kMostStrikes, why));
}

ChatRequest ModelDesk::MakeRequest(const Talk& talk) const {
  ChatRequest request;
  request.messages = talk.messages;
  request.max_tokens = talk.max_tokens;
  request.seed = parts_.seed;
  request.json_schema = std::string(ReplySchema(talk.prompt));
  request.stop = parts_.stop;
  return request;
}

// What the failure of a call means for the rest of the run. An Error: the run ends.
Result<std::optional<std::string>> ModelDesk::Failed(const Talk& talk, ExchangeRecord exchange,
                                                     const Error& error) {
  exchange.failure = error.message();
  exchange.outcome = "the mechanical form answered";
  OPTIML_TRY(parts_.store->AppendExchange(exchange));
  Count(exchange);
  if (error.code() != ErrorCode::kUnavailable) {
    OPTIML_TRY(Strike(talk.role, talk.node, error.message()));
    return std::optional<std::string>();
  }
  const ChatModel* model = parts_.models[talk.role];
  for (const ModelRole role : kModelRoles) {
    if (parts_.models[role] == model) {
      OPTIML_TRY(GiveUp(role, talk.node, error.message()));
    }
  }
  return std::optional<std::string>();
}

Result<ModelDesk::Turn> ModelDesk::OneTurn(const Talk& talk, const TakeReply& take) {
  ExchangeRecord exchange;
  exchange.node = talk.node;
  exchange.role = ModelRoleName(talk.role);
  exchange.prompt = PromptVersion(talk.prompt);
  exchange.model = NameOf(talk.role);
  exchange.request = FormatMessages(talk.messages);
  Turn turn;
  const auto known = known_replies_.find({exchange.role, exchange.request});
  if (known != known_replies_.end()) {
    turn.reply = known->second;
  } else {
    if (const std::optional<std::string> spent = BudgetSpent()) {
      for (const ModelRole role : kModelRoles) {
        if (Has(role)) {
          OPTIML_TRY(GiveUp(role, talk.node, *spent));
        }
      }
      return turn;
    }
    const Stopwatch watch(*parts_.clock);
    Result<ChatReply> reply = parts_.models[talk.role]->Complete(MakeRequest(talk));
    exchange.wall_time = watch.Elapsed();
    OPTIML_TRY(InterruptibleDevice::CheckStop(parts_.stop));
    if (!reply) {
      if (reply.error().code() == ErrorCode::kInterrupted) {
        return std::move(reply).error();
      }
      OPTIML_TRY(Failed(talk, std::move(exchange), reply.error()));
      return turn;
    }
    turn.reply = reply->text;
    TakeTokens(*reply, exchange);
    exchange.dollars = reply->dollars;
    exchange.reply = std::move(reply->text);
    if (reply->end == ChatReply::End::kLength) {
      turn.refusal = fmt::format("the answer was cut off after {} tokens: it must be shorter",
                                 exchange.completion_tokens);
    }
  }
  if (turn.refusal.empty()) {
    if (const Result<void> taken = take(*turn.reply); !taken) {
      turn.refusal = taken.error().message();
    }
  }
  if (known == known_replies_.end()) {
    exchange.outcome = turn.refusal.empty() ? "used" : turn.refusal;
    OPTIML_TRY(parts_.store->AppendExchange(exchange));
    Count(exchange);
  }
  return turn;
}

Result<bool> ModelDesk::Ask(Talk& talk, const TakeReply& take) {
  OPTIML_CHECK(Has(talk.role), "a role without a model is not asked");
  OPTIML_ASSIGN(Turn turn, OneTurn(talk, take));
  if (!turn.reply) {
    return false;
  }
  talk.messages.push_back({ChatRole::kAssistant, *turn.reply});
  if (turn.refusal.empty()) {
    strikes_[ModelRoleName(talk.role)] = 0;
    return true;
  }
  return Repair(talk, turn.refusal, take);
}

Result<bool> ModelDesk::Repair(Talk& talk, const std::string& problem, const TakeReply& take) {
  OPTIML_CHECK(!talk.repaired, "an answer is repaired once");
  talk.repaired = true;
  if (!Has(talk.role)) {
    return false;
  }
  const std::vector<ChatMessage> repair = RenderPrompt(Prompt::kRepair, {{"problem", problem}});
  talk.messages.insert(talk.messages.end(), repair.begin(), repair.end());
  OPTIML_ASSIGN(Turn turn, OneTurn(talk, take));
  if (!turn.reply) {
    return false;
  }
  talk.messages.push_back({ChatRole::kAssistant, *turn.reply});
  if (!turn.refusal.empty()) {
    OPTIML_TRY(Strike(talk.role, talk.node, turn.refusal));
    return false;
  }
  strikes_[ModelRoleName(talk.role)] = 0;
  return true;
}

}  // namespace optiml
