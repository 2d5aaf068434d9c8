#ifndef OPTIML_DEVICE_CUDA_GPU_H_
#define OPTIML_DEVICE_CUDA_GPU_H_

// Gpu: the worker's hold of one GPU: its context, a stream, memory from one pool, kernels of our
// own. Not thread safe; only in a worker process.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cuda/driver_api.h"
#include "device/cuda/messages.h"

namespace optiml::cuda {

using SteadyClock = std::chrono::steady_clock;

// Ends of waiting.
enum class Waited { kDone, kFault, kTimedOut };

class Gpu {
 public:
  // Fails with kUnavailable: no such GPU, no memory for a context, a driver that refuses.
  static Result<std::unique_ptr<Gpu>> Open(const DriverApi& api, int ordinal);

  const DriverApi& api() const { return api_; }
  Handle stream() const { return stream_; }
  Handle context() const { return context_; }
  const HelloReply& facts() const { return facts_; }

  // Memory of the next job: what was there before is given up. Fails with kUnavailable when the GPU
  // has not as much, naming what is free.
  Result<DevicePtr> Reserve(uint64_t bytes);
  // Enqueues: all of the memory that Reserve() gave -> `value`. What earlier candidates computed is
  // gone then.
  int EnqueueClear(uint8_t value);
  // Bytes that Reserve() can give now.
  uint64_t Reservable() const;

  // Waits for all that was enqueued. A fault's code is in last_error().
  Waited Wait(SteadyClock::time_point deadline);
  int last_error() const { return last_error_; }
  // After a fault or at a deadline the context is spoilt, or will not answer: calls that wait for
  // what was enqueued must not be made any more.
  bool is_lost() const { return is_lost_; }

  // Kernels of our own, enqueued. Each returns the driver's code.
  int EnqueueHold();  // holds the stream until Release()
  void Release();
  // Reads so much other memory that nothing of what was touched before is left in L2.
  int EnqueueFlush(uint64_t bytes);
  // Both add to the counter that TakeCount() reads.
  int EnqueueDiffer(DevicePtr a, DevicePtr b, uint64_t bytes);
  int EnqueueCountOther(DevicePtr a, uint64_t bytes, uint8_t value);
  // Adds the digest of `bytes` at `a` under `key` to what TakeDigest() reads.
  int EnqueueDigest(DevicePtr a, uint64_t bytes, const DigestKey& key);
  // As TakeCount().
  std::optional<OutputsDigest> TakeDigest(SteadyClock::time_point deadline);
  // Waits, then reads the counter and sets it to 0. Absent after a fault or the deadline.
  std::optional<uint32_t> TakeCount(SteadyClock::time_point deadline);

  // Host memory that copies need not stage, once for each arena.
  void Pin(void* memory, size_t bytes);

 private:
  explicit Gpu(const DriverApi& api) : api_(api) {}
  // Steps of Open().
  Result<void> Choose(int ordinal, int& device);
  Result<void> MakeContext(int device);
  Result<void> MakeStream();
  // The driver's code with what may be done about it.
  Error NoGpu(const std::string& what, int code) const;
  Result<void> LoadSupport();
  void ReadFacts(int device);
  // Copies what the device holds at counter_ + `offset`, and sets it to 0.
  template <typename T>
  std::optional<T> Take(uint64_t offset, SteadyClock::time_point deadline);
  int Launch(Handle function, uint32_t blocks, uint32_t threads, std::vector<void*> arguments);

  DriverApi api_;
  HelloReply facts_;
  Handle context_ = nullptr;
  Handle stream_ = nullptr;
  Handle wait_ = nullptr;
  Handle read_ = nullptr;
  Handle differ_ = nullptr;
  Handle count_other_ = nullptr;
  Handle digest_ = nullptr;
  uint32_t* host_words_ = nullptr;  // mapped: the flag that Release() sets, and the counter's copy
  DevicePtr flag_ = 0;
  DevicePtr counter_ = 0;
  DevicePtr pool_ = 0;
  uint64_t pool_bytes_ = 0;
  DevicePtr flush_ = 0;
  uint64_t flush_bytes_ = 0;
  void* pinned_ = nullptr;
  int last_error_ = 0;
  bool is_lost_ = false;
};

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_GPU_H_
