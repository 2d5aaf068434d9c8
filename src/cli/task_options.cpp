#include "cli/task_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "base/file_system.h"
#include "cli/option_checks.h"
#include "device/checked_device.h"
#include "task/launcher_scan.h"
#include "task/memory_need.h"

namespace optiml {
namespace {

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Result<std::vector<SizeBindings>> ParseRows(const char* flag,
                                            const std::vector<std::string>& rows) {
  std::vector<SizeBindings> parsed;
  for (const std::string& row : rows) {
    auto sizes = ParseSizes(row);
    if (!sizes) {
      return std::move(sizes).error().WithContext(flag);
    }
    parsed.push_back(*std::move(sizes));
  }
  return parsed;
}

bool IsFile(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// CLI11's form of a check: what is wrong, or nothing.
std::string IsDevice(const std::string& text) {
  const bool is_numbered = text.starts_with("cuda:") && text.size() > 5 && text.size() < 9 &&
                           text.find_first_not_of("0123456789", 5) == std::string::npos;
  return text == "auto" || text == "emulator" || text == "cuda" || is_numbered
             ? ""
             : fmt::format("\"{}\" is none of auto, emulator, cuda, cuda:N", text);
}

// A GPU where there is one that can be used, else the emulator; a GPU that is there and cannot be
// used is told.
Result<std::unique_ptr<Device>> MakeQuietDevice(DeviceChoice choice, const CliEnv& env,
                                                Toolbox& tools) {
  if (choice.kind != "auto") {
    return tools.MakeDevice(choice);
  }
  choice.kind = "emulator";
  if (!tools.HasGpuDriver()) {
    return tools.MakeDevice(choice);
  }
  DeviceChoice gpu = choice;
  gpu.kind = "cuda";
  Result<std::unique_ptr<Device>> made = tools.MakeDevice(gpu);
  if (made || made.error().code() != ErrorCode::kUnavailable) {
    return made;
  }
  *env.err << fmt::format("note: the emulator is used, so times are predicted: {}\n",
                          made.error().message());
  return tools.MakeDevice(choice);
}

// One line where its hardware counters cannot be read, once that shows.
Result<std::unique_ptr<Device>> MakeChosenDevice(DeviceChoice choice, const CliEnv& env,
                                                 Toolbox& tools) {
  OPTIML_ASSIGN(std::unique_ptr<Device> device, MakeQuietDevice(std::move(choice), env, tools));
  if (auto* counters = dynamic_cast<HardwareCounters*>(device.get())) {
    counters->OnNoCounters([err = env.err](const std::string& why) {
      *err << fmt::format("note: hardware counters: {}; the emulator's counters are used\n", why);
    });
  }
  return device;
}

// A path is absolute afterwards; a built-in name stays.
std::string ResolveDescription(const std::string& description, const CliEnv& env) {
  const std::filesystem::path path = env.Resolve(description);
  return description.find('/') != std::string::npos || IsFile(path) ? path.string() : description;
}

// What the front end says of a lone .cu's launcher. A file without one is the loader's to refuse.
Result<void> AddLauncher(const std::filesystem::path& path, Builder& builder, Toolbox& tools,
                         TaskOverrides& overrides) {
  const std::string name = path.filename().string();
  OPTIML_ASSIGN(const std::string text, ReadFile(path));
  OPTIML_ASSIGN(const SourceComments comments, ReadComments(text, name));
  const Result<ScannedLauncher> scanned =
      ScanLauncher(text, name, overrides.entry.empty() ? comments.entry : overrides.entry);
  if (scanned) {
    OPTIML_ASSIGN(const ToolchainInfo toolchain, builder.Toolchain());
    OPTIML_ASSIGN(overrides.launcher, tools.LauncherFacts(KernelSource(text, scanned->entry, name),
                                                          toolchain.include_directory));
  }
  return {};
}

}  // namespace

void AddShapeOptions(CLI::App& app, TaskOptions& options) {
  const std::string group = "Task";
  app.add_option("--entry", options.entry, "the launcher, a host function")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--checked", options.checked,
                 "sizes to check, for example rows=33,cols=100; replaces the task's")
      ->type_name("SIZES")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--timed", options.timed, "sizes to time; replaces the task's")
      ->type_name("SIZES")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--arg", options.args,
                 "what an argument is, for example x=f32[rows,cols]:in:normal")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group(group);
}

