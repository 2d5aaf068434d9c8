#include "device/cuda/driver_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace optiml::cuda {
namespace {

template <typename Function>
void Bind(void* library, const char* name, Function& target, std::string& missing) {
  target = reinterpret_cast<Function>(dlsym(library, name));
  if (target == nullptr) {
    missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
}

std::string BindAll(void* library, DriverApi& api) {
  std::string missing;
  const auto bind = [&](const char* name, auto& target) { Bind(library, name, target, missing); };
  bind("cuGetErrorName", api.get_error_name);
  bind("cuGetErrorString", api.get_error_string);
  bind("cuInit", api.init);
  bind("cuDeviceGetCount", api.device_count);
  bind("cuDeviceGet", api.device_get);
  bind("cuDeviceGetName", api.device_name);
  bind("cuDeviceGetAttribute", api.device_attribute);
  bind("cuDevicePrimaryCtxRetain", api.context_retain);
  bind("cuCtxSetCurrent", api.context_set);
  bind("cuCtxResetPersistingL2Cache", api.reset_persisting_l2);
  bind("cuMemGetInfo_v2", api.memory_info);
  bind("cuMemAlloc_v2", api.allocate);
  bind("cuMemFree_v2", api.free);
  bind("cuMemHostAlloc", api.host_allocate);
  bind("cuMemHostGetDevicePointer_v2", api.host_device_pointer);
  bind("cuMemHostRegister_v2", api.host_register);
  bind("cuMemHostUnregister", api.host_unregister);
  bind("cuMemcpyHtoDAsync_v2", api.copy_to_device);
  bind("cuMemcpyDtoHAsync_v2", api.copy_to_host);
  bind("cuMemcpyDtoDAsync_v2", api.copy_on_device);
  bind("cuMemsetD8Async", api.set_bytes);
  bind("cuModuleLoadData", api.module_load);
  bind("cuModuleUnload", api.module_unload);
  bind("cuModuleGetFunction", api.module_function);
  bind("cuModuleGetGlobal_v2", api.module_global);
  bind("cuFuncSetAttribute", api.function_attribute);
  bind("cuLaunchKernelEx", api.launch);
  bind("cuStreamCreate", api.stream_create);
  bind("cuStreamQuery", api.stream_query);
  bind("cuEventCreate", api.event_create);
  bind("cuEventRecord", api.event_record);
  bind("cuEventElapsedTime", api.event_elapsed);
  return missing;
}

}  // namespace

std::string DriverApi::Describe(int code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (get_error_name == nullptr || get_error_name(code, &name) != kSuccess || name == nullptr) {
    return fmt::format("CUDA error {}", code);
  }
  get_error_string(code, &text);
  return fmt::format("{}: {}", name, text != nullptr ? text : "");
}

bool DriverIsHere(const std::string& library) {
  return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
}

Result<DriverApi> OpenDriver(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("no NVIDIA driver: {}; install one, or use --device emulator", dlerror()));
  }
  DriverApi api;
  if (const std::string missing = BindAll(handle, api); !missing.empty()) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{} has no {}: the driver is older than CUDA 12; update it, or use "
                             "--device emulator",
                             library, missing));
  }
  std::string ignored;
  Bind(handle, "cuDriverGetVersion", api.driver_version, ignored);
  Bind(handle, "cuDeviceGetUuid_v2", api.device_uuid, ignored);
  Bind(handle, "cuDeviceGetPCIBusId", api.device_pci_bus_id, ignored);
  Bind(handle, "cuTensorMapEncodeTiled", api.encode_tensor_map, ignored);
  return api;
}

}  // namespace optiml::cuda
