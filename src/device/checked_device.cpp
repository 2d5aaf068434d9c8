#include "device/checked_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace optiml {
namespace {

bool IsFollowed(const RunRequest& request) {
  return std::any_of(request.buffers.begin(), request.buffers.end(),
                     [](const BufferContents& buffer) { return buffer.shadow.has_value(); });
}

}  // namespace

CheckedDevice::CheckedDevice(std::unique_ptr<Device> gpu, std::unique_ptr<Device> emulator)
    : gpu_(std::move(gpu)), emulator_(std::move(emulator)), info_(gpu_->Info()) {
  info_.capabilities.checks_memory = emulator_->Info().capabilities.checks_memory;
  info_.capabilities.counts |= emulator_->Info().capabilities.counts;
}

Result<RunOutcome> CheckedDevice::Run(const RunRequest& request) {
  if (request.checks != CheckLevel::kFull && !request.repeatable && !IsFollowed(request)) {
    return gpu_->Run(request);
  }
  OPTIML_ASSIGN(RunOutcome checked, emulator_->Run(request));
  if (checked.status != RunStatus::kUnsupported || IsFollowed(request)) {
    return checked;
  }
  OPTIML_ASSIGN(RunOutcome unchecked, gpu_->Run(request));
  unchecked.notes.push_back(
      fmt::format("not checked by {}: {}", emulator_->Info().name, checked.reason));
  return unchecked;
}

Result<TimeOutcome> CheckedDevice::Time(const RunRequest& request) {
  return gpu_->Time(request);
}

Result<Profile> CheckedDevice::Counters(const RunRequest& request) {
  if (gpu_->Info().capabilities.counts && why_no_counters_.empty()) {
    Result<Profile> counted = gpu_->Counters(request);
    if (counted || counted.error().code() != ErrorCode::kUnavailable) {
      return counted;
    }
    why_no_counters_ = counted.error().message();
    if (tell_) {
      tell_(why_no_counters_);
    }
  }
  return emulator_->Counters(request);
}

}  // namespace optiml
