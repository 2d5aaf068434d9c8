#include "llm/http_chat_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/faulty_server.h"

namespace optiml {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Connection = FaultyServer::Connection;

constexpr char kSecret[] = "sk-test-0123456789abcdef";

ChatRequest Question(const std::string& text = "how are you?") {
  ChatRequest request;
  request.messages = {{ChatRole::kSystem, "be brief"}, {ChatRole::kUser, text}};
  request.max_tokens = 100;
  request.time_limit = milliseconds(20'000);
  return request;
}

HttpChatModelOptions OptionsFor(const FaultyServer& server) {
  HttpChatModelOptions options;
  options.base_url = server.url();
  options.model = "test-model";
  options.key = *ApiKey::Parse(kSecret, "test");
  options.first_wait = milliseconds(2);
  options.longest_wait = milliseconds(4);
  return options;
}

// What the model says to one question, with a server that answers with `handler`.
struct Trial {
  explicit Trial(FaultyServer::Handler handler) : server(std::move(handler)) {}
  explicit Trial(const std::string& answer)
      : Trial([answer](const std::string&, int, Connection& to) { to.Send(answer); }) {}

  Result<ChatReply> Ask(const ChatRequest& request = Question()) {
    HttpChatModelOptions options = OptionsFor(server);
    options.on_lost = [this](const TokenUse& tokens, double) -> Result<void> {
      lost.push_back(tokens);
      return {};
    };
    HttpChatModel model(options);
    const auto begin = std::chrono::steady_clock::now();
    Result<ChatReply> reply = model.Complete(request);
    time = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    if (!reply) {
      message = reply.error().message();
      EXPECT_THAT(message, Not(HasSubstr(kSecret)));
      EXPECT_THAT(message, Not(HasSubstr("\n")));
    }
    return reply;
  }
  size_t count() const { return server.requests().size(); }

  FaultyServer server;
  std::vector<TokenUse> lost;
  milliseconds time{0};
  std::string message;
};

std::string Stream(const std::string& text) {
  return FaultyServer::StreamHead() + FaultyServer::Delta(text) + FaultyServer::StreamEnd(21, 7);
}

TEST(HttpChatModel, StreamsAReplyWithItsTokens) {
  Trial trial(FaultyServer::StreamHead() + FaultyServer::Delta("I am ") + ": a comment\r\n\r\n" +
              FaultyServer::Delta("w\\u00e9ll") + FaultyServer::StreamEnd(21, 7));
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(reply->text, "I am w\u00e9ll");
  EXPECT_EQ(reply->end, ChatReply::End::kStop);
  EXPECT_EQ(reply->tokens.prompt, 21);
  EXPECT_EQ(reply->tokens.completion, 7);
  EXPECT_FALSE(reply->tokens.estimated);
  const std::string request = trial.server.requests().at(0);
  EXPECT_THAT(request, HasSubstr("POST /v1/chat/completions HTTP/1.1"));
  EXPECT_THAT(request, HasSubstr(std::string("Authorization: Bearer ") + kSecret));
  EXPECT_THAT(request, HasSubstr(R"("model":"test-model")"));
  EXPECT_THAT(request, HasSubstr(R"({"role":"system","content":"be brief"})"));
  EXPECT_THAT(request, HasSubstr(R"("max_tokens":100)"));
  EXPECT_THAT(request, HasSubstr(R"("stream":true)"));
}

TEST(HttpChatModel, AReplyThatWasCutSaysSo) {
  Trial trial(FaultyServer::StreamHead() + FaultyServer::Delta("I am") +
              FaultyServer::StreamEnd(21, 100, "length"));
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(reply->end, ChatReply::End::kLength);
}

TEST(HttpChatModel, TakesAnAnswerThatIsNotStreamed) {
  Trial trial(FaultyServer::Answer(
      200, R"({"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],
              "usage":{"prompt_tokens":9,"completion_tokens":1,
                       "prompt_tokens_details":{"cached_tokens":4}}})"));
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(reply->text, "fine");
  EXPECT_EQ(reply->tokens.cached_prompt, 4);
}

TEST(HttpChatModel, CountsByLengthWhatTheEndpointDoesNotCount) {
  Trial trial(FaultyServer::StreamHead() + FaultyServer::Delta("123456") +
              "data: " + R"({"choices":[{"delta":{},"finish_reason":"stop"}]})" + "\n\n");
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_TRUE(reply->tokens.estimated);
  EXPECT_EQ(reply->tokens.completion, 2);
  EXPECT_GT(reply->tokens.prompt, 8);
}

TEST(HttpChatModel, AServerErrorIsTriedAgain) {
  Trial trial([](const std::string&, int count, Connection& to) {
    to.Send(count < 2 ? FaultyServer::Answer(500, R"({"error":"out of luck"})") : Stream("fine"));
  });
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(reply->text, "fine");
  EXPECT_EQ(trial.count(), 3u);
  EXPECT_TRUE(trial.lost.empty());
}

TEST(HttpChatModel, GivesUpAfterItsAttempts) {
  Trial trial(FaultyServer::Answer(503, R"({"error":{"message":"overloaded"}})"));
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(
      trial.message,
      trial.server.url() + ": the endpoint is in trouble (status 503: overloaded) (5 attempts)");
  EXPECT_EQ(trial.count(), 5u);
}

TEST(HttpChatModel, WaitsAsLongAsTheEndpointAsks) {
  Trial trial([](const std::string&, int count, Connection& to) {
    to.Send(count == 0 ? FaultyServer::Answer(429, "{}", "Retry-After: 1\r\n") : Stream("fine"));
  });
  HttpChatModelOptions options = OptionsFor(trial.server);
  options.rate_limiter = std::make_shared<RateLimiter>();
  HttpChatModel model(options);
  const auto begin = std::chrono::steady_clock::now();
  const auto reply = model.Complete(Question());
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(950));
  // Longer than the request may take: said at once.
  Trial later(FaultyServer::Answer(429, "{}", "Retry-After: 3600\r\n"));
  options.base_url = later.server.url();
  const auto refused = HttpChatModel(options).Complete(Question());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kTimeout);
  EXPECT_THAT(refused.error().message(), HasSubstr("may be sent in 3600 s, after the time limit"));
  EXPECT_EQ(later.count(), 1u);
}

