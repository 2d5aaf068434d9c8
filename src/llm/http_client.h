#ifndef OPTIML_LLM_HTTP_CLIENT_H_
#define OPTIML_LLM_HTTP_CLIENT_H_

// HttpClient: one POST after the other to one server, by libcurl, with a time limit and a stop flag
// that end it within a few hundredths of a second wherever it is (looking up the name, connecting,
// waiting, receiving). Connections are kept. Redirects are not followed, so that a key goes nowhere
// but where the user sent it; certificates are checked.
//
// Threads: one at a time.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::chrono::milliseconds time_limit{60'000};
  const std::atomic<bool>* stop = nullptr;  // borrowed; may be null
  // Gets what comes of the body of a 200, in pieces; an Error ends the transfer with it.
  std::function<Result<void>(std::string_view)> on_body;
};

struct HttpOutcome {
  int status = 0;     // 0: no response came
  bool sent = false;  // the whole request went out: the server may have worked on it
  // The body of an answer other than 200, up to 64 KiB.
  std::string body;
  std::optional<std::chrono::seconds> retry_after;
  // Why the exchange is not whole: kUnavailable (not reached, or the connection broke), kTimeout,
  // kInterrupted, or what on_body said. Absent: the answer came as a whole.
  std::optional<Error> failure;
};

class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;  // owns its connections
  HttpClient& operator=(const HttpClient&) = delete;

  HttpOutcome Post(const HttpRequest& request);

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

// "127.0.0.1", "localhost" ...: a host of an URL that is this machine.
bool IsThisMachine(const std::string& url);

}  // namespace optiml

#endif  // OPTIML_LLM_HTTP_CLIENT_H_
