#include "generate/operator_choice.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generate/prompt.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

constexpr char kChoiceSchema[] =
    R"({"type":"object","properties":{"operator":{"type":"string"},"choices":{"type":"object",)"
    R"("additionalProperties":{"type":"string"}},"covers_all":{"type":"boolean"},)"
    R"("left_out":{"type":"string"}},"required":["operator","choices","covers_all","left_out"],)"
    R"("additionalProperties":false})";

std::string OperatorList(const ContractLibrary& library) {
  std::string text;
  for (const Contract& contract : library.contracts()) {
    text += contract.name;
    for (const Choice& choice : contract.choices) {
      std::string values;
      for (const ChoiceValue& value : choice.values) {
        values += (values.empty() ? "" : "|") + value.name;
      }
      text += fmt::format(" {}={}", choice.name, values);
    }
    OperatorRequest request;
    request.contract = &contract;
    for (const Choice& choice : contract.choices) {
      request.choices[choice.name] = choice.values.front().name;
    }
    text += ": for example, " + DescribeOperator(request) + "\n";
  }
  return text;
}

bool IsWellFormed(const Json& json) {
  return json.is_object() && json.size() == 4 && json.contains("operator") &&
         json["operator"].is_string() && json.contains("choices") && json["choices"].is_object() &&
         json.contains("covers_all") && json["covers_all"].is_boolean() &&
         json.contains("left_out") && json["left_out"].is_string();
}

}  // namespace

Result<OperatorChoice> ChooseByModel(ChatModel& model, const ContractLibrary& library,
                                     std::string_view sentence, uint64_t seed) {
  ChatRequest request;
  OPTIML_ASSIGN(request.messages,
                RenderPrompt("choose_operator", {{"operators", OperatorList(library)},
                                                 {"sentence", JsonString(sentence)}}));
  request.max_tokens = 300;
  request.seed = seed;
  request.json_schema = kChoiceSchema;
  OPTIML_ASSIGN(const ChatReply reply, model.Complete(request));
  OPTIML_ASSIGN(const std::string text, JsonOfReply(reply.text));
  const Json json = Json::parse(text, nullptr, false);
  if (!IsWellFormed(json)) {
    return Error(ErrorCode::kInvalidArgument,
                 model.name() + ": the reply is not the JSON that was asked for");
  }
  OperatorChoice choice;
  choice.covers_all = json["covers_all"].get<bool>();
  choice.left_out = json["left_out"].get<std::string>();
  std::string name = json["operator"].get<std::string>();
  if (name == "none") {
    return choice;
  }
  char separator = ':';
  for (const auto& [key, value] : json["choices"].items()) {
    if (!value.is_string()) {
      return Error(ErrorCode::kInvalidArgument, model.name() + ": a choice is no string");
    }
    name += fmt::format("{}{}={}", separator, key, value.get<std::string>());
    separator = ',';
  }
  auto parsed = ParseOperator(library, name);
  if (!parsed) {
    return std::move(parsed).error().WithContext(model.name());
  }
  choice.request = *std::move(parsed);
  return choice;
}

}  // namespace optiml
