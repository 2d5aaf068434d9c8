#include "task/reference_server.h"

#include <sstream>

#include "task/reference_driver.h"

namespace optiml {
namespace {

constexpr std::chrono::seconds kLoadLimit{20};
constexpr size_t kMarkLength = std::char_traits<char>::length(kDriverMark);

}  // namespace

Result<std::string> ReferenceServer::Signature() {
  if (server_ != nullptr) {
    return signature_;
  }
  OPTIML_ASSIGN(std::unique_ptr<LineServer> server, LineServer::Start(request_));
  while (true) {
    OPTIML_ASSIGN(const LineServer::Answer answer, server->Ask("", kLoadLimit));
    if (answer.kind != LineServer::Answer::Kind::kLine) {
      return Error(ErrorCode::kInvalidArgument,
                   answer.kind == LineServer::Answer::Kind::kTimedOut
                       ? "it does not reach its main function within 20 s"
                       : answer.standard_error);
    }
    if (answer.line.starts_with(kDriverMark)) {  // static initialisers may print as well
      signature_ = answer.line.substr(kMarkLength);
      server_ = std::move(server);
      return signature_;
    }
  }
}

Result<ReferenceServer::RunEnd> ReferenceServer::Run(std::chrono::milliseconds limit) {
  // A server ends with the thread that started it: one that is gone is started anew, once.
  for (bool is_again = false;; is_again = true) {
    OPTIML_TRY(Signature());
    OPTIML_ASSIGN(const LineServer::Answer answer, server_->Ask("\n", limit));
    RunEnd end;
    if (answer.kind == LineServer::Answer::Kind::kLine) {
      int left = 0;
      std::istringstream words(answer.line.substr(std::min(kMarkLength, answer.line.size())));
      words >> end.exit_code >> end.signal >> left >> std::ws;
      std::getline(words, end.message);
      if (left != 0) {
        server_.reset();  // and with it whatever the run left behind
      }
      return end;
    }
    server_.reset();
    if (answer.kind == LineServer::Answer::Kind::kTimedOut) {
      end.timed_out = true;
      return end;
    }
    if (is_again) {
      end.exit_code = answer.exit_code;
      return end;
    }
  }
}

}  // namespace optiml
