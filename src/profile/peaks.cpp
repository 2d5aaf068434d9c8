#include "profile/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/content_hash.h"
#include "base/file_system.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kBlock = 256;
// Blocks of a multiprocessor: as many as its threads allow.
constexpr uint32_t kFullBlocks = 8;
constexpr double kFmasOfRound = 64;
constexpr double kProductsOfRound = 16;
constexpr double kFlopsOfProduct = 2.0 * 16 * 8 * 16;
constexpr double kSharedBytesOfRound = 8 * 16;
// Of L2 that one test reads over and over: far GPUs hold data twice.
constexpr uint64_t kShareOfL2 = 4;
// Tensor cores do about so many times what the fp32 pipe does.
constexpr double kTensorFactor = 12;
constexpr uint64_t kLeastMemory = uint64_t{32} << 20;
constexpr char kKernelFile[] = "peaks.cu";
constexpr uint32_t kTwoOnes = 0x3c003c00;  // 1.0 in f16, twice
constexpr uint32_t kSharedStep = 16 * kBlock;

template <typename T>
std::vector<std::byte> Bytes(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// Plans whose first buffer is the few bytes that a kernel would write its result to.
LaunchPlan PlanOf(const char* kernel, uint32_t blocks, const std::vector<uint64_t>& scratch) {
  LaunchPlan plan;
  plan.buffers.push_back({"sink", 0, 64, 0});
  for (const uint64_t bytes : scratch) {
    plan.buffers.push_back({"memory", -1, bytes, 0});
  }
  KernelLaunch launch;
  launch.kernel = kernel;
  launch.grid.x = blocks;
  launch.block.x = kBlock;
  plan.steps = {launch};
  return plan;
}

std::vector<KernelArgument>& ArgumentsOf(LaunchPlan& plan) {
  return std::get<KernelLaunch>(plan.steps.front()).arguments;
}

// A multiple of what the grid reads in one step, at most `bytes` and at least one step.
uint64_t VectorsFor(uint64_t bytes, uint32_t blocks) {
  const uint64_t step = uint64_t{4} * blocks * kBlock;
  return std::max<uint64_t>(bytes / 16 / step, 1) * step;
}

PeakCase ReadCase(const char* name, double MeasuredPeaks::* into, uint64_t bytes, uint32_t blocks,
                  int passes) {
  const uint64_t vectors = VectorsFor(bytes, blocks);
  PeakCase peak{name, into, 16.0 * static_cast<double>(vectors) * passes,
                PlanOf("peak_read", blocks, {16 * vectors})};
  ArgumentsOf(peak.plan) = {DevicePointer{1, 0}, DevicePointer{0, 0}, Bytes(vectors),
                            Bytes(passes)};
  return peak;
}

PeakCase CopyCase(const DeviceInfo& device, uint64_t bytes, uint32_t blocks) {
  const uint64_t vectors = VectorsFor(bytes / 2, blocks);
  // What may still lie in L2 at the end was not written to memory.
  const double written =
      std::max(0.0, 16.0 * static_cast<double>(vectors) - static_cast<double>(device.l2_bytes));
  PeakCase peak{"device memory, copied", &MeasuredPeaks::dram_copy_bytes_per_s,
                16.0 * static_cast<double>(vectors) + written,
                PlanOf("peak_copy", blocks, {16 * vectors, 16 * vectors})};
  ArgumentsOf(peak.plan) = {DevicePointer{1, 0}, DevicePointer{2, 0}, Bytes(vectors)};
  return peak;
}

// Rounds that take about so long at the rate that the device states.
int RoundsFor(double seconds, double work_of_round, double rate) {
  return static_cast<int>(std::clamp(seconds * rate / work_of_round, 1.0, 1e6));
}

PeakCase PipeCase(const char* name, double MeasuredPeaks::* into, const char* kernel,
                  uint32_t blocks, double work_of_round, double rate, double seconds,
                  std::vector<KernelArgument> arguments) {
  const int rounds = RoundsFor(seconds, work_of_round, rate);
  PeakCase peak{name, into, work_of_round * rounds, PlanOf(kernel, blocks, {})};
  arguments.insert(arguments.begin(), DevicePointer{0, 0});
  arguments.emplace_back(Bytes(rounds));
  ArgumentsOf(peak.plan) = std::move(arguments);
  return peak;
}

std::vector<BufferContents> ContentsOf(const LaunchPlan& plan) {
  std::vector<BufferContents> contents;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument >= 0) {
      contents.emplace_back();
    }
  }
  return contents;
}

