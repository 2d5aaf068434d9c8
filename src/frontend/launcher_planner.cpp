#include "frontend/launcher_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/file_system.h"
#include "frontend/host_value.h"
#include "frontend/launcher_check.h"
#include "frontend/launcher_entry.h"
#include "frontend/recorded_plan.h"
#include "frontend/recorder.h"

namespace optiml {

using frontend::RecordedCall;
using frontend::RecordedPlan;
using frontend::Surroundings;

namespace {

// Calls of one process; a request holds no more than twice as many.
constexpr size_t kCallsOfAProcess = 128;

using Plans = std::variant<std::vector<RecordedPlan>, Refusal>;

Refusal Both(const Refusal& interpreted, const Refusal& recorded) {
  if (recorded.is_fault) {
    return recorded;
  }
  Refusal both{fmt::format("{}; nor can it be recorded: {}", interpreted.reason, recorded.reason),
               interpreted.line};
  both.reads_back = recorded.reads_back;
  return both;
}

// The library whose name begins what a launcher uses, as its users call it; empty: none.
std::string_view LibraryOf(std::string_view reason) {
  struct Library {
    std::string_view prefix;
    std::string_view name;
  };
  static constexpr std::array<Library, 8> kLibraries = {{{"thrust::", "Thrust"},
                                                         {"cub::", "CUB"},
                                                         {"cublas", "cuBLAS"},
                                                         {"cusparse", "cuSPARSE"},
                                                         {"cusolver", "cuSOLVER"},
                                                         {"cufft", "cuFFT"},
                                                         {"curand", "cuRAND"},
                                                         {"cudnn", "cuDNN"}}};
  for (const std::string_view start : {"launcher calls ", "launcher uses "}) {
    const size_t at = reason.find(start);
    for (const Library& library : kLibraries) {
      if (at != std::string_view::npos &&
          reason.substr(at + start.size()).starts_with(library.prefix)) {
        return library.name;
      }
    }
  }
  return {};
}

// Whether the launcher can be called with these arguments at all.
std::optional<Refusal> ArgumentFault(const ast::SourceUnit& unit, const ast::Function& launcher,
                                     const std::vector<LauncherArgument>& arguments) {
  const auto refuse = [&](const std::string& what) {
    return Refusal{fmt::format("{}:{}: {}", unit.path, launcher.line, what), launcher.line};
  };
  if (arguments.size() > launcher.parameters.size()) {
    return refuse(fmt::format("launcher {} has {} parameters, but the task has {} arguments",
                              launcher.name, launcher.parameters.size(), arguments.size()));
  }
  for (size_t i = 0; i < launcher.parameters.size(); ++i) {
    const ast::Variable& parameter = unit.variables[static_cast<size_t>(launcher.parameters[i])];
    if (i >= arguments.size()) {
      if (parameter.init == nullptr) {
        return refuse(fmt::format("launcher {} has {} parameters, but the task has {} arguments",
                                  launcher.name, launcher.parameters.size(), arguments.size()));
      }
      continue;
    }
    const LauncherArgument& argument = arguments[i];
    const ast::Type& type = *parameter.type;
    if (argument.is_buffer != (type.kind == ast::TypeKind::kPointer)) {
      return refuse(fmt::format("argument \"{}\" is a {}, but parameter \"{}\" is {}",
                                argument.name, argument.is_buffer ? "buffer" : "scalar",
                                parameter.name, type.text));
    }
    if (argument.size_bytes >= static_cast<uint64_t>(frontend::HostMemory::kDeviceReach)) {
      return refuse(
          fmt::format("argument \"{}\" has {} bytes, more than a launcher can address "
                      "here",
                      argument.name, argument.size_bytes));
    }
    const auto* whole = std::get_if<int64_t>(&argument.value);
    const bool is_plain = type.kind == ast::TypeKind::kInt && type.bits > 0 && type.bits < 64;
    if (!argument.is_buffer && whole != nullptr && is_plain &&
        frontend::WrapInteger(*whole, type.bits, type.is_signed) != *whole) {
      return refuse(fmt::format("argument \"{}\" = {} does not fit parameter \"{}\" ({})",
                                argument.name, *whole, parameter.name, type.text));
    }
  }
  return std::nullopt;
}

}  // namespace

// What is recorded of the launcher.
class LauncherPlanner::Recordings {
 public:
  Recordings(const ast::SourceUnit& unit, const ast::Function& launcher, RecorderOptions options,
             PlanLimits limits)
      : unit_(unit), launcher_(launcher), options_(std::move(options)), limits_(limits) {}

