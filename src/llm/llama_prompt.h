#ifndef OPTIML_LLM_LLAMA_PROMPT_H_
#define OPTIML_LLM_LLAMA_PROMPT_H_

// A conversation as the tokens of one model: in the model's chat template when its file carries one
// that llama.cpp knows, else as plain lines "role: text". Built only with llama.cpp.
//
// The template's own control tokens ("<|im_start|>") are control tokens; the same characters in a
// message are text: nothing that stands in a kernel can end a message or begin one.

#include <llama.h>

#include <string>
#include <vector>

#include "llm/chat_model.h"

namespace optiml {

class LlamaPrompt {
 public:
  // Borrows the model.
  explicit LlamaPrompt(const llama_model* model);

  std::vector<llama_token> Tokens(const std::vector<ChatMessage>& messages) const;
  // What a token adds to a text; nothing for control tokens.
  std::string Piece(llama_token token) const;

 private:
  std::string Format(const std::vector<ChatMessage>& messages) const;
  bool HasControlText(const std::string& text) const;
  void Append(const std::string& text, bool first, bool parse_control,
              std::vector<llama_token>& tokens) const;

  const llama_vocab* vocab_;
  std::string template_;                    // empty: plain lines
  std::vector<std::string> control_texts_;  // of the control tokens
};

}  // namespace optiml

#endif  // OPTIML_LLM_LLAMA_PROMPT_H_
