#include "prompt/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "llm/json_schema_grammar.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

constexpr Prompt kAll[] = {Prompt::kDiagnoser, Prompt::kProposer, Prompt::kJudgeBefore,
                           Prompt::kJudgeAfter, Prompt::kRepair};

TEST(Prompts, WhatFillsAHoleIsNoTemplate) {
  const std::vector<ChatMessage> messages =
      RenderPrompt(Prompt::kRepair, {{"problem", "{{problem}} {{secret}}"}});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].role, ChatRole::kUser);
  EXPECT_THAT(messages[0].text, HasSubstr("used:\n{{problem}} {{secret}}\n"));
}

TEST(Prompts, MessagesAreFormattedWithTheirRoles) {
  EXPECT_EQ(FormatMessages({{ChatRole::kSystem, "a"}, {ChatRole::kUser, "b\n"}}),
            "=== system ===\na\n=== user ===\nb\n");
}

// As JSON, and as the grammar that a local model is held to.
TEST(Prompts, SchemasCanBeFollowed) {
  for (const Prompt prompt : kAll) {
    if (prompt != Prompt::kRepair) {
      EXPECT_TRUE(nlohmann::json::accept(ReplySchema(prompt))) << PromptVersion(prompt);
      const auto grammar = JsonSchemaGrammar(ReplySchema(prompt));
      EXPECT_TRUE(grammar) << PromptVersion(prompt) << ": " << grammar.error().message();
    }
  }
}

// A changed prompt has another version; the page of the prompts names the current ones.
TEST(Prompts, TheDocumentationNamesTheVersions) {
  const auto page = ReadFile(std::string(OPTIML_SOURCE_DIR) + "/docs/prompts.md");
  ASSERT_TRUE(page);
  for (const Prompt prompt : kAll) {
    EXPECT_THAT(*page, HasSubstr("`" + PromptVersion(prompt) + "`"));
  }
}

TEST(Prompts, RolesHaveNames) {
  for (const ModelRole role : kModelRoles) {
    EXPECT_EQ(ParseModelRole(ModelRoleName(role)), role);
  }
  EXPECT_FALSE(ParseModelRole("poet"));
}

}  // namespace
}  // namespace optiml
