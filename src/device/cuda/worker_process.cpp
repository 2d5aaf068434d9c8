#include "device/cuda/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace optiml::cuda {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr int kWorkerSocket = 3;
constexpr int kWorkerArena = 4;
// A context takes 0.3 s; the first one of a machine without persistence mode takes seconds.
constexpr Milliseconds kMostStart{60'000};
// Of an answer whose begin has come.
constexpr Milliseconds kMostMessage{10'000};
// How often the wish to stop is looked at.
constexpr Milliseconds kSlice{100};

// What the driver and the loader read; nothing else of ours.
std::vector<std::string> EnvironmentOf(const WorkerOptions& options) {
  std::vector<std::string> environment;
  for (const char* name : {"PATH", "LANG", "TMPDIR", "HOME", "LD_LIBRARY_PATH",
                           "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_CACHE_PATH",
                           "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(std::string(name) + "=" + value);
    }
  }
  for (const auto& [name, value] : options.environment) {
    environment.push_back(name + "=" + value);
  }
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void ExecWorker(const char* program, char* const* arguments, char* const* environment,
                             int socket, int arena, int null) {
  setpgid(0, 0);
  // No PR_SET_PDEATHSIG: that would be the death of the thread that starts it. When the program is
  // gone the socket is closed, and the worker ends at its next message.
  // First out of the way of the numbers that they get.
  const int high_socket = fcntl(socket, F_DUPFD, 64);
  const int high_arena = fcntl(arena, F_DUPFD, 64);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  dup2(high_socket, kWorkerSocket);
  dup2(high_arena, kWorkerArena);
  close_range(kWorkerArena + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Ctrl-C is the parent's to answer.
  signal(SIGINT, SIG_IGN);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  execve(program, arguments, environment);
  _exit(127);
}

}  // namespace

WorkerProcess::~WorkerProcess() {
  Kill();
  if (arena_data_ != nullptr) {
    munmap(arena_data_, arena_bytes_);
  }
  if (arena_ >= 0) {
    close(arena_);
  }
}

Result<void> WorkerProcess::Spawn() {
  const auto failed = [](const char* what) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("cannot start a GPU worker: {}: {}", what, std::strerror(errno)));
  };
  if (arena_ < 0) {
    arena_ = memfd_create("optiml-arena", MFD_CLOEXEC);
    if (arena_ < 0) {
      return failed("memfd_create");
    }
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed("socketpair");
  }
  // /proc/self/exe is another program in the child.
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(options_.program, ignored);
  const std::string program = real.empty() ? options_.program.string() : real.string();
  std::vector<std::string> arguments = {program};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  arguments.insert(arguments.end(), {std::to_string(kWorkerSocket), std::to_string(kWorkerArena),
                                     options_.driver_library});
  std::vector<std::string> environment = EnvironmentOf(options_);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t pid = fork();
  if (pid == 0) {
    ExecWorker(program.c_str(), argument_pointers.data(), environment_pointers.data(), ends[1],
               arena_, null);
  }
  close(null);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return failed("fork");
  }
  setpgid(pid, pid);
  pid_ = pid;
  socket_ = ends[0];
  return {};
}

Result<HelloReply> WorkerProcess::Start() {
  OPTIML_TRY(Spawn());
  OPTIML_ASSIGN(auto answer,
                Ask(MessageKind::kHello,
                    Encode(HelloRequest{options_.ordinal, options_.cupti_libraries}), kMostStart));
  if (const auto* lost = std::get_if<Lost>(&answer)) {
    return Error(ErrorCode::kUnavailable, "the GPU worker does not start: " + lost->reason);
  }
  OPTIML_ASSIGN(HelloReply reply, DecodeHelloReply(std::get<Message>(answer).bytes));
  if (!reply.problem.empty()) {
    Kill();
    return Error(ErrorCode::kUnavailable, reply.problem);
  }
  return reply;
}

Result<std::byte*> WorkerProcess::Arena(uint64_t bytes) {
  if (bytes <= arena_bytes_) {
    return arena_data_;
  }
  constexpr uint64_t kPage = uint64_t{2} << 20;
  const uint64_t rounded = (bytes + kPage - 1) / kPage * kPage;
  const auto failed = [&](const char* what) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{} MB of memory to share with the GPU worker: {}: {}", rounded >> 20,
                             what, std::strerror(errno)));
  };
  if (arena_ < 0) {
    arena_ = memfd_create("optiml-arena", MFD_CLOEXEC);
  }
  if (arena_ < 0 || ftruncate(arena_, static_cast<off_t>(rounded)) != 0) {
    return failed("ftruncate");
  }
  void* mapped = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, arena_, 0);
  if (mapped == MAP_FAILED) {
    return failed("mmap");
  }
  if (arena_data_ != nullptr) {
    munmap(arena_data_, arena_bytes_);
  }
  arena_data_ = static_cast<std::byte*>(mapped);
  arena_bytes_ = rounded;
  return arena_data_;
}

Result<std::variant<Message, Lost>> WorkerProcess::Ask(MessageKind kind,
                                                       const std::vector<std::byte>& request,
                                                       Milliseconds limit,
                                                       const AnswerWorker& answer) {
  using Answer = std::variant<Message, Lost>;
  if (!Send(socket_, kind, request)) {
    return Answer(Ending());
  }
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    if (options_.stop != nullptr && options_.stop->load()) {
      Kill();
      return Error(ErrorCode::kInterrupted, "interrupted");
    }
    const auto gone =
        std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
    const Milliseconds slice = std::min(kSlice, std::max(limit - gone, Milliseconds(0)));
    pollfd readable{socket_, POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(slice.count())) > 0) {
      // It has begun: a message is read as a whole, or not at all.
      Message message;
      switch (Receive(socket_, kMostMessage.count(), message)) {
        case Received::kMessage:
          if (message.kind != MessageKind::kOutputs || !answer) {
            return Answer(std::move(message));
          }
          if (!Send(socket_, message.kind, answer(message))) {
            return Answer(Ending());
          }
          continue;
        case Received::kClosed:
          return Answer(Ending());
        case Received::kTimedOut:
          Kill();
          return Answer(Lost{true, "the GPU worker stopped in the middle of its answer"});
      }
    }
    if (gone >= limit) {
      Kill();
      return Answer(
          Lost{true, fmt::format("the GPU worker did not answer within {:.3g} s and was ended",
                                 static_cast<double>(limit.count()) / 1000)});
    }
  }
}

Lost WorkerProcess::Ending() {
  // It closed the socket: it is about to end, unless it hangs in the driver.
  int status = 0;
  for (int i = 0; i < 100; ++i) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      break;
    }
    usleep(5000);
  }
  const bool ended = pid_ < 0;
  Kill();
  if (!ended) {
    return {false, "the GPU worker hung"};
  }
  if (!WIFSIGNALED(status)) {
    return {false, fmt::format("the GPU worker ended with status {}", WEXITSTATUS(status))};
  }
  const int signal = WTERMSIG(status);
  return {false,
          fmt::format("the GPU worker was ended by signal {} ({})", signal, strsignal(signal)),
          signal == SIGKILL};
}

void WorkerProcess::Kill() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
  if (socket_ >= 0) {
    close(socket_);
  }
  socket_ = -1;
}

}  // namespace optiml::cuda
