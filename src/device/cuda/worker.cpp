#include "device/cuda/worker.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "device/cuda/counters.h"
#include "device/cuda/execute.h"

namespace optiml::cuda {
namespace {

// The parent's memory, as large as the latest message says.
class Arena {
 public:
  explicit Arena(int descriptor) : descriptor_(descriptor) {}

  // Null when it cannot be mapped.
  std::byte* Map(uint64_t bytes, Gpu& gpu) {
    if (bytes == bytes_ || bytes == 0) {
      return data_;
    }
    gpu.Pin(nullptr, 0);
    if (data_ != nullptr) {
      munmap(data_, bytes_);
    }
    data_ = nullptr;
    bytes_ = 0;
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (mapped == MAP_FAILED) {
      return nullptr;
    }
    data_ = static_cast<std::byte*>(mapped);
    bytes_ = bytes;
    gpu.Pin(data_, bytes);
    return data_;
  }

 private:
  int descriptor_;
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

class Worker {
 public:
  Worker(int socket, int arena, const std::string& library)
      : socket_(socket), arena_(arena), library_(library) {}

  int Serve() {
    Message message;
    while (Receive(socket_, -1, message) == Received::kMessage) {
      if (!Answer(message)) {
        return 1;
      }
    }
    return 0;
  }

 private:
  // Whether it can go on.
  bool Answer(const Message& message) {
    switch (message.kind) {
      case MessageKind::kHello:
        return Hello(message);
      case MessageKind::kRun: {
        const Result<RunMessage> run = DecodeRunMessage(message.bytes);
        return run && gpu_ != nullptr && Reply(message.kind, Do<RunReply>(*run, RunJob));
      }
      case MessageKind::kTime: {
        const Result<TimeMessage> time = DecodeTimeMessage(message.bytes);
        const auto work = [this](Gpu& gpu, const TimeMessage& request, std::byte* arena) {
          return TimeJobs(gpu, request, arena,
                          [this](const OutputsQuestion& question) { return Ask(question); });
        };
        return time && gpu_ != nullptr && Reply(message.kind, Do<TimeReply>(*time, work));
      }
      case MessageKind::kOutputs:
        break;  // an answer that nobody asked for
      case MessageKind::kCount: {
        const Result<CountMessage> count = DecodeCountMessage(message.bytes);
        return count && profiler_ != nullptr && Reply(message.kind, Count(*count));
      }
    }
    return false;
  }

  std::optional<OutputsAnswer> Ask(const OutputsQuestion& question) {
    Message message;
    if (!Send(socket_, MessageKind::kOutputs, Encode(question)) ||
        Receive(socket_, -1, message) != Received::kMessage ||
        message.kind != MessageKind::kOutputs) {
      return std::nullopt;
    }
    const Result<OutputsAnswer> answer = DecodeOutputsAnswer(message.bytes);
    return answer ? std::optional(*answer) : std::nullopt;
  }

  bool Hello(const Message& message) {
    const Result<HelloRequest> request = DecodeHelloRequest(message.bytes);
    if (!request) {
      return false;
    }
    HelloReply reply;
    // Before the driver, as NVIDIA's tools do: it sees the context being made.
    const bool counts = !request->cupti_libraries.empty();
    const Result<CuptiApi> cupti = counts ? OpenCupti(request->cupti_libraries) : CuptiApi();
    const Result<DriverApi> api = OpenDriver(library_);
    if (!api) {
      reply.problem = api.error().message();
    } else if (auto opened = Gpu::Open(*api, request->ordinal)) {
      gpu_ = *std::move(opened);
      reply = gpu_->facts();
      if (counts) {
        reply.counters = OpenProfiler(cupti, request->ordinal);
      }
    } else {
      reply.problem = opened.error().message();
    }
    return Send(socket_, message.kind, Encode(reply)).has_value();
  }

  CounterFacts OpenProfiler(const Result<CuptiApi>& cupti, int ordinal) {
    CounterFacts facts;
    if (!cupti) {
      facts.problem = cupti.error().message();
      return facts;
    }
    profiler_ = std::make_unique<RangeProfiler>(*cupti, *gpu_);
    facts = profiler_->Open(ordinal);
    return facts;
  }

  CountReply Count(const CountMessage& message) {
    std::byte* arena = arena_.Map(message.arena_bytes, *gpu_);
    if (arena == nullptr && message.arena_bytes > 0) {
      CountReply reply;
      reply.broken = "the shared memory cannot be mapped";
      return reply;
    }
    return CountJob(*gpu_, *profiler_, message, arena);
  }

  template <typename Answered, typename Request, typename Work>
  Answered Do(const Request& request, const Work& work) {
    std::byte* arena = arena_.Map(request.arena_bytes, *gpu_);
    if (arena == nullptr && request.arena_bytes > 0) {
      Answered reply;
      reply.broken = "the shared memory cannot be mapped";
      return reply;
    }
    return work(*gpu_, request, arena);
  }

  template <typename Answered>
  bool Reply(MessageKind kind, const Answered& reply) {
    return Send(socket_, kind, Encode(reply)).has_value() && !reply.is_worker_lost;
  }

  int socket_;
  Arena arena_;
  std::string library_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<RangeProfiler> profiler_;  // of a worker that counts
};

}  // namespace

int RunWorker(int socket, int arena, const std::string& driver_library) {
  const int status = Worker(socket, arena, driver_library).Serve();
  // Without destructors: the driver's own may wait for a kernel that never ends.
  _exit(status);
}

}  // namespace optiml::cuda
