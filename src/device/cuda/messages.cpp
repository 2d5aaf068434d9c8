#include "device/cuda/messages.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <type_traits>
#include <utility>

namespace optiml::cuda {
namespace {

// One function for each struct says its fields, for both directions.
class Writer {
 public:
  template <typename T>
  void Plain(T& value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof(T));
  }
  size_t Count(size_t count) {
    auto wide = static_cast<uint64_t>(count);
    Plain(wide);
    return count;
  }
  void Raw(std::byte* data, size_t size) { bytes_.insert(bytes_.end(), data, data + size); }
  std::vector<std::byte> Take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <typename T>
  void Plain(T& value) {
    if (Has(sizeof(T))) {
      std::memcpy(&value, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    }
  }
  size_t Count(size_t) {
    uint64_t count = 0;
    Plain(count);
    return Has(count) ? count : 0;  // an element has a byte at the least
  }
  void Raw(std::byte* data, size_t size) {
    if (size > 0 && Has(size)) {
      std::memcpy(data, bytes_.data() + at_, size);
      at_ += size;
    }
  }
  bool is_whole() const { return !failed_ && at_ == bytes_.size(); }

 private:
  bool Has(uint64_t count) {
    failed_ |= count > bytes_.size() - at_;
    return !failed_;
  }

  const std::vector<std::byte>& bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

template <typename A, typename T>
void Visit(A& a, T& value);

template <typename A>
void Fields(A& a, std::string& text) {
  text.resize(a.Count(text.size()));
  a.Raw(reinterpret_cast<std::byte*>(text.data()), text.size());
}

template <typename A>
void Fields(A& a, std::vector<std::byte>& bytes) {
  bytes.resize(a.Count(bytes.size()));
  a.Raw(bytes.data(), bytes.size());
}

template <typename A, typename T>
void Fields(A& a, std::vector<T>& values) {
  values.resize(a.Count(values.size()));
  for (T& value : values) {
    Visit(a, value);
  }
}

// Alternatives are told apart by their index.
template <typename A, typename... T>
void Fields(A& a, std::variant<T...>& value) {
  auto index = static_cast<uint64_t>(value.index());
  a.Plain(index);
  uint64_t i = 0;
  const auto one = [&]<typename U>(std::type_identity<U>) {
    if (i++ == index) {
      if (!std::holds_alternative<U>(value)) {
        value = U{};
      }
      Visit(a, std::get<U>(value));
    }
  };
  (one(std::type_identity<T>()), ...);
}

template <typename A>
void Fields(A& a, DevicePointer& v) {
  a.Plain(v.buffer);
  a.Plain(v.offset_bytes);
}

template <typename A>
void Fields(A& a, Dim3& v) {
  a.Plain(v.x);
  a.Plain(v.y);
  a.Plain(v.z);
}

template <typename A>
void Fields(A& a, PlanBuffer& v) {
  Visit(a, v.name);
  a.Plain(v.argument);
  a.Plain(v.size_bytes);
  a.Plain(v.line);
  Visit(a, v.symbol);
}

template <typename A>
void Fields(A& a, TensorMapArgument& v) {
  Visit(a, v.tensor);
  a.Plain(v.data_type);
  Visit(a, v.dimensions);
  Visit(a, v.strides_bytes);
  Visit(a, v.box);
  Visit(a, v.element_strides);
  a.Plain(v.interleave);
  a.Plain(v.swizzle);
  a.Plain(v.promotion);
  a.Plain(v.fill);
}

template <typename A>
void Fields(A& a, StructArgument::Pointer& v) {
  a.Plain(v.position);
  Visit(a, v.value);
}

template <typename A>
void Fields(A& a, StructArgument& v) {
  Visit(a, v.bytes);
  Visit(a, v.pointers);
}

template <typename A>
void Fields(A& a, KernelLaunch& v) {
  Visit(a, v.kernel);
  Visit(a, v.grid);
  Visit(a, v.block);
  Visit(a, v.cluster);
  a.Plain(v.dynamic_shared_bytes);
  a.Plain(v.cooperative);
  Visit(a, v.arguments);
  a.Plain(v.line);
}

template <typename A>
void Fields(A& a, MemsetStep& v) {
  Visit(a, v.destination);
  a.Plain(v.value);
  a.Plain(v.size_bytes);
  a.Plain(v.line);
}

template <typename A>
void Fields(A& a, CopyStep& v) {
  Visit(a, v.destination);
  Visit(a, v.source);
  a.Plain(v.size_bytes);
  a.Plain(v.line);
}

template <typename A>
void Fields(A& a, UploadStep& v) {
  Visit(a, v.destination);
  Visit(a, v.bytes);
  a.Plain(v.line);
}

template <typename A>
void Fields(A& a, AttributeStep& v) {
  Visit(a, v.kernel);
  Visit(a, v.attribute);
  a.Plain(v.value);
  a.Plain(v.line);
}

template <typename A>
void Fields(A& a, LaunchPlan& v) {
  Visit(a, v.buffers);
  Visit(a, v.steps);
  a.Plain(v.maker);
}

template <typename A>
void Fields(A& a, Finding& v) {
  Visit(a, v.kind);
  Visit(a, v.kernel);
  Visit(a, v.detail);
  a.Plain(v.line);
}

template <typename A>
void Fields(A& a, Job::Kernel& v) {
  Visit(a, v.name_expression);
  Visit(a, v.lowered_name);
}

template <typename A>
void Fields(A& a, Job& v) {
  Visit(a, v.cubin);
  Visit(a, v.toolchain);
  Visit(a, v.kernels);
  Visit(a, v.plan);
}

template <typename A>
void Fields(A& a, Contents& v) {
  a.Plain(v.arena_offset);
  a.Plain(v.poison);
  a.Plain(v.is_read_only);
}

template <typename A>
void Fields(A& a, Pass& v) {
  Visit(a, v.before);
  Visit(a, v.after);
  Visit(a, v.after_other);
}

template <typename A>
void Fields(A& a, Phase& v) {
  Visit(a, v.name);
  a.Plain(v.seconds);
}

template <typename A>
void Fields(A& a, HelloRequest& v) {
  a.Plain(v.ordinal);
  Visit(a, v.cupti_libraries);
}

template <typename A>
void Fields(A& a, CounterFacts& v) {
  Visit(a, v.problem);
  a.Plain(v.is_permission);
  Visit(a, v.library);
  a.Plain(v.passes);
  Visit(a, v.metrics);
  Visit(a, v.unknown);
}

template <typename A>
void Fields(A& a, HelloReply& v) {
  Visit(a, v.problem);
  Visit(a, v.name);
  a.Plain(v.compute_capability);
  a.Plain(v.multiprocessors);
  a.Plain(v.threads_per_multiprocessor);
  a.Plain(v.registers_per_multiprocessor);
  a.Plain(v.shared_bytes_per_multiprocessor);
  a.Plain(v.shared_bytes_per_block);
  a.Plain(v.l2_bytes);
  a.Plain(v.clock_hz);
  a.Plain(v.dram_bytes_per_s);
  a.Plain(v.driver_version);
  Visit(a, v.uuid);
  Visit(a, v.pci_bus_id);
  Visit(a, v.phases);
  Visit(a, v.counters);
}

template <typename A>
void Fields(A& a, RunMessage& v) {
  a.Plain(v.arena_bytes);
  a.Plain(v.time_limit_ms);
  Visit(a, v.job);
  Visit(a, v.passes);
}

template <typename A>
void Fields(A& a, RunReply& v) {
  a.Plain(v.status);
  Visit(a, v.reason);
  Visit(a, v.findings);
  a.Plain(v.is_worker_lost);
  Visit(a, v.broken);
}

template <typename A>
void Fields(A& a, TimingPolicy& v) {
  a.Plain(v.rotation_bytes);
  a.Plain(v.most_copies);
  a.Plain(v.batch_s);
  a.Plain(v.total_s);
  a.Plain(v.least_samples);
  a.Plain(v.most_samples);
  a.Plain(v.gain_factor);
}

template <typename A>
void Fields(A& a, DigestKey& v) {
  a.Plain(v.low);
  a.Plain(v.high);
}

template <typename A>
void Fields(A& a, OutputsDigest& v) {
  a.Plain(v.low);
  a.Plain(v.high);
}

template <typename A>
void Fields(A& a, OutputsQuestion& v) {
  a.Plain(v.set);
  Visit(a, v.first);
  a.Plain(v.has_other);
  Visit(a, v.other);
}

template <typename A>
void Fields(A& a, OutputsAnswer& v) {
  a.Plain(v.first);
  a.Plain(v.other);
}

template <typename A>
void Fields(A& a, TimeMessage& v) {
  a.Plain(v.arena_bytes);
  a.Plain(v.time_limit_ms);
  Visit(a, v.jobs);
  Visit(a, v.sets);
  Visit(a, v.policy);
  bool has_key = v.key.has_value();
  a.Plain(has_key);
  if (has_key) {
    Visit(a, v.key ? *v.key : v.key.emplace());
  }
}

template <typename A>
void Fields(A& a, JobTimes& v) {
  Visit(a, v.samples_s);
  a.Plain(v.copies);
  a.Plain(v.batch);
  Visit(a, v.differing_copies);
}

template <typename A>
void Fields(A& a, TimeReply& v) {
  a.Plain(v.status);
  Visit(a, v.reason);
  a.Plain(v.failing_job);
  Visit(a, v.findings);
  Visit(a, v.jobs);
  Visit(a, v.phases);
  a.Plain(v.is_worker_lost);
  Visit(a, v.broken);
}

template <typename A>
void Fields(A& a, CountMessage& v) {
  a.Plain(v.arena_bytes);
  a.Plain(v.time_limit_ms);
  Visit(a, v.job);
  Visit(a, v.pass);
  a.Plain(v.flush_bytes);
}

template <typename A>
void Fields(A& a, CountReply& v) {
  a.Plain(v.status);
  Visit(a, v.reason);
  Visit(a, v.ranges);
  a.Plain(v.passes);
  a.Plain(v.is_worker_lost);
  Visit(a, v.broken);
}

template <typename A, typename T>
void Visit(A& a, T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    a.Plain(value);
  } else {
    Fields(a, value);
  }
}

template <typename T>
std::vector<std::byte> EncodeOne(const T& message) {
  Writer writer;
  // The writer changes nothing: counts are what they were.
  Visit(writer, const_cast<T&>(message));
  return writer.Take();
}

template <typename T>
Result<T> DecodeOne(const std::vector<std::byte>& bytes) {
  Reader reader(bytes);
  T message;
  Visit(reader, message);
  if (!reader.is_whole()) {
    return Error(ErrorCode::kInternal, "the GPU worker's message is cut or too long");
  }
  return message;
}

struct Header {
  MessageKind kind;
  uint32_t padding;
  uint64_t size;
};

using SteadyClock = std::chrono::steady_clock;

// Milliseconds that are left; -1: for ever.
int Left(int64_t milliseconds, SteadyClock::time_point begin) {
  if (milliseconds < 0) {
    return -1;
  }
  const auto gone =
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin).count();
  return static_cast<int>(std::max<int64_t>(0, milliseconds - gone));
}

Received ReadAll(int socket, void* into, size_t size, int64_t milliseconds,
                 SteadyClock::time_point begin) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    pollfd one{socket, POLLIN, 0};
    const int ready = poll(&one, 1, Left(milliseconds, begin));
    if (ready == 0) {
      return Received::kTimedOut;
    }
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    const ssize_t n = recv(socket, at, size, 0);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return Received::kClosed;
    }
    if (n > 0) {
      at += n;
      size -= static_cast<size_t>(n);
    }
  }
  return Received::kMessage;
}

