#include "device/cuda/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "device/cuda/nvml.h"
#include "device/cuda/phase_watch.h"
#include "device/cuda/support_kernels.h"

namespace optiml::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint64_t kMegabyte = uint64_t{1} << 20;
// For the driver's own needs while kernels run: local memory, the printf buffer.
constexpr uint64_t kLeftFree = 512 * kMegabyte;
// Where kernels of our own put what they found, behind counter_.
constexpr uint64_t kSinkAt = 64;
constexpr uint64_t kDigestAt = 128;
// The host may have died; the stream must not hang for ever.
constexpr uint64_t kMostHoldNs = 2'000'000'000;

}  // namespace

Result<std::unique_ptr<Gpu>> Gpu::Open(const DriverApi& api, int ordinal) {
  std::unique_ptr<Gpu> gpu(new Gpu(api));
  PhaseWatch watch;
  int device = 0;
  OPTIML_TRY(gpu->Choose(ordinal, device));
  watch.End("driver", gpu->facts_.phases);
  OPTIML_TRY(gpu->MakeContext(device));
  watch.End("context", gpu->facts_.phases);
  gpu->ReadFacts(device);
  OPTIML_TRY(gpu->MakeStream());
  watch.End("stream and memory", gpu->facts_.phases);
  OPTIML_TRY(gpu->LoadSupport());
  watch.End("our own kernels", gpu->facts_.phases);
  return gpu;
}

Error Gpu::NoGpu(const std::string& what, int code) const {
  std::string advice;
  switch (code) {
    case DriverApi::kNoDevice: {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      advice =
          visible != nullptr
              ? fmt::format("; CUDA_VISIBLE_DEVICES is \"{}\", which hides the others", visible)
              : "";
      break;
    }
    case DriverApi::kOutOfMemory:
      advice = "; other programs hold the GPU's memory (`optiml doctor` names them)";
      break;
    case DriverApi::kDeviceUnavailable:
      advice = "; another program has the GPU for itself, or it is lost (`nvidia-smi` tells)";
      break;
    case DriverApi::kSystemDriverMismatch:
      advice =
          "; libcuda and the kernel's driver are of different versions: restart the machine after "
          "an update, or take other libraries out of LD_LIBRARY_PATH";
      break;
    case DriverApi::kCompatNotSupported:
      advice =
          "; this GPU cannot use CUDA's forward compatibility: take its compat folder out of "
          "LD_LIBRARY_PATH, or update the driver";
      break;
    default:
      break;
  }
  return Error(ErrorCode::kUnavailable, fmt::format("{}: {}{}", what, api_.Describe(code), advice));
}

Result<void> Gpu::Choose(int ordinal, int& device) {
  if (const int code = api_.init(0); code != DriverApi::kSuccess) {
    return NoGpu("the driver does not start", code);
  }
  if (api_.driver_version != nullptr) {
    api_.driver_version(&facts_.driver_version);
  }
  int count = 0;
  if (const int code = api_.device_count(&count); code != DriverApi::kSuccess) {
    return NoGpu("the driver does not list its GPUs", code);
  }
  if (ordinal >= count) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("GPU {} was asked for, but the driver lists {} (the first is 0)",
                             ordinal, count));
  }
  const int code = api_.device_get(&device, ordinal);
  return code == DriverApi::kSuccess ? Result<void>() : NoGpu("the GPU cannot be had", code);
}

Result<void> Gpu::MakeContext(int device) {
  int code = api_.context_retain(&context_, device);
  if (code == DriverApi::kSuccess) {
    code = api_.context_set(context_);
  }
  return code == DriverApi::kSuccess
             ? Result<void>()
             : NoGpu(code == DriverApi::kOutOfMemory ? "the GPU has no memory left for a context"
                                                     : "the GPU gives no context",
                     code);
}

Result<void> Gpu::MakeStream() {
  int code = api_.stream_create(&stream_, DriverApi::kStreamNonBlocking);
  void* words = nullptr;
  if (code == DriverApi::kSuccess) {
    code = api_.host_allocate(&words, 4096, DriverApi::kHostMapped);
  }
  if (code == DriverApi::kSuccess) {
    host_words_ = static_cast<uint32_t*>(words);
    code = api_.host_device_pointer(&flag_, words, 0);
  }
  if (code == DriverApi::kSuccess) {
    code = api_.allocate(&counter_, 256);
  }
  if (code == DriverApi::kSuccess) {
    code = api_.set_bytes(counter_, 0, 256, stream_);
  }
  return code == DriverApi::kSuccess ? Result<void>() : NoGpu("the GPU's memory", code);
}

