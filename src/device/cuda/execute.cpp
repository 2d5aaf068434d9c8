#include "device/cuda/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "device/cuda/phase_watch.h"
#include "device/cuda/plan_job.h"

namespace optiml::cuda {
namespace {

// The driver's queue takes about a thousand entries before it waits, which it must not while the
// stream is held.
constexpr size_t kMostHeldSteps = 400;

// What memory holds that no candidate has written.
constexpr uint8_t kCleared = 0xA5;
// Short executions walk through so many copies at least.
constexpr uint64_t kCopiesOfABatch = 6;
// Executions longer than this are timed one by one: two copies are enough.
constexpr double kLong_s = 1e-3;

Finding GuardFinding(uint32_t bytes) {
  Finding finding;
  finding.kind = "out of bounds";
  finding.detail =
      fmt::format("out of bounds: {} bytes before or after a buffer were overwritten", bytes);
  return finding;
}

// What stops the work: the candidate's fault, or ours.
class Stopped {
 public:
  template <typename Reply>
  void Tell(Reply& reply) const {
    reply.status = status_;
    reply.reason = reason_;
    reply.is_worker_lost = is_worker_lost_;
    reply.broken = broken_;
  }
  static Stopped Broken(const std::string& why, bool is_worker_lost) {
    Stopped stopped;
    stopped.broken_ = why;
    stopped.is_worker_lost_ = is_worker_lost;
    return stopped;
  }
  static Stopped By(const Trouble& trouble, bool is_worker_lost) {
    Stopped stopped;
    stopped.status_ = trouble.status;
    stopped.reason_ = trouble.reason;
    stopped.is_worker_lost_ = is_worker_lost;
    return stopped;
  }

 private:
  RunStatus status_ = RunStatus::kCompleted;
  std::string reason_;
  std::string broken_;
  bool is_worker_lost_ = false;
};
using Step = std::optional<Stopped>;

class Executor {
 public:
  Executor(Gpu& gpu, uint64_t time_limit_ms) : gpu_(gpu), time_limit_ms_(time_limit_ms) {}

  // Waits for what was enqueued, at most the time limit; a fault is the candidate's.
  Step Wait() {
    switch (gpu_.Wait(Deadline())) {
      case Waited::kDone:
        return std::nullopt;
      case Waited::kFault:
        return Stopped::By({RunStatus::kFault, gpu_.api().Describe(gpu_.last_error())}, true);
      case Waited::kTimedOut:
        break;
    }
    return Stopped::By(
        {RunStatus::kTimedOut,
         fmt::format("it did not end within {:.3g} s", static_cast<double>(time_limit_ms_) / 1000)},
        true);
  }

  // A driver's code of a call of our own.
  Step Own(const char* what, int code) {
    if (code == DriverApi::kSuccess) {
      return std::nullopt;
    }
    // A fault of an earlier kernel shows at the next call.
    if (Step fault = Wait()) {
      return fault;
    }
    return Stopped::Broken(fmt::format("{}: {}", what, gpu_.api().Describe(code)), true);
  }

  Step Run(PlanJob& job, int copy) {
    if (const auto trouble = job.EnqueueRun(copy)) {
      gpu_.Release();
      const bool is_lost = gpu_.Wait(Deadline()) != Waited::kDone;
      return Stopped::By(*trouble, is_lost);
    }
    return std::nullopt;
  }

  // What the digests that were enqueued sum up to.
  Step Digest(OutputsDigest& digest) {
    const std::optional<OutputsDigest> taken = gpu_.TakeDigest(Deadline());
    if (!taken) {
      Step stopped = Wait();
      return stopped ? stopped : Stopped::Broken("the digest on the GPU failed", true);
    }
    digest = *taken;
    return std::nullopt;
  }

  // What the comparisons that were enqueued counted.
  Step Count(uint32_t& count) {
    const std::optional<uint32_t> taken = gpu_.TakeCount(Deadline());
    if (!taken) {
      Step stopped = Wait();
      return stopped ? stopped : Stopped::Broken("the comparison on the GPU failed", true);
    }
    count = *taken;
    return std::nullopt;
  }

