#include "llm/chat_completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/json_text.h"
#include "llm/token_estimate.h"

namespace optiml {
namespace {

constexpr size_t kLongestQuote = 300;       // of an endpoint's own words
constexpr size_t kOverheadBytes = 4 << 20;  // what a reply's JSON may have around the text

bool Mentions(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

std::string OnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return Utf8Text(text);
}

Json Messages(const ChatRequest& request, const Dialect& dialect) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages) {
    messages.push_back({{"role", ChatRoleName(message.role)}, {"content", message.text}});
  }
  if (!request.json_schema.empty() && dialect.schema != Dialect::Schema::kJsonSchema) {
    messages.back()["content"] =
        request.messages.back().text +
        "\n\nAnswer with one JSON value that follows this JSON Schema, and with nothing else:\n" +
        request.json_schema;
  }
  return messages;
}

Json ResponseFormat(const ChatRequest& request, const Dialect& dialect) {
  Json schema = ParseJson(request.json_schema);
  if (dialect.schema == Dialect::Schema::kJsonSchema) {
    return {{"type", "json_schema"},
            {"json_schema", {{"name", "reply"}, {"strict", true}, {"schema", std::move(schema)}}}};
  }
  return {{"type", "json_object"}, {"schema", std::move(schema)}};
}

}  // namespace

bool Dialect::GiveWay(const std::string& complaint, const ChatRequest& request) {
  if (!request.json_schema.empty() && schema != Schema::kPrompt &&
      (Mentions(complaint, "response_format") || Mentions(complaint, "json_schema") ||
       Mentions(complaint, "json_object"))) {
    schema = schema == Schema::kJsonSchema ? Schema::kJsonObject : Schema::kPrompt;
    return true;
  }
  if (!max_completion_tokens && Mentions(complaint, "max_completion_tokens")) {
    return max_completion_tokens = true;
  }
  for (const auto& [flag, name] :
       {std::pair{&temperature, "temperature"}, std::pair{&stream_options, "stream_options"},
        std::pair{&seed, "seed"}}) {
    if (*flag && Mentions(complaint, name)) {
      *flag = false;
      return true;
    }
  }
  return false;
}

std::string ChatCompletionBody(const std::string& model, const ChatRequest& request,
                               const Dialect& dialect) {
  Json body = {
      {"model", model}, {"messages", Messages(request, dialect)}, {"stream", dialect.stream}};
  body[dialect.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = request.max_tokens;
  if (dialect.temperature) {
    body["temperature"] = request.temperature;
  }
  if (dialect.seed) {
    body["seed"] = request.seed & 0x7fffffff;  // endpoints take 32 bits with a sign
  }
  if (dialect.stream && dialect.stream_options) {
    body["stream_options"] = {{"include_usage", true}};
  }
  if (!request.json_schema.empty() && dialect.schema != Dialect::Schema::kPrompt) {
    body["response_format"] = ResponseFormat(request, dialect);
  }
  return JsonLine(body);
}

EndpointError ParseEndpointError(const std::string& body) {
  const Json json = ParseJson(body);
  EndpointError error;
  const Json& inner = Member(json, "error");
  error.message = inner.is_string() ? inner.get<std::string>() : StringMember(inner, "message");
  error.code = StringMember(inner, "code");
  if (error.message.empty()) {
    error.message =
        StringMember(json, json.is_object() && json.contains("detail") ? "detail" : "message");
  }
  error.message = OnOneLine(error.message.empty() ? body : error.message);
  return error;
}

std::string Quotation(std::string words) {
  if (words.size() > kLongestQuote) {
    words.resize(kLongestQuote);
    words = Utf8Text(words) + "...";
  }
  return words;
}

CompletionReader::CompletionReader(size_t longest_bytes, ApiKey key)
    : longest_bytes_(longest_bytes),
      key_(std::move(key)),
      events_([this](const std::string& data) { TakeEvent(data); }) {}

void CompletionReader::Fail(std::string what) {
  if (failure_.empty()) {
    failure_ = std::move(what);
  }
}

std::string CompletionReader::Quoted(std::string_view text) const {
  return Quotation(key_.Redact(OnOneLine(std::string(text))));
}

Result<void> CompletionReader::Feed(std::string_view bytes) {
  if (form_ == Form::kUnknown) {
    const size_t begin = bytes.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) {
      return {};
    }
    bytes.remove_prefix(begin);
    // The first letters of "data", "event", "id", "retry", and of a comment.
    form_ = std::string_view("deir:").find(bytes[0]) != std::string_view::npos ? Form::kEvents
                                                                               : Form::kObject;
  }
  if (form_ == Form::kEvents) {
    OPTIML_TRY(events_.Feed(bytes));
  } else {
    object_ += bytes;
    if (object_.size() > longest_bytes_ + kOverheadBytes) {
      too_long_ = true;
      Fail("the answer has no end");
    }
  }
  if (reply_.text.size() > longest_bytes_) {
    too_long_ = true;
    Fail("the reply is much longer than was asked for");
  }
  if (!failure_.empty()) {
    return Error(ErrorCode::kInternal, failure_);
  }
  return {};
}

void CompletionReader::TakeEvent(const std::string& data) {
  if (data == "[DONE]") {
    ended_ = true;
    return;
  }
  TakeObject(data, "delta");
}

void CompletionReader::TakeObject(std::string_view text, const char* message_name) {
  const Json json = ParseJson(text);
  if (!json.is_object()) {
    Fail("the answer is not JSON: " + Quoted(text));
    return;
  }
  if (json.contains("error") && !json["error"].is_null()) {
    Fail("the endpoint says: " + Quoted(ParseEndpointError(std::string(text)).message));
    return;
  }
  const Json& choices = Member(json, "choices");
  const Json& usage = Member(json, "usage");
  if (!choices.is_array() && !usage.contains("prompt_tokens")) {
    Fail("the answer is no chat completion: " + Quoted(text));
    return;
  }
  if (choices.is_array() && !choices.empty()) {
    reply_.text += StringMember(Member(choices[0], message_name), "content");
    const std::string reason = StringMember(choices[0], "finish_reason");
    if (!reason.empty()) {
      ended_ = true;
      reply_.end = reason == "length" ? ChatReply::End::kLength : ChatReply::End::kStop;
    }
    if (reason == "content_filter") {
      Fail("the endpoint withheld the answer (content_filter)");
    }
  }
  if (usage.contains("prompt_tokens")) {
    has_usage_ = true;
    reply_.tokens.prompt = std::max<int64_t>(0, IntegerMember(usage, "prompt_tokens", 0));
    reply_.tokens.completion = std::max<int64_t>(0, IntegerMember(usage, "completion_tokens", 0));
    reply_.tokens.cached_prompt = std::clamp<int64_t>(
        IntegerMember(Member(usage, "prompt_tokens_details"), "cached_tokens", 0), 0,
        reply_.tokens.prompt);
  }
}

Result<ChatReply> CompletionReader::Finish(const ChatRequest& request) {
  if (form_ == Form::kObject) {
    TakeObject(object_, "message");
  }
  if (!failure_.empty()) {
    return Error(ErrorCode::kInternal, failure_);
  }
  if (!ended_) {
    return Error(ErrorCode::kInternal, "the answer broke off");
  }
  if (!has_usage_) {
    reply_.tokens.prompt = LikelyPromptTokens(request);
    reply_.tokens.completion = LikelyTokens(reply_.text);
    reply_.tokens.estimated = true;
  }
  return reply_;
}

}  // namespace optiml