void Gpu::ReadFacts(int device) {
  const auto attribute = [&](int which) {
    int value = 0;
    api_.device_attribute(&value, which, device);
    return value;
  };
  char name[256] = {};
  api_.device_name(name, sizeof(name), device);
  facts_.name = name;
  unsigned char uuid[16] = {};
  if (api_.device_uuid != nullptr && api_.device_uuid(uuid, device) == DriverApi::kSuccess) {
    facts_.uuid = FormatUuid(uuid);
  }
  char bus[32] = {};
  if (api_.device_pci_bus_id != nullptr &&
      api_.device_pci_bus_id(bus, sizeof(bus), device) == DriverApi::kSuccess) {
    facts_.pci_bus_id = bus;
  }
  facts_.compute_capability = 10 * attribute(DriverApi::kMajor) + attribute(DriverApi::kMinor);
  facts_.multiprocessors = attribute(DriverApi::kMultiprocessors);
  facts_.threads_per_multiprocessor = attribute(DriverApi::kThreadsPerMultiprocessor);
  facts_.registers_per_multiprocessor =
      static_cast<uint64_t>(attribute(DriverApi::kRegistersPerMultiprocessor));
  facts_.shared_bytes_per_multiprocessor =
      static_cast<uint64_t>(attribute(DriverApi::kMaxSharedPerMultiprocessor));
  facts_.shared_bytes_per_block =
      static_cast<uint64_t>(attribute(DriverApi::kMaxSharedPerBlockOptIn));
  facts_.l2_bytes = static_cast<uint64_t>(attribute(DriverApi::kL2Bytes));
  facts_.clock_hz = 1e3 * attribute(DriverApi::kClockKilohertz);
  // Two transfers a clock.
  facts_.dram_bytes_per_s =
      2e3 * attribute(DriverApi::kMemoryClockKilohertz) * attribute(DriverApi::kMemoryBusBits) / 8;
}

Result<void> Gpu::LoadSupport() {
  Handle module = nullptr;
  const EmbeddedText text = SupportKernels().front();
  int code = api_.module_load(&module, text.text.data());
  const auto find = [&](const char* name, Handle& into) {
    if (code == DriverApi::kSuccess) {
      code = api_.module_function(&into, module, name);
    }
  };
  find("optiml_wait", wait_);
  find("optiml_read", read_);
  find("optiml_differ", differ_);
  find("optiml_count_other", count_other_);
  find("optiml_digest", digest_);
  if (code != DriverApi::kSuccess) {
    return NoGpu("the driver does not compile our own kernels", code);
  }
  return {};
}

uint64_t Gpu::Reservable() const {
  size_t free = 0;
  size_t total = 0;
  api_.memory_info(&free, &total);
  return std::max<uint64_t>(free + pool_bytes_, kLeftFree) - kLeftFree;
}

Result<DevicePtr> Gpu::Reserve(uint64_t bytes) {
  if (bytes <= pool_bytes_) {
    return pool_;
  }
  const uint64_t reservable = Reservable();
  if (pool_ != 0) {
    api_.free(pool_);
    pool_ = 0;
    pool_bytes_ = 0;
  }
  const uint64_t rounded = (bytes + kMegabyte - 1) / kMegabyte * kMegabyte;
  const int code = rounded > reservable ? DriverApi::kOutOfMemory : api_.allocate(&pool_, rounded);
  if (code != DriverApi::kSuccess) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{} MB of the GPU's memory are needed, {} MB can be had: {}",
                             rounded / kMegabyte, reservable / kMegabyte, api_.Describe(code)));
  }
  pool_bytes_ = rounded;
  return pool_;
}

int Gpu::EnqueueClear(uint8_t value) {
  return pool_bytes_ == 0 ? DriverApi::kSuccess
                          : api_.set_bytes(pool_, value, pool_bytes_, stream_);
}

