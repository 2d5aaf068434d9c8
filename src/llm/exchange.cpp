#include "llm/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "llm/json_text.h"

namespace optiml {
namespace {

constexpr std::array<std::pair<ErrorCode, const char*>, 8> kErrorNames = {{
    {ErrorCode::kInvalidArgument, "invalid argument"},
    {ErrorCode::kParse, "parse"},
    {ErrorCode::kNotFound, "not found"},
    {ErrorCode::kTimeout, "timeout"},
    {ErrorCode::kUnavailable, "unavailable"},
    {ErrorCode::kIo, "io"},
    {ErrorCode::kInterrupted, "interrupted"},
    {ErrorCode::kInternal, "internal"},
}};

Json RequestJson(const ChatRequest& request) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages) {
    messages.push_back({{"role", ChatRoleName(message.role)}, {"text", message.text}});
  }
  return {{"messages", std::move(messages)},
          {"max_tokens", request.max_tokens},
          {"temperature", request.temperature},
          {"seed", request.seed},
          {"json_schema", request.json_schema}};
}

Json ReplyJson(const ChatReply& reply) {
  return {{"text", reply.text},
          {"end", reply.end == ChatReply::End::kStop ? "stop" : "length"},
          {"tokens",
           {{"prompt", reply.tokens.prompt},
            {"cached_prompt", reply.tokens.cached_prompt},
            {"completion", reply.tokens.completion},
            {"estimated", reply.tokens.estimated}}},
          {"dollars", reply.dollars}};
}

Json ErrorJson(const Error& error) {
  const auto name = std::find_if(kErrorNames.begin(), kErrorNames.end(),
                                 [&](const auto& each) { return each.first == error.code(); });
  return {{"code", name->second}, {"message", error.message()}};
}

Error NoExchange(const std::string& why) {
  return Error(ErrorCode::kParse, "not a recorded exchange: " + why);
}

Result<ChatRequest> ParseRequest(const Json& json) {
  ChatRequest request;
  const Json& messages = Member(json, "messages");
  const Json& seed = Member(json, "seed");
  const Json& temperature = Member(json, "temperature");
  if (!messages.is_array() || !temperature.is_number() || !seed.is_number_integer()) {
    return NoExchange("the request lacks its messages, temperature or seed");
  }
  for (const Json& each : messages) {
    const std::string role = StringMember(each, "role");
    ChatMessage message;
    message.role = role == "system"      ? ChatRole::kSystem
                   : role == "assistant" ? ChatRole::kAssistant
                                         : ChatRole::kUser;
    if (role != ChatRoleName(message.role)) {
      return NoExchange("unknown role \"" + role + "\" (known: system user assistant)");
    }
    message.text = StringMember(each, "text");
    request.messages.push_back(std::move(message));
  }
  request.max_tokens = static_cast<int>(IntegerMember(json, "max_tokens", 0));
  request.temperature = temperature.get<double>();
  request.seed = seed.get<uint64_t>();
  request.json_schema = StringMember(json, "json_schema");
  return request;
}

ChatReply ParseReply(const Json& json) {
  ChatReply reply;
  reply.text = StringMember(json, "text");
  reply.end =
      StringMember(json, "end") == "length" ? ChatReply::End::kLength : ChatReply::End::kStop;
  const Json& tokens = Member(json, "tokens");
  reply.tokens.prompt = IntegerMember(tokens, "prompt", 0);
  reply.tokens.cached_prompt = IntegerMember(tokens, "cached_prompt", 0);
  reply.tokens.completion = IntegerMember(tokens, "completion", 0);
  reply.tokens.estimated = Member(tokens, "estimated") == Json(true);
  if (const Json& dollars = Member(json, "dollars"); dollars.is_number()) {
    reply.dollars = dollars.get<double>();
  }
  return reply;
}

// Up to 40 bytes of `text` around the place where it differs, in quotes and on one line.
std::string Excerpt(const std::string& text, size_t at) {
  const size_t begin = at > 12 ? at - 12 : 0;
  return (begin > 0 ? "..." : "") + JsonLine(Json(text.substr(begin, 40)));
}

std::string TextDifference(const std::string& what, const std::string& recorded,
                           const std::string& asked) {
  const std::string a = Utf8Text(recorded);
  const std::string b = Utf8Text(asked);
  if (a == b) {
    return "";
  }
  const auto at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  return fmt::format("{} differs at byte {}: recorded {}, asked {}", what, at, Excerpt(a, at),
                     Excerpt(b, at));
}

}  // namespace

ContentHash RequestHash(const ChatRequest& request) {
  return ContentHash::Of(JsonLine(RequestJson(request)));
}

std::string FormatExchange(const Exchange& exchange) {
  Json line = {{"request_hash", RequestHash(exchange.request).Hex()},
               {"request", RequestJson(exchange.request)}};
  if (exchange.outcome) {
    line["reply"] = ReplyJson(*exchange.outcome);
  } else {
    line["error"] = ErrorJson(exchange.outcome.error());
  }
  return JsonLine(line);
}

Result<Exchange> ParseExchange(std::string_view line) {
  const Json json = ParseJson(line);
  if (!json.is_object()) {
    return NoExchange("not a JSON object");
  }
  Exchange exchange;
  OPTIML_ASSIGN(exchange.request, ParseRequest(Member(json, "request")));
  if (StringMember(json, "request_hash") != RequestHash(exchange.request).Hex()) {
    return NoExchange("the hash is not that of its request");
  }
  if (json.contains("reply")) {
    exchange.outcome = ParseReply(json["reply"]);
    return exchange;
  }
  const std::string code = StringMember(Member(json, "error"), "code");
  const auto name = std::find_if(kErrorNames.begin(), kErrorNames.end(),
                                 [&](const auto& each) { return each.second == code; });
  if (name == kErrorNames.end()) {
    return NoExchange("neither a reply nor an error");
  }
  exchange.outcome = Error(name->first, StringMember(Member(json, "error"), "message"));
  return exchange;
}

std::string FirstDifference(const ChatRequest& recorded, const ChatRequest& asked) {
  for (size_t i = 0; i < std::min(recorded.messages.size(), asked.messages.size()); ++i) {
    const ChatMessage& a = recorded.messages[i];
    const ChatMessage& b = asked.messages[i];
    if (a.role != b.role) {
      return fmt::format("message {} is the {}'s, recorded as the {}'s", i + 1,
                         ChatRoleName(b.role), ChatRoleName(a.role));
    }
    const std::string what = fmt::format("message {} ({})", i + 1, ChatRoleName(a.role));
    if (std::string difference = TextDifference(what, a.text, b.text); !difference.empty()) {
      return difference;
    }
  }
  if (recorded.messages.size() != asked.messages.size()) {
    return fmt::format("{} messages, recorded {}", asked.messages.size(), recorded.messages.size());
  }
  if (recorded.max_tokens != asked.max_tokens) {
    return fmt::format("max_tokens is {}, recorded {}", asked.max_tokens, recorded.max_tokens);
  }
  if (recorded.temperature != asked.temperature) {
    return fmt::format("temperature is {}, recorded {}", asked.temperature, recorded.temperature);
  }
  if (recorded.seed != asked.seed) {
    return fmt::format("seed is {}, recorded {}", asked.seed, recorded.seed);
  }
  return TextDifference("json_schema", recorded.json_schema, asked.json_schema);
}

}  // namespace optiml
