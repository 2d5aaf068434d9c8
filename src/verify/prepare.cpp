#include "verify/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "core/host_mode.h"
#include "core/own_launcher.h"
#include "frontend/launcher_planner.h"

namespace optiml {
namespace {

constexpr char kNoKernelName[] = "optiml_no_kernel";
constexpr char kNoKernelText[] = "\nextern \"C\" __global__ void optiml_no_kernel() {}\n";

std::optional<DType> DTypeOf(const ast::Type& type) {
  switch (type.kind) {
    case ast::TypeKind::kBool:
      return DType::kBool;
    case ast::TypeKind::kInt:
      switch (type.bits) {
        case 8:
          return type.is_signed ? DType::kI8 : DType::kU8;
        case 16:
          return type.is_signed ? DType::kI16 : DType::kU16;
        case 32:
          return type.is_signed ? DType::kI32 : DType::kU32;
        case 64:
          return type.is_signed ? DType::kI64 : DType::kU64;
        default:
          return std::nullopt;
      }
    case ast::TypeKind::kFloat:
      switch (type.bits) {
        case 16:
          return type.is_bfloat ? DType::kBf16 : DType::kF16;
        case 32:
          return DType::kF32;
        case 64:
          return DType::kF64;
        default:
          return std::nullopt;
      }
    default:
      return std::nullopt;
  }
}

// Evaluation::launcher.
std::string MakersOf(const std::vector<LaunchPlan>& plans) {
  std::string text;
  for (const auto& [maker, name] : {std::pair(PlanMaker::kInterpreter, "interpreted"),
                                    std::pair(PlanMaker::kRecorder, "recorded"),
                                    std::pair(PlanMaker::kTaskFile, "from task.toml")}) {
    if (std::any_of(plans.begin(), plans.end(),
                    [made_by = maker](const LaunchPlan& p) { return p.maker == made_by; })) {
      text += (text.empty() ? "" : " and ") + std::string(name);
    }
  }
  return text;
}

// Adds the time since the last mark to a stage.
class StageTimer {
 public:
  explicit StageTimer(Evaluation& evaluation) : evaluation_(evaluation), last_(clock_.Now()) {}
  void Mark(Stage stage) {
    const Nanoseconds now = clock_.Now();
    evaluation_.stage_times.push_back({stage, now - last_});
    last_ = now;
  }

 private:
  SystemClock clock_;
  Evaluation& evaluation_;
  Nanoseconds last_;
};

// A kernel without launcher: its one launch, from the task file.
Result<std::variant<LaunchPlan, Refusal>> PlanFromTask(
    const KernelTask& task, const ast::SourceUnit& unit,
    const std::vector<LauncherArgument>& arguments, const SizeBindings& sizes) {
  const LaunchSpec& spec = *task.launch;
  const ast::Function* kernel = unit.FindFunction(spec.kernel);
  if (kernel == nullptr || !kernel->is_kernel) {
    return std::variant<LaunchPlan, Refusal>(
        Refusal{fmt::format("{}: no kernel {} (task.toml [launch])", unit.path, spec.kernel), 0});
  }
  if (kernel->parameters.size() != arguments.size()) {
    return std::variant<LaunchPlan, Refusal>(
        Refusal{fmt::format("{}:{}: {} has {} parameters, but the task has {} arguments", unit.path,
                            kernel->line, spec.kernel, kernel->parameters.size(), arguments.size()),
                kernel->line});
  }
  LaunchPlan plan;
  plan.maker = PlanMaker::kTaskFile;
  KernelLaunch launch;
  launch.kernel = spec.kernel;
  launch.line = kernel->line;
  const auto extents = [&](const std::vector<SizeExpr>& from, Dim3& to) -> Result<void> {
    uint32_t* const parts[] = {&to.x, &to.y, &to.z};
    for (size_t i = 0; i < from.size(); ++i) {
      OPTIML_ASSIGN(const int64_t value, from[i].Evaluate(sizes));
      if (value < 1 || value > INT32_MAX) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format("task.toml: [launch]: extent \"{}\" is {}", from[i].text(), value));
      }
      *parts[i] = static_cast<uint32_t>(value);
    }
    return {};
  };
  OPTIML_TRY(extents(spec.grid, launch.grid));
  OPTIML_TRY(extents(spec.block, launch.block));
  OPTIML_ASSIGN(const int64_t shared, spec.dynamic_shared_bytes.Evaluate(sizes));
  launch.dynamic_shared_bytes = static_cast<uint64_t>(std::max<int64_t>(0, shared));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const LauncherArgument& argument = arguments[i];
    if (argument.is_buffer) {
      launch.arguments.emplace_back(DevicePointer{static_cast<int>(plan.buffers.size()), 0});
      plan.buffers.push_back({argument.name, static_cast<int>(i), argument.size_bytes, 0});
      continue;
    }
    // By value, in the parameter's own type.
    const auto& parameter = unit.variables[static_cast<size_t>(kernel->parameters[i])];
    const DType dtype = DTypeOf(*parameter.type).value_or(task.args[i].dtype);
    std::vector<std::byte> bytes(DTypeBytes(dtype));
    const auto* whole = std::get_if<int64_t>(&argument.value);
    if (whole != nullptr && !IsFloat(dtype)) {
      StoreInteger(dtype, *whole, bytes.data());
    } else {
      StoreElement(
          dtype, whole != nullptr ? static_cast<double>(*whole) : std::get<double>(argument.value),
          bytes.data());
    }
    launch.arguments.emplace_back(std::move(bytes));
  }
  plan.steps.emplace_back(std::move(launch));
  return std::variant<LaunchPlan, Refusal>(std::move(plan));
}

