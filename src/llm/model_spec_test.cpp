#include "llm/model_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.h"
#include "llm/faulty_server.h"

namespace optiml {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseModelSpec, KnowsTheForms) {
  auto spec = ParseModelSpec("http://127.0.0.1:8080/v1/#qwen/coder:7b");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->kind, ModelSpec::Kind::kHttp);
  EXPECT_EQ(spec->url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(spec->model, "qwen/coder:7b");
  EXPECT_EQ(ParseModelSpec("https://h/v1")->model, "default");
  spec = ParseModelSpec("openai:gpt-4.1-mini");
  EXPECT_EQ(spec->url, "https://api.openai.com/v1");
  EXPECT_EQ(spec->model, "gpt-4.1-mini");
  spec = ParseModelSpec("local:models/a.gguf");
  EXPECT_EQ(spec->kind, ModelSpec::Kind::kLocal);
  EXPECT_EQ(spec->file, "models/a.gguf");
  EXPECT_EQ(spec->model, "");
  EXPECT_EQ(ParseModelSpec("local:a.gguf")->file, "a.gguf");
  EXPECT_EQ(ParseModelSpec("local:smollm2")->model, "smollm2");
  spec = ParseModelSpec("replay:x:y.jsonl");
  EXPECT_EQ(spec->kind, ModelSpec::Kind::kReplay);
  EXPECT_EQ(spec->file, "x:y.jsonl");
}

TEST(ParseModelSpec, RefusesTheRestAndShowsNoSecret) {
  for (const char* text : {"", "gpt-4", "local:", "replay:", "openai:", "ftp://h/v1", "http://",
                           "http:///v1", "https://h/v1#", "https://h/v 1#m"}) {
    const auto spec = ParseModelSpec(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(spec.error().message(), HasSubstr("known forms: https://HOST/v1#MODEL"));
  }
  for (const char* text : {"https://me:sk-test@h/v1#m", "https://h/v1?key=sk-test#m"}) {
    const auto spec = ParseModelSpec(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_THAT(spec.error().message(),
                AllOf(HasSubstr("a key comes from OPTIML_API_KEY"), Not(HasSubstr("sk-test"))));
  }
}

struct Opened : ::testing::Test {
  FaultyServer server{[](const std::string&, int, FaultyServer::Connection& to) {
    to.Send(FaultyServer::StreamHead() + FaultyServer::Delta("fine") +
            FaultyServer::StreamEnd(20, 5));
  }};
  const TemporaryDirectory folder = *TemporaryDirectory::Create("spec");
  ModelOptions options;
  ChatRequest request;

  void SetUp() override {
    options.working_directory = folder.path();
    options.library = folder.path() / "models";
    options.variables = {{"OPTIML_API_KEY", "sk-test-secret"}};
    request.messages = {{ChatRole::kUser, "hello"}};
    request.max_tokens = 30;
  }
  Result<std::unique_ptr<ChatModel>> Open(const std::string& text) {
    return OpenModel(*ParseModelSpec(text), options);
  }
  std::string OpenError(const std::string& text) {
    const auto model = Open(text);
    EXPECT_FALSE(model);
    return model ? "" : model.error().message();
  }
};

TEST_F(Opened, ABudgetARecorderAndAReplayGoTogether) {
  options.budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = 90, .dollars = {}});
  options.record = "exchanges.jsonl";
  {
    auto model = Open(server.url() + "#test");
    ASSERT_TRUE(model) << model.error().message();
    EXPECT_EQ((*model)->name(), "test");
    ASSERT_TRUE((*model)->Complete(request));
    EXPECT_EQ(options.budget->spent().tokens(), 25);
    EXPECT_THAT(server.requests().at(0), HasSubstr("Bearer sk-test-secret"));
    ASSERT_TRUE((*model)->Complete(request));
    ASSERT_FALSE((*model)->Complete(request));  // 50 spent: the third does not fit
  }
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_THAT(*ReadFile(folder.path() / "exchanges.jsonl"), Not(HasSubstr("sk-test")));
  options.record.clear();
  options.budget = std::make_shared<ModelLedger>(BudgetLimits{});
  auto replay = Open("replay:exchanges.jsonl");
  ASSERT_TRUE(replay) << replay.error().message();
  EXPECT_EQ((*replay)->Complete(request)->text, "fine");
  EXPECT_TRUE((*replay)->Complete(request));
  EXPECT_FALSE((*replay)->Complete(request));  // the refusal was no exchange
  EXPECT_EQ(options.budget->spent().tokens(), 50);
}

TEST_F(Opened, ABudgetInDollarsNeedsAPrice) {
  options.budget = std::make_shared<ModelLedger>(BudgetLimits{.tokens = {}, .dollars = 1});
  EXPECT_THAT(OpenError(server.url() + "#test"), HasSubstr("no price of model \"test\" is known"));
  EXPECT_TRUE(Open("openai:gpt-4.1-mini"));
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "prices.json",
                                  R"({"dollars_per": "million tokens", "models": {
                                      "test": {"prompt": 1000, "completion": 2000}}})"));
  options.prices_file = "prices.json";
  auto model = Open(server.url() + "#test");
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_TRUE((*model)->Complete(request));
  EXPECT_DOUBLE_EQ(options.budget->spent().dollars, 0.03);
  request.max_tokens = 1000;  // two dollars
  const auto refused = (*model)->Complete(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
}

TEST_F(Opened, WhatIsMissingIsNamed) {
  EXPECT_THAT(OpenError("replay:none.jsonl"), HasSubstr("cannot open the recording"));
  EXPECT_THAT(OpenError("local:none.gguf"),
              HasSubstr(HasLocalModels() ? "cannot open the model" : "without local models"));
  EXPECT_THAT(OpenError("local:smollm2"),
              HasSubstr(HasLocalModels() ? "`optiml models list`" : "without local models"));
  options.key_file = "none";
  EXPECT_THAT(OpenError("openai:gpt-5"), HasSubstr("cannot open the key"));
}

}  // namespace
}  // namespace optiml