Result<void> WriteAll(int socket, const void* from, size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = send(socket, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) {
      return Error(ErrorCode::kIo, std::string("the GPU worker is gone: ") + std::strerror(errno));
    }
    if (n > 0) {
      at += n;
      size -= static_cast<size_t>(n);
    }
  }
  return {};
}

}  // namespace

std::vector<std::byte> Encode(const HelloRequest& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const HelloReply& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const RunMessage& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const RunReply& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const TimeMessage& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const TimeReply& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const CountMessage& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const CountReply& message) {
  return EncodeOne(message);
}

std::vector<std::byte> Encode(const OutputsQuestion& message) {
  return EncodeOne(message);
}
std::vector<std::byte> Encode(const OutputsAnswer& message) {
  return EncodeOne(message);
}

Result<HelloRequest> DecodeHelloRequest(const std::vector<std::byte>& bytes) {
  return DecodeOne<HelloRequest>(bytes);
}
Result<HelloReply> DecodeHelloReply(const std::vector<std::byte>& bytes) {
  return DecodeOne<HelloReply>(bytes);
}
Result<RunMessage> DecodeRunMessage(const std::vector<std::byte>& bytes) {
  return DecodeOne<RunMessage>(bytes);
}
Result<RunReply> DecodeRunReply(const std::vector<std::byte>& bytes) {
  return DecodeOne<RunReply>(bytes);
}
Result<TimeMessage> DecodeTimeMessage(const std::vector<std::byte>& bytes) {
  return DecodeOne<TimeMessage>(bytes);
}
Result<TimeReply> DecodeTimeReply(const std::vector<std::byte>& bytes) {
  return DecodeOne<TimeReply>(bytes);
}
Result<OutputsQuestion> DecodeOutputsQuestion(const std::vector<std::byte>& bytes) {
  return DecodeOne<OutputsQuestion>(bytes);
}
Result<OutputsAnswer> DecodeOutputsAnswer(const std::vector<std::byte>& bytes) {
  return DecodeOne<OutputsAnswer>(bytes);
}
Result<CountMessage> DecodeCountMessage(const std::vector<std::byte>& bytes) {
  return DecodeOne<CountMessage>(bytes);
}
Result<CountReply> DecodeCountReply(const std::vector<std::byte>& bytes) {
  return DecodeOne<CountReply>(bytes);
}

Result<void> Send(int socket, MessageKind kind, const std::vector<std::byte>& bytes) {
  const Header header{kind, 0, bytes.size()};
  OPTIML_TRY(WriteAll(socket, &header, sizeof(header)));
  return WriteAll(socket, bytes.data(), bytes.size());
}

Received Receive(int socket, int64_t milliseconds, Message& message) {
  const auto begin = SteadyClock::now();
  Header header{};
  if (const Received got = ReadAll(socket, &header, sizeof(header), milliseconds, begin);
      got != Received::kMessage) {
    return got;
  }
  constexpr uint64_t kMostBytes = uint64_t{1}
                                  << 32;  // plans with uploads; contents do not come here
  if (header.size > kMostBytes) {
    return Received::kClosed;  // no message of ours
  }
  message.kind = header.kind;
  message.bytes.resize(header.size);
  return ReadAll(socket, message.bytes.data(), message.bytes.size(), milliseconds, begin);
}

}  // namespace optiml::cuda
