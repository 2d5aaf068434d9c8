#include "device/emulator_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/rng.h"
#include "device/counter_metrics.h"
#include "device/launch_counting.h"
#include "device/plan_memory.h"

namespace optiml {
namespace {

// Output of printf, and findings, that are kept of one run.
constexpr size_t kPrintedBytes = 64 * 1024;
constexpr size_t kMaxFindings = 64;
// Launches of a plan that get a whole budget each; those of longer plans share as much.
constexpr uint64_t kBudgetsOfAPlan = 16;
// Blocks that are put into another order; the list costs 8 bytes each.
constexpr uint64_t kMaxReordered = uint64_t{1} << 20;

// A machine as RunRequest::surroundings asks for it.
struct Machine {
  uint64_t memory_base = ptx::kGlobalBase;
  uint64_t cycles = 0;  // on its clocks before the plan begins
  uint64_t nanoseconds = 0;
};

Machine MachineOf(const Surroundings& surroundings) {
  if (!surroundings.of_machine) {
    return {};
  }
  // Where drivers of 64-bit hosts put device memory, and a date of this century.
  constexpr uint64_t kFirstAddress = 0x7f00'0000'0000;
  constexpr uint64_t kAddresses = 0x00e0'0000'0000;
  constexpr uint64_t kAddressUnit = uint64_t{2} << 20;
  constexpr uint64_t kDate = 1'700'000'000'000'000'000;
  constexpr uint64_t kTwoYears = 63'000'000'000'000'000;
  Rng rng(*surroundings.of_machine);
  Machine machine;
  machine.memory_base = kFirstAddress + rng.NextBelow(kAddresses / kAddressUnit) * kAddressUnit;
  machine.cycles = (uint64_t{1} << 48) + rng.NextBelow(uint64_t{1} << 48);
  machine.nanoseconds = kDate + rng.NextBelow(kTwoYears);
  return machine;
}

struct PlanEnd {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;
};

// What a plan needs while it is executed.
struct PlanState {
  const RunRequest& request;
  const DeviceDescription& device;
  std::shared_ptr<const ptx::Module> module;
  PlanMemory memory;
  std::chrono::steady_clock::time_point deadline;
  DynamicSharedLimits limits;
  Machine machine;

