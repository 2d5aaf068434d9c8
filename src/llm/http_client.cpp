#include "llm/http_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "llm/curl_library.h"

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
  const CurlLibrary& curl;
  CURL* easy = nullptr;
  const HttpRequest* request = nullptr;
  HttpOutcome* outcome = nullptr;
};

int StatusOf(const CurlLibrary& curl, CURL* easy) {
  long status = 0;
  curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

size_t OnBody(char* data, size_t one, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  HttpOutcome& outcome = *transfer.outcome;
  if (StatusOf(transfer.curl, transfer.easy) == 200) {
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
  Headers(const CurlLibrary& curl_library, const std::vector<std::string>& lines)
      : curl(curl_library) {
    for (const std::string& line : lines) {
      list = curl.slist_append(list, line.c_str());
    }
  }
  ~Headers() { curl.slist_free_all(list); }
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;
  const CurlLibrary& curl;
  curl_slist* list = nullptr;
};

// Empty where it cannot be told.
std::string HostOf(const std::string& url) {
  std::string host;
  if (!CurlLibrary::Get()) {
    return host;
  }
  const CurlLibrary& curl = *CurlLibrary::Get();
  if (CURLU* parts = curl.url()) {
    char* text = nullptr;
    if (curl.url_set(parts, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
        curl.url_get(parts, CURLUPART_HOST, &text, 0) == CURLUE_OK) {
      host = text;
      curl.free(text);
    }
    curl.url_cleanup(parts);
  }
  return host;
}

void SetOptions(const Transfer& transfer, const curl_slist* headers, char* error_text) {
  const CurlLibrary& curl = transfer.curl;
  CURL* easy = transfer.easy;
  const HttpRequest& request = *transfer.request;
  curl.easy_reset(easy);  // keeps the connections
  curl.easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // no wait for a name that is still looked up
  curl.easy_setopt(easy, CURLOPT_USERAGENT, "optiml");
  curl.easy_setopt(easy, CURLOPT_POST, 1L);
  curl.easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, &OnBody);
  curl.easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(kConnectLimit.count()));
  if (IsThisMachine(request.url)) {
    curl.easy_setopt(easy, CURLOPT_PROXY, "");  // http_proxy is for the world outside
  }
}

// Lets the transfer run until it ends, the time is over or the user wants the end.
CURLcode Run(const CurlLibrary& curl, CURLM* multi, const HttpRequest& request,
             HttpOutcome& outcome) {
  const auto end = SteadyClock::now() + request.time_limit;
  while (true) {
    int running = 0;
    curl.multi_perform(multi, &running);
    int left = 0;
    if (const CURLMsg* message = curl.multi_info_read(multi, &left)) {
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
    curl.multi_poll(multi, nullptr, 0, static_cast<int>(kPollInterval.count()), nullptr);
  }
}

}  // namespace

struct HttpClient::Handles {
  CURL* easy = nullptr;
  CURLM* multi = nullptr;
};

HttpClient::HttpClient() : handles_(std::make_unique<Handles>()) {
  if (CurlLibrary::Get()) {
    handles_->easy = CurlLibrary::Get()->easy_init();
    handles_->multi = CurlLibrary::Get()->multi_init();
    OPTIML_CHECK(handles_->easy != nullptr && handles_->multi != nullptr,
                 "libcurl has no memory left");
  }
}

HttpClient::~HttpClient() {
  if (CurlLibrary::Get()) {
    CurlLibrary::Get()->multi_cleanup(handles_->multi);
    CurlLibrary::Get()->easy_cleanup(handles_->easy);
  }
}

HttpOutcome HttpClient::Post(const HttpRequest& request) {
  HttpOutcome outcome;
  if (!CurlLibrary::Get()) {
    outcome.failure = CurlLibrary::Get().error();
    return outcome;
  }
  const CurlLibrary& curl = *CurlLibrary::Get();
  const Transfer transfer{curl, handles_->easy, &request, &outcome};
  const Headers headers(curl, request.headers);
  char error_text[CURL_ERROR_SIZE] = "";
  SetOptions(transfer, headers.list, error_text);
  curl.multi_add_handle(handles_->multi, handles_->easy);
  const CURLcode code = Run(curl, handles_->multi, request, outcome);
  outcome.status = StatusOf(curl, handles_->easy);
  curl_off_t uploaded = 0;
  curl.easy_getinfo(handles_->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  outcome.sent = uploaded == static_cast<curl_off_t>(request.body.size());
  curl_off_t seconds = 0;
  if (curl.easy_getinfo(handles_->easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK &&
      seconds > 0) {
    outcome.retry_after = std::chrono::seconds(seconds);
  }
  curl.multi_remove_handle(handles_->multi, handles_->easy);
  // An error's text that was longer than we keep was cut by us.
  const bool cut_by_us = code == CURLE_WRITE_ERROR && outcome.status != 200;
  if (code != CURLE_OK && !outcome.failure && !cut_by_us) {
    outcome.failure = Error(ErrorCode::kUnavailable,
                            error_text[0] != '\0' ? error_text : curl.easy_strerror(code));
  }
  return outcome;
}

bool IsThisMachine(const std::string& url) {
  const std::string host = HostOf(url);
  const bool is_ipv4 = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || (is_ipv4 && host.starts_with("127.")) || host == "[::1]";
}

}  // namespace optiml
