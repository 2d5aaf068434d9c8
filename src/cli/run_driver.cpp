#include "cli/run_driver.h"

#include <fmt/format.h>

#include <new>

#include "base/file_system.h"
#include "cli/option_checks.h"
#include "cli/progress_view.h"
#include "cli/run_folder.h"
#include "cli/summary.h"
#include "optimize/time_shapes.h"
#include "report/text_format.h"

namespace optiml {

SessionOptions SessionFlags::Get(bool measures_time, size_t devices) const {
  constexpr int kInFlightOnGpu = 6;
  SessionOptions result = options;
  const int many = std::min(kMostInFlight, kInFlightOnGpu * static_cast<int>(devices));
  result.in_flight = in_flight > 0 ? in_flight : measures_time ? many : 1;
  if (seconds > 0) {
    result.budget.wall_time = std::chrono::seconds(seconds);
  }
  return result;
}

void AddSessionFlags(CLI::App& app, SessionFlags& flags) {
  SearchOptions& search = flags.options.search;
  std::string group = "Search";
  app.add_option("--candidates", flags.options.budget.candidates, "candidates to evaluate")
      ->type_name("N")
      ->check(WholeNumbers(0, 1'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--in-flight", flags.in_flight,
                 "candidates that are under way together: one is measured, the others are being "
                 "built; 0 is 6 a GPU and 1 on the emulator")
      ->type_name("N")
      ->check(WholeNumbers(0, kMostInFlight))
      ->capture_default_str()
      ->group(group);
  app.add_option("--time", flags.seconds, "seconds after which the search ends; 0 is no limit")
      ->type_name("SECONDS")
      ->check(WholeNumbers(int64_t{0}, kMostSeconds))
      ->capture_default_str()
      ->group(group);
  app.add_option("--search", search.strategy, "how to search")
      ->check(CLI::IsMember({"mcts", "greedy", "random"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--seed", search.seed, "the same seed gives the same run")
      ->type_name("N")
      ->check(WholeNumbers(uint64_t{0}))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--judge,!--no-judge", flags.options.judge,
               "score edits by their plausibility and by whether their claims came true")
      ->group(group);
  app.add_flag("--proxies,!--no-proxies", flags.options.proxies,
               "score edits by counters as well as by time")
      ->group(group);

  group = "Constants";
  const auto number = [&](const char* name, double& value, const char* description) {
    app.add_option(name, value, description)
        ->type_name("X")
        ->check(NumbersFrom(0))
        ->capture_default_str()
        ->group(group);
  };
  number("--exploration", search.exploration, "weight of little-visited nodes (c of UCT)");
  number("--backup-max-share", search.backup_max_share,
         "share of the maximum in a node's value; the rest is the mean");
  number("--widening-factor", search.widening_factor,
         "children allowed = factor * visits^exponent");
  number("--widening-exponent", search.widening_exponent, "see --widening-factor");
  number("--virtual-loss", search.virtual_loss, "visits that each open question counts as");
  number("--prior-noise", search.prior_noise, "noise on the order of edits; 0 is none");
  app.add_option("--max-depth", search.max_depth, "longest chain of edits")
      ->type_name("N")
      ->check(WholeNumbers(1))
      ->capture_default_str()
      ->group(group);
  number("--model-share", flags.options.model_share,
         "trials of a model's proposals that may fail, as a share of the candidates, on top "
         "of them");
  VerifierOptions& verifier = flags.options.verifier;
  app.add_option("--check-seeds", verifier.seeds, "input seeds for each checked shape and fill")
      ->type_name("N")
      ->check(WholeNumbers(1))
      ->capture_default_str()
      ->group(group);
  app.add_option("--first-check-seed", verifier.first_seed, "the first of these seeds")
      ->type_name("N")
      ->check(WholeNumbers(uint64_t{0}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--step-limit", verifier.step_limit_per_case,
                 "thread instructions of one check before it counts as hanging")
      ->type_name("N")
      ->check(WholeNumbers(uint64_t{1}))
      ->capture_default_str()
      ->group(group);
}

void AddOutputFlags(CLI::App& app, OutputFlags& flags) {
  app.add_flag("--json", flags.json, "print the result as JSON")->group("Output");
  app.add_flag("-q,--quiet", flags.quiet, "print no progress and no summary")->group("Output");
}

EnvironmentSnapshot DescribeEnvironment(const Workbench& bench) {
  const DeviceInfo& device = bench.device->Info();
  EnvironmentSnapshot environment;
  environment.optiml_version = OPTIML_VERSION;
  environment.device_name = device.name;
  environment.architecture = device.architecture;
  environment.toolchain = "NVRTC " + bench.toolchain.nvrtc_version;
  environment.measures_time = device.capabilities.measures_time;
  environment.prediction_error_factor = device.prediction_error_factor;
  environment.dram_bytes_per_s = device.dram_bytes_per_s;
  environment.fp32_flops_per_s = device.fp32_flops_per_s;
  environment.peaks = device.peaks;
  return environment;
}

Result<RunRecord> MakeRunHeader(const Workbench& bench, const TaskOptions& task_options,
                                const SessionOptions& options, const fs::path& folder,
                                const CliEnv& env) {
  const KernelTask& task = *bench.task;
  RunRecord record;
  record.id = RunId{folder.filename().string()};
  record.task.name = task.name;
  record.task.intent = task.intent;
  record.task.hash = task.hash.Hex();
  record.task.folder = task.folder.string();
  record.task.entry = task.source.entry();
  record.task.source_path = task.source.path();
  record.task.source = task.source.text();
  record.task.origin = task.origin;
  const fs::path given = env.Resolve(task_options.path);
  const fs::path toml = given.extension() == ".toml" ? given : given / "task.toml";
  if (std::error_code ignored; fs::is_regular_file(toml, ignored)) {
    OPTIML_ASSIGN(record.task.task_toml, ReadFile(toml));
    if (toml.filename() != "task.toml") {
      record.task.folder = fs::absolute(toml, ignored).lexically_normal().string();
    }
  }
  if (record.task.task_toml.empty()) {
    record.task.source_path = given.string();
  }
  for (const SizeRow& row : task.checked) {
    record.task.checked_shapes.push_back(row.Text());
  }
  for (const SizeRow& row : task.timed) {
    record.task.timed_shapes.push_back(row.Text());
  }
  const auto cost = [&](const std::optional<SizeExpr>& formula) -> Result<std::optional<double>> {
    if (!formula || task.timed.empty()) {
      return std::optional<double>();
    }
    OPTIML_ASSIGN(const int64_t value, formula->Evaluate(task.timed.front().sizes));
    return std::optional<double>(static_cast<double>(value));
  };
  OPTIML_ASSIGN(record.task.bytes, cost(task.cost.bytes));
  OPTIML_ASSIGN(record.task.operations, cost(task.cost.operations));

  if (!task.timed.empty()) {
    const SizeBindings& sizes = task.timed.front().sizes;
    record.task.is_half = WorkOf(task, sizes).is_half;
    const double floor = PhysicalFloor(task, sizes, bench.device->Info());
    record.task.reject_floor_s = floor > 0 ? std::optional(floor) : std::nullopt;
  }

  record.environment = DescribeEnvironment(bench);
  record.environment.started_at = env.clock->WallTime();

  record.options = FormatSessionOptions(options);
  for (auto& [key, value] : FormatTaskOptions(task_options, env)) {
    record.options[key] = value;
  }
  return record;
}

namespace {

Result<RunRecord> RunWithinMemory(const SessionParts& parts, const RunJob& job, const CliEnv& env,
                                  Toolbox& tools) {
  try {
    SessionOptions options = job.options;
    options.verifier = job.bench->Recording(options.verifier);
    return tools.RunSession(parts, options, job.record);
  } catch (const std::bad_alloc&) {
    return OutOfMemory(env);
  }
}

// What stopped a run, and how to go on where there is something to go on from.
Error WithWayOn(Error error, const RunJob& job, const CliEnv& env) {
  // What the machine did may go away; a bug or a bad task will not.
  const bool may_pass = error.code() == ErrorCode::kIo || error.code() == ErrorCode::kUnavailable ||
                        error.code() == ErrorCode::kTimeout;
  const Result<RunRecord> kept = job.store->Load();
  if (!may_pass || !kept || kept->nodes.empty()) {
    return error;
  }
  return Error(error.code(), fmt::format("{} (what was done is kept: `optiml resume {}` goes on)",
                                         OneLine(error.message()), ShownPath(job.folder, env)));
}

}  // namespace

Result<int> DriveRun(const RunJob& job, CliEnv& env, Toolbox& tools) {
  ProgressView view(env, job.output.quiet);
  SessionParts parts;
  parts.task = job.bench->task.get();
  parts.builder = job.bench->builder.get();
  parts.device = job.bench->device.get();
  for (const std::unique_ptr<Device>& device : job.bench->more_devices) {
    parts.more_devices.push_back(device.get());
  }
  parts.reference = job.bench->reference.get();
  parts.clock = env.clock;
  parts.store = job.store;
  parts.stop = env.stop;
  OPTIML_ASSIGN(parts.siblings, LoadSamples(*parts.task));
  if (job.models != nullptr) {
    parts.models = job.models->roles;
    parts.model_budget = job.models->budget;
  }
  parts.observer = [&](const Progress& progress) { view.Show(progress); };
  auto outcome = RunWithinMemory(parts, job, env, tools);
  view.Clear();
  const bool interrupted = !outcome && outcome.error().code() == ErrorCode::kInterrupted;
  if (!outcome && !interrupted) {
    return WithWayOn(std::move(outcome).error(), job, env);
  }
  // An interrupted run says what its store holds.
  auto loaded = interrupted ? job.store->Load() : std::move(outcome);
  if (!loaded) {
    return std::move(loaded).error();
  }
  RunRecord record = *std::move(loaded);
  if (interrupted) {
    record.state = RunState::kInterrupted;
  }
  const int exit_code = ExitCodeOfRun(record);
  const ReportModel model = MakeReportModel(std::move(record));
  auto files = WriteRunFiles(job.folder, model);
  if (!files) {
    return std::move(files).error().WithContext(
        "the run is stored, but its report could not be written (`optiml report` writes it again)");
  }
  if (job.output.json) {
    *env.out << RunSummaryJson(model, job.folder, *files, exit_code);
  } else if (!job.output.quiet) {
    *env.out << RunSummary(model, job.folder, *files, env);
  }
  return exit_code;
}

}  // namespace optiml
