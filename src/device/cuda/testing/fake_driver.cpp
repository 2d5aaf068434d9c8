// A driver's library for tests on machines without a GPU: the functions of driver_api.h over host
// memory, with a stream that a thread works off. It stands where libcuda.so.1 would; what it does
// wrong on purpose is asked for by the names of kernels in the "cubin", which is text:
//
//   copy        y[i] = x[i], for n ints
//   twice       y[i] = 2 x[i]
//   once        the first call of a process copies, later ones do nothing
//   first-only  copies in the buffers of the first call alone
//   if-poisoned copies where y holds poison; where not, it is done at once
//   sampled     copies, but not while a sample is taken
//   over        copies, and one int beyond the end
//   scribble    copies, and changes x[0]
//   fault       the context is gone afterwards
//   hang        never ends
//   crash       the process is ended by a signal
//   killed      the process is killed, as if by hand
//   refuse      the launch is refused
//
// FAKE_DRIVER in the environment:
//
//   no-device    it lists none
//   hidden       CUDA_VISIBLE_DEVICES hides all
//   no-context   other programs hold all memory
//   small        1 MB of memory
//   taken        others took the memory after it was asked how much is free
//   mismatch     libcuda and the kernel's driver are of different versions
//   old          for CUDA 12.4: what a later toolkit made is refused as of an unknown version
//   old-image    the same, refused as no image at all
//   slice        a MIG slice: fewer multiprocessors and less L2
//   lost-later   the first process has a GPU, those after it have none; FAKE_DRIVER_STATE names a
//                file by which they know

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kDeviceUnavailable = 46;
constexpr int kNoDevice = 100;
constexpr int kInvalidImage = 200;
constexpr int kUnsupportedPtxVersion = 222;
constexpr int kSystemDriverMismatch = 803;
constexpr int kNotFound = 500;
constexpr int kNotReady = 600;
constexpr int kIllegalAddress = 700;

bool Asked(const char* what) {
  const char* asked = std::getenv("FAKE_DRIVER");
  return asked != nullptr && std::string(asked) == what;
}

bool IsLost() {
  const char* file = std::getenv("FAKE_DRIVER_STATE");
  if (!Asked("lost-later") || file == nullptr) {
    return false;
  }
  std::FILE* first = std::fopen(file, "wx");
  if (first != nullptr) {
    std::fclose(first);
  }
  return first == nullptr;
}

class Stream {
 public:
  Stream() {
    std::thread([this] { Work(); }).detach();
  }
  void Push(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    ++pending_;
    wake_.notify_one();
  }
  bool is_idle() {
    const std::lock_guard lock(mutex_);
    return pending_ == 0;
  }

 private:
  void Work() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !work_.empty(); });
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
      --pending_;
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;
  int pending_ = 0;
};

Stream& TheStream() {
  static auto* stream = new Stream;
  return *stream;
}

std::atomic<int> context_error{kSuccess};
std::atomic<uint64_t> launches{0};
std::atomic<uint64_t> worked{0};  // launches that did something
std::atomic<uint64_t> allocated{0};
std::mutex sizes_mutex;
std::map<uint64_t, uint64_t> sizes;

uint64_t MemoryBytes() {
  return Asked("small") ? uint64_t{1} << 20 : uint64_t{4} << 30;
}

struct Function {
  std::string name;
};
struct Module {
  std::string text;
  std::vector<Function*> functions;
};

// As driver_api.h declares it.
struct Attribute {
  int id;
  int padding;
  uint32_t value[16];
};
struct Config {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  void* stream;
  Attribute* attributes;
  uint32_t attribute_count;
};

template <typename T>
T Argument(void** arguments, int i) {
  T value;
  std::memcpy(&value, arguments[i], sizeof(T));
  return value;
}

// A sample's executions lie between a held stream and an event.
std::atomic<bool> is_sampled{false};
std::atomic<bool> has_run{false};

