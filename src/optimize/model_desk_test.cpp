#include "optimize/model_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/scripted_chat_model.h"
#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelDeskTest : public ::testing::Test {
 protected:
  ModelDeskTest() : store_(RunRecord()) {}

  ModelDesk Make(ChatModel& model, ModelBudget budget = {},
                 const std::vector<ExchangeRecord>& earlier = {}) {
    ModelDesk::Parts parts;
    for (const ModelRole role : kModelRoles) {
      parts.models[role] = &model;
    }
    parts.budget = budget;
    parts.store = &store_;
    parts.clock = &clock_;
    parts.stop = &stop_;
    parts.say = [this](const std::string& note) { said_.push_back(note); };
    return ModelDesk(std::move(parts), earlier);
  }
  static ModelDesk::Talk Talk(ModelRole role, const std::string& question = "what?") {
    ModelDesk::Talk talk;
    talk.role = role;
    talk.messages = {{ChatRole::kUser, question}};
    return talk;
  }
  // Takes "good" alone.
  static Result<void> Take(const std::string& reply) {
    return reply == "good" ? Result<void>() : Error(ErrorCode::kParse, "it is not good");
  }
  static bool Ask(ModelDesk& desk, ModelRole role, const std::string& question = "what?") {
    ModelDesk::Talk talk = Talk(role, question);
    const auto asked = desk.Ask(talk, Take);
    EXPECT_TRUE(asked);
    return asked && *asked;
  }

  MemoryStore store_;
  FakeClock clock_;
  std::atomic<bool> stop_ = false;
  std::vector<std::string> said_;
};

TEST_F(ModelDeskTest, KeepsEveryExchange) {
  ScriptedChatModel model({"good"});
  ModelDesk desk = Make(model);
  EXPECT_TRUE(Ask(desk, ModelRole::kJudge));
  ASSERT_EQ(store_.record.exchanges.size(), 1U);
  const ExchangeRecord& exchange = store_.record.exchanges[0];
  EXPECT_EQ(exchange.role, "judge");
  EXPECT_EQ(exchange.model, "scripted");
  EXPECT_EQ(exchange.request, "=== user ===\nwhat?\n");
  EXPECT_EQ(exchange.reply, "good");
  EXPECT_EQ(exchange.outcome, "used");
  EXPECT_THAT(exchange.prompt, testing::StartsWith("proposer "));
  EXPECT_FALSE(model.requests()[0].json_schema.empty());
}

TEST_F(ModelDeskTest, RepairsAnAnswerOnce) {
  ScriptedChatModel model({"bad", "good", "bad", "bad", "good"});
  ModelDesk desk = Make(model);
  EXPECT_TRUE(Ask(desk, ModelRole::kJudge));
  const std::vector<ChatMessage>& repair = model.requests()[1].messages;
  ASSERT_EQ(repair.size(), 3U);
  EXPECT_EQ(repair[1].text, "bad");
  EXPECT_THAT(repair[2].text, HasSubstr("it is not good"));
  EXPECT_EQ(store_.record.exchanges[0].outcome, "it is not good");
  EXPECT_FALSE(Ask(desk, ModelRole::kJudge, "and now?"));
  EXPECT_EQ(model.requests().size(), 4U);
}

TEST_F(ModelDeskTest, GivesARoleUpAfterAnswersThatCannotBeUsed) {
  ScriptedChatModel model([](const ChatRequest&) -> Result<ChatReply> {
    ChatReply reply;
    reply.text = "nonsense";
    return reply;
  });
  ModelDesk desk = Make(model);
  for (int i = 0; i < kMostStrikes; ++i) {
    EXPECT_TRUE(desk.Has(ModelRole::kProposer));
    EXPECT_FALSE(Ask(desk, ModelRole::kProposer, std::to_string(i)));
  }
  EXPECT_FALSE(desk.Has(ModelRole::kProposer));
  EXPECT_TRUE(desk.Has(ModelRole::kJudge));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("goes on with the mechanical proposer")));
  EXPECT_EQ(store_.record.exchanges.back().request, "");
}

