#ifndef OPTIML_CLI_PROGRESS_VIEW_H_
#define OPTIML_CLI_PROGRESS_VIEW_H_

// ProgressView: what the user sees while a run works. On a terminal one line that is redrawn in
// place (bar, best so far, time left, the last candidate); elsewhere one plain line for each phase
// and each candidate. Written to standard error, so that results can be piped.

#include <string>

#include "cli/cli_env.h"
#include "optimize/session.h"

namespace optiml {

class ProgressView {
 public:
  ProgressView(CliEnv& env, bool quiet) : env_(env), quiet_(quiet) {}
  ~ProgressView() { Clear(); }
  ProgressView(const ProgressView&) = delete;  // it owns a line of the terminal
  ProgressView& operator=(const ProgressView&) = delete;

  void Show(const Progress& progress);
  // Removes the line from the terminal, so that something else can be printed.
  void Clear();

 private:
  CliEnv& env_;
  bool quiet_;
  bool drawn_ = false;
  std::string last_line_;
  Progress::Phase phase_ = Progress::Phase::kDone;
};

// The texts, for tests.
std::string TerminalLine(const Progress& progress, int width);
std::string PlainLine(const Progress& progress);

}  // namespace optiml

#endif  // OPTIML_CLI_PROGRESS_VIEW_H_