 private:
  SteadyClock::time_point Deadline() const {
    return SteadyClock::now() + std::chrono::milliseconds(time_limit_ms_);
  }

  Gpu& gpu_;
  uint64_t time_limit_ms_;
};

#define OPTIML_STEP(expression)           \
  if (Step step_ = (expression); step_) { \
    return step_;                         \
  }

Step RunPasses(Gpu& gpu, const RunMessage& message, std::byte* arena, RunReply& reply) {
  Executor executor(gpu, message.time_limit_ms);
  auto made = PlanJob::Make(gpu, message.job);
  if (!made) {
    return Stopped::Broken(made.error().message(), false);
  }
  PlanJob& job = **made;
  const Result<DevicePtr> pool = gpu.Reserve(job.BytesFor(1));
  if (!pool) {
    return Stopped::Broken(pool.error().message(), false);
  }
  OPTIML_STEP(executor.Own("the memory", gpu.EnqueueClear(kCleared)));
  if (const auto trouble = job.Place(*pool, 1)) {
    return Stopped::By(*trouble, false);
  }
  bool is_first = true;
  for (const Pass& pass : message.passes) {
    OPTIML_STEP(executor.Own("contents", job.EnqueueContents(pass, arena, is_first)));
    OPTIML_STEP(executor.Run(job, 0));
    OPTIML_STEP(executor.Wait());
    is_first = false;
  }
  OPTIML_STEP(executor.Own("guard bands", job.EnqueueGuardCheck(0)));
  uint32_t changed = 0;
  OPTIML_STEP(executor.Count(changed));
  if (changed > 0) {
    reply.findings.push_back(GuardFinding(changed));
  }
  OPTIML_STEP(executor.Own("results", job.EnqueueOutputs(message.passes.back().after, 0, arena)));
  return executor.Wait();
}

// One plan or two, timed in turn.
class Timer {
 public:
  Timer(Gpu& gpu, const TimeMessage& message, std::byte* arena, const AskParent& ask,
        TimeReply& reply)
      : gpu_(gpu),
        message_(message),
        arena_(arena),
        ask_(ask),
        reply_(reply),
        executor_(gpu, message.time_limit_ms) {}

  Step Time() {
    OPTIML_STEP(Prepare());
    EndPhase("load");
    const size_t sets = message_.sets.front().size();
    for (size_t set = 0; set < sets; ++set) {
      for (size_t j = 0; j < jobs_.size(); ++j) {
        OPTIML_STEP(Fill(j, set));
      }
      if (set == 0) {
        ChooseNumbers();
      }
      OPTIML_STEP(TakeSamples(set));
      EndPhase("samples");
      for (size_t j = 0; j < jobs_.size(); ++j) {
        if (is_shared_) {
          OPTIML_STEP(SampleEveryCopy(j, set));  // the other one wrote there
        }
        OPTIML_STEP(Check(j, set));
      }
    }
    return std::nullopt;
  }

 private:
  struct Timed {
    std::unique_ptr<PlanJob> job;
    int copies = 1;
    int next_copy = 0;
    int batch = 1;
    double estimate_s = 0;
    bool hold = true;
    Handle begin = nullptr;
    Handle end = nullptr;
  };

