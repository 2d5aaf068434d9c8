#include "llm/http_chat_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "llm/json_text.h"
#include "llm/token_estimate.h"

namespace optiml {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// A token is rarely longer than a word; what comes beyond was not asked for.
size_t LongestReplyBytes(const ChatRequest& request) {
  return std::max<size_t>(size_t{64} << 10, static_cast<size_t>(request.max_tokens) * 64);
}

Result<void> CheckRequest(const ChatRequest& request) {
  if (request.messages.empty() || request.max_tokens <= 0) {
    return Error(ErrorCode::kInvalidArgument, "a request has messages and max_tokens above 0");
  }
  if (!request.json_schema.empty() && !ParseJson(request.json_schema).is_object()) {
    return Error(ErrorCode::kInvalidArgument, "the JSON schema of the request is not JSON");
  }
  return {};
}

bool PassesByItself(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

bool IsAboutTheContext(const EndpointError& error) {
  return error.code == "context_length_exceeded" ||
         error.message.find("context length") != std::string::npos ||
         error.message.find("context window") != std::string::npos ||
         error.message.find("context size") != std::string::npos;
}

}  // namespace

HttpChatModel::HttpChatModel(HttpChatModelOptions options)
    : options_(std::move(options)),
      sends_key_(!options_.key.is_empty() &&
                 (options_.base_url.starts_with("https://") || IsThisMachine(options_.base_url))),
      jitter_(options_.jitter_seed) {
  while (options_.base_url.ends_with('/')) {
    options_.base_url.pop_back();
  }
}

Error HttpChatModel::Because(ErrorCode code, const std::string& what) const {
  return Error(code, options_.base_url + ": " + what);
}

Result<ChatReply> HttpChatModel::Complete(const ChatRequest& request) {
  Result<ChatReply> result = CompleteWithKey(request);
  if (!result) {
    return Error(result.error().code(), options_.key.Redact(result.error().message()));
  }
  result->text = options_.key.Redact(std::move(result->text));
  return result;
}

Result<ChatReply> HttpChatModel::CompleteWithKey(const ChatRequest& request) {
  OPTIML_TRY(CheckRequest(request));
  const Moment deadline = SteadyClock::now() + request.time_limit;
  milliseconds wait = options_.first_wait;
  int attempts = 0;
  dialect_.stream = true;
  while (true) {
    if (options_.rate_limiter != nullptr) {
      const Nanoseconds turn = options_.rate_limiter->Take(SteadyClock::now().time_since_epoch());
      OPTIML_TRY(Wait(request, turn, deadline,
                      Because(ErrorCode::kTimeout, fmt::format("the next request may be sent in "
                                                               "{:.0f} s, after the time limit",
                                                               Seconds(turn).count()))));
    }
    Attempt attempt = Try(request, deadline);
    if (attempt.next == Attempt::Next::kReturn) {
      return std::move(attempt.result);
    }
    if (attempt.next == Attempt::Next::kOtherDialect) {
      continue;
    }
    const Error& why = attempt.result.error();
    if (++attempts >= options_.attempts) {
      return Error(why.code(), fmt::format("{} ({} attempts)", why.message(), attempts));
    }
    const Nanoseconds jittered =
        std::chrono::duration_cast<Nanoseconds>(Seconds(wait) * (0.5 + 0.5 * jitter_.NextUnit()));
    OPTIML_TRY(Wait(request, jittered, deadline, why));
    wait = std::min(wait * 2, options_.longest_wait);
  }
}

Result<void> HttpChatModel::Wait(const ChatRequest& request, Nanoseconds wait, Moment deadline,
                                 const Error& why) const {
  const Moment end = SteadyClock::now() + wait;
  if (end >= deadline) {
    return Error(why);
  }
  while (SteadyClock::now() < end) {
    if (request.stop != nullptr && request.stop->load()) {
      return Because(ErrorCode::kInterrupted, "interrupted");
    }
    const auto left = std::chrono::duration_cast<Nanoseconds>(end - SteadyClock::now());
    std::this_thread::sleep_for(std::min<Nanoseconds>(left, milliseconds(20)));
  }
  return {};
}

HttpChatModel::Attempt HttpChatModel::Try(const ChatRequest& request, Moment deadline) {
  CompletionReader reader(LongestReplyBytes(request), options_.key);
  HttpRequest post;
  post.url = options_.base_url + "/chat/completions";
  post.headers = {"Content-Type: application/json", "Accept: text/event-stream, application/json"};
  if (sends_key_) {
    post.headers.push_back(options_.key.AuthorizationHeader());
  }
  post.body = ChatCompletionBody(options_.model, request, dialect_);
  post.time_limit = std::max(
      milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline - SteadyClock::now()));
  post.stop = request.stop;
  post.on_body = [&](std::string_view bytes) { return reader.Feed(bytes); };
  const HttpOutcome outcome = client_.Post(post);
  if (outcome.failure) {
    const ErrorCode code = outcome.failure->code();
    const bool ended_by_us = code == ErrorCode::kTimeout || code == ErrorCode::kInterrupted;
    const Error error = Because(code, outcome.failure->message());
    if (outcome.status == 200 || (outcome.status == 0 && outcome.sent)) {
      return Lost(request, reader.text(), error, !ended_by_us && !reader.is_too_long());
    }
    return {ended_by_us ? Attempt::Next::kReturn : Attempt::Next::kAgain, error};
  }
  if (outcome.status != 200) {
    return Refused(request, outcome);
  }
  if (reader.is_empty() && dialect_.stream) {
    dialect_.stream = false;
    return {Attempt::Next::kOtherDialect, Because(ErrorCode::kInternal, "the answer is empty")};
  }
  auto reply = reader.Finish(request);
  if (!reply) {
    return Lost(request, reader.text(), Because(reply.error().code(), reply.error().message()),
                true);
  }
  reply->dollars = options_.price ? options_.price->Dollars(reply->tokens) : 0;
  return {Attempt::Next::kReturn, std::move(reply)};
}

