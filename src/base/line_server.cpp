#include "base/line_server.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/clock.h"
#include "base/spawn.h"

namespace optiml {

// How often `stop` and the time limit are looked at.
constexpr int kPollMs = 20;
// One that has closed its output is about to exit; it is killed if it does not.
constexpr std::chrono::milliseconds kEndsWithin{1000};

Result<std::unique_ptr<LineServer>> LineServer::Start(ProcessRequest request) {
  OPTIML_ASSIGN(std::unique_ptr<SpawnedChild> child, Spawn(request));
  return std::unique_ptr<LineServer>(new LineServer(std::move(request), std::move(child)));
}

LineServer::LineServer(ProcessRequest request, std::unique_ptr<SpawnedChild> child)
    : request_(std::move(request)), child_(std::move(child)) {}

LineServer::~LineServer() {
  Reap({});
}

Result<LineServer::Answer> LineServer::Ask(std::string_view text, std::chrono::milliseconds limit) {
  OPTIML_CHECK(!is_reaped_, "a child that has ended is asked");
  const SystemClock clock;
  const Stopwatch stopwatch(clock);
  const size_t most = request_.limits.output_bytes;
  Answer answer;
  while (!TakeLine(answer.line)) {
    if (request_.stop != nullptr && request_.stop->load()) {
      Reap({});
      return Error(ErrorCode::kInterrupted, "interrupted");
    }
    if (stopwatch.Elapsed() > limit) {
      return Ended(Answer::Kind::kTimedOut);
    }
    if (child_->out.read_end < 0 || output_.size() >= most) {
      return Ended(Answer::Kind::kEnded);
    }
    std::array<pollfd, 3> fds{{{child_->out.read_end, POLLIN, 0},
                               {child_->err.read_end, POLLIN, 0},
                               {text.empty() ? -1 : child_->in.write_end, POLLOUT, 0}}};
    if (poll(fds.data(), fds.size(), kPollMs) <= 0) {
      continue;
    }
    bool truncated = false;
    if (fds[0].revents != 0) {
      Drain(child_->out.read_end, output_, most, truncated);
    }
    if (fds[1].revents != 0) {
      Drain(child_->err.read_end, errors_, most, truncated);
    }
    if (fds[2].revents != 0) {
      const ssize_t n = write(child_->in.write_end, text.data(), text.size());
      if (n > 0) {
        text.remove_prefix(static_cast<size_t>(n));
      } else if (errno != EINTR && errno != EAGAIN) {
        text = {};  // the child reads no more; its end will be seen
      }
    }
  }
  return answer;
}

bool LineServer::TakeLine(std::string& line) {
  const size_t end = output_.find('\n');
  if (end == std::string::npos) {
    return false;
  }
  line = output_.substr(0, end);
  output_.erase(0, end + 1);
  return true;
}

Result<LineServer::Answer> LineServer::Ended(Answer::Kind kind) {
  Answer answer;
  answer.kind = kind;
  const bool is_ending =
      kind == Answer::Kind::kEnded && output_.size() < request_.limits.output_bytes;
  answer.exit_code = Reap(is_ending ? kEndsWithin : std::chrono::milliseconds(0));
  OPTIML_TRY(child_->Started());
  answer.standard_error = errors_;
  return answer;
}

int LineServer::Reap(std::chrono::milliseconds grace) {
  if (is_reaped_) {
    return -1;
  }
  is_reaped_ = true;
  const SystemClock clock;
  const Stopwatch stopwatch(clock);
  int status = 0;
  bool truncated = false;
  while (waitpid(child_->pid, &status, WNOHANG) != child_->pid) {
    if (stopwatch.Elapsed() >= grace) {
      child_->KillGroup();
      while (waitpid(child_->pid, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    pollfd fd{child_->err.read_end, POLLIN, 0};
    if (poll(&fd, 1, 1) > 0) {
      Drain(child_->err.read_end, errors_, request_.limits.output_bytes, truncated);
    }
  }
  child_->KillGroup();  // whoever of its group is left
  // What it said last.
  for (pollfd fd{child_->err.read_end, POLLIN, 0}; fd.fd >= 0 && poll(&fd, 1, 0) > 0;
       fd.fd = child_->err.read_end) {
    Drain(child_->err.read_end, errors_, request_.limits.output_bytes, truncated);
  }
  return EndOf(status, request_.sandbox.has_value()).exit_code;
}

}  // namespace optiml