  Step Prepare() {
    for (const Job& job : message_.jobs) {
      auto made = PlanJob::Make(gpu_, job);
      if (!made) {
        return Stopped::Broken(made.error().message(), false);
      }
      jobs_.emplace_back().job = *std::move(made);
    }
    is_shared_ = CanShare();
    uint64_t total = 0;
    const uint64_t room = gpu_.Reservable() / (is_shared_ ? 1 : jobs_.size());
    for (Timed& timed : jobs_) {
      const uint64_t bytes = timed.job->layout().bytes;
      const uint64_t wanted = (message_.policy.rotation_bytes + bytes - 1) / bytes;
      const uint64_t possible = std::max<uint64_t>(room / bytes, 2) - 1;  // one is pristine
      timed.copies = static_cast<int>(
          std::min({std::max<uint64_t>(wanted, kCopiesOfABatch),
                    static_cast<uint64_t>(message_.policy.most_copies), possible}));
      total = is_shared_ ? timed.job->BytesFor(timed.copies)
                         : total + timed.job->BytesFor(timed.copies);
    }
    const Result<DevicePtr> pool = gpu_.Reserve(total);
    if (!pool && jobs_.size() > 1) {  // each alone had room
      return Stopped::By({RunStatus::kUnsupported, pool.error().message()}, false);
    }
    if (!pool) {
      return Stopped::Broken(pool.error().message(), false);
    }
    OPTIML_STEP(executor_.Own("the memory", gpu_.EnqueueClear(kCleared)));
    DevicePtr at = *pool;
    for (size_t j = 0; j < jobs_.size(); ++j) {
      Timed& timed = jobs_[j];
      reply_.failing_job = static_cast<int>(j);
      if (const auto trouble = timed.job->Place(at, timed.copies)) {
        return Stopped::By(*trouble, false);
      }
      at += is_shared_ ? 0 : timed.job->BytesFor(timed.copies);
      for (Handle* event : {&timed.begin, &timed.end}) {
        OPTIML_STEP(executor_.Own("an event", gpu_.api().event_create(event, 0)));
      }
      reply_.jobs.emplace_back();
    }
    return std::nullopt;
  }

  // Whether both may run in the same memory: arguments are restored before each execution. What a
  // launcher allocates is not, and must not show one what the other computed there.
  bool CanShare() const {
    if (jobs_.size() != 2 || jobs_[0].job->layout() != jobs_[1].job->layout() ||
        jobs_[0].job->has_scratch() || jobs_[1].job->has_scratch()) {
      return false;
    }
    for (size_t set = 0; set < message_.sets[0].size(); ++set) {
      if (message_.sets[0][set].before != message_.sets[1][set].before) {
        return false;
      }
    }
    return true;
  }

  // Further samples, which do not count, until each copy holds what a sample left.
  Step SampleEveryCopy(size_t j, size_t set) {
    double ignored = 0;
    for (int covered = 0; covered < jobs_[j].copies; covered += jobs_[j].batch) {
      OPTIML_STEP(TakeSample(j, set, ignored));
    }
    EndPhase("last samples");
    return std::nullopt;
  }

  // Contents, then every copy once; the first set's executions say how long one takes.
  Step Fill(size_t j, size_t set) {
    Timed& timed = jobs_[j];
    reply_.failing_job = static_cast<int>(j);
    const Pass& pass = message_.sets[j][set];
    OPTIML_STEP(executor_.Own("contents", timed.job->EnqueueContents(pass, arena_, set == 0)));
    OPTIML_STEP(executor_.Wait());
    EndPhase("contents");
    for (int copy = 0; copy < timed.copies; ++copy) {
      const auto before = SteadyClock::now();
      OPTIML_STEP(executor_.Run(*timed.job, copy));
      OPTIML_STEP(executor_.Wait());
      const double taken = std::chrono::duration<double>(SteadyClock::now() - before).count();
      // The first one loads code.
      timed.estimate_s = copy <= 1 ? taken : std::min(timed.estimate_s, taken);
      if (set == 0 && copy == 1 && taken > kLong_s) {
        timed.copies = 2;
      }
    }
    if (is_shared_) {
      timed.copies = std::min(timed.copies, jobs_[0].copies);
      jobs_[0].copies = timed.copies;
      reply_.jobs[0].copies = timed.copies;
    }
    reply_.jobs[j].copies = timed.copies;
    EndPhase("first runs");
    return std::nullopt;
  }

