// The emulator's speed and memory over whole tasks: their own kernels, or others for the same task.
//
//   suite_bench TASK[=FILE.cu] ...
//
// Each task runs at the largest of its timed sizes, halved, that stays below a number of thread
// instructions and of bytes, so that a run takes 0.1 to 1 s. Prints a Markdown table: G
// thread-instructions a second of one core's processor time (best of several runs) with bounds and
// counters, with initialisation and races of shared memory as well, with those of global memory
// too, and with the cache model besides; how much faster two host threads are than one (wall time,
// bounds and counters; "-" where launches run on one anyway); and the peak of memory with every
// check against what the buffers take.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "device/plan_launch.h"
#include "device/plan_memory.h"
#include "frontend/frontend.h"
#include "ptx/module.h"
#include "ptx/program.h"
#include "task/inputs.h"
#include "task/task.h"

namespace optiml {
namespace {

constexpr uint64_t kMostInstructions = 400'000'000;
constexpr uint64_t kMostBytes = uint64_t{128} << 20;
constexpr int kRounds = 2;

double Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Of this process, in bytes: "VmHWM" or "VmRSS".
uint64_t StatusBytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(name + ":")) {
      return std::stoull(line.substr(name.size() + 1)) * 1024;
    }
  }
  return 0;
}

// The peak counts from here on.
void ResetPeak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

enum class Mode { kCounters, kShared, kChecks, kCache };

struct Kernel {
  KernelTask task;
  SizeBindings sizes;
  TaskInputs inputs;
  Artifact artifact;
  LaunchPlan plan;
  ModuleCache* modules = nullptr;
  DeviceDescription description;
};

struct Measured {
  uint64_t instructions = 0;
  double processor_s = 0;
  double wall_s = 0;
  uint64_t buffer_bytes = 0;
  uint64_t peak_bytes = 0;  // above what the process had before
  std::string problem;      // empty: it ran to the end
  bool parallel = true;     // the launches may use several host threads
};

Error Refused(const Refusal& refusal) {
  return {ErrorCode::kInvalidArgument, refusal.reason};
}

RunRequest RequestFor(const Kernel& kernel) {
  RunRequest request;
  request.artifact = &kernel.artifact;
  request.plan = &kernel.plan;
  size_t next = 0;
  for (const ArgSpec& arg : kernel.task.args) {
    if (!arg.is_buffer) {
      continue;
    }
    BufferContents& buffer = request.buffers.emplace_back();
    buffer.element_bytes = static_cast<uint32_t>(DTypeBytes(arg.dtype));
    buffer.read_only = arg.role == ArgRole::kIn;
    const Tensor& tensor = kernel.inputs.buffers.at(next++);
    if (arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut) {
      buffer.bytes = tensor.bytes;
    }
  }
  return request;
}

// Executes the launches of the plan, without the caches of a device around them.
Result<Measured> Execute(const Kernel& kernel, Mode mode, int threads) {
  Measured measured;
  OPTIML_ASSIGN(const auto module, kernel.modules->Get(kernel.artifact));
  ptx::DeviceMemory empty;
  OPTIML_TRY(empty.LoadModule(*module));
  const uint64_t before = StatusBytes("VmRSS");
  OPTIML_ASSIGN(PlanMemory memory, PlanMemory::Make(RequestFor(kernel), *module, std::move(empty)));
  measured.buffer_bytes = memory.total_bytes();
  ResetPeak();
  DynamicSharedLimits limits;
  for (const LaunchStep& step : kernel.plan.steps) {
    if (const auto* set = std::get_if<MemsetStep>(&step)) {
      memory.Apply(*set);
    } else if (const auto* copy = std::get_if<CopyStep>(&step)) {
      memory.Apply(*copy);
    } else if (const auto* upload = std::get_if<UploadStep>(&step)) {
      memory.Apply(*upload);
    }
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch == nullptr) {
      continue;
    }
    OPTIML_ASSIGN(PreparedLaunch prepared, PrepareLaunch(*launch, kernel.artifact, *module, memory,
                                                         limits, kernel.description));
    ptx::LaunchRequest& request = prepared.request;
    const auto program = ptx::ProgramOf(*module, *module->FindKernel(request.kernel));
    measured.parallel = measured.parallel && !program->NeedsOneThread(true);
    request.counters = true;
    request.threads = threads;
    request.step_limit = kMostInstructions;
    if (mode != Mode::kCounters) {
      request.checks = {true, true, true, true, mode != Mode::kShared};
    }
    if (mode == Mode::kCache) {
      request.cache = CacheFor(prepared.block, request.grid.Count(), kernel.description);
    }
    const double processor = Now(CLOCK_PROCESS_CPUTIME_ID);
    const double wall = Now(CLOCK_MONOTONIC);
    const ptx::LaunchOutcome outcome = ptx::Launch(request, memory.memory());
    measured.processor_s += Now(CLOCK_PROCESS_CPUTIME_ID) - processor;
    measured.wall_s += Now(CLOCK_MONOTONIC) - wall;
    measured.instructions += outcome.counters.thread_instructions;
    if (!outcome.clean() || measured.instructions > kMostInstructions) {
      measured.problem = outcome.clean()
                             ? "too long"
                             : fmt::format("{} {}", ptx::LaunchStatusName(outcome.status),
                                           outcome.findings.empty() ? outcome.message
                                                                    : outcome.findings[0].detail);
      break;
    }
    for (const std::string& note : outcome.notes) {
      measured.problem = note;
    }
  }
  const uint64_t peak = StatusBytes("VmHWM");
  measured.peak_bytes = peak > before ? peak - before : 0;
  return measured;
}

