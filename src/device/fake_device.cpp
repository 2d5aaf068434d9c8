#include "device/fake_device.h"

#include <utility>

#include "base/check.h"

namespace optiml {
namespace {

template <typename T>
T TakeFront(std::deque<T>& queue) {
  T front = std::move(queue.front());
  queue.pop_front();
  return front;
}

Result<RunOutcome> Unchanged(const RunRequest& request) {
  RunOutcome outcome;
  for (size_t i = 0, next = 0; i < request.plan->buffers.size(); ++i) {
    if (request.plan->buffers[i].argument < 0) {
      continue;
    }
    OPTIML_CHECK(next < request.buffers.size(), "one buffer an argument of the plan");
    const BufferContents& buffer =
        (request.more_passes.empty() ? request.buffers
                                     : request.more_passes.back().buffers)[next++];
    std::vector<std::byte> bytes = buffer.bytes;
    if (bytes.empty()) {
      bytes.assign(request.plan->buffers[i].size_bytes, std::byte{buffer.poison});
    }
    outcome.buffers.push_back(std::move(bytes));
  }
  return outcome;
}

Result<TimeOutcome> OneMillisecond(const RunRequest& /*request*/) {
  TimeOutcome outcome;
  outcome.timing.kind = TimingKind::kPredicted;
  outcome.timing.median_s = 1e-3;
  outcome.timing.low_s = 0.9e-3;
  outcome.timing.high_s = 1.1e-3;
  outcome.timing.clock = "fake";
  return outcome;
}

}  // namespace

FakeDevice::FakeDevice() : on_run(Unchanged), on_time(OneMillisecond) {
  info.name = "fake";
  info.architecture = "sm_90";
  info.multiprocessors = 4;
  info.shared_bytes_per_block_limit = 232448;
  info.l2_bytes = uint64_t{1} << 20;
  info.dram_bytes_per_s = 1e12;
  info.fp32_flops_per_s = 1e13;
  info.prediction_error_factor = 1.1;
  info.capabilities.checks_memory = true;
  info.capabilities.counts = true;
}

void FakeDevice::Remember(const RunRequest& request, bool is_time) {
  OPTIML_CHECK(request.plan != nullptr && request.artifact != nullptr, "a request is complete");
  Call call;
  call.is_time = is_time;
  call.ptx_hash = request.artifact->ptx_hash;
  call.plan = request.plan->Format();
  call.buffers = request.buffers;
  call.passes = 1 + request.more_passes.size();
  call.checks = request.checks;
  calls.push_back(std::move(call));
}

Result<RunOutcome> FakeDevice::Run(const RunRequest& request) {
  Remember(request, false);
  return run_outcomes.empty() ? on_run(request) : TakeFront(run_outcomes);
}

Result<TimeOutcome> FakeDevice::Time(const RunRequest& request) {
  Remember(request, true);
  Result<TimeOutcome> outcome = time_outcomes.empty() ? on_time(request) : TakeFront(time_outcomes);
  if (request.incumbent != nullptr && outcome && !outcome->gain) {
    OPTIML_ASSIGN(const TimeOutcome other, on_time(*request.incumbent));
    const Timing& a = outcome->timing;
    const Timing& b = other.timing;
    outcome->gain = Gain{b.median_s / a.median_s, b.low_s / a.high_s, b.high_s / a.low_s};
  }
  return outcome;
}

}  // namespace optiml
