#ifndef OPTIML_GENERATE_PROMPT_H_
#define OPTIML_GENERATE_PROMPT_H_

// The prompts of this folder (prompts/*.md) as messages. What is put into a prompt's holes is data:
// holes in it are not filled.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_text.h"
#include "base/result.h"
#include "llm/chat_model.h"

namespace optiml {

// `name`: "choose_operator". Fails with kInternal when there is no such prompt or one of its holes
// is not given.
Result<std::vector<ChatMessage>> RenderPrompt(std::string_view name,
                                              const std::map<std::string, std::string>& holes);

// The text of the only fenced code block, or the whole reply when it has no fence. Fails
// (kInvalidArgument) on several blocks and on an empty one.
Result<std::string> CodeOfReply(std::string_view reply);
// The JSON object of a reply, with or without a fence around it, nothing beside it.
Result<std::string> JsonOfReply(std::string_view reply);
// A text as a JSON string, with its quotes.
std::string JsonString(std::string_view text);

std::span<const EmbeddedText> EmbeddedGeneratePrompts();

}  // namespace optiml

#endif  // OPTIML_GENERATE_PROMPT_H_