  Result<Plans> Run(const std::vector<RecordedCall>& calls, Surroundings surroundings) {
    for (const RecordedCall& call : calls) {
      if (auto fault = ArgumentFault(unit_, launcher_, *call.arguments)) {
        return Plans(*std::move(fault));
      }
    }
    OPTIML_TRY(MakeProgram(calls.front().arguments->size()));
    if (const auto* refusal = std::get_if<Refusal>(&*recorder_)) {
      return Plans(*refusal);
    }
    const auto& recorder = std::get<frontend::Recorder>(*recorder_);
    OPTIML_ASSIGN(const auto trace, recorder.Run(calls, surroundings));
    if (const auto* refusal = std::get_if<Refusal>(&trace)) {
      return Plans(*refusal);
    }
    return frontend::PlansFromTrace(unit_, launcher_, recorder.names(), calls, surroundings,
                                    limits_, std::get<std::string>(trace));
  }

  Result<std::optional<Refusal>> Prepare(const std::vector<LauncherArgument>& arguments) {
    if (auto fault = ArgumentFault(unit_, launcher_, arguments)) {
      return fault;
    }
    OPTIML_TRY(MakeProgram(arguments.size()));
    const auto* refusal = std::get_if<Refusal>(&*recorder_);
    return refusal == nullptr ? std::nullopt : std::optional(*refusal);
  }

  Result<std::variant<std::vector<LivePlan>, Refusal>> RunLive(
      const std::vector<RecordedCall>& calls, Surroundings surroundings, LiveDevice& device) {
    using Outcome = std::variant<std::vector<LivePlan>, Refusal>;
    for (const RecordedCall& call : calls) {
      OPTIML_ASSIGN(auto refusal, Prepare(*call.arguments));
      if (refusal) {
        return Outcome(*std::move(refusal));
      }
    }
    return std::get<frontend::Recorder>(*recorder_).RunLive(calls, surroundings, limits_, device);
  }

  Result<std::optional<Refusal>> Check(const std::vector<LauncherCall>& calls) {
    for (size_t begin = 0; begin < calls.size(); begin += kCallsOfAProcess) {
      const size_t end = std::min(calls.size(), begin + kCallsOfAProcess);
      const std::vector<LauncherCall> some(calls.begin() + static_cast<std::ptrdiff_t>(begin),
                                           calls.begin() + static_cast<std::ptrdiff_t>(end));
      OPTIML_ASSIGN(auto again, CheckAgain(some));
      if (again) {
        return again;
      }
      OPTIML_ASSIGN(auto elsewhere, CheckElsewhere(some));
      if (elsewhere) {
        return elsewhere;
      }
    }
    return std::optional<Refusal>();
  }

 private:
  Result<void> MakeProgram(size_t arguments) {
    if (recorder_) {
      return {};
    }
    if (options_.cache_directory.empty()) {
      OPTIML_ASSIGN(folder_, TemporaryDirectory::Create("optiml-recorder-"));
      options_.cache_directory = folder_->path();
    }
    OPTIML_ASSIGN(auto made, frontend::Recorder::Make(unit_, launcher_, arguments, options_));
    recorder_.emplace(std::move(made));
    return {};
  }

  // Every call after all the others, and twice in a row.
  Result<std::optional<Refusal>> CheckAgain(const std::vector<LauncherCall>& calls) {
    using Outcome = std::optional<Refusal>;
    std::vector<RecordedCall> twice;
    for (const LauncherCall& call : calls) {
      twice.push_back({call.arguments, false});
      twice.push_back({call.arguments, true});
    }
    OPTIML_ASSIGN(const Plans plans, Run(twice, Surroundings::kUsual));
    if (const auto* refusal = std::get_if<Refusal>(&plans)) {
      return Outcome(frontend::Said(*refusal, frontend::kCalledAgain));
    }
    const auto& made = std::get<std::vector<RecordedPlan>>(plans);
    for (size_t i = 0; i < calls.size(); ++i) {
      for (const auto& [plan, when] : {std::pair(&made[2 * i].plan, frontend::kAfterOthers),
                                       std::pair(&made[2 * i + 1].plan, frontend::kCalledAgain)}) {
        if (auto refusal = frontend::CompareWork(unit_, launcher_, *calls[i].plan, *plan, when)) {
          return refusal;
        }
      }
      if (made[2 * i + 1].changed_memory) {
        return Outcome(Refusal{fmt::format("{}:{}: launcher keeps state between its calls: every "
                                           "call changes host memory that outlives the call",
                                           unit_.path, launcher_.line),
                               launcher_.line});
      }
    }
    return Outcome();
  }

