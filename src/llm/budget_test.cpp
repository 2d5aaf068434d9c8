#include "llm/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "llm/prices.h"
#include "llm/rate_limiter.h"
#include "llm/scripted_chat_model.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

ChatRequest Question(size_t bytes, int max_tokens) {
  ChatRequest request;
  request.messages = {{ChatRole::kUser, std::string(bytes, 'x')}};
  request.max_tokens = max_tokens;
  return request;
}

// Answers with `prompt` and `completion` tokens, and counts the calls.
std::unique_ptr<ChatModel> Counting(int64_t prompt, int64_t completion, int* calls) {
  return std::make_unique<ScriptedChatModel>([=](const ChatRequest&) -> Result<ChatReply> {
    ++*calls;
    ChatReply reply;
    reply.tokens.prompt = prompt;
    reply.tokens.completion = completion;
    reply.dollars = 0.25;
    return reply;
  });
}

TEST(BudgetedChatModel, RefusesARequestThatMightNotFit) {
  const auto budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = 1000, .dollars = {}});
  int calls = 0;
  BudgetedChatModel model(Counting(100, 50, &calls), budget, {});
  // 200 bytes are reserved as 100 tokens and 8 around the message.
  EXPECT_TRUE(model.Complete(Question(200, 892)));
  EXPECT_EQ(budget->spent().tokens(), 150);
  const auto refused = model.Complete(Question(200, 743));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message(),
            "the budget of 1000 tokens is spent: 850 are left, and the request may take 851");
  EXPECT_TRUE(model.Complete(Question(200, 742)));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(budget->spent().requests, 2);
}

TEST(BudgetedChatModel, RefusesByDollarsToo) {
  const auto budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = {}, .dollars = 0.5});
  int calls = 0;
  const Price price{.prompt = 1000, .cached_prompt = 1000, .completion = 2000};
  BudgetedChatModel model(Counting(10, 5, &calls), budget, price);
  EXPECT_TRUE(model.Complete(Question(20, 100)));  // at most 18 * 0.001 + 100 * 0.002
  const auto refused = model.Complete(Question(20, 120));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "the budget of $0.50 is spent: $0.2500 are left, and the request may cost $0.2580");
  EXPECT_EQ(calls, 1);
}

TEST(BudgetedChatModel, LearnsThatAPromptTakesMoreTokensThanThought) {
  const auto budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = 10'000, .dollars = {}});
  int calls = 0;
  BudgetedChatModel model(Counting(2008, 1, &calls), budget, {});  // a token a byte
  EXPECT_TRUE(model.Complete(Question(2000, 10)));
  EXPECT_FALSE(model.Complete(Question(7900, 100)));  // 3958 tokens by the first estimate
  EXPECT_TRUE(model.Complete(Question(7800, 100)));
  // What a template adds to a short prompt says nothing about a long one.
  BudgetedChatModel other(Counting(88, 1, &calls), budget, {});
  EXPECT_TRUE(other.Complete(Question(10, 10)));
  EXPECT_TRUE(other.Complete(Question(7000, 100)));
  EXPECT_FALSE(other.Complete(Question(10, 5720)));
  EXPECT_EQ(calls, 4);
}

TEST(BudgetedChatModel, AFailedRequestGivesItsReservationBack) {
  const auto budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = 200, .dollars = {}});
  BudgetedChatModel model(std::make_unique<ScriptedChatModel>(std::deque<std::string>{}), budget,
                          {});
  for (int i = 0; i < 10; ++i) {
    const auto reply = model.Complete(Question(20, 100));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message(), HasSubstr("no more replies"));
  }
  EXPECT_EQ(budget->spent().tokens(), 0);
  EXPECT_EQ(budget->spent().requests, 0);
}

TEST(Budget, LostAttemptsCountAndMayEndARequest) {
  ModelLedger budget(BudgetLimits{.tokens = 100, .dollars = {}});
  ASSERT_TRUE(budget.Reserve(60, 0));
  TokenUse lost;
  lost.prompt = 20;
  lost.completion = 10;
  EXPECT_TRUE(budget.AddLost(lost, 0));   // 30 and 60
  EXPECT_FALSE(budget.AddLost(lost, 0));  // 60 and 60
  EXPECT_EQ(budget.spent().lost_tokens, 60);
  EXPECT_EQ(budget.spent().tokens(), 60);
}

