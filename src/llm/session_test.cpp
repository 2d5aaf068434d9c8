// A thousand exchanges with a faulty endpoint, with everything put together: budget, recorder,
// HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file_system.h"
#include "base/rng.h"
#include "llm/budget.h"
#include "llm/exchange.h"
#include "llm/exchange_file.h"
#include "llm/faulty_server.h"
#include "llm/http_chat_model.h"
#include "llm/recording_chat_model.h"
#include "llm/replay_chat_model.h"

namespace optiml {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kExchanges = 1000;
constexpr uint64_t kSeed = 20261130;
constexpr char kSecret[] = "sk-test-0123456789abcdef";

// One of the things that go wrong, or a good answer.
void Answer(uint64_t luck, const std::string& request, FaultyServer::Connection& to) {
  const int prompt = static_cast<int>(request.size() / 4);
  switch (luck % 16) {
    case 0:
      to.Send(FaultyServer::Answer(500, "{\"error\":{\"message\":\"out of luck\"}}"));
      return;
    case 1:
      to.Send(FaultyServer::Answer(429, "{}"));
      return;
    case 2:
      to.Send(FaultyServer::StreamHead() + FaultyServer::Delta("half an ans"));
      return;
    case 3:
      to.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\":[{\"message\"");
      return;
    case 4:
      to.Send(FaultyServer::StreamHead() + "data: {]\n\n");
      return;
    case 5:
      return;  // closes without a word
    case 6:
      to.Send(FaultyServer::Answer(
          400, std::string("{\"error\":{\"message\":\"no, ") + kSecret + "\"}}"));
      return;
    default:
      to.Send(FaultyServer::StreamHead() + FaultyServer::Delta("answer ") +
              FaultyServer::Delta(std::to_string(luck) + (luck % 5 == 0 ? kSecret : "")) +
              FaultyServer::StreamEnd(prompt, 12));
  }
}

ChatRequest Question(int i) {
  ChatRequest request;
  request.messages = {{ChatRole::kUser, "question " + std::to_string(i) + std::string(300, 'x')}};
  request.max_tokens = 64;
  request.seed = static_cast<uint64_t>(i);
  request.time_limit = milliseconds(20'000);
  return request;
}

// kB of this process that lie in memory.
int64_t ResidentKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) {
      return std::stoll(line.substr(6));
    }
  }
  return 0;
}

HttpChatModelOptions OptionsFor(const FaultyServer& server,
                                const std::shared_ptr<ModelLedger>& budget) {
  HttpChatModelOptions options;
  options.base_url = server.url();
  options.model = "gpt-4.1-mini";
  options.key = *ApiKey::Parse(kSecret, "test");
  options.price = PriceTable::BuiltIn().Find(options.model);
  options.attempts = 3;
  options.first_wait = milliseconds(1);
  options.longest_wait = milliseconds(1);
  options.on_lost = [budget](const TokenUse& tokens, double dollars) {
    return budget->AddLost(tokens, dollars);
  };
  return options;
}

struct Sums {
  int64_t tokens = 0;
  double dollars = 0;
  int64_t answered = 0;
  int64_t failed = 0;

  void Add(const Result<ChatReply>& outcome) {
    if (!outcome) {
      ++failed;
      return;
    }
    ++answered;
    tokens += outcome->tokens.prompt + outcome->tokens.completion;
    dollars += outcome->dollars;
  }
};

// What the lines of a recording say.
Sums Recorded(const fs::path& file) {
  Sums sums;
  auto recording = ExchangeFile::Open(file);
  EXPECT_TRUE(recording);
  while (const auto line = recording->NextLine()) {
    const auto exchange = ParseExchange(*line);
    EXPECT_TRUE(exchange) << *line;
    sums.Add(exchange->outcome);
  }
  return sums;
}

TEST(Session, AThousandExchangesLoseNothingAndReplayExactly) {
  Rng rng(kSeed);
  FaultyServer server([&](const std::string& request, int, FaultyServer::Connection& to) {
    Answer(rng.Next(), request, to);
  });
  const auto folder = TemporaryDirectory::Create("session");
  const fs::path file = folder->path() / "exchanges.jsonl";
  const auto budget =
      std::make_shared<ModelLedger>(BudgetLimits{.tokens = 10'000'000, .dollars = 100});
  auto recorder =
      RecordingChatModel::Open(std::make_unique<HttpChatModel>(OptionsFor(server, budget)), file);
  ASSERT_TRUE(recorder);
  BudgetedChatModel model(*std::move(recorder), budget, PriceTable::BuiltIn().Find("gpt-4.1-mini"));

  Sums sums;
  std::vector<std::string> outcomes;
  outcomes.reserve(kExchanges);
  int64_t early_kilobytes = 0;
  for (int i = 0; i < kExchanges; ++i) {
    const auto outcome = model.Complete(Question(i));
    sums.Add(outcome);
    outcomes.push_back(outcome ? outcome->text : outcome.error().message());
    if (i == kExchanges / 5) {
      early_kilobytes = ResidentKilobytes();
    }
  }
  // The test's own records (the server's requests among them) are about 700 kB for the rest.
  EXPECT_LT(ResidentKilobytes() - early_kilobytes, 4000);
  EXPECT_GT(sums.answered, 700);
  EXPECT_GT(sums.failed, 20);

  const BudgetSpent spent = budget->spent();
  EXPECT_GT(spent.lost_tokens, 0);
  EXPECT_EQ(spent.requests, sums.answered);
  EXPECT_EQ(spent.tokens() - spent.lost_tokens, sums.tokens);
  const Sums recorded = Recorded(file);
  EXPECT_EQ(recorded.tokens, sums.tokens);
  EXPECT_NEAR(recorded.dollars, sums.dollars, 1e-9);
  EXPECT_EQ(recorded.answered + recorded.failed, kExchanges);
  EXPECT_THAT(*ReadFile(file), Not(HasSubstr("sk-test")));

  auto replay = ReplayChatModel::Open(file);
  ASSERT_TRUE(replay);
  for (int i = 0; i < kExchanges; ++i) {
    const auto outcome = (*replay)->Complete(Question(i));
    ASSERT_EQ(outcome ? outcome->text : outcome.error().message(),
              outcomes[static_cast<size_t>(i)]);
  }
}

TEST(Session, AnEndpointThatGoesDownInMidRunLeavesAWholeRecording) {
  Rng rng(kSeed);
  FaultyServer server([&](const std::string& request, int, FaultyServer::Connection& to) {
    Answer(7 + 16 * rng.NextBelow(100), request, to);
  });
  const auto folder = TemporaryDirectory::Create("session");
  const fs::path file = folder->path() / "exchanges.jsonl";
  const auto budget = std::make_shared<ModelLedger>(BudgetLimits{});
  auto model =
      RecordingChatModel::Open(std::make_unique<HttpChatModel>(OptionsFor(server, budget)), file);
  ASSERT_TRUE(model);
  for (int i = 0; i < 20; ++i) {
    if (i == 10) {
      server.Stop();
    }
    const auto outcome = (*model)->Complete(Question(i));
    EXPECT_EQ(outcome.has_value(), i < 10) << i;
    if (!outcome) {
      EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable);
      EXPECT_THAT(outcome.error().message(), HasSubstr(server.url()));
    }
  }
  const Sums recorded = Recorded(file);
  EXPECT_EQ(recorded.answered, 10);
  EXPECT_EQ(recorded.failed, 10);
}

}  // namespace
}  // namespace optiml