  Result<std::optional<Refusal>> CheckElsewhere(const std::vector<LauncherCall>& calls) {
    using Outcome = std::optional<Refusal>;
    std::vector<RecordedCall> once;
    for (const LauncherCall& call : calls) {
      once.push_back({call.arguments, false});
    }
    OPTIML_ASSIGN(const Plans plans, Run(once, Surroundings::kOther));
    if (const auto* refusal = std::get_if<Refusal>(&plans)) {
      return Outcome(frontend::Said(*refusal, frontend::kElsewhere));
    }
    const auto& made = std::get<std::vector<RecordedPlan>>(plans);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (auto refusal = frontend::CompareWork(unit_, launcher_, *calls[i].plan, made[i].plan,
                                               frontend::kElsewhere)) {
        return refusal;
      }
    }
    return Outcome();
  }

  const ast::SourceUnit& unit_;
  const ast::Function& launcher_;
  RecorderOptions options_;
  PlanLimits limits_;
  std::optional<TemporaryDirectory> folder_;
  std::optional<std::variant<frontend::Recorder, Refusal>> recorder_;
};

LauncherPlanner::LauncherPlanner(const ast::SourceUnit& unit, std::string entry,
                                 RecorderOptions options, PlanLimits limits)
    : unit_(unit), entry_(std::move(entry)), options_(std::move(options)), limits_(limits) {}

LauncherPlanner::~LauncherPlanner() = default;

Result<PlanOutcome> LauncherPlanner::Plan(const std::vector<LauncherArgument>& arguments) {
  PlanOutcome interpreted = MakeLaunchPlan(unit_, entry_, arguments, limits_);
  const auto* refusal = std::get_if<Refusal>(&interpreted);
  if (refusal == nullptr || !refusal->not_followed || !options_.enabled) {
    return interpreted;
  }
  if (const std::string_view library = LibraryOf(refusal->reason); !library.empty()) {
    Refusal named{fmt::format("{} (a library: {}; what it does is not the launcher's to be traced)",
                              refusal->reason, library),
                  refusal->line};
    return PlanOutcome(std::move(named));
  }
  OPTIML_ASSIGN(Plans plans, Recorded().Run({{&arguments, false}}, Surroundings::kUsual));
  if (const auto* recorded = std::get_if<Refusal>(&plans)) {
    return PlanOutcome(Both(*refusal, *recorded));
  }
  return PlanOutcome(std::move(std::get<std::vector<RecordedPlan>>(plans).front().plan));
}

Result<std::optional<Refusal>> LauncherPlanner::Check(const std::vector<LauncherCall>& calls) {
  if (recordings_ == nullptr) {
    auto refusal = CheckLauncher(unit_, entry_, calls, limits_);
    if (!refusal || !refusal->not_followed || !options_.enabled) {
      return refusal;
    }
    OPTIML_ASSIGN(const auto recorded, Recorded().Check(calls));
    return recorded ? std::optional(Both(*refusal, *recorded)) : std::nullopt;
  }
  return recordings_->Check(calls);
}

Result<std::optional<Refusal>> LauncherPlanner::PrepareLive(
    const std::vector<LauncherArgument>& arguments) {
  return Recorded().Prepare(arguments);
}

Result<std::variant<std::vector<LivePlan>, Refusal>> LauncherPlanner::RunLive(
    const std::vector<LiveCall>& calls, bool elsewhere, LiveDevice& device) {
  std::vector<RecordedCall> recorded;
  for (const LiveCall& call : calls) {
    recorded.push_back({call.arguments, call.compares_memory});
  }
  return Recorded().RunLive(recorded, elsewhere ? Surroundings::kOther : Surroundings::kUsual,
                            device);
}

std::optional<Refusal> LauncherPlanner::Compare(const LaunchPlan& fresh, const LaunchPlan& later,
                                                std::string_view when) const {
  const auto found = frontend::FindEntry(unit_, entry_);
  return frontend::CompareWork(unit_, *std::get<const ast::Function*>(found), fresh, later, when);
}

LauncherPlanner::Recordings& LauncherPlanner::Recorded() {
  if (recordings_ == nullptr) {
    const auto found = frontend::FindEntry(unit_, entry_);
    recordings_ = std::make_unique<Recordings>(unit_, *std::get<const ast::Function*>(found),
                                               options_, limits_);
  }
  return *recordings_;
}

}  // namespace optiml