TEST(Budget, IsSharedByThreadsWithoutLoss) {
  const auto budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = 100'000, .dollars = {}});
  std::vector<std::thread> threads;
  std::atomic<int> answered{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      int calls = 0;
      BudgetedChatModel model(Counting(7, 3, &calls), budget, {});
      for (int i = 0; i < 500; ++i) {
        answered += model.Complete(Question(10, 5)) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(answered, 2000);
  EXPECT_EQ(budget->spent().tokens(), 20'000);
  EXPECT_DOUBLE_EQ(budget->spent().dollars, 500);
}

TEST(PriceTable, TheBuiltInOneKnowsItsModelsWithAndWithoutADate) {
  const PriceTable table = PriceTable::BuiltIn();
  EXPECT_FALSE(table.as_of().empty());
  ASSERT_TRUE(table.Find("gpt-4.1-mini"));
  EXPECT_EQ(table.Find("gpt-4.1-mini-2025-04-14")->prompt, table.Find("gpt-4.1-mini")->prompt);
  EXPECT_FALSE(table.Find("gpt-4.1-minim"));
  EXPECT_FALSE(table.Find("my-model"));
}

TEST(PriceTable, AFileAddsToItAndWins) {
  PriceTable table = PriceTable::BuiltIn();
  ASSERT_TRUE(table.Add(R"({"dollars_per": "million tokens", "models": {
      "mine": {"prompt": 1, "completion": 2}, "gpt-5": {"prompt": 3, "completion": 4}}})",
                        "p.json"));
  EXPECT_EQ(table.Find("gpt-5")->completion, 4);
  TokenUse tokens;
  tokens.prompt = 1'000'000;
  tokens.cached_prompt = 400'000;
  tokens.completion = 500'000;
  EXPECT_DOUBLE_EQ(table.Find("mine")->Dollars(tokens), 2);  // a cached one costs what others do
  EXPECT_DOUBLE_EQ((Price{.prompt = 1, .cached_prompt = 0.5, .completion = 2}.Dollars(tokens)),
                   1.8);
}

TEST(PriceTable, RefusesWhatIsNoTable) {
  PriceTable table;
  const auto message = [&](const std::string& models) {
    const auto added =
        table.Add(R"({"dollars_per": "million tokens", "models": )" + models + "}", "p.json");
    return added ? "" : added.error().message();
  };
  EXPECT_THAT(message("3"), HasSubstr("p.json: a table of prices is"));
  EXPECT_THAT(message(R"({"m": {"prompt": 1}})"),
              HasSubstr("p.json: \"m\": a price has the fields"));
  EXPECT_THAT(message(R"({"m": {"prompt": -1, "completion": 1}})"), HasSubstr("from 0"));
  EXPECT_THAT(message(R"({"m": {"prompt": "1", "completion": 1}})"), HasSubstr("from 0"));
  EXPECT_THAT(message(R"({"m": {"prompt": 1, "completion": 1, "cache": 1}})"),
              HasSubstr("unknown field \"cache\""));
  EXPECT_FALSE(table.Add("{", "p.json"));
  EXPECT_FALSE(table.Add(R"({"dollars_per": "thousand tokens", "models": {}})", "p.json"));
}

TEST(RateLimiter, SpreadsRequestsAndHoldsThemBack) {
  using std::chrono::seconds;
  RateLimiter limiter(60);
  EXPECT_EQ(limiter.Take(seconds(100)), seconds(0));
  EXPECT_EQ(limiter.Take(seconds(100)), seconds(1));
  EXPECT_EQ(limiter.Take(seconds(100)), seconds(2));
  EXPECT_EQ(limiter.Take(seconds(110)), seconds(0));
  limiter.HoldUntil(seconds(130));
  limiter.HoldUntil(seconds(120));
  EXPECT_EQ(limiter.Take(seconds(110)), seconds(20));
  RateLimiter none;
  EXPECT_EQ(none.Take(seconds(1)), seconds(0));
  EXPECT_EQ(none.Take(seconds(1)), seconds(0));
}

}  // namespace
}  // namespace optiml
