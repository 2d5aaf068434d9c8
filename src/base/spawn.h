#ifndef OPTIML_BASE_SPAWN_H_
#define OPTIML_BASE_SPAWN_H_

// Starting a child process, for process.cpp and line_server.cpp alone.

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/process.h"

namespace optiml {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();

  bool Open();
  static void CloseOne(int& fd);
};

// A child in a process group of its own, with our ends of its pipes, which do not block. Whoever
// has it kills and reaps it.
struct SpawnedChild {
  pid_t pid = -1;
  std::string program;
  Pipe in;      // write_end is ours
  Pipe out;     // read_end is ours
  Pipe err;     // read_end is ours
  Pipe status;  // what kept the program from starting, an errno

  // Kills all of its group that still runs.
  void KillGroup() const;
  // OK if the program could be started; to be asked when the child has ended.
  Result<void> Started();
};

// The child of the request's argv, sandbox, limits, folder and environment.
Result<std::unique_ptr<SpawnedChild>> Spawn(const ProcessRequest& request);

// Moves what one descriptor has into `text`, at most up to `limit` bytes in all; closes it at its
// end.
void Drain(int& fd, std::string& text, size_t limit, bool& truncated);

// The exit code and the signal that waitpid's status stands for (128 + signal, as a shell says it).
struct ChildEnd {
  int exit_code = -1;
  int signal = 0;
};
ChildEnd EndOf(int wait_status, bool is_sandboxed);

}  // namespace optiml

#endif  // OPTIML_BASE_SPAWN_H_
