#ifndef OPTIML_BASE_PROCESS_H_
#define OPTIML_BASE_PROCESS_H_

// Child processes with limits, and the sandbox (bubblewrap) for those that run code we do not
// trust.
//
// RunProcess starts one child in its own process group, feeds its standard input, collects its
// output up to a limit and kills the whole group at the time limit or when the caller asks. Thread
// safe.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml {

// What a confined child may touch. Everything else is absent: no network, no home, read-only
// system, own /tmp.
struct Sandbox {
  std::vector<std::filesystem::path> read_only;   // seen at the same path
  std::vector<std::filesystem::path> read_write;  // seen at the same path
};

struct ProcessLimits {
  std::chrono::milliseconds wall_time{60'000};
  size_t output_bytes = size_t{16}
                        << 20;  // of each stream; more is dropped and `output_truncated` says so
  std::optional<size_t> address_space_bytes;  // RLIMIT_AS
  std::optional<size_t> file_bytes;           // RLIMIT_FSIZE
  std::optional<size_t> processes;            // RLIMIT_NPROC within the sandbox's user namespace
  std::optional<size_t> cpu_seconds;          // RLIMIT_CPU
};

struct ProcessRequest {
  std::vector<std::string> argv;  // argv[0] is looked up on PATH when it has no slash
  std::string standard_input;
  std::filesystem::path working_directory;  // empty: the caller's
  // The child's whole environment (PATH, LANG, TMPDIR and nothing else when absent): keys of the
  // caller never leak.
  std::optional<std::map<std::string, std::string>> environment;
  ProcessLimits limits;
  std::optional<Sandbox> sandbox;  // absent: unconfined
  // Set when the user wants the end: the child's group is killed then. Borrowed; may be null.
  const std::atomic<bool>* stop = nullptr;
  // A conversation: called with all of the child's standard output so far whenever there is more of
  // it. What it returns is fed to the child, whose input stays open; nothing: the child's group is
  // killed. The time that it takes does not count for the time limit.
  std::function<std::optional<std::string>(std::string_view output)> answer;
};

struct ProcessOutcome {
  int exit_code = -1;  // 128 + signal when a signal ended it
  int signal = 0;      // 0: it exited
  bool timed_out = false;
  bool output_truncated = false;
  std::string standard_output;
  std::string standard_error;
  std::chrono::nanoseconds wall_time{0};

  bool succeeded() const { return exit_code == 0 && !timed_out; }
};

// Fails with kUnavailable when the program (or bubblewrap, for a sandbox) cannot be started, with
// kInterrupted when `stop` was set before the child had ended. A child that fails, crashes or runs
// out of time is an outcome.
Result<ProcessOutcome> RunProcess(const ProcessRequest& request);

// Copies a program to where it will be started from; others see it whole or not at all. This
// process itself never has it open for writing: a child that another thread starts meanwhile would
// inherit that for a moment, and starting the program would fail ("text file busy").
Result<void> InstallProgram(const std::filesystem::path& from, const std::filesystem::path& to);

// Absolute path of a program on PATH, or kNotFound.
Result<std::filesystem::path> FindProgram(const std::string& name);

// Whether the sandbox can be used here; if not, the reason and the remedy. Computed once.
Result<void> SandboxAvailable();

}  // namespace optiml

#endif  // OPTIML_BASE_PROCESS_H_