// The parameters of the kernel that the task file launches; none when there is no such kernel.
std::vector<LauncherFact> FactsOfKernel(const ast::SourceUnit& unit, const std::string& kernel) {
  std::vector<LauncherParameter> parameters;
  const ast::Function* function = unit.FindFunction(kernel);
  for (const int id : function == nullptr ? std::vector<int>() : function->parameters) {
    const ast::Variable& variable = unit.variables[static_cast<size_t>(id)];
    parameters.push_back({variable.name, variable.type, variable.line});
  }
  return FactsOf(parameters);
}

// What launches the kernels: the task file, or the launcher `entry`.
struct Launching {
  bool by_task = false;
  std::string entry;
};

// Whether the parameters are what the task says; those of a candidate may have other names.
std::optional<Rejection> CheckParameters(const KernelTask& task, std::vector<LauncherFact> facts,
                                         bool same_names) {
  for (LauncherFact& fact : facts) {
    if (!same_names) {
      fact.name.clear();
    }
  }
  const Result<void> agrees = CheckArguments(task, facts);
  return agrees ? std::nullopt
                : std::optional(Rejection{Stage::kPlan, agrees.error().message(), false});
}

std::variant<Launching, Rejection> ChooseLaunching(const KernelTask& task,
                                                   const ast::SourceUnit& unit,
                                                   const std::string& task_entry, bool same_names) {
  // A candidate for a task with [launch] may bring a launcher of its own.
  const std::string own = task.launch ? OwnLauncherName(task.launch->kernel) : std::string();
  const bool has_own = task.launch && std::holds_alternative<std::vector<LauncherParameter>>(
                                          FindLauncher(unit, own));
  if (has_own && same_names) {
    return Rejection{
        Stage::kPlan,
        fmt::format("{}: \"{}\" would take the place of [launch]: rename it, or say entry = \"{}\" "
                    "in [task] and leave out [launch]",
                    unit.path, own, own)};
  }
  const Launching launching{task.launch && !has_own, has_own ? own : task_entry};
  std::vector<LauncherFact> facts;
  if (launching.by_task) {
    if (unit.FindFunction(task.launch->kernel) == nullptr) {
      return launching;  // the plan will say so
    }
    facts = FactsOfKernel(unit, task.launch->kernel);
  } else {
    const auto found = FindLauncher(unit, launching.entry);
    if (const auto* refusal = std::get_if<Refusal>(&found)) {
      return Rejection{Stage::kPlan, refusal->reason};
    }
    facts = FactsOf(std::get<std::vector<LauncherParameter>>(found));
  }
  if (auto rejection = CheckParameters(task, std::move(facts), same_names)) {
    return *std::move(rejection);
  }
  return launching;
}

