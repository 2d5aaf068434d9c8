#include "device/cuda/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace optiml::cuda {
namespace {

// nvmlClockType_t, nvmlTemperatureSensors_t.
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuSensor = 0;
constexpr unsigned kMostText = 96;
constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;
constexpr unsigned kFirstProcesses = 64;
constexpr unsigned kMostProcesses = 4096;

// nvmlMemory_t.
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

// nvmlProcessInfo_t.
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(ProcessInfo) == 24);
constexpr unsigned long long kNotAvailable = ~0ULL;

// nvmlClocksEventReasons.
constexpr std::pair<unsigned long long, const char*> kThrottleReasons[] = {
    {0x4, "power cap"},         {0x8, "hardware slowdown"},
    {0x20, "thermal slowdown"}, {0x40, "thermal slowdown by hardware"},
    {0x80, "power brake"},
};

NvmlApi BindAll(void* library) {
  NvmlApi api;
  const auto bind = [&](auto& target, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (target == nullptr) {
        target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(dlsym(library, name));
      }
    }
  };
  bind(api.init, {"nvmlInit_v2"});
  bind(api.error_string, {"nvmlErrorString"});
  bind(api.driver_version, {"nvmlSystemGetDriverVersion"});
  bind(api.cuda_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  bind(api.by_uuid, {"nvmlDeviceGetHandleByUUID"});
  bind(api.by_pci_bus_id, {"nvmlDeviceGetHandleByPciBusId_v2"});
  bind(api.name, {"nvmlDeviceGetName"});
  bind(api.uuid, {"nvmlDeviceGetUUID"});
  bind(api.clock, {"nvmlDeviceGetClockInfo"});
  bind(api.most_clock, {"nvmlDeviceGetMaxClockInfo"});
  bind(api.temperature, {"nvmlDeviceGetTemperature"});
  bind(api.power, {"nvmlDeviceGetPowerUsage"});
  bind(api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  bind(api.event_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  bind(api.mig_mode, {"nvmlDeviceGetMigMode"});
  bind(api.is_mig, {"nvmlDeviceIsMigDeviceHandle"});
  bind(api.parent_of_mig, {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"});
  bind(api.ecc, {"nvmlDeviceGetEccMode"});
  bind(api.persistence, {"nvmlDeviceGetPersistenceMode"});
  bind(api.processes, {"nvmlDeviceGetComputeRunningProcesses_v3"});
  bind(api.memory, {"nvmlDeviceGetMemoryInfo"});
  return api;
}

std::string Describe(const NvmlApi& api, int code) {
  const char* text = api.error_string != nullptr ? api.error_string(code) : nullptr;
  return text != nullptr ? fmt::format("NVML: {}", text) : fmt::format("NVML: error {}", code);
}

// `call` writes the value and returns NVML's code; `function` is what it calls, null where this
// library has none.
template <typename T, typename Function, typename Call>
NvmlValue<T> Ask(const NvmlApi& api, Function function, Call call) {
  NvmlValue<T> asked;
  T value{};
  if (function == nullptr) {
    asked.why_not = "this NVML does not tell";
  } else if (const int code = call(value); code != NvmlApi::kSuccess) {
    asked.why_not = Describe(api, code);
  } else {
    asked.value = std::move(value);
  }
  return asked;
}

// The same as another type.
template <typename To, typename From, typename Convert>
NvmlValue<To> As(const NvmlValue<From>& from, Convert convert) {
  NvmlValue<To> to;
  to.why_not = from.why_not;
  if (from.value) {
    to.value = convert(*from.value);
  }
  return to;
}

}  // namespace

std::string FormatUuid(const unsigned char* bytes) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::vector<std::string> ThrottleNames(unsigned long long reasons) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kThrottleReasons) {
    if ((reasons & bit) != 0) {
      names.emplace_back(name);
    }
  }
  return names;
}

Result<Nvml> Nvml::Open(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error(ErrorCode::kUnavailable, fmt::format("no NVML: {}", dlerror()));
  }
  const NvmlApi api = BindAll(handle);
  if (api.init == nullptr) {
    return Error(ErrorCode::kUnavailable, fmt::format("{} has no nvmlInit_v2", library));
  }
  if (const int code = api.init(); code != NvmlApi::kSuccess) {
    return Error(ErrorCode::kUnavailable, Describe(api, code));
  }
  return Nvml(api);
}

Result<NvmlGpu> Nvml::Find(const GpuIdentity& identity) const {
  NvmlApi::Device device = nullptr;
  int code = -1;
  for (const char* prefix : {"GPU-", "MIG-"}) {
    if (code != NvmlApi::kSuccess && api_.by_uuid != nullptr && !identity.uuid.empty()) {
      code = api_.by_uuid((prefix + identity.uuid).c_str(), &device);
    }
  }
  if (code != NvmlApi::kSuccess && api_.by_pci_bus_id != nullptr && !identity.pci_bus_id.empty()) {
    code = api_.by_pci_bus_id(identity.pci_bus_id.c_str(), &device);
  }
  if (code != NvmlApi::kSuccess) {
    return Error(ErrorCode::kUnavailable,
                 code < 0 ? "NVML: the driver does not say which GPU it is"
                          : "NVML does not know the GPU: " + Describe(api_, code));
  }
  return NvmlGpu(api_, device);
}

