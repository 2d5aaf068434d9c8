#ifndef OPTIML_CLI_RUN_DRIVER_H_
#define OPTIML_CLI_RUN_DRIVER_H_

// What optimize and resume share: the session's options as flags, the record that a run starts
// with, and the run itself from the first question to the summary.

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/cli_env.h"
#include "cli/model_choice.h"
#include "cli/task_options.h"
#include "cli/toolbox.h"
#include "store/run_store.h"

namespace optiml {

// Flags of a session; `Get` turns them into options, for a device that measures or predicts.
struct SessionFlags {
  SessionOptions options;
  int64_t seconds = 0;  // 0: no limit
  int in_flight = 0;    // 0: as the device likes it

  // For so many devices.
  SessionOptions Get(bool measures_time, size_t devices = 1) const;
};
void AddSessionFlags(CLI::App& app, SessionFlags& flags);

struct OutputFlags {
  bool json = false;
  bool quiet = false;
};
void AddOutputFlags(CLI::App& app, OutputFlags& flags);

// The device and the toolchain of a run; without its start.
EnvironmentSnapshot DescribeEnvironment(const Workbench& bench);

// The record of a run that has not begun.
Result<RunRecord> MakeRunHeader(const Workbench& bench, const TaskOptions& task,
                                const SessionOptions& options, const std::filesystem::path& folder,
                                const CliEnv& env);

struct RunJob {
  std::filesystem::path folder;
  const Workbench* bench = nullptr;
  RunStore* store = nullptr;
  SessionOptions options;
  const OpenedModels* models = nullptr;  // null: none
  RunRecord record;                      // as loaded or as created
  OutputFlags output;
};

// Runs the session with progress, writes the run's files and prints the summary. On an Error the
// store is left resumable.
Result<int> DriveRun(const RunJob& job, CliEnv& env, Toolbox& tools);

}  // namespace optiml

#endif  // OPTIML_CLI_RUN_DRIVER_H_