// A launcher that reads device data back at one of its shapes at least.
struct ReadsBack {
  std::string entry;
  std::vector<LauncherArgument> arguments;  // of that shape
  Rejection rejection;                      // where it must not
};

using Planned = std::variant<std::vector<LaunchPlan>, Rejection, ReadsBack>;

Result<Planned> MakePlans(const KernelTask& task, const ast::SourceUnit& unit,
                          const std::string& task_entry, bool same_names,
                          const std::vector<PlanRequest>& requests,
                          const RecorderOptions& recorder) {
  auto chosen = ChooseLaunching(task, unit, task_entry, same_names);
  if (auto* rejection = std::get_if<Rejection>(&chosen)) {
    return Planned(std::move(*rejection));
  }
  const auto& [by_task, entry] = std::get<Launching>(chosen);
  LauncherPlanner planner(unit, entry, recorder);
  std::vector<LaunchPlan> plans;
  std::vector<std::vector<LauncherArgument>> bound;
  for (const PlanRequest& request : requests) {
    OPTIML_ASSIGN(std::vector<LauncherArgument> arguments,
                  BindArguments(task, request.sizes, request.scalars));
    std::variant<LaunchPlan, Refusal> outcome;
    if (by_task) {
      OPTIML_ASSIGN(outcome, PlanFromTask(task, unit, arguments, request.sizes));
    } else {
      OPTIML_ASSIGN(outcome, planner.Plan(arguments));
    }
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
      Rejection rejection{Stage::kPlan,
                          request.text.empty()
                              ? refusal->reason
                              : fmt::format("{} (at {})", refusal->reason, request.text),
                          !by_task && !refusal->is_fault};
      return refusal->reads_back ? Planned(ReadsBack{entry, std::move(arguments), rejection})
                                 : Planned(std::move(rejection));
    }
    plans.push_back(std::get<LaunchPlan>(std::move(outcome)));
    bound.push_back(std::move(arguments));
  }
  if (!by_task) {
    std::vector<LauncherCall> calls;
    for (size_t i = 0; i < plans.size(); ++i) {
      calls.push_back({&bound[i], &plans[i]});
    }
    OPTIML_ASSIGN(const auto refusal, planner.Check(calls));
    if (refusal) {
      return Planned(Rejection{Stage::kPlan, refusal->reason});
    }
  }
  return Planned(std::move(plans));
}

// All that a launcher in host mode might launch.
std::vector<std::string> AllKernels(const ast::SourceUnit& unit) {
  std::vector<std::string> kernels;
  for (const ast::Function& function : unit.functions) {
    if (function.is_kernel && !function.is_template && function.body != nullptr) {
      kernels.push_back(function.name_expression);
    }
  }
  return kernels;
}

// The launcher in host mode where it reads back, or its rejection as what was planned.
Result<void> GoLive(ast::SourceUnit unit, const RecorderOptions& recorder,
                    const std::function<Result<bool>()>& may_live, Planned& planned,
                    PreparedSource& prepared) {
  if (!std::holds_alternative<ReadsBack>(planned)) {
    return {};
  }
  const ReadsBack reads = std::get<ReadsBack>(std::move(planned));
  planned = reads.rejection;
  if (!may_live) {
    return {};
  }
  OPTIML_ASSIGN(const bool may, may_live());
  if (!may || !recorder.enabled) {
    std::get<Rejection>(planned).reason +=
        may ? "" : "; host mode is for tasks whose own kernel needs it";
    return {};
  }
  OPTIML_ASSIGN(auto made,
                LiveLauncher::Make(std::move(unit), reads.entry, recorder, reads.arguments));
  if (const auto* refusal = std::get_if<Refusal>(&made)) {
    planned = Rejection{
        Stage::kPlan,
        fmt::format("{}; nor can it run in host mode: {}", reads.rejection.reason, refusal->reason),
        !refusal->is_fault};
    return {};
  }
  prepared.live = std::get<std::shared_ptr<LiveLauncher>>(std::move(made));
  planned = std::vector<LaunchPlan>();
  return {};
}

std::vector<std::string> KernelsOf(const std::vector<LaunchPlan>& plans) {
  std::vector<std::string> kernels;
  for (const LaunchPlan& plan : plans) {
    for (std::string& kernel : plan.Kernels()) {
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) {
        kernels.push_back(std::move(kernel));
      }
    }
  }
  return kernels;
}

