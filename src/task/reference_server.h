#ifndef OPTIML_TASK_REFERENCE_SERVER_H_
#define OPTIML_TASK_REFERENCE_SERVER_H_

// ReferenceServer: the compiled program around a reference (task/reference_driver.h), kept open in
// its sandbox. Making a sandbox takes ten times as long as most references, and a check asks for
// dozens of runs. Each run is a process of its own: none finds what another one left in memory.
//
// Threads: one call at a time, from any thread.

#include <chrono>
#include <memory>
#include <string>

#include "base/line_server.h"

namespace optiml {

class ReferenceServer {
 public:
  struct RunEnd {
    bool timed_out = false;
    int exit_code = 0;
    int signal = 0;       // 0: it exited
    std::string message;  // the driver's own, if it has one
    bool succeeded() const { return !timed_out && signal == 0 && exit_code == 0; }
  };

  // `request` is the program with --serve and the names of its two files.
  explicit ReferenceServer(ProcessRequest request) : request_(std::move(request)) {}

  // The types of the function's parameters, as the driver says them. Fails with kInvalidArgument,
  // and what the program said, when it ends before that: its static initialisers, say.
  Result<std::string> Signature();

  // Runs the request file once. A run that crashes, hangs or ends the process is a RunEnd. When it
  // has ended, nothing of it is left running.
  Result<RunEnd> Run(std::chrono::milliseconds limit);

 private:
  ProcessRequest request_;
  std::unique_ptr<LineServer> server_;  // null: not started, or to be started anew
  std::string signature_;
};

}  // namespace optiml

#endif  // OPTIML_TASK_REFERENCE_SERVER_H_
