#include "llm/json_schema_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "llm/json_text.h"

namespace optiml {
namespace {

constexpr int kDeepest = 32;             // of values within values
constexpr int64_t kLongestArray = 1000;  // llama.cpp's own limit of repetitions is 2000

// What every grammar may refer to.
constexpr char kCommonRules[] =
    "blank ::= \" \"?\n"
    "char ::= [^\"\\\\\\x00-\\x1F\\x7F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" [0-9a-fA-F]{4})\n"
    "string ::= \"\\\"\" char* \"\\\"\"\n"
    "text ::= \"\\\"\" char+ \"\\\"\"\n"
    "natural ::= \"0\" | [1-9] [0-9]{0,15}\n"
    "integer ::= \"-\"? natural\n"
    "fraction ::= (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?\n"
    "unsigned ::= natural fraction\n"
    "number ::= integer fraction\n"
    "boolean ::= \"true\" | \"false\"\n"
    "null ::= \"null\"\n";

// A text as a literal of the grammar.
std::string Literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      literal += '\\';
    }
    literal += c;
  }
  return literal + "\"";
}

class GrammarWriter {
 public:
  // The name of the rule for the values of `schema`.
  Result<std::string> Value(const Json& schema, const std::string& place, int depth);
  std::string Finish(const std::string& start) const {
    return "root ::= " + start + "\n" + rules_ + kCommonRules;
  }

 private:
  Result<std::string> Choice(const Json& values, const std::string& place);
  Result<std::string> Map(const Json& schema, const std::string& place, int depth);
  Result<std::string> Object(const Json& schema, const std::string& place, int depth);
  Result<std::string> Array(const Json& schema, const std::string& place, int depth);
  Result<std::string> AddRule(const std::string& body) {
    const std::string name = "r" + std::to_string(++count_);
    rules_ += name + " ::= " + body + "\n";
    return name;
  }

  std::string rules_;
  int count_ = 0;
};

Error Refusal(const std::string& place, const std::string& what) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("JSON schema: {}: {}", place.empty() ? "/" : place, what));
}

// Fails when the schema has a keyword that is not among `known`.
Result<void> CheckKeywords(const Json& schema, const std::string& place,
                           std::vector<std::string> known) {
  known.insert(known.end(), {"title", "description", "$schema"});
  for (const auto& [keyword, value] : schema.items()) {
    if (std::find(known.begin(), known.end(), keyword) == known.end()) {
      std::string list;
      for (const std::string& each : known) {
        list += " " + each;
      }
      return Refusal(place,
                     fmt::format("unsupported keyword \"{}\" (supported here:{})", keyword, list));
    }
  }
  return {};
}

Result<std::string> GrammarWriter::Choice(const Json& values, const std::string& place) {
  if (!values.is_array() || values.empty()) {
    return Refusal(place, "\"enum\" is a list of at least one value");
  }
  std::string body;
  for (const Json& value : values) {
    if (value.is_structured()) {
      return Refusal(place, "the values of \"enum\" and \"const\" are no objects and no arrays");
    }
    body += (body.empty() ? "" : " | ") + Literal(JsonLine(value));
  }
  return AddRule(body);
}

// Names of any kind with values of one.
Result<std::string> GrammarWriter::Map(const Json& schema, const std::string& place, int depth) {
  OPTIML_TRY(CheckKeywords(schema, place, {"type", "additionalProperties"}));
  OPTIML_ASSIGN(const std::string value,
                Value(schema["additionalProperties"], place + "/additionalProperties", depth + 1));
  OPTIML_ASSIGN(const std::string member, AddRule("string \":\" blank " + value));
  return AddRule(fmt::format("\"{{\" ({0} (\",\" blank {0})*)? \"}}\"", member));
}

