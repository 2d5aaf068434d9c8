// A CUPTI for tests on machines without a GPU, beside fake_driver.cpp: it stands where libcupti
// would, and lives with the order that the real one asks for: a call out of order, a struct of
// another size, a pass that is not as the first one, or a launch that did nothing is refused
// (CUPTI_ERROR_UNKNOWN). What it counts is the launches that the fake driver saw between Start and
// Stop: a metric's value is a number made of its name's length, times the launch's number in the
// range.
//
// FAKE_CUPTI in the environment: "denied" (no permission), "no-fma" (that metric is not known),
// "busy" (another process has hold of the counters, the first three times), "one-range" (launches
// are not counted apart), "never-done", "zero" (all counters are 0), "nan" (the first metric cannot
// be had), "chip" (the chip is not known). FAKE_CUPTI_DRIVER: the file of the fake driver. Built
// with FAKE_CUPTI_OLD it has no range profiler.

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "device/cuda/cupti_api.h"

namespace {

using namespace optiml::cuda;

constexpr int kSuccess = 0;
constexpr int kInvalidParameter = 1;
constexpr int kInvalidMetric = 17;
constexpr int kBusy = 26;
constexpr int kNotSupported = 27;
constexpr int kNotPermitted = 35;
constexpr int kUnknown = 999;
constexpr size_t kPasses = 3;
constexpr char kAvailable[] = "available";

[[maybe_unused]] bool Asked(const char* what) {
  const char* asked = std::getenv("FAKE_CUPTI");
  return asked != nullptr && std::string(asked) == what;
}

// Launches that the fake driver saw ("FakeLaunches"), or that did something ("FakeWorked").
[[maybe_unused]] uint64_t Driver(const char* what) {
  const char* driver = std::getenv("FAKE_CUPTI_DRIVER");
  void* handle = driver == nullptr ? nullptr : dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
  auto* seen = handle == nullptr ? nullptr : reinterpret_cast<uint64_t (*)()>(dlsym(handle, what));
  return seen == nullptr ? 0 : seen();
}

struct Host {
  std::vector<std::string> metrics;
};

struct Profiler {
  CuptiSetConfig kept;
  std::vector<std::string> metrics;
  bool is_configured = false;
  bool is_started = false;
  bool is_pushed = false;
  size_t passes = 0;
  uint64_t begin = 0;
  uint64_t work_begin = 0;
  uint64_t ranges = 0;
};

[[maybe_unused]] bool is_initialised = false;
[[maybe_unused]] bool is_enabled = false;

// What the counter data holds.
struct Data {
  uint64_t mark;
  uint64_t ranges;
};
[[maybe_unused]] constexpr uint64_t kMark = 0xC0FFEE;

template <typename Params>
bool Bad(const Params* params) {
  return params->size != Params{}.size || params->reserved != nullptr;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE int cuptiGetResultString(int code, const char** text) {
  *text = code == kNotPermitted   ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : code == kNotSupported ? "CUPTI_ERROR_NOT_SUPPORTED"
                                  : "CUPTI_ERROR_OF_THE_FAKE";
  return kSuccess;
}
FAKE int cuptiProfilerInitialize(CuptiInitialize* params) {
  is_initialised = true;
  return Bad(params) ? kInvalidParameter : kSuccess;
}

#ifndef FAKE_CUPTI_OLD

FAKE int cuptiDeviceGetChipName(CuptiChipName* params) {
  params->chip = params->device == 0 ? "FK100" : "FK080";
  return Bad(params) || !is_initialised ? kInvalidParameter : kSuccess;
}
FAKE int cuptiProfilerGetCounterAvailability(CuptiAvailability* params) {
  if (Bad(params) || params->context == nullptr) {
    return kInvalidParameter;
  }
  if (params->image == nullptr) {
    params->image_bytes = sizeof(kAvailable);
    return kSuccess;
  }
  std::memcpy(params->image, kAvailable, sizeof(kAvailable));
  return params->image_bytes == sizeof(kAvailable) ? kSuccess : kInvalidParameter;
}
FAKE int cuptiProfilerHostInitialize(CuptiHostInitialize* params) {
  if (Bad(params) || Asked("chip") || std::strcmp(params->chip, "FK100") != 0 ||
      std::memcmp(params->availability, kAvailable, sizeof(kAvailable)) != 0) {
    return kInvalidParameter;
  }
  params->host = new Host;
  return kSuccess;
}
FAKE int cuptiProfilerHostDeinitialize(CuptiHostEnd* params) {
  delete static_cast<Host*>(params->host);
  return Bad(params) ? kInvalidParameter : kSuccess;
}
FAKE int cuptiProfilerHostConfigAddMetrics(CuptiHostAddMetrics* params) {
  if (Bad(params)) {
    return kInvalidParameter;
  }
  auto* host = static_cast<Host*>(params->host);
  for (size_t i = 0; i < params->count; ++i) {
    const std::string name = params->names[i];
    if (Asked("no-fma") && name.find("ffma") != std::string::npos) {
      return kInvalidMetric;
    }
    host->metrics.push_back(name);
  }
  return kSuccess;
}
FAKE int cuptiProfilerHostGetConfigImageSize(CuptiHostConfigSize* params) {
  params->bytes = 8 * static_cast<Host*>(params->host)->metrics.size();
  return Bad(params) ? kInvalidParameter : kSuccess;
}
FAKE int cuptiProfilerHostGetConfigImage(CuptiHostConfig* params) {
  const size_t count = static_cast<Host*>(params->host)->metrics.size();
  std::memset(params->image, static_cast<int>(count), params->bytes);
  return Bad(params) || params->bytes != 8 * count ? kInvalidParameter : kSuccess;
}
FAKE int cuptiProfilerHostGetNumOfPasses(CuptiHostPasses* params) {
  params->passes = kPasses;
  return Bad(params) || params->bytes == 0 ? kInvalidParameter : kSuccess;
}
FAKE int cuptiRangeProfilerEnable(CuptiEnable* params) {
  if (Bad(params) || params->context == nullptr || is_enabled) {
    return kUnknown;
  }
  if (Asked("denied")) {
    return kNotPermitted;
  }
  static int busy = 3;
  if (Asked("busy") && busy-- > 0) {
    return kBusy;
  }
  is_enabled = true;
  params->profiler = new Profiler;
  return kSuccess;
}
FAKE int cuptiRangeProfilerDisable(CuptiProfiler* params) {
  delete static_cast<Profiler*>(params->profiler);
  is_enabled = false;
  return Bad(params) ? kInvalidParameter : kSuccess;
}
FAKE int cuptiRangeProfilerGetCounterDataSize(CuptiDataSize* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  profiler->metrics.assign(params->names, params->names + params->count);
  params->bytes = sizeof(Data);
  return Bad(params) || params->most_nodes < params->most_ranges ? kInvalidParameter : kSuccess;
}
FAKE int cuptiRangeProfilerCounterDataImageInitialize(CuptiDataInitialize* params) {
  if (Bad(params) || params->bytes != sizeof(Data)) {
    return kInvalidParameter;
  }
  const Data empty{kMark, 0};
  std::memcpy(params->data, &empty, sizeof(empty));
  return kSuccess;
}
FAKE int cuptiRangeProfilerSetConfig(CuptiSetConfig* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  Data data{};
  std::memcpy(&data, params->data, sizeof(data));
  const bool is_auto = params->range == CuptiSetConfig::kAutoRange;
  if (is_auto && Asked("one-range")) {
    return kNotSupported;
  }
  if (Bad(params) || data.mark != kMark || params->replay != CuptiSetConfig::kUserReplay ||
      params->config_bytes != 8 * profiler->metrics.size() || params->nesting_level != 1 ||
      params->nesting_levels != 1 || params->least_nesting_level != 1 || params->pass != 0 ||
      params->most_ranges == 0) {
    return kInvalidParameter;
  }
  profiler->kept = *params;
  profiler->is_configured = true;
  return kSuccess;
}
FAKE int cuptiRangeProfilerStart(CuptiProfiler* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  if (Bad(params) || !profiler->is_configured || profiler->is_started ||
      (profiler->passes == kPasses && !Asked("never-done"))) {
    return kUnknown;
  }
  profiler->is_started = true;
  profiler->begin = Driver("FakeLaunches");
  profiler->work_begin = Driver("FakeWorked");
  return kSuccess;
}
FAKE int cuptiRangeProfilerPushRange(CuptiPush* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  if (Bad(params) || !profiler->is_started || profiler->is_pushed ||
      profiler->kept.range != CuptiSetConfig::kUserRange) {
    return kUnknown;
  }
  profiler->is_pushed = true;
  return kSuccess;
}
FAKE int cuptiRangeProfilerPopRange(CuptiProfiler* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  if (Bad(params) || !profiler->is_pushed) {
    return kUnknown;
  }
  profiler->is_pushed = false;
  return kSuccess;
}
FAKE int cuptiRangeProfilerStop(CuptiStop* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  if (Bad(params) || !profiler->is_started || profiler->is_pushed) {
    return kUnknown;
  }
  const bool is_auto = profiler->kept.range == CuptiSetConfig::kAutoRange;
  const uint64_t launches = Driver("FakeLaunches") - profiler->begin;
  if (Driver("FakeWorked") - profiler->work_begin != launches) {
    return kUnknown;  // as if it were another kernel
  }
  const uint64_t ranges = is_auto ? launches : 1;
  if (ranges > profiler->kept.most_ranges || (profiler->passes > 0 && ranges != profiler->ranges)) {
    return kUnknown;
  }
  profiler->ranges = ranges;
  profiler->is_started = false;
  ++profiler->passes;
  params->is_last_pass = profiler->passes == kPasses && !Asked("never-done") ? 1 : 0;
  return kSuccess;
}
FAKE int cuptiRangeProfilerDecodeData(CuptiDecode* params) {
  auto* profiler = static_cast<Profiler*>(params->profiler);
  if (Bad(params) || profiler->passes != kPasses) {
    return kUnknown;
  }
  const Data data{kMark, profiler->ranges};
  std::memcpy(profiler->kept.data, &data, sizeof(data));
  params->dropped_ranges = 0;
  return kSuccess;
}
FAKE int cuptiRangeProfilerGetCounterDataInfo(CuptiDataInfo* params) {
  Data data{};
  std::memcpy(&data, params->data, sizeof(data));
  params->ranges = data.ranges;
  return Bad(params) ? kInvalidParameter : kSuccess;
}
FAKE int cuptiProfilerHostEvaluateToGpuValues(CuptiHostEvaluate* params) {
  Data data{};
  std::memcpy(&data, params->data, sizeof(data));
  auto* host = static_cast<Host*>(params->host);
  if (Bad(params) || params->range >= data.ranges || host->metrics.size() != params->count) {
    return kInvalidParameter;
  }
  for (size_t i = 0; i < params->count; ++i) {
    const size_t length = std::strlen(params->names[i]);
    params->values[i] =
        Asked("zero") ? 0 : static_cast<double>(length) * static_cast<double>(params->range + 1);
    if (Asked("nan") && i == 1) {
      params->values[i] = std::nan("");
    }
  }
  return kSuccess;
}

#endif  // FAKE_CUPTI_OLD
