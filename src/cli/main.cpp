// The program: the process's own streams, signals and environment for RunCli.
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "base/memory_limits.h"
#include "cli/cli.h"
#include "device/cuda/counted_file.h"
#include "device/cuda/worker.h"

extern char** environ;

namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

// The first Ctrl-C asks for the end; the second ends the process, whose store is whole at any time.
void OnInterrupt(int) {
  if (stop_requested.exchange(true)) {
    _exit(optiml::kExitInterrupted);
  }
}

void InstallHandlers() {
  struct sigaction action{};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that went away is an error of the stream, not a death.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that may not grow.
  std::signal(SIGXFSZ, SIG_IGN);
}

int TerminalWidth() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "cuda-worker") {
    return optiml::cuda::RunWorker(std::atoi(argv[2]), std::atoi(argv[3]), argv[4]);
  }
  if (argc > 2 && std::string_view(argv[1]) == "cuda-run") {
    const optiml::Result<void> done = optiml::cuda::RunCounted({argv + 2, argv + argc});
    if (!done) {
      std::cerr << "optiml: " << done.error().message() << "\n";
    }
    return done ? 0 : optiml::kExitEnvironment;
  }
  InstallHandlers();
  std::ios::sync_with_stdio(false);
  const optiml::SystemClock clock;
  optiml::CliEnv env;
  env.out = &std::cout;
  env.err = &std::cerr;
  env.in = &std::cin;
  env.in_is_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  env.err_is_terminal = isatty(STDERR_FILENO) == 1;
  env.width = TerminalWidth();
  std::error_code error;
  env.working_directory = std::filesystem::current_path(error);
  if (error) {
    std::cerr << "optiml: the working folder: " << error.message() << "\n";
    return optiml::kExitEnvironment;
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) {
      env.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  env.clock = &clock;
  env.stop = &stop_requested;
  env.memory_bytes = optiml::AvailableMemoryBytes();
  const auto tools = optiml::MakeToolbox();
  return optiml::RunCli({argv + std::min(argc, 1), argv + argc}, env, *tools);
}
