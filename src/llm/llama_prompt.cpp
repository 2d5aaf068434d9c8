#include "llm/llama_prompt.h"

#include <algorithm>

#include "llm/json_text.h"

namespace optiml {
namespace {

// In place of a message that is put in as text afterwards; no text of ours has this character.
std::string Placeholder(size_t index) {
  return "\x01" + std::to_string(index) + "\x01";
}

// UTF-8 without the characters that C strings and placeholders give a meaning.
std::string Sanitized(const std::string& text) {
  std::string clean = Utf8Text(text);
  std::replace_if(clean.begin(), clean.end(), [](char c) { return c == '\0' || c == '\x01'; }, ' ');
  return clean;
}

}  // namespace

LlamaPrompt::LlamaPrompt(const llama_model* model) : vocab_(llama_model_get_vocab(model)) {
  for (llama_token token = 0; token < llama_vocab_n_tokens(vocab_); ++token) {
    const auto attributes = llama_vocab_get_attr(vocab_, token);
    if ((attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0) {
      control_texts_.emplace_back(llama_vocab_get_text(vocab_, token));
    }
  }
  const char* text = llama_model_chat_template(model, nullptr);
  const llama_chat_message probe{"user", "x"};
  if (text != nullptr && llama_chat_apply_template(text, &probe, 1, true, nullptr, 0) > 0) {
    template_ = text;
  }
}

std::string LlamaPrompt::Format(const std::vector<ChatMessage>& messages) const {
  std::string text;
  if (template_.empty()) {
    for (const ChatMessage& message : messages) {
      text += ChatRoleName(message.role) + ": " + message.text + "\n";
    }
    return text + ChatRoleName(ChatRole::kAssistant) + ":";
  }
  std::vector<std::string> roles;
  std::vector<llama_chat_message> chat;
  roles.reserve(messages.size());
  for (const ChatMessage& message : messages) {
    roles.push_back(ChatRoleName(message.role));
    chat.push_back({roles.back().c_str(), message.text.c_str()});
  }
  const auto apply = [&] {
    return llama_chat_apply_template(template_.c_str(), chat.data(), chat.size(), true, text.data(),
                                     static_cast<int32_t>(text.size()));
  };
  text.resize(static_cast<size_t>(std::max(0, apply())));
  apply();
  return text;
}

bool LlamaPrompt::HasControlText(const std::string& text) const {
  return std::any_of(control_texts_.begin(), control_texts_.end(), [&](const std::string& control) {
    return !control.empty() && text.find(control) != std::string::npos;
  });
}

void LlamaPrompt::Append(const std::string& text, bool first, bool parse_control,
                         std::vector<llama_token>& tokens) const {
  if (text.empty() && !first) {
    return;
  }
  const size_t old = tokens.size();
  tokens.resize(old + text.size() + 8);  // never more tokens than bytes, and a few around them
  const int32_t count =
      llama_tokenize(vocab_, text.data(), static_cast<int32_t>(text.size()), tokens.data() + old,
                     static_cast<int32_t>(tokens.size() - old), first, parse_control);
  tokens.resize(old + static_cast<size_t>(std::max(0, count)));
}

std::vector<llama_token> LlamaPrompt::Tokens(const std::vector<ChatMessage>& messages) const {
  std::vector<ChatMessage> clean = messages;
  bool has_control = false;
  for (ChatMessage& message : clean) {
    message.text = Sanitized(message.text);
    has_control |= HasControlText(message.text);
  }
  std::vector<llama_token> tokens;
  if (!has_control) {
    Append(Format(clean), true, true, tokens);
    return tokens;
  }
  std::vector<ChatMessage> marked = clean;
  for (size_t i = 0; i < marked.size(); ++i) {
    marked[i].text = Placeholder(i);
  }
  std::string rest = Format(marked);
  bool first = true;
  for (size_t at = rest.find('\x01'); at != std::string::npos; at = rest.find('\x01')) {
    const size_t end = rest.find('\x01', at + 1);
    const size_t index = std::stoul(rest.substr(at + 1, end - at - 1));
    Append(rest.substr(0, at), first, true, tokens);
    Append(clean.at(index).text, false, false, tokens);
    rest.erase(0, end + 1);
    first = false;
  }
  Append(rest, first, true, tokens);
  return tokens;
}

std::string LlamaPrompt::Piece(llama_token token) const {
  char buffer[256];
  const int32_t size = llama_token_to_piece(vocab_, token, buffer, sizeof(buffer), 0, false);
  if (size >= 0) {
    return {buffer, static_cast<size_t>(size)};
  }
  std::string piece(static_cast<size_t>(-size), '\0');
  llama_token_to_piece(vocab_, token, piece.data(), -size, 0, false);
  return piece;
}

}  // namespace optiml
