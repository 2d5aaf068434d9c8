#include "base/process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/spawn.h"

namespace optiml {
namespace {

namespace chrono = std::chrono;

// What the child has not read yet of its input.
class Input {
 public:
  Input(std::string_view first, bool is_last) : text_(first), is_last_(is_last) {}

  bool empty() const { return at_ == text_.size(); }
  void Add(const std::string& more) {
    text_.erase(0, at_);
    at_ = 0;
    text_ += more;
  }
  void Feed(int& fd) {
    const ssize_t n = write(fd, text_.data() + at_, text_.size() - at_);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
      Pipe::CloseOne(fd);  // the child reads no more
      return;
    }
    at_ += n > 0 ? static_cast<size_t>(n) : 0;
    CloseAtItsEnd(fd);
  }
  void CloseAtItsEnd(int& fd) const {
    if (empty() && is_last_) {
      Pipe::CloseOne(fd);
    }
  }

 private:
  std::string text_;
  size_t at_ = 0;
  bool is_last_;
};

}  // namespace

Result<std::filesystem::path> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0) {
      return std::filesystem::path(name);
    }
    return Error(ErrorCode::kNotFound, name + ": no such program");
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / name;
    std::error_code ignored;
    if (access(candidate.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(candidate, ignored)) {
      return candidate;
    }
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return Error(ErrorCode::kNotFound, name + ": not found on PATH");
}

Result<ProcessOutcome> RunProcess(const ProcessRequest& request) {
  const auto is_stopped = [&] { return request.stop != nullptr && request.stop->load(); };
  const Error stopped(ErrorCode::kInterrupted, "interrupted");
  if (is_stopped()) {
    return stopped;
  }
  const SystemClock clock;
  const Stopwatch stopwatch(clock);
  OPTIML_ASSIGN(const std::unique_ptr<SpawnedChild> child, Spawn(request));
  Pipe& in = child->in;
  Pipe& out = child->out;
  Pipe& err = child->err;
  ProcessOutcome outcome;
  Input input(request.standard_input, request.answer == nullptr);
  input.CloseAtItsEnd(in.write_end);
  chrono::nanoseconds answering{0};
  size_t answered = 0;  // bytes of the output
  bool killed = false;
  int wait_status = 0;
  bool exited = false;
  bool interrupted = false;
  while (!exited || out.read_end >= 0 || err.read_end >= 0) {
    std::array<pollfd, 3> fds{{{out.read_end, POLLIN, 0},
                               {err.read_end, POLLIN, 0},
                               {input.empty() ? -1 : in.write_end, POLLOUT, 0}}};
    // Only a poll that begins after the end can say that nothing is left to read.
    const bool was_over = exited;
    const int ready = poll(fds.data(), fds.size(), 5);
    if (ready > 0) {
      if (fds[0].revents != 0) {
        Drain(out.read_end, outcome.standard_output, request.limits.output_bytes,
              outcome.output_truncated);
      }
      if (fds[1].revents != 0) {
        Drain(err.read_end, outcome.standard_error, request.limits.output_bytes,
              outcome.output_truncated);
      }
      if (fds[2].revents != 0) {
        input.Feed(in.write_end);
      }
    }
    if (request.answer && !killed && outcome.standard_output.size() > answered) {
      const Stopwatch taken(clock);
      answered = outcome.standard_output.size();
      if (const auto more = request.answer(outcome.standard_output)) {
        input.Add(*more);
      } else {
        killed = true;
        child->KillGroup();
      }
      answering += taken.Elapsed();
    }
    if (!exited && waitpid(child->pid, &wait_status, WNOHANG) == child->pid) {
      exited = true;
    }
    if (!exited && !interrupted && is_stopped()) {
      interrupted = true;
      killed = true;
      child->KillGroup();
    }
    if (!killed && stopwatch.Elapsed() - answering > request.limits.wall_time) {
      outcome.timed_out = !exited;
      killed = true;
      child->KillGroup();
    }
    if (was_over && ready == 0 && !killed) {
      // The child has ended; whoever in its group still holds the pipes ends with it.
      killed = true;
      child->KillGroup();
    }
    if (was_over && killed && ready == 0) {
      break;
    }
  }
  child->KillGroup();

  OPTIML_TRY(child->Started());
  if (interrupted) {
    return stopped;
  }
  outcome.wall_time = stopwatch.Elapsed();
  const ChildEnd end = EndOf(wait_status, request.sandbox.has_value());
  outcome.exit_code = end.exit_code;
  outcome.signal = end.signal;
  return outcome;
}

Result<void> InstallProgram(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::filesystem::path beside = NameBeside(to);
  ProcessRequest request;
  request.argv = {"/usr/bin/install", "-m", "755", "--", from.string(), beside.string()};
  OPTIML_ASSIGN(const ProcessOutcome outcome, RunProcess(request));
  std::error_code error;
  if (outcome.succeeded()) {
    std::filesystem::rename(beside, to, error);
    if (!error) {
      return {};
    }
  }
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  return Error(ErrorCode::kIo, to.string() + ": cannot write: " +
                                   (error ? error.message() : outcome.standard_error));
}

Result<void> SandboxAvailable() {
  static const Result<void> kAvailable = []() -> Result<void> {
    ProcessRequest request;
    request.argv = {"/usr/bin/true"};
    request.sandbox = Sandbox{};
    request.limits.wall_time = chrono::seconds(10);
    const Result<ProcessOutcome> outcome = RunProcess(request);
    if (!outcome) {
      return Error(ErrorCode::kUnavailable,
                   "bubblewrap (bwrap) is missing: install the package bubblewrap, or pass "
                   "--unconfined to run foreign host "
                   "code without a sandbox");
    }
    if (!outcome->succeeded()) {
      std::string reason = outcome->standard_error;
      while (!reason.empty() && reason.back() == '\n') {
        reason.pop_back();
      }
      return Error(ErrorCode::kUnavailable,
                   "bubblewrap cannot make a sandbox here (" + reason +
                       "): allow user namespaces, or pass --unconfined to run foreign host code "
                       "without a sandbox");
    }
    return {};
  }();
  return kAvailable;
}

}  // namespace optiml
