#ifndef OPTIML_LLM_FAULTY_SERVER_H_
#define OPTIML_LLM_FAULTY_SERVER_H_

// FaultyServer: an HTTP server for tests, on 127.0.0.1 with a port of the system's choice, whose
// answers the test writes byte by byte: late, cut off, without end, or not HTTP at all. One thread
// serves one connection after the other, one request each.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"

namespace optiml {

class FaultyServer {
 public:
  class Connection {
   public:
    Connection(int socket, const std::atomic<bool>& stop) : socket_(socket), stop_(stop) {}

    // False when the client is gone or the test is over.
    bool Send(std::string_view text) {
      while (!text.empty() && !stop_) {
        const ssize_t n = send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (n <= 0) {
          return false;
        }
        text.remove_prefix(static_cast<size_t>(n));
      }
      return !stop_;
    }
    // Does nothing for so long, or until the client is gone or the test is over.
    bool Stall(std::chrono::milliseconds time) {
      const auto end = std::chrono::steady_clock::now() + time;
      while (!stop_ && std::chrono::steady_clock::now() < end) {
        pollfd fd{socket_, POLLRDHUP, 0};
        if (poll(&fd, 1, 10) > 0) {
          return false;
        }
      }
      return !stop_;
    }

   private:
    int socket_;
    const std::atomic<bool>& stop_;
  };

  // `request`: head and body as they came; `count`: how many came before it.
  using Handler =
      std::function<void(const std::string& request, int count, Connection& connection)>;

  explicit FaultyServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    OPTIML_CHECK(bind(listener_, generic, size) == 0 && listen(listener_, 16) == 0 &&
                     getsockname(listener_, generic, &size) == 0,
                 "the test's server cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~FaultyServer() { Stop(); }

  // From now on connections are refused.
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) {
      thread_.join();
      close(listener_);
    }
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  // Whole answers.
  static std::string Answer(int status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" +
           headers + "Connection: close\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
  static std::string StreamHead() {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  }
  // One event with a piece of the reply's text, which is put in as it is.
  static std::string Delta(const std::string& text) {
    return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
  }
  // The end of a stream, with what was used.
  static std::string StreamEnd(int prompt, int completion, const std::string& reason = "stop") {
    return "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" + reason +
           "\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":" + std::to_string(prompt) +
           ",\"completion_tokens\":" + std::to_string(completion) + "}}\n\ndata: [DONE]\n\n";
  }

 private:
  void Serve() {
    while (!stop_) {
      pollfd fd{listener_, POLLIN, 0};
      if (poll(&fd, 1, 10) <= 0) {
        continue;
      }
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      std::string request;
      if (socket >= 0 && Read(socket, request)) {
        int count = 0;
        {
          const std::lock_guard lock(mutex_);
          count = static_cast<int>(requests_.size());
          requests_.push_back(request);
        }
        Connection connection(socket, stop_);
        handler_(request, count, connection);
      }
      close(socket);
    }
  }

  // Head and body of a request; false when the client went away in between.
  bool Read(int socket, std::string& request) {
    char chunk[1 << 14];
    while (!stop_) {
      const size_t head = request.find("\r\n\r\n");
      const size_t length = request.find("Content-Length: ");
      if (head != std::string::npos && length < head &&
          request.size() >= head + 4 + std::strtoul(request.c_str() + length + 16, nullptr, 10)) {
        return true;
      }
      const ssize_t n = recv(socket, chunk, sizeof(chunk), 0);
      if (n <= 0) {
        return false;
      }
      request.append(chunk, static_cast<size_t>(n));
    }
    return false;
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace optiml

#endif  // OPTIML_LLM_FAULTY_SERVER_H_
