#ifndef OPTIML_OPTIMIZE_MODEL_DESK_H_
#define OPTIML_OPTIMIZE_MODEL_DESK_H_

// ModelDesk: the one place where a session asks language models. It keeps the account of calls,
// tokens and dollars for each role, stops at the budget, writes every exchange to the store, and
// takes a role's model out of the run when it fails for good; the run then goes on with the role's
// mechanical form, and says so once.
//
//   a model that cannot be reached, or a spent budget     every role of that model, at once
//   kMostStrikes answers in a row that cannot be used     the role
//
// A question that the record has an answer for is answered from the record: what a killed process
// had paid for is not asked again. Threads: one.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "llm/chat_model.h"
#include "prompt/prompts.h"
#include "store/run_store.h"

namespace optiml {

// The models of a run, borrowed; null: the role's mechanical form. Several roles may share one.
struct ModelRoles {
  std::array<ChatModel*, std::size(kModelRoles)> models{};
  ChatModel*& operator[](ModelRole role) { return models[static_cast<size_t>(role)]; }
  ChatModel* operator[](ModelRole role) const { return models[static_cast<size_t>(role)]; }
};

// Of a whole run, with what earlier processes spent.
struct ModelBudget {
  std::optional<int64_t> tokens;  // prompt and completion
  std::optional<double> dollars;
};

// What a role has cost.
struct RoleUse {
  std::string role;
  int calls = 0;
  int64_t tokens = 0;
  double dollars = 0;
};

inline constexpr int kMostStrikes = 3;

class ModelDesk {
 public:
  struct Parts {
    ModelRoles models;
    ModelBudget budget;
    uint64_t seed = 1;
    RunStore* store = nullptr;
    const Clock* clock = nullptr;
    const std::atomic<bool>* stop = nullptr;      // may be null
    std::function<void(const std::string&)> say;  // once for each role that is given up
  };
  ModelDesk(Parts parts, const std::vector<ExchangeRecord>& earlier);

  // Whether there is a model for the role that has not been given up.
  bool Has(ModelRole role) const;
  bool HasAny() const;
  std::string NameOf(ModelRole role) const;

  // Takes an answer, or says why it cannot be used: for the model, and for the record.
  using TakeReply = std::function<Result<void>(const std::string& reply)>;

  // One conversation about a node.
  struct Talk {
    ModelRole role = ModelRole::kProposer;
    Prompt prompt = Prompt::kProposer;
    int64_t node = 0;
    std::vector<ChatMessage> messages;
    int max_tokens = 1024;
    bool repaired = false;
  };
  // Asks, and asks once more with the reason when the answer cannot be used. Whether an answer was
  // taken; `talk` then ends with it. Fails only when the run has to end: kInterrupted, or a store
  // that cannot be written.
  Result<bool> Ask(Talk& talk, const TakeReply& take);
  // The one repair of a conversation whose answer was taken and then turned out to be wrong.
  // REQUIRES: !talk.repaired
  Result<bool> Repair(Talk& talk, const std::string& problem, const TakeReply& take);

  // Roles that were asked, in their order.
  std::vector<RoleUse> Uses() const;

 private:
  struct Turn {
    std::optional<std::string> reply;  // absent: the model failed
    std::string refusal;               // why the reply was not taken; empty: it was
  };
  Result<Turn> OneTurn(const Talk& talk, const TakeReply& take);
  Result<std::optional<std::string>> Failed(const Talk& talk, ExchangeRecord exchange,
                                            const Error& error);
  Result<void> GiveUp(ModelRole role, int64_t node, const std::string& why);
  Result<void> Strike(ModelRole role, int64_t node, const std::string& why);
  std::optional<std::string> BudgetSpent() const;
  void Count(const ExchangeRecord& exchange);
  ChatRequest MakeRequest(const Talk& talk) const;

  Parts parts_;
  std::map<std::string, RoleUse> uses_;
  std::map<std::string, int> strikes_;                                        // by role, in a row
  std::map<std::pair<std::string, std::string>, std::string> known_replies_;  // role, request
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_MODEL_DESK_H_