  bool OutOfTime() const {
    return request.time_limit.count() > 0 && std::chrono::steady_clock::now() > deadline;
  }
};

// A module that the emulator cannot read or has no room for is the candidate's end, not an Error.
using StartedPlan = std::variant<std::unique_ptr<PlanState>, PlanEnd>;

Result<StartedPlan> StartPlan(const RunRequest& request, const DeviceDescription& device,
                              ModuleCache& modules) {
  OPTIML_CHECK(request.artifact != nullptr && request.plan != nullptr, "a request is complete");
  auto module = modules.Get(*request.artifact);
  if (!module) {
    return StartedPlan(PlanEnd{RunStatus::kUnsupported, module.error().message()});
  }
  const Machine machine = MachineOf(request.surroundings);
  ptx::DeviceMemory empty(machine.memory_base);
  if (const auto loaded = empty.LoadModule(**module); !loaded) {
    return StartedPlan(PlanEnd{RunStatus::kUnsupported, loaded.error().message()});
  }
  OPTIML_ASSIGN(PlanMemory memory, PlanMemory::Make(request, **module, std::move(empty)));
  return StartedPlan(std::unique_ptr<PlanState>(
      new PlanState{request,
                    device,
                    *std::move(module),
                    std::move(memory),
                    std::chrono::steady_clock::now() + request.time_limit,
                    {},
                    machine}));
}

PlanEnd ApplyAttributeStep(const AttributeStep& step, PlanState& state) {
  const KernelResources* resources = state.request.artifact->FindKernel(step.kernel);
  const uint64_t static_shared =
      resources == nullptr ? 0 : state.module->StaticSharedBytes(resources->lowered_name);
  if (const auto refusal = ApplyAttribute(step, static_shared, state.device, state.limits)) {
    return {RunStatus::kFault, fmt::format("cudaFuncSetAttribute of {} at line {} is invalid: {}",
                                           step.kernel, step.line, *refusal)};
  }
  return {};
}

// A step that is no launch. A finding, or a refused attribute, ends the plan.
PlanEnd ApplyQuietStep(const LaunchStep& step, PlanState& state, std::vector<Finding>& findings,
                       ptx::FloatShadow* shadow = nullptr) {
  std::optional<Finding> finding;
  if (const auto* memset = std::get_if<MemsetStep>(&step)) {
    finding = state.memory.Apply(*memset);
  } else if (const auto* copy = std::get_if<CopyStep>(&step)) {
    finding = state.memory.Apply(*copy);
    if (shadow != nullptr && !finding) {
      shadow->Copy(state.memory.Address(copy->source), state.memory.Address(copy->destination),
                   copy->size_bytes);
    }
  } else if (const auto* upload = std::get_if<UploadStep>(&step)) {
    finding = state.memory.Apply(*upload);
  } else {
    return ApplyAttributeStep(std::get<AttributeStep>(step), state);
  }
  if (!finding.has_value()) {
    return {};
  }
  PlanEnd end{RunStatus::kFault, FindingText(*finding)};
  findings.push_back(*std::move(finding));
  return end;
}

PlanEnd LimitReached(const KernelLaunch& launch) {
  return {RunStatus::kTimedOut, fmt::format("the limit was reached before the launch of {} at line "
                                            "{}",
                                            launch.kernel, launch.line)};
}

// How a launch that did not complete reads.
PlanEnd EndOf(const ptx::LaunchOutcome& outcome, const KernelLaunch& launch) {
  if (outcome.status == ptx::LaunchStatus::kCompleted) {
    return {};
  }
  PlanEnd end;
  end.status = RunStatusOf(outcome.status);
  if (outcome.status == ptx::LaunchStatus::kFault && !outcome.findings.empty()) {
    Finding finding = outcome.findings.front();
    finding.kernel = launch.kernel;
    end.reason = FindingText(finding);
  } else {
    end.reason =
        fmt::format("{}, launched at line {}: {}", launch.kernel, launch.line, outcome.message);
  }
  return end;
}

// Bytes that a step other than a launch moves.
uint64_t BytesMoved(const LaunchStep& step) {
  if (const auto* memset = std::get_if<MemsetStep>(&step)) {
    return memset->size_bytes;
  }
  if (const auto* copy = std::get_if<CopyStep>(&step)) {
    return 2 * copy->size_bytes;
  }
  if (const auto* upload = std::get_if<UploadStep>(&step)) {
    return upload->bytes.size();
  }
  return 0;
}

Result<void> CheckStop(const EmulatorOptions& options) {
  if (options.stop != nullptr && options.stop->load()) {
    return Error(ErrorCode::kInterrupted, "interrupted");
  }
  return {};
}

bool WantsShadows(const RunRequest& request) {
  return std::ranges::any_of(
      request.buffers, [](const BufferContents& buffer) { return buffer.shadow.has_value(); });
}

void CompareShadows(const RunRequest& request, const PlanMemory& memory,
                    const ptx::FloatShadow& shadow, TraceOutcome& trace) {
  const std::vector<uint64_t> addresses = memory.ArgumentAddresses();
  const std::vector<std::vector<std::byte>> contents = memory.ArgumentContents();
  size_t i = 0;
  for (const PlanBuffer& buffer : request.plan->buffers) {
    if (buffer.argument < 0) {
      continue;
    }
    if (const auto dtype = request.buffers[i].shadow) {
      trace.shadows.push_back({buffer.name, shadow.Compare(*dtype, addresses[i], contents[i])});
    }
    ++i;
  }
  trace.unfollowed_lines = shadow.unfollowed_lines();
}

// What the buffers would hold; nothing when some instruction was not followed.
std::vector<std::vector<double>> ShadowValues(const RunRequest& request, const PlanMemory& memory,
                                              const ptx::FloatShadow& shadow) {
  if (!shadow.unfollowed_lines().empty()) {
    return {};
  }
  const std::vector<uint64_t> addresses = memory.ArgumentAddresses();
  const std::vector<std::vector<std::byte>> contents = memory.ArgumentContents();
  std::vector<std::vector<double>> values(contents.size());
  for (size_t i = 0; i < contents.size(); ++i) {
    if (const auto dtype = request.buffers[i].shadow) {
      values[i] = shadow.Values(*dtype, addresses[i], contents[i]);
    }
  }
  return values;
}

void SetChecks(bool on, ptx::LaunchRequest& request) {
  request.checks.initialisation = on;
  request.checks.shared_races = on;
  request.checks.warp_races = on;
  request.checks.global_races = on;
  request.checks.divergent_barriers = on;
}

}  // namespace

EmulatorDevice::EmulatorDevice(EmulatorOptions options, DeviceDescription description)
    : options_(std::move(options)), description_(std::move(description)) {
  info_.name = description_.name + " (emulated)";
  info_.architecture = description_.architecture;
  info_.multiprocessors = description_.multiprocessors;
  info_.shared_bytes_per_block_limit = description_.shared_bytes_per_block_limit;
  info_.threads_per_multiprocessor = 32 * description_.warps_per_multiprocessor;
  info_.registers_per_multiprocessor = description_.registers_per_multiprocessor;
  info_.shared_bytes_per_multiprocessor = description_.shared_bytes_per_multiprocessor;
  info_.l2_bytes = description_.l2_bytes;
  info_.dram_bytes_per_s = description_.dram_bytes_per_s;
  info_.fp32_flops_per_s = description_.Fp32FlopsPerSecond();
  info_.prediction_error_factor = description_.prediction_error_factor;
  info_.capabilities.checks_memory = true;
  info_.capabilities.counts = true;
  info_.capabilities.concurrent_calls = true;
}

Result<std::unique_ptr<EmulatorDevice>> EmulatorDevice::Make(EmulatorOptions options) {
  if (options.threads < 1) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the emulator needs at least 1 thread, not {}", options.threads));
  }
  OPTIML_ASSIGN(DeviceDescription description, LoadDeviceDescription(options.model));
  return std::unique_ptr<EmulatorDevice>(
      new EmulatorDevice(std::move(options), std::move(description)));
}