  // How many executions a sample has, and how many samples there are.
  void ChooseNumbers() {
    const TimingPolicy& policy = message_.policy;
    double sample_s = 0;
    int fewest = 1;
    for (size_t j = 0; j < jobs_.size(); ++j) {
      Timed& timed = jobs_[j];
      const auto steps = std::max<size_t>(timed.job->steps(), 1);
      timed.hold = !timed.job->has_uploads() && steps <= kMostHeldSteps;
      const int most = static_cast<int>(std::max<size_t>(kMostHeldSteps / steps, 1));
      // The estimate holds the way from and to the host, about 10 us.
      const double short_s = std::max(timed.estimate_s - 10e-6, 1e-6);
      timed.batch = std::clamp(static_cast<int>(std::ceil(policy.batch_s / short_s)), 1,
                               std::min(timed.copies, most));
      fewest = j == 0 ? timed.batch : std::min(fewest, timed.batch);
    }
    // The same for both: what an execution leaves in L2 is in each but the first.
    for (size_t j = 0; j < jobs_.size(); ++j) {
      jobs_[j].batch = fewest;
      reply_.jobs[j].batch = fewest;
      sample_s = std::max(sample_s, jobs_[j].estimate_s * fewest);
    }
    const double sets = static_cast<double>(message_.sets.front().size());
    const double factor = jobs_.size() > 1 ? policy.gain_factor : 1;
    const int least = std::max(1, static_cast<int>(std::ceil(policy.least_samples / sets)));
    const int most =
        std::max(least, static_cast<int>(std::ceil(factor * policy.most_samples / sets)));
    samples_ = std::clamp(static_cast<int>(factor * policy.total_s / sets / sample_s), least, most);
  }

  Step TakeSamples(size_t set) {
    for (int i = 0; i < samples_; ++i) {
      for (size_t k = 0; k < jobs_.size(); ++k) {
        const size_t j = i % 2 == 0 ? k : jobs_.size() - 1 - k;
        double seconds = 0;
        OPTIML_STEP(TakeSample(j, set, seconds));
        reply_.jobs[j].samples_s.push_back(seconds);
      }
    }
    return std::nullopt;
  }

  // Of one execution.
  Step TakeSample(size_t j, size_t set, double& seconds) {
    Timed& timed = jobs_[j];
    reply_.failing_job = static_cast<int>(j);
    const DriverApi& api = gpu_.api();
    const Pass& pass = message_.sets[j][set];
    const int first = timed.next_copy;
    for (int i = 0; i < timed.batch; ++i) {
      OPTIML_STEP(
          executor_.Own("restoring", timed.job->EnqueueRestore(pass, (first + i) % timed.copies)));
    }
    // Lines that a kernel asked to keep are given back to the ordinary ones.
    if (const int code = api.reset_persisting_l2(); code != DriverApi::kNotSupported) {
      OPTIML_STEP(executor_.Own("the L2 cache", code));
    }
    OPTIML_STEP(executor_.Own("the flush", gpu_.EnqueueFlush(message_.policy.rotation_bytes)));
    if (timed.hold) {
      OPTIML_STEP(executor_.Own("the hold", gpu_.EnqueueHold()));
    }
    OPTIML_STEP(executor_.Own("an event", api.event_record(timed.begin, gpu_.stream())));
    for (int i = 0; i < timed.batch; ++i) {
      OPTIML_STEP(executor_.Run(*timed.job, (first + i) % timed.copies));
    }
    OPTIML_STEP(executor_.Own("an event", api.event_record(timed.end, gpu_.stream())));
    gpu_.Release();
    OPTIML_STEP(executor_.Wait());
    timed.next_copy = (first + timed.batch) % timed.copies;
    float milliseconds = 0;
    OPTIML_STEP(
        executor_.Own("an event", api.event_elapsed(&milliseconds, timed.begin, timed.end)));
    seconds = static_cast<double>(milliseconds) * 1e-3 / timed.batch;
    return std::nullopt;
  }

