// A management library for tests on machines without a GPU, in the place of libnvidia-ml.so.1. It
// knows two GPUs of the fake driver (fake_driver.cpp) and a slice of the first one.
//
// FAKE_NVML in the environment: "throttled", "slice" (the UUID is that of a slice), "slow" (2 ms a
// clock), "silent" (it supports nothing), "refuses" (it does not start), "many" (100 processes).

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;

bool Asked(const char* what) {
  const char* asked = std::getenv("FAKE_NVML");
  return asked != nullptr && std::string(asked) == what;
}

// Handles.
char whole[2];
char slice;

int Answer(unsigned* value, unsigned answer) {
  if (Asked("silent")) {
    return kNotSupported;
  }
  *value = answer;
  return kSuccess;
}

struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE int nvmlInit_v2() {
  return Asked("refuses") ? kNoPermission : kSuccess;
}
FAKE const char* nvmlErrorString(int code) {
  return code == kNotSupported   ? "Not Supported"
         : code == kNoPermission ? "Insufficient Permissions"
                                 : "Not Found";
}
FAKE int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.65.06");
  return kSuccess;
}
FAKE int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return kSuccess;
}
FAKE int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  const std::string text = uuid;
  if (Asked("slice")) {
    *device = &slice;
    return text == "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f" ? kSuccess : kNotFound;
  }
  if (text == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") {
    *device = &whole[0];
    return kSuccess;
  }
  return kNotFound;
}
FAKE int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &whole[1];
  return std::strcmp(id, "0000:3C:00.0") == 0 ? kSuccess : kNotFound;
}
FAKE int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "%s", device == &whole[1] ? "Fake 8000" : "Fake 9000");
  return kSuccess;
}
FAKE int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "%s-00010203-0405-0607-0809-0a0b0c0d0e0f",
                device == &slice ? "MIG" : "GPU");
  return kSuccess;
}
// As the real one, of whole GPUs alone.
FAKE int nvmlDeviceGetClockInfo(void* device, int type, unsigned* megahertz) {
  if (Asked("slow")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return device == &slice ? kNotSupported : Answer(megahertz, type == 1 ? 1980 : 3201);
}
FAKE int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* megahertz) {
  return Answer(megahertz, type == 1 ? 1980 : 3201);
}
FAKE int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  return Answer(celsius, 41);
}
FAKE int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return Answer(milliwatts, 75500);
}
FAKE int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  return Answer(milliwatts, 700000);
}
FAKE int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  // An idle GPU beside: no loss.
  *reasons = Asked("throttled") ? 0x1 | 0x4 | 0x40 : 0x1;
  return Asked("silent") ? kNotSupported : kSuccess;
}
FAKE int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *pending = 1;
  return Answer(current, Asked("slice") ? 1 : 0);
}
FAKE int nvmlDeviceIsMigDeviceHandle(void* device, unsigned* is_slice) {
  *is_slice = device == &slice ? 1 : 0;
  return kSuccess;
}
FAKE int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void*, void** device) {
  *device = &whole[0];
  return kSuccess;
}
FAKE int nvmlDeviceGetEccMode(void*, int* current, int* pending) {
  *current = 1;
  *pending = 0;
  return Asked("silent") ? kNotSupported : kSuccess;
}
FAKE int nvmlDeviceGetPersistenceMode(void*, int* mode) {
  *mode = 0;
  return Asked("silent") ? kNotSupported : kSuccess;
}
FAKE int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* infos) {
  const unsigned there = Asked("many") ? 100 : 2;
  if (Asked("silent")) {
    return kNotSupported;
  }
  if (*count < there) {
    *count = there;
    return kInsufficientSize;
  }
  *count = there;
  auto* processes = static_cast<Process*>(infos);
  for (unsigned i = 0; i < there; ++i) {
    processes[i] = {4000 + i, i == 0 ? 12'000'000'000ULL : ~0ULL, 0, 0};
  }
  return kSuccess;
}
FAKE int nvmlDeviceGetMemoryInfo(void*, void* info) {
  auto* values = static_cast<unsigned long long*>(info);
  values[0] = 141'000'000'000ULL;
  values[1] = 129'000'000'000ULL;
  values[2] = 12'000'000'000ULL;
  return Asked("silent") ? kNotSupported : kSuccess;
}
