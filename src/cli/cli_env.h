#ifndef OPTIML_CLI_CLI_ENV_H_
#define OPTIML_CLI_CLI_ENV_H_

// CliEnv: everything a command sees of the process it runs in, so that each runs inside a test:
// streams, terminal, folder, environment variables, clock, the wish to stop. Nothing in cli/ but
// main.cpp reads the process's own.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace optiml {

struct CliEnv {
  std::ostream* out = nullptr;  // results
  std::ostream* err = nullptr;  // messages and progress
  bool err_is_terminal = false;
  std::istream* in = nullptr;   // answers to questions; null: none will come
  bool in_is_terminal = false;  // somebody is there to answer
  int width = 100;              // columns of the terminal
  std::filesystem::path working_directory;
  std::map<std::string, std::string> variables;
  const Clock* clock = nullptr;
  const std::atomic<bool>* stop = nullptr;  // set when the user wants the end
  std::optional<uint64_t> memory_bytes;     // that may be taken; absent: not known

  // Paths are relative to the working folder.
  std::filesystem::path Resolve(const std::filesystem::path& path) const;
  // Absent when not set or empty.
  std::optional<std::string> Variable(const std::string& name) const;
  // Compiled kernels and references: $OPTIML_CACHE_DIR, else $XDG_CACHE_HOME/optiml, else
  // ~/.cache/optiml. Absent when none of them is known: nothing is cached then.
  std::optional<std::filesystem::path> CacheDirectory() const;
};

// The exit statuses of the program (docs/cli.md).
enum ExitCode {
  kExitDone = 0,
  kExitNothingKept = 1,  // the run kept no improvement; the kernel is rejected
  kExitBadUse = 2,       // wrong use or a bad task
  kExitEnvironment = 3,  // the environment is broken
  kExitInterrupted = 130,
};
int ExitCodeOf(ErrorCode code);
// An allocation failed.
Error OutOfMemory(const CliEnv& env);
// A message never spreads over several lines.
std::string OneLine(std::string message);

}  // namespace optiml

#endif  // OPTIML_CLI_CLI_ENV_H_