TEST(HttpChatModel, AQuotaThatIsSpentIsNotTriedAgain) {
  Trial trial(FaultyServer::Answer(
      429, R"({"error":{"message":"pay first","code":"insufficient_quota"}})"));
  ASSERT_FALSE(trial.Ask());
  EXPECT_EQ(trial.count(), 1u);
  EXPECT_THAT(trial.message, HasSubstr("the account's quota is spent (status 429: pay first)"));
}

TEST(HttpChatModel, AWrongKeyIsSaidAndNeverShown) {
  Trial trial([](const std::string&, int, Connection& to) {
    to.Send(FaultyServer::Answer(
        401, std::string(R"({"error":{"message":"Incorrect API key: )") + kSecret + R"("}})"));
  });
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(trial.message, trial.server.url() +
                               ": the key is not accepted (status 401: Incorrect API key: [key])");
  EXPECT_EQ(trial.count(), 1u);
}

TEST(HttpChatModel, AMissingKeyNamesTheRemedy) {
  FaultyServer server([](const std::string&, int, Connection& to) {
    to.Send(FaultyServer::Answer(401, R"({"error":{"message":"no key"}})"));
  });
  HttpChatModelOptions options = OptionsFor(server);
  options.key = ApiKey();
  const auto reply = HttpChatModel(options).Complete(Question());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(reply.error().message(),
            server.url() +
                ": the endpoint wants a key: set OPTIML_API_KEY, or OPTIML_API_KEY_FILE to a file "
                "of mode 600 (status 401: no key)");
  EXPECT_THAT(server.requests().at(0), Not(HasSubstr("Authorization")));
}

TEST(HttpChatModel, AKeyThatTheEndpointSendsBackIsTakenOut) {
  Trial trial(Stream(std::string("your key is ") + kSecret + "!"));
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(reply->text, "your key is [key]!");
}

TEST(HttpChatModel, AKeyThatIsCutOffIsNotShownInPart) {
  for (const size_t before : {280u, 290u, 299u}) {
    const std::string words = std::string(before, 'x') + kSecret;
    for (const std::string& answer :
         {FaultyServer::Answer(403, words), FaultyServer::Answer(200, words),
          FaultyServer::Answer(200, R"({"error":{"message":")" + words + R"("}})")}) {
      Trial trial(answer);
      ASSERT_FALSE(trial.Ask());
      EXPECT_THAT(trial.message, Not(HasSubstr("sk-")));
      EXPECT_LT(trial.message.size(), 500u);
    }
  }
}

TEST(HttpChatModel, AnUnknownModelIsNamed) {
  Trial trial(FaultyServer::Answer(
      404, R"({"error":{"message":"The model `test-model` does not exist"}})"));
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(trial.message, trial.server.url() +
                               ": no model \"test-model\", or no such endpoint (status 404: The "
                               "model `test-model` does not exist)");
  EXPECT_EQ(trial.count(), 1u);
}

TEST(HttpChatModel, APromptBeyondTheContextIsSaid) {
  Trial trial(FaultyServer::Answer(
      400,
      R"({"error":{"message":"maximum context length is 10","code":"context_length_exceeded"}})"));
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(trial.message, HasSubstr("prompt and reply do not fit into the model's context "
                                       "(status 400: maximum context length is 10)"));
}

TEST(HttpChatModel, ARedirectIsNotFollowedWithTheKey) {
  Trial other(Stream("stolen"));
  Trial trial(FaultyServer::Answer(307, "", "Location: " + other.server.url() + "\r\n"));
  ASSERT_FALSE(trial.Ask());
  EXPECT_THAT(trial.message, HasSubstr("redirects are not followed"));
  EXPECT_EQ(other.count(), 0u);
}

TEST(HttpChatModel, AnEndpointThatIsDownIsUnavailable) {
  Trial trial("");
  trial.server.Stop();
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(trial.message, AllOf(HasSubstr(trial.server.url() + ": "), HasSubstr("onnect"),
                                   HasSubstr("(5 attempts)")));
  EXPECT_TRUE(trial.lost.empty());
}

TEST(HttpChatModel, AnEndpointThatDiesInTheMiddleIsTriedAgainAndWhatWasLostIsCounted) {
  Trial trial([](const std::string&, int count, Connection& to) {
    to.Send(count == 0 ? FaultyServer::StreamHead() + FaultyServer::Delta("half of")
                       : Stream("fine"));
  });
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(reply->text, "fine");
  ASSERT_EQ(trial.lost.size(), 1u);
  EXPECT_EQ(trial.lost[0].completion, 3);
  EXPECT_GT(trial.lost[0].prompt, 8);
}

TEST(HttpChatModel, ATruncatedBodyIsTriedAgain) {
  std::string answer = FaultyServer::Answer(200, R"({"choices":[{"message":{"content":"fi)");
  answer.replace(answer.find("Content-Length: "), 18, "Content-Length: 99");
  Trial trial([answer](const std::string&, int count, Connection& to) {
    to.Send(count == 0 ? answer : Stream("fine"));
  });
  const auto reply = trial.Ask();
  ASSERT_TRUE(reply) << trial.message;
  EXPECT_EQ(trial.lost.size(), 1u);
}

TEST(HttpChatModel, AnAnswerThatIsNonsenseIsInternal) {
  for (const std::string body : {"it works!", "{\"choices\":[{\"mess", "[]", "{}",
                                 "{\"choices\":3}", "<html></html>", "\xff"}) {
    Trial trial(FaultyServer::Answer(200, body));
    const auto reply = trial.Ask();
    ASSERT_FALSE(reply) << body;
    EXPECT_EQ(reply.error().code(), ErrorCode::kInternal) << body;
    EXPECT_EQ(trial.count(), 5u);
    EXPECT_THAT(trial.message, HasSubstr("the answer ")) << body;
  }
  Trial events(FaultyServer::StreamHead() + "data: not json\n\n");
  ASSERT_FALSE(events.Ask());
  EXPECT_THAT(events.message, HasSubstr("the answer is not JSON: not json"));
  Trial not_http("hello\r\n\r\n");
  const auto reply = not_http.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
}

TEST(HttpChatModel, AnErrorInTheStreamIsPassedOn) {
  Trial trial(FaultyServer::StreamHead() + FaultyServer::Delta("I") +
              "data: {\"error\":{\"message\":\"the GPU is on fire\"}}\n\n");
  ASSERT_FALSE(trial.Ask());
  EXPECT_THAT(trial.message, HasSubstr("the endpoint says: the GPU is on fire"));
}

TEST(HttpChatModel, ASlowEndpointEndsAtTheTimeLimit) {
  Trial trial([](const std::string&, int, Connection& to) {
    to.Send(FaultyServer::StreamHead());
    while (to.Send(FaultyServer::Delta("slow ")) && to.Stall(milliseconds(20))) {
    }
  });
  ChatRequest request = Question();
  request.time_limit = milliseconds(300);
  const auto reply = trial.Ask(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kTimeout);
  EXPECT_EQ(trial.message, trial.server.url() + ": no whole answer within the time limit");
  EXPECT_GE(trial.time, milliseconds(290));
  EXPECT_LT(trial.time, milliseconds(900));
  ASSERT_EQ(trial.lost.size(), 1u);
  EXPECT_GT(trial.lost[0].completion, 2);
}

TEST(HttpChatModel, AnEndpointThatNeverAnswersEndsAtTheTimeLimit) {
  Trial trial([](const std::string&, int, Connection& to) { to.Stall(milliseconds(10'000)); });
  ChatRequest request = Question();
  request.time_limit = milliseconds(200);
  const auto reply = trial.Ask(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kTimeout);
  EXPECT_LT(trial.time, milliseconds(800));
  EXPECT_EQ(trial.lost.size(), 1u);  // it may have worked on it
}

TEST(HttpChatModel, StopEndsARequestAtOnce) {
  std::atomic<bool> stop{false};
  Trial trial([&](const std::string&, int, Connection& to) {
    to.Send(FaultyServer::StreamHead() + FaultyServer::Delta("well"));
    stop = true;
    to.Stall(milliseconds(10'000));
  });
  ChatRequest request = Question();
  request.stop = &stop;
  const auto reply = trial.Ask(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInterrupted);
  EXPECT_LT(trial.time, milliseconds(800));
}

TEST(HttpChatModel, StopEndsAWaitAtOnce) {
  std::atomic<bool> stop{false};
  Trial trial([&](const std::string&, int, Connection& to) {
    stop = true;
    to.Send(FaultyServer::Answer(500, ""));
  });
  HttpChatModelOptions options = OptionsFor(trial.server);
  options.first_wait = options.longest_wait = milliseconds(15'000);
  ChatRequest request = Question();
  request.stop = &stop;
  const auto begin = std::chrono::steady_clock::now();
  const auto reply = HttpChatModel(options).Complete(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInterrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(800));
}

TEST(HttpChatModel, AStreamWithoutEndIsCutAndNotTriedAgain) {
  Trial trial([](const std::string&, int, Connection& to) {
    to.Send(FaultyServer::StreamHead());
    while (to.Send(FaultyServer::Delta(std::string(1000, 'x')))) {
    }
  });
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(trial.message, HasSubstr("much longer than was asked for"));
  EXPECT_EQ(trial.count(), 1u);
  Trial event([](const std::string&, int, Connection& to) {
    to.Send(FaultyServer::StreamHead() + "data: ");
    while (to.Send(std::string(10'000, 'x'))) {
    }
  });
  ASSERT_FALSE(event.Ask());
  EXPECT_THAT(event.message, HasSubstr("an event of more than 1 MiB"));
}

TEST(HttpChatModel, LeavesOutWhatTheEndpointDoesNotKnow) {
  // Refuses one thing after the other, as endpoints do.
  FaultyServer server([](const std::string& request, int, Connection& to) {
    const auto refuse = [&](const char* message) {
      to.Send(
          FaultyServer::Answer(400, std::string(R"({"error":{"message":")") + message + R"("}})"));
    };
    if (request.find("json_schema\"") != std::string::npos) {
      refuse("response_format.type must be text or json_object");
    } else if (request.find("\"max_tokens\"") != std::string::npos) {
      refuse("Unsupported parameter: max_tokens. Use max_completion_tokens instead.");
    } else if (request.find("\"temperature\"") != std::string::npos) {
      refuse("temperature does not support 0");
    } else if (request.find("stream_options") != std::string::npos) {
      refuse("unknown field stream_options");
    } else {
      to.Send(Stream("fine"));
    }
  });
  HttpChatModel model(OptionsFor(server));
  ChatRequest request = Question();
  request.json_schema = R"({"type":"string"})";
  ASSERT_TRUE(model.Complete(request));
  const size_t tries = server.requests().size();
  EXPECT_EQ(tries, 5u);
  const std::string last = server.requests().back();
  EXPECT_THAT(last, HasSubstr(R"("response_format":{"type":"json_object")"));
  EXPECT_THAT(last, HasSubstr("Answer with one JSON value that follows this JSON Schema"));
  EXPECT_THAT(last, HasSubstr(R"("max_completion_tokens":100)"));
  ASSERT_TRUE(model.Complete(request));  // what was learnt stays
  EXPECT_EQ(server.requests().size(), tries + 1);
}

TEST(HttpChatModel, AnEmptyStreamIsAskedForInOnePiece) {
  Trial trial([](const std::string& request, int, Connection& to) {
    to.Send(request.find("\"stream\":true") != std::string::npos
                ? FaultyServer::StreamHead()
                : FaultyServer::Answer(400, R"({"error":{"message":"too long",
                                               "code":"context_length_exceeded"}})"));
  });
  ASSERT_FALSE(trial.Ask());
  EXPECT_EQ(trial.count(), 2u);
  EXPECT_TRUE(trial.lost.empty());
  EXPECT_THAT(trial.message, HasSubstr("model's context (status 400: too long)"));
  Trial empty("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  ASSERT_FALSE(empty.Ask());
  EXPECT_THAT(empty.message, HasSubstr("the answer broke off"));
}

TEST(HttpChatModel, ASchemaThatIsAnsweredWithAnErrorOfTheServerGivesWayToo) {
  Trial trial([](const std::string& request, int, Connection& to) {
    to.Send(request.find("\"json_schema\"") == std::string::npos
                ? Stream("7")
                : FaultyServer::Answer(500,
                                       "{\"error\":{\"message\":\"1 validation error: 'loc': "
                                       "('body', 'response_format', 'type')\"}}"));
  });
  ChatRequest request = Question();
  request.json_schema = R"({"type":"integer"})";
  ASSERT_TRUE(trial.Ask(request)) << trial.message;
  EXPECT_EQ(trial.count(), 2u);
}

TEST(HttpChatModel, ARefusalThatNothingHelpsIsPassedOn) {
  Trial trial(FaultyServer::Answer(400, R"({"error":{"message":"seed, temperature: no"}})"));
  const auto reply = trial.Ask();
  ASSERT_FALSE(reply);
  EXPECT_EQ(trial.count(), 3u);
  EXPECT_THAT(trial.message,
              HasSubstr("the request is refused (status 400: seed, temperature: no)"));
}

TEST(HttpChatModel, AsksForASchemaAsTheApiHasIt) {
  Trial trial(Stream("7"));
  ChatRequest request = Question();
  request.json_schema = R"({"type":"integer"})";
  ASSERT_TRUE(trial.Ask(request));
  EXPECT_THAT(trial.server.requests().at(0),
              HasSubstr(R"("response_format":{"type":"json_schema","json_schema":{"name":"reply",)"
                        R"("strict":true,"schema":{"type":"integer"}}})"));
  request.json_schema = "{";
  const auto reply = trial.Ask(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
}

TEST(HttpChatModel, DollarsFollowThePrices) {
  Trial trial(Stream("fine"));
  HttpChatModelOptions options = OptionsFor(trial.server);
  options.price = Price{.prompt = 2, .cached_prompt = 1, .completion = 10};
  const auto reply = HttpChatModel(options).Complete(Question());
  ASSERT_TRUE(reply);
  EXPECT_DOUBLE_EQ(reply->dollars, (21 * 2 + 7 * 10) / 1e6);
}

TEST(HttpChatModel, ABudgetThatALostAttemptUsedUpEndsTheRequest) {
  Trial trial(FaultyServer::StreamHead() + FaultyServer::Delta("half"));
  HttpChatModelOptions options = OptionsFor(trial.server);
  options.on_lost = [](const TokenUse&, double) -> Result<void> {
    return Error(ErrorCode::kUnavailable, "the budget is spent");
  };
  const auto reply = HttpChatModel(options).Complete(Question());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(reply.error().message(), HasSubstr("the budget is spent"));
  EXPECT_EQ(trial.count(), 1u);
}

TEST(HttpChatModel, RequestsKeepTheirDistance) {
  Trial trial(Stream("fine"));
  HttpChatModelOptions options = OptionsFor(trial.server);
  options.rate_limiter = std::make_shared<RateLimiter>(600);  // one in 100 ms
  HttpChatModel model(options);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(model.Complete(Question()));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(295));
}

TEST(IsThisMachine, KnowsItsNames) {
  for (const char* url : {"http://localhost:1/v1", "http://127.0.0.1/v1", "http://[::1]:80/v1"}) {
    EXPECT_TRUE(IsThisMachine(url)) << url;
  }
  for (const char* url : {"http://192.168.1.2/v1", "http://127.0.0.1.evil.org/v1",
                          "http://localhost@evil.org/v1", "https://api.openai.com/v1"}) {
    EXPECT_FALSE(IsThisMachine(url)) << url;
  }
}

}  // namespace
}  // namespace optiml
