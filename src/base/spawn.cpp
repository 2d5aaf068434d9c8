#include "base/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace optiml {
namespace {

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

Error CannotStart(const char* what) {
  return Error(ErrorCode::kUnavailable,
               std::string("cannot ") + what + ": " + std::strerror(errno));
}

Result<ExecPlan> MakePlan(const ProcessRequest& request) {
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
  return plan;
}

}  // namespace

bool Pipe::Open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return false;
  }
  read_end = ends[0];
  write_end = ends[1];
  return true;
}

void Pipe::CloseOne(int& fd) {
  if (fd >= 0) {
    close(fd);
    fd = -1;
  }
}

Pipe::~Pipe() {
  CloseOne(read_end);
  CloseOne(write_end);
}

void SpawnedChild::KillGroup() const {
  kill(-pid, SIGKILL);
}

Result<void> SpawnedChild::Started() {
  int exec_error = 0;
  if (read(status.read_end, &exec_error, sizeof(exec_error)) ==
      static_cast<ssize_t>(sizeof(exec_error))) {
    return Error(ErrorCode::kUnavailable, program + ": cannot start: " + std::strerror(exec_error));
  }
  return {};
}

Result<std::unique_ptr<SpawnedChild>> Spawn(const ProcessRequest& request) {
  static const int kIgnoreSigpipe = [] {
    signal(SIGPIPE, SIG_IGN);  // a child that closes its input must not end us
    return 0;
  }();
  (void)kIgnoreSigpipe;
  OPTIML_ASSIGN(ExecPlan plan, MakePlan(request));
  plan.Finish();
  auto child = std::make_unique<SpawnedChild>();
  child->program = plan.program;
  if (!child->in.Open() || !child->out.Open() || !child->err.Open() || !child->status.Open()) {
    return CannotStart("make a pipe");
  }
  child->pid = fork();
  if (child->pid < 0) {
    return CannotStart("start a process");
  }
  if (child->pid == 0) {
    ExecChild(plan, request, child->in.read_end, child->out.write_end, child->err.write_end,
              child->status.write_end);
  }
  setpgid(child->pid, child->pid);  // here too, so that no kill comes before the child's own call
  Pipe::CloseOne(child->in.read_end);
  Pipe::CloseOne(child->out.write_end);
  Pipe::CloseOne(child->err.write_end);
  Pipe::CloseOne(child->status.write_end);
  for (const int fd : {child->in.write_end, child->out.read_end, child->err.read_end}) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  return child;
}

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

ChildEnd EndOf(int wait_status, bool is_sandboxed) {
  ChildEnd end;
  if (WIFSIGNALED(wait_status)) {
    end.signal = WTERMSIG(wait_status);
    end.exit_code = 128 + end.signal;
    return end;
  }
  end.exit_code = WEXITSTATUS(wait_status);
  if (is_sandboxed && end.exit_code > 128) {
    end.signal = end.exit_code - 128;  // how bubblewrap reports it
  }
  return end;
}

}  // namespace optiml
