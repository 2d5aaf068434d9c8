#include "device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/huge_pages.h"
#include "base/parallel.h"
#include "device/cuda/counted_file.h"
#include "device/sample_statistics.h"
#include "device/symbol_names.h"

namespace optiml {
namespace {

using cuda::Contents;
using cuda::Job;
using cuda::Lost;
using cuda::Message;
using cuda::MessageKind;
using cuda::OutputsAnswer;
using cuda::Pass;
using Milliseconds = std::chrono::milliseconds;

// Of a whole exchange, in time limits of one execution: the worker ends what hangs by itself, this
// is for a worker that does not.
constexpr int kMostLimits = 30;
constexpr uint64_t kAlignment = 4096;

// Variables by the module's own names.
Result<void> NameVariables(const Artifact& artifact, ModuleCache& modules, LaunchPlan& plan) {
  for (PlanBuffer& buffer : plan.buffers) {
    if (!buffer.symbol.empty()) {
      OPTIML_ASSIGN(const auto module, modules.Get(artifact));
      const std::string name = VariableName(*module, buffer.symbol);
      buffer.symbol = name.empty() ? cuda::kNoVariable : name;
    }
  }
  return {};
}

Result<Job> JobOf(const RunRequest& request, ModuleCache& modules) {
  Job job;
  job.cubin = request.artifact->cubin;
  job.toolchain = request.artifact->toolchain;
  for (const KernelResources& kernel : request.artifact->kernels) {
    job.kernels.push_back({kernel.name_expression, kernel.lowered_name});
  }
  job.plan = *request.plan;
  OPTIML_TRY(NameVariables(*request.artifact, modules, job.plan));
  return job;
}

// Sizes of the argument buffers, in the plan's order.
std::vector<uint64_t> ArgumentSizes(const LaunchPlan& plan) {
  std::vector<uint64_t> sizes;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument >= 0) {
      sizes.push_back(buffer.size_bytes);
    }
  }
  return sizes;
}

Result<void> CheckRequest(const RunRequest& request) {
  OPTIML_CHECK(request.artifact != nullptr && request.plan != nullptr,
               "a request has an artifact and a plan");
  if (request.artifact->cubin.empty()) {
    return Error(ErrorCode::kInternal, "the artifact has no cubin");
  }
  const std::vector<uint64_t> sizes = ArgumentSizes(*request.plan);
  const auto check = [&](const std::vector<BufferContents>& buffers) -> Result<void> {
    if (buffers.size() != sizes.size()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} buffers were given, the plan has {} argument buffers",
                               buffers.size(), sizes.size()));
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!buffers[i].bytes.empty() && buffers[i].bytes.size() != sizes[i]) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("argument buffer {} has {} bytes, the plan says {}", i,
                                 buffers[i].bytes.size(), sizes[i]));
      }
    }
    return {};
  };
  OPTIML_TRY(check(request.buffers));
  for (const PlanPass& pass : request.more_passes) {
    OPTIML_TRY(check(pass.buffers));
  }
  return {};
}

std::vector<std::vector<std::byte>> Results(const std::vector<int64_t>& offsets,
                                            const std::vector<uint64_t>& sizes,
                                            const std::byte* arena) {
  std::vector<std::vector<std::byte>> results;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::byte>& one = results.emplace_back();
    if (offsets[i] >= 0) {
      one.reserve(sizes[i]);
      PreferHugePages(one.data(), sizes[i]);
      one.resize(sizes[i]);
      CopyBytes(one.data(), arena + offsets[i], sizes[i]);
    }
  }
  return results;
}

std::string SentenceOf(const Finding& finding) {
  return finding.kernel.empty() ? finding.detail : finding.kernel + ": " + finding.detail;
}

template <typename Outcome>
void Tell(const Lost& lost, Outcome& outcome) {
  outcome.status = lost.timed_out ? RunStatus::kTimedOut : RunStatus::kFault;
  outcome.reason = lost.reason;
}

