// How often a verdict on a measured gain is wrong, on a real GPU: equal kernels must not be kept
// (at most 1 % of the trials), a gain of 3 % must be (at least 95 %).
//
//   build/release/bin/gain_trials OPTIML [TRIALS]      (OPTIML: the program that is the GPU's
//   worker)
//
// A trial is what ends a run: candidate and original timed in turn, then again in each other's
// places; kept when both intervals exclude that there is no gain. The kernel copies floats; the
// planted gain copies 3 % less.
#include <fmt/format.h>

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
})";

// Copies the first `count` of `size` floats.
struct Copy {
  Copy(const Artifact& artifact, size_t size, int count) {
    plan.buffers = {{"x", 0, size * 4, 1}, {"y", 1, size * 4, 1}};
    KernelLaunch launch;
    launch.kernel = "copy";
    launch.grid.x = static_cast<uint32_t>((count + 255) / 256);
    launch.block.x = 256;
    std::vector<std::byte> bytes(sizeof(count));
    std::memcpy(bytes.data(), &count, sizeof(count));
    launch.arguments = {DevicePointer{0, 0}, DevicePointer{1, 0}, bytes};
    plan.steps = {launch};
    request.artifact = &artifact;
    request.buffers.resize(2);
    request.buffers[0].bytes.resize(size * 4, std::byte{0x3D});
    request.buffers[0].read_only = true;
    request.plan = &plan;
  }
  LaunchPlan plan;
  RunRequest request;
};

Result<Gain> Measure(Device& device, const Copy& candidate, const Copy& incumbent) {
  RunRequest request = candidate.request;
  request.incumbent = &incumbent.request;
  OPTIML_ASSIGN(const TimeOutcome timed, device.Time(request));
  if (!timed.gain) {
    return Error(ErrorCode::kInternal, timed.reason);
  }
  return *timed.gain;
}

// Kept, of so many trials; and the mean gain.
Result<void> Trials(Device& device, const Artifact& artifact, size_t size, double share, int trials,
                    const char* what) {
  const Copy original(artifact, size, static_cast<int>(size));
  const Copy candidate(artifact, size, static_cast<int>(share * static_cast<double>(size)));
  int kept = 0;
  double sum = 0;
  for (int i = 0; i < trials; ++i) {
    OPTIML_ASSIGN(const Gain first, Measure(device, candidate, original));
    OPTIML_ASSIGN(const Gain swapped, Measure(device, original, candidate));
    const Gain second = {1 / swapped.ratio, 1 / swapped.high, 1 / swapped.low};
    kept += JudgeMeasurement({{first}, {second}}).kept ? 1 : 0;
    sum += first.ratio;
  }
  fmt::print("{:<28} {:>9} floats  kept {:>3} of {} ({:.1f} %)  mean gain {:.4f}\n", what, size,
             kept, trials, 100.0 * kept / trials, sum / trials);
  return {};
}

Result<void> Run(const std::string& program, int trials) {
  CudaOptions options;
  options.worker.program = program;
  OPTIML_ASSIGN(const std::unique_ptr<CudaDevice> device, CudaDevice::Make(std::move(options)));
  BuildRequest build;
  build.device_text = kText;
  build.file_name = "copy.cu";
  build.name_expressions = {"copy"};
  build.architecture = device->Info().architecture;
  OPTIML_ASSIGN(const BuildOutcome outcome, MakeNvrtcBuilder({})->Build(build));
  const auto* artifact = std::get_if<Artifact>(&outcome);
  if (artifact == nullptr) {
    return Error(ErrorCode::kInternal, std::get<BuildFailure>(outcome).first_error);
  }
  fmt::print("{}\n", device->Info().name);
  for (const size_t size : {size_t{1} << 18, size_t{1} << 24}) {
    OPTIML_TRY(Trials(*device, *artifact, size, 1.0, trials, "equal kernels"));
    OPTIML_TRY(Trials(*device, *artifact, size, 0.97, (trials + 1) / 2, "3 % less work"));
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
    fmt::print(stderr, "usage: gain_trials OPTIML [TRIALS]\n");
    return 2;
  }
  const auto done = optiml::Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 200);
  if (!done) {
    fmt::print(stderr, "gain_trials: {}\n", done.error().message());
    return 3;
  }
  return 0;
}
