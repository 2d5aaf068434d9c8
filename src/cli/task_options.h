#ifndef OPTIML_CLI_TASK_OPTIONS_H_
#define OPTIML_CLI_TASK_OPTIONS_H_

// What the commands that work on a task have in common: which task, on which device; and the parts
// that these choices make.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/cli_env.h"
#include "cli/toolbox.h"

namespace optiml {

struct TaskOptions {
  std::string path;
  std::string entry;
  std::vector<std::string> checked;  // "rows=33,cols=100"
  std::vector<std::string> timed;
  std::vector<std::string> args;          // "x=f32[rows,cols]:in:normal"
  std::string device = "auto";            // or "emulator", "cuda", "cuda:1"
  std::vector<std::string> more_devices;  // GPUs that judge candidates beside `device`
  std::string description = "h200";
  int threads = 0;  // 0: all cores of the machine
  bool unconfined = false;
};

// Declares PATH and the options above.
void AddTaskOptions(CLI::App& app, TaskOptions& options);
// Only --entry, --checked, --timed and --arg.
void AddShapeOptions(CLI::App& app, TaskOptions& options);
// The same as AddTaskOptions without --device, for what only the emulator can do.
void AddEmulationOptions(CLI::App& app, TaskOptions& options);

// Fails with kInvalidArgument, naming the flag.
Result<TaskOverrides> MakeOverrides(const TaskOptions& options);

// As RunRecord::options keeps them, by flag; values of a repeated flag one a line. Paths are
// absolute.
std::map<std::string, std::string> FormatTaskOptions(const TaskOptions& options, const CliEnv& env);
// The way back, for resume. Absent keys leave the defaults.
Result<TaskOptions> ParseTaskOptions(const std::map<std::string, std::string>& values);

// A task with all that is needed to build, run and check its kernels.
struct Workbench {
  std::unique_ptr<KernelTask> task;
  std::unique_ptr<Builder> builder;
  ToolchainInfo toolchain;
  std::unique_ptr<Device> device;
  std::vector<std::unique_ptr<Device>> more_devices;  // equal to it
  std::unique_ptr<HostReference> reference;           // null when the reference is no host function
  RecorderOptions recorder;                           // of this machine and the user's choice

  // `options` with what the workbench says of recording launchers.
  VerifierOptions Recording(VerifierOptions options) const {
    options.recorder = recorder;
    return options;
  }
};

// --more-devices, of commands that judge many candidates.
void AddMoreDevices(CLI::App& app, TaskOptions& options);

// How host references are compiled and run with these options.
ReferenceOptions ReferenceFor(const TaskOptions& options, const CliEnv& env);

// The folder that keeps measured peaks of GPUs; empty when there is no cache.
std::filesystem::path PeaksFolder(const CliEnv& env);

// Adds "--device" to commands that look at GPUs alone.
void AddGpuChoice(CLI::App& app, std::string& device);

// Loads the task, compares it with its launcher, opens the toolchain and the device, compiles the
// reference. Leaves nothing behind but cached files. `checks`: how many cases must fit in memory.
Result<Workbench> MakeWorkbench(const TaskOptions& options, const CliEnv& env, Toolbox& tools,
                                const VerifierOptions& checks = {});

}  // namespace optiml

#endif  // OPTIML_CLI_TASK_OPTIONS_H_