NvmlGpu::NvmlGpu(const NvmlApi& api, NvmlApi::Device device)
    : api_(api), device_(device), whole_(device) {
  unsigned is_mig = 0;
  NvmlApi::Device whole = nullptr;
  if (api_.is_mig != nullptr && api_.parent_of_mig != nullptr &&
      api_.is_mig(device_, &is_mig) == NvmlApi::kSuccess && is_mig != 0) {
    is_mig_slice_ = true;
    if (api_.parent_of_mig(device_, &whole) == NvmlApi::kSuccess) {
      whole_ = whole;
    }
  }
}

NvmlValue<double> NvmlGpu::Number(int (*function)(NvmlApi::Device, unsigned*),
                                  double factor) const {
  return As<double>(
      Ask<unsigned>(api_, function, [&](unsigned& value) { return function(whole_, &value); }),
      [&](unsigned value) { return factor * value; });
}

NvmlValue<double> NvmlGpu::Number(int (*function)(NvmlApi::Device, int, unsigned*), int which,
                                  double factor) const {
  return As<double>(Ask<unsigned>(api_, function,
                                  [&](unsigned& value) { return function(whole_, which, &value); }),
                    [&](unsigned value) { return factor * value; });
}

NvmlValue<std::string> NvmlGpu::Text(int (*function)(NvmlApi::Device, char*, unsigned)) const {
  return Ask<std::string>(api_, function, [&](std::string& text) {
    char buffer[kMostText] = {};
    const int code = function(device_, buffer, kMostText);
    text = buffer;
    return code;
  });
}

NvmlValue<std::vector<std::string>> NvmlGpu::Throttling() const {
  return As<std::vector<std::string>>(
      Ask<unsigned long long>(
          api_, api_.event_reasons,
          [&](unsigned long long& value) { return api_.event_reasons(whole_, &value); }),
      ThrottleNames);
}

NvmlValue<std::vector<NvmlProcess>> NvmlGpu::Processes() const {
  return Ask<std::vector<NvmlProcess>>(
      api_, api_.processes, [&](std::vector<NvmlProcess>& processes) {
        int code = NvmlApi::kInsufficientSize;
        std::vector<ProcessInfo> infos;
        unsigned count = 0;
        // There may be more by the next call.
        for (unsigned room = kFirstProcesses;
             room <= kMostProcesses && code == NvmlApi::kInsufficientSize; room *= 4) {
          infos.assign(room, {});
          count = room;
          code = api_.processes(device_, &count, infos.data());
        }
        for (size_t i = 0; code == NvmlApi::kSuccess && i < std::min<size_t>(count, infos.size());
             ++i) {
          NvmlProcess& process = processes.emplace_back();
          process.pid = infos[i].pid;
          if (infos[i].used_bytes != kNotAvailable) {
            process.bytes = infos[i].used_bytes;
          }
        }
        return code;
      });
}

NvmlFacts NvmlGpu::Facts() const {
  NvmlFacts facts;
  facts.name = Text(api_.name);
  facts.uuid = Text(api_.uuid);
  facts.driver_version = Ask<std::string>(api_, api_.driver_version, [&](std::string& text) {
    char buffer[kMostText] = {};
    const int code = api_.driver_version(buffer, kMostText);
    text = buffer;
    return code;
  });
  facts.cuda_version =
      Ask<int>(api_, api_.cuda_version, [&](int& value) { return api_.cuda_version(&value); });
  facts.sm_hz = Number(api_.clock, kSmClock, kMega);
  facts.most_sm_hz = Number(api_.most_clock, kSmClock, kMega);
  facts.memory_hz = Number(api_.clock, kMemoryClock, kMega);
  facts.most_memory_hz = Number(api_.most_clock, kMemoryClock, kMega);
  facts.temperature_celsius = Number(api_.temperature, kGpuSensor, 1);
  facts.power_watts = Number(api_.power, kMilli);
  facts.power_limit_watts = Number(api_.power_limit, kMilli);
  facts.throttling = Throttling();
  AddModes(facts);
  facts.processes = Processes();
  const NvmlValue<Memory> memory =
      Ask<Memory>(api_, api_.memory, [&](Memory& value) { return api_.memory(device_, &value); });
  facts.free_bytes = As<uint64_t>(memory, [](const Memory& value) { return value.free; });
  facts.total_bytes = As<uint64_t>(memory, [](const Memory& value) { return value.total; });
  return facts;
}

// What is now, not what will be after the next start.
void NvmlGpu::AddModes(NvmlFacts& facts) const {
  facts.is_mig_slice = is_mig_slice_;
  facts.mig_mode = As<bool>(Ask<unsigned>(api_, api_.mig_mode,
                                          [&](unsigned& value) {
                                            unsigned pending = 0;
                                            return api_.mig_mode(whole_, &value, &pending);
                                          }),
                            [](unsigned value) { return value != 0; });
  facts.ecc = As<bool>(Ask<int>(api_, api_.ecc,
                                [&](int& value) {
                                  int pending = 0;
                                  return api_.ecc(whole_, &value, &pending);
                                }),
                       [](int value) { return value != 0; });
  facts.persistence =
      As<bool>(Ask<int>(api_, api_.persistence,
                        [&](int& value) { return api_.persistence(whole_, &value); }),
               [](int value) { return value != 0; });
}

ClockReading NvmlGpu::Read() const {
  ClockReading reading;
  reading.sm_hz = Number(api_.clock, kSmClock, kMega).value;
  reading.memory_hz = Number(api_.clock, kMemoryClock, kMega).value;
  reading.temperature_celsius = Number(api_.temperature, kGpuSensor, 1).value;
  reading.throttling = Throttling().value;
  return reading;
}

}  // namespace optiml::cuda