// The median, or why there is none.
Result<std::variant<double, std::string>> TimeOf(Device& device, const Artifact& artifact,
                                                 const LaunchPlan& plan, PeakOutcome& outcome) {
  using Timed = std::variant<double, std::string>;
  RunRequest request;
  request.artifact = &artifact;
  request.plan = &plan;
  request.buffers = ContentsOf(plan);
  OPTIML_ASSIGN(const TimeOutcome timed, device.Time(request));
  if (timed.status != RunStatus::kCompleted) {
    return Timed(fmt::format("{}: {}", RunStatusName(timed.status), timed.reason));
  }
  if (const std::string warning = timed.conditions ? ThrottleWarning(*timed.conditions) : "";
      !warning.empty() &&
      std::find(outcome.notes.begin(), outcome.notes.end(), warning) == outcome.notes.end()) {
    outcome.notes.push_back(warning);
  }
  if (!(timed.timing.median_s > 0)) {
    return Timed(std::string("no time was measured"));
  }
  return Timed(timed.timing.median_s);
}

Result<Artifact> BuildKernels(Builder& builder, const DeviceInfo& device) {
  BuildRequest request;
  request.device_text = std::string(PeakKernels().front().text);
  request.file_name = kKernelFile;
  request.architecture = device.architecture;
  request.name_expressions = {"peak_read",   "peak_copy",   "peak_fma",
                              "peak_tensor", "peak_shared", "peak_nothing"};
  OPTIML_ASSIGN(BuildOutcome built, builder.Build(request));
  if (const auto* failure = std::get_if<BuildFailure>(&built)) {
    return Error(ErrorCode::kInternal, failure->first_error);
  }
  return std::get<Artifact>(std::move(built));
}

// What one launch more adds.
Result<void> MeasureLaunches(Device& device, const Artifact& artifact, int launches,
                             PeakOutcome& outcome) {
  double seconds[2] = {};
  for (const bool many : {false, true}) {
    const LaunchPlan plan = EmptyLaunches(many ? 1 + launches : 1);
    OPTIML_ASSIGN(const auto timed, TimeOf(device, artifact, plan, outcome));
    if (const auto* why_not = std::get_if<std::string>(&timed)) {
      outcome.notes.push_back("launches: " + *why_not);
      return {};
    }
    seconds[many ? 1 : 0] = std::get<double>(timed);
  }
  outcome.peaks.launch_s = std::max(0.0, seconds[1] - seconds[0]) / launches;
  return {};
}

fs::path FileOf(const fs::path& folder, const PeakKey& key) {
  ContentHasher hasher;
  hasher.Add(key.device).Add(key.uuid).Add(fmt::format("{}", key.driver_version));
  return folder / (hasher.Finish().Hex().substr(0, 16) + ".json");
}

struct Row {
  const char* key;
  double MeasuredPeaks::* value;
};
constexpr Row kRows[] = {
    {"dram_read_bytes_per_s", &MeasuredPeaks::dram_read_bytes_per_s},
    {"dram_copy_bytes_per_s", &MeasuredPeaks::dram_copy_bytes_per_s},
    {"l2_bytes_per_s", &MeasuredPeaks::l2_bytes_per_s},
    {"shared_bytes_per_s", &MeasuredPeaks::shared_bytes_per_s},
    {"fp32_flops_per_s", &MeasuredPeaks::fp32_flops_per_s},
    {"tensor_flops_per_s", &MeasuredPeaks::tensor_flops_per_s},
    {"launch_s", &MeasuredPeaks::launch_s},
};

}  // namespace

LaunchPlan EmptyLaunches(int count) {
  LaunchPlan plan = PlanOf("peak_nothing", 1, {});
  plan.steps.resize(static_cast<size_t>(count), plan.steps.front());
  return plan;
}