Result<RunOutcome> EmulatorDevice::Run(const RunRequest& request) {
  const bool full = request.checks == CheckLevel::kFull;
  LaunchVisitor each;
  each.before = [&](PreparedLaunch& launch) {
    SetChecks(full, launch.request);
    // Passes are compared by their work: on one thread it is the same in every run.
    launch.request.threads = request.more_passes.empty() ? options_.threads : 1;
  };
  each.after = [](const KernelLaunch&, const PreparedLaunch&, ptx::LaunchOutcome) {};
  return Execute(request, each);
}

Result<TraceOutcome> EmulatorDevice::Trace(const RunRequest& request) {
  TraceOutcome trace;
  LaunchVisitor each;
  each.before = [&](PreparedLaunch& launch) {
    SetChecks(true, launch.request);
    launch.request.counters = true;
    launch.request.line_counters = true;
    launch.request.cache = CacheFor(launch.block, launch.request.grid.Count(), description_);
  };
  each.after = [&](const KernelLaunch& launch, const PreparedLaunch& prepared,
                   ptx::LaunchOutcome outcome) {
    Occupancy occupancy;
    if (prepared.block.registers_per_thread > 0) {
      occupancy = OccupancyOf(prepared.block, description_);
    }
    trace.launches.push_back({launch, occupancy, std::move(outcome)});
  };
  each.compare = [&](const PlanMemory& memory, const ptx::FloatShadow& shadow) {
    CompareShadows(request, memory, shadow, trace);
  };
  OPTIML_ASSIGN(trace.run, Execute(request, each));
  return trace;
}

// A run while it is going on.
struct EmulatorDevice::Execution {
  PlanState& state;
  RunOutcome run;
  PlanEnd end;
  uint64_t steps_left = 0;
  std::unique_ptr<ptx::FloatShadow> shadow;  // null: nobody asked
};

