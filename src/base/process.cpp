#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"

namespace optiml {
namespace {

namespace chrono = std::chrono;

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      return false;
    }
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void CloseOne(int& fd) {
    if (fd >= 0) {
      close(fd);
      fd = -1;
    }
  }
  ~Pipe() {
    CloseOne(read_end);
    CloseOne(write_end);
  }
};

std::map<std::string, std::string> ScrubbedEnvironment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "LANG", "TMPDIR"}) {
    if (const char* value = std::getenv(name)) {
      environment[name] = value;
    }
  }
  return environment;
}

// The command line of bubblewrap that runs `request` confined. Limits are set by the child before
// it starts.
std::vector<std::string> SandboxedArgv(const ProcessRequest& request, const std::string& bwrap) {
  std::vector<std::string> argv = {bwrap,
                                   "--unshare-all",
                                   "--die-with-parent",
                                   "--new-session",
                                   "--ro-bind",
                                   "/usr",
                                   "/usr",
                                   "--proc",
                                   "/proc",
                                   "--dev",
                                   "/dev",
                                   "--tmpfs",
                                   "/tmp",
                                   "--ro-bind-try",
                                   "/etc/ld.so.cache",
                                   "/etc/ld.so.cache"};
  for (const char* folder : {"/lib", "/lib64", "/bin", "/sbin", "/lib32", "/libx32"}) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(folder, ignored);
    if (!ignored) {
      argv.insert(argv.end(), {"--symlink", target.string(), folder});
    } else {
      argv.insert(argv.end(), {"--ro-bind-try", folder, folder});
    }
  }
  for (const auto& path : request.sandbox->read_only) {
    argv.insert(argv.end(), {"--ro-bind", path.string(), path.string()});
  }
  for (const auto& path : request.sandbox->read_write) {
    argv.insert(argv.end(), {"--bind", path.string(), path.string()});
  }
  argv.insert(
      argv.end(),
      {"--chdir", request.working_directory.empty() ? "/tmp" : request.working_directory.string(),
       "--"});
  argv.insert(argv.end(), request.argv.begin(), request.argv.end());
  return argv;
}

void SetLimit(int resource, const std::optional<size_t>& value) {
  if (value) {
    const rlimit limit{*value, *value};
    setrlimit(static_cast<__rlimit_resource>(resource), &limit);
  }
}

struct ExecPlan {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::vector<char*> argv_pointers;
  std::vector<char*> environment_pointers;
  std::string program;

  void Finish() {
    for (auto& s : argv) {
      argv_pointers.push_back(s.data());
    }
    argv_pointers.push_back(nullptr);
    for (auto& s : environment) {
      environment_pointers.push_back(s.data());
    }
    environment_pointers.push_back(nullptr);
  }
};

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void ExecChild(const ExecPlan& plan, const ProcessRequest& request, int in, int out,
                            int err, int status) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // however we end, a second Ctrl-C included
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  SetLimit(RLIMIT_AS, request.limits.address_space_bytes);
  SetLimit(RLIMIT_FSIZE, request.limits.file_bytes);
  SetLimit(RLIMIT_CPU, request.limits.cpu_seconds);
  if (!request.sandbox) {
    // In a sandbox the limit counts the processes of the whole user; bubblewrap's own start needs a
    // few as well.
    SetLimit(RLIMIT_NPROC, request.limits.processes);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (request.sandbox || request.working_directory.empty() ||
      chdir(request.working_directory.c_str()) == 0) {
    execve(plan.program.c_str(), plan.argv_pointers.data(), plan.environment_pointers.data());
  }
  const int error_number = errno;
  [[maybe_unused]] const ssize_t n = write(status, &error_number, sizeof(error_number));
  _exit(127);
}