std::vector<PeakCase> PeakCases(const DeviceInfo& device, const PeakSizes& sizes) {
  const auto full = static_cast<uint32_t>(std::max(device.multiprocessors, 1)) * kFullBlocks;
  const double threads = static_cast<double>(full) * kBlock;
  std::vector<PeakCase> cases;
  // One wave that walks, or several.
  for (const uint32_t waves : {1U, 4U}) {
    cases.push_back(ReadCase("device memory, read", &MeasuredPeaks::dram_read_bytes_per_s,
                             sizes.memory_bytes, full * waves, 1));
    cases.push_back(CopyCase(device, 2 * sizes.memory_bytes, full * waves));
  }
  const uint64_t near = 16 * VectorsFor(device.l2_bytes / kShareOfL2, full);
  const double pin = device.dram_bytes_per_s > 0 ? device.dram_bytes_per_s : 1e12;
  cases.push_back(ReadCase("L2, read", &MeasuredPeaks::l2_bytes_per_s, near, full,
                           RoundsFor(sizes.seconds, static_cast<double>(near), pin)));
  const double rate = device.fp32_flops_per_s > 0 ? device.fp32_flops_per_s : 1e13;
  cases.push_back(PipeCase("fp32", &MeasuredPeaks::fp32_flops_per_s, "peak_fma", full,
                           threads * 2 * kFmasOfRound, rate, sizes.seconds,
                           {Bytes(0.999F), Bytes(0.001F)}));
  // A lane of the pipe for each byte of shared memory, at the same clock.
  cases.push_back(PipeCase("shared memory, read", &MeasuredPeaks::shared_bytes_per_s, "peak_shared",
                           full, threads * kSharedBytesOfRound, rate / 2, sizes.seconds,
                           {Bytes(kSharedStep)}));
  if (std::atoi(device.architecture.c_str() + std::min<size_t>(device.architecture.size(), 3)) >=
      80) {
    cases.push_back(PipeCase("f16 tensor", &MeasuredPeaks::tensor_flops_per_s, "peak_tensor", full,
                             threads / 32 * kProductsOfRound * kFlopsOfProduct,
                             kTensorFactor * rate, sizes.seconds, {Bytes(kTwoOnes)}));
  }
  return cases;
}

Result<PeakOutcome> MeasurePeaks(Builder& builder, Device& device, PeakSizes sizes) {
  PeakOutcome outcome;
  OPTIML_ASSIGN(const Artifact artifact, BuildKernels(builder, device.Info()));
  std::vector<PeakCase> cases = PeakCases(device.Info(), sizes);
  for (size_t i = 0; i < cases.size(); ++i) {
    auto timed = TimeOf(device, artifact, cases[i].plan, outcome);
    // Other programs may hold most of the memory.
    while (!timed && timed.error().code() == ErrorCode::kUnavailable &&
           cases[i].plan.buffers.size() > 1 && sizes.memory_bytes > kLeastMemory) {
      sizes.memory_bytes /= 2;
      cases = PeakCases(device.Info(), sizes);
      timed = TimeOf(device, artifact, cases[i].plan, outcome);
    }
    OPTIML_TRY(timed);
    if (const auto* why_not = std::get_if<std::string>(&*timed)) {
      outcome.notes.push_back(fmt::format("{}: {}", cases[i].name, *why_not));
      continue;
    }
    double& best = outcome.peaks.*cases[i].into;
    best = std::max(best, cases[i].work / std::get<double>(*timed));
  }
  OPTIML_TRY(MeasureLaunches(device, artifact, sizes.launches, outcome));
  return outcome;
}

std::optional<MeasuredPeaks> LoadPeaks(const fs::path& folder, const PeakKey& key) {
  if (folder.empty()) {
    return std::nullopt;
  }
  const Result<std::string> text = ReadFile(FileOf(folder, key));
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  if (!json.is_object() || json.value("device", Json()) != key.device ||
      json.value("uuid", Json()) != key.uuid) {
    return std::nullopt;
  }
  MeasuredPeaks peaks;
  const Json date = json.value("date", Json());
  const Json driver = json.value("driver", Json());
  if (!date.is_string() || !driver.is_string()) {
    return std::nullopt;
  }
  peaks.date = date.get<std::string>();
  peaks.driver = driver.get<std::string>();
  for (const Row& row : kRows) {
    const Json value = json.value(row.key, Json());
    if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>())) {
      return std::nullopt;
    }
    peaks.*row.value = value.get<double>();
  }
  return peaks;
}

Result<void> SavePeaks(const fs::path& folder, const PeakKey& key, const MeasuredPeaks& peaks) {
  Json json = {{"device", key.device},
               {"uuid", key.uuid},
               {"driver_cuda_version", key.driver_version},
               {"date", peaks.date},
               {"driver", peaks.driver}};
  for (const Row& row : kRows) {
    json[row.key] = peaks.*row.value;
  }
  OPTIML_TRY(CreateDirectories(folder));
  return WriteFileAtomically(FileOf(folder, key), json.dump(2) + "\n");
}

}  // namespace optiml
