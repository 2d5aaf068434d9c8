#ifndef OPTIML_GENERATE_OPERATOR_CHOICE_H_
#define OPTIML_GENERATE_OPERATOR_CHOICE_H_

// Which operator a language model thinks a sentence asks for. Its answer is a proposal: it is shown
// and confirmed like one of the matcher's, and never taken without asking.

#include <optional>
#include <string>

#include "generate/matcher.h"
#include "llm/chat_model.h"

namespace optiml {

struct OperatorChoice {
  std::optional<OperatorRequest> request;  // absent: the model knows none
  bool covers_all = false;                 // by its own word
  std::string left_out;
};

// One question, temperature 0. Fails as the model does, and with kInvalidArgument when the reply is
// not the JSON that was asked for or names what is not there.
Result<OperatorChoice> ChooseByModel(ChatModel& model, const ContractLibrary& library,
                                     std::string_view sentence, uint64_t seed = 0);

}  // namespace optiml

#endif  // OPTIML_GENERATE_OPERATOR_CHOICE_H_
