#ifndef OPTIML_CLI_COMMAND_H_
#define OPTIML_CLI_COMMAND_H_

// Command: one subcommand of the program. Declare adds its options to a CLI11 app and keeps the
// values; Run does the work with the tools it is handed. A command is declared and run once.

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/cli_env.h"
#include "cli/toolbox.h"

namespace optiml {

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string Name() const = 0;
  virtual std::string Summary() const = 0;  // one line, lower case
  virtual std::string Example() const = 0;  // command lines for the end of the help
  virtual bool hidden() const { return false; }

  virtual void Declare(CLI::App& app) = 0;
  // The exit status, or an Error that maps to one (ExitCodeOf).
  virtual Result<int> Run(CliEnv& env, Toolbox& tools) = 0;
};

std::unique_ptr<Command> MakeOptimizeCommand();
std::unique_ptr<Command> MakeGenerateCommand();
std::unique_ptr<Command> MakeInitCommand();
std::unique_ptr<Command> MakeCheckCommand();
std::unique_ptr<Command> MakeProfileCommand();
std::unique_ptr<Command> MakeEmulateCommand();
std::unique_ptr<Command> MakeReportCommand();
std::unique_ptr<Command> MakeBenchCommand();
std::unique_ptr<Command> MakeRunsCommand();
std::unique_ptr<Command> MakeResumeCommand();
std::unique_ptr<Command> MakeReplayCommand();
std::unique_ptr<Command> MakeExportCommand();
std::unique_ptr<Command> MakeModelsCommand();
std::unique_ptr<Command> MakeMotCommand();
std::unique_ptr<Command> MakeDoctorCommand();
// These two print what the whole program's declaration says.
std::unique_ptr<Command> MakeCompletionCommand(const CLI::App& root);
std::unique_ptr<Command> MakeDocsCommand(const CLI::App& root);

}  // namespace optiml

#endif  // OPTIML_CLI_COMMAND_H_
