#ifndef OPTIML_DEVICE_CUDA_MESSAGES_H_
#define OPTIML_DEVICE_CUDA_MESSAGES_H_

// What a CUDA device and its worker process say to each other (worker.h), as bytes over a socket.
// Contents of buffers do not travel there: they lie in memory that both share (the arena), and
// messages name their offsets. Both ends are the same program, so there are no versions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/launch_plan.h"
#include "device/device.h"

namespace optiml::cuda {

// What a plan's buffer names that is a variable which the module does not have: no kernel uses it,
// and nobody can see what is copied there.
inline constexpr char kNoVariable[] = "?";

// A candidate as the worker gets it. Symbols of the plan's buffers are the module's own names.
struct Job {
  struct Kernel {
    std::string name_expression;
    std::string lowered_name;
  };
  std::vector<std::byte> cubin;
  std::string toolchain;  // that made it: "NVRTC 13.0"
  std::vector<Kernel> kernels;
  LaunchPlan plan;
};

// What an argument's buffer holds before a pass.
struct Contents {
  int64_t arena_offset = -1;  // of as many bytes as the buffer has; -1: poison
  uint8_t poison = 0;
  bool is_read_only = false;
  bool operator==(const Contents&) const = default;
};

// One pass, by buffer argument in the plan's order; and where what they hold afterwards goes.
struct Pass {
  std::vector<Contents> before;
  std::vector<int64_t> after;  // arena offsets; -1: not wanted
  // When timed: where those of another copy go, one of those that differ from the first; empty: not
  // wanted.
  std::vector<int64_t> after_other;
};

// Where the seconds of an exchange went.
using Phase = DeviceUse::Phase;

struct HelloRequest {
  int ordinal = 0;
  // Where CUPTI may be. Not empty: this worker counts, and never times (counters.h).
  std::vector<std::string> cupti_libraries;
};

// What a worker found that counts.
struct CounterFacts {
  std::string problem;         // not empty: it cannot count, and why
  bool is_permission = false;  // the problem is that nobody allowed it
  std::string library;
  int passes = 0;                    // executions that all metrics take
  std::vector<std::string> metrics;  // by the profiler's names
  std::vector<std::string> unknown;  // that were asked for, and that this GPU does not have
};

struct HelloReply {
  std::string problem;  // not empty: there is no device, and why
  std::string name;
  int compute_capability = 0;  // 90
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  uint64_t registers_per_multiprocessor = 0;
  uint64_t shared_bytes_per_multiprocessor = 0;
  uint64_t shared_bytes_per_block = 0;  // opt-in
  uint64_t l2_bytes = 0;
  double clock_hz = 0;
  double dram_bytes_per_s = 0;  // pin
  int driver_version = 0;       // the CUDA version that the driver is for: 13000 is 13.0
  std::string uuid;             // "01234567-89ab-..."; empty: not known
  std::string pci_bus_id;       // "0000:3B:00.0"; empty: not known
  std::vector<Phase> phases;    // of opening it
  CounterFacts counters;        // of a worker that counts
};

struct RunMessage {
  uint64_t arena_bytes = 0;
  uint64_t time_limit_ms = 0;  // of one execution
  Job job;
  std::vector<Pass> passes;  // `after` of the last one counts
};

struct RunReply {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;
  std::vector<Finding> findings;
  bool is_worker_lost = false;  // the context is gone: this was its last answer
  std::string broken;           // not empty: it is not the candidate's fault
};

// How plans are timed; see execute.h for what the words mean.
struct TimingPolicy {
  uint64_t rotation_bytes = 0;  // of other memory, read before each sample; of the copies at least
  int most_copies = 64;
  // Executions are timed together until they take this long: an event is exact to half a
  // microsecond, and what earlier ones left in L2 to be written back is in each but the first.
  double batch_s = 300e-6;
  double total_s = 0.1;  // of all samples of one job, when they are short
  int least_samples = 11;
  int most_samples = 101;
  double gain_factor = 3;  // so many times as long, where two jobs are timed in turn
};

// The key of digests: numbers of the parent's, new for each process.
struct DigestKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

// Asked by a worker in the course of kTime, after the samples of a set: which outputs are to go to
// the arena.
struct OutputsQuestion {
  int set = 0;
  OutputsDigest first;  // of the first copy
  bool has_other = false;
  OutputsDigest other;  // of one that differs from it
};
struct OutputsAnswer {
  bool first = true;
  bool other = true;
};

struct TimeMessage {
  uint64_t arena_bytes = 0;
  uint64_t time_limit_ms = 0;
  // One, or two that are measured in turn.
  std::vector<Job> jobs;
  // By job, then by set of contents: each set is poured into every copy, run and timed; outputs of
  // the first copy go to `after`.
  std::vector<std::vector<Pass>> sets;
  TimingPolicy policy;
  std::optional<DigestKey> key;  // there: the first job's outputs are asked about
};

struct JobTimes {
  std::vector<double> samples_s;  // of one execution of the plan, by set one after the other
  int copies = 0;
  int batch = 1;  // executions that one sample is the mean of
  // By set: copies whose written buffers are not bit for bit those of the first.
  std::vector<int> differing_copies;
};

struct TimeReply {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;
  int failing_job = 0;
  std::vector<Finding> findings;
  std::vector<JobTimes> jobs;
  std::vector<Phase> phases;
  bool is_worker_lost = false;
  std::string broken;
};

struct CountMessage {
  uint64_t arena_bytes = 0;
  uint64_t time_limit_ms = 0;  // of one execution
  Job job;
  Pass pass;
  uint64_t flush_bytes = 0;  // of other memory, read before each execution
};

struct CountReply {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;
  // One a launch of the plan; or one alone, of the whole plan, where this CUPTI does not count
  // launches apart. Values by CounterFacts::metrics; not finite: not counted.
  std::vector<std::vector<double>> ranges;
  int passes = 0;
  bool is_worker_lost = false;
  std::string broken;
};

enum class MessageKind : uint32_t { kHello = 1, kRun = 2, kTime = 3, kOutputs = 4, kCount = 5 };

std::vector<std::byte> Encode(const HelloRequest& message);
std::vector<std::byte> Encode(const HelloReply& message);
std::vector<std::byte> Encode(const RunMessage& message);
std::vector<std::byte> Encode(const RunReply& message);
std::vector<std::byte> Encode(const TimeMessage& message);
std::vector<std::byte> Encode(const TimeReply& message);
std::vector<std::byte> Encode(const OutputsQuestion& message);
std::vector<std::byte> Encode(const OutputsAnswer& message);
std::vector<std::byte> Encode(const CountMessage& message);
std::vector<std::byte> Encode(const CountReply& message);

// Each fails with kInternal when the bytes are not such a message.
Result<HelloRequest> DecodeHelloRequest(const std::vector<std::byte>& bytes);
Result<HelloReply> DecodeHelloReply(const std::vector<std::byte>& bytes);
Result<RunMessage> DecodeRunMessage(const std::vector<std::byte>& bytes);
Result<RunReply> DecodeRunReply(const std::vector<std::byte>& bytes);
Result<TimeMessage> DecodeTimeMessage(const std::vector<std::byte>& bytes);
Result<TimeReply> DecodeTimeReply(const std::vector<std::byte>& bytes);
Result<OutputsQuestion> DecodeOutputsQuestion(const std::vector<std::byte>& bytes);
Result<OutputsAnswer> DecodeOutputsAnswer(const std::vector<std::byte>& bytes);
Result<CountMessage> DecodeCountMessage(const std::vector<std::byte>& bytes);
Result<CountReply> DecodeCountReply(const std::vector<std::byte>& bytes);

// A message on the socket: its kind, its size, its bytes. Sending fails with kIo when the other end
// is gone. Receiving gives nothing when it is gone, or when nothing came until the deadline.
struct Message {
  MessageKind kind = MessageKind::kHello;
  std::vector<std::byte> bytes;
};
Result<void> Send(int socket, MessageKind kind, const std::vector<std::byte>& bytes);
enum class Received { kMessage, kClosed, kTimedOut };
// A deadline of a negative number of milliseconds: none. After kTimedOut a part of a message may
// have been read: the socket is of no use any more.
Received Receive(int socket, int64_t milliseconds, Message& message);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_MESSAGES_H_