Result<std::string> GrammarWriter::Object(const Json& schema, const std::string& place, int depth) {
  if (!schema.contains("properties") && schema.contains("additionalProperties") &&
      schema["additionalProperties"].is_object()) {
    return Map(schema, place, depth);
  }
  OPTIML_TRY(
      CheckKeywords(schema, place, {"type", "properties", "required", "additionalProperties"}));
  const Json& properties = Member(schema, "properties");
  const Json& required = Member(schema, "required");
  if (!properties.is_object() || (schema.contains("required") && !required.is_array())) {
    return Refusal(place, "\"properties\" is an object and \"required\" a list of names");
  }
  if (schema.contains("additionalProperties") && schema["additionalProperties"] != Json(false)) {
    return Refusal(place, "\"additionalProperties\" can only be false");
  }
  std::set<std::string> needed;
  for (const Json& name : required) {
    if (!name.is_string() || !properties.contains(name.get<std::string>())) {
      return Refusal(place, "\"required\" names a property that is not there: " + JsonLine(name));
    }
    needed.insert(name.get<std::string>());
  }
  // From the last property to the first: what may follow when something was written already, and
  // when nothing was.
  std::string after_some;
  std::string after_none;
  std::vector<std::pair<std::string, std::string>> members;  // name, rule of the member
  for (const auto& [name, value] : properties.items()) {
    OPTIML_ASSIGN(const std::string rule, Value(value, place + "/properties/" + name, depth + 1));
    OPTIML_ASSIGN(const std::string member,
                  AddRule(Literal(JsonLine(Json(name)) + ":") + " blank " + rule));
    members.emplace_back(name, member);
  }
  for (auto each = members.rbegin(); each != members.rend(); ++each) {
    const auto& [name, member] = *each;
    const bool is_needed = needed.count(name) != 0;
    const std::string next = member + (after_some.empty() ? "" : " " + after_some);
    if (is_needed) {
      OPTIML_ASSIGN(after_none, AddRule(next));
    } else {
      OPTIML_ASSIGN(after_none, AddRule(next + " | " + (after_none.empty() ? "\"\"" : after_none)));
    }
    const std::string with_comma = "\",\" blank " + member;
    OPTIML_ASSIGN(after_some, AddRule((is_needed ? with_comma : "(" + with_comma + ")?") +
                                      (after_some.empty() ? "" : " " + after_some)));
  }
  return AddRule("\"{\" " + after_none + " \"}\"");
}

Result<std::string> GrammarWriter::Array(const Json& schema, const std::string& place, int depth) {
  OPTIML_TRY(CheckKeywords(schema, place, {"type", "items", "minItems", "maxItems"}));
  if (!schema.contains("items")) {
    return Refusal(place, "an array needs \"items\"");
  }
  const int64_t least = IntegerMember(schema, "minItems", schema.contains("minItems") ? -1 : 0);
  const int64_t most =
      IntegerMember(schema, "maxItems", schema.contains("maxItems") ? -1 : kLongestArray);
  if (least < 0 || most < least || most > kLongestArray) {
    return Refusal(
        place,
        fmt::format("\"minItems\" and \"maxItems\" are whole numbers from 0 to {}", kLongestArray));
  }
  OPTIML_ASSIGN(const std::string item, Value(schema["items"], place + "/items", depth + 1));
  if (most == 0) {
    return AddRule("\"[]\"");
  }
  const std::string more = most == 1 ? ""
                                     : fmt::format(" (\",\" blank {}){{{},{}}}", item,
                                                   std::max<int64_t>(0, least - 1), most - 1);
  return AddRule(least == 0 ? fmt::format("\"[\" ({}{})? \"]\"", item, more)
                            : fmt::format("\"[\" {}{} \"]\"", item, more));
}

Result<std::string> GrammarWriter::Value(const Json& schema, const std::string& place, int depth) {
  if (!schema.is_object()) {
    return Refusal(place, "a schema is a JSON object");
  }
  if (depth > kDeepest) {
    return Refusal(place, fmt::format("more than {} values within values", kDeepest));
  }
  if (schema.contains("const")) {
    OPTIML_TRY(CheckKeywords(schema, place, {"type", "const"}));
    return Choice(Json::array({schema["const"]}), place);
  }
  if (schema.contains("enum")) {
    OPTIML_TRY(CheckKeywords(schema, place, {"type", "enum"}));
    return Choice(schema["enum"], place);
  }
  const std::string type = StringMember(schema, "type");
  if (type == "object") {
    return Object(schema, place, depth);
  }
  if (type == "array") {
    return Array(schema, place, depth);
  }
  if (type == "string") {
    OPTIML_TRY(CheckKeywords(schema, place, {"type", "minLength"}));
    return std::string(IntegerMember(schema, "minLength", 0) > 0 ? "text" : "string");
  }
  if (type == "integer" || type == "number") {
    OPTIML_TRY(CheckKeywords(
        schema, place, {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}));
    const auto is_bound = [&](const char* keyword) {
      return schema.contains(keyword) && schema[keyword].is_number() &&
             schema[keyword].get<double>() >= 0;
    };
    if (is_bound("minimum") || is_bound("exclusiveMinimum")) {
      return std::string(type == "integer" ? "natural" : "unsigned");
    }
    return type;
  }
  for (const char* simple : {"boolean", "null"}) {
    if (type == simple) {
      OPTIML_TRY(CheckKeywords(schema, place, {"type"}));
      return type;
    }
  }
  OPTIML_TRY(CheckKeywords(schema, place, {"type", "enum", "const"}));
  return Refusal(place, "\"type\" is one of object array string number integer boolean null");
}

}  // namespace

Result<std::string> JsonSchemaGrammar(std::string_view schema) {
  const Json json = ParseJson(schema);
  if (json.is_discarded()) {
    return Refusal("", "not JSON");
  }
  GrammarWriter writer;
  OPTIML_ASSIGN(const std::string start, writer.Value(json, "", 0));
  return writer.Finish(start);
}

}  // namespace optiml
