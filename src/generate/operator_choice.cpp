#include "generate/operator_choice.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "prompt/fence.h"
#include "prompt/prompts.h"
#include "prompt/strict_json.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostWordBytes = 64;
constexpr size_t kMostSentenceBytes = 4096;

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

// The reply as the schema has it.
struct Answer {
  std::string name;     // of the operator, or "none"
  std::string choices;  // as FormatOperator writes them
  bool covers_all = false;
  std::string left_out;
};

Result<Answer> ReadAnswer(std::string_view reply) {
  OPTIML_ASSIGN(const Json json, ParseReplyObject(reply));
  OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(json, "the answer"));
  Answer answer;
  OPTIML_ASSIGN(answer.name, reader.Text("operator", kMostWordBytes));
  OPTIML_ASSIGN(const Json* choices, reader.Object("choices"));
  OPTIML_ASSIGN(answer.covers_all, reader.Boolean("covers_all"));
  OPTIML_ASSIGN(answer.left_out, reader.Text("left_out", kMostSentenceBytes));
  OPTIML_TRY(reader.NothingElse());
  OPTIML_ASSIGN(ObjectReader choice, ObjectReader::Of(*choices, "\"choices\""));
  char separator = ':';
  for (const auto& [key, value] : choices->items()) {
    OPTIML_ASSIGN(const std::string chosen, choice.Text(key.c_str(), kMostWordBytes));
    answer.choices += fmt::format("{}{}={}", separator, key, chosen);
    separator = ',';
  }
  return answer;
}

}  // namespace

Result<OperatorChoice> ChooseByModel(ChatModel& model, const ContractLibrary& library,
                                     std::string_view sentence, uint64_t seed) {
  ChatRequest request;
  request.messages = RenderPrompt(Prompt::kChooseOperator, {{"operators", OperatorList(library)},
                                                            {"sentence", Quoted(sentence)}});
  request.max_tokens = 300;
  request.seed = seed;
  request.json_schema = ReplySchema(Prompt::kChooseOperator);
  OPTIML_ASSIGN(const ChatReply reply, model.Complete(request));
  auto answer = ReadAnswer(reply.text);
  if (!answer) {
    return std::move(answer).error().WithContext(model.name());
  }
  OperatorChoice choice;
  choice.covers_all = answer->covers_all;
  choice.left_out = answer->left_out;
  if (answer->name == "none") {
    return choice;
  }
  auto parsed = ParseOperator(library, answer->name + answer->choices);
  if (!parsed) {
    return std::move(parsed).error().WithContext(model.name());
  }
  choice.request = *std::move(parsed);
  return choice;
}

}  // namespace optiml
