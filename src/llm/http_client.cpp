#include "llm/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace optiml {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kLargestErrorBody = size_t{64} << 10;
// How soon the stop flag is seen.
constexpr milliseconds kPollInterval{20};
// A server that does not accept within this time is down, whatever the reply's own limit is.
constexpr milliseconds kConnectLimit{15'000};

struct Transfer {
  CURL* easy = nullptr;
  const HttpRequest* request = nullptr;
  HttpOutcome* outcome = nullptr;
};

int StatusOf(CURL* easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

size_t OnBody(char* data, size_t one, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  HttpOutcome& outcome = *transfer.outcome;
  if (StatusOf(transfer.easy) == 200) {
    auto taken = transfer.request->on_body(std::string_view(data, size * one));
    if (!taken) {
      outcome.failure = std::move(taken).error();
      return 0;  // ends the transfer
    }
  } else {
    const size_t room = kLargestErrorBody - std::min(kLargestErrorBody, outcome.body.size());
    outcome.body.append(data, std::min(room, size));
    if (room < size) {
      return 0;  // enough to know what it says
    }
  }
  return size;
}

struct Headers {
  explicit Headers(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      list = curl_slist_append(list, line.c_str());
    }
  }
  ~Headers() { curl_slist_free_all(list); }
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;
  curl_slist* list = nullptr;
};

std::string HostOf(const std::string& url) {
  std::string host;
  if (CURLU* parts = curl_url()) {
    char* text = nullptr;
    if (curl_url_set(parts, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &text, 0) == CURLUE_OK) {
      host = text;
      curl_free(text);
    }
    curl_url_cleanup(parts);
  }
  return host;
}

void SetOptions(const Transfer& transfer, const curl_slist* headers, char* error_text) {
  CURL* easy = transfer.easy;
  const HttpRequest& request = *transfer.request;
  curl_easy_reset(easy);  // keeps the connections
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // no wait for a name that is still looked up
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "optiml");
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(kConnectLimit.count()));
  if (IsThisMachine(request.url)) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");  // http_proxy is for the world outside
  }
}

// Lets the transfer run until it ends, the time is over or the user wants the end.
CURLcode Run(CURLM* multi, const HttpRequest& request, HttpOutcome& outcome) {
  const auto end = SteadyClock::now() + request.time_limit;
  while (true) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int left = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      return message->data.result;
    }
    if (request.stop != nullptr && request.stop->load()) {
      outcome.failure = Error(ErrorCode::kInterrupted, "interrupted");
      return CURLE_ABORTED_BY_CALLBACK;
    }
    if (SteadyClock::now() >= end) {
      outcome.failure = Error(ErrorCode::kTimeout, "no whole answer within the time limit");
      return CURLE_OPERATION_TIMEDOUT;
    }
    curl_multi_poll(multi, nullptr, 0, static_cast<int>(kPollInterval.count()), nullptr);
  }
}

}  // namespace

struct HttpClient::Handles {
  CURL* easy = nullptr;
  CURLM* multi = nullptr;
};

HttpClient::HttpClient() : handles_(std::make_unique<Handles>()) {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  handles_->easy = curl_easy_init();
  handles_->multi = curl_multi_init();
  OPTIML_CHECK(kReady == CURLE_OK && handles_->easy != nullptr && handles_->multi != nullptr,
               "libcurl does not start");
}

HttpClient::~HttpClient() {
  curl_multi_cleanup(handles_->multi);
  curl_easy_cleanup(handles_->easy);
}

HttpOutcome HttpClient::Post(const HttpRequest& request) {
  HttpOutcome outcome;
  const Transfer transfer{handles_->easy, &request, &outcome};
  const Headers headers(request.headers);
  char error_text[CURL_ERROR_SIZE] = "";
  SetOptions(transfer, headers.list, error_text);
  curl_multi_add_handle(handles_->multi, handles_->easy);
  const CURLcode code = Run(handles_->multi, request, outcome);
  outcome.status = StatusOf(handles_->easy);
  curl_off_t uploaded = 0;
  curl_easy_getinfo(handles_->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  outcome.sent = uploaded == static_cast<curl_off_t>(request.body.size());
  curl_off_t seconds = 0;
  if (curl_easy_getinfo(handles_->easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK &&
      seconds > 0) {
    outcome.retry_after = std::chrono::seconds(seconds);
  }
  curl_multi_remove_handle(handles_->multi, handles_->easy);
  // An error's text that was longer than we keep was cut by us.
  const bool cut_by_us = code == CURLE_WRITE_ERROR && outcome.status != 200;
  if (code != CURLE_OK && !outcome.failure && !cut_by_us) {
    outcome.failure = Error(ErrorCode::kUnavailable,
                            error_text[0] != '\0' ? error_text : curl_easy_strerror(code));
  }
  return outcome;
}

bool IsThisMachine(const std::string& url) {
  const std::string host = HostOf(url);
  const bool is_ipv4 = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || (is_ipv4 && host.starts_with("127.")) || host == "[::1]";
}

}  // namespace optiml
