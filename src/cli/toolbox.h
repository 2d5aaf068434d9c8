#ifndef OPTIML_CLI_TOOLBOX_H_
#define OPTIML_CLI_TOOLBOX_H_

// Toolbox: how the commands get at the parts that compile, execute, verify and search. wiring.cpp
// makes the real one; tests hand in their own.

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "build/builder.h"
#include "cli/cli_env.h"
#include "cli/counter_check.h"
#include "cli/machine_facts.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "device/emulator_device.h"
#include "llm/budget.h"
#include "llm/chat_model.h"
#include "optimize/session.h"
#include "profile/peaks.h"
#include "task/reference.h"
#include "task/task.h"
#include "verify/verifier.h"

namespace optiml {

inline constexpr char kDefaultDescription[] = "h200";

struct DeviceChoice {
  std::string kind = "emulator";                  // or "cuda", "cuda:1"
  bool is_one_of_several = false;                 // its times say which one they are of
  std::string description = kDefaultDescription;  // a built-in name or an absolute path
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;  // set when the user wants the end
  std::filesystem::path peaks;              // folder of measured peaks; empty: none
};

class Toolbox {
 public:
  virtual ~Toolbox() = default;

  // An empty folder: no cache on disk.
  virtual std::unique_ptr<Builder> MakeBuilder(const std::filesystem::path& cache) = 0;
  // Whether a driver's library is here; its GPUs may be unusable all the same.
  virtual bool HasGpuDriver() = 0;
  virtual Result<std::unique_ptr<Device>> MakeDevice(const DeviceChoice& choice) = 0;
  // The emulator itself, for what only it can do.
  virtual Result<std::unique_ptr<EmulatorDevice>> MakeEmulator(const DeviceChoice& choice) = 0;
  virtual Result<std::unique_ptr<HostReference>> MakeReference(const KernelTask& task,
                                                               const ReferenceOptions& options) = 0;
  virtual Result<std::unique_ptr<Verifier>> MakeVerifier(const KernelTask& task, Builder& builder,
                                                         Device& device, HostReference* reference,
                                                         const VerifierOptions& options) = 0;
  // The launcher's parameters as the front end reads them; a file that it refuses is an Error
  // (kParse) with file and line.
  virtual Result<std::vector<LauncherFact>> LauncherFacts(
      const KernelSource& source, const std::filesystem::path& cuda_include_directory) = 0;
  // The syntax tree as text, for --stop-after parse.
  virtual Result<std::string> DescribeSource(
      const KernelSource& source, const std::filesystem::path& cuda_include_directory) = 0;

  virtual Result<RunRecord> RunSession(const SessionParts& parts, const SessionOptions& options,
                                       const RunRecord& record) = 0;
  virtual Result<int64_t> ReplaySearch(const RunRecord& record) = 0;

  // This program with other arguments, as a process of its own; its output is kept.
  virtual Result<ProcessOutcome> RunProgram(const std::vector<std::string>& arguments,
                                            const CliEnv& env, const ProcessLimits& limits) = 0;

  // A language model by its spec ("script:replies.jsonl"). Fails with kInvalidArgument for a spec
  // that cannot be one, and with kUnavailable where there is no provider for it.
  virtual Result<std::unique_ptr<ChatModel>> MakeChatModel(
      const std::string& spec, const CliEnv& env, const std::shared_ptr<ModelLedger>& budget) = 0;

  // `peaks`: the folder of measured peaks; empty: none.
  virtual MachineFacts InspectMachine(const std::filesystem::path& peaks) = 0;
  // Measures the limits of a GPU ("cuda", "cuda:1") and keeps them in choice.peaks.
  virtual Result<PeakOutcome> MeasurePeaks(const DeviceChoice& choice, const std::string& date) = 0;
  // Counts a kernel of our own on the GPU; REQUIRES: there is one.
  virtual CounterCheck TryCounters(const DeviceChoice& choice) = 0;
};

// Opens nothing until it is asked.
std::unique_ptr<Toolbox> MakeToolbox();

}  // namespace optiml

#endif  // OPTIML_CLI_TOOLBOX_H_