namespace {

void AddDeviceChoice(CLI::App& app, TaskOptions& options) {
  const std::string group = "Device";
  app.add_option(
         "--device", options.device,
         "what executes the kernels: cuda (the first GPU), cuda:N, emulator, or auto: a GPU "
         "where there is one, else the emulator")
      ->type_name("DEVICE")
      ->check(IsDevice)
      ->capture_default_str()
      ->group(group);
}

// "cuda:1,cuda:2" in a record.
std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Opens those that are equal to the first one; the others are told and left out: times of unequal
// GPUs must not meet in one tree.
Result<void> OpenMoreDevices(const std::vector<std::string>& kinds, DeviceChoice choice,
                             const CliEnv& env, Toolbox& tools, Workbench& bench) {
  const DeviceInfo& first = bench.device->Info();
  if (!kinds.empty() && !first.capabilities.measures_time) {
    return Error(ErrorCode::kInvalidArgument,
                 "--more-devices: they help a GPU, and --device is the emulator");
  }
  choice.is_one_of_several = true;
  for (const std::string& kind : kinds) {
    choice.kind = kind;
    OPTIML_ASSIGN(std::unique_ptr<Device> device, tools.MakeDevice(choice));
    const DeviceInfo& info = device->Info();
    if (info.name != first.name || info.architecture != first.architecture ||
        info.multiprocessors != first.multiprocessors ||
        info.dram_bytes_per_s != first.dram_bytes_per_s) {
      *env.err << fmt::format(
          "note: {} is left out: it is a {} of {} multiprocessors, not a {} of {} as the first\n",
          kind, info.name, info.multiprocessors, first.name, first.multiprocessors);
      continue;
    }
    bench.more_devices.push_back(std::move(device));
  }
  return {};
}

void AddEmulatorOptions(CLI::App& app, TaskOptions& options) {
  const std::string group = "Device";
  app.add_option("--device-description", options.description,
                 "the GPU model to emulate: h200, a100, rtx4090 or a .toml file")
      ->type_name("MODEL")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", options.threads, "host threads that may be used; 0 is all cores")
      ->type_name("N")
      ->check(WholeNumbers(0, 1024))
      ->capture_default_str()
      ->group(group);
  app.add_flag(
         "--unconfined", options.unconfined,
         "run references and recorded launchers without the sandbox; only for code that you trust")
      ->group(group);
}

void AddTask(CLI::App& app, TaskOptions& options) {
  app.add_option("path", options.path, "a task folder, a task.toml or a .cu file")
      ->type_name("PATH")
      ->required();
  AddShapeOptions(app, options);
}

}  // namespace

void AddTaskOptions(CLI::App& app, TaskOptions& options) {
  AddTask(app, options);
  AddDeviceChoice(app, options);
  AddEmulatorOptions(app, options);
}

void AddEmulationOptions(CLI::App& app, TaskOptions& options) {
  AddTask(app, options);
  AddEmulatorOptions(app, options);
}

Result<TaskOverrides> MakeOverrides(const TaskOptions& options) {
  TaskOverrides overrides;
  overrides.entry = options.entry;
  OPTIML_ASSIGN(overrides.checked, ParseRows("--checked", options.checked));
  OPTIML_ASSIGN(overrides.timed, ParseRows("--timed", options.timed));
  for (const std::string& arg : options.args) {
    const size_t equals = arg.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("--arg: \"{}\" has no name (as in x=f32[rows,cols]:in:normal)", arg));
    }
    if (!overrides.shapes.emplace(arg.substr(0, equals), arg.substr(equals + 1)).second) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--arg: {} is given twice", arg.substr(0, equals)));
    }
  }
  return overrides;
}

std::map<std::string, std::string> FormatTaskOptions(const TaskOptions& options,
                                                     const CliEnv& env) {
  std::map<std::string, std::string> values = {
      {"device", options.device},
      {"device-description", ResolveDescription(options.description, env)},
      {"threads", std::to_string(options.threads)}};
  if (!options.entry.empty()) {
    values["entry"] = options.entry;
  }
  if (!options.more_devices.empty()) {
    values["more-devices"] = fmt::format("{}", fmt::join(options.more_devices, ","));
  }
  for (const auto& [key, lines] : {std::pair("checked", &options.checked),
                                   {"timed", &options.timed},
                                   {"arg", &options.args}}) {
    if (!lines->empty()) {
      values[key] = JoinLines(*lines);
    }
  }
  if (options.unconfined) {
    values["unconfined"] = "true";
  }
  return values;
}

