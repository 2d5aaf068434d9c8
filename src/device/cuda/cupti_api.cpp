#include "device/cuda/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace optiml::cuda {
namespace {

// A size is where the last field ends.
#define OPTIML_CHECK_SIZE(Struct, last) \
  static_assert(Struct{}.size == offsetof(Struct, last) + sizeof(Struct::last))
OPTIML_CHECK_SIZE(CuptiInitialize, reserved);
OPTIML_CHECK_SIZE(CuptiChipName, chip);
OPTIML_CHECK_SIZE(CuptiAvailability, image);
OPTIML_CHECK_SIZE(CuptiHostInitialize, host);
OPTIML_CHECK_SIZE(CuptiHostEnd, host);
OPTIML_CHECK_SIZE(CuptiHostAddMetrics, count);
OPTIML_CHECK_SIZE(CuptiHostConfigSize, bytes);
OPTIML_CHECK_SIZE(CuptiHostConfig, image);
OPTIML_CHECK_SIZE(CuptiHostPasses, passes);
OPTIML_CHECK_SIZE(CuptiHostEvaluate, values);
OPTIML_CHECK_SIZE(CuptiEnable, profiler);
OPTIML_CHECK_SIZE(CuptiProfiler, profiler);
OPTIML_CHECK_SIZE(CuptiDataSize, bytes);
OPTIML_CHECK_SIZE(CuptiDataInitialize, data);
OPTIML_CHECK_SIZE(CuptiSetConfig, nesting_level);
OPTIML_CHECK_SIZE(CuptiPush, name);
OPTIML_CHECK_SIZE(CuptiStop, is_last_pass);
OPTIML_CHECK_SIZE(CuptiDecode, dropped_ranges);
OPTIML_CHECK_SIZE(CuptiDataInfo, ranges);
#undef OPTIML_CHECK_SIZE

// The names of functions that the library lacks, the first one only: they came together.
std::string BindAll(void* library, CuptiApi& api) {
  std::string missing;
  const auto bind = [&]<typename Function>(const char* name, Function& target) {
    target = reinterpret_cast<Function>(dlsym(library, name));
    if (target == nullptr && missing.empty()) {
      missing = name;
    }
  };
  bind("cuptiGetResultString", api.result_string);
  bind("cuptiProfilerInitialize", api.initialize);
  bind("cuptiDeviceGetChipName", api.chip_name);
  bind("cuptiProfilerGetCounterAvailability", api.availability);
  bind("cuptiProfilerHostInitialize", api.host_initialize);
  bind("cuptiProfilerHostDeinitialize", api.host_end);
  bind("cuptiProfilerHostConfigAddMetrics", api.host_add_metrics);
  bind("cuptiProfilerHostGetConfigImageSize", api.host_config_size);
  bind("cuptiProfilerHostGetConfigImage", api.host_config);
  bind("cuptiProfilerHostGetNumOfPasses", api.host_passes);
  bind("cuptiProfilerHostEvaluateToGpuValues", api.host_evaluate);
  bind("cuptiRangeProfilerEnable", api.enable);
  bind("cuptiRangeProfilerDisable", api.disable);
  bind("cuptiRangeProfilerGetCounterDataSize", api.data_size);
  bind("cuptiRangeProfilerCounterDataImageInitialize", api.data_initialize);
  bind("cuptiRangeProfilerSetConfig", api.set_config);
  bind("cuptiRangeProfilerStart", api.start);
  bind("cuptiRangeProfilerStop", api.stop);
  bind("cuptiRangeProfilerPushRange", api.push);
  bind("cuptiRangeProfilerPopRange", api.pop);
  bind("cuptiRangeProfilerDecodeData", api.decode);
  bind("cuptiRangeProfilerGetCounterDataInfo", api.data_info);
  return missing;
}

// CUPTI opens a part of itself by its bare name; in a wheel of PyPI the loader does not find it
// beside CUPTI, unless it is there already.
void OpenParts(const std::string& library) {
  const size_t slash = library.rfind('/');
  if (slash != std::string::npos) {
    dlopen((library.substr(0, slash + 1) + "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

std::string FileOf(void* symbol, const std::string& otherwise) {
  Dl_info info;
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

}  // namespace

std::string CuptiApi::Describe(int code) const {
  const char* text = nullptr;
  const std::string name =
      result_string != nullptr && result_string(code, &text) == kSuccess && text != nullptr
          ? std::string(text)
          : fmt::format("CUPTI error {}", code);
  return code == kNotPermitted || code == kVirtualNotPermitted
             ? fmt::format("not permitted (ERR_NVGPUCTRPERM / {})", name)
             : name;
}

Result<CuptiApi> OpenCupti(const std::vector<std::string>& libraries) {
  std::string too_old;
  for (const std::string& library : libraries) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      continue;
    }
    CuptiApi api;
    const std::string missing = BindAll(handle, api);
    if (missing.empty()) {
      api.library = FileOf(reinterpret_cast<void*>(api.enable), library);
      OpenParts(api.library);
      return api;
    }
    too_old = fmt::format("{} has no {}: it is older than CUPTI 12.6", library, missing);
    dlclose(handle);
  }
  return Error(ErrorCode::kUnavailable,
               !too_old.empty() ? too_old
                                : "CUPTI (libcupti.so) was not found; it is part of the CUDA "
                                  "toolkit, and of `pip install nvidia-cuda-cupti`");
}

}  // namespace optiml::cuda
