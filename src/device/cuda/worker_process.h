#ifndef OPTIML_DEVICE_CUDA_WORKER_PROCESS_H_
#define OPTIML_DEVICE_CUDA_WORKER_PROCESS_H_

// WorkerProcess: the parent's end of a worker (worker.h): starts it, shares memory with it, asks
// it, kills it at a deadline. Not thread safe.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "device/cuda/messages.h"

namespace optiml::cuda {

struct WorkerOptions {
  // Started as PROGRAM ARGUMENTS... SOCKET ARENA LIBRARY, the first two file descriptors.
  std::filesystem::path program = "/proc/self/exe";
  std::vector<std::string> arguments = {"cuda-worker"};
  std::string driver_library = "libcuda.so.1";
  int ordinal = 0;                           // of the driver's GPUs
  std::vector<std::string> cupti_libraries;  // HelloRequest's; empty: a worker that runs and times
  // Added to the few variables that a worker inherits (those of CUDA and the loader): keys never.
  std::map<std::string, std::string> environment;
  const std::atomic<bool>* stop = nullptr;  // borrowed; may be null
};

// How an exchange ended without an answer.
struct Lost {
  bool timed_out = false;
  std::string reason;  // "the worker process ended (signal 11)"
  // By somebody else, with the signal that nothing a kernel does can cause.
  bool was_killed = false;
};

class WorkerProcess {
 public:
  explicit WorkerProcess(WorkerOptions options) : options_(std::move(options)) {}
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Starts one if there is none. Fails with kUnavailable when there is no GPU to be had.
  Result<HelloReply> Start();
  bool is_running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

  // Memory that both see, at least so large; contents survive growth. Fails with kUnavailable.
  Result<std::byte*> Arena(uint64_t bytes);
  uint64_t arena_bytes() const { return arena_bytes_; }

  // One exchange. No answer within the limit: the worker is killed. Fails with kInterrupted when
  // asked to stop; the worker is killed then, too. `answer`: for what the worker asks meanwhile
  // (kOutputs); the bytes go back to it.
  using AnswerWorker = std::function<std::vector<std::byte>(const Message&)>;
  Result<std::variant<Message, Lost>> Ask(MessageKind kind, const std::vector<std::byte>& request,
                                          std::chrono::milliseconds limit,
                                          const AnswerWorker& answer = {});

  // Ends it, at once.
  void Kill();

 private:
  Result<void> Spawn();
  Lost Ending();  // how it ended; waits for that

  WorkerOptions options_;
  pid_t pid_ = -1;
  int socket_ = -1;
  int arena_ = -1;
  std::byte* arena_data_ = nullptr;
  uint64_t arena_bytes_ = 0;
};

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_WORKER_PROCESS_H_
