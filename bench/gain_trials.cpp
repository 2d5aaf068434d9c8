// How often a verdict on a measured gain is wrong, on a real GPU: equal kernels must not be kept
// (at most 1 % of the trials), a gain of 3 % must be (at least 95 %).
//
//   build/release/bin/gain_trials OPTIML [TRIALS [GPU]]      (OPTIML: the program that is the GPU's
//   worker)
//
// A trial is what ends a run: candidate and original timed in turn, then again the other way round;
// kept when both intervals exclude that there is no gain. Two kernels: one copies floats, one does
// nothing but multiply and add. The planted gain does 3 % less of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "build/builder.h"
#include "device/cuda/cuda_device.h"
#include "optimize/chain.h"

namespace optiml {
namespace {

constexpr char kText[] = R"(
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
extern "C" __global__ void compute(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = x[i], b = a;
  for (int k = 0; k < n; ++k) b = b * a + 0.5f;
  y[i] = b;
})";

struct Workload {
  const char* kernel;
  size_t size;       // floats in and out
  int amount;        // the kernel's n: 100 %
  const char* what;  // does it
};
constexpr Workload kWorkloads[] = {{"copy", size_t{1} << 24, 1 << 24, "copies of 64 MB"},
                                   {"compute", size_t{1} << 20, 4000, "4000 FMAs a thread"}};

struct Trial {
  Trial(const Artifact& artifact, const Workload& workload, double share) {
    const int amount = static_cast<int>(share * workload.amount);
    plan.buffers = {{"x", 0, workload.size * 4, 1}, {"y", 1, workload.size * 4, 1}};
    KernelLaunch launch;
    launch.kernel = workload.kernel;
    const bool is_copy = workload.size == static_cast<size_t>(workload.amount);
    launch.grid.x = static_cast<uint32_t>(
        ((is_copy ? static_cast<size_t>(amount) : workload.size) + 255) / 256);
    launch.block.x = 256;
    std::vector<std::byte> bytes(sizeof(amount));
    std::memcpy(bytes.data(), &amount, sizeof(amount));
    launch.arguments = {DevicePointer{0, 0}, DevicePointer{1, 0}, bytes};
    plan.steps = {launch};
    request.artifact = &artifact;
    request.buffers.resize(2);
    request.buffers[0].bytes.resize(workload.size * 4, std::byte{0x3D});
    request.buffers[0].read_only = true;
    request.plan = &plan;
    request.knows_outputs = [](size_t, const OutputsDigest&) { return true; };
  }
  LaunchPlan plan;
  RunRequest request;
};

Result<Gain> Measure(Device& device, const Trial& candidate, const Trial& incumbent) {
  RunRequest request = candidate.request;
  request.incumbent = &incumbent.request;
  OPTIML_ASSIGN(const TimeOutcome timed, device.Time(request));
  if (!timed.gain) {
    return Error(ErrorCode::kInternal, timed.reason);
  }
  return *timed.gain;
}

// Kept, of so many trials; and how the gains and the widths of their intervals are distributed.
Result<void> Trials(Device& device, const Artifact& artifact, const Workload& workload,
                    double share, int trials) {
  const Trial original(artifact, workload, 1);
  const Trial candidate(artifact, workload, share);
  int kept = 0;
  std::vector<double> gains;
  std::vector<double> widths;
  for (int i = 0; i < trials; ++i) {
    OPTIML_ASSIGN(const Gain first, Measure(device, candidate, original));
    OPTIML_ASSIGN(const Gain swapped, Measure(device, original, candidate));
    const Gain second = {1 / swapped.ratio, 1 / swapped.high, 1 / swapped.low};
    kept += JudgeMeasurement({{first}, {second}}).kept ? 1 : 0;
    for (const Gain& gain : {first, second}) {
      gains.push_back(gain.ratio);
      widths.push_back(gain.high - gain.low);
    }
  }
  std::sort(gains.begin(), gains.end());
  std::sort(widths.begin(), widths.end());
  fmt::print(
      "{:<20} {:<14} kept {:>3} of {} ({:.1f} %)  gains {:.4f} {:.4f} {:.4f}  "
      "width of intervals {:.4f} {:.4f} (least, median, most; median, most)\n",
      workload.what, share == 1 ? "equal kernels" : "3 % less work", kept, trials,
      100.0 * kept / trials, gains.front(), gains[gains.size() / 2], gains.back(),
      widths[widths.size() / 2], widths.back());
  return {};
}

Result<void> Run(const std::string& program, int trials, int ordinal) {
  CudaOptions options;
  options.worker.ordinal = ordinal;
  options.worker.program = program;
  OPTIML_ASSIGN(const std::unique_ptr<CudaDevice> device, CudaDevice::Make(std::move(options)));
  BuildRequest build;
  build.device_text = kText;
  build.file_name = "copy.cu";
  build.name_expressions = {"copy", "compute"};
  build.architecture = device->Info().architecture;
  OPTIML_ASSIGN(const BuildOutcome outcome, MakeNvrtcBuilder({})->Build(build));
  const auto* artifact = std::get_if<Artifact>(&outcome);
  if (artifact == nullptr) {
    return Error(ErrorCode::kInternal, std::get<BuildFailure>(outcome).first_error);
  }
  fmt::print("{}\n", device->Info().name);
  for (const Workload& workload : kWorkloads) {
    OPTIML_TRY(Trials(*device, *artifact, workload, 1.0, trials));
    OPTIML_TRY(Trials(*device, *artifact, workload, 0.97, trials));
  }
  fmt::print("\nwhere the time went\n");
  for (const DeviceUse::Phase& phase : device->Use().phases) {
    fmt::print("  {:<36} {:8.2f} s\n", phase.name, phase.seconds);
  }
  return {};
}

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: gain_trials OPTIML [TRIALS [GPU]]\n");
    return 2;
  }
  const auto done =
      optiml::Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 200, argc > 3 ? std::atoi(argv[3]) : 0);
  if (!done) {
    fmt::print(stderr, "gain_trials: {}\n", done.error().message());
    return 3;
  }
  return 0;
}