// Moves what one descriptor has into `text`; closes it at its end.
void Drain(int& fd, std::string& text, size_t limit, bool& truncated) {
  char chunk[1 << 16];
  const ssize_t n = read(fd, chunk, sizeof(chunk));
  if (n <= 0) {
    if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
      Pipe::CloseOne(fd);
    }
    return;
  }
  const size_t room = limit > text.size() ? limit - text.size() : 0;
  text.append(chunk, std::min(room, static_cast<size_t>(n)));
  truncated |= static_cast<size_t>(n) > room;
}

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
  static const int kIgnoreSigpipe = [] {
    signal(SIGPIPE, SIG_IGN);  // a child that closes its input must not end us
    return 0;
  }();
  (void)kIgnoreSigpipe;

  const auto is_stopped = [&] { return request.stop != nullptr && request.stop->load(); };
  const Error stopped(ErrorCode::kInterrupted, "interrupted");
  if (is_stopped()) {
    return stopped;
  }
  ExecPlan plan;
  if (request.sandbox) {
    OPTIML_ASSIGN(const auto bwrap, FindProgram("bwrap"));
    plan.argv = SandboxedArgv(request, bwrap.string());
    plan.program = bwrap.string();
  } else {
    OPTIML_ASSIGN(const auto program, FindProgram(request.argv.at(0)));
    plan.argv = request.argv;
    plan.program = program.string();
  }
  for (const auto& [name, value] :
       request.environment ? *request.environment : ScrubbedEnvironment()) {
    plan.environment.push_back(name + "=" + value);
  }
  plan.Finish();

  Pipe in;
  Pipe out;
  Pipe err;
  Pipe status;
  if (!in.Open() || !out.Open() || !err.Open() || !status.Open()) {
    return Error(ErrorCode::kUnavailable,
                 std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const SystemClock clock;
  const Stopwatch stopwatch(clock);
  const pid_t pid = fork();
  if (pid < 0) {
    return Error(ErrorCode::kUnavailable,
                 std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (pid == 0) {
    ExecChild(plan, request, in.read_end, out.write_end, err.write_end, status.write_end);
  }
  setpgid(pid, pid);  // here too, so that no kill can come before the child's own call
  Pipe::CloseOne(in.read_end);
  Pipe::CloseOne(out.write_end);
  Pipe::CloseOne(err.write_end);
  Pipe::CloseOne(status.write_end);
  for (const int fd : {in.write_end, out.read_end, err.read_end}) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }

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
        kill(-pid, SIGKILL);
      }
      answering += taken.Elapsed();
    }
    if (!exited && waitpid(pid, &wait_status, WNOHANG) == pid) {
      exited = true;
    }
    if (!exited && !interrupted && is_stopped()) {
      interrupted = true;
      killed = true;
      kill(-pid, SIGKILL);
    }
    if (!killed && stopwatch.Elapsed() - answering > request.limits.wall_time) {
      outcome.timed_out = !exited;
      killed = true;
      kill(-pid, SIGKILL);
    }
    if (was_over && ready == 0 && !killed) {
      // The child has ended; whoever in its group still holds the pipes ends with it.
      killed = true;
      kill(-pid, SIGKILL);
    }
    if (was_over && killed && ready == 0) {
      break;
    }
  }
  kill(-pid, SIGKILL);

  int exec_error = 0;
  if (read(status.read_end, &exec_error, sizeof(exec_error)) ==
      static_cast<ssize_t>(sizeof(exec_error))) {
    return Error(ErrorCode::kUnavailable,
                 plan.program + ": cannot start: " + std::strerror(exec_error));
  }
  if (interrupted) {
    return stopped;
  }
  outcome.wall_time = stopwatch.Elapsed();
  if (WIFSIGNALED(wait_status)) {
    outcome.signal = WTERMSIG(wait_status);
    outcome.exit_code = 128 + outcome.signal;
  } else {
    outcome.exit_code = WEXITSTATUS(wait_status);
    if (request.sandbox && outcome.exit_code > 128) {
      outcome.signal = outcome.exit_code - 128;  // how bubblewrap reports it
    }
  }
  return outcome;
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
