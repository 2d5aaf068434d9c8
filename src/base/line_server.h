#ifndef OPTIML_BASE_LINE_SERVER_H_
#define OPTIML_BASE_LINE_SERVER_H_

// LineServer: a child process that stays and answers each text that it is given with a line, for
// what is asked often and would take longer to start than to answer.
//
// The child ends with its owner, and with the thread that started it (a parent-death signal knows
// threads): an owner that asks from another thread must be ready to start it anew.
//
// Threads: one call at a time.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/process.h"

namespace optiml {

struct SpawnedChild;

class LineServer {
 public:
  struct Answer {
    enum class Kind {
      kLine,
      kEnded,     // the child exited, crashed, or said more than its limit without a line's end
      kTimedOut,  // and was killed
    };
    Kind kind = Kind::kLine;
    std::string line;            // kLine: without its end
    int exit_code = -1;          // kEnded
    std::string standard_error;  // kEnded: what the child said there since its start
  };

  // As RunProcess; of the limits, `wall_time` is not used: each question has its own. Standard
  // input, `answer` and `stop` of the request are not used either, but for `stop` below.
  static Result<std::unique_ptr<LineServer>> Start(ProcessRequest request);

  // Kills the child and all of its group.
  ~LineServer();

  // Writes the text to the child's standard input and waits for the next line of its standard
  // output. Fails with kInterrupted when the request's `stop` is set, with kUnavailable when the
  // program could not be started at all. No question may follow an answer that is no line.
  Result<Answer> Ask(std::string_view text, std::chrono::milliseconds limit);

 private:
  LineServer(ProcessRequest request, std::unique_ptr<SpawnedChild> child);

  bool TakeLine(std::string& line);
  Result<Answer> Ended(Answer::Kind kind);
  // Waits so long for its end, then kills it; its exit code.
  int Reap(std::chrono::milliseconds grace);

  ProcessRequest request_;
  std::unique_ptr<SpawnedChild> child_;
  std::string output_;  // not yet taken
  std::string errors_;
  bool is_reaped_ = false;
};

}  // namespace optiml

#endif  // OPTIML_BASE_LINE_SERVER_H_