// Evaluation::launcher and plan_hash.
void SayWhoPlanned(const KernelSource& source, const PreparedSource& prepared,
                   Evaluation& evaluation) {
  ContentHasher hasher;
  if (prepared.live != nullptr) {
    evaluation.launcher = kHostMode;
    hasher.Add(source.text());  // nothing less says what it does
  } else {
    evaluation.launcher = MakersOf(prepared.plans);
  }
  for (const LaunchPlan& plan : prepared.plans) {
    hasher.Add(plan.Format());
  }
  evaluation.plan_hash = hasher.Finish();
}

}  // namespace

std::vector<LauncherFact> FactsOf(const std::vector<LauncherParameter>& parameters) {
  std::vector<LauncherFact> facts;
  for (const LauncherParameter& parameter : parameters) {
    LauncherFact fact;
    fact.name = parameter.name;
    fact.line = parameter.line;
    const ast::Type& type = *parameter.type;
    fact.is_pointer = type.kind == ast::TypeKind::kPointer || type.kind == ast::TypeKind::kArray;
    if (fact.is_pointer && type.element != nullptr) {
      fact.points_to_const = type.element->is_const;
      fact.dtype = DTypeOf(*type.element);
    } else {
      fact.dtype = DTypeOf(type);
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

Result<std::variant<PreparedSource, Rejection>> PrepareSource(
    const KernelTask& task, const KernelSource& source, bool same_names,
    const std::vector<PlanRequest>& requests, Builder& builder, const std::string& architecture,
    Evaluation& evaluation, const RecorderOptions& recorder,
    const std::function<Result<bool>()>& may_live) {
  using Outcome = std::variant<PreparedSource, Rejection>;
  StageTimer timer(evaluation);
  evaluation.source_hash = source.hash();
  ParseOptions options;
  if (const Result<ToolchainInfo> toolchain = builder.Toolchain(); toolchain) {
    options.cuda_include_directory = toolchain->include_directory.string();
  }
  OPTIML_ASSIGN(ParseOutcome parsed, ParseSource(source, options));
  timer.Mark(Stage::kParse);
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    return Outcome(Rejection{Stage::kParse, refusal->reason});
  }
  auto& unit = std::get<ast::SourceUnit>(parsed);

  RecorderOptions recording = recorder;
  if (recording.cuda_include_directory.empty()) {
    recording.cuda_include_directory = options.cuda_include_directory;
  }
  OPTIML_ASSIGN(auto planned,
                MakePlans(task, unit, source.entry(), same_names, requests, recording));
  BuildRequest request;
  request.device_text = unit.device_text;
  request.file_name = source.path();
  request.name_expressions = AllKernels(unit);
  PreparedSource prepared;
  OPTIML_TRY(GoLive(std::move(unit), recording, may_live, planned, prepared));
  timer.Mark(Stage::kPlan);
  if (auto* rejection = std::get_if<Rejection>(&planned)) {
    return Outcome(std::move(*rejection));
  }
  prepared.plans = std::get<std::vector<LaunchPlan>>(std::move(planned));
  if (prepared.live == nullptr) {
    request.name_expressions = KernelsOf(prepared.plans);
  }
  SayWhoPlanned(source, prepared, evaluation);
  request.architecture = architecture;
  if (request.name_expressions.empty()) {
    // A launcher of copies and memsets alone is legal; a device needs a module all the same.
    request.device_text += kNoKernelText;
    request.name_expressions.emplace_back(kNoKernelName);
  }
  OPTIML_ASSIGN(BuildOutcome built, builder.Build(request));
  timer.Mark(Stage::kBuild);
  if (const auto* failure = std::get_if<BuildFailure>(&built)) {
    return Outcome(Rejection{Stage::kBuild, failure->first_error.empty()
                                                ? fmt::format("{} failed", failure->stage)
                                                : failure->first_error});
  }
  prepared.artifact = std::get<Artifact>(std::move(built));
  evaluation.ptx_hash = prepared.artifact.ptx_hash;
  evaluation.resources = prepared.artifact.kernels;
  return Outcome(std::move(prepared));
}

}  // namespace optiml