HttpChatModel::Attempt HttpChatModel::Lost(const ChatRequest& request, const std::string& text,
                                           Error error, bool again) {
  TokenUse tokens;
  tokens.prompt = LikelyPromptTokens(request);
  tokens.completion = LikelyTokens(text);
  tokens.estimated = true;
  if (options_.on_lost) {
    auto go_on = options_.on_lost(tokens, options_.price ? options_.price->Dollars(tokens) : 0);
    if (!go_on && again) {
      return {Attempt::Next::kReturn, std::move(go_on).error().WithContext(error.message())};
    }
  }
  return {again ? Attempt::Next::kAgain : Attempt::Next::kReturn, std::move(error)};
}

HttpChatModel::Attempt HttpChatModel::Refused(const ChatRequest& request,
                                              const HttpOutcome& outcome) {
  EndpointError said = ParseEndpointError(outcome.body);
  said.message = options_.key.Redact(std::move(said.message));  // before it is cut anywhere
  const int status = outcome.status;
  const auto because = [&](ErrorCode code, const std::string& what) {
    return Because(code, fmt::format("{} (status {}{}{})", what, status,
                                     said.message.empty() ? "" : ": ", Quotation(said.message)));
  };
  if (outcome.retry_after && options_.rate_limiter != nullptr) {
    options_.rate_limiter->HoldUntil(SteadyClock::now().time_since_epoch() + *outcome.retry_after);
  }
  if (status == 429 && said.code == "insufficient_quota") {
    return {Attempt::Next::kReturn,
            because(ErrorCode::kUnavailable, "the account's quota is spent")};
  }
  // llama-cpp-python's server answers 500 to a response_format that it does not know.
  if (status == 500 && said.message.find("'response_format'") != std::string::npos &&
      dialect_.GiveWay(said.message, request)) {
    return {Attempt::Next::kOtherDialect, because(ErrorCode::kInvalidArgument, "refused")};
  }
  if (PassesByItself(status)) {
    return {Attempt::Next::kAgain,
            because(ErrorCode::kUnavailable,
                    status == 429 ? "too many requests" : "the endpoint is in trouble")};
  }
  Error error = because(ErrorCode::kInvalidArgument, "the request is refused");
  if (status == 401 || status == 403) {
    const std::string remedy =
        options_.key.is_empty()
            ? "the endpoint wants a key: set OPTIML_API_KEY, or OPTIML_API_KEY_FILE to a file of "
              "mode 600"
        : sends_key_ ? "the key is not accepted"
                     : "the endpoint wants a key, and a key is sent over https only";
    error = because(ErrorCode::kInvalidArgument, remedy);
  } else if (status == 404) {
    error = because(ErrorCode::kInvalidArgument,
                    fmt::format("no model \"{}\", or no such endpoint", options_.model));
  } else if (status >= 300 && status < 400) {
    error =
        because(ErrorCode::kInvalidArgument, "the endpoint has moved; redirects are not followed");
  } else if (IsAboutTheContext(said)) {
    error = because(ErrorCode::kInvalidArgument,
                    "prompt and reply do not fit into the model's context");
  } else if ((status == 400 || status == 422) && dialect_.GiveWay(said.message, request)) {
    return {Attempt::Next::kOtherDialect, std::move(error)};
  }
  return {Attempt::Next::kReturn, std::move(error)};
}

}  // namespace optiml