Timing TimingOf(const cuda::JobTimes& times) {
  Timing timing;
  timing.kind = TimingKind::kMeasured;
  timing.samples_s = times.samples_s;
  const Interval interval = MedianInterval(times.samples_s);
  timing.median_s = interval.median;
  timing.low_s = interval.low;
  timing.high_s = interval.high;
  timing.clock =
      fmt::format("CUDA events, L2 flushed by reading, {} copies of the buffers", times.copies);
  if (times.batch > 1) {
    timing.clock += fmt::format(", mean of {} executions", times.batch);
  }
  return timing;
}

void AddTimes(const cuda::TimeReply& reply, TimeOutcome& outcome) {
  outcome.timing = TimingOf(reply.jobs.front());
  if (reply.jobs.size() > 1) {
    outcome.gain = GainOf(reply.jobs[0].samples_s, reply.jobs[1].samples_s);
  }
}

// Which outputs are to be brought, by their digests; both are noted by set.
OutputsAnswer AnswerAbout(const RunRequest& request, const Message& asked,
                          std::vector<OutputsAnswer>& brought, TimeOutcome& outcome) {
  const auto question = cuda::DecodeOutputsQuestion(asked.bytes);
  OutputsAnswer answer;
  if (!question || static_cast<size_t>(question->set) >= brought.size()) {
    return answer;
  }
  const auto set = static_cast<size_t>(question->set);
  outcome.digests[set] = question->first;
  outcome.other_digests[set].reset();  // of an attempt whose worker was killed
  answer.first = !request.knows_outputs(set, question->first);
  if (question->has_other) {
    outcome.other_digests[set] = question->other;
    answer.other = !request.knows_outputs(set, question->other);
  }
  brought[set] = answer;
  return answer;
}

// What the buffers held after each set, of the first copy and of one that differs from it.
void AddOutputs(const std::vector<Pass>& sets, const cuda::JobTimes& times,
                const std::vector<OutputsAnswer>& brought, const std::vector<uint64_t>& sizes,
                const std::byte* arena, TimeOutcome& outcome) {
  for (size_t set = 0; set < sets.size(); ++set) {
    const int differing = times.differing_copies[set];
    outcome.differing_copies += differing;
    using Outputs = std::vector<std::vector<std::byte>>;
    const OutputsAnswer& is = brought[set];
    outcome.outputs.push_back(is.first ? Results(sets[set].after, sizes, arena) : Outputs());
    outcome.other_outputs.push_back(
        differing > 0 && is.other ? Results(sets[set].after_other, sizes, arena) : Outputs());
  }
}

}  // namespace

double Fp32FlopsPerSecond(int compute_capability, int multiprocessors, double clock_hz) {
  const bool has_64 = compute_capability <= 75 || compute_capability == 80;
  return 2.0 * (has_64 ? 64 : 128) * multiprocessors * clock_hz;
}

CudaDevice::CudaDevice(CudaOptions options)
    : options_(std::move(options)),
      worker_(options_.worker),
      clocks_(options_.nvml_library),
      counters_(options_.worker, options_.find_cupti) {
  std::random_device source;
  const auto draw = [&] { return uint64_t{source()} << 32 | source(); };
  key_ = {draw(), draw()};
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::Make(CudaOptions options) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(options)));
  OPTIML_TRY(device->Ready());
  const cuda::HelloReply& facts = device->facts_;
  device->clocks_.Choose({facts.uuid, facts.pci_bus_id});
  DeviceInfo& info = device->info_;
  info.name = facts.name;
  const bool is_one = device->options_.is_one_of_several;
  device->use_.device =
      is_one ? fmt::format("{} (GPU {})", facts.name, device->options_.worker.ordinal) : facts.name;
  info.architecture = fmt::format("sm_{}", facts.compute_capability);
  info.multiprocessors = facts.multiprocessors;
  info.threads_per_multiprocessor = facts.threads_per_multiprocessor;
  info.registers_per_multiprocessor = facts.registers_per_multiprocessor;
  info.shared_bytes_per_multiprocessor = facts.shared_bytes_per_multiprocessor;
  info.shared_bytes_per_block_limit = facts.shared_bytes_per_block;
  info.l2_bytes = facts.l2_bytes;
  info.dram_bytes_per_s = facts.dram_bytes_per_s;
  info.fp32_flops_per_s =
      Fp32FlopsPerSecond(facts.compute_capability, facts.multiprocessors, facts.clock_hz);
  info.prediction_error_factor = 1;
  info.capabilities.measures_time = true;
  info.capabilities.counts = static_cast<bool>(device->options_.find_cupti);
  device->options_.timing.rotation_bytes =
      static_cast<uint64_t>(device->options_.rotation_factor * static_cast<double>(facts.l2_bytes));
  return device;
}