Result<TaskOptions> ParseTaskOptions(const std::map<std::string, std::string>& values) {
  TaskOptions options;
  const auto read = [&](const char* key, std::string& into) {
    if (const auto found = values.find(key); found != values.end()) {
      into = found->second;
    }
  };
  std::string checked;
  std::string timed;
  std::string args;
  std::string threads = std::to_string(options.threads);
  std::string unconfined;
  read("device", options.device);
  read("device-description", options.description);
  std::string more_devices;
  read("more-devices", more_devices);
  options.more_devices = SplitCommas(more_devices);
  read("entry", options.entry);
  read("checked", checked);
  read("timed", timed);
  read("arg", args);
  read("threads", threads);
  read("unconfined", unconfined);
  options.checked = SplitLines(checked);
  options.timed = SplitLines(timed);
  options.args = SplitLines(args);
  options.unconfined = unconfined == "true";
  const auto [end, error] =
      std::from_chars(threads.data(), threads.data() + threads.size(), options.threads);
  if (error != std::errc() || end != threads.data() + threads.size() || options.threads < 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("option threads: bad value \"{}\"", threads));
  }
  return options;
}

ReferenceOptions ReferenceFor(const TaskOptions& options, const CliEnv& env) {
  const std::filesystem::path cache = env.CacheDirectory().value_or("");
  ReferenceOptions reference;
  reference.cache_directory = cache.empty() ? cache : cache / "reference";
  reference.confined = !options.unconfined;
  reference.stop = env.stop;
  return reference;
}

std::filesystem::path PeaksFolder(const CliEnv& env) {
  const auto cache = env.CacheDirectory();
  return cache ? *cache / "peaks" : std::filesystem::path();
}

void AddGpuChoice(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "the GPU: cuda (the first), or cuda:N")
      ->type_name("DEVICE")
      ->check([](const std::string& text) {
        return text.starts_with("cuda") && IsDevice(text).empty()
                   ? std::string()
                   : fmt::format("\"{}\" is none of cuda, cuda:N", text);
      })
      ->capture_default_str()
      ->group("GPU");
}

void AddMoreDevices(CLI::App& app, TaskOptions& options) {
  app.add_option("--more-devices", options.more_devices,
                 "further GPUs, equal to --device, that judge candidates beside it: cuda:1,cuda:2")
      ->type_name("DEVICES")
      ->delimiter(',')
      ->check([](const std::string& text) {
        return text.starts_with("cuda") && IsDevice(text).empty()
                   ? std::string()
                   : fmt::format("\"{}\" is none of cuda, cuda:N", text);
      })
      ->group("Device");
}

Result<Workbench> MakeWorkbench(const TaskOptions& options, const CliEnv& env, Toolbox& tools,
                                const VerifierOptions& checks) {
  Workbench bench;
  OPTIML_ASSIGN(TaskOverrides overrides, MakeOverrides(options));
  const std::filesystem::path cache = env.CacheDirectory().value_or("");
  bench.builder = tools.MakeBuilder(cache.empty() ? cache : cache / "build");
  const std::filesystem::path path = env.Resolve(options.path);
  if (path.extension() == ".cu" && IsFile(path)) {
    OPTIML_TRY(AddLauncher(path, *bench.builder, tools, overrides));
  }
  OPTIML_ASSIGN(KernelTask task, LoadTask(path, overrides));
  if (env.memory_bytes) {
    const auto cases = static_cast<uint64_t>(checks.seeds) + checks.extra_fills.size();
    OPTIML_TRY(CheckMemory(task, cases, *env.memory_bytes));
  }
  bench.task = std::make_unique<KernelTask>(std::move(task));

  OPTIML_ASSIGN(bench.toolchain, bench.builder->Toolchain());
  if (!bench.task->launch) {
    OPTIML_ASSIGN(const std::vector<LauncherFact> launcher,
                  tools.LauncherFacts(bench.task->source, bench.toolchain.include_directory));
    OPTIML_TRY(CheckArguments(*bench.task, launcher));
  }

  DeviceChoice choice;
  choice.kind = options.device;
  choice.stop = env.stop;
  choice.description = ResolveDescription(options.description, env);
  choice.threads = options.threads > 0
                       ? options.threads
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  choice.peaks = PeaksFolder(env);
  choice.is_one_of_several = !options.more_devices.empty();
  OPTIML_ASSIGN(bench.device, MakeChosenDevice(choice, env, tools));
  OPTIML_TRY(OpenMoreDevices(options.more_devices, choice, env, tools, bench));

  bench.recorder.cache_directory = cache.empty() ? cache : cache / "recorder";
  bench.recorder.cuda_include_directory = bench.toolchain.include_directory;
  bench.recorder.confined = !options.unconfined;
  bench.recorder.stop = env.stop;

  if (bench.task->reference.kind == ReferenceKind::kHost) {
    OPTIML_ASSIGN(bench.reference, tools.MakeReference(*bench.task, ReferenceFor(options, env)));
  }
  return bench;
}

}  // namespace optiml