Result<LaunchPlan> PlanFor(const ast::SourceUnit& unit, const KernelTask& task,
                           const TaskInputs& inputs) {
  OPTIML_ASSIGN(const auto arguments, BindArguments(task, inputs.sizes, inputs.scalars));
  PlanOutcome planned = MakeLaunchPlan(unit, task.source.entry(), arguments);
  if (const auto* refusal = std::get_if<Refusal>(&planned)) {
    return Refused(*refusal);
  }
  return std::get<LaunchPlan>(std::move(planned));
}

uint64_t BufferBytes(const KernelTask& task, const SizeBindings& sizes) {
  double bytes = 0;
  for (const ArgSpec& arg : task.args) {
    const auto shape = arg.is_buffer ? ShapeOf(task, arg, sizes) : std::vector<int64_t>{0};
    double count = static_cast<double>(DTypeBytes(arg.dtype));
    for (const int64_t extent : shape ? *shape : std::vector<int64_t>{}) {
      count *= static_cast<double>(extent);
    }
    bytes += count;
  }
  return static_cast<uint64_t>(bytes);
}

// Halves the largest extent. False when all are small.
bool Halve(SizeBindings& sizes) {
  auto largest = std::max_element(sizes.begin(), sizes.end(),
                                  [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == sizes.end() || largest->second < 16) {
    return false;
  }
  largest->second /= 2;
  return true;
}

// The kernel at sizes that run long enough and not too long.
Result<Kernel> Prepare(const std::string& argument, Builder& builder, ModuleCache& modules,
                       const DeviceDescription& description) {
  const size_t equals = argument.find('=');
  Kernel kernel;
  kernel.modules = &modules;
  kernel.description = description;
  OPTIML_ASSIGN(kernel.task, LoadTask(argument.substr(0, equals)));
  KernelSource source = kernel.task.source;
  if (equals != std::string::npos) {
    OPTIML_ASSIGN(std::string text, ReadFile(argument.substr(equals + 1)));
    source = KernelSource(std::move(text), source.entry(), argument.substr(equals + 1));
  }
  OPTIML_ASSIGN(ParseOutcome parsed, ParseSource(source));
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    return Refused(*refusal);
  }
  const auto& unit = std::get<ast::SourceUnit>(parsed);
  kernel.sizes = kernel.task.timed.front().sizes;
  while (BufferBytes(kernel.task, kernel.sizes) > kMostBytes && Halve(kernel.sizes)) {
  }
  for (;;) {
    OPTIML_ASSIGN(kernel.inputs, MakeInputs(kernel.task, kernel.sizes, 1));
    OPTIML_ASSIGN(kernel.plan, PlanFor(unit, kernel.task, kernel.inputs));
    BuildRequest build;
    build.device_text = unit.device_text;
    build.file_name = "kernel.cu";
    build.name_expressions = kernel.plan.Kernels();
    OPTIML_ASSIGN(BuildOutcome built, builder.Build(build));
    if (const auto* failure = std::get_if<BuildFailure>(&built)) {
      return Error(ErrorCode::kInvalidArgument, failure->first_error);
    }
    kernel.artifact = std::get<Artifact>(std::move(built));
    OPTIML_ASSIGN(const Measured probe, Execute(kernel, Mode::kCounters, 1));
    if (probe.problem.empty()) {
      return kernel;
    }
    if ((probe.problem != "too long" && !probe.problem.starts_with("step limit")) ||
        !Halve(kernel.sizes)) {
      return Error(ErrorCode::kInvalidArgument, probe.problem);
    }
  }
}