Result<void> CudaDevice::Ready() {
  if (worker_.is_running()) {
    return {};
  }
  ++workers_started_;
  const SystemClock clock;
  const Stopwatch starting(clock);
  OPTIML_ASSIGN(facts_, worker_.Start());
  use_.Add("start of workers", Seconds(starting.Elapsed()).count());
  for (const cuda::Phase& phase : facts_.phases) {
    use_.Add("start of a worker: " + phase.name, phase.seconds);
  }
  return {};
}

Milliseconds CudaDevice::LimitOf(const RunRequest& request) const {
  return request.time_limit.count() > 0 ? std::min(request.time_limit, options_.time_limit)
                                        : options_.time_limit;
}

// Where contents and results lie in the arena. Contents that several passes or plans share lie
// there once.
class CudaDevice::ArenaLayout {
 public:
  // Room for the results of another copy as well.
  void AddOther(const LaunchPlan& plan, Pass& pass) {
    const std::vector<uint64_t> sizes = ArgumentSizes(plan);
    for (size_t i = 0; i < sizes.size(); ++i) {
      pass.after_other.push_back(pass.after[i] >= 0 ? Take(sizes[i]) : -1);
    }
  }

  Pass Add(const LaunchPlan& plan, const std::vector<BufferContents>& buffers, bool all_results,
           bool any_results) {
    const std::vector<uint64_t> sizes = ArgumentSizes(plan);
    Pass pass;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const BufferContents& buffer = buffers[i];
      Contents& contents = pass.before.emplace_back();
      contents.poison = buffer.poison;
      contents.is_read_only = buffer.read_only;
      if (!buffer.bytes.empty()) {
        contents.arena_offset = OffsetOf(buffer.bytes);
      }
      const bool wanted = sizes[i] > 0 && any_results && (all_results || !buffer.read_only);
      pass.after.push_back(wanted ? Take(sizes[i]) : -1);
    }
    return pass;
  }

  uint64_t bytes() const { return bytes_; }

  void CopyTo(std::byte* arena) const {
    for (const auto& [contents, offset] : contents_) {
      CopyBytes(arena + offset, contents->data(), contents->size());
    }
  }

 private:
  int64_t Take(uint64_t size) {
    const auto offset = static_cast<int64_t>(bytes_);
    bytes_ = (bytes_ + size + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  int64_t OffsetOf(const std::vector<std::byte>& bytes) {
    for (const auto& [contents, offset] : contents_) {
      if (contents->size() == bytes.size() && *contents == bytes) {
        return offset;
      }
    }
    return contents_.emplace_back(&bytes, Take(bytes.size())).second;
  }

  uint64_t bytes_ = 0;
  std::vector<std::pair<const std::vector<std::byte>*, int64_t>> contents_;
};

template <typename Reply>
Result<std::variant<Reply, Lost>> CudaDevice::Exchange(
    MessageKind kind, const std::vector<std::byte>& request, Milliseconds limit,
    Result<Reply> (*decode)(const std::vector<std::byte>&),
    const cuda::WorkerProcess::AnswerWorker& tell) {
  const auto ask = [&] {
    const SystemClock clock;
    const Stopwatch busy(clock);
    auto asked = worker_.Ask(kind, request, kMostLimits * limit, tell);
    use_.busy_s += Seconds(busy.Elapsed()).count();
    return asked;
  };
  OPTIML_ASSIGN(auto answer, ask());
  auto* lost = std::get_if<Lost>(&answer);
  if (lost != nullptr && lost->was_killed) {
    // No candidate is to blame: once more, with another worker. The shared memory is as it was.
    OPTIML_TRY(Ready());
    OPTIML_ASSIGN(answer, ask());
    lost = std::get_if<Lost>(&answer);
  }
  if (lost != nullptr && lost->was_killed) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{}: {}, and so was the next one: somebody kills them", info_.name,
                             lost->reason));
  }
  if (lost != nullptr) {
    return std::variant<Reply, Lost>(std::move(*lost));
  }
  OPTIML_ASSIGN(Reply reply, decode(std::get<Message>(answer).bytes));
  if (reply.is_worker_lost) {
    worker_.Kill();
  }
  if (!reply.broken.empty()) {
    return Error(ErrorCode::kUnavailable, fmt::format("{}: {}", info_.name, reply.broken));
  }
  return std::variant<Reply, Lost>(std::move(reply));
}