Waited Gpu::Wait(SteadyClock::time_point deadline) {
  // Short work ends while we look; long work must not cost a core.
  for (int looks = 0;; ++looks) {
    const int code = api_.stream_query(stream_);
    if (code == DriverApi::kSuccess) {
      return Waited::kDone;
    }
    if (code != DriverApi::kNotReady) {
      last_error_ = code;
      is_lost_ = true;
      return Waited::kFault;
    }
    if (SteadyClock::now() > deadline) {
      is_lost_ = true;
      return Waited::kTimedOut;
    }
    if (looks > 2000) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

int Gpu::Launch(Handle function, uint32_t blocks, uint32_t threads, std::vector<void*> arguments) {
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = threads;
  config.stream = stream_;
  return api_.launch(&config, function, arguments.data(), nullptr);
}

int Gpu::EnqueueHold() {
  __atomic_store_n(host_words_, 0U, __ATOMIC_SEQ_CST);
  uint64_t most = kMostHoldNs;
  return Launch(wait_, 1, 1, {&flag_, &most});
}

void Gpu::Release() {
  __atomic_store_n(host_words_, 1U, __ATOMIC_SEQ_CST);
}

int Gpu::EnqueueFlush(uint64_t bytes) {
  if (bytes > flush_bytes_) {
    if (flush_ != 0) {
      api_.free(flush_);
    }
    flush_bytes_ = 0;
    if (const int code = api_.allocate(&flush_, bytes); code != DriverApi::kSuccess) {
      flush_ = 0;
      return code;
    }
    flush_bytes_ = bytes;
  }
  uint64_t vectors = bytes / 16;
  DevicePtr sink = counter_ + kSinkAt;
  return Launch(read_, static_cast<uint32_t>(4 * facts_.multiprocessors), kThreads,
                {&flush_, &vectors, &sink});
}

int Gpu::EnqueueDiffer(DevicePtr a, DevicePtr b, uint64_t bytes) {
  return Launch(differ_, static_cast<uint32_t>(8 * facts_.multiprocessors), kThreads,
                {&a, &b, &bytes, &counter_});
}

int Gpu::EnqueueCountOther(DevicePtr a, uint64_t bytes, uint8_t value) {
  uint32_t wide = value;
  const auto blocks = static_cast<uint32_t>(
      std::clamp<uint64_t>(bytes / kThreads, 1, 8 * static_cast<uint64_t>(facts_.multiprocessors)));
  return Launch(count_other_, blocks, kThreads, {&a, &bytes, &wide, &counter_});
}

int Gpu::EnqueueDigest(DevicePtr a, uint64_t bytes, const DigestKey& key) {
  uint64_t low = key.low;
  uint64_t high = key.high;
  DevicePtr result = counter_ + kDigestAt;
  return Launch(digest_, static_cast<uint32_t>(8 * facts_.multiprocessors), kThreads,
                {&a, &bytes, &low, &high, &result});
}

template <typename T>
std::optional<T> Gpu::Take(uint64_t offset, SteadyClock::time_point deadline) {
  uint32_t* copy = host_words_ + 16;
  const DevicePtr from = counter_ + offset;
  if (api_.copy_to_host(copy, from, sizeof(T), stream_) != DriverApi::kSuccess ||
      api_.set_bytes(from, 0, sizeof(T), stream_) != DriverApi::kSuccess ||
      Wait(deadline) != Waited::kDone) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, copy, sizeof(T));
  return value;
}

std::optional<uint32_t> Gpu::TakeCount(SteadyClock::time_point deadline) {
  return Take<uint32_t>(0, deadline);
}

std::optional<OutputsDigest> Gpu::TakeDigest(SteadyClock::time_point deadline) {
  const auto sums = Take<std::array<uint64_t, 2>>(kDigestAt, deadline);
  return sums ? std::optional(OutputsDigest{(*sums)[0], (*sums)[1]}) : std::nullopt;
}

void Gpu::Pin(void* memory, size_t bytes) {
  if (pinned_ != nullptr) {
    api_.host_unregister(pinned_);
    pinned_ = nullptr;
  }
  if (bytes > 0 &&
      api_.host_register(memory, bytes, DriverApi::kHostPortable) == DriverApi::kSuccess) {
    pinned_ = memory;
  }
}

}  // namespace optiml::cuda
