#include "device/cuda/counter_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/hardware_metrics.h"
#include "device/launch_metrics.h"
#include "device/occupancy.h"

namespace optiml::cuda {
namespace {

// Of a whole exchange, in time limits of one execution: more than the passes of all metrics.
constexpr int kMostLimits = 30;
// So many workers may die one after the other before it is the machine's fault.
constexpr int kMostLosses = 3;

// "CUDA C Programming Guide", technical specifications by compute capability: what the driver's
// facts do not say. Absent: a generation that is not known here.
std::optional<int> BlocksPerMultiprocessor(const std::string& architecture) {
  static const std::map<std::string, int> kBlocks = {
      {"sm_70", 32},  {"sm_72", 32},  {"sm_75", 16}, {"sm_80", 32},  {"sm_86", 16},
      {"sm_87", 16},  {"sm_89", 24},  {"sm_90", 32}, {"sm_100", 32}, {"sm_103", 32},
      {"sm_110", 24}, {"sm_120", 24}, {"sm_121", 24}};
  const auto found = kBlocks.find(architecture);
  return found == kBlocks.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Occupancy> OccupancyOn(const BlockShape& block, const DeviceInfo& device) {
  const std::optional<int> blocks = BlocksPerMultiprocessor(device.architecture);
  if (!blocks || device.threads_per_multiprocessor == 0) {
    return std::nullopt;
  }
  DeviceDescription limits;
  limits.warps_per_multiprocessor = device.threads_per_multiprocessor / 32;
  limits.blocks_per_multiprocessor = *blocks;
  limits.registers_per_multiprocessor = device.registers_per_multiprocessor;
  limits.register_allocation_unit = 256;
  limits.shared_bytes_per_multiprocessor = device.shared_bytes_per_multiprocessor;
  const bool reserves = device.architecture >= "sm_80" || device.architecture.size() > 5;
  limits.shared_bytes_reserved = reserves ? 1024 : 0;
  limits.shared_allocation_unit = reserves ? 128 : 256;
  return OccupancyOf(block, limits);
}

void AddLaunchFacts(const KernelLaunch& launch, const Artifact& artifact, const DeviceInfo& device,
                    Profile& profile) {
  const auto add = [&](const char* id, double value, const char* unit) {
    profile.metrics[id] = {value, unit};
  };
  add(metric::kBlocks, static_cast<double>(launch.grid.Count()), "block");
  const auto kernel = std::find_if(
      artifact.kernels.begin(), artifact.kernels.end(),
      [&](const KernelResources& resources) { return resources.name_expression == launch.kernel; });
  if (kernel == artifact.kernels.end()) {
    return;
  }
  BlockShape block;
  block.threads = static_cast<uint32_t>(launch.block.Count());
  block.registers_per_thread = kernel->registers;
  block.shared_bytes = kernel->static_shared_bytes + launch.dynamic_shared_bytes;
  if (kernel->registers > 0) {
    add(metric::kRegisters, kernel->registers, "register");
  }
  add(metric::kSharedBytesPerBlock, static_cast<double>(block.shared_bytes), "byte");
  const auto occupancy = block.threads > 0 ? OccupancyOn(block, device) : std::nullopt;
  if (occupancy && occupancy->blocks > 0 && device.multiprocessors > 0) {
    add(metric::kTheoreticalOccupancy, occupancy->ratio, "ratio");
    add(metric::kWaves,
        static_cast<double>(launch.grid.Count()) / device.multiprocessors / occupancy->blocks,
        "ratio");
  }
}

std::vector<const KernelLaunch*> LaunchesOf(const LaunchPlan& plan) {
  std::vector<const KernelLaunch*> launches;
  for (const LaunchStep& step : plan.steps) {
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch != nullptr && launch->grid.Count() > 0) {
      launches.push_back(launch);
    }
  }
  return launches;
}

}  // namespace

CounterSource::CounterSource(WorkerOptions options, Find find)
    : options_(std::move(options)), find_(std::move(find)) {}

Error CounterSource::Impossible(const std::string& why) {
  impossible_ = why;
  worker_.reset();
  return Error(ErrorCode::kUnavailable, why);
}

Result<CounterFacts> CounterSource::Open() {
  if (!impossible_.empty()) {
    return Error(ErrorCode::kUnavailable, impossible_);
  }
  if (worker_ && worker_->is_running()) {
    return facts_;
  }
  if (!worker_) {
    options_.cupti_libraries = find_ ? find_() : std::vector<std::string>();
    if (options_.cupti_libraries.empty()) {
      return Impossible("no CUPTI was looked for");
    }
    worker_.emplace(options_);
  }
  ++workers_started_;
  const Result<HelloReply> hello = worker_->Start();
  if (!hello) {
    return hello.error().code() == ErrorCode::kUnavailable ? Impossible(hello.error().message())
                                                           : hello.error();
  }
  facts_ = hello->counters;
  if (!facts_.problem.empty()) {
    return Impossible(facts_.problem);
  }
  return facts_;
}

Result<std::optional<CountReply>> CounterSource::Lose(const Lost& lost) {
  if (lost.was_killed) {
    return std::optional<CountReply>();  // by somebody, not by what it counted
  }
  if (++losses_ >= kMostLosses) {
    return Impossible(fmt::format("{} times in a row nothing could be counted, the last time: {}",
                                  losses_, lost.reason));
  }
  return std::optional<CountReply>();
}

Result<std::optional<CountReply>> CounterSource::Count(CountMessage message,
                                                       std::chrono::milliseconds limit) {
  OPTIML_TRY(Open());
  message.arena_bytes = worker_->arena_bytes();
  OPTIML_ASSIGN(auto answer,
                worker_->Ask(MessageKind::kCount, Encode(message), kMostLimits * limit));
  if (const auto* lost = std::get_if<Lost>(&answer)) {
    return Lose(*lost);
  }
  OPTIML_ASSIGN(CountReply reply, DecodeCountReply(std::get<Message>(answer).bytes));
  if (reply.is_worker_lost) {
    worker_->Kill();
  }
  if (!reply.broken.empty()) {
    return Lose(
        {false, reply.broken});  // this plan's memory, a busy profiler: the next may fare better
  }
  if (reply.status != RunStatus::kCompleted) {
    return reply.is_worker_lost ? Lose({false, reply.reason})
                                : Result<std::optional<CountReply>>(std::nullopt);
  }
  losses_ = 0;
  return std::optional(std::move(reply));
}

Profile ProfileOfCounts(const CountReply& reply, const std::vector<std::string>& metrics,
                        const RunRequest& request, const DeviceInfo& device) {
  std::vector<LaunchCounters> ranges(reply.ranges.size());
  std::vector<const LaunchCounters*> pointers;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const std::vector<double>& values = reply.ranges[i];
    for (size_t k = 0; k < std::min(values.size(), metrics.size()); ++k) {
      if (std::isfinite(values[k])) {
        ranges[i][metrics[k]] = InBaseUnitsByName(metrics[k], values[k]);
      }
    }
    pointers.push_back(&ranges[i]);
  }
  CombinedCounters combined = CombineLaunches(pointers);
  Profile profile = std::move(combined.profile);
  profile.source = ProfileSource::kCupti;
  if (profile.metrics.empty()) {
    return profile;
  }
  profile.metrics[metric::kProfilerPasses] = {static_cast<double>(reply.passes), "pass"};
  const std::vector<const KernelLaunch*> launches = LaunchesOf(*request.plan);
  if (launches.size() == ranges.size() && combined.longest) {
    AddLaunchFacts(*launches[*combined.longest], *request.artifact, device, profile);
  }
  return profile;
}

}  // namespace optiml::cuda