Result<RunOutcome> CudaDevice::Run(const RunRequest& request) {
  OPTIML_TRY(CheckRequest(request));
  OPTIML_TRY(Ready());
  const Milliseconds limit = LimitOf(request);
  cuda::RunMessage message;
  message.time_limit_ms = static_cast<uint64_t>(limit.count());
  OPTIML_ASSIGN(message.job, JobOf(request, modules_));
  ArenaLayout layout;
  const bool is_only = request.more_passes.empty();
  message.passes.push_back(layout.Add(*request.plan, request.buffers, true, is_only));
  for (size_t i = 0; i < request.more_passes.size(); ++i) {
    message.passes.push_back(layout.Add(*request.plan, request.more_passes[i].buffers, true,
                                        i + 1 == request.more_passes.size()));
  }
  OPTIML_ASSIGN(std::byte * arena, worker_.Arena(layout.bytes()));
  layout.CopyTo(arena);
  message.arena_bytes = worker_.arena_bytes();
  OPTIML_ASSIGN(auto answer,
                Exchange(MessageKind::kRun, cuda::Encode(message), limit, cuda::DecodeRunReply));
  RunOutcome outcome;
  if (const auto* lost = std::get_if<Lost>(&answer)) {
    Tell(*lost, outcome);
    return outcome;
  }
  auto& reply = std::get<cuda::RunReply>(answer);
  outcome.status = reply.status;
  outcome.reason = reply.reason;
  outcome.findings = std::move(reply.findings);
  if (outcome.reason.empty() && !outcome.findings.empty()) {
    outcome.reason = SentenceOf(outcome.findings.front());
  }
  if (outcome.status == RunStatus::kCompleted) {
    outcome.buffers = Results(message.passes.back().after, ArgumentSizes(*request.plan), arena);
  }
  return outcome;
}

Result<cuda::TimeMessage> CudaDevice::MessageFor(const RunRequest& request, ArenaLayout& layout) {
  cuda::TimeMessage message;
  message.time_limit_ms = static_cast<uint64_t>(LimitOf(request).count());
  message.policy = options_.timing;
  if (request.knows_outputs) {
    message.key = key_;
  }
  for (const RunRequest* one : {&request, request.incumbent}) {
    if (one == nullptr) {
      continue;
    }
    OPTIML_TRY(CheckRequest(*one));
    OPTIML_CHECK(one->more_passes.size() == request.more_passes.size(),
                 "both are timed on as many passes");
    OPTIML_ASSIGN(Job job, JobOf(*one, modules_));
    message.jobs.push_back(std::move(job));
    const bool is_candidate = one == &request;
    std::vector<Pass>& sets = message.sets.emplace_back();
    sets.push_back(layout.Add(*one->plan, one->buffers, false, is_candidate));
    for (const PlanPass& pass : one->more_passes) {
      sets.push_back(layout.Add(*one->plan, pass.buffers, false, is_candidate));
    }
    for (size_t set = 0; is_candidate && set < sets.size(); ++set) {
      layout.AddOther(*one->plan, sets[set]);
    }
  }
  return message;
}