void Candidate(const std::string& name, int* x, int* y, int n) {
  static std::atomic<int> calls{0};
  if (name == "fault") {
    context_error = kIllegalAddress;
    return;
  }
  while (name == "hang") {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (name == "crash") {
    raise(SIGSEGV);
  }
  if (name == "killed") {
    raise(SIGKILL);
  }
  has_run = true;
  if ((name == "once" && calls++ > 0) || (name == "sampled" && is_sampled)) {
    return;
  }
  static std::atomic<int*> first{nullptr};
  int* none = nullptr;
  first.compare_exchange_strong(none, y);
  if ((name == "first-only" && first != y) ||
      (name == "if-poisoned" && y[n - 1] != static_cast<int>(0xA5A5A5A5))) {
    return;
  }
  ++worked;
  for (int i = 0; i < n; ++i) {
    y[i] = name == "twice" ? 2 * x[i] : x[i];
  }
  if (name == "over") {
    y[n] = 0;
  }
  if (name == "scribble") {
    x[0] = 12345;
  }
  // Times are of a clock: half a microsecond is too short for one.
  std::this_thread::sleep_for(std::chrono::microseconds(name == "twice" ? 400 : 200));
}

void Support(const std::string& name, void* const* values) {
  const auto* v = reinterpret_cast<const uint64_t*>(values);
  is_sampled = name == "optiml_wait";
  has_run = false;
  if (name == "optiml_wait") {
    const auto begin = std::chrono::steady_clock::now();
    while (__atomic_load_n(reinterpret_cast<uint32_t*>(v[0]), __ATOMIC_SEQ_CST) == 0 &&
           std::chrono::steady_clock::now() - begin < std::chrono::nanoseconds(v[1])) {
      std::this_thread::yield();
    }
    return;
  }
  if (name == "optiml_differ") {
    const auto* a = reinterpret_cast<const uint8_t*>(v[0]);
    const auto* b = reinterpret_cast<const uint8_t*>(v[1]);
    for (uint64_t i = 0; i < v[2]; ++i) {
      *reinterpret_cast<uint32_t*>(v[3]) += a[i] != b[i] ? 1 : 0;
    }
    return;
  }
  if (name == "optiml_digest") {
    // Another sum than the real one: it is compared with itself alone.
    const auto* a = reinterpret_cast<const uint8_t*>(v[0]);
    auto* result = reinterpret_cast<uint64_t*>(v[4]);
    for (uint64_t i = 0; i < v[1]; ++i) {
      result[0] += (a[i] + v[2]) * (i + 1) * 0x9e3779b97f4a7c15;
      result[1] += (a[i] + v[3]) * (i + 3) * 0xbf58476d1ce4e5b9;
    }
    return;
  }
  if (name == "optiml_count_other") {
    const auto* a = reinterpret_cast<const uint8_t*>(v[0]);
    for (uint64_t i = 0; i < v[1]; ++i) {
      *reinterpret_cast<uint32_t*>(v[3]) += a[i] != static_cast<uint8_t>(v[2]) ? 1 : 0;
    }
  }
}

int Enqueue(std::function<void()> work) {
  if (context_error != kSuccess) {
    return context_error;
  }
  TheStream().Push(std::move(work));
  return kSuccess;
}

int ArgumentCount(const std::string& support) {
  return support == "optiml_wait"     ? 2
         : support == "optiml_read"   ? 3
         : support == "optiml_digest" ? 5
                                      : 4;
}

struct Event {
  std::atomic<int64_t> ns{0};
};

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

// For fake_cupti.cpp: kernels that were launched, and those of them that did something.
FAKE uint64_t FakeLaunches() {
  return launches;
}
FAKE uint64_t FakeWorked() {
  return worked;
}
FAKE int cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> kNames = {
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kDeviceUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {kSystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
  const auto found = kNames.find(code);
  *name = found != kNames.end() ? found->second : "CUDA_ERROR_OF_THE_FAKE";
  return kSuccess;
}
FAKE int cuGetErrorString(int, const char** text) {
  *text = "as the test asked for";
  return kSuccess;
}
FAKE int cuInit(unsigned) {
  return Asked("hidden") ? kNoDevice : Asked("mismatch") ? kSystemDriverMismatch : kSuccess;
}
FAKE int cuDriverGetVersion(int* version) {
  *version = Asked("old") || Asked("old-image") ? 12040 : 13000;
  return kSuccess;
}
FAKE int cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  for (int i = 0; i < 16; ++i) {
    bytes[i] = static_cast<unsigned char>(16 * device + i);
  }
  return kSuccess;
}
FAKE int cuDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<size_t>(size), "0000:%02X:00.0", 0x3b + device);
  return kSuccess;
}
FAKE int cuDeviceGetCount(int* count) {
  *count = Asked("no-device") ? 0 : 2;
  return kSuccess;
}
FAKE int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < 2 ? kSuccess : kNoDevice;
}
FAKE int cuDeviceGetName(char* name, int size, int device) {
  std::strncpy(name, device == 0 ? "Fake 9000" : "Fake 8000", static_cast<size_t>(size));
  return kSuccess;
}
FAKE int cuDeviceGetAttribute(int* value, int attribute, int device) {
  static const std::map<int, int> kValues = {
      {16, 4}, {13, 1'000'000}, {36, 1'000'000}, {37, 512},   {38, 65536}, {39, 2048},
      {75, 9}, {76, 0},         {81, 233472},    {82, 65536}, {97, 232448}};
  static const std::map<int, int> kOfASlice = {{16, 1}, {38, 8192}};
  *value = device == 1 && attribute == 75 ? 8 : kValues.at(attribute);
  if (Asked("slice") && kOfASlice.count(attribute) != 0) {
    *value = kOfASlice.at(attribute);
  }
  return kSuccess;
}
FAKE int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = context;
  return Asked("no-context") ? kOutOfMemory : IsLost() ? kDeviceUnavailable : kSuccess;
}
FAKE int cuCtxSetCurrent(void*) {
  return kSuccess;
}
FAKE int cuCtxResetPersistingL2Cache() {
  return context_error;
}
FAKE int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  *total = MemoryBytes();
  *free_bytes = MemoryBytes() - allocated;
  return kSuccess;
}
FAKE int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  if (bytes > MemoryBytes() - allocated || (Asked("taken") && bytes > 4096)) {
    return kOutOfMemory;
  }
  *pointer = reinterpret_cast<uint64_t>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  allocated += bytes;
  const std::lock_guard lock(sizes_mutex);
  sizes[*pointer] = bytes;
  return kSuccess;
}
FAKE int cuMemFree_v2(uint64_t pointer) {
  const std::lock_guard lock(sizes_mutex);
  allocated -= sizes[pointer];
  std::free(reinterpret_cast<void*>(pointer));
  return kSuccess;
}
FAKE int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  *pointer = std::aligned_alloc(4096, bytes);
  return kSuccess;
}
FAKE int cuMemHostGetDevicePointer_v2(uint64_t* device, void* host, unsigned) {
  *device = reinterpret_cast<uint64_t>(host);
  return kSuccess;
}
FAKE int cuMemHostRegister_v2(void*, size_t, unsigned) {
  return kSuccess;
}
FAKE int cuMemHostUnregister(void*) {
  return kSuccess;
}
FAKE int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  return Enqueue([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
}
FAKE int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  return Enqueue([=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
}
FAKE int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  return Enqueue(
      [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
}
FAKE int cuMemsetD8Async(uint64_t to, uint8_t value, size_t bytes, void*) {
  return Enqueue([=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
}
FAKE int cuModuleLoadData(void** module, const void* image) {
  const std::string text = static_cast<const char*>(image);
  if ((Asked("old") || Asked("old-image")) && text.find("optiml_") == std::string::npos) {
    return Asked("old") ? kUnsupportedPtxVersion : kInvalidImage;
  }
  *module = new Module{text, {}};
  return kSuccess;
}
FAKE int cuModuleUnload(void* module) {
  while (!TheStream().is_idle()) {  // as the real one
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  delete static_cast<Module*>(module);
  return kSuccess;
}
FAKE int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (static_cast<Module*>(module)->text.find(name) == std::string::npos) {
    return kNotFound;
  }
  *function = new Function{name};
  return kSuccess;
}
FAKE int cuModuleGetGlobal_v2(uint64_t*, size_t*, void*, const char*) {
  return kNotFound;
}
FAKE int cuFuncSetAttribute(void*, int, int) {
  return kSuccess;
}
FAKE int cuLaunchKernelEx(const Config*, void* function, void** arguments, void**) {
  const std::string name = static_cast<Function*>(function)->name;
  if (name == "refuse") {
    return kInvalidValue;
  }
  ++launches;
  if (name.starts_with("optiml_")) {
    std::vector<void*> values;
    for (int i = 0; i < ArgumentCount(name); ++i) {
      const bool narrow = name == "optiml_count_other" && i == 2;
      values.push_back(reinterpret_cast<void*>(narrow ? Argument<uint32_t>(arguments, i)
                                                      : Argument<uint64_t>(arguments, i)));
    }
    return Enqueue([=] {
      Support(name, values.data());
      ++worked;
    });
  }
  auto* x = Argument<int*>(arguments, 0);
  auto* y = Argument<int*>(arguments, 1);
  const int n = Argument<int>(arguments, 2);
  return Enqueue([=] { Candidate(name, x, y, n); });
}
FAKE int cuStreamCreate(void** stream, unsigned) {
  *stream = &TheStream();
  return kSuccess;
}
FAKE int cuStreamQuery(void*) {
  if (context_error != kSuccess) {
    return context_error;
  }
  return TheStream().is_idle() ? static_cast<int>(context_error) : kNotReady;
}
FAKE int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return kSuccess;
}
FAKE int cuEventRecord(void* event, void*) {
  return Enqueue([=] {
    is_sampled = is_sampled && !has_run;
    static_cast<Event*>(event)->ns = std::chrono::steady_clock::now().time_since_epoch().count();
  });
}
FAKE int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(
      static_cast<double>(static_cast<Event*>(end)->ns - static_cast<Event*>(begin)->ns) * 1e-6);
  return kSuccess;
}