TEST_F(ModelDeskTest, AModelThatCannotBeReachedLeavesAllItsRoles) {
  ScriptedChatModel model({"good"});
  ModelDesk desk = Make(model);
  EXPECT_TRUE(Ask(desk, ModelRole::kJudge));
  EXPECT_FALSE(Ask(desk, ModelRole::kJudge, "and now?"));
  for (const ModelRole role : kModelRoles) {
    EXPECT_FALSE(desk.Has(role));
  }
  EXPECT_EQ(said_.size(), 3U);  // each role once
  EXPECT_THAT(said_[0], HasSubstr("no more replies"));
}

TEST_F(ModelDeskTest, StopsAtTheBudget) {
  ScriptedChatModel model([](const ChatRequest&) -> Result<ChatReply> {
    ChatReply reply;
    reply.text = "good";
    reply.tokens = {60, 0, 40, false};
    reply.dollars = 0.5;
    return reply;
  });
  ModelDesk by_tokens = Make(model, {150, std::nullopt});
  EXPECT_TRUE(Ask(by_tokens, ModelRole::kJudge, "1"));
  EXPECT_TRUE(Ask(by_tokens, ModelRole::kProposer, "2"));
  EXPECT_FALSE(Ask(by_tokens, ModelRole::kJudge, "3"));
  EXPECT_FALSE(by_tokens.Has(ModelRole::kProposer));
  EXPECT_THAT(said_.front(), HasSubstr("the budget of 150 tokens is spent"));
  const std::vector<RoleUse> uses = by_tokens.Uses();
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].role, "proposer");
  EXPECT_EQ(uses[0].tokens, 100);
  EXPECT_EQ(uses[1].dollars, 0.5);
  // What earlier processes spent counts.
  ModelDesk by_dollars = Make(model, {std::nullopt, 0.9}, store_.record.exchanges);
  EXPECT_FALSE(Ask(by_dollars, ModelRole::kJudge, "4"));
  EXPECT_EQ(model.requests().size(), 2U);
}

// A provider that does not count must not make a budget endless.
TEST_F(ModelDeskTest, CountsByLengthWhatIsNotCounted) {
  ScriptedChatModel model({"good", "good"});
  ModelDesk desk = Make(model, {10, std::nullopt});
  EXPECT_TRUE(Ask(desk, ModelRole::kJudge, std::string(400, 'x')));
  EXPECT_GT(store_.record.exchanges[0].prompt_tokens, 50);
  EXPECT_TRUE(store_.record.exchanges[0].tokens_estimated);
  EXPECT_FALSE(Ask(desk, ModelRole::kJudge, "more"));
}

TEST_F(ModelDeskTest, AnswersFromTheRecord) {
  ScriptedChatModel model({"good"});
  {
    ModelDesk desk = Make(model);
    EXPECT_TRUE(Ask(desk, ModelRole::kJudge));
  }
  const std::vector<ExchangeRecord> earlier = store_.record.exchanges;
  ModelDesk desk = Make(model, {}, earlier);
  EXPECT_TRUE(Ask(desk, ModelRole::kJudge));
  EXPECT_EQ(model.requests().size(), 1U);
  EXPECT_EQ(store_.record.exchanges.size(), 1U);
  EXPECT_EQ(desk.Uses()[0].calls, 1);
}

TEST_F(ModelDeskTest, AnAnswerThatWasCutIsNotUsed) {
  ScriptedChatModel model([](const ChatRequest&) -> Result<ChatReply> {
    ChatReply reply;
    reply.text = "good";
    reply.end = ChatReply::End::kLength;
    return reply;
  });
  ModelDesk desk = Make(model);
  EXPECT_FALSE(Ask(desk, ModelRole::kJudge));
  EXPECT_THAT(store_.record.exchanges[0].outcome, HasSubstr("cut off"));
}

TEST_F(ModelDeskTest, AnInterruptEndsTheRun) {
  ScriptedChatModel model([](const ChatRequest&) -> Result<ChatReply> {
    return Error(ErrorCode::kInterrupted, "interrupted");
  });
  ModelDesk desk = Make(model);
  ModelDesk::Talk talk = Talk(ModelRole::kJudge);
  const auto asked = desk.Ask(talk, Take);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code(), ErrorCode::kInterrupted);
  EXPECT_TRUE(store_.record.exchanges.empty());
}

}  // namespace
}  // namespace optiml
