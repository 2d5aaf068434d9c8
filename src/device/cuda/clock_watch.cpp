#include "device/cuda/clock_watch.h"

#include <utility>

namespace optiml::cuda {
namespace {

// A measurement has two readings, which may cost it a millisecond together.
constexpr std::chrono::duration<double> kMostCost{0.5e-3};

}  // namespace

ClockWatch::ClockWatch(const std::string& library)
    : opening_(std::async(std::launch::async, [library] { return Nvml::Open(library); })) {}

void ClockWatch::Choose(const GpuIdentity& identity) {
  identity_ = identity;
}

void ClockWatch::FinishOpening() {
  if (!opening_.valid()) {
    return;
  }
  const Result<Nvml> opened = opening_.get();
  if (!opened) {
    why_not_ = opened.error().message();
  } else if (Result<NvmlGpu> found = opened->Find(identity_); !found) {
    why_not_ = found.error().message();
  } else {
    gpu_ = *std::move(found);
    gpu_->Read();  // the first one takes longer than the others
  }
}

std::string ClockWatch::DriverVersion() {
  FinishOpening();
  return gpu_ ? gpu_->Facts().driver_version.value.value_or("") : "";
}

std::optional<ClockReading> ClockWatch::Read(bool needed) {
  FinishOpening();
  if (!gpu_ || (!needed && last_cost_ > kMostCost)) {
    return std::nullopt;
  }
  const auto begin = std::chrono::steady_clock::now();
  ClockReading reading = gpu_->Read();
  last_cost_ = std::chrono::steady_clock::now() - begin;
  return reading;
}

}  // namespace optiml::cuda
