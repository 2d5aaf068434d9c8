#include "prompt/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const std::string& reply) {
  const auto parsed = ParseReplyObject(reply);
  return parsed ? "" : parsed.error().message();
}

TEST(StrictJson, TakesOneObjectAloneOrInABlock) {
  EXPECT_TRUE(ParseReplyObject(" {\"a\": 1}\n"));
  EXPECT_TRUE(ParseReplyObject("```json\n{\"a\": 1}\n```\n"));
}

TEST(StrictJson, RefusesEverythingElse) {
  EXPECT_THAT(Refusal("Sure! {\"a\": 1}"), HasSubstr("not one JSON object and nothing else"));
  EXPECT_THAT(Refusal("{\"a\": 1} {\"a\": 2}"), HasSubstr("nothing else"));
  EXPECT_THAT(Refusal("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Refusal(""), HasSubstr("nothing else"));
  EXPECT_THAT(Refusal("{\"a\": \"\xff\"}"), HasSubstr("nothing else"));
  EXPECT_THAT(Refusal("{\"a\": 1, \"a\": 2}"), HasSubstr("\"a\" is there twice"));
  EXPECT_THAT(Refusal("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}"),
              HasSubstr("too deeply"));
  EXPECT_THAT(Refusal(std::string(kMostReplyBytes + 1, ' ')), HasSubstr("longer than"));
}

TEST(StrictJson, TakesKeysOfTheirKind) {
  const nlohmann::json json = {{"t", "text"}, {"n", 0.5},    {"i", 7},
                               {"w", "up"},   {"a", {1, 2}}, {"b", true}};
  auto reader = ObjectReader::Of(json, "edit 1");
  ASSERT_TRUE(reader);
  EXPECT_EQ(*reader->Text("t", 4), "text");
  EXPECT_THAT(reader->Text("t", 3).error().message(), HasSubstr("at most 3 bytes"));
  EXPECT_EQ(*reader->Number("n", 0, 1), 0.5);
  EXPECT_FALSE(reader->Number("n", 0.6, 1));
  EXPECT_FALSE(reader->Number("t", 0, 1));
  EXPECT_EQ(*reader->Integer("i", 0, 7), 7);
  EXPECT_FALSE(reader->Integer("i", 0, 6));
  EXPECT_FALSE(reader->Integer("n", 0, 6));
  EXPECT_EQ(*reader->OneOf("w", {"down", "up"}), 1U);
  EXPECT_FALSE(reader->OneOf("w", {"left"}));
  EXPECT_THAT(reader->NothingElse().error().message(), HasSubstr("edit 1: \"a\" is not asked for"));
  EXPECT_TRUE(*reader->Boolean("b"));
  EXPECT_THAT(reader->Boolean("i").error().message(), HasSubstr("true or false"));
  EXPECT_TRUE(reader->Array("a", 1, 2));
  EXPECT_FALSE(reader->Array("a", 3, 4));
  EXPECT_TRUE(reader->NothingElse());
  EXPECT_THAT(reader->Text("x", 1).error().message(), HasSubstr("\"x\" is missing"));
  EXPECT_FALSE(ObjectReader::Of(nlohmann::json(1), "edit 2"));
}

}  // namespace
}  // namespace optiml