Result<TimeOutcome> CudaDevice::Time(const RunRequest& request) {
  ArenaLayout layout;
  OPTIML_ASSIGN(cuda::TimeMessage message, MessageFor(request, layout));
  OPTIML_TRY(Ready());
  const SystemClock clock;
  const Stopwatch copying(clock);
  OPTIML_ASSIGN(std::byte * arena, worker_.Arena(layout.bytes()));
  layout.CopyTo(arena);
  use_.Add("copy to the worker", Seconds(copying.Elapsed()).count());
  message.arena_bytes = worker_.arena_bytes();
  const bool is_gain = request.incumbent != nullptr;
  const std::optional<ClockReading> before = clocks_.Read(is_gain);
  const Stopwatch exchange(clock);
  TimeOutcome outcome;
  const size_t sets = message.sets.front().size();
  outcome.digests.resize(sets);
  outcome.other_digests.resize(sets);
  std::vector<OutputsAnswer> brought(sets);
  const auto tell = [&](const Message& asked) {
    return cuda::Encode(AnswerAbout(request, asked, brought, outcome));
  };
  OPTIML_ASSIGN(auto answer, Exchange(MessageKind::kTime, cuda::Encode(message), LimitOf(request),
                                      cuda::DecodeTimeReply, tell));
  const double exchanged_s = Seconds(exchange.Elapsed()).count();
  const std::optional<ClockReading> after = before ? clocks_.Read(true) : std::nullopt;
  if (const auto* lost = std::get_if<Lost>(&answer)) {
    Tell(*lost, outcome);
    return outcome;
  }
  auto& reply = std::get<cuda::TimeReply>(answer);
  outcome.status = reply.status;
  outcome.reason = reply.failing_job == 0 || reply.status == RunStatus::kCompleted
                       ? reply.reason
                       : "the incumbent: " + reply.reason;
  outcome.findings = std::move(reply.findings);
  double told_s = 0;
  for (const cuda::Phase& phase : reply.phases) {
    use_.Add(phase.name, phase.seconds);
    told_s += phase.seconds;
  }
  use_.Add("requests and answers", exchanged_s - told_s);
  if (outcome.status == RunStatus::kCompleted) {
    const Stopwatch taking(clock);
    AddTimes(reply, outcome);
    if (options_.is_one_of_several) {
      outcome.timing.clock += fmt::format(", GPU {}", options_.worker.ordinal);
    }
    if (before && after) {
      outcome.conditions = Conditions{*before, *after};
      outcome.timing.clock += "; " + DescribeConditions(*outcome.conditions);
    }
    AddOutputs(message.sets.front(), reply.jobs.front(), brought, ArgumentSizes(*request.plan),
               arena, outcome);
    use_.Add("copy from the worker, statistics", Seconds(taking.Elapsed()).count());
  }
  return outcome;
}

Result<Profile> CudaDevice::Counters(const RunRequest& request) {
  OPTIML_TRY(CheckRequest(request));
  OPTIML_ASSIGN(const cuda::CounterFacts facts, counters_.Open());
  cuda::CountMessage message;
  message.time_limit_ms = static_cast<uint64_t>(LimitOf(request).count());
  message.flush_bytes = options_.timing.rotation_bytes;
  OPTIML_ASSIGN(message.job, JobOf(request, modules_));
  ArenaLayout layout;
  message.pass = layout.Add(*request.plan, request.buffers, false, false);
  OPTIML_ASSIGN(std::byte * arena, counters_.Arena(layout.bytes()));
  layout.CopyTo(arena);
  if (!options_.keep_counted.empty()) {
    OPTIML_TRY(cuda::KeepCounted(options_.keep_counted, message, arena, layout.bytes()));
  }
  OPTIML_ASSIGN(const auto counted, counters_.Count(std::move(message), LimitOf(request)));
  return counted ? cuda::ProfileOfCounts(*counted, facts.metrics, request, info_) : Profile();
}

}  // namespace optiml