Result<void> EmulatorDevice::ExecutePass(Execution& execution, const LaunchVisitor& each,
                                         BlockOrder order) {
  PlanState& state = execution.state;
  const RunRequest& request = state.request;
  RunOutcome& run = execution.run;
  uint64_t work = 0;
  std::vector<uint64_t>& launch_work = run.launch_work.emplace_back();
  for (const LaunchStep& step : request.plan->steps) {
    if (execution.end.status != RunStatus::kCompleted) {
      break;
    }
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch == nullptr) {
      execution.end = ApplyQuietStep(step, state, run.findings, execution.shadow.get());
      continue;
    }
    if (execution.steps_left == 0 || state.OutOfTime()) {
      execution.end = LimitReached(*launch);
      break;
    }
    OPTIML_ASSIGN(PreparedLaunch prepared, PrepareLaunch(*launch, *request.artifact, *state.module,
                                                         state.memory, state.limits, description_));
    if (!prepared.refusal.empty()) {
      execution.end = {prepared.refusal_status, prepared.refusal};
      break;
    }
    each.before(prepared);
    prepared.request.shadow = execution.shadow.get();
    prepared.request.step_limit = execution.steps_left;
    prepared.request.cycles_before = state.machine.cycles + work;
    prepared.request.nanoseconds_before = state.machine.nanoseconds + work;
    prepared.request.stop = options_.stop;
    const uint64_t blocks = launch->grid.Count();
    if (order == BlockOrder::kLastToFirst && blocks <= kMaxReordered) {
      for (uint64_t block = blocks; block > 0; --block) {
        prepared.request.block_sample.push_back(block - 1);
      }
    }
    ptx::LaunchOutcome outcome = ptx::Launch(prepared.request, state.memory.memory());
    OPTIML_TRY(CheckStop(options_));
    execution.end = EndOf(outcome, *launch);
    work += outcome.counters.thread_instructions;
    launch_work.push_back(outcome.counters.thread_instructions);
    execution.steps_left -= std::min(execution.steps_left, outcome.counters.thread_instructions);
    for (Finding& finding : outcome.findings) {
      finding.kernel = launch->kernel;
      if (run.findings.size() < kMaxFindings) {
        run.findings.push_back(finding);
      }
    }
    run.printed += outcome.printf_output.substr(
        0, kPrintedBytes - std::min(kPrintedBytes, run.printed.size()));
    for (const std::string& note : outcome.notes) {
      if (std::ranges::find(run.notes, note) == run.notes.end()) {
        run.notes.push_back(note);
      }
    }
    each.after(*launch, prepared, std::move(outcome));
  }
  run.pass_work.push_back(work);
  return {};
}

Result<RunOutcome> EmulatorDevice::Execute(const RunRequest& request, const LaunchVisitor& each) {
  OPTIML_ASSIGN(const StartedPlan started, StartPlan(request, description_, modules_));
  if (const auto* end = std::get_if<PlanEnd>(&started)) {
    RunOutcome run;
    run.status = end->status;
    run.reason = end->reason;
    return run;
  }
  const auto& state = std::get<std::unique_ptr<PlanState>>(started);
  Execution execution{*state, {}, {}, request.step_limit, nullptr};
  if (WantsShadows(request)) {
    execution.shadow = std::make_unique<ptx::FloatShadow>();
  }
  OPTIML_TRY(ExecutePass(execution, each, request.order));
  for (const PlanPass& pass : request.more_passes) {
    if (execution.end.status != RunStatus::kCompleted) {
      break;
    }
    OPTIML_TRY(state->memory.Refill(*request.plan, pass.buffers));
    OPTIML_TRY(ExecutePass(execution, each, pass.order));
  }
  RunOutcome& run = execution.run;
  if (execution.shadow != nullptr && execution.end.status == RunStatus::kCompleted) {
    run.shadows = ShadowValues(request, state->memory, *execution.shadow);
    if (each.compare) {
      each.compare(state->memory, *execution.shadow);
    }
  }
  run.status = execution.end.status;
  run.reason = execution.end.reason;
  if (run.reason.empty() && !run.findings.empty()) {
    run.reason = FindingText(run.findings.front());
  }
  run.buffers = state->memory.ArgumentContents();
  return std::move(run);
}

