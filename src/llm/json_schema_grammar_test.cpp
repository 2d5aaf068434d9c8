#include "llm/json_schema_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Grammar(const std::string& schema) {
  const auto grammar = JsonSchemaGrammar(schema);
  return grammar ? *grammar : grammar.error().message();
}

TEST(JsonSchemaGrammar, WritesRequiredPropertiesInTheirOrder) {
  EXPECT_THAT(Grammar(R"({"type": "object", "required": ["b", "a"], "additionalProperties": false,
      "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "\"y"]}}})"),
              StartsWith("root ::= r8\n"
                         "r1 ::= \"\\\"a\\\":\" blank integer\n"
                         "r2 ::= \"\\\"x\\\"\" | \"\\\"\\\\\\\"y\\\"\"\n"
                         "r3 ::= \"\\\"b\\\":\" blank r2\n"
                         "r4 ::= r3\n"
                         "r5 ::= \",\" blank r3\n"
                         "r6 ::= r1 r5\n"
                         "r7 ::= \",\" blank r1 r5\n"
                         "r8 ::= \"{\" r6 \"}\"\n"));
}

TEST(JsonSchemaGrammar, APropertyThatIsNotRequiredMayBeLeftOut) {
  EXPECT_THAT(Grammar(R"({"type": "object",
      "properties": {"a": {"type": "null"}, "b": {"type": "boolean"}}})"),
              StartsWith("root ::= r7\n"
                         "r1 ::= \"\\\"a\\\":\" blank null\n"
                         "r2 ::= \"\\\"b\\\":\" blank boolean\n"
                         "r3 ::= r2 | \"\"\n"
                         "r4 ::= (\",\" blank r2)?\n"
                         "r5 ::= r1 r4 | r3\n"
                         "r6 ::= (\",\" blank r1)? r4\n"
                         "r7 ::= \"{\" r5 \"}\"\n"));
}

TEST(JsonSchemaGrammar, ArraysHaveTheirLengths) {
  const auto array = [](const std::string& lengths) {
    return Grammar(R"({"type": "array", "items": {"type": "string"})" + lengths + "}");
  };
  EXPECT_THAT(array(""), HasSubstr("r1 ::= \"[\" (string (\",\" blank string){0,999})? \"]\"\n"));
  EXPECT_THAT(array(R"(, "minItems": 2, "maxItems": 5)"),
              HasSubstr("r1 ::= \"[\" string (\",\" blank string){1,4} \"]\"\n"));
  EXPECT_THAT(array(R"(, "maxItems": 1)"), HasSubstr("r1 ::= \"[\" (string)? \"]\"\n"));
  EXPECT_THAT(array(R"(, "maxItems": 0)"), HasSubstr("r1 ::= \"[]\"\n"));
}

TEST(JsonSchemaGrammar, NumbersFromZeroHaveNoSignAndTextsAreNotEmpty) {
  EXPECT_THAT(Grammar(R"({"type": "integer", "minimum": 1})"), StartsWith("root ::= natural\n"));
  EXPECT_THAT(Grammar(R"({"type": "number", "exclusiveMinimum": 0, "maximum": 1})"),
              StartsWith("root ::= unsigned\n"));
  EXPECT_THAT(Grammar(R"({"type": "number", "minimum": -1})"), StartsWith("root ::= number\n"));
  EXPECT_THAT(Grammar(R"({"type": "string", "minLength": 1})"), StartsWith("root ::= text\n"));
}

TEST(JsonSchemaGrammar, AnObjectMayHaveNamesOfAnyKind) {
  EXPECT_THAT(Grammar(R"({"type": "object", "additionalProperties": {"type": "integer"}})"),
              StartsWith("root ::= r2\n"
                         "r1 ::= string \":\" blank integer\n"
                         "r2 ::= \"{\" (r1 (\",\" blank r1)*)? \"}\"\n"));
}

TEST(JsonSchemaGrammar, SaysWhatItDoesNotKnowAndWhere) {
  EXPECT_EQ(Grammar("{"), "JSON schema: /: not JSON");
  EXPECT_EQ(Grammar("3"), "JSON schema: /: a schema is a JSON object");
  EXPECT_EQ(Grammar("{}"),
            "JSON schema: /: \"type\" is one of object array string number integer boolean null");
  EXPECT_EQ(Grammar(R"({"type": "string", "pattern": "a*"})"),
            "JSON schema: /: unsupported keyword \"pattern\" (supported here: type minLength title "
            "description $schema)");
  EXPECT_THAT(Grammar(R"({"anyOf": []})"), HasSubstr("unsupported keyword \"anyOf\""));
  EXPECT_THAT(Grammar(R"({"type": "object", "properties": {"a": {"type": "array", "items":
                         {"type": "integer", "multipleOf": 3}}}})"),
              StartsWith("JSON schema: /properties/a/items: unsupported keyword \"multipleOf\""));
  EXPECT_THAT(Grammar(R"({"type": "object", "properties": {}, "required": ["x"]})"),
              HasSubstr("\"required\" names a property that is not there: \"x\""));
  EXPECT_THAT(Grammar(R"({"type": "object", "properties": {}, "additionalProperties": true})"),
              HasSubstr("can only be false"));
  EXPECT_THAT(Grammar(R"({"type": "array"})"), HasSubstr("an array needs \"items\""));
  EXPECT_THAT(Grammar(R"({"type": "array", "items": {"type": "null"}, "maxItems": 5000})"),
              HasSubstr("whole numbers from 0 to 1000"));
  EXPECT_THAT(Grammar(R"({"enum": [[1]]})"), HasSubstr("no objects and no arrays"));
  EXPECT_THAT(Grammar(R"({"enum": []})"), HasSubstr("at least one value"));
}

TEST(JsonSchemaGrammar, ASchemaOfAnyDepthEnds) {
  std::string schema = R"({"type": "null"})";
  for (int i = 0; i < 40; ++i) {
    schema = R"({"type": "array", "items": )" + schema + "}";
  }
  EXPECT_THAT(Grammar(schema), HasSubstr("more than 32 values within values"));
}

}  // namespace
}  // namespace optiml
