#ifndef OPTIML_LLM_CHAT_COMPLETION_H_
#define OPTIML_LLM_CHAT_COMPLETION_H_

// The chat completions of OpenAI's API as text: what is sent, what comes back, whole or in pieces.
// JSON values stay behind this header.
//
// Endpoints that call themselves compatible differ in what they accept. Dialect holds what this one
// has accepted so far; when it refuses a request, GiveWay drops what it complains about, and the
// request is sent again.

#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/api_key.h"
#include "llm/chat_model.h"
#include "llm/event_stream.h"

namespace optiml {

struct Dialect {
  // How a JSON schema is handed over, the firmest first. In the last the prompt asks for it.
  enum class Schema { kJsonSchema, kJsonObject, kPrompt };
  Schema schema = Schema::kJsonSchema;
  bool max_completion_tokens = false;  // OpenAI's newer name of max_tokens
  bool temperature = true;
  bool seed = true;
  bool stream_options = true;
  bool stream = true;  // off: the endpoint says its errors only to those who do not stream

  // Takes back what `complaint` (an endpoint's message for a 400 or 422) is about. False when it is
  // about nothing that could be left out of `request`.
  bool GiveWay(const std::string& complaint, const ChatRequest& request);
};

// The body of the request.
std::string ChatCompletionBody(const std::string& model, const ChatRequest& request,
                               const Dialect& dialect);

// What an endpoint says in the body of an error: its "message", else all of the text, on one line.
struct EndpointError {
  std::string message;
  std::string code;  // "context_length_exceeded"; empty when it names none
};
EndpointError ParseEndpointError(const std::string& body);
// An endpoint's words for a message of ours: no more than their beginning.
std::string Quotation(std::string words);

// Puts a reply together from server-sent events, or from one JSON object when the endpoint does not
// stream.
class CompletionReader {
 public:
  // `longest_bytes`: of the reply's text. `key`: taken out of what is quoted.
  CompletionReader(size_t longest_bytes, ApiKey key);
  CompletionReader(const CompletionReader&) = delete;  // its parts point to it
  CompletionReader& operator=(const CompletionReader&) = delete;

  // Fails with kInternal when the answer is not what a chat completion is, or has no end.
  Result<void> Feed(std::string_view bytes);
  // Nothing at all came: some servers do not know how to say an error in a stream.
  bool is_empty() const { return form_ == Form::kUnknown; }
  // Feed failed since more came than was asked for; asking again would bring the same.
  bool is_too_long() const { return too_long_; }
  // The text so far.
  const std::string& text() const { return reply_.text; }
  // The reply; tokens that the endpoint did not name are estimated by length.
  // Fails with kInternal when the answer that came is none.
  Result<ChatReply> Finish(const ChatRequest& request);

 private:
  enum class Form { kUnknown, kEvents, kObject };

  void TakeEvent(const std::string& data);
  void TakeObject(std::string_view text, const char* message_name);
  void Fail(std::string what);

  // The beginning of what came, for a message.
  std::string Quoted(std::string_view text) const;

  size_t longest_bytes_;
  ApiKey key_;
  Form form_ = Form::kUnknown;
  EventStream events_;
  std::string object_;
  std::string failure_;
  ChatReply reply_;
  bool has_usage_ = false;
  bool ended_ = false;
  bool too_long_ = false;
};

}  // namespace optiml

#endif  // OPTIML_LLM_CHAT_COMPLETION_H_