Result<CountOutcome> EmulatorDevice::CountPlan(const RunRequest& request,
                                               const PlanSteering& steering,
                                               const Sampling& sampling, bool& sampled) {
  OPTIML_ASSIGN(const StartedPlan started, StartPlan(request, description_, modules_));
  if (const auto* end = std::get_if<PlanEnd>(&started)) {
    return CountOutcome{end->status, end->reason, {}};
  }
  const auto& state = std::get<std::unique_ptr<PlanState>>(started);
  const auto launches = static_cast<uint64_t>(std::count_if(
      request.plan->steps.begin(), request.plan->steps.end(),
      [](const LaunchStep& step) { return std::holds_alternative<KernelLaunch>(step); }));
  TrafficLedger ledger(state->memory, description_);
  CountOutcome outcome;
  PlanEnd end;
  std::vector<Finding> findings;
  for (size_t i = 0; i < request.plan->steps.size() && end.status == RunStatus::kCompleted; ++i) {
    const LaunchStep& step = request.plan->steps[i];
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch == nullptr) {
      end = ApplyQuietStep(step, *state, findings);
      if (!std::holds_alternative<AttributeStep>(step)) {
        outcome.work.push_back({std::nullopt, BytesMoved(step)});
      }
      continue;
    }
    if (state->OutOfTime()) {
      end = LimitReached(*launch);
      break;
    }
    OPTIML_ASSIGN(PreparedLaunch prepared,
                  PrepareLaunch(*launch, *request.artifact, *state->module, state->memory,
                                state->limits, description_));
    prepared.request.stop = options_.stop;
    if (!prepared.refusal.empty()) {
      end = {prepared.refusal_status, prepared.refusal};
      break;
    }
    CountingLimits limits;
    limits.may_sample = sampling.allowed && !launch->cooperative && launch->cluster == Dim3{} &&
                        !steering.Steers(i, sampling.steering);
    limits.sample_budget =
        options_.sample_budget * kBudgetsOfAPlan / std::max(launches, kBudgetsOfAPlan);
    limits.full_run_limit = options_.full_run_limit;
    limits.step_limit = request.step_limit;
    CountedLaunch counted = CountLaunch(prepared, limits, description_, state->memory);
    OPTIML_TRY(CheckStop(options_));
    sampled = sampled || counted.sampled;
    if (counted.status != RunStatus::kCompleted) {
      end = {counted.status, fmt::format("{}, launched at line {}: {}", launch->kernel,
                                         launch->line, counted.reason)};
      break;
    }
    ledger.Settle(counted.work.counters);
    outcome.work.push_back({std::move(counted.work), 0});
  }
  outcome.status = end.status;
  outcome.reason = end.reason;
  return outcome;
}

Result<CountOutcome> EmulatorDevice::Count(const RunRequest& request) {
  OPTIML_CHECK(request.artifact != nullptr && request.plan != nullptr, "a request is complete");
  OPTIML_ASSIGN(const std::shared_ptr<const ptx::Module> module, modules_.Get(*request.artifact));
  const PlanSteering steering(*request.plan, *request.artifact, *module);
  Sampling sampling{options_.sampling, Steering::kNothing};
  if (steering.instructions() > options_.full_run_limit) {
    sampling.steering = Steering::kStores;
  }
  bool sampled = false;
  auto outcome = CountPlan(request, steering, sampling, sampled);
  if (outcome.has_value() && outcome->status != RunStatus::kCompleted && sampled) {
    // What sampled launches left behind may have led later ones astray.
    return CountPlan(request, steering, {false, Steering::kNothing}, sampled);
  }
  return outcome;
}

Result<TimeOutcome> EmulatorDevice::Time(const RunRequest& request) {
  OPTIML_ASSIGN(const CountOutcome counted, Count(request));
  TimeOutcome outcome;
  outcome.status = counted.status;
  outcome.reason = counted.reason;
  if (counted.status != RunStatus::kCompleted) {
    return outcome;
  }
  const PlanTimes times = PredictPlan(counted.work, description_);
  outcome.profile = ProfileOf(counted.work, times, description_);
  outcome.timing.kind = TimingKind::kPredicted;
  outcome.timing.median_s = times.seconds;
  outcome.timing.low_s = times.seconds / description_.prediction_error_factor;
  outcome.timing.high_s = times.seconds * description_.prediction_error_factor;
  outcome.timing.clock = description_.name + " time model";
  return outcome;
}

Result<std::unique_ptr<Device>> MakeEmulatorDevice(EmulatorOptions options) {
  OPTIML_ASSIGN(std::unique_ptr<EmulatorDevice> device, EmulatorDevice::Make(std::move(options)));
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace optiml