struct Totals {
  double logs[4] = {};
  int count = 0;
  double scaling_logs = 0;
  double work_logs = 0;
  int scaled = 0;
};

Result<void> Row(const std::string& argument, Builder& builder, ModuleCache& modules,
                 const DeviceDescription& description, Totals& totals) {
  OPTIML_ASSIGN(const Kernel kernel, Prepare(argument, builder, modules, description));
  std::string row = fmt::format("| {}{} | {} |", kernel.task.name,
                                argument.find('=') == std::string::npos ? "" : " (kept)",
                                SizeRow{kernel.sizes, 0}.Text());
  Measured checked;
  double wall = 0;
  double processor = 0;
  for (const Mode mode : {Mode::kCounters, Mode::kShared, Mode::kChecks, Mode::kCache}) {
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
      OPTIML_ASSIGN(const Measured one, Execute(kernel, mode, 1));
      best = std::max(best, static_cast<double>(one.instructions) / one.processor_s);
      if (mode == Mode::kCounters) {
        wall = round == 0 ? one.wall_s : std::min(wall, one.wall_s);
        processor = round == 0 ? one.processor_s : std::min(processor, one.processor_s);
        row += round == 0 ? fmt::format(" {:.0f} M |", static_cast<double>(one.instructions) / 1e6)
                          : "";
      } else if (mode == Mode::kChecks) {
        checked = one;
      }
    }
    totals.logs[static_cast<size_t>(mode)] += std::log(best / 1e9);
    row += fmt::format(" {:.2f} |", best / 1e9);
  }
  ++totals.count;
  double two = 0;
  double work = 0;
  for (int round = 0; round < kRounds; ++round) {
    OPTIML_ASSIGN(const Measured one, Execute(kernel, Mode::kCounters, 2));
    two = round == 0 ? one.wall_s : std::min(two, one.wall_s);
    work = round == 0 ? one.processor_s : std::min(work, one.processor_s);
  }
  if (checked.parallel) {
    totals.scaling_logs += std::log(wall / two);
    totals.work_logs += std::log(2 * processor / work);
    ++totals.scaled;
    row += fmt::format(" {:.2f} ({:.2f}) |", wall / two, 2 * processor / work);
  } else {
    row += " - |";
  }
  constexpr double kMega = 1 << 20;
  fmt::print("{} {:.0f} | {:.0f} | {} |\n", row, static_cast<double>(checked.buffer_bytes) / kMega,
             static_cast<double>(checked.peak_bytes) / kMega, checked.problem);
  std::fflush(stdout);
  return {};
}

Result<void> Run(const std::vector<std::string>& arguments) {
  OPTIML_ASSIGN(const auto device, EmulatorDevice::Make({}));
  const auto builder = MakeNvrtcBuilder({});
  ModuleCache modules;
  fmt::print(
      "| task | sizes | thread instructions | counters | + initialisation, races of shared "
      "memory | + races of global memory | + cache | two threads | buffers, MiB | peak with "
      "checks, "
      "MiB | |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  Totals totals;
  for (const std::string& argument : arguments) {
    if (const auto done = Row(argument, *builder, modules, device->description(), totals); !done) {
      fmt::print("| {} | {} |\n", argument, done.error().message());
    }
  }
  const auto mean = [&](int mode) {
    return std::exp(totals.logs[mode] / std::max(totals.count, 1));
  };
  fmt::print(
      "| geometric mean of {} | | | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} ({:.2f}) | | | "
      "|\n",
      totals.count, mean(0), mean(1), mean(2), mean(3),
      std::exp(totals.scaling_logs / std::max(totals.scaled, 1)),
      std::exp(totals.work_logs / std::max(totals.scaled, 1)));
  return {};
}

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: suite_bench TASK[=FILE.cu] ...\n");
    return 2;
  }
  const auto done = optiml::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (!done.has_value()) {
    fmt::print(stderr, "suite_bench: {}\n", done.error().message());
    return 3;
  }
  return 0;
}