  Step Check(size_t j, size_t set) {
    Timed& timed = jobs_[j];
    reply_.failing_job = static_cast<int>(j);
    const Pass& pass = message_.sets[j][set];
    for (int copy = 0; copy < timed.copies; ++copy) {
      OPTIML_STEP(executor_.Own("guard bands", timed.job->EnqueueGuardCheck(copy)));
    }
    uint32_t guards = 0;
    OPTIML_STEP(executor_.Count(guards));
    for (int copy = 0; copy < timed.copies; ++copy) {
      OPTIML_STEP(executor_.Own("inputs", timed.job->EnqueueInputCheck(pass, copy)));
    }
    uint32_t inputs = 0;
    OPTIML_STEP(executor_.Count(inputs));
    std::vector<int> differing;
    for (int copy = 1; copy < timed.copies; ++copy) {
      uint32_t count = 0;
      OPTIML_STEP(executor_.Own("outputs", timed.job->EnqueueCopyCheck(pass, copy)));
      OPTIML_STEP(executor_.Count(count));
      if (count > 0) {
        differing.push_back(copy);
      }
    }
    reply_.jobs[j].differing_copies.push_back(static_cast<int>(differing.size()));
    if (guards > 0) {
      reply_.findings.push_back(GuardFinding(guards));
    }
    if (inputs > 0) {
      Finding finding;
      finding.kind = "read-only violation";
      finding.detail = fmt::format("read-only violation: {} words of inputs were changed", inputs);
      reply_.findings.push_back(finding);
    }
    EndPhase("comparison");
    OPTIML_STEP(Bring(j, set, differing));
    EndPhase("results");
    return std::nullopt;
  }

  // Outputs -> the arena, those that the parent wants.
  Step Bring(size_t j, size_t set, const std::vector<int>& differing) {
    PlanJob& job = *jobs_[j].job;
    const Pass& pass = message_.sets[j][set];
    std::optional<int> other;
    if (!differing.empty() && !pass.after_other.empty()) {
      // Any of them: a candidate must not know which one is looked at.
      const auto ticks = static_cast<uint64_t>(SteadyClock::now().time_since_epoch().count());
      other = differing[RandomAt(ticks, 0) % differing.size()];
    }
    OutputsAnswer wanted;
    if (message_.key && j == 0) {
      OutputsQuestion question;
      question.set = static_cast<int>(set);
      OPTIML_STEP(Digest(job, pass, 0, question.first));
      question.has_other = other.has_value();
      if (other) {
        OPTIML_STEP(Digest(job, pass, *other, question.other));
      }
      const std::optional<OutputsAnswer> answer = ask_(question);
      if (!answer) {
        return Stopped::Broken("the parent is gone", true);
      }
      wanted = *answer;
    }
    if (wanted.first) {
      OPTIML_STEP(executor_.Own("results", job.EnqueueOutputs(pass.after, 0, arena_)));
    }
    if (other && wanted.other) {
      OPTIML_STEP(executor_.Own("results", job.EnqueueOutputs(pass.after_other, *other, arena_)));
    }
    return executor_.Wait();
  }

  Step Digest(PlanJob& job, const Pass& pass, int copy, OutputsDigest& digest) {
    OPTIML_STEP(executor_.Own("digests", job.EnqueueDigest(pass, copy, *message_.key)));
    return executor_.Digest(digest);
  }

  // Since the end of the last one.
  void EndPhase(const char* name) { watch_.End(name, reply_.phases); }

  Gpu& gpu_;
  const TimeMessage& message_;
  std::byte* arena_;
  const AskParent& ask_;
  TimeReply& reply_;
  Executor executor_;
  std::vector<Timed> jobs_;
  int samples_ = 1;
  bool is_shared_ = false;  // both jobs use the same copies
  PhaseWatch watch_;
};

}  // namespace

RunReply RunJob(Gpu& gpu, const RunMessage& message, std::byte* arena) {
  RunReply reply;
  if (const Step stopped = RunPasses(gpu, message, arena, reply)) {
    stopped->Tell(reply);
  }
  return reply;
}

TimeReply TimeJobs(Gpu& gpu, const TimeMessage& message, std::byte* arena, const AskParent& ask) {
  TimeReply reply;
  if (const Step stopped = Timer(gpu, message, arena, ask, reply).Time()) {
    stopped->Tell(reply);
  }
  return reply;
}

}  // namespace optiml::cuda
